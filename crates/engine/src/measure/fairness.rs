//! Fairness, which is judged among those whose demand is not met: a flow that gets all it asks for is not
//! treated unfairly. `python/lasthop/fairness.py` has the same rules for other results.
//!
//! The demand of a flow is met if it has a rate of its own and delivers at least 99 % of the datagrams that it
//! offers. A connection or a greedy source always wants more. The reports of sensors ask for no share.

use super::period::Period;
use crate::app::Arrivals;
use crate::scenario::{Flow, Transport};
use crate::world::FlowCounters;

/// Part of what it offers that a flow must deliver for its demand to be met. [%]
const MET_PERCENT: u64 = 99;

/// Whether a flow competes for its share, by its counters at the two ends of the time that is measured.
pub(super) fn competes(flow: &Flow, start: &FlowCounters, end: &FlowCounters) -> bool {
    let has_rate =
        matches!(&flow.transport, Transport::Udp(udp) if udp.arrivals != Arrivals::Greedy);
    let (offered, delivered) = (end.sent - start.sent, end.delivered - start.delivered);
    flow.reports.is_none() && !(has_rate && is_met(offered, delivered))
}

/// Whether the demand of a source that has offered this many datagrams is met. What must be delivered is
/// rounded down to whole datagrams: one may still be under way at the end.
fn is_met(offered: u64, delivered: u64) -> bool {
    delivered >= offered * MET_PERCENT / 100
}

/// Returns Jain's index, (sum x)^2 / (n sum x^2) (paper 002, eq. 27); `None` with fewer than two goodputs, and
/// if all are 0.
pub(super) fn jain(goodputs: &[f64]) -> Option<f64> {
    let sum: f64 = goodputs.iter().sum();
    let squares: f64 = goodputs.iter().map(|x| x * x).sum();
    (goodputs.len() > 1 && squares > 0.0).then(|| sum * sum / (goodputs.len() as f64 * squares))
}

impl Period<'_> {
    /// Whether each flow of the scenario competes for its share.
    pub(super) fn competing(&self) -> Vec<bool> {
        let flows = self.world.scenario().flows.iter();
        let counters = self.start.flows.iter().zip(&self.end.flows);
        flows
            .zip(counters)
            .map(|(flow, (start, end))| competes(flow, start, end))
            .collect()
    }

    /// Whether each station has a flow that competes for its share.
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

    #[test]
    fn a_demand_is_met_from_99_percent_on_in_whole_datagrams() {
        assert!(is_met(1_000, 990) && !is_met(1_000, 989));
        // one of the last may be under way
        assert!(is_met(10, 9) && !is_met(10, 8));
        assert!(is_met(0, 0));
    }

    #[test]
    fn jain_s_index_needs_two_and_a_goodput() {
        assert_eq!(jain(&[1.0, 3.0]), Some(0.8));
        assert_eq!(jain(&[2.0]), None);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
