//! The time that is measured: from one instant to another.

use super::snapshot::Snapshot;
use crate::world::World;

/// From the end of the warm-up to the end of the run.
pub(super) struct Period<'a> {
    pub(super) start: &'a Snapshot,
    pub(super) end: Snapshot,
    pub(super) world: &'a World<'a>,
}

impl Period<'_> {
    /// Its length. [ns]
    pub(super) fn length_ns(&self) -> u64 {
        self.end.at_ns - self.start.at_ns
    }

    /// Its length. [s]
    pub(super) fn length_s(&self) -> f64 {
        self.length_ns() as f64 / 1e9
    }
}
