//! One direction of a wired link: rate, propagation time, queue; packets arrive in order.
//!
//! A link tells when a packet will arrive; until then a [calendar](crate::kernel::calendar) of the caller
//! has the packet. A [`Pipe`] knows a packet's departure when it enters; where the queue decides or
//! reorders on departure, a [`Served`] link goes from departure to departure, and a [`Traced`] one from
//! opportunity to opportunity. The links of a flow's own hosts ([`Host`]) only delay.

mod bins;
mod host;
mod losses;
mod pipe;
mod rate;
mod residence;
mod served;
mod settings;
mod trace;
mod traced;

use std::ops::Range;

pub use self::host::Host;
pub use self::losses::{Loss, Losses};
pub use self::pipe::Pipe;
pub(crate) use self::rate::BottleneckRate;
pub use self::rate::LinkRate;
pub use self::served::{FREE, Served};
pub use self::settings::{LinkSettings, Wire};
pub use self::trace::Trace;
pub use self::traced::Traced;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{
    Admission, Egress, HeadQueue, Managed, QueueCounters, QueueSetting, Scheduler, Waits,
};

/// What becomes of a packet that enters a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transit {
    /// It arrives at the far end at this instant.
    Arrives(Time),
    /// The queue has no place for it.
    Refused,
    /// It is lost on the way.
    Lost,
    /// The link keeps it and decides later.
    Kept,
}

/// One direction of a wired link.
#[derive(Clone, Debug)]
pub enum Link {
    /// It only delays.
    Host(Host),
    /// Its queue decides on arrival.
    Pipe(Box<Pipe>),
    /// Its queue decides on departure too.
    Served(Box<Served>),
    /// It sends when its trace has an opportunity.
    Traced(Box<Traced>),
}

/// One direction of the wire behind a cell as a link.
pub fn of_wire(wire: &Wire, rate: &LinkRate, name: &str, [from, to]: [&str; 2]) -> LinkSettings {
    LinkSettings {
        rate: rate.clone(),
        delay: wire.delay,
        queue: wire.queue.clone(),
        loss: wire.loss,
        ..LinkSettings::ideal(name, from, to)
    }
}

fn losses(settings: &LinkSettings, streams: &Streams) -> Losses {
    Losses::new(
        settings.loss,
        streams.stream(&format!("{}/loss", settings.name)),
    )
}

impl Link {
    /// An empty link. `measured` is the time from the end of the warm-up to that of the run, `bin`
    /// the width of the bins over which the least utilisation is taken, if at all.
    pub fn new(
        settings: &LinkSettings,
        streams: &Streams,
        measured: Range<Time>,
        bin: Option<Span>,
    ) -> Link {
        if settings.of_host {
            return Link::Host(Host::new(settings, streams));
        }
        let rate_bps = settings.rate.bps();
        let egress = Egress {
            rate_bps: rate_bps.unwrap_or(u64::MAX),
            is_fixed: settings.rate.trace().is_none(),
            delay: settings.delay,
        };
        let draws = streams.stream(&format!("{}/queue", settings.name));
        if let Some(trace) = settings.rate.trace() {
            let queue = HeadQueue::new(&settings.queue, egress, draws);
            let losses = losses(settings, streams);
            let traced = Traced::new(settings, trace.clone(), queue, losses, measured);
            return Link::Traced(Box::new(traced));
        }
        let admission = match (Managed::new(&settings.queue, egress, draws), rate_bps) {
            (Managed::OnDeparture(scheduler), Some(rate_bps)) => {
                return Link::served(settings, rate_bps, scheduler, streams, measured, bin);
            }
            // without a rate there is no queue
            (Managed::OnDeparture(_), None) => Admission::DropTail(settings.queue.limit_packets),
            (Managed::OnArrival(admission), _) => admission,
        };
        let losses = losses(settings, streams);
        let pipe = Pipe::new(settings, admission, losses, measured, bin);
        Link::Pipe(Box::new(pipe))
    }

    /// A link that serves what `scheduler` picks at `rate_bps`; for the rest see [`Link::new`].
    pub fn served(
        settings: &LinkSettings,
        rate_bps: u64,
        scheduler: Scheduler,
        streams: &Streams,
        measured: Range<Time>,
        bin: Option<Span>,
    ) -> Link {
        let losses = losses(settings, streams);
        let served = Served::new(settings, rate_bps, scheduler, losses, measured, bin);
        Link::Served(Box::new(served))
    }

    /// `packet` enters at `at`, which is `now` or, for a pipe, ahead of it ([`Pipe::enter`]).
    #[inline]
    pub fn enter(&mut self, now: Time, at: Time, packet: &mut Packet) -> Transit {
        match self {
            Link::Host(host) => Transit::Arrives(host.enter(at, packet)),
            Link::Pipe(pipe) => pipe.enter(now, at, packet),
            Link::Served(served) => served.enter(now, *packet),
            Link::Traced(traced) => traced.enter(now, *packet),
        }
    }

    /// How long every packet takes, if the link does nothing but delay.
    pub fn mere_delay(&self) -> Option<Span> {
        match self {
            Link::Host(host) => host.mere_delay(),
            Link::Pipe(_) | Link::Served(_) | Link::Traced(_) => None,
        }
    }

    /// Whether data of `flow` that enters at `now` finds room that its source could fill.
    pub fn has_room(&mut self, now: Time, flow: u32) -> bool {
        match self {
            Link::Host(_) => false,
            Link::Pipe(pipe) => pipe.has_room(now),
            Link::Served(served) => served.has_room(flow),
            Link::Traced(traced) => traced.has_room(now),
        }
    }

    /// When it has room again, once a source has filled its queue.
    pub fn room_again(&self) -> Time {
        match self {
            Link::Pipe(pipe) => pipe.next_departure(),
            Link::Host(_) | Link::Served(_) | Link::Traced(_) => self.deadline(),
        }
    }

    /// How long every packet takes, if the link has no rate.
    pub fn unrated_delay(&self) -> Option<Span> {
        match self {
            Link::Host(host) => host.mere_delay(),
            Link::Pipe(pipe) => pipe.unrated_delay(),
            Link::Served(_) | Link::Traced(_) => None,
        }
    }

    /// Whether a link without a rate ever loses a packet.
    pub fn loses_some(&self) -> bool {
        match self {
            Link::Pipe(pipe) => pipe.loses_some(),
            Link::Host(_) | Link::Served(_) | Link::Traced(_) => false,
        }
    }

    /// Whether a link without a rate loses `packet`.
    pub fn loses(&mut self, packet: &Packet) -> bool {
        match self {
            Link::Pipe(pipe) => pipe.loses(packet),
            Link::Host(_) | Link::Served(_) | Link::Traced(_) => false,
        }
    }

    /// Whether its packets depart in events, so that they cannot enter ahead of time.
    pub fn is_served(&self) -> bool {
        matches!(self, Link::Served(_) | Link::Traced(_))
    }

    /// When the packet in service departs or may, where that is an event.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Link::Host(_) | Link::Pipe(_) => Time::NEVER,
            Link::Served(served) => served.deadline(),
            Link::Traced(traced) => traced.deadline(),
        }
    }

    /// Lets the packet in service depart if it is due; returns when it arrives at the far end, and the
    /// packet.
    #[inline]
    pub fn depart(&mut self, now: Time) -> Option<(Time, Packet)> {
        match self {
            Link::Host(_) | Link::Pipe(_) => None,
            Link::Served(served) => served.depart(now),
            Link::Traced(traced) => traced.depart(now),
        }
    }

    /// The next packet that was to be lost by `now`, or was lost on departure.
    #[inline]
    pub fn settle(&mut self, now: Time) -> Option<Packet> {
        match self {
            Link::Host(_) => None,
            Link::Pipe(pipe) => pipe.settle(now),
            Link::Served(served) => served.settle(),
            Link::Traced(traced) => traced.settle(),
        }
    }

    /// Calls `visit` for each packet that the link keeps.
    pub fn each_packet(&self, visit: &mut dyn FnMut(&Packet)) {
        match self {
            Link::Host(_) => {}
            Link::Pipe(pipe) => pipe.packets().for_each(visit),
            Link::Served(served) => served.packets().for_each(visit),
            Link::Traced(traced) => traced.packets().for_each(visit),
        }
    }

    /// The setting of the queue is `to` from `now` on, as far as it may move: see [`QueueSetting::moved_to`].
    pub fn change_queue(&mut self, now: Time, to: &QueueSetting) {
        match self {
            Link::Host(_) => {}
            Link::Pipe(pipe) => pipe.change_queue(now, to),
            Link::Served(served) => served.change_queue(to),
            Link::Traced(traced) => traced.change_queue(now, to),
        }
    }

    /// Sets the rate of a served link from the next packet on. [bit/s]
    pub fn set_rate(&mut self, rate_bps: u64) {
        if let Link::Served(served) = self {
            served.set_rate(rate_bps);
        }
    }

    /// Totals of each leaf of its queue, where there are any.
    pub fn leaves(&self) -> Vec<QueueCounters> {
        match self {
            Link::Host(_) | Link::Pipe(_) | Link::Traced(_) => Vec::new(),
            Link::Served(served) => served.leaves(),
        }
    }

    /// Packets in the queue at `now`, the one in service included.
    pub fn length(&self, now: Time) -> usize {
        match self {
            Link::Host(_) => 0,
            Link::Pipe(pipe) => pipe.length(now),
            Link::Served(served) => served.length(),
            Link::Traced(traced) => traced.length(now),
        }
    }

    /// Totals of the queue at `now`.
    pub fn counters(&self, now: Time) -> QueueCounters {
        match self {
            Link::Host(_) => QueueCounters::default(),
            Link::Pipe(pipe) => pipe.counters(now),
            Link::Served(served) => served.counters(),
            Link::Traced(traced) => traced.counters(),
        }
    }

    /// Times of the datagrams that have left the queue; of a pipe those that leave it in the time measured.
    pub fn waits(&self) -> Option<&Waits> {
        match self {
            Link::Host(_) => None,
            Link::Pipe(pipe) => Some(pipe.waits()),
            Link::Served(served) => Some(served.waits()),
            Link::Traced(traced) => Some(traced.waits()),
        }
    }

    /// Packets in the queue that its discipline judges only when they depart.
    pub fn unjudged(&self) -> u64 {
        match self {
            Link::Host(_) | Link::Pipe(_) => 0,
            Link::Served(served) => served.unjudged(),
            Link::Traced(traced) => traced.unjudged(),
        }
    }

    /// What has been used up to `now`, and of how much: of time [ns], with a trace of opportunities [bytes].
    pub fn used(&self, now: Time) -> [u64; 2] {
        match self {
            Link::Host(_) => [0, now.0],
            Link::Pipe(pipe) => [pipe.busy_ns(now), now.0],
            Link::Served(served) => [served.busy_ns(now), now.0],
            Link::Traced(traced) => traced.used(now),
        }
    }

    /// Bytes of the packets that have departed; only a served link counts them.
    pub fn sent_bytes(&self) -> u64 {
        match self {
            Link::Host(_) | Link::Pipe(_) | Link::Traced(_) => 0,
            Link::Served(served) => served.sent_bytes(),
        }
    }

    /// Most packets that the queue held in the time measured, seen at arrivals.
    pub fn longest(&self) -> usize {
        match self {
            Link::Host(_) => 0,
            Link::Pipe(pipe) => pipe.longest(),
            Link::Served(served) => served.longest(),
            Link::Traced(traced) => traced.longest(),
        }
    }

    /// Least part of a bin that the link was busy, over the bins in the time measured; a trace has none.
    pub fn least_utilisation(&self) -> Option<f64> {
        match self {
            Link::Host(_) | Link::Traced(_) => None,
            Link::Pipe(pipe) => pipe.least_utilisation(),
            Link::Served(served) => served.least_utilisation(),
        }
    }
}
