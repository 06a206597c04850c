//! Components of the delay: how long the packets of each datagram flow wait in each queue.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::facts::Facts;
use crate::index::sort;

/// The waits of a result, by flow.
pub struct Waits<'a> {
    /// Position in the result, name of the queue and mean wait [s] for each wait of a flow.
    by_flow: BTreeMap<&'a str, Vec<(usize, &'a str, f64)>>,
}

impl<'a> Waits<'a> {
    /// Reads the result list `waits`.
    pub fn read(facts: &Facts<'a>) -> Waits<'a> {
        let mut by_flow: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for (at, item) in facts.answer.waits.iter().enumerate() {
            if let Some(wait_s) = item.mean("wait_s") {
                let waits = by_flow.entry(&item.flow).or_default();
                waits.push((at, &*item.queue, wait_s));
            }
        }
        Waits { by_flow }
    }

    /// Returns the name of the queue and the mean wait [s] for each wait of these flows, in the
    /// order of the result.
    pub fn of_flows(&self, flows: &[&str]) -> Vec<(&'a str, f64)> {
        let waits = flows.iter().filter_map(|flow| self.by_flow.get(flow));
        let waits: Vec<(usize, &str, f64)> = waits.flatten().copied().collect();
        let waits = sort(waits, |(a, ..), (b, ..)| a.cmp(b)).into_iter();
        waits.map(|(_, queue, wait_s)| (queue, wait_s)).collect()
    }
}

/// Returns the delay of each datagram flow, with its components in descending order.
///
/// The component without a queue name is the part of the one-way delay outside queues, such as
/// propagation.
pub fn delays(facts: &Facts<'_>) -> Vec<Value> {
    let waits = Waits::read(facts);
    let mut delays = Vec::new();
    for flow in facts.flows() {
        let Some(total_s) = flow.mean("one_way_delay_s") else {
            continue;
        };
        let parts = waits.of_flows(&[flow.name]);
        let parts = sort(parts, |(_, a), (_, b)| b.total_cmp(a));
        if parts.is_empty() || total_s <= 0.0 {
            continue;
        }
        let share = |wait_s: f64| (wait_s / total_s).min(1.0);
        let parts: Vec<Value> = parts
            .into_iter()
            .map(|(queue, wait_s)| json!({ "queue": queue, "wait_s": wait_s, "share": share(wait_s) }))
            .collect();
        delays.push(json!({ "flow": flow.name, "total_s": total_s, "parts": parts }));
    }
    delays
}
