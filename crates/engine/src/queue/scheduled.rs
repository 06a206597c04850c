//! A queue whose discipline decides at departures: the waiting packets, and the packet in service.

use super::Scheduler;
use super::counters::Counts;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// A scheduler with its waiting packets, and the packet in service.
#[derive(Clone, Debug)]
pub struct Scheduled {
    pub(super) scheduler: Scheduler,
    head: Option<Packet>,
    /// Time until which the packet that was removed last still counts towards the queue length,
    /// because its MAC ACK is on the air.
    released: Time,
    /// Dropped packets that `take_dropped` has not yet returned.
    dropped: Vec<Packet>,
    pub(super) counts: Counts,
}

impl Scheduled {
    /// Returns an empty queue.
    pub fn new(scheduler: Scheduler) -> Scheduled {
        Scheduled {
            scheduler,
            head: None,
            released: Time::ZERO,
            dropped: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Adds `packet`. If the scheduler drops packets, `take_dropped` returns them.
    pub fn offer(&mut self, now: Time, packet: Packet) {
        let before = self.dropped.len();
        let busy = self.head.is_some() || now < self.released;
        self.counts.counters.enter(now);
        self.scheduler.enqueue(now, packet, busy, &mut self.dropped);
        if self.head.is_none() {
            self.head = self.scheduler.dequeue(now, &mut self.dropped);
        }
        self.count(before, now);
    }

    /// Returns the packet in service.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        self.head.as_ref()
    }

    /// Removes the first packet, and moves the next packet into service. The removed packet counts
    /// towards the queue length until `at`, which is not before now.
    pub fn pop(&mut self, at: Time) -> Option<Packet> {
        let packet = self.head.take()?;
        let before = self.dropped.len();
        self.counts.leave(&packet, at);
        self.released = at;
        self.head = self.scheduler.dequeue(at, &mut self.dropped);
        self.count(before, at);
        Some(packet)
    }

    /// Updates the counters. The number of marked packets is copied from the scheduler. All packets
    /// in `dropped`, except the first `before` packets, are counted as dropped.
    fn count(&mut self, before: usize, at: Time) {
        let counters = &mut self.counts.counters;
        (before..self.dropped.len()).for_each(|_| counters.withdraw(at));
        counters.marked = self.scheduler.marked();
    }

    /// Returns the next dropped packet that has not yet been returned.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<Packet> {
        self.dropped.pop()
    }

    /// Returns the queue length at `now`. A removed packet is included until its MAC ACK has been
    /// received.
    pub fn length(&self, now: Time) -> usize {
        let served = usize::from(self.head.is_some()) + usize::from(now < self.released);
        self.scheduler.len() + served
    }

    /// Returns the packets, beginning with the packet in service.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.head.iter().chain(self.scheduler.packets())
    }

    /// Returns the time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        self.counts.occupancy_ns(now, 1, self.released)
    }
}
