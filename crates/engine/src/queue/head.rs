//! A queue with any discipline. The first packet stays in the queue until it has been sent.

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

/// A queue in front of a server that transmits the first packet. All variants except `Fifo` are
/// boxed, so that values of this type are small.
#[derive(Clone, Debug)]
#[repr(u8)] // with an explicit tag, the test for a variant is a single comparison
pub enum HeadQueue {
    /// A queue whose discipline decides at the arrival of a packet.
    Fifo(Fifo),
    /// A queue whose discipline decides at the departure of a packet.
    Scheduled(Box<Scheduled>),
    /// A queue whose discipline decides at arrivals, and from which several packets are sent in one
    /// transmission. Such a queue has no single packet in service.
    TxQueues(Box<TxQueues>),
}

impl HeadQueue {
    /// Returns an empty queue with the settings `setting`, served by `egress`.
    pub fn new(setting: &QueueSetting, egress: Egress, stream: Stream) -> HeadQueue {
        match Managed::new(setting, egress, stream) {
            Managed::OnArrival(admission) => HeadQueue::Fifo(Fifo::new(admission)),
            Managed::OnDeparture(scheduler) => {
                HeadQueue::Scheduled(Box::new(Scheduled::new(scheduler)))
            }
        }
    }

    /// Returns a queue from which several packets are sent in one transmission.
    pub fn txqs(txqs: TxQueues) -> HeadQueue {
        HeadQueue::TxQueues(Box::new(txqs))
    }

    /// Returns whether packets wait in transmit queue `txq`. The value is false if the queue has no
    /// transmit queues.
    pub fn has_for_txq(&self, txq: u32) -> bool {
        match self {
            HeadQueue::TxQueues(txqs) => txqs.first(txq).is_some(),
            HeadQueue::Fifo(_) | HeadQueue::Scheduled(_) => false,
        }
    }

    /// Returns an empty queue with virtual buffer sharing.
    pub fn shared(sharing: SharedBuffer) -> HeadQueue {
        HeadQueue::Fifo(Fifo::new(Admission::BufferSharing(Box::new(sharing))))
    }

    /// Returns an empty queue of at most `limit` packets, whose drop probability is set at run
    /// time.
    pub fn priced(limit: u32, stream: Stream) -> HeadQueue {
        let price = Box::new(Price::new(limit, stream));
        HeadQueue::Fifo(Fifo::new(Admission::Price(price)))
    }

    /// Returns the discipline for a server that sends several packets in one transmission. The
    /// discipline consists of a component that decides at arrivals, and of a scheduler upstream of
    /// this component. The scheduler is `None` if the discipline decides only at arrivals.
    pub fn apart(self) -> (Admission, Option<Scheduler>) {
        match self {
            HeadQueue::Fifo(fifo) => (fifo.admitted.admission, None),
            HeadQueue::Scheduled(scheduled) => {
                (Admission::DropTail(u32::MAX), Some(scheduled.scheduler))
            }
            HeadQueue::TxQueues(txqs) => (txqs.admitted.admission, None),
        }
    }

    /// Returns the component that decides at arrivals; `None` if the discipline decides at
    /// departures.
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

    /// Returns the scheduler, if the discipline decides at departures.
    pub(crate) fn scheduler_mut(&mut self) -> Option<&mut Scheduler> {
        match self {
            HeadQueue::Fifo(_) | HeadQueue::TxQueues(_) => None,
            HeadQueue::Scheduled(scheduled) => Some(&mut scheduled.scheduler),
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

    /// Applies the settings `to` that may change at run time: see [`QueueSetting::moved_to`].
    /// Waiting packets are not dropped, even if they exceed a new limit.
    pub fn change(&mut self, now: Time, to: &QueueSetting) {
        match self {
            HeadQueue::Fifo(fifo) => fifo.change(now, to),
            HeadQueue::Scheduled(scheduled) => scheduled.scheduler.change(to),
            HeadQueue::TxQueues(txqs) => txqs.change(now, to),
        }
    }

    /// Returns the total length of the packets; 0 if the discipline decides at departures. [bytes]
    pub fn bytes(&self) -> u64 {
        self.admitted().map_or(0, |admitted| admitted.bytes)
    }

    /// Returns the shared buffer, whose classes have target shares, if the discipline is virtual
    /// buffer sharing.
    #[inline]
    pub fn sharing(&self) -> Option<&SharedBuffer> {
        self.admitted()?.sharing()
    }

    /// Records that a data segment of `flow` has been transmitted on the air, in either direction.
    #[inline]
    pub fn carried(&mut self, flow: u32) {
        if let Some(Admission::BufferSharing(sharing)) = self.admission_mut() {
            sharing.carried(flow);
        }
    }

    /// Treats the packets of the new flow `flow` like those of flow `like`. If `reversed` is true,
    /// the data of the two flows have opposite directions.
    pub fn adopt(&mut self, flow: u32, like: u32, reversed: bool) {
        if let HeadQueue::TxQueues(txqs) = self {
            txqs.adopt(flow, like);
        }
        if let Some(scheduler) = self.scheduler_mut() {
            scheduler.adopt(flow, like, reversed);
        }
        if let Some(Admission::BufferSharing(sharing)) = self.admission_mut() {
            sharing.adopt(flow, like);
        }
    }

    /// Offers `packet` to the queue. Returns false if `packet` was refused. If the discipline drops
    /// other packets, `take_dropped` returns them.
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

    /// Removes the first packet. The packet counts towards the queue length until `at`, which is
    /// not before now.
    #[inline(always)]
    pub fn pop(&mut self, at: Time) -> Option<Packet> {
        match self {
            HeadQueue::Fifo(fifo) => fifo.pop(at),
            HeadQueue::Scheduled(scheduled) => scheduled.pop(at),
            HeadQueue::TxQueues(_) => None,
        }
    }

    /// Removes the first packet like [`HeadQueue::pop`], and writes it to `packet`. If the queue is
    /// empty, `packet` does not change.
    #[inline(always)]
    pub fn pop_into(&mut self, at: Time, packet: &mut Packet) {
        match self {
            HeadQueue::Fifo(fifo) => {
                fifo.pop_into(at, packet);
            }
            HeadQueue::Scheduled(scheduled) => {
                if let Some(head) = scheduled.pop(at) {
                    *packet = head;
                }
            }
            HeadQueue::TxQueues(_) => {}
        }
    }

    /// Returns whether the discipline may drop packets after it has admitted them.
    #[inline(always)]
    pub fn may_drop_later(&self) -> bool {
        !matches!(self, HeadQueue::Fifo(_))
    }

    /// Returns the next packet that was dropped after it had been admitted.
    #[inline]
    pub fn take_dropped(&mut self) -> Option<Packet> {
        match self {
            HeadQueue::Scheduled(scheduled) => scheduled.take_dropped(),
            HeadQueue::Fifo(_) | HeadQueue::TxQueues(_) => None,
        }
    }

    /// Selects a random packet, and moves the first packet of its flow to the front. If the
    /// discipline defines the order, nothing changes.
    #[inline]
    pub fn mix(&mut self, stream: &mut Stream) {
        if let HeadQueue::Fifo(fifo) = self {
            fifo.mix(stream);
        }
    }

    /// Returns whether a greedy source can add no packet at `now`. If the queue has AQM, the value
    /// is always true, because greedy sources support only drop-tail queues.
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

    /// Returns the queue length at `now`. A removed packet is included until its MAC ACK has been
    /// received.
    #[inline]
    pub fn length(&self, now: Time) -> usize {
        match self {
            HeadQueue::Fifo(fifo) => fifo.length(now),
            HeadQueue::Scheduled(scheduled) => scheduled.length(now),
            HeadQueue::TxQueues(txqs) => txqs.seen(now),
        }
    }

    /// Returns the sojourn times of the datagrams that have left the queue.
    pub fn waits(&self) -> &Waits {
        &self.counts().waits
    }

    /// Returns the packets in the queue, beginning with the packet in service. If several packets
    /// are sent in one transmission, only waiting packets are returned.
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

    /// Returns the current counters.
    pub fn counters(&self) -> QueueCounters {
        self.counts().counters
    }

    /// Returns the number of packets that the discipline may still drop or mark at their departure.
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
