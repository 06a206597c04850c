//! A link whose queue decides which packet is next, or drops packets, when one departs.

use std::ops::Range;

use super::LinkSettings;
use super::Transit;
use super::bins::Bins;
use super::losses::Losses;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{QueueCounters, QueueSetting, Scheduler, Waits};

/// The rate of a link that packets pass in no time: nobody can fill its queue. [bit/s]
pub const FREE: u64 = u64::MAX;

/// A link that goes from departure to departure.
#[derive(Clone, Debug)]
pub struct Served {
    rate_bps: u64,
    propagation: Span,
    losses: Losses,
    scheduler: Scheduler,
    /// The packet in service, and when it departs.
    in_service: Option<(Time, Packet)>,
    /// Time at which the scheduler has a packet again, while none is in service.
    ready: Time,
    counters: QueueCounters,
    waits: Waits,
    busy_ns: u64,
    /// Bytes of the packets that have departed.
    sent_bytes: u64,
    measured: Range<Time>,
    longest: usize,
    bins: Option<Bins>,
    /// Packets that the discipline has dropped and nobody has accounted for.
    dropped: Vec<Packet>,
}

impl Served {
    /// An empty link of `rate_bps`; `losses` decides which packets are lost on the way. For the
    /// rest see [`super::Link::new`].
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

    /// The setting of the queue is `to` from now on, as far as it may move.
    pub fn change_queue(&mut self, to: &QueueSetting) {
        self.scheduler.change(to);
    }

    /// `packet` enters the queue, which keeps it; the packet that is lost for it, itself or another, is
    /// left to [`Served::settle`].
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
            self.longest = self.longest.max(self.length());
        }
        Transit::Kept
    }

    /// Takes the packets dropped, except the first `known`, from the queue's totals.
    fn count_dropped(&mut self, now: Time, known: usize) {
        for _ in known..self.dropped.len() {
            self.counters.withdraw(now);
        }
    }

    /// Puts the next packet in service.
    fn serve(&mut self, now: Time) {
        let known = self.dropped.len();
        let next = self.scheduler.dequeue(now, &mut self.dropped);
        self.count_dropped(now, known);
        self.in_service = next.map(|packet| {
            let service = Span::to_send(u64::from(packet.bytes), self.rate_bps);
            let departs = now + service;
            self.busy_ns += service.0;
            if let Some(bins) = &mut self.bins {
                bins.add(now, departs);
            }
            (departs, packet)
        });
        if self.in_service.is_none() {
            self.ready = self.scheduler.ready();
        }
    }

    /// Whether data of `flow` finds room that its source could fill.
    pub fn has_room(&self, flow: u32) -> bool {
        self.rate_bps != FREE && self.scheduler.has_room(flow)
    }

    /// Returns the time at which the packet in service departs, or the scheduler has one again.
    pub fn deadline(&self) -> Time {
        self.in_service.map_or(self.ready, |(departs, _)| departs)
    }

    /// Lets the packet in service depart if it is due; returns when it arrives at the far end, and the
    /// packet.
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

    /// The next packet that the discipline has dropped.
    pub fn settle(&mut self) -> Option<Packet> {
        self.dropped.pop()
    }

    /// Packets in its queue, or dropped and not yet accounted for.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let in_service = self.in_service.iter().map(|(_, packet)| packet);
        let waiting = self.scheduler.packets();
        in_service.chain(waiting).chain(&self.dropped)
    }

    /// Packets in the queue, the one in service included.
    pub fn length(&self) -> usize {
        self.scheduler.len() + usize::from(self.in_service.is_some())
    }

    /// Sets the rate from the next packet on. [bit/s]
    pub fn set_rate(&mut self, rate_bps: u64) {
        self.rate_bps = rate_bps;
        self.scheduler.set_capped(rate_bps != FREE);
    }

    /// Totals of each leaf of its queue, where there are any.
    pub fn leaves(&self) -> Vec<QueueCounters> {
        self.scheduler.leaves()
    }

    /// Packets that wait for the scheduler to judge them.
    pub fn unjudged(&self) -> u64 {
        self.scheduler.len() as u64
    }

    /// Times of the datagrams that have left.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// Totals of the queue as they stand.
    pub fn counters(&self) -> QueueCounters {
        let mut counters = self.counters;
        counters.marked = self.scheduler.marked();
        counters
    }

    /// Time spent sending up to `now`. [ns]
    pub fn busy_ns(&self, now: Time) -> u64 {
        let ahead = self
            .in_service
            .map_or(0, |(departs, _)| departs.since(now).0);
        self.busy_ns - ahead
    }

    /// Bytes of the packets that have departed.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Most packets that the queue held in the time measured, seen at arrivals.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Least part of a bin that the link was busy, over the bins in the time measured.
    pub fn least_utilisation(&self) -> Option<f64> {
        self.bins.as_ref().and_then(Bins::least)
    }
}
