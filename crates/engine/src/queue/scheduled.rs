//! A scheduler together with the packet in service.

use super::Scheduler;
use super::counters::Counts;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// The waiting packets of a scheduler, and the packet that the server has taken.
#[derive(Clone, Debug)]
pub struct Scheduled {
    pub(super) scheduler: Scheduler,
    head: Option<Packet>,
    /// Time until which the last removed packet still occupies its place (its MAC ACK is on the
    /// air).
    released: Time,
    /// Dropped packets that `take_dropped` has not returned yet.
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

    /// Adds `packet`. `take_dropped` returns packets that the scheduler drops.
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

    /// Removes the first packet, and takes the next packet into service. The place of the removed
    /// packet becomes free at `at`, which is not before now.
    pub fn pop(&mut self, at: Time) -> Option<Packet> {
        let packet = self.head.take()?;
        let before = self.dropped.len();
        self.counts.leave(&packet, at);
        self.released = at;
        self.head = self.scheduler.dequeue(at, &mut self.dropped);
        self.count(before, at);
        Some(packet)
    }

    /// Counts the marks of the scheduler, and the packets in `dropped` after the first `before`.
    fn count(&mut self, before: usize, at: Time) {
        let counters = &mut self.counts.counters;
        (before..self.dropped.len()).for_each(|_| counters.withdraw(at));
        counters.marked = self.scheduler.marked();
    }

    /// Returns a dropped packet that has not been returned yet.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<Packet> {
        self.dropped.pop()
    }

    /// Returns the number of packets that occupy a place at `now`.
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
