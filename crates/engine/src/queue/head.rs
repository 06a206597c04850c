//! A queue whose head stays inside until it has been sent, under any discipline.

use super::settings::QueueSetting;
use super::{
    Admission, Egress, Fifo, Lanes, Managed, Price, QueueCounters, Scheduled, Scheduler,
    SharedBuffer, Waits,
};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// A queue in front of a server that works on its first packet.
#[derive(Clone, Debug)]
pub enum HeadQueue {
    /// Packets are judged when they arrive.
    Fifo(Fifo),
    /// The others, apart, so that the usual one is found at a glance.
    Other(Box<OtherQueue>),
}

/// A queue that is no plain FIFO.
#[derive(Clone, Debug)]
pub enum OtherQueue {
    /// Packets are judged when they leave.
    Scheduled(Scheduled),
    /// Packets are judged when they arrive, and served several at a time; it has no head.
    Lanes(Lanes),
}

impl HeadQueue {
    /// An empty queue of `setting`, served by `egress`.
    pub fn new(setting: &QueueSetting, egress: Egress, stream: Stream) -> HeadQueue {
        match Managed::new(setting, egress, stream) {
            Managed::OnArrival(admission) => HeadQueue::Fifo(Fifo::new(admission)),
            Managed::OnDeparture(scheduler) => {
                let scheduled = OtherQueue::Scheduled(Scheduled::new(scheduler));
                HeadQueue::Other(Box::new(scheduled))
            }
        }
    }

    /// A queue served several packets at a time.
    pub fn lanes(lanes: Lanes) -> HeadQueue {
        HeadQueue::Other(Box::new(OtherQueue::Lanes(lanes)))
    }

    /// Whether packets wait in a lane, where there are some.
    pub fn has_of_lane(&self, lane: u32) -> bool {
        match self {
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Lanes(lanes) => lanes.first(lane).is_some(),
                OtherQueue::Scheduled(_) => false,
            },
            HeadQueue::Fifo(_) => false,
        }
    }

    /// An empty queue that classes share.
    pub fn shared(sharing: SharedBuffer) -> HeadQueue {
        HeadQueue::Fifo(Fifo::new(Admission::BufferSharing(Box::new(sharing))))
    }

    /// An empty queue of at most `limit` packets that drops with a probability set from outside.
    pub fn priced(limit: u32, stream: Stream) -> HeadQueue {
        HeadQueue::Fifo(Fifo::new(Admission::Price(Box::new(Price::new(
            limit, stream,
        )))))
    }

    /// Its parts, for a server that takes several packets at a time: what judges arrivals there, and what
    /// decides before who gets there.
    pub fn apart(self) -> (Admission, Option<Scheduler>) {
        match self {
            HeadQueue::Fifo(fifo) => (fifo.admission(), None),
            HeadQueue::Other(other) => match *other {
                OtherQueue::Scheduled(scheduled) => {
                    (Admission::DropTail(u32::MAX), Some(scheduled.scheduler()))
                }
                OtherQueue::Lanes(lanes) => (lanes.admission(), None),
            },
        }
    }

    /// Sets that probability.
    pub fn set_price(&mut self, r: f64) {
        if let HeadQueue::Fifo(fifo) = self {
            fifo.set_price(r);
        }
    }

    /// The setting is `to` from `now` on, as far as it may move: see [`QueueSetting::moved_to`]. Packets that
    /// wait stay, even beyond a new limit.
    pub fn change(&mut self, now: Time, to: &QueueSetting) {
        match self {
            HeadQueue::Fifo(fifo) => fifo.change(now, to),
            HeadQueue::Other(other) => match &mut **other {
                OtherQueue::Scheduled(scheduled) => scheduled.change(to),
                OtherQueue::Lanes(lanes) => lanes.change(now, to),
            },
        }
    }

    /// Length of the packets inside, where they wait in order of arrival. [bytes]
    pub fn bytes(&self) -> u64 {
        match self {
            HeadQueue::Fifo(fifo) => fifo.bytes(),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(_) => 0,
                OtherQueue::Lanes(lanes) => lanes.bytes(),
            },
        }
    }

    /// The shares of its classes, if its discipline has some.
    #[inline]
    pub fn sharing(&self) -> Option<&SharedBuffer> {
        match self {
            HeadQueue::Fifo(fifo) => fifo.sharing(),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(_) => None,
                OtherQueue::Lanes(lanes) => lanes.sharing(),
            },
        }
    }

    /// The air has carried a data segment of `flow`, either way.
    #[inline]
    pub fn carried(&mut self, flow: u32) {
        match self {
            HeadQueue::Fifo(fifo) => fifo.carried(flow),
            HeadQueue::Other(other) => {
                if let OtherQueue::Lanes(lanes) = &mut **other {
                    lanes.carried(flow);
                }
            }
        }
    }

    /// Offers `packet`; returns false if it was refused. Other packets that are lost are fetched with
    /// `take_dropped`.
    #[inline]
    pub fn offer(&mut self, now: Time, packet: &Packet) -> bool {
        match self {
            HeadQueue::Fifo(fifo) => fifo.offer(now, packet),
            HeadQueue::Other(other) => other.offer(now, packet),
        }
    }

    /// The packet in service.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        match self {
            HeadQueue::Fifo(fifo) => fifo.head(),
            HeadQueue::Other(other) => other.head(),
        }
    }

    /// Removes the head, whose place becomes free at `at` (not before now).
    #[inline(always)]
    pub fn pop(&mut self, at: Time) -> Option<Packet> {
        match self {
            HeadQueue::Fifo(fifo) => fifo.pop(at),
            HeadQueue::Other(other) => other.pop(at),
        }
    }

    /// Whether it may drop packets after taking them.
    #[inline(always)]
    pub fn may_drop_later(&self) -> bool {
        matches!(self, HeadQueue::Other(_))
    }

    /// A packet that was lost after it had been taken, and has not been fetched yet.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<Packet> {
        match self {
            HeadQueue::Fifo(_) => None,
            HeadQueue::Other(other) => match &mut **other {
                OtherQueue::Scheduled(scheduled) => scheduled.take_dropped(),
                OtherQueue::Lanes(_) => None,
            },
        }
    }

    /// Brings to the front the first packet of the flow of a packet drawn at random, if the
    /// discipline leaves the order open.
    #[inline]
    pub fn mix(&mut self, stream: &mut Stream) {
        if let HeadQueue::Fifo(fifo) = self {
            fifo.mix(stream);
        }
    }

    /// True unless a source could fill the queue further.
    #[inline]
    pub fn is_full(&self, now: Time) -> bool {
        match self {
            HeadQueue::Fifo(fifo) => fifo.is_full(now),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(_) => true,
                OtherQueue::Lanes(lanes) => lanes.is_full(now),
            },
        }
    }

    /// Packets that occupy a place at `now`.
    #[inline]
    pub fn length(&self, now: Time) -> usize {
        match self {
            HeadQueue::Fifo(fifo) => fifo.length(now),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.length(now),
                OtherQueue::Lanes(lanes) => lanes.seen(now),
            },
        }
    }

    /// Times of the datagrams that have left.
    pub fn waits(&self) -> &Waits {
        match self {
            HeadQueue::Fifo(fifo) => fifo.waits(),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.waits(),
                OtherQueue::Lanes(lanes) => lanes.waits(),
            },
        }
    }

    /// Packets inside, the one in service first; of those that are served several at a time the ones that
    /// wait.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let (fifo, scheduled, lanes) = match self {
            HeadQueue::Fifo(fifo) => (Some(fifo.packets()), None, None),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => (None, Some(scheduled.packets()), None),
                OtherQueue::Lanes(lanes) => (None, None, Some(lanes.packets())),
            },
        };
        let plain = fifo.into_iter().flatten();
        let plain = plain.chain(scheduled.into_iter().flatten());
        plain.chain(lanes.into_iter().flatten())
    }

    /// Totals as they stand now.
    pub fn counters(&self) -> QueueCounters {
        match self {
            HeadQueue::Fifo(fifo) => fifo.counters(),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.counters(),
                OtherQueue::Lanes(lanes) => lanes.counters(),
            },
        }
    }

    /// Packets inside that the discipline judges only when they depart.
    pub fn unjudged(&self) -> u64 {
        match self {
            HeadQueue::Fifo(_) => 0,
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.unjudged(),
                OtherQueue::Lanes(_) => 0,
            },
        }
    }

    /// Time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        match self {
            HeadQueue::Fifo(fifo) => fifo.occupancy_ns(now),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.occupancy_ns(now),
                OtherQueue::Lanes(lanes) => lanes.occupancy_ns(now),
            },
        }
    }
}

impl OtherQueue {
    fn offer(&mut self, now: Time, packet: &Packet) -> bool {
        match self {
            OtherQueue::Scheduled(scheduled) => {
                scheduled.offer(now, *packet);
                true
            }
            OtherQueue::Lanes(lanes) => lanes.offer(now, packet),
        }
    }

    fn head(&self) -> Option<&Packet> {
        match self {
            OtherQueue::Scheduled(scheduled) => scheduled.head(),
            OtherQueue::Lanes(_) => None,
        }
    }

    fn pop(&mut self, at: Time) -> Option<Packet> {
        match self {
            OtherQueue::Scheduled(scheduled) => scheduled.pop(at),
            OtherQueue::Lanes(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
