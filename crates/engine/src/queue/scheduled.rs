//! A scheduler with the packet in service in front of it.

use super::{QueueCounters, QueueSetting, Scheduler, Waits};
use crate::kernel::time::Time;
use crate::packet::Packet;

/// What waits under a scheduler, and the packet that it gave to the server.
#[derive(Clone, Debug)]
pub struct Scheduled {
    scheduler: Scheduler,
    head: Option<Packet>,
    /// Until when the last packet removed still occupies its place (its MAC ACK is on the air).
    released: Time,
    /// Packets dropped and not yet fetched.
    dropped: Vec<Packet>,
    counters: QueueCounters,
    waits: Waits,
}

impl Scheduled {
    /// An empty queue.
    pub fn new(scheduler: Scheduler) -> Scheduled {
        Scheduled {
            scheduler,
            head: None,
            released: Time::ZERO,
            dropped: Vec::new(),
            counters: QueueCounters::default(),
            waits: Waits::default(),
        }
    }

    /// What decides, for another server.
    pub fn scheduler(self) -> Scheduler {
        self.scheduler
    }

    /// The setting is `to` from now on, as far as it may move; packets that wait stay.
    pub(super) fn change(&mut self, to: &QueueSetting) {
        self.scheduler.change(to);
    }

    /// Hands `packet` to the scheduler; packets that it drops are fetched with `take_dropped`.
    pub fn offer(&mut self, now: Time, packet: Packet) {
        let fetched = self.dropped.len();
        let busy = self.head.is_some() || now < self.released;
        self.counters.enter(now);
        self.scheduler.enqueue(now, packet, busy, &mut self.dropped);
        if self.head.is_none() {
            self.head = self.scheduler.dequeue(now, &mut self.dropped);
        }
        self.count(fetched, now);
    }

    /// The packet in service.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        self.head.as_ref()
    }

    /// Removes the head, whose place becomes free at `at` (not before now); the next takes its
    /// place.
    pub fn pop(&mut self, at: Time) -> Option<Packet> {
        let packet = self.head.take()?;
        let fetched = self.dropped.len();
        self.counters.leave(packet.queued, at);
        self.waits
            .leave(packet.flow, packet.kind, packet.queued, at);
        self.released = at;
        self.head = self.scheduler.dequeue(at, &mut self.dropped);
        self.count(fetched, at);
        Some(packet)
    }

    /// Counts the packets dropped beyond the first `before` of the list, and takes over the number of those
    /// marked.
    fn count(&mut self, before: usize, at: Time) {
        for _ in before..self.dropped.len() {
            self.counters.withdraw(at);
        }
        self.counters.marked = self.scheduler.marked();
    }

    /// A packet that was dropped and has not been fetched yet.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<Packet> {
        self.dropped.pop()
    }

    /// Packets that occupy a place at `now`.
    pub fn length(&self, now: Time) -> usize {
        let served = usize::from(self.head.is_some()) + usize::from(now < self.released);
        self.scheduler.len() + served
    }

    /// Packets inside, the one in service first.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.head.iter().chain(self.scheduler.packets())
    }

    /// Packets that wait for the scheduler to judge them.
    pub fn unjudged(&self) -> u64 {
        self.scheduler.len() as u64
    }

    /// Totals as they stand now.
    pub fn counters(&self) -> QueueCounters {
        self.counters
    }

    /// Times of the datagrams that have left.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// Time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        // a head removed early is in the integral until its release, which may lie ahead
        self.counters
            .occupancy_ns(now)
            .wrapping_sub(self.released.since(now).0)
    }
}
