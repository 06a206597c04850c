//! One direction of a wired link: rate, propagation time and queue. Packets arrive in order.
//!
//! A link returns the time at which a packet will arrive. Until this time the caller stores the
//! packet in a [calendar](crate::kernel::calendar). There are four kinds of links. A [`Pipe`]
//! computes the departure of a packet when the packet enters. A [`Served`] link has an event for
//! each departure, because its queue decides or reorders when packets depart. A [`Traced`] link
//! sends at the opportunities of a trace. A [`Host`] is the link of the host of a flow and only
//! delays packets.

mod alternatives;
mod bins;
mod host;
mod losses;
mod model;
mod pipe;
mod rate;
mod residence;
mod served;
mod settings;
mod trace;
mod traced;

use std::ops::{Deref, DerefMut, Range};

pub use self::host::Host;
pub use self::losses::{Loss, Losses};
pub use self::model::{LinkModel, Transit};
pub use self::pipe::Pipe;
pub(crate) use self::rate::BottleneckRate;
pub use self::rate::LinkRate;
pub use self::served::{FREE, Served};
pub use self::settings::{LinkSettings, Wire};
pub use self::trace::Trace;
pub use self::traced::Traced;
use crate::app::{Flow, flow_classes};
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{Admission, Egress, HeadQueue, Managed, QueueSetting, Scheduler};

/// One direction of a wired link.
#[derive(Clone, Debug)]
pub enum Link {
    /// Link of a host, which only delays packets.
    Host(Host),
    /// Link whose queue decides about a packet (accept, drop or mark) only on arrival.
    Pipe(Box<Pipe>),
    /// Link whose queue also decides about packets on departure.
    Served(Box<Served>),
    /// Link that sends at the opportunities of a trace.
    Traced(Box<Traced>),
}

/// Returns the settings of the links for the two directions of the wire of a cell: first the
/// direction towards the access point.
pub fn of_wire(wire: &Wire) -> [LinkSettings; 2] {
    let direction =
        |rate: &LinkRate, queue: &QueueSetting, name, [from, to]: [&str; 2]| LinkSettings {
            rate: rate.clone(),
            delay: wire.delay,
            queue: queue.clone(),
            loss: wire.loss,
            ..LinkSettings::ideal(name, from, to)
        };
    [
        direction(&wire.rate, &wire.queue, "wire/down", ["servers", "ap"]),
        direction(&wire.back, &wire.back_queue, "wire/up", ["ap", "servers"]),
    ]
}

fn losses(settings: &LinkSettings, streams: &Streams) -> Losses {
    Losses::new(
        settings.loss,
        streams.stream(&format!("{}/loss", settings.name)),
    )
}

impl Link {
    /// Returns an empty link. `measured` is the time from the end of the warm-up to the end of the
    /// run. `bin` is the width of the bins for the smallest utilisation, if the utilisation is
    /// measured.
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
            // a link without a rate never uses its queue, so that a drop-tail queue replaces the
            // discipline
            (Managed::OnDeparture(_), None) => Admission::DropTail(settings.queue.limit_packets),
            (Managed::OnArrival(admission), _) => admission,
        };
        let losses = losses(settings, streams);
        let pipe = Pipe::new(settings, admission, losses, measured, bin);
        Link::Pipe(Box::new(pipe))
    }

    /// Returns a link that serves the packets of `scheduler` at `rate_bps`. The other arguments are
    /// those of [`Link::new`].
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

    /// Sets the hosts and DSCPs of `flows`, which only CAKE uses. `stations` is the number of
    /// stations.
    pub fn set_flows(&mut self, flows: &[Flow], stations: usize) {
        if let Some(scheduler) = self.scheduler_mut() {
            scheduler.set_flows(&flow_classes(flows, stations));
        }
    }

    /// Returns the scheduler of the link's queue, if the discipline decides at departures.
    pub(crate) fn scheduler_mut(&mut self) -> Option<&mut Scheduler> {
        match self {
            Link::Host(_) | Link::Pipe(_) => None,
            Link::Served(served) => Some(served.scheduler_mut()),
            Link::Traced(traced) => traced.scheduler_mut(),
        }
    }

    /// Treats the packets of the new flow `flow` like those of flow `like`. If `reversed` is true,
    /// the data of the two flows have opposite directions.
    pub(crate) fn adopt(&mut self, flow: u32, like: u32, reversed: bool) {
        if let Link::Served(served) = self {
            served.adopt(flow, like, reversed);
        }
    }

    /// Enqueues `packet` at `at`. The time `at` equals `now`, except that a pipe also accepts a
    /// later time ([`Pipe::enter`]).
    #[inline(always)]
    pub fn enter(&mut self, now: Time, at: Time, packet: &mut Packet) -> Transit {
        match self {
            Link::Pipe(pipe) => pipe.enter(now, at, packet),
            Link::Host(_) | Link::Served(_) | Link::Traced(_) => self.enter_apart(now, at, packet),
        }
    }

    /// Performs [`Link::enter`] if the link is of a variant other than `Pipe`.
    #[inline(never)]
    fn enter_apart(&mut self, now: Time, at: Time, packet: &mut Packet) -> Transit {
        match self {
            Link::Host(host) => Transit::Arrives(host.enter(at, packet)),
            Link::Pipe(pipe) => pipe.enter(now, at, packet),
            Link::Served(served) => served.enter(now, *packet),
            Link::Traced(traced) => traced.enter(now, *packet),
        }
    }

    /// Returns whether a greedy source may enqueue a packet of `flow` at `now`, because the queue
    /// has room.
    pub fn has_room(&mut self, now: Time, flow: u32) -> bool {
        match self {
            Link::Host(_) => false,
            Link::Pipe(pipe) => pipe.has_room(now),
            Link::Served(served) => served.has_room(flow),
            Link::Traced(traced) => traced.has_room(now),
        }
    }

    /// Returns the next time at which the queue has room, after a greedy source has filled the
    /// queue.
    pub fn room_again(&self) -> Time {
        match self {
            Link::Pipe(pipe) => pipe.next_departure(),
            Link::Host(_) | Link::Served(_) | Link::Traced(_) => self.deadline(),
        }
    }

    /// Returns whether each departure is an event. If so, packets cannot enter with lookahead, that
    /// is, before their time of entry.
    pub fn is_served(&self) -> bool {
        matches!(self, Link::Served(_) | Link::Traced(_))
    }

    /// Returns the time of the next event of the link. At this time the packet in service departs,
    /// or, if no packet is in service, the queue may have a packet to send. `Time::NEVER` if
    /// departures are not events.
    #[inline]
    pub fn deadline(&self) -> Time {
        match self {
            Link::Host(_) | Link::Pipe(_) => Time::NEVER,
            Link::Served(served) => served.deadline(),
            Link::Traced(traced) => traced.deadline(),
        }
    }

    /// Dequeues the packet in service if its departure is due. Returns the packet and the time of
    /// its arrival at the far end.
    #[inline]
    pub fn depart(&mut self, now: Time) -> Option<(Time, Packet)> {
        match self {
            Link::Host(_) | Link::Pipe(_) => None,
            Link::Served(served) => served.depart(now),
            Link::Traced(traced) => traced.depart(now),
        }
    }

    /// Returns the next packet that the link has lost or dropped by `now`, on arrival or on
    /// departure.
    #[inline]
    pub fn settle(&mut self, now: Time) -> Option<Packet> {
        match self {
            Link::Host(_) => None,
            Link::Pipe(pipe) => pipe.settle(now),
            Link::Served(served) => served.settle(),
            Link::Traced(traced) => traced.settle(),
        }
    }
}

impl Deref for Link {
    type Target = dyn LinkModel;

    fn deref(&self) -> &Self::Target {
        match self {
            Link::Host(host) => host,
            Link::Pipe(pipe) => &**pipe,
            Link::Served(served) => &**served,
            Link::Traced(traced) => &**traced,
        }
    }
}

impl DerefMut for Link {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Link::Host(host) => host,
            Link::Pipe(pipe) => &mut **pipe,
            Link::Served(served) => &mut **served,
            Link::Traced(traced) => &mut **traced,
        }
    }
}
