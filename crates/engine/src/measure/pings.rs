//! Measures of pings. A ping belongs to the period in which its request is sent, if its deadline is
//! also in this period.

use super::item::{Value, ratio};
use super::period::Period;
use crate::app::tally::Tally;
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
        let (from, to) = (self.start.marks.at, self.end.marks.at);
        let tally = tally_of(self.world, flows, from, to);
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
    let from = Time::ZERO + world.scenario().warmup;
    let mut histogram = Histogram::EMPTY;
    for rtt in tally_of(world, flows, from, world.now()).delays {
        histogram.add(rtt);
    }
    histogram
}

/// Returns all pings of these flows between `from` and `to`, as one tally.
fn tally_of(world: &World<'_>, flows: impl Iterator<Item = usize>, from: Time, to: Time) -> Tally {
    let mut tally = Tally::default();
    for flow in flows {
        if let Endpoints::Pinger(pinger) = world.flows().states()[flow].endpoints() {
            pinger.add_to(&mut tally, from, to);
        }
    }
    tally.delays.sort_unstable();
    tally
}
