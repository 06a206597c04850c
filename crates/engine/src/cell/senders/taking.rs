//! Amount of packets in a device that pulls packets, as a number of packets or of aggregates.

use super::{Link, Senders, Sending};
use crate::kernel::time::Span;
use crate::mac::aggregation::ampdu_bytes;
use crate::packet::Packet;
use crate::queue::TxQueues;

/// Aggregate that is planned, and its limits in packets and bytes.
pub(in crate::cell) struct AggregateRoom {
    packets: u32,
    bytes: u32,
    /// Length of the longest MPDU so far. [bytes]
    longest: u32,
    max_packets: u32,
    max_bytes: u32,
    headers: u32,
}

impl AggregateRoom {
    /// Returns whether the aggregate has no room for another packet. The other packet is assumed to
    /// be as long as the longest packet of the aggregate.
    pub(in crate::cell) fn is_full(&self) -> bool {
        let with_another = ampdu_bytes(self.bytes, self.longest);
        self.packets >= self.max_packets || self.packets > 0 && with_another > self.max_bytes
    }

    /// Adds a packet to the planned aggregate.
    pub(in crate::cell) fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        let mpdu = u32::from(packet.bytes) + self.headers;
        self.longest = self.longest.max(mpdu);
        self.bytes = ampdu_bytes(self.bytes, mpdu);
    }
}

impl Senders {
    /// Returns the link from a contender of the access point to a station.
    pub(in crate::cell) fn link(&self, contender: u32, station: usize) -> &Link {
        &self.senders[contender as usize].links[station]
    }

    /// Returns whether `contender` has an exchange on the air.
    pub(in crate::cell) fn sends(&self, contender: u32) -> bool {
        self.senders[contender as usize].sending != Sending::Nothing
    }

    /// Returns the transmit queue of the last exchange of `contender`, and the air time of the PPDU
    /// with data in this exchange.
    pub(in crate::cell) fn last(&self, contender: u32) -> (u32, Span) {
        self.senders[contender as usize].last
    }

    /// Returns an empty aggregate from `contender` to a station, with its limits.
    pub(in crate::cell) fn room_for_aggregate(
        &self,
        contender: u32,
        station: u32,
    ) -> AggregateRoom {
        let link = &self.senders[contender as usize].links[station as usize];
        AggregateRoom {
            packets: 0,
            bytes: 0,
            longest: 0,
            max_packets: match link.aggregation.amsdu_bytes {
                Some(_) => u32::MAX,
                None => link.aggregation.mpdus,
            },
            max_bytes: link.rates.timing().max_bytes(),
            headers: self.cell.frame_bytes(0),
        }
    }

    /// Returns the number of aggregates that can be formed from the packets in `queue`. The packets
    /// of one aggregate are for one station.
    pub(in crate::cell) fn held(&self, contender: u32, queue: &TxQueues) -> u32 {
        let count = |txq: u32| {
            let mut room = self.room_for_aggregate(contender, txq);
            let mut full = 0;
            for packet in queue.of_txq(txq) {
                if room.is_full() {
                    full += 1;
                    room = self.room_for_aggregate(contender, txq);
                }
                room.add(packet);
            }
            full + u32::from(room.packets > 0)
        };
        queue.waiting_txqs().into_iter().map(count).sum()
    }

    /// Returns the fraction of the longest possible aggregate that `packet` fills. [-]
    pub(in crate::cell) fn part_of_aggregate(
        &self,
        contender: u32,
        txq: u32,
        packet: &Packet,
    ) -> f64 {
        let mut room = self.room_for_aggregate(contender, txq);
        room.add(packet);
        let of_packets = f64::from(room.packets) / f64::from(room.max_packets);
        of_packets.max(f64::from(room.bytes) / f64::from(room.max_bytes))
    }

    /// Returns the amount of packets in `queue`, in units of the longest aggregate. [-]
    pub(in crate::cell) fn aggregates_held(&self, contender: u32, queue: &TxQueues) -> f64 {
        let txqs = queue.waiting_txqs().into_iter();
        let packets = txqs.flat_map(|txq| queue.of_txq(txq).map(move |packet| (txq, packet)));
        packets
            .map(|(txq, packet)| self.part_of_aggregate(contender, txq, packet))
            .sum()
    }

    /// Returns the numbers of packets and of bytes in the device of `contender` that belong to a
    /// transmit queue and are neither acknowledged nor given up.
    pub(in crate::cell) fn inside_of(
        &self,
        contender: u32,
        txq: u32,
        queue: &TxQueues,
    ) -> (u32, u64) {
        let window = &self.senders[contender as usize].links[txq as usize].window;
        let packets = queue.of_txq(txq).chain(window.unsettled());
        packets.fold((0, 0), |(count, bytes), packet| {
            (count + 1, bytes + u64::from(packet.bytes))
        })
    }
}
