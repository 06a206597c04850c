//! The deferred work of endpoints with lookahead: packets that arrive after the safe time, and
//! windows for future readings.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::kernel::calendar::Calendar;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// The work that endpoints may not do yet.
pub(in crate::world) struct Deferred {
    /// The safe time: there is neither a planned event nor an observation before it.
    pub(in crate::world) safe_until: Time,
    /// The next reading of windows, and the interval of readings.
    pub(in crate::world) next_reading: Time,
    pub(in crate::world) reading_interval: Span,
    /// Segments that arrive after the safe time, or after a segment that does.
    pub(in crate::world) segments: Calendar<Packet>,
    /// Number of deferred segments.
    pub(in crate::world) count: usize,
    /// Deferred ACKs of each flow of the scenario, in order, with their arrival times.
    pub(in crate::world) acks: Vec<VecDeque<(Time, Packet)>>,
    /// Flows with deferred ACKs, ordered by the arrival time of the first ACK. An entry with a
    /// different time is outdated.
    flows: BinaryHeap<Reverse<(Time, u32)>>,
    /// Buffer for the flows whose ACKs are due.
    pub(in crate::world) due: Vec<u32>,
    /// Windows at the next readings, for flows whose windows change before these readings are due.
    pub(in crate::world) windows: Vec<VecDeque<f64>>,
}

impl Deferred {
    pub(in crate::world) fn new(flows: usize, reach: Span) -> Deferred {
        Deferred {
            safe_until: Time::ZERO,
            next_reading: Time::NEVER,
            reading_interval: Span::ZERO,
            segments: Calendar::new(reach),
            count: 0,
            acks: vec![VecDeque::new(); flows],
            flows: BinaryHeap::new(),
            due: Vec::new(),
            windows: vec![VecDeque::new(); flows],
        }
    }

    /// Returns the packets in flight that are on no link and in no queue.
    pub(in crate::world) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let acks = self.acks.iter().flatten().map(|(_, ack)| ack);
        self.segments.items().chain(acks)
    }

    /// Sets the times of readings of windows: `next`, and then one reading per `interval`.
    pub(in crate::world) fn expect_readings(&mut self, next: Time, interval: Span) {
        (self.next_reading, self.reading_interval) = (next, interval);
    }

    /// Returns the window of flow `index` at a reading, if the window has changed since the
    /// reading.
    pub(in crate::world) fn window(&mut self, index: usize) -> Option<f64> {
        self.windows.get_mut(index)?.pop_front()
    }

    /// Records that the first deferred ACK of `flow` arrives at `at`.
    pub(in crate::world) fn defer(&mut self, at: Time, flow: u32) {
        self.flows.push(Reverse((at, flow)));
    }

    /// Returns a flow with a deferred ACK that arrives by `until`.
    pub(in crate::world) fn next_due(&mut self, until: Time) -> Option<u32> {
        while let Some(&Reverse((at, flow))) = self.flows.peek()
            && at <= until
        {
            while self.flows.peek() == Some(&Reverse((at, flow))) {
                self.flows.pop();
            }
            let first = self.acks[flow as usize].front();
            if first.is_some_and(|&(first, _)| first == at) {
                return Some(flow);
            }
        }
        None
    }

    /// Returns whether segments are deferred.
    #[inline(always)]
    pub(in crate::world) fn has_segments(&self) -> bool {
        self.count > 0
    }

    /// Returns the next deferred segment that arrives before the safe time, with its arrival time.
    pub(in crate::world) fn next_segment(&mut self) -> Option<(Time, Packet)> {
        let (at, _) = self.segments.first();
        if at > self.safe_until {
            return None;
        }
        let segment = self.segments.pop()?;
        self.count -= 1;
        Some((at, segment))
    }
}
