//! A FIFO queue from which several packets are sent in one transmission, all for the receiver of
//! the oldest packet.
//!
//! ```text
//!  order of arrival:   a  b  a  a  c  b        txq a:  a a a      txq b:  b b      txq c:  c
//!                      ^ oldest: txq a is next, and may be served as a whole
//! ```
//!
//! Each receiver has a transmit queue (txq, as in mac80211), in which its packets wait in order. A
//! list stores the order of all packets, as the numbers of their txqs. Packets taken from a txq are
//! in service. Packets in service still count towards the queue length until they are settled, that
//! is, received or discarded. To find the next txq, the list entries of settled packets are
//! skipped.

use std::collections::VecDeque;
use std::sync::Arc;

use super::admitted::Admitted;
use super::{Admission, Backlog, Held, QueueSetting, Verdict};
use crate::kernel::time::Time;
use crate::packet::Packet;

/// A queue with one transmit queue (txq) per receiver.
#[derive(Clone, Debug)]
pub struct TxQueues {
    pub(super) admitted: Admitted,
    txqs: Vec<TxQueue>,
    /// Index of the txq of each flow; empty if there is only one txq.
    of_flow: Arc<[u32]>,
    /// Order of arrival: each entry is the index of a txq and a count of consecutive packets for
    /// this txq. Settled packets may still have entries, but not at the front.
    order: VecDeque<(u32, u32)>,
    /// Time until which the packets that were settled (received or discarded) last still count
    /// towards the queue length, because their ACK or BlockAck is on the air. The next two fields
    /// are the number and the total length of these packets.
    released: Time,
    released_packets: u32,
    released_bytes: u32,
}

/// The transmit queue of one receiver.
#[derive(Clone, Debug, Default)]
struct TxQueue {
    waiting: VecDeque<Packet>,
    /// Number of packets of the txq, from the start of the run, whose entries in `order` have been
    /// skipped.
    passed: u32,
    /// Number of packets of the txq that have been received or discarded since the start of the
    /// run.
    settled: u32,
}

impl TxQueues {
    /// Returns an empty queue with `txqs` txqs. The flow of a packet determines its txq.
    pub fn new(admission: Admission, txqs: usize, of_flow: Arc<[u32]>) -> TxQueues {
        TxQueues {
            admitted: Admitted::new(admission),
            txqs: vec![TxQueue::default(); txqs],
            of_flow,
            order: VecDeque::new(),
            released: Time::ZERO,
            released_packets: 0,
            released_bytes: 0,
        }
    }

    /// Assigns the new flow `flow` to the txq of flow `like`.
    pub(super) fn adopt(&mut self, flow: u32, like: u32) {
        if let Some(&txq) = self.of_flow.get(like as usize) {
            let mut of_flow = self.of_flow.to_vec();
            of_flow.resize(flow as usize + 1, txq);
            self.of_flow = of_flow.into();
        }
    }

    /// Appends `packet`, possibly marked, or refuses it. Returns whether the packet was accepted.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, packet: &Packet) -> bool {
        let verdict = match self.admitted.admission.drop_tail() {
            Some(limit) if self.length(now) < limit as usize => Verdict::Enter,
            Some(_) => Verdict::Drop,
            None => self.judge(now, packet),
        };
        if verdict == Verdict::Drop {
            self.admitted.counts.counters.refuse();
            return false;
        }
        self.admitted.enter(now, packet.bytes);
        let txq = self.txq_of(packet);
        let mut queued = *packet; // a copy of the whole packet takes fewer instructions than one of each field
        queued.queued = now;
        self.append(txq, queued);
        if verdict == Verdict::Mark {
            self.mark_newest(txq);
        }
        true
    }

    /// Marks the newest packet of `txq` if the packet is ECN-capable.
    #[inline(never)]
    fn mark_newest(&mut self, txq: u32) {
        let newest = self.txqs[txq as usize].waiting.back_mut();
        if newest.is_some_and(Packet::mark) {
            self.admitted.counts.counters.marked += 1;
        }
    }

    #[inline]
    pub(crate) fn txq_of(&self, packet: &Packet) -> u32 {
        self.of_flow.get(packet.flow as usize).map_or(0, |&txq| txq)
    }

    /// Counts a packet of `bytes` bytes that waits upstream of the device, in [`super::Mac80211`].
    /// The device is the Wi-Fi hardware with its own queue.
    pub fn count_in_qdisc(&mut self, now: Time, bytes: u16) {
        self.admitted.enter(now, bytes);
    }

    /// Subtracts a lost packet of `bytes` bytes from the counters. The packet waited upstream of
    /// the device.
    pub fn lose_in_qdisc(&mut self, now: Time, bytes: u16) {
        self.admitted.counts.counters.withdraw(now);
        self.admitted.bytes -= u64::from(bytes);
    }

    /// Counts packets that were marked upstream of the device.
    pub fn mark_in_qdisc(&mut self, packets: u64) {
        self.admitted.counts.counters.marked += packets;
    }

    /// Appends a packet that the device takes from the queue upstream. The packet has already been
    /// counted.
    pub fn take_over(&mut self, txq: u32, packet: Packet) {
        self.append(txq, packet);
    }

    #[inline(always)]
    fn append(&mut self, txq: u32, packet: Packet) {
        match self.order.back_mut() {
            Some((last, count)) if *last == txq => *count += 1,
            _ => self.order.push_back((txq, 1)),
        }
        self.txqs[txq as usize].waiting.push_back(packet);
    }

    /// Returns the txqs with packets that have been neither received nor discarded, ordered by
    /// their oldest packet.
    pub fn waiting_txqs(&self) -> Vec<u32> {
        let mut txqs: Vec<u32> = Vec::new();
        for &(txq, _) in &self.order {
            if !txqs.contains(&txq) {
                txqs.push(txq);
            }
        }
        txqs
    }

    /// Returns the waiting packets of `txq`.
    pub fn of_txq(&self, txq: u32) -> impl ExactSizeIterator<Item = &Packet> {
        self.txqs[txq as usize].waiting.iter()
    }

    /// Returns the waiting packets of `txq`, in two slices.
    pub fn slices_of_txq(&self, txq: u32) -> [&[Packet]; 2] {
        self.txqs[txq as usize].waiting.as_slices().into()
    }

    #[inline(never)]
    fn judge(&mut self, now: Time, packet: &Packet) -> Verdict {
        let held = self.held(now);
        let backlog = Backlog {
            packets: held.packets,
            bytes: held.bytes,
            in_service_bytes: 0, // any number of packets may be in service
            idle_since: (held.packets == 0).then_some(self.released),
        };
        self.admitted.judge(now, &backlog, packet)
    }

    /// Returns the number and length of the packets in the queue at `now`.
    fn held(&self, now: Time) -> Held {
        let lingering = now < self.released;
        let released_bytes = if lingering { self.released_bytes } else { 0 };
        Held {
            packets: self.length(now) as u32,
            bytes: self.admitted.bytes + u64::from(released_bytes),
        }
    }

    /// Applies the settings `to` that may change at run time, from `now` on. Waiting packets are
    /// not dropped.
    pub(super) fn change(&mut self, now: Time, to: &QueueSetting) {
        let held = self.held(now);
        self.admitted.change(now, held, to);
    }

    /// Returns the txq of the oldest packet that has been neither received nor discarded.
    #[inline]
    pub fn next(&self) -> Option<u32> {
        self.order.front().map(|&(txq, _)| txq)
    }

    /// Returns the first waiting packet of `txq`.
    #[inline]
    pub fn first(&self, txq: u32) -> Option<&Packet> {
        self.txqs[txq as usize].waiting.front()
    }

    /// Moves the first waiting packet of `txq` into service, and returns this packet.
    #[inline]
    pub fn take(&mut self, txq: u32) -> Option<Packet> {
        self.txqs[txq as usize].waiting.pop_front()
    }

    /// Moves the first `count` waiting packets of `txq` into service. `take` is called with these
    /// packets, in order. The packets are in two slices.
    #[inline]
    pub fn take_many(&mut self, txq: u32, count: usize, mut take: impl FnMut(&[Packet])) {
        let waiting = &mut self.txqs[txq as usize].waiting;
        let (front, back) = waiting.as_slices();
        let of_front = count.min(front.len());
        take(&front[..of_front]);
        take(&back[..count - of_front]);
        waiting.drain(..count);
    }

    /// Removes a packet in service at `now`. The packet counts towards the queue length until `at`.
    #[inline]
    pub fn settle(&mut self, now: Time, packet: &Packet, at: Time) {
        let packets = self.admitted.counts.counters.length() as usize;
        self.admitted.leave(packet, packets, at);
        if at <= now {
            return;
        }
        if self.released != at {
            (self.released, self.released_packets, self.released_bytes) = (at, 0, 0);
        }
        self.released_packets += 1;
        self.released_bytes += u32::from(packet.bytes);
    }

    /// Removes several packets in service at `now`. The packets count towards the queue length
    /// until `at`.
    #[inline]
    pub fn settle_all(&mut self, now: Time, packets: &[Packet], at: Time) {
        if self.admitted.admission.drop_tail().is_none() || at <= now {
            packets
                .iter()
                .for_each(|packet| self.settle(now, packet, at));
            return;
        }
        if self.released != at {
            (self.released, self.released_packets, self.released_bytes) = (at, 0, 0);
        }
        let counts = &mut self.admitted.counts;
        let (mut bytes, mut entered) = (0, 0_u64);
        for packet in packets {
            bytes += u32::from(packet.bytes);
            entered = entered.wrapping_add(packet.queued.0);
            counts
                .waits
                .leave(packet.flow, packet.kind, packet.queued, at);
        }
        let count = packets.len() as u64;
        counts.counters.leave_together(count, entered, at);
        self.admitted.bytes -= u64::from(bytes);
        self.released_packets += packets.len() as u32;
        self.released_bytes += bytes;
    }

    /// Records that the first `packets` packets of `txq` since the start of the run are settled,
    /// that is, received or discarded.
    #[inline]
    pub fn settled(&mut self, txq: u32, packets: u32) {
        self.txqs[txq as usize].settled = packets;
        while let Some((first, count)) = self.order.front_mut() {
            let own = &mut self.txqs[*first as usize];
            let passed = own.settled.wrapping_sub(own.passed).min(*count);
            own.passed = own.passed.wrapping_add(passed);
            *count -= passed;
            if *count > 0 {
                break;
            }
            self.order.pop_front();
        }
    }

    /// Returns whether no packet is waiting or in service.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Returns the queue length at `now`. Settled (received or discarded) packets are included
    /// until their ACK or BlockAck has been received.
    #[inline]
    pub fn length(&self, now: Time) -> usize {
        let lingering = if now < self.released {
            self.released_packets
        } else {
            0
        };
        self.admitted.counts.counters.length() as usize + lingering as usize
    }

    /// Returns the queue length at `now`, without packets that a greedy source has added in advance
    /// for a later time.
    pub fn seen(&self, now: Time) -> usize {
        self.length(now) - self.ahead(now).count()
    }

    /// Returns the packets that a greedy source has added in advance for a time after `now`.
    fn ahead(&self, now: Time) -> impl Iterator<Item = &Packet> {
        let txqs = self.txqs.iter();
        txqs.flat_map(move |txq| {
            let last = txq.waiting.iter().rev();
            last.take_while(move |packet| packet.queued > now)
        })
    }

    /// Returns the waiting packets, grouped by txq.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.txqs.iter().flat_map(|txq| &txq.waiting)
    }

    /// Returns the time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        let released = u64::from(self.released_packets);
        let counts = &self.admitted.counts;
        let known = counts.occupancy_ns(now, released, self.released);
        // a packet of a greedy source counts only from its arrival time, which may be in the future
        let ahead = self.ahead(now).map(|packet| packet.queued.since(now).0);
        known.wrapping_add(ahead.sum())
    }
}
