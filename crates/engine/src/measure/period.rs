//! The measured period.

use super::marks::Between;
use super::snapshot::Snapshot;
use crate::app::tally::Interval;
use crate::kernel::time::Time;
use crate::world::{FlowCounters, World};

/// The measured period: from the end of the warm-up to the end of the run.
pub(super) struct Period<'a> {
    pub(super) start: &'a Snapshot,
    pub(super) end: Snapshot,
    pub(super) world: &'a World<'a>,
}

impl Period<'_> {
    /// Returns the counters of the queues and the medium at both ends of the period.
    pub(super) fn marks(&self) -> Between<'_> {
        Between {
            start: &self.start.marks,
            end: &self.end.marks,
        }
    }

    /// Returns the interval of the run, for reports, pings and chunks.
    pub(super) fn interval(&self) -> Interval {
        let scenario = self.world.scenario();
        let [warm, end] = [scenario.warmup, scenario.duration].map(|span| Time::ZERO + span);
        Interval::new(self.start.marks.at, self.end.marks.at, warm, end)
    }

    /// Returns the length of the period. [ns]
    pub(super) fn length_ns(&self) -> u64 {
        self.marks().length_ns()
    }

    /// Returns the length of the period. [s]
    pub(super) fn length_s(&self) -> f64 {
        self.length_ns() as f64 / 1e9
    }

    /// Returns the increase of a counter in the period, summed over these flows. Flows that began
    /// in the period are included.
    pub(super) fn over(
        &self,
        flows: impl Iterator<Item = usize>,
        count: impl Fn(&FlowCounters) -> u64,
    ) -> u64 {
        let at_start = |flow: usize| self.start.flows.get(flow).map_or(0, &count);
        flows
            .map(|flow| count(&self.end.flows[flow]) - at_start(flow))
            .sum()
    }
}
