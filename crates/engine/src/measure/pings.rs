//! Measures of pings. A ping belongs to the interval in which its reply arrives or its deadline
//! ends, if the deadline is not after the end of the run.

use super::item::{Value, ratio};
use super::period::Period;
use crate::app::tally::{Interval, Tally};
use crate::histogram::Histogram;
use crate::kernel::time::Time;
use crate::quantities::{LOSS_PROBABILITY, RTT, RTT_P50, RTT_P95, RTT_P99};
use crate::scenario::Transport;
use crate::world::{Endpoints, World};

impl Period<'_> {
    /// Returns whether a flow consists of pings.
    pub(super) fn is_ping(&self, flow: usize) -> bool {
        let transport = &self.world.scenario().flows[flow].transport;
        matches!(transport, Transport::Ping(_))
    }

    /// Returns the round-trip times and the loss probability of all pings of these flows.
    pub(super) fn pings(&self, flows: impl Iterator<Item = usize>) -> Vec<Value> {
        let tally = tally_of(self.world, flows, &self.interval());
        vec![
            RTT.of(tally.mean_s()),
            RTT_P50.of(tally.quantile_s(0.5)),
            RTT_P95.of(tally.quantile_s(0.95)),
            RTT_P99.of(tally.quantile_s(0.99)),
            LOSS_PROBABILITY.of(ratio(tally.made - tally.delays.len() as u64, tally.made)),
        ]
    }
}

/// Returns the distribution of the round-trip times of these flows' pings since the end of the
/// warm-up.
pub(super) fn rtts_of_pings(world: &World<'_>, flows: impl Iterator<Item = usize>) -> Histogram {
    let (from, to) = (Time::ZERO + world.scenario().warmup, world.now());
    let interval = Interval::new(from, to, from, to);
    let mut histogram = Histogram::EMPTY;
    for rtt in tally_of(world, flows, &interval).delays {
        histogram.add(rtt);
    }
    histogram
}

/// Returns all pings of these flows in an interval, as one tally.
fn tally_of(world: &World<'_>, flows: impl Iterator<Item = usize>, interval: &Interval) -> Tally {
    let mut tally = Tally::default();
    for flow in flows {
        if let Endpoints::Pinger(pinger) = world.flows().states()[flow].endpoints() {
            pinger.add_to(&mut tally, interval);
        }
    }
    tally.delays.sort_unstable();
    tally
}
