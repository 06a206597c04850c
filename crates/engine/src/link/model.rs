//! The interface of all kinds of links.

use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{QueueCounters, QueueSetting, Waits};

/// Result for a packet that enters a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transit {
    /// The packet arrives at the far end at this time.
    Arrives(Time),
    /// The queue has no room for the packet.
    Refused,
    /// The packet is lost on the link.
    Lost,
    /// The link keeps the packet and decides later.
    Kept,
}

/// Settings and counters of a link of any kind. The defaults are those of a link that only delays.
pub trait LinkModel {
    /// Returns the delay of all packets, if the link does nothing but delay.
    fn mere_delay(&self) -> Option<Span> {
        None
    }

    /// Returns the delay of all packets, if the link has no rate.
    fn unrated_delay(&self) -> Option<Span> {
        None
    }

    /// Returns whether a link without a rate ever loses a packet.
    fn loses_some(&self) -> bool {
        false
    }

    /// Returns whether a link without a rate loses `packet`.
    fn loses(&mut self, _packet: &Packet) -> bool {
        false
    }

    /// Calls `visit` for each packet that the link keeps.
    fn each_packet(&self, _visit: &mut dyn FnMut(&Packet)) {}

    /// Changes the setting of the queue to `to` at `now`, as far as it may change
    /// ([`QueueSetting::moved_to`]).
    fn change_queue(&mut self, _now: Time, _to: &QueueSetting) {}

    /// Sets the rate of a served link from the next packet on. [bit/s]
    fn set_rate(&mut self, _rate_bps: u64) {}

    /// Returns the totals of each leaf of the queue, if it has leaves.
    fn leaves(&self) -> Vec<QueueCounters> {
        Vec::new()
    }

    /// Returns the number of packets in the queue at `now`, the packet in service included.
    fn length(&self, _now: Time) -> usize {
        0
    }

    /// Returns the totals of the queue at `now`.
    fn counters(&self, _now: Time) -> QueueCounters {
        QueueCounters::default()
    }

    /// Returns the times of the datagrams that have left the queue; for a pipe, of the datagrams
    /// that leave it in the measured period.
    fn waits(&self) -> Option<&Waits> {
        None
    }

    /// Returns the number of packets in the queue that its discipline judges only on departure.
    fn unjudged(&self) -> u64 {
        0
    }

    /// Returns the amount used up to `now`, and the amount offered: of time [ns], or of the
    /// opportunities of a trace [bytes].
    fn used(&self, now: Time) -> [u64; 2] {
        [0, now.0]
    }

    /// Returns the number of bytes of the packets that have departed, of a served link. [bytes]
    fn sent_bytes(&self) -> u64 {
        0
    }

    /// Returns the largest number of packets in the queue in the measured period, as seen by
    /// arriving packets.
    fn longest(&self) -> usize {
        0
    }

    /// Returns the smallest part of a bin for which the link was busy, over the bins in the
    /// measured period; `None` for a trace. [-]
    fn least_utilisation(&self) -> Option<f64> {
        None
    }
}
