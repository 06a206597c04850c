//! Recorders of the events at the sender and at the receiver of a link.

use crate::cell::{OffAir, ReceivedPackets};
use crate::kernel::time::Time;
use crate::mac::block_ack::BlockAckEvents;
use crate::mac::dcf::AggregateCounters;
use crate::packet::Packet;
use crate::queue::TxQueues;

/// Recorder of the events at the sender and at the receiver of a link when an exchange ends.
pub(super) struct Sorting<'a> {
    pub(super) queue: &'a mut TxQueues,
    pub(super) received: &'a mut ReceivedPackets,
    pub(super) lost: &'a mut Vec<Packet>,
    pub(super) off: OffAir,
    pub(super) now: Time,
    /// End of the response. At this time, acknowledged packets are removed from the queue.
    pub(super) done: Time,
    pub(super) delivered: u64,
    pub(super) discarded: u64,
    pub(super) counters: &'a mut AggregateCounters,
}

impl BlockAckEvents for Sorting<'_> {
    #[inline]
    fn settled(&mut self, packet: &Packet, acknowledged: bool) {
        if acknowledged {
            self.delivered += 1;
            self.queue.settle(self.now, packet, self.done);
        } else {
            self.discarded += 1;
            self.queue.settle(self.now, packet, self.now);
            self.lost.push(*packet);
        }
    }

    #[inline]
    fn handed_up(&mut self, packet: &Packet) {
        self.counters.handed_up += 1;
        self.received.extend(self.off, std::slice::from_ref(packet));
    }

    #[inline]
    fn released(&mut self, packets: u32, received: Time) {
        self.counters.waited_ns += u64::from(packets) * self.now.since(received).0;
    }

    #[inline]
    fn too_late(&mut self, packet: &Packet) {
        self.lost.push(*packet);
    }

    #[inline]
    fn carried(&mut self, packets: &[Packet]) {
        self.delivered += packets.len() as u64;
        self.counters.handed_up += packets.len() as u64;
        self.queue.settle_all(self.now, packets, self.done);
        self.received.extend(self.off, packets);
    }
}

/// Recorder of the packets that a receiver hands up when it stops waiting for missing MPDUs.
pub(super) struct HandingUp<'a> {
    pub(super) received: &'a mut ReceivedPackets,
    pub(super) off: OffAir,
    pub(super) now: Time,
    pub(super) counters: &'a mut AggregateCounters,
}

impl BlockAckEvents for HandingUp<'_> {
    fn settled(&mut self, _: &Packet, _: bool) {}

    fn handed_up(&mut self, packet: &Packet) {
        self.counters.handed_up += 1;
        self.received.extend(self.off, std::slice::from_ref(packet));
    }

    fn released(&mut self, packets: u32, received: Time) {
        self.counters.waited_ns += u64::from(packets) * self.now.since(received).0;
    }

    fn too_late(&mut self, _: &Packet) {}
}
