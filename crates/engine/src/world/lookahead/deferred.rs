//! The work that endpoints with lookahead must defer: packets that arrive after the safe time, and
//! values of cwnd for samples that have not been taken yet.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::kernel::calendar::Calendar;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// Packets and values of cwnd that are stored until the simulation reaches their time.
pub(in crate::world) struct Deferred {
    /// Safe time, the limit of lookahead: before this time there is no planned event, and no
    /// observation such as a sample of cwnd.
    pub(in crate::world) safe_until: Time,
    /// Earlier of the safe time and the time of the next sample of congestion windows. Up to this
    /// time, an ACK may be processed without a check of other events than those of its flow.
    pub(in crate::world) acks_until: Time,
    /// Time of the next sample of congestion windows. The next field is the sampling interval.
    pub(in crate::world) next_reading: Time,
    pub(in crate::world) reading_interval: Span,
    /// Segments that arrive after the safe time, or after another deferred segment.
    pub(in crate::world) segments: Calendar<Packet>,
    /// Number of deferred segments.
    pub(in crate::world) count: usize,
    /// Deferred ACKs of each flow of the scenario, in order, with their arrival times.
    pub(in crate::world) acks: Vec<VecDeque<(Time, Packet)>>,
    /// Flows whose first deferred ACK waits for the safe time, ordered by the arrival time of this
    /// ACK. An entry is outdated if its time is not that of the first ACK.
    flows: BinaryHeap<Reverse<(Time, u32)>>,
    /// Buffer for the flows whose ACKs are due.
    pub(in crate::world) due: Vec<u32>,
    /// Values of cwnd for samples that have not been taken yet. A value is stored if cwnd changes
    /// after the time of a sample, before the simulation reaches this time.
    pub(in crate::world) windows: Vec<VecDeque<f64>>,
}

impl Deferred {
    pub(in crate::world) fn new(flows: usize, reach: Span) -> Deferred {
        Deferred {
            safe_until: Time::ZERO,
            acks_until: Time::ZERO,
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

    /// Returns the deferred packets, which are in flight but on no link and in no queue.
    pub(in crate::world) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let acks = self.acks.iter().flatten().map(|(_, ack)| ack);
        self.segments.items().chain(acks)
    }

    /// Sets the times of the samples of cwnd: the first at `next`, then one sample per `interval`.
    pub(in crate::world) fn expect_readings(&mut self, next: Time, interval: Span) {
        (self.next_reading, self.reading_interval) = (next, interval);
        self.acks_until = self.safe_until.min(next);
    }

    /// Sets the safe time, the limit of lookahead.
    pub(in crate::world) fn set_safe_time(&mut self, until: Time) {
        self.safe_until = until;
        self.acks_until = until.min(self.next_reading);
    }

    /// Returns the cwnd that was stored for the current sample of flow `index`; `None` if cwnd has
    /// not changed since the time of the sample.
    pub(in crate::world) fn window(&mut self, index: usize) -> Option<f64> {
        self.windows.get_mut(index)?.pop_front()
    }

    /// Records that the first deferred ACK of `flow` arrives at `at`, after the safe time.
    pub(in crate::world) fn defer(&mut self, at: Time, flow: u32) {
        self.flows.push(Reverse((at, flow)));
    }

    /// Returns a flow whose first deferred ACK arrives by `until`.
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

    /// Returns the next deferred segment that arrives before the safe time (the limit of
    /// lookahead), and its arrival time.
    pub(in crate::world) fn next_segment(&mut self) -> Option<(Time, Packet)> {
        let (at, _) = self.segments.first();
        if at > self.safe_until {
            return None;
        }
        let segment = *self.segments.pop()?;
        self.count -= 1;
        Some((at, segment))
    }
}
