//! Report of an emulation: the engine's measurements, and measurements that only an emulation has.

use lasthop_engine::EngineError;
use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::measure::{Item, ReplicationTable};
use lasthop_engine::quantities::{AT_ONCE, AT_WORK, CARRIED, FOREIGN, LATENESS_P99};
use serde_json::{Value, json};

use crate::Network;
use crate::lateness::Lateness;
use crate::pace::Pace;

/// Returns the measurements as lists of items, in the format of a result.
///
/// # Errors
/// `Conservation` if a conservation law is violated.
pub(crate) fn report(
    network: &Network<'_>,
    lateness: &Lateness,
    pace: &Pace,
    now: Time,
) -> Result<Value, EngineError> {
    let mut measures = network.measures()?;
    let totals = [
        LATENESS_P99.of(lateness.quantile(0.99).map(Span::seconds)),
        CARRIED.of(pace.carried_pps(now, network.carried())),
        AT_WORK.of(pace.at_work(now)),
        AT_ONCE.of(lateness.at_once() as f64),
        FOREIGN.of(network.foreign() as f64),
    ];
    measures.lists.retain(|(list, _)| *list != "totals");
    let run = vec![Item::new("run", totals)];
    measures.lists.push(("totals", run));
    // flows of programs are reported per connection
    let own = network.flows_told();
    for (list, items) in &mut measures.lists {
        if *list == "flows" {
            items.truncate(own);
        }
        if *list == "classes" {
            items.retain(|item| !item.name.is_empty());
        }
    }
    let mut lists = json!(ReplicationTable::from_replications(&[&measures]));
    lists["programs"] = Value::Array(network.of_programs());
    Ok(lists)
}
