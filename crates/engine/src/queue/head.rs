//! A queue whose first packet stays in it until it has been sent, with any discipline.

use super::settings::QueueSetting;
use super::{
    Admission, Egress, Fifo, Managed, Price, QueueCounters, Scheduled, Scheduler, SharedBuffer,
    TxQueues, Waits,
};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// A queue upstream of a server that works on its first packet.
#[derive(Clone, Debug)]
pub enum HeadQueue {
    /// The discipline decides when a packet arrives.
    Fifo(Fifo),
    /// Any other queue, in a box, so that this type is small.
    Other(Box<OtherQueue>),
}

/// A queue that is not a plain FIFO.
#[derive(Clone, Debug)]
pub enum OtherQueue {
    /// The discipline decides when a packet leaves.
    Scheduled(Scheduled),
    /// Packets are judged when they arrive, and served several at a time; it has no head.
    TxQueues(TxQueues),
}

impl HeadQueue {
    /// Returns an empty queue of `setting`, served by `egress`.
    pub fn new(setting: &QueueSetting, egress: Egress, stream: Stream) -> HeadQueue {
        match Managed::new(setting, egress, stream) {
            Managed::OnArrival(admission) => HeadQueue::Fifo(Fifo::new(admission)),
            Managed::OnDeparture(scheduler) => {
                let scheduled = OtherQueue::Scheduled(Scheduled::new(scheduler));
                HeadQueue::Other(Box::new(scheduled))
            }
        }
    }

    /// Returns a queue that is served several packets at a time.
    pub fn txqs(txqs: TxQueues) -> HeadQueue {
        HeadQueue::Other(Box::new(OtherQueue::TxQueues(txqs)))
    }

    /// Returns whether packets wait in a txq, if the queue has txqs.
    pub fn has_for_txq(&self, txq: u32) -> bool {
        match self {
            HeadQueue::Other(other) => match &**other {
                OtherQueue::TxQueues(txqs) => txqs.first(txq).is_some(),
                OtherQueue::Scheduled(_) => false,
            },
            HeadQueue::Fifo(_) => false,
        }
    }

    /// Returns an empty queue that classes share.
    pub fn shared(sharing: SharedBuffer) -> HeadQueue {
        HeadQueue::Fifo(Fifo::new(Admission::BufferSharing(Box::new(sharing))))
    }

    /// Returns an empty queue of at most `limit` packets, whose drop probability is set while it works.
    pub fn priced(limit: u32, stream: Stream) -> HeadQueue {
        HeadQueue::Fifo(Fifo::new(Admission::Price(Box::new(Price::new(
            limit, stream,
        )))))
    }

    /// Returns its discipline for a server that takes several packets at a time: the part that decides at arrivals
    /// there, and the scheduler that is upstream of it.
    pub fn apart(self) -> (Admission, Option<Scheduler>) {
        match self {
            HeadQueue::Fifo(fifo) => (fifo.admission(), None),
            HeadQueue::Other(other) => match *other {
                OtherQueue::Scheduled(scheduled) => {
                    (Admission::DropTail(u32::MAX), Some(scheduled.scheduler()))
                }
                OtherQueue::TxQueues(txqs) => (txqs.admission(), None),
            },
        }
    }

    /// Sets the drop probability.
    pub fn set_price(&mut self, r: f64) {
        if let HeadQueue::Fifo(fifo) = self {
            fifo.set_price(r);
        }
    }

    /// Sets the values of `to` that may change while the queue works: see [`QueueSetting::moved_to`]. Waiting packets
    /// stay, even beyond a new limit.
    pub fn change(&mut self, now: Time, to: &QueueSetting) {
        match self {
            HeadQueue::Fifo(fifo) => fifo.change(now, to),
            HeadQueue::Other(other) => match &mut **other {
                OtherQueue::Scheduled(scheduled) => scheduled.change(to),
                OtherQueue::TxQueues(txqs) => txqs.change(now, to),
            },
        }
    }

    /// Returns the length of the packets, if they wait in order of arrival. [bytes]
    pub fn bytes(&self) -> u64 {
        match self {
            HeadQueue::Fifo(fifo) => fifo.bytes(),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(_) => 0,
                OtherQueue::TxQueues(txqs) => txqs.bytes(),
            },
        }
    }

    /// Returns the shares of its classes, if its discipline has classes.
    #[inline]
    pub fn sharing(&self) -> Option<&SharedBuffer> {
        match self {
            HeadQueue::Fifo(fifo) => fifo.sharing(),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(_) => None,
                OtherQueue::TxQueues(txqs) => txqs.sharing(),
            },
        }
    }

    /// Notes that the air has carried a data segment of `flow`, in either direction.
    #[inline]
    pub fn carried(&mut self, flow: u32) {
        match self {
            HeadQueue::Fifo(fifo) => fifo.carried(flow),
            HeadQueue::Other(other) => {
                if let OtherQueue::TxQueues(txqs) = &mut **other {
                    txqs.carried(flow);
                }
            }
        }
    }

    /// Offers `packet`, and returns false if it was refused. Other lost packets are returned by
    /// `take_dropped`.
    #[inline]
    pub fn offer(&mut self, now: Time, packet: &Packet) -> bool {
        match self {
            HeadQueue::Fifo(fifo) => fifo.offer(now, packet),
            HeadQueue::Other(other) => other.offer(now, packet),
        }
    }

    /// Returns the packet in service.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        match self {
            HeadQueue::Fifo(fifo) => fifo.head(),
            HeadQueue::Other(other) => other.head(),
        }
    }

    /// Removes the first packet, whose place becomes free at `at` (not before now).
    #[inline(always)]
    pub fn pop(&mut self, at: Time) -> Option<Packet> {
        match self {
            HeadQueue::Fifo(fifo) => fifo.pop(at),
            HeadQueue::Other(other) => other.pop(at),
        }
    }

    /// Returns whether it may drop packets after it has accepted them.
    #[inline(always)]
    pub fn may_drop_later(&self) -> bool {
        matches!(self, HeadQueue::Other(_))
    }

    /// Returns the next packet that was lost after it had been accepted.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<Packet> {
        match self {
            HeadQueue::Fifo(_) => None,
            HeadQueue::Other(other) => match &mut **other {
                OtherQueue::Scheduled(scheduled) => scheduled.take_dropped(),
                OtherQueue::TxQueues(_) => None,
            },
        }
    }

    /// Moves the first packet of the flow of a random packet to the front, unless the discipline
    /// defines the order.
    #[inline]
    pub fn mix(&mut self, stream: &mut Stream) {
        if let HeadQueue::Fifo(fifo) = self {
            fifo.mix(stream);
        }
    }

    /// Returns true unless a source could fill the queue further.
    #[inline]
    pub fn is_full(&self, now: Time) -> bool {
        match self {
            HeadQueue::Fifo(fifo) => fifo.is_full(now),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(_) => true,
                OtherQueue::TxQueues(txqs) => txqs.is_full(now),
            },
        }
    }

    /// Returns the number of packets that occupy a place at `now`.
    #[inline]
    pub fn length(&self, now: Time) -> usize {
        match self {
            HeadQueue::Fifo(fifo) => fifo.length(now),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.length(now),
                OtherQueue::TxQueues(txqs) => txqs.seen(now),
            },
        }
    }

    /// Returns the waiting times of the datagrams that have left.
    pub fn waits(&self) -> &Waits {
        match self {
            HeadQueue::Fifo(fifo) => fifo.waits(),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.waits(),
                OtherQueue::TxQueues(txqs) => txqs.waits(),
            },
        }
    }

    /// Returns the packets in the queue, the packet in service first. If several are served at a time, returns those that
    /// wait.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let (fifo, scheduled, txqs) = match self {
            HeadQueue::Fifo(fifo) => (Some(fifo.packets()), None, None),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => (None, Some(scheduled.packets()), None),
                OtherQueue::TxQueues(txqs) => (None, None, Some(txqs.packets())),
            },
        };
        let plain = fifo.into_iter().flatten();
        let plain = plain.chain(scheduled.into_iter().flatten());
        plain.chain(txqs.into_iter().flatten())
    }

    /// Returns the present totals.
    pub fn counters(&self) -> QueueCounters {
        match self {
            HeadQueue::Fifo(fifo) => fifo.counters(),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.counters(),
                OtherQueue::TxQueues(txqs) => txqs.counters(),
            },
        }
    }

    /// Returns the packets in the queue for which the discipline decides at departure.
    pub fn unjudged(&self) -> u64 {
        match self {
            HeadQueue::Fifo(_) => 0,
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.unjudged(),
                OtherQueue::TxQueues(_) => 0,
            },
        }
    }

    /// Returns the time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        match self {
            HeadQueue::Fifo(fifo) => fifo.occupancy_ns(now),
            HeadQueue::Other(other) => match &**other {
                OtherQueue::Scheduled(scheduled) => scheduled.occupancy_ns(now),
                OtherQueue::TxQueues(txqs) => txqs.occupancy_ns(now),
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
            OtherQueue::TxQueues(txqs) => txqs.offer(now, packet),
        }
    }

    fn head(&self) -> Option<&Packet> {
        match self {
            OtherQueue::Scheduled(scheduled) => scheduled.head(),
            OtherQueue::TxQueues(_) => None,
        }
    }

    fn pop(&mut self, at: Time) -> Option<Packet> {
        match self {
            OtherQueue::Scheduled(scheduled) => scheduled.pop(at),
            OtherQueue::TxQueues(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
