//! Probabilities of the fates of packets, frames and transmission attempts. A fate is, for example,
//! delivered, lost or marked.
//!
//! Each packet, frame or attempt is counted once, when its fate is decided. At this time, the
//! numerator and the denominator of the probability are updated. A probability of any period is
//! therefore in [0, 1]. Packets without a fate at the end of the period are not counted.
//!
//! Two other definitions are worse. The first definition divides losses by the number of packets
//! that are sent in the period. Then losses in one period are related to packets of another period.
//! The second definition divides losses by the number of those packets sent in the period whose
//! fate is known at its end. Then losses are overestimated, because a loss is known earlier than an
//! arrival.

use super::item::{Value, probability, ratio};
use super::marks::QueueMark;
use super::period::Period;
use crate::quantities::LOSS_PROBABILITY;

impl Period<'_> {
    /// Returns the loss probability of the packets of these flows.
    pub(super) fn loss(&self, flows: impl Iterator<Item = usize> + Clone) -> Value {
        let lost = self.over(flows.clone(), |c| c.lost);
        let arrived = self.over(flows, |c| c.arrived);
        LOSS_PROBABILITY.of(probability(lost, arrived))
    }
}

impl QueueMark {
    /// Returns the drop probability since the time of `before`: the dropped or refused packets,
    /// divided by all packets about which the discipline has decided. [-]
    pub(super) fn drop_probability(&self, before: &QueueMark) -> Option<f64> {
        let dropped = self.counters.dropped - before.counters.dropped;
        ratio(dropped, self.judged() - before.judged())
    }

    /// Returns the mark probability since the time of `before`: the marked packets, divided by all
    /// packets about which the discipline has decided. [-]
    pub(super) fn mark_probability(&self, before: &QueueMark) -> Option<f64> {
        let marked = self.counters.marked - before.counters.marked;
        ratio(marked, self.judged() - before.judged())
    }

    /// Returns the number of packets about which the discipline has decided so far.
    pub(super) fn judged(&self) -> u64 {
        self.counters.offered - self.unjudged
    }
}
