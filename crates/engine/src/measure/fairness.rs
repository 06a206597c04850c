//! Fairness among flows whose demand is not met. A flow that gets all the rate that it asks for is
//! not treated unfairly, and is left out. `python/lasthop/answers/fairness.py` has the same rules
//! for other results.
//!
//! The demand of a flow is met on three conditions: the flow has its own rate, at most 1 % of its
//! datagrams are lost, and its datagrams under way do not pile up. The demand of a connection or a
//! greedy source is never met. The reports of sensors ask for no share.
//!
//! As in every probability ([`super::fates`]), a datagram is counted when its fate is known. A call
//! with a long delay has many datagrams under way at the end of the period, and these datagrams are
//! not missing. Little's law gives the expected number of datagrams under way: rate times mean
//! delay. If a queue grows from zero during the whole period, the number is twice as large.

use super::period::Period;
use crate::app::Arrivals;
use crate::kernel::time::Span;
use crate::scenario::{Flow, Transport};
use crate::world::FlowCounters;

/// Percentage of its datagrams that a flow must deliver for its demand to be met. [%]
const MET_PERCENT: u64 = 99;

/// Number of datagrams under way divided by the number that follows from their mean delay (Little's
/// law). Above this ratio, the datagrams pile up. [-]
const PILE: f64 = 1.5;

/// Returns whether a flow competes for its share. `start` and `end` are its counters at both ends
/// of the measured period, and `life` is the time for which the flow existed in the period.
pub(super) fn competes(flow: &Flow, start: &FlowCounters, end: &FlowCounters, life: Span) -> bool {
    let has_rate =
        matches!(&flow.transport, Transport::Udp(udp) if udp.arrivals != Arrivals::Greedy);
    flow.reports.is_none() && !(has_rate && is_met(start, end, life))
}

/// Returns whether the demand of a source is met. It is not met if the source has sent datagrams,
/// but the fate of none of them is known.
fn is_met(start: &FlowCounters, end: &FlowCounters, life: Span) -> bool {
    let sent = end.sent - start.sent;
    let arrived = end.arrived - start.arrived;
    let decided = arrived + end.lost - start.lost;
    if decided == 0 {
        return sent == 0;
    }
    100 * arrived >= MET_PERCENT * decided && !piles_up(start, end, life)
}

/// Returns whether datagrams pile up. This is the case if many more datagrams are under way at the
/// end than the mean delay explains. The difference must exceed the fraction of all datagrams that
/// may be lost.
fn piles_up(start: &FlowCounters, end: &FlowCounters, life: Span) -> bool {
    let (sent, samples) = (
        end.sent - start.sent,
        end.delay_samples - start.delay_samples,
    );
    let under_way = (end.sent - end.arrived - end.lost) as f64;
    let allowed = sent as f64 * (100 - MET_PERCENT) as f64 / 100.0;
    let delay_ns = (end.delay_ns - start.delay_ns) as f64 / samples.max(1) as f64;
    let expected = sent as f64 * delay_ns / (life.0.max(1) as f64);
    under_way > (PILE * expected).max(expected + allowed)
}

/// Returns Jain's index, (sum x)^2 / (n sum x^2) (paper 002, eq. 27); `None` if there are fewer
/// than two goodputs, or if all goodputs are 0. [-]
pub(super) fn jain(goodputs: &[f64]) -> Option<f64> {
    let sum: f64 = goodputs.iter().sum();
    let squares: f64 = goodputs.iter().map(|x| x * x).sum();
    (goodputs.len() > 1 && squares > 0.0).then(|| sum * sum / (goodputs.len() as f64 * squares))
}

impl Period<'_> {
    /// Returns whether each flow of the scenario competes for its share.
    pub(super) fn competing(&self) -> Vec<bool> {
        let flows = self.world.scenario().flows.iter();
        let counters = self.start.flows.iter().zip(&self.end.flows);
        let (from, to) = (self.start.marks.at, self.end.marks.at);
        let states = self.world.flows().states();
        flows
            .zip(counters)
            .zip(states)
            .map(|((flow, (start, end)), state)| competes(flow, start, end, state.life(from, to)))
            .collect()
    }

    /// Returns whether each station has a flow that competes for its share.
    pub(super) fn competing_stations(&self, competing: &[bool]) -> Vec<bool> {
        let scenario = self.world.scenario();
        let mut stations = vec![false; scenario.stations.len()];
        for (flow, &competes) in scenario.flows.iter().zip(competing) {
            if let Some(station) = flow.station() {
                stations[station] |= competes;
            }
        }
        stations
    }
}

#[cfg(test)]
mod tests {
    use super::{is_met, jain};
    use crate::kernel::time::Span;
    use crate::world::FlowCounters;

    /// Returns the counters of a source that has sent this number of datagrams in 10 s. The delay
    /// of each datagram is `delay_ms`.
    fn counted(sent: u64, arrived: u64, lost: u64, delay_ms: u64) -> FlowCounters {
        FlowCounters {
            sent,
            arrived,
            lost,
            delay_ns: arrived * delay_ms * 1_000_000,
            delay_samples: arrived,
            ..FlowCounters::default()
        }
    }

    fn met(start: &FlowCounters, end: &FlowCounters) -> bool {
        is_met(start, end, Span(10_000_000_000))
    }

    #[test]
    fn a_demand_is_met_if_at_most_one_percent_is_lost() {
        let none = FlowCounters::default();
        assert!(met(&none, &counted(1_000, 990, 10, 20)));
        assert!(!met(&none, &counted(1_000, 989, 11, 20)));
        assert!(!met(&none, &counted(10, 9, 1, 20)));
        assert!(met(&none, &none) && !met(&none, &counted(10, 0, 0, 0)));
    }

    #[test]
    fn datagrams_under_way_are_not_missing_unless_they_pile_up() {
        let none = FlowCounters::default();
        // one tenth of the datagrams is under way, as expected for a delay of 1 s in a run of 10 s
        assert!(met(&none, &counted(1_000, 900, 0, 1_000)));
        // a queue that grows: the last datagram takes 1 s, and the mean delay is 0.5 s
        assert!(!met(&none, &counted(1_000, 900, 0, 500)));
        // one or a few more datagrams under way are due to chance
        assert!(met(&none, &counted(1_000, 999, 0, 0)) && met(&none, &counted(1_000, 992, 0, 2)));
        // datagrams that were sent before the measured period do not compensate for losses
        let before = counted(100, 0, 0, 0);
        assert!(!met(&before, &counted(1_100, 1_070, 30, 20)));
    }

    #[test]
    fn jain_s_index_needs_two_and_a_goodput() {
        assert_eq!(jain(&[1.0, 3.0]), Some(0.8));
        assert_eq!(jain(&[2.0]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
