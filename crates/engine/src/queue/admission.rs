//! The disciplines that decide at the arrival of a packet.

use super::discipline::{Backlog, Held, Verdict};
use super::plugin::PluginPolicy;
use super::{Discipline, Pi, Pie, Price, Proportional, QueueSetting, Red, SharedBuffer};
use crate::kernel::time::Time;
use crate::packet::Packet;

/// A discipline that decides at the arrival of a packet.
#[derive(Clone, Debug)]
pub enum Admission {
    /// Drops an arriving packet if the queue already holds this number of packets: drop-tail queue
    /// and threshold policy.
    DropTail(u32),
    /// Random early detection.
    Red(Box<Red>),
    /// Drops with a probability proportional to the backlog.
    Proportional(Box<Proportional>),
    /// Proportional-integral control of the queue length.
    Pi(Box<Pi>),
    /// Proportional-integral control of the queueing delay.
    Pie(Box<Pie>),
    /// Virtual buffer sharing: classes of flows with target shares.
    BufferSharing(Box<SharedBuffer>),
    /// Drops with a probability that is set at run time.
    Price(Box<Price>),
    /// A discipline of another crate.
    Plugin(PluginPolicy),
}

impl Admission {
    /// Returns the limit of a drop-tail queue. [packets]
    #[inline(always)]
    pub(super) fn drop_tail(&self) -> Option<u32> {
        if let Admission::DropTail(limit) = self {
            return Some(*limit);
        }
        None
    }

    /// Applies the settings `to` that may change at run time: see [`QueueSetting::moved_to`].
    /// [`Admission::advance`] must have been called for `now`.
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
            (
                Admission::DropTail(_)
                | Admission::Red(_)
                | Admission::Proportional(_)
                | Admission::Pi(_)
                | Admission::Pie(_)
                | Admission::BufferSharing(_)
                | Admission::Price(_)
                | Admission::Plugin(_),
                _,
            ) => {} // `to` belongs to another discipline
        }
    }

    /// Performs the periodic updates of the discipline that are due until now. `held_at` returns
    /// the content of the queue at a past time. The function must be called before the backlog
    /// changes, and therefore before `admit`.
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
            | Admission::Plugin(_) => {}
        }
    }

    /// Processes the departure of `packet` at `at`. `held` is the content of the queue before the
    /// departure, including the packet.
    #[inline]
    pub fn departed(&mut self, at: Time, packet: &Packet, held: Held) {
        match self {
            Admission::Pi(pi) => pi.advance(at, |_| held.packets),
            Admission::Pie(pie) => {
                pie.advance(at, |_| held.bytes);
                pie.departed(at.since(packet.queued));
            }
            Admission::BufferSharing(sharing) => sharing.departed(packet, at),
            Admission::Plugin(policy) => policy.departed(at, at.since(packet.queued)),
            Admission::DropTail(_)
            | Admission::Red(_)
            | Admission::Proportional(_)
            | Admission::Price(_) => {}
        }
    }

    /// Returns the verdict on `packet`, which arrives when the queue holds `backlog`.
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
            Admission::Plugin(policy) => policy.admit(now, backlog, packet),
        }
    }
}
