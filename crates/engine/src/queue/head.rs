//! A queue whose first packet stays in it until it has been sent, with any discipline.

use super::admitted::Admitted;
use super::counters::Counts;
use super::settings::QueueSetting;
use super::{
    Admission, Egress, Fifo, Managed, Price, QueueCounters, Scheduled, Scheduler, SharedBuffer,
    TxQueues, Waits,
};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// A queue upstream of a server that works on its first packet. Only a plain FIFO is not in a box, so that
/// this type is small.
#[derive(Clone, Debug)]
pub enum HeadQueue {
    /// The discipline decides when a packet arrives.
    Fifo(Fifo),
    /// The discipline decides when a packet leaves.
    Scheduled(Box<Scheduled>),
    /// Packets are judged when they arrive, and served several at a time. The queue has no head.
    TxQueues(Box<TxQueues>),
}

impl HeadQueue {
    /// Returns an empty queue of `setting`, served by `egress`.
    pub fn new(setting: &QueueSetting, egress: Egress, stream: Stream) -> HeadQueue {
        match Managed::new(setting, egress, stream) {
            Managed::OnArrival(admission) => HeadQueue::Fifo(Fifo::new(admission)),
            Managed::OnDeparture(scheduler) => {
                HeadQueue::Scheduled(Box::new(Scheduled::new(scheduler)))
            }
        }
    }

    /// Returns a queue that is served several packets at a time.
    pub fn txqs(txqs: TxQueues) -> HeadQueue {
        HeadQueue::TxQueues(Box::new(txqs))
    }

    /// Returns whether packets wait in a txq, if the queue has txqs.
    pub fn has_for_txq(&self, txq: u32) -> bool {
        match self {
            HeadQueue::TxQueues(txqs) => txqs.first(txq).is_some(),
            HeadQueue::Fifo(_) | HeadQueue::Scheduled(_) => false,
        }
    }

    /// Returns an empty queue that classes share.
    pub fn shared(sharing: SharedBuffer) -> HeadQueue {
        HeadQueue::Fifo(Fifo::new(Admission::BufferSharing(Box::new(sharing))))
    }

    /// Returns an empty queue of at most `limit` packets, whose drop probability is set while it works.
    pub fn priced(limit: u32, stream: Stream) -> HeadQueue {
        let price = Box::new(Price::new(limit, stream));
        HeadQueue::Fifo(Fifo::new(Admission::Price(price)))
    }

    /// Returns its discipline for a server that takes several packets at a time: the part that decides at arrivals
    /// there, and the scheduler that is upstream of it.
    pub fn apart(self) -> (Admission, Option<Scheduler>) {
        match self {
            HeadQueue::Fifo(fifo) => (fifo.admitted.admission, None),
            HeadQueue::Scheduled(scheduled) => {
                (Admission::DropTail(u32::MAX), Some(scheduled.scheduler))
            }
            HeadQueue::TxQueues(txqs) => (txqs.admitted.admission, None),
        }
    }

    /// Returns the part that decides at arrivals, if the queue has this part.
    #[inline]
    fn admitted(&self) -> Option<&Admitted> {
        match self {
            HeadQueue::Fifo(fifo) => Some(&fifo.admitted),
            HeadQueue::Scheduled(_) => None,
            HeadQueue::TxQueues(txqs) => Some(&txqs.admitted),
        }
    }

    #[inline]
    fn admission_mut(&mut self) -> Option<&mut Admission> {
        match self {
            HeadQueue::Fifo(fifo) => Some(&mut fifo.admitted.admission),
            HeadQueue::Scheduled(_) => None,
            HeadQueue::TxQueues(txqs) => Some(&mut txqs.admitted.admission),
        }
    }

    fn counts(&self) -> &Counts {
        match self {
            HeadQueue::Fifo(fifo) => &fifo.admitted.counts,
            HeadQueue::Scheduled(scheduled) => &scheduled.counts,
            HeadQueue::TxQueues(txqs) => &txqs.admitted.counts,
        }
    }

    /// Sets the drop probability.
    pub fn set_price(&mut self, r: f64) {
        if let Some(Admission::Price(price)) = self.admission_mut() {
            price.r = r;
        }
    }

    /// Sets the values of `to` that may change while the queue works: see [`QueueSetting::moved_to`]. Waiting packets
    /// stay, even beyond a new limit.
    pub fn change(&mut self, now: Time, to: &QueueSetting) {
        match self {
            HeadQueue::Fifo(fifo) => fifo.change(now, to),
            HeadQueue::Scheduled(scheduled) => scheduled.scheduler.change(to),
            HeadQueue::TxQueues(txqs) => txqs.change(now, to),
        }
    }

    /// Returns the length of the packets, if they wait in order of arrival. [bytes]
    pub fn bytes(&self) -> u64 {
        self.admitted().map_or(0, |admitted| admitted.bytes)
    }

    /// Returns the shares of its classes, if its discipline has classes.
    #[inline]
    pub fn sharing(&self) -> Option<&SharedBuffer> {
        self.admitted()?.sharing()
    }

    /// Notes that the air has carried a data segment of `flow`, in either direction.
    #[inline]
    pub fn carried(&mut self, flow: u32) {
        if let Some(Admission::BufferSharing(sharing)) = self.admission_mut() {
            sharing.carried(flow);
        }
    }

    /// Offers `packet`, and returns false if it was refused. Other lost packets are returned by
    /// `take_dropped`.
    #[inline]
    pub fn offer(&mut self, now: Time, packet: &Packet) -> bool {
        match self {
            HeadQueue::Fifo(fifo) => fifo.offer(now, packet),
            HeadQueue::Scheduled(scheduled) => {
                scheduled.offer(now, *packet);
                true
            }
            HeadQueue::TxQueues(txqs) => txqs.offer(now, packet),
        }
    }

    /// Returns the packet in service.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        match self {
            HeadQueue::Fifo(fifo) => fifo.head(),
            HeadQueue::Scheduled(scheduled) => scheduled.head(),
            HeadQueue::TxQueues(_) => None,
        }
    }

    /// Removes the first packet, whose place becomes free at `at` (not before now).
    #[inline(always)]
    pub fn pop(&mut self, at: Time) -> Option<Packet> {
        match self {
            HeadQueue::Fifo(fifo) => fifo.pop(at),
            HeadQueue::Scheduled(scheduled) => scheduled.pop(at),
            HeadQueue::TxQueues(_) => None,
        }
    }

    /// Returns whether it may drop packets after it has accepted them.
    #[inline(always)]
    pub fn may_drop_later(&self) -> bool {
        !matches!(self, HeadQueue::Fifo(_))
    }

    /// Returns the next packet that was lost after it had been accepted.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<Packet> {
        match self {
            HeadQueue::Scheduled(scheduled) => scheduled.take_dropped(),
            HeadQueue::Fifo(_) | HeadQueue::TxQueues(_) => None,
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

    /// Returns true unless there is room in a drop-tail queue at `now`. Under another discipline there
    /// is no room that a source could fill.
    #[inline]
    pub fn is_full(&self, now: Time) -> bool {
        let (admitted, length) = match self {
            HeadQueue::Fifo(fifo) => (&fifo.admitted, fifo.length(now)),
            HeadQueue::Scheduled(_) => return true,
            HeadQueue::TxQueues(txqs) => (&txqs.admitted, txqs.length(now)),
        };
        let limit = admitted.admission.drop_tail();
        limit.is_none_or(|limit| length >= limit as usize)
    }

    /// Returns the number of packets that occupy a place at `now`.
    #[inline]
    pub fn length(&self, now: Time) -> usize {
        match self {
            HeadQueue::Fifo(fifo) => fifo.length(now),
            HeadQueue::Scheduled(scheduled) => scheduled.length(now),
            HeadQueue::TxQueues(txqs) => txqs.seen(now),
        }
    }

    /// Returns the waiting times of the datagrams that have left.
    pub fn waits(&self) -> &Waits {
        &self.counts().waits
    }

    /// Returns the packets in the queue, the packet in service first. If several are served at a time, returns those that
    /// wait.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let (mut fifo, mut scheduled, mut txqs) = (None, None, None);
        match self {
            HeadQueue::Fifo(queue) => fifo = Some(queue.packets()),
            HeadQueue::Scheduled(queue) => scheduled = Some(queue.packets()),
            HeadQueue::TxQueues(queue) => txqs = Some(queue.packets()),
        }
        let plain = fifo.into_iter().flatten();
        let plain = plain.chain(scheduled.into_iter().flatten());
        plain.chain(txqs.into_iter().flatten())
    }

    /// Returns the present totals.
    pub fn counters(&self) -> QueueCounters {
        self.counts().counters
    }

    /// Returns the packets in the queue for which the discipline decides at departure.
    pub fn unjudged(&self) -> u64 {
        match self {
            HeadQueue::Scheduled(scheduled) => scheduled.scheduler.len() as u64,
            HeadQueue::Fifo(_) | HeadQueue::TxQueues(_) => 0,
        }
    }

    /// Returns the time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        match self {
            HeadQueue::Fifo(fifo) => fifo.occupancy_ns(now),
            HeadQueue::Scheduled(scheduled) => scheduled.occupancy_ns(now),
            HeadQueue::TxQueues(txqs) => txqs.occupancy_ns(now),
        }
    }
}

#[cfg(test)]
mod tests;
