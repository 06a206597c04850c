//! Probabilities: what became of packets, frames and attempts.
//!
//! Each counts once, at the instant at which its fate is decided, and then in the numerator and in the
//! denominator. So a probability of any time lies in [0, 1], and one whose fate is open at the end counts in
//! neither. Counting in the denominator when a packet is sent would relate losses of one time to packets
//! of another. Counting only packets that were sent in the measured time would miss those whose fate is still
//! open at the end, which are more often late than lost.

use super::item::{Value, ratio};
use super::marks::QueueMark;
use super::period::Period;
use crate::quantities::LOSS_PROBABILITY;

/// Part of those whose fate was decided that `failed`; absent if the fate of none was.
pub(super) fn probability(failed: u64, succeeded: u64) -> Option<f64> {
    ratio(failed, failed + succeeded)
}

impl Period<'_> {
    /// Loss probability of the packets of these flows together.
    pub(super) fn loss(&self, flows: impl Iterator<Item = usize> + Clone) -> Value {
        let lost = self.over(flows.clone(), |c| c.lost);
        let arrived = self.over(flows, |c| c.arrived);
        LOSS_PROBABILITY.of(probability(lost, arrived))
    }
}

impl QueueMark {
    /// Part of the packets that left the queue since `before`, either way, that were dropped.
    pub(super) fn drop_probability(&self, before: &QueueMark) -> Option<f64> {
        let dropped = self.counters.dropped - before.counters.dropped;
        probability(dropped, self.counters.left - before.counters.left)
    }

    /// Part of the packets that the discipline has judged since `before`, on arrival or on departure, that
    /// were marked.
    pub(super) fn mark_probability(&self, before: &QueueMark) -> Option<f64> {
        let judged = |mark: &QueueMark| mark.counters.offered - mark.unjudged;
        let marked = self.counters.marked - before.counters.marked;
        ratio(marked, judged(self) - judged(before))
    }
}
