//! Fairness among flows whose demand is not met. Flows whose demand is met are excluded, because
//! they cannot be treated unfairly. `python/lasthop/answers/fairness.py` applies the same rules to
//! other results.
//!
//! The demand of a flow is met if it has a given sending rate, at most 1 % of its datagrams are
//! lost, and its datagrams do not accumulate in queues. The demand of a TCP connection whose
//! application paces its data is met if the application limited it for at least 1 % of its life: a
//! connection that cannot keep up with its application always has data to send. The demand of
//! another TCP connection or of a greedy source is never met. Flows that carry reports of sensors
//! are excluded, too, and so are pings, which measure the network and do not compete.
//!
//! A datagram is counted when its fate (arrived or lost) is known, as in all probabilities
//! ([`super::fates`]). A call with a long delay has many datagrams in flight at the end of the
//! period, and these datagrams are not lost. Little's law gives the expected number of datagrams in
//! flight: rate times mean delay. If a queue grows from zero during the whole period, the number in
//! flight is twice the expected number.

use super::period::Period;
use crate::app::Arrivals;
use crate::kernel::time::Span;
use crate::scenario::{Flow, Transport};
use crate::tcp::Limit;
use crate::world::FlowCounters;

/// Minimum percentage of a flow's datagrams that must arrive. Below this percentage, the demand of
/// the flow is not met. [%]
const MET_PERCENT: u64 = 99;

/// Largest ratio of the number of datagrams in flight to the expected number, which Little's law
/// gives for the mean delay. Above this ratio, the datagrams accumulate in queues. [-]
const PILE: f64 = 1.5;

/// Returns whether a flow competes for its share, that is, whether its demand is not met. `start`
/// and `end` are the counters of the flow at the start and the end of the measured period. `life`
/// is the time for which the flow existed in the period.
pub(super) fn competes(flow: &Flow, start: &FlowCounters, end: &FlowCounters, life: Span) -> bool {
    let has_rate =
        matches!(&flow.transport, Transport::Udp(udp) if udp.arrivals != Arrivals::Greedy);
    let is_small = matches!(flow.transport, Transport::Ping(_)) || flow.reports.is_some();
    let is_content = has_rate && is_met(start, end, life)
        || flow.is_limited_by_application() && keeps_up(start, end, life);
    !is_small && !is_content
}

/// Returns whether a connection keeps up with its application: for a part of its life, it had no
/// data to send.
fn keeps_up(start: &FlowCounters, end: &FlowCounters, life: Span) -> bool {
    let app = Limit::App as usize;
    let limited_ns = end.limited_ns[app].wrapping_sub(start.limited_ns[app]);
    limited_ns.saturating_mul(100) >= life.0.saturating_mul(100 - MET_PERCENT)
}

/// Returns whether the demand of a UDP source is met. If the source has sent datagrams and the fate
/// of none of them is known, the demand is not met.
fn is_met(start: &FlowCounters, end: &FlowCounters, life: Span) -> bool {
    let sent = end.sent - start.sent;
    let arrived = end.arrived - start.arrived;
    let decided = arrived + end.lost - start.lost;
    if decided == 0 {
        return sent == 0;
    }
    100 * arrived >= MET_PERCENT * decided && !piles_up(start, end, life)
}

/// Returns whether datagrams accumulate in queues. For this, the number of datagrams in flight at
/// the end must be much larger than the number that follows from the mean delay (Little's law). The
/// difference must also exceed 1 % of the datagrams sent, which is the number that may be lost.
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

/// Returns Jain's index of the goodputs x of n flows, (sum x)^2 / (n sum x^2) (paper 002, eq. 27).
/// The value is `None` if there are fewer than two goodputs, or if all goodputs are 0. [-]
pub(super) fn jain(goodputs: &[f64]) -> Option<f64> {
    let sum: f64 = goodputs.iter().sum();
    let squares: f64 = goodputs.iter().map(|x| x * x).sum();
    (goodputs.len() > 1 && squares > 0.0).then(|| sum * sum / (goodputs.len() as f64 * squares))
}

impl Period<'_> {
    /// Returns for each flow of the scenario whether it competes for its share.
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

    /// Returns for each station whether at least one of its flows competes for its share.
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

    /// Returns the counters of a source after 10 s. `sent`, `arrived` and `lost` are numbers of
    /// datagrams, and the delay of each datagram is `delay_ms`.
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
        // one tenth of the datagrams is in flight, as expected for a delay of 1 s in a run of 10 s
        assert!(met(&none, &counted(1_000, 900, 0, 1_000)));
        // the queue grows: the last datagram is in flight for 1 s, and the mean delay is 0.5 s, so
        // that twice the expected number of datagrams is in flight
        assert!(!met(&none, &counted(1_000, 900, 0, 500)));
        // a few datagrams in flight more than expected are due to chance
        assert!(met(&none, &counted(1_000, 999, 0, 0)) && met(&none, &counted(1_000, 992, 0, 2)));
        // datagrams that arrived before the measured period do not compensate for losses in the
        // period
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
