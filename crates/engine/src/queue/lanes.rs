//! A FIFO whose packets are served several at a time, all for the receiver of the oldest.
//!
//! ```text
//!  order of arrival:   a  b  a  a  c  b        lane a:  a a a      lane b:  b b      lane c:  c
//!                      ^ oldest: lane a is next, and may be served as a whole
//! ```
//!
//! Each receiver has a lane, in which its packets stand in order; the order over all is that of their
//! lanes. Packets taken from a lane are in service, and still inside, until they are settled: they were
//! received, or given up. Which lane is next needs only to know how many of the oldest packets of each
//! lane are settled: entries of the order that stand for them are passed over.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Admission, Backlog, Held, QueueCounters, QueueSetting, SharedBuffer, Verdict, Waits};
use crate::kernel::time::Time;
use crate::packet::Packet;

/// Packets by receiver.
#[derive(Clone, Debug)]
pub struct Lanes {
    admission: Admission,
    lanes: Vec<Lane>,
    /// Lane of each flow; none: there is one lane.
    of_flow: Arc<[u32]>,
    /// Lanes of the packets inside in order of arrival, each with how many came in a row; entries of settled
    /// packets are among them, but not first.
    order: VecDeque<(u32, u32)>,
    /// Length of the packets inside. [bytes]
    bytes: u64,
    /// Until when the packets settled last still occupy their places (their response is on the air), how
    /// many they are, and their length.
    released: Time,
    released_packets: u32,
    released_bytes: u32,
    counters: QueueCounters,
    waits: Waits,
}

/// Packets to one receiver.
#[derive(Clone, Debug, Default)]
struct Lane {
    waiting: VecDeque<Packet>,
    /// Packets of the lane, from the first on, whose entries in the order have been passed.
    passed: u32,
    /// Packets of the lane, from the first on, that are settled.
    settled: u32,
}

impl Lanes {
    /// An empty queue with so many lanes; a packet's is that of its flow.
    pub fn new(admission: Admission, lanes: usize, of_flow: Arc<[u32]>) -> Lanes {
        Lanes {
            admission,
            lanes: vec![Lane::default(); lanes],
            of_flow,
            order: VecDeque::new(),
            bytes: 0,
            released: Time::ZERO,
            released_packets: 0,
            released_bytes: 0,
            counters: QueueCounters::default(),
            waits: Waits::default(),
        }
    }

    /// What judges arrivals, for another queue.
    pub fn admission(self) -> Admission {
        self.admission
    }

    /// Appends `packet`, marked or not, or refuses it. Returns whether it was taken.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, packet: &Packet) -> bool {
        let verdict = match self.admission {
            Admission::DropTail(limit) if self.length(now) < limit as usize => Verdict::Enter,
            Admission::DropTail(_) => Verdict::Drop,
            Admission::Red(_)
            | Admission::Proportional(_)
            | Admission::Pi(_)
            | Admission::Pie(_)
            | Admission::BufferSharing(_)
            | Admission::Price(_)
            | Admission::Plugin(_) => self.judge(now, packet),
        };
        if verdict == Verdict::Drop {
            self.counters.refuse();
            return false;
        }
        let mut packet = *packet;
        if verdict == Verdict::Mark && packet.mark() {
            self.counters.mark();
        }
        packet.queued = now;
        self.counters.enter(now);
        self.bytes += u64::from(packet.bytes);
        let lane = self.lane_of(&packet);
        self.append(lane, packet);
        true
    }

    pub(crate) fn lane_of(&self, packet: &Packet) -> u32 {
        self.of_flow
            .get(packet.flow as usize)
            .map_or(0, |&lane| lane)
    }

    /// A packet of so many bytes waits somewhere above, and counts here.
    pub fn count_above(&mut self, now: Time, bytes: u16) {
        self.counters.enter(now);
        self.bytes += u64::from(bytes);
    }

    /// Such a packet is lost.
    pub fn lose_above(&mut self, now: Time, bytes: u16) {
        self.counters.withdraw(now);
        self.bytes -= u64::from(bytes);
    }

    /// So many such packets have been marked.
    pub fn mark_above(&mut self, packets: u64) {
        self.counters.marked += packets;
    }

    /// Such a packet comes down.
    pub fn take_over(&mut self, lane: u32, packet: Packet) {
        self.append(lane, packet);
    }

    #[inline(always)]
    fn append(&mut self, lane: u32, packet: Packet) {
        match self.order.back_mut() {
            Some((last, count)) if *last == lane => *count += 1,
            _ => self.order.push_back((lane, 1)),
        }
        self.lanes[lane as usize].waiting.push_back(packet);
    }

    /// Lanes with packets that wait or are in service, in order of the oldest.
    pub fn waiting_lanes(&self) -> Vec<u32> {
        let mut lanes: Vec<u32> = Vec::new();
        for &(lane, _) in &self.order {
            if !lanes.contains(&lane) {
                lanes.push(lane);
            }
        }
        lanes
    }

    /// Packets of `lane` that wait.
    pub fn of_lane(&self, lane: u32) -> impl ExactSizeIterator<Item = &Packet> {
        self.lanes[lane as usize].waiting.iter()
    }

    #[inline(never)]
    fn judge(&mut self, now: Time, packet: &Packet) -> Verdict {
        let held = self.held(now);
        let backlog = Backlog {
            packets: held.packets,
            bytes: held.bytes,
            in_service_bytes: 0, // any number of them are
            idle_since: (held.packets == 0).then_some(self.released),
        };
        self.admission.advance(now, |_| held);
        self.admission.admit(now, &backlog, packet)
    }

    /// What the queue holds at `now`.
    fn held(&self, now: Time) -> Held {
        let lingering = now < self.released;
        let released_bytes = if lingering { self.released_bytes } else { 0 };
        Held {
            packets: self.length(now) as u32,
            bytes: self.bytes + u64::from(released_bytes),
        }
    }

    /// The setting is `to` from `now` on, as far as it may move; packets that wait stay.
    pub(super) fn change(&mut self, now: Time, to: &QueueSetting) {
        let held = self.held(now);
        self.admission.advance(now, |_| held);
        self.admission.change(now, to);
    }

    /// The lane of the oldest packet inside.
    #[inline]
    pub fn next(&self) -> Option<u32> {
        self.order.front().map(|&(lane, _)| lane)
    }

    /// The first packet of `lane` that waits.
    #[inline]
    pub fn first(&self, lane: u32) -> Option<&Packet> {
        self.lanes[lane as usize].waiting.front()
    }

    /// Takes it into service.
    #[inline]
    pub fn take(&mut self, lane: u32) -> Option<Packet> {
        self.lanes[lane as usize].waiting.pop_front()
    }

    /// Takes packets of `lane` into service, in order, as long as `takes` says so of each.
    #[inline]
    pub fn take_while(&mut self, lane: u32, mut takes: impl FnMut(&Packet) -> bool) {
        let waiting = &mut self.lanes[lane as usize].waiting;
        let mut taken = 0;
        for packet in waiting.iter() {
            if !takes(packet) {
                break;
            }
            taken += 1;
        }
        waiting.drain(..taken);
    }

    /// A packet in service is got rid of at `now`, its place free from `at` on.
    #[inline]
    pub fn settle(&mut self, now: Time, packet: &Packet, at: Time) {
        if !matches!(self.admission, Admission::DropTail(_)) {
            self.tell_departed(at, packet);
        }
        self.bytes -= u64::from(packet.bytes);
        self.counters.leave(packet.queued, at);
        self.waits
            .leave(packet.flow, packet.kind, packet.queued, at);
        if at <= now {
            return;
        }
        if self.released != at {
            (self.released, self.released_packets, self.released_bytes) = (at, 0, 0);
        }
        self.released_packets += 1;
        self.released_bytes += u32::from(packet.bytes);
    }

    /// The same for several.
    #[inline]
    pub fn settle_all(&mut self, now: Time, packets: &[Packet], at: Time) {
        if !matches!(self.admission, Admission::DropTail(_)) || at <= now {
            packets
                .iter()
                .for_each(|packet| self.settle(now, packet, at));
            return;
        }
        if self.released != at {
            (self.released, self.released_packets, self.released_bytes) = (at, 0, 0);
        }
        let (mut bytes, mut entered) = (0, 0_u64);
        for packet in packets {
            bytes += u32::from(packet.bytes);
            entered = entered.wrapping_add(packet.queued.0);
            self.waits
                .leave(packet.flow, packet.kind, packet.queued, at);
        }
        let count = packets.len() as u64;
        self.counters.leave_together(count, entered, at);
        self.bytes -= u64::from(bytes);
        self.released_packets += packets.len() as u32;
        self.released_bytes += bytes;
    }

    /// The discipline hears that `packet`, still counted, leaves at `at`.
    #[inline(never)]
    fn tell_departed(&mut self, at: Time, packet: &Packet) {
        let held = Held {
            packets: self.counters.length() as u32,
            bytes: self.bytes,
        };
        self.admission.departed(at, packet, held);
    }

    /// The first `packets` of `lane`, counted from the start of the run, are settled.
    #[inline]
    pub fn settled(&mut self, lane: u32, packets: u32) {
        self.lanes[lane as usize].settled = packets;
        while let Some((first, count)) = self.order.front_mut() {
            let own = &mut self.lanes[*first as usize];
            let passed = own.settled.wrapping_sub(own.passed).min(*count);
            own.passed = own.passed.wrapping_add(passed);
            *count -= passed;
            if *count > 0 {
                break;
            }
            self.order.pop_front();
        }
    }

    /// Whether nothing is inside.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Packets that occupy a place at `now`.
    #[inline]
    pub fn length(&self, now: Time) -> usize {
        let lingering = if now < self.released {
            self.released_packets
        } else {
            0
        };
        self.counters.length() as usize + lingering as usize
    }

    /// The same to somebody who looks, while a greedy source has filled places ahead that are free later.
    pub fn seen(&self, now: Time) -> usize {
        self.length(now) - self.ahead(now).count()
    }

    /// Packets that will have come only later than `now`.
    fn ahead(&self, now: Time) -> impl Iterator<Item = &Packet> {
        let lanes = self.lanes.iter();
        lanes.flat_map(move |lane| {
            let last = lane.waiting.iter().rev();
            last.take_while(move |packet| packet.queued > now)
        })
    }

    /// True unless there is room in a drop-tail queue at `now`.
    #[inline]
    pub fn is_full(&self, now: Time) -> bool {
        match self.admission {
            Admission::DropTail(limit) => self.length(now) >= limit as usize,
            Admission::Red(_)
            | Admission::Proportional(_)
            | Admission::Pi(_)
            | Admission::Pie(_)
            | Admission::BufferSharing(_)
            | Admission::Price(_)
            | Admission::Plugin(_) => true,
        }
    }

    /// Packets that wait, lane by lane.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.lanes.iter().flat_map(|lane| &lane.waiting)
    }

    /// Length of the packets inside. [bytes]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The shares of its classes, if its discipline has some.
    pub fn sharing(&self) -> Option<&SharedBuffer> {
        match &self.admission {
            Admission::BufferSharing(sharing) => Some(sharing),
            Admission::DropTail(_)
            | Admission::Red(_)
            | Admission::Proportional(_)
            | Admission::Pi(_)
            | Admission::Pie(_)
            | Admission::Price(_)
            | Admission::Plugin(_) => None,
        }
    }

    /// The air has carried a data segment of `flow`, either way.
    pub fn carried(&mut self, flow: u32) {
        if let Admission::BufferSharing(sharing) = &mut self.admission {
            sharing.carried(flow);
        }
    }

    /// Times of the datagrams that have left.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// Totals as they stand now.
    pub fn counters(&self) -> QueueCounters {
        self.counters
    }

    /// Time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        // packets settled early are in the integral until their release, which may lie ahead
        let early = u64::from(self.released_packets) * self.released.since(now).0;
        // and those of a greedy source from when they come, which may lie ahead, too
        let ahead = self.ahead(now).map(|packet| packet.queued.since(now).0);
        let known = self.counters.occupancy_ns(now).wrapping_sub(early);
        known.wrapping_add(ahead.sum())
    }
}
