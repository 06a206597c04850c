//! What waits for endpoints that act ahead of time ([`super::ahead`]): packets that have come too early,
//! windows as of readings to come.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::kernel::calendar::Calendar;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// What endpoints are to do, and may not yet.
pub(super) struct Waiting {
    /// Nothing is planned, and nobody looks, before this instant.
    pub(super) quiet_until: Time,
    /// The next reading of windows, and the time from one to the next.
    pub(super) next_reading: Time,
    pub(super) reading_interval: Span,
    /// Segments that arrive after the next instant planned, or behind one that does.
    pub(super) segments: Calendar<Packet>,
    /// Number of those segments.
    pub(super) count: usize,
    /// ACKs of each flow of the scenario that have to wait, in order, with their arrivals.
    pub(super) acks: Vec<VecDeque<(Time, Packet)>>,
    /// Flows that have any, each under the arrival of its first; what stands under another is out of date.
    held_up: BinaryHeap<Reverse<(Time, u32)>>,
    /// Room for those that need to wait no longer.
    pub(super) due: Vec<u32>,
    /// Windows as of the next readings, of flows whose windows have changed since.
    pub(super) windows: Vec<VecDeque<f64>>,
}

impl Waiting {
    pub(super) fn new(flows: usize, reach: Span) -> Waiting {
        Waiting {
            quiet_until: Time::ZERO,
            next_reading: Time::NEVER,
            reading_interval: Span::ZERO,
            segments: Calendar::new(reach),
            count: 0,
            acks: vec![VecDeque::new(); flows],
            held_up: BinaryHeap::new(),
            due: Vec::new(),
            windows: vec![VecDeque::new(); flows],
        }
    }

    /// Packets under way that no link and no queue has.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let acks = self.acks.iter().flatten().map(|(_, ack)| ack);
        self.segments.items().chain(acks)
    }

    /// Windows are read at `next`, and then at equal intervals.
    pub(super) fn expect_readings(&mut self, next: Time, interval: Span) {
        (self.next_reading, self.reading_interval) = (next, interval);
    }

    /// The window of flow `index` at a reading, if it has changed since.
    pub(super) fn window(&mut self, index: usize) -> Option<f64> {
        self.windows.get_mut(index)?.pop_front()
    }

    /// The first ACK of `flow` that has to wait arrives at `at`.
    pub(super) fn hold_up(&mut self, at: Time, flow: u32) {
        self.held_up.push(Reverse((at, flow)));
    }

    /// A flow of which an ACK that arrives by `until` has had to wait.
    pub(super) fn next_held_up(&mut self, until: Time) -> Option<u32> {
        while let Some(&Reverse((at, flow))) = self.held_up.peek()
            && at <= until
        {
            while self.held_up.peek() == Some(&Reverse((at, flow))) {
                self.held_up.pop();
            }
            let first = self.acks[flow as usize].front();
            if first.is_some_and(|&(first, _)| first == at) {
                return Some(flow);
            }
        }
        None
    }

    /// Whether segments wait.
    #[inline(always)]
    pub(super) fn has_segments(&self) -> bool {
        self.count > 0
    }

    /// The next segment that has waited and need no longer, with the instant of its arrival.
    pub(super) fn next_segment(&mut self) -> Option<(Time, Packet)> {
        let (at, _) = self.segments.first();
        if at > self.quiet_until {
            return None;
        }
        let segment = self.segments.pop()?;
        self.count -= 1;
        Some((at, segment))
    }
}
