//! A link whose queue decides on departure: the queue chooses the next packet, or drops packets.

use std::ops::Range;

use super::LinkSettings;
use super::bins::Bins;
use super::losses::Losses;
use super::model::{LinkModel, Transit};
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{QueueCounters, QueueSetting, Scheduler, TinCounters, Waits};

/// Rate of a link without serialisation time. No source can fill the queue of such a link. [bit/s]
pub const FREE: u64 = u64::MAX;

/// A link with an event for each departure.
#[derive(Clone, Debug)]
pub struct Served {
    rate_bps: u64,
    propagation: Span,
    losses: Losses,
    scheduler: Scheduler,
    /// Packet in service, and the time of its departure.
    in_service: Option<(Time, Packet)>,
    /// Next time at which the scheduler may have a packet to send, if no packet is in service.
    ready: Time,
    counters: QueueCounters,
    waits: Waits,
    busy_ns: u64,
    /// Total length of the packets that have departed. [bytes]
    sent_bytes: u64,
    measured: Range<Time>,
    longest: usize,
    bins: Option<Bins>,
    /// Packets that the queue discipline has dropped, and that [`Served::settle`] has not returned
    /// yet.
    dropped: Vec<Packet>,
}

impl Served {
    /// Returns an empty link of `rate_bps`, with `losses`. [`super::Link::new`] describes
    /// `measured` and `bin`.
    pub fn new(
        settings: &LinkSettings,
        rate_bps: u64,
        scheduler: Scheduler,
        losses: Losses,
        measured: Range<Time>,
        bin: Option<Span>,
    ) -> Served {
        let mut scheduler = scheduler;
        scheduler.set_capped(rate_bps != FREE);
        Served {
            rate_bps,
            propagation: settings.delay,
            losses,
            scheduler,
            in_service: None,
            ready: Time::NEVER,
            counters: QueueCounters::default(),
            waits: Waits::default(),
            busy_ns: 0,
            sent_bytes: 0,
            longest: 0,
            bins: bin.map(|width| Bins::new(width, &measured)),
            measured,
            dropped: Vec::new(),
        }
    }

    /// Returns the scheduler of the queue.
    pub(super) fn scheduler_mut(&mut self) -> &mut Scheduler {
        &mut self.scheduler
    }

    /// Enqueues `packet`. If the queue drops `packet` or another packet, [`Served::settle`] returns
    /// the dropped packet.
    pub fn enter(&mut self, now: Time, packet: Packet) -> Transit {
        if self.losses.take(&packet) {
            return Transit::Lost;
        }
        self.counters.enter(now);
        let busy = self.in_service.is_some();
        let known = self.dropped.len();
        self.scheduler.enqueue(now, packet, busy, &mut self.dropped);
        self.count_dropped(now, known);
        if !busy {
            self.serve(now);
        }
        if self.bins.is_some() && self.measured.contains(&now) {
            self.longest = self.longest.max(self.length(now));
        }
        Transit::Kept
    }

    /// Subtracts the dropped packets from the counters of the queue. The first `known` packets of
    /// `dropped` have already been subtracted.
    fn count_dropped(&mut self, now: Time, known: usize) {
        for _ in known..self.dropped.len() {
            self.counters.withdraw(now);
        }
    }

    /// Treats the packets of the new flow `flow` like those of flow `like`. If `reversed` is true, the
    /// data of the two flows have opposite directions.
    pub(super) fn adopt(&mut self, flow: u32, like: u32, reversed: bool) {
        self.scheduler.adopt(flow, like, reversed);
    }

    /// Dequeues the next packet of the scheduler, and begins its service.
    fn serve(&mut self, now: Time) {
        let known = self.dropped.len();
        let next = self.scheduler.dequeue(now, &mut self.dropped);
        self.count_dropped(now, known);
        self.in_service = next.map(|packet| {
            let service = Span::to_send(u64::from(packet.bytes), self.rate_bps);
            let departs = now + service;
            self.busy_ns += service.0;
            if let Some(bins) = &mut self.bins {
                bins.add(now, departs, self.busy_ns - service.0);
            }
            (departs, packet)
        });
        if self.in_service.is_none() {
            self.ready = self.scheduler.ready();
        }
    }

    /// Returns whether a greedy source may enqueue a packet of `flow`, because the queue has room.
    pub fn has_room(&self, flow: u32) -> bool {
        self.rate_bps != FREE && self.scheduler.has_room(flow)
    }

    /// Returns the time at which the packet in service departs; if no packet is in service, the
    /// next time at which the scheduler may have a packet to send.
    pub fn deadline(&self) -> Time {
        self.in_service.map_or(self.ready, |(departs, _)| departs)
    }

    /// Ends the service of a packet if its departure is due. Returns the packet and the time of its
    /// arrival at the far end.
    pub fn depart(&mut self, now: Time) -> Option<(Time, Packet)> {
        if self.in_service.is_none() && self.ready <= now {
            self.serve(now);
            return None;
        }
        let (departs, packet) = self.in_service.filter(|&(departs, _)| departs <= now)?;
        self.counters.leave(packet.queued, departs);
        self.waits
            .leave(packet.flow, packet.kind, packet.queued, departs);
        self.sent_bytes += u64::from(packet.bytes);
        self.scheduler.departed(&packet, departs);
        self.serve(now);
        Some((departs + self.propagation, packet))
    }

    /// Returns the next packet that the discipline has dropped.
    pub fn settle(&mut self) -> Option<Packet> {
        self.dropped.pop()
    }
}

impl LinkModel for Served {
    fn each_packet(&self, visit: &mut dyn FnMut(&Packet)) {
        let in_service = self.in_service.iter().map(|(_, packet)| packet);
        let waiting = self.scheduler.packets();
        in_service
            .chain(waiting)
            .chain(&self.dropped)
            .for_each(visit);
    }

    fn change_queue(&mut self, _now: Time, to: &QueueSetting) {
        self.scheduler.change(to);
    }

    fn length(&self, _now: Time) -> usize {
        self.scheduler.len() + usize::from(self.in_service.is_some())
    }

    fn set_rate(&mut self, rate_bps: u64) {
        self.rate_bps = rate_bps;
        self.scheduler.set_capped(rate_bps != FREE);
    }

    fn tins(&self) -> Vec<TinCounters> {
        self.scheduler.tins()
    }

    fn leaves(&self) -> Vec<QueueCounters> {
        self.scheduler.leaves()
    }

    fn unjudged(&self) -> u64 {
        self.scheduler.len() as u64
    }

    fn waits(&self) -> Option<&Waits> {
        Some(&self.waits)
    }

    fn counters(&self, _now: Time) -> QueueCounters {
        let mut counters = self.counters;
        counters.marked = self.scheduler.marked();
        counters
    }

    fn used(&self, now: Time) -> [u64; 2] {
        let ahead = self.in_service.as_ref();
        let ahead = ahead.map_or(Span::ZERO, |(departs, _)| departs.since(now));
        [self.busy_ns - ahead.0, now.0]
    }

    fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn least_utilisation(&self) -> Option<f64> {
        self.bins.as_ref()?.least(self.busy_ns)
    }
}
