//! Fairness, which is judged among those whose demand is not met: a flow that gets all it asks for is not
//! treated unfairly. `python/lasthop/answers/fairness.py` has the same rules for other results.
//!
//! The demand of a flow is met if it has a rate of its own, at most 1 % of its datagrams are lost, and those under
//! way do not pile up. A connection or a greedy source always wants more. The reports of sensors ask for no share.
//!
//! As in every probability ([`super::fates`]), datagrams count when their fate is known: of a call whose way takes
//! long, many are under way at the end, and none of them is missing. Little's law says how many are to be expected,
//! rate times mean delay; in a queue that grows from nothing through the whole time it is twice as many.

use super::period::Period;
use crate::app::Arrivals;
use crate::kernel::time::Span;
use crate::scenario::{Flow, Transport};
use crate::world::FlowCounters;

/// Part of its datagrams that a flow must deliver for its demand to be met. [%]
const MET_PERCENT: u64 = 99;

/// Ratio of the datagrams under way to the number that their mean delay explains (Little's law).
/// Above it they pile up. [-]
const PILE: f64 = 1.5;

/// Whether a flow competes for its share, by its counters at the two ends of the time that is measured, and by how
/// much of that time it lived.
pub(super) fn competes(flow: &Flow, start: &FlowCounters, end: &FlowCounters, life: Span) -> bool {
    let has_rate =
        matches!(&flow.transport, Transport::Udp(udp) if udp.arrivals != Arrivals::Greedy);
    flow.reports.is_none() && !(has_rate && is_met(start, end, life))
}

/// Returns whether the demand of a source is met. A source that has sent datagrams without a known
/// fate gets nothing.
fn is_met(start: &FlowCounters, end: &FlowCounters, life: Span) -> bool {
    let sent = end.sent - start.sent;
    let arrived = end.arrived - start.arrived;
    let decided = arrived + end.lost - start.lost;
    if decided == 0 {
        return sent == 0;
    }
    100 * arrived >= MET_PERCENT * decided && !piles_up(start, end, life)
}

/// Whether more datagrams are under way at the end than their mean delay explains, by more than the part of all that
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

/// Returns Jain's index, (sum x)^2 / (n sum x^2) (paper 002, eq. 27); `None` with fewer than two goodputs, and
/// if all are 0.
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

    /// Returns the counters of a source that has sent this number of datagrams in 10 s, with this
    /// delay.
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
        // a tenth is under way, as 1 s of 10 s says
        assert!(met(&none, &counted(1_000, 900, 0, 1_000)));
        // a queue that grows: the last datagram took 1 s, the mean is a half
        assert!(!met(&none, &counted(1_000, 900, 0, 500)));
        // one or a few more are chance
        assert!(met(&none, &counted(1_000, 999, 0, 0)) && met(&none, &counted(1_000, 992, 0, 2)));
        // what was sent before the time measured makes up for no loss
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
