//! Probabilities: what became of packets, frames and attempts.
//!
//! Each counts once, at the instant at which its fate is decided, and then in the numerator and in the
//! denominator. So a probability of any time is in [0, 1]. Packets without a fate at the end count in neither.
//!
//! Two other definitions are worse. With the packets that are sent in a time as the denominator, losses of one time are
//! related to packets of another. With the packets that are sent in a time and have a fate at its end, losses count
//! too often, since a loss is known sooner than an arrival.

use super::item::{Value, probability, ratio};
use super::marks::QueueMark;
use super::period::Period;
use crate::quantities::LOSS_PROBABILITY;

impl Period<'_> {
    /// Returns the loss probability of all packets of these flows.
    pub(super) fn loss(&self, flows: impl Iterator<Item = usize> + Clone) -> Value {
        let lost = self.over(flows.clone(), |c| c.lost);
        let arrived = self.over(flows, |c| c.arrived);
        LOSS_PROBABILITY.of(probability(lost, arrived))
    }
}

impl QueueMark {
    /// Returns the part of the packets that the discipline has judged since `before`, on arrival or on departure,
    /// that were dropped or refused.
    pub(super) fn drop_probability(&self, before: &QueueMark) -> Option<f64> {
        let dropped = self.counters.dropped - before.counters.dropped;
        ratio(dropped, self.judged() - before.judged())
    }

    /// Returns the part of the packets that the discipline has judged since `before` that were marked.
    pub(super) fn mark_probability(&self, before: &QueueMark) -> Option<f64> {
        let marked = self.counters.marked - before.counters.marked;
        ratio(marked, self.judged() - before.judged())
    }

    /// Packets that the discipline has judged so far.
    pub(super) fn judged(&self) -> u64 {
        self.counters.offered - self.unjudged
    }
}
