//! The interface of all kinds of links.

use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{QueueCounters, QueueSetting, TinCounters, Waits};

/// Result of the attempt to enqueue a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transit {
    /// The packet arrives at the far end at the given time.
    Arrives(Time),
    /// The queue has no room for the packet.
    Refused,
    /// The packet is lost on the link.
    Lost,
    /// The link stores the packet. The arrival or loss of the packet is decided later.
    Kept,
}

/// Settings and counters of a link of any kind. The default implementations describe a link that
/// only delays packets.
pub trait LinkModel {
    /// Returns the delay of all packets, if the link only delays packets.
    fn mere_delay(&self) -> Option<Span> {
        None
    }

    /// Returns the delay of all packets, if the link has no rate (no serialisation time).
    fn unrated_delay(&self) -> Option<Span> {
        None
    }

    /// Returns whether a link without a rate can lose packets.
    fn loses_some(&self) -> bool {
        false
    }

    /// Returns whether a link without a rate loses `packet`.
    fn loses(&mut self, _packet: &Packet) -> bool {
        false
    }

    /// Calls `visit` for each packet that is inside the link.
    fn each_packet(&self, _visit: &mut dyn FnMut(&Packet)) {}

    /// Changes the setting of the queue to `to` at `now`, as far as this change is possible during
    /// a run ([`QueueSetting::moved_to`]).
    fn change_queue(&mut self, _now: Time, _to: &QueueSetting) {}

    /// Sets the rate of a served link. The rate applies from the next packet on. [bit/s]
    fn set_rate(&mut self, _rate_bps: u64) {}

    /// Returns the counters of each tin of the queue, if the queue has tins.
    fn tins(&self) -> Vec<TinCounters> {
        Vec::new()
    }

    /// Returns the counters of each leaf of the queue, if the queue has leaves.
    fn leaves(&self) -> Vec<QueueCounters> {
        Vec::new()
    }

    /// Returns the number of packets in the queue at `now`, the packet in service included.
    fn length(&self, _now: Time) -> usize {
        0
    }

    /// Returns the counters of the queue at `now`.
    fn counters(&self, _now: Time) -> QueueCounters {
        QueueCounters::default()
    }

    /// Returns the queueing times of datagrams. A pipe records only the datagrams that leave the
    /// queue in the measured period.
    fn waits(&self) -> Option<&Waits> {
        None
    }

    /// Returns the number of packets in the queue that the queue discipline may still drop or mark
    /// when they depart.
    fn unjudged(&self) -> u64 {
        0
    }

    /// Returns the used capacity and the total capacity of the link up to `now`: the busy time and
    /// the elapsed time [ns]. For a link that follows a trace, returns the bytes that were sent and
    /// the bytes that all opportunities allowed [bytes].
    fn used(&self, now: Time) -> [u64; 2] {
        [0, now.0]
    }

    /// Returns the total length of the packets that have departed from a served link. [bytes]
    fn sent_bytes(&self) -> u64 {
        0
    }

    /// Returns the largest length of the queue at the arrival of a packet in the measured period.
    /// [packets]
    fn longest(&self) -> usize {
        0
    }

    /// Returns the smallest utilisation of a bin in the measured period: the busy time of the link
    /// divided by the width of the bin. `None` for a link that follows a trace. [-]
    fn least_utilisation(&self) -> Option<f64> {
        None
    }
}
