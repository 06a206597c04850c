//! What a device that takes packets by aggregates knows of what it holds.

use super::{Aggregates, Sending};
use crate::kernel::time::Span;
use crate::mac::aggregation::ampdu_bytes;
use crate::mac::way::Way;
use crate::packet::Packet;
use crate::queue::Lanes;

/// Room for the packets of one aggregate.
pub(in crate::cell) struct OneAggregate {
    packets: u32,
    bytes: u32,
    /// The longest MPDU so far. [bytes]
    longest: u32,
    most_packets: u32,
    most_bytes: u32,
    headers: u32,
}

impl OneAggregate {
    /// Whether one more as long as the longest would be too many.
    pub(in crate::cell) fn is_full(&self) -> bool {
        let with_another = ampdu_bytes(self.bytes, self.longest);
        self.packets >= self.most_packets || self.packets > 0 && with_another > self.most_bytes
    }

    pub(in crate::cell) fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        let mpdu = u32::from(packet.bytes) + self.headers;
        self.longest = self.longest.max(mpdu);
        self.bytes = ampdu_bytes(self.bytes, mpdu);
    }
}

impl Aggregates {
    /// The way from a contender of the access point to a station.
    pub(in crate::cell) fn way(&self, contender: u32, station: usize) -> &Way {
        &self.senders[contender as usize].links[station].way
    }

    /// Whether `contender` has something on the air.
    pub(in crate::cell) fn sends(&self, contender: u32) -> bool {
        self.senders[contender as usize].sending != Sending::Nothing
    }

    /// The lane of the exchange of `contender` that ended last, and air time of its PPDU with data.
    pub(in crate::cell) fn last(&self, contender: u32) -> (u32, Span) {
        self.senders[contender as usize].last
    }

    /// Room for one aggregate of `contender` to a station.
    pub(in crate::cell) fn one(&self, contender: u32, station: u32) -> OneAggregate {
        let link = &self.senders[contender as usize].links[station as usize];
        OneAggregate {
            packets: 0,
            bytes: 0,
            longest: 0,
            most_packets: match link.terms.amsdu_bytes {
                Some(_) => u32::MAX,
                None => link.terms.mpdus,
            },
            most_bytes: link.way.most(),
            headers: self.cell.frame_bytes(0),
        }
    }

    /// How many aggregates the packets that wait in `queue` are, station by station.
    pub(in crate::cell) fn held(&self, contender: u32, queue: &Lanes) -> u32 {
        let count = |lane: u32| {
            let mut room = self.one(contender, lane);
            let mut whole = 0;
            for packet in queue.of_lane(lane) {
                if room.is_full() {
                    whole += 1;
                    room = self.one(contender, lane);
                }
                room.add(packet);
            }
            whole + u32::from(room.packets > 0)
        };
        queue.waiting_lanes().into_iter().map(count).sum()
    }

    /// Which part of the longest aggregate to its receiver a packet is.
    pub(in crate::cell) fn worth(&self, contender: u32, lane: u32, packet: &Packet) -> f64 {
        let mut one = self.one(contender, lane);
        one.add(packet);
        let of_packets = f64::from(one.packets) / f64::from(one.most_packets);
        of_packets.max(f64::from(one.bytes) / f64::from(one.most_bytes))
    }

    /// How many of the longest aggregates the packets that wait in `queue` would fill.
    pub(in crate::cell) fn worth_held(&self, contender: u32, queue: &Lanes) -> f64 {
        let lanes = queue.waiting_lanes().into_iter();
        let packets = lanes.flat_map(|lane| queue.of_lane(lane).map(move |one| (lane, one)));
        packets
            .map(|(lane, one)| self.worth(contender, lane, one))
            .sum()
    }

    /// Packets of a lane that the device of `contender` has not got rid of, and their bytes.
    pub(in crate::cell) fn inside_of(
        &self,
        contender: u32,
        lane: u32,
        queue: &Lanes,
    ) -> (u32, u64) {
        let window = &self.senders[contender as usize].links[lane as usize].window;
        let packets = queue.of_lane(lane).chain(window.unsettled());
        packets.fold((0, 0), |(count, bytes), packet| {
            (count + 1, bytes + u64::from(packet.bytes))
        })
    }
}
