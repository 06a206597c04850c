//! Disciplines that decide on arrival only: what they see, what they answer.

use super::outside::OutsidePolicy;
use super::{Discipline, Pi, Pie, Price, Proportional, QueueSetting, Red, Scheduler, SharedBuffer};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::packet::{Ecn, Packet};

/// What a discipline decides on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet joins the queue.
    Enter,
    /// The packet joins the queue and carries a mark from now on; it is ECN-capable.
    Mark,
    /// The packet is lost.
    Drop,
}

impl Verdict {
    /// An early loss of `packet`; a mark instead if marks are allowed (`may`) and the packet can carry one.
    #[inline]
    pub(super) fn early(may: bool, packet: &Packet) -> Verdict {
        match may && packet.ecn != Ecn::NotCapable {
            true => Verdict::Mark,
            false => Verdict::Drop,
        }
    }
}

/// Decides for each packet by a draw of its own whether it is lost early.
#[derive(Clone, Debug)]
pub(super) struct Lot {
    /// Packets, the one in service included.
    limit: u32,
    ecn: bool,
    stream: Stream,
}

impl Lot {
    pub(super) fn new(limit: u32, ecn: bool, stream: Stream) -> Lot {
        Lot { limit, ecn, stream }
    }

    /// The limit is this from now on.
    pub(super) fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
    }

    /// Decides on `packet`, which finds `backlog`, with the probability `p`; above 1 it counts as 1.
    #[inline]
    pub(super) fn admit(&mut self, p: f64, backlog: &Backlog, packet: &Packet) -> Verdict {
        if backlog.packets >= self.limit {
            Verdict::Drop
        } else if self.stream.chance(p) {
            Verdict::early(self.ecn, packet)
        } else {
            Verdict::Enter
        }
    }
}

/// The queue as an arriving packet finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting, and the one in service.
    pub packets: u32,
    /// Their length. [bytes]
    pub bytes: u64,
    /// Length of the packet in service, 0 if there is none. [bytes]
    pub in_service_bytes: u32,
    /// Since when there has been no packet; `None` while there is one. A queue that never had one
    /// is idle since [`Time::ZERO`].
    pub idle_since: Option<Time>,
}

/// What a queue held at an instant between arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Packets waiting, and the one in service.
    pub packets: u32,
    /// Their length. [bytes]
    pub bytes: u64,
}

/// What serves the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlet {
    /// Rate at which packets are served; in a cell the rate of data frames. [bit/s]
    pub rate_bps: u64,
    /// Whether every packet is served at that rate, as on a wire; false where service times vary.
    pub is_fixed: bool,
    /// Propagation time of the link.
    pub delay: Span,
}

/// A discipline that decides when a packet arrives.
#[derive(Clone, Debug)]
pub enum Admission {
    /// Drops a packet that finds this many packets: drop-tail, and the threshold policy.
    DropTail(u32),
    /// Random early detection.
    Red(Box<Red>),
    /// Drops in proportion to the backlog.
    Proportional(Box<Proportional>),
    /// Proportional-integral control of the queue.
    Pi(Box<Pi>),
    /// Proportional-integral control of the delay.
    Pie(Box<Pie>),
    /// Shares for classes of flows.
    BufferSharing(Box<SharedBuffer>),
    /// Drops with a probability set from outside.
    Price(Box<Price>),
    /// A discipline of another crate.
    Outside(OutsidePolicy),
}

/// A discipline with its state.
#[derive(Clone, Debug)]
pub enum Managed {
    /// It decides when a packet arrives, and never again.
    OnArrival(Admission),
    /// It decides or reorders when a packet leaves.
    OnDeparture(Scheduler),
}

impl Admission {
    /// The setting is `to` from `now` on, as far as it may move: see [`QueueSetting::moved_to`]. What is due
    /// between arrivals has been done up to `now`.
    pub fn change(&mut self, now: Time, to: &QueueSetting) {
        let limit = to.limit_packets;
        match (self, &to.discipline) {
            (Admission::DropTail(most), Discipline::DropTail | Discipline::Threshold { .. }) => {
                *most = to.most_packets();
            }
            (Admission::Red(red), Discipline::Red(setting)) => red.change(*setting, limit),
            (Admission::Proportional(own), Discipline::Proportional(setting)) => {
                own.change(*setting, limit);
            }
            (Admission::Pi(pi), Discipline::Pi(setting)) => pi.change(*setting, limit),
            (Admission::Pie(pie), Discipline::Pie(setting)) => pie.change(*setting, limit),
            (Admission::BufferSharing(sharing), Discipline::BufferSharing(setting)) => {
                sharing.change(now, *setting, limit);
            }
            _ => {} // another discipline
        }
    }

    /// Catches up with what the discipline does between arrivals, given what the queue held at any instant
    /// up to now. To be called before the backlog changes, and so before `admit`.
    #[inline]
    pub fn advance(&mut self, now: Time, mut held_at: impl FnMut(Time) -> Held) {
        match self {
            Admission::Pi(pi) => pi.advance(now, |instant| held_at(instant).packets),
            Admission::Pie(pie) => pie.advance(now, |instant| held_at(instant).bytes),
            Admission::DropTail(_)
            | Admission::Red(_)
            | Admission::Proportional(_)
            | Admission::BufferSharing(_)
            | Admission::Price(_)
            | Admission::Outside(_) => {}
        }
    }

    /// `packet` leaves at `at`; until then the queue, with it, has `held` so much.
    #[inline]
    pub fn departed(&mut self, at: Time, packet: &Packet, held: Held) {
        match self {
            Admission::Pi(pi) => pi.advance(at, |_| held.packets),
            Admission::Pie(pie) => {
                pie.advance(at, |_| held.bytes);
                pie.departed(at.since(packet.queued));
            }
            Admission::BufferSharing(sharing) => sharing.departed(packet, at),
            Admission::Outside(policy) => policy.departed(at, at.since(packet.queued)),
            Admission::DropTail(_)
            | Admission::Red(_)
            | Admission::Proportional(_)
            | Admission::Price(_) => {}
        }
    }

    /// Decides on `packet`, which finds `backlog`.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        match self {
            Admission::DropTail(limit) if backlog.packets < *limit => Verdict::Enter,
            Admission::DropTail(_) => Verdict::Drop,
            Admission::Red(red) => red.admit(now, backlog, packet),
            Admission::Proportional(proportional) => proportional.admit(backlog, packet),
            Admission::Pi(pi) => pi.admit(backlog, packet),
            Admission::Pie(pie) => pie.admit(backlog, packet),
            Admission::BufferSharing(sharing) => sharing.admit(now, backlog, packet),
            Admission::Price(price) => price.admit(backlog, packet),
            Admission::Outside(policy) => policy.admit(now, backlog, packet),
        }
    }
}
