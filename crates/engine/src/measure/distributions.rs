//! Distributions of the quantities that have means and percentiles in results. A distribution is a
//! histogram: the edges of intervals, and a count for each interval.

use serde_json::{Value, json};

use super::pings::rtts_of_pings;
use super::tails::Waits;
use crate::histogram::Histogram;
use crate::quantities::{ONE_WAY_DELAY, Quantity, RTT, SOJOURN};
use crate::scenario::Transport;
use crate::world::World;

/// Distribution of a quantity of an item (such as a flow or a queue) after the warm-up.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// Result list that contains the item.
    pub list: &'static str,
    /// Name of the item.
    pub name: String,
    /// Name of the quantity whose values are in `histogram`. The result contains their mean.
    pub quantity: &'static str,
    /// Histogram of the values.
    pub histogram: Histogram,
}

impl Distribution {
    fn of(
        list: &'static str,
        name: &str,
        quantity: Quantity,
        histogram: Histogram,
    ) -> Distribution {
        Distribution {
            list,
            name: name.to_owned(),
            quantity: quantity.name,
            histogram,
        }
    }

    /// Returns the sum of the distributions of two replications of a scenario. Both lists contain
    /// the same items in the same order.
    pub(crate) fn merged(mut first: Vec<Self>, second: Vec<Self>) -> Vec<Self> {
        for (own, more) in first.iter_mut().zip(&second) {
            own.histogram.merge(&more.histogram);
        }
        first
    }
}

/// Returns `distributions` as JSON: a list of objects with `list`, `name`, `quantity`, `edges_s`
/// and `counts`. Empty intervals before the first count and after the last count are omitted. There
/// is one more edge than counts. The first edge is the smallest value of the quantity, and the last
/// edge is 1 ns above the largest value. All edges between these two belong to one fixed sequence,
/// which is the same for all distributions.
pub fn distributions_json(distributions: &[Distribution]) -> String {
    let each = distributions.iter().map(|own| {
        let (edges, counts) = own.histogram.cells();
        json!({
            "list": own.list,
            "name": own.name,
            "quantity": own.quantity,
            "edges_s": edges.iter().map(|&ns| ns as f64 / 1e9).collect::<Vec<_>>(),
            "counts": counts,
        })
    });
    each.collect::<Value>().to_string()
}

/// Returns all distributions of a simulation, in the order of results. `waits` contains the waiting
/// times in the queues, if they are measured.
pub(crate) fn of(world: &World<'_>, waits: Option<&Waits>) -> Vec<Distribution> {
    let mut all: Vec<Distribution> = flows(world).collect();
    if let (Some(waits), Some(cell)) = (waits, world.radio().cell()) {
        all.extend((0..cell.queues()).map(|number| {
            let own = waits.of_queue(number).cloned().unwrap_or(Histogram::EMPTY);
            Distribution::of("queues", cell.queue_name(number), SOJOURN, own)
        }));
    }
    all
}

/// Returns the distributions of the round-trip times of TCP flows, pings and users, and of the delays of
/// datagrams.
fn flows<'a>(world: &'a World<'_>) -> impl Iterator<Item = Distribution> + 'a {
    let scenario = world.scenario();
    let own = scenario.flows.iter().enumerate();
    let own = own.map(|(index, flow)| (&flow.name, &flow.transport, vec![index]));
    let csma = scenario.csma.iter().flat_map(|csma| &csma.flows);
    let users = world.users().into_iter().flat_map(|users| users.each());
    let users = csma.zip(users).map(|(flow, user)| {
        let members = user.flows().iter().map(|&index| index as usize);
        (&flow.name, &flow.transport, members.collect())
    });
    own.chain(users).filter_map(|(name, transport, members)| {
        let (quantity, histogram) = match transport {
            Transport::Tcp(_) => (RTT, rtts_of(world, members.into_iter())?),
            Transport::Udp(_) => (ONE_WAY_DELAY, delays_of(world, members.into_iter())),
            Transport::Ping(_) => (RTT, rtts_of_pings(world, members.into_iter())),
            Transport::Web(_) => return None,
        };
        Some(Distribution::of("flows", name, quantity, histogram))
    })
}

/// Returns the distribution of all round-trip times of these flows; `None` if round-trip times are
/// not recorded.
pub(super) fn rtts_of(world: &World<'_>, flows: impl Iterator<Item = usize>) -> Option<Histogram> {
    let states = world.flows().states();
    let samples = flows.filter_map(|flow| states[flow].rtts());
    samples.fold(None, |all: Option<Histogram>, own| match all {
        None => Some(own.clone()),
        Some(mut all) => {
            all.merge(own);
            Some(all)
        }
    })
}

/// Returns the distribution of the delays of all datagrams of these flows.
pub(super) fn delays_of(world: &World<'_>, flows: impl Iterator<Item = usize>) -> Histogram {
    let states = world.flows().states();
    let mut all = Histogram::EMPTY;
    for own in flows.filter_map(|flow| states[flow].delays()) {
        all.merge(own);
    }
    all
}
