//! The time that is measured: from one instant to another.

use super::marks::Between;
use super::snapshot::Snapshot;
use crate::world::{FlowCounters, World};

/// From the end of the warm-up to the end of the run.
pub(super) struct Period<'a> {
    pub(super) start: &'a Snapshot,
    pub(super) end: Snapshot,
    pub(super) world: &'a World<'a>,
}

impl Period<'_> {
    /// Queues and medium in this time.
    pub(super) fn marks(&self) -> Between<'_> {
        Between {
            start: &self.start.marks,
            end: &self.end.marks,
        }
    }

    /// Its length. [ns]
    pub(super) fn length_ns(&self) -> u64 {
        self.marks().length_ns()
    }

    /// Its length. [s]
    pub(super) fn length_s(&self) -> f64 {
        self.length_ns() as f64 / 1e9
    }

    /// What these flows, some of which may have been made in this time, have counted together.
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
