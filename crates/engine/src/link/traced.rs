//! A link that sends at the opportunities of a trace.
//!
//! ```text
//!   opportunities    |8 ms       |16 ms |16 ms       |20 ms
//!   sent             small small |large ...          |... large, the rest of the opportunity wasted
//! ```
//!
//! An opportunity without a packet is wasted. If the queue becomes empty, the remaining bytes of the present
//! opportunity are wasted too. A packet that arrives at the time of an opportunity is too late for this opportunity. A
//! packet that begins in an opportunity may end in a later opportunity, and then leaves at the time of the later
//! opportunity. As on a link with a constant rate, the next packet is dequeued when the previous packet has left. A
//! packet stays in the queue until it is sent.

use std::collections::VecDeque;
use std::ops::Range;

use super::losses::Losses;
use super::model::{LinkModel, Transit};
use super::trace::{HEADER_BYTES, OPPORTUNITY_BYTES};
use super::{LinkSettings, Trace};
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{HeadQueue, QueueCounters, QueueSetting, Scheduler, Waits};

/// A link with an event for each opportunity that has a packet to send.
#[derive(Clone, Debug)]
pub struct Traced {
    trace: Trace,
    /// Number of the next opportunity that will be used, counted from 0.
    next: u64,
    queue: HeadQueue,
    /// Number of bytes of the first packet that are still to be sent; 0 before the packet has
    /// begun. [bytes]
    left_bytes: u64,
    /// Total number of bytes that were sent at opportunities. [bytes]
    carried_bytes: u64,
    /// Packets that have left the queue and that [`Traced::depart`] has not returned yet, with
    /// their times of departure.
    departed: VecDeque<(Time, Packet)>,
    propagation: Span,
    losses: Losses,
    /// Measured period.
    measured: Range<Time>,
    longest: usize,
}

impl Traced {
    /// Returns an empty link that follows `trace`, with `queue` and `losses`. `measured` is the
    /// time from the end of the warm-up to the end of the run.
    pub fn new(
        settings: &LinkSettings,
        trace: Trace,
        queue: HeadQueue,
        losses: Losses,
        measured: Range<Time>,
    ) -> Traced {
        Traced {
            trace,
            next: 0,
            queue,
            left_bytes: 0,
            carried_bytes: 0,
            departed: VecDeque::new(),
            propagation: settings.delay,
            losses,
            measured,
            longest: 0,
        }
    }

    /// Returns the scheduler of the queue, if the discipline decides at departures.
    pub(super) fn scheduler_mut(&mut self) -> Option<&mut Scheduler> {
        self.queue.scheduler_mut()
    }

    /// Enqueues `packet`, or refuses it. If the queue drops another packet, [`Traced::settle`]
    /// returns the dropped packet.
    pub fn enter(&mut self, now: Time, packet: Packet) -> Transit {
        if self.losses.take(&packet) {
            return Transit::Lost;
        }
        self.catch_up(now);
        if self.queue.head().is_none() {
            self.next = self.trace.first_after(now);
        }
        let taken = self.queue.offer(now, &packet);
        if self.measured.contains(&now) {
            self.longest = self.longest.max(self.queue.length(now));
        }
        match taken {
            true => Transit::Kept,
            false => Transit::Refused,
        }
    }

    /// Sends packets at the opportunities up to `now`.
    fn catch_up(&mut self, now: Time) {
        while self.queue.head().is_some() {
            let at = self.trace.time(self.next);
            if at > now {
                return;
            }
            self.next += 1;
            self.send(at);
        }
    }

    /// Sends as many bytes as the opportunity at `at` allows.
    fn send(&mut self, at: Time) {
        let mut room = OPPORTUNITY_BYTES;
        while room > 0
            && let Some(head) = self.queue.head()
        {
            if self.left_bytes == 0 {
                self.left_bytes = u64::from(head.bytes) + HEADER_BYTES;
            }
            let part = self.left_bytes.min(room);
            room -= part;
            self.left_bytes -= part;
            self.carried_bytes += part;
            if self.left_bytes == 0 {
                let packet = self.queue.pop(at);
                self.departed.extend(packet.map(|packet| (at, packet)));
            }
        }
    }

    /// Returns whether a greedy source may enqueue a packet at `now`, because the queue has room.
    pub fn has_room(&mut self, now: Time) -> bool {
        self.catch_up(now);
        !self.queue.is_full(now)
    }

    /// Returns the time of the first departure that [`Traced::depart`] has not returned yet. If
    /// there is no such departure, returns the time of the next opportunity.
    pub fn deadline(&self) -> Time {
        match (self.departed.front(), self.queue.head()) {
            (Some(&(at, _)), _) => at,
            (None, Some(_)) => self.trace.time(self.next),
            (None, None) => Time::NEVER,
        }
    }

    /// Returns the next packet that has left by `now`, and the time of its arrival at the far end.
    pub fn depart(&mut self, now: Time) -> Option<(Time, Packet)> {
        self.catch_up(now);
        let (at, packet) = self.departed.pop_front()?;
        Some((at + self.propagation, packet))
    }

    /// Returns the next packet that the queue discipline has dropped.
    pub fn settle(&mut self) -> Option<Packet> {
        self.queue.take_dropped()
    }

    /// Returns the packets in the queue, and the departed packets that [`Traced::depart`] has not
    /// returned yet.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let departed = self.departed.iter().map(|(_, packet)| packet);
        self.queue.packets().chain(departed)
    }
}

impl LinkModel for Traced {
    fn each_packet(&self, visit: &mut dyn FnMut(&Packet)) {
        self.packets().for_each(visit);
    }

    fn change_queue(&mut self, now: Time, to: &QueueSetting) {
        self.catch_up(now);
        self.queue.change(now, to);
    }

    fn length(&self, now: Time) -> usize {
        self.queue.length(now)
    }

    fn unjudged(&self) -> u64 {
        self.queue.unjudged()
    }

    fn waits(&self) -> Option<&Waits> {
        Some(self.queue.waits())
    }

    fn counters(&self, _now: Time) -> QueueCounters {
        self.queue.counters()
    }

    fn used(&self, now: Time) -> [u64; 2] {
        let offered = self.trace.first_after(now) * OPPORTUNITY_BYTES;
        [self.carried_bytes, offered]
    }

    fn longest(&self) -> usize {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;
    use crate::queue::{Egress, QueueSetting};
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    /// Returns a link without propagation time, with a drop-tail queue.
    fn link(ms: &[u32], limit_packets: u32) -> Traced {
        let settings = LinkSettings {
            queue: QueueSetting::drop_tail(limit_packets),
            ..LinkSettings::ideal("link", "a", "b")
        };
        let egress = Egress {
            rate_bps: 1,
            is_fixed: false,
            delay: Span::ZERO,
        };
        let streams = Streams::new(1, 0);
        let queue = HeadQueue::new(&settings.queue, egress, streams.stream("queue"));
        let losses = Losses::new(settings.loss, streams.stream("loss"));
        let measured = Time::ZERO..Time(1_000 * MS);
        Traced::new(&settings, Trace::new(ms), queue, losses, measured)
    }

    fn enter(link: &mut Traced, at: u64, number: u32, bytes: u16) -> Transit {
        let packet = Packet {
            flow: number,
            bytes,
            ..Packet::SAMPLE
        };
        link.enter(Time(at), packet)
    }

    /// Calls [`Traced::depart`] for all departures before `until`. Appends the number and departure
    /// of each packet to `departures`.
    fn depart(link: &mut Traced, until: u64, departures: &mut Vec<(u32, u64)>) {
        while link.deadline() < Time(until) {
            let due = link.deadline();
            if let Some((at, packet)) = link.depart(due) {
                departures.push((packet.flow, at.0));
            }
        }
    }

    /// Returns the number and departure of each packet, computed by a plain loop over all
    /// opportunities with a list of packets, like `mm-link` of mahimahi. The departure is `None` if
    /// the packet arrived when the queue had `limit` packets. `arrivals` contains the arrival and
    /// length of each packet.
    fn by_opportunities(
        ms: &[u32],
        limit: usize,
        arrivals: &[(u64, u16)],
    ) -> Vec<(u32, Option<u64>)> {
        let round = u64::from(ms[ms.len() - 1]) * MS;
        let mut queue: VecDeque<(u32, u64)> = VecDeque::new();
        let mut fates: Vec<(u32, Option<u64>)> = Vec::new();
        let mut coming = (0..).zip(arrivals).peekable();
        for begins in (0..).map(|number| number * round) {
            for opportunity in ms.iter().map(|&ms| begins + u64::from(ms) * MS) {
                while let Some(&(number, &(_, bytes))) =
                    coming.peek().filter(|(_, (at, _))| *at < opportunity)
                {
                    coming.next();
                    match queue.len() < limit {
                        true => queue.push_back((number, u64::from(bytes) + 4)),
                        false => fates.push((number, None)),
                    }
                }
                let mut room = 1504;
                while room > 0 && !queue.is_empty() {
                    let (number, left) = queue[0];
                    if left > room {
                        queue[0].1 -= room;
                        break;
                    }
                    room -= left;
                    queue.pop_front();
                    fates.push((number, Some(opportunity)));
                }
                if queue.is_empty() && coming.peek().is_none() {
                    return fates;
                }
            }
        }
        unreachable!("rounds have no end")
    }

    proptest! {
        /// Packets arrive at any time, often exactly at the time of an opportunity.
        #[test]
        fn packets_depart_as_by_a_plain_loop_over_opportunities(
            gaps in prop::collection::vec(prop_oneof![Just(0_u32), 1..6_u32, 6..60_u32], 1..12),
            limit in 1..9_u32,
            arrivals in prop::collection::vec(
                (
                    prop_oneof![3 => 0..3 * MS, 1 => (0..4_u64).prop_map(|ms| ms * MS), 1 => 0..90 * MS],
                    prop_oneof![2 => Just(1500_u16), 1 => 20..1500_u16, 1 => 1500..9000_u16],
                ),
                1..80,
            ),
        ) {
            let mut ms: Vec<u32> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
            let last = ms.len() - 1;
            ms[last] = ms[last].max(1);
            let mut now = 0;
            let arrivals: Vec<(u64, u16)> = arrivals
                .into_iter()
                .map(|(later, bytes)| { now += later; (now, bytes) })
                .collect();
            let mut link = link(&ms, limit);
            let (mut departures, mut refused) = (Vec::new(), Vec::new());
            for (number, &(at, bytes)) in (0..).zip(&arrivals) {
                depart(&mut link, at, &mut departures);
                if enter(&mut link, at, number, bytes) == Transit::Refused {
                    refused.push(number);
                }
            }
            depart(&mut link, u64::MAX, &mut departures);
            let fates = by_opportunities(&ms, limit as usize, &arrivals);
            let expected: Vec<(u32, u64)> =
                fates.iter().filter_map(|&(number, at)| Some((number, at?))).collect();
            prop_assert_eq!(&departures, &expected);
            let lost = fates.iter().filter(|(_, at)| at.is_none()).map(|(number, _)| *number);
            prop_assert_eq!(refused, lost.collect::<Vec<_>>());
            let end = departures.last().map_or(Time::ZERO, |&(_, at)| Time(at));
            let counters = link.counters(end);
            prop_assert_eq!(counters.left + counters.dropped, arrivals.len() as u64);
            let carried = departures.iter().map(|&(number, _)| u64::from(arrivals[number as usize].1) + 4);
            prop_assert_eq!(link.used(end)[0], carried.sum::<u64>());
            prop_assert!(link.used(end)[0] <= link.used(end)[1]);
        }
    }

    #[test]
    fn a_full_packet_takes_one_opportunity_and_small_ones_share_it() {
        let mut link = link(&[10, 10, 25], 100);
        for (number, bytes) in [(0, 1500), (1, 748), (2, 748), (3, 1500), (4, 3004)] {
            assert_eq!(enter(&mut link, MS, number, bytes), Transit::Kept);
        }
        let mut departures = Vec::new();
        depart(&mut link, 70 * MS, &mut departures);
        // the last packet uses two opportunities, both at 35 ms
        let expected = [(0, 10), (1, 10), (2, 10), (3, 25), (4, 35)];
        assert_eq!(departures, expected.map(|(number, at)| (number, at * MS)));
        assert_eq!(link.used(Time(35 * MS)), [5 * 1504, 5 * 1504]);
        assert_eq!(link.used(Time(60 * MS)), [5 * 1504, 8 * 1504]);
    }

    #[test]
    fn an_opportunity_without_a_packet_is_wasted_even_at_its_instant() {
        let mut link = link(&[10], 100);
        enter(&mut link, 10 * MS, 0, 40);
        assert_eq!(link.deadline(), Time(20 * MS));
        enter(&mut link, 15 * MS, 1, 40);
        let mut departures = Vec::new();
        depart(&mut link, 21 * MS, &mut departures);
        assert_eq!(departures, [(0, 20 * MS), (1, 20 * MS)]);
        assert_eq!(link.deadline(), Time::NEVER);
    }

    #[test]
    fn what_departs_at_an_instant_leaves_room_for_what_arrives_then() {
        let mut link = link(&[10], 1);
        enter(&mut link, MS, 0, 1500);
        assert_eq!(enter(&mut link, 10 * MS - 1, 1, 1500), Transit::Refused);
        assert_eq!(enter(&mut link, 10 * MS, 2, 1500), Transit::Kept);
        assert_eq!(link.packets().count(), 2, "one of them is to be taken over");
        let mut departures = Vec::new();
        depart(&mut link, u64::MAX, &mut departures);
        assert_eq!(departures, [(0, 10 * MS), (2, 20 * MS)]);
    }
}
