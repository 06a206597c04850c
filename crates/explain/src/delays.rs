//! Components of the delay: how long the packets of each datagram flow wait in each queue.

use serde_json::{Value, json};

use crate::facts::{Facts, list, mean, text};

/// Returns the name of the flow, the name of the queue and the mean wait [s] for each item of the
/// result list `waits`.
pub fn waits<'a>(facts: &Facts<'a>) -> impl Iterator<Item = (&'a str, &'a str, f64)> {
    list(facts.answer, "waits").iter().filter_map(|item| {
        let wait_s = mean(item, "wait_s")?;
        Some((text(item, "flow"), text(item, "queue"), wait_s))
    })
}

/// Returns the delay of each datagram flow, with its components in descending order.
///
/// The component without a queue name is the part of the one-way delay outside queues, such as
/// propagation.
pub fn delays(facts: &Facts<'_>) -> Vec<Value> {
    let mut delays = Vec::new();
    for flow in &facts.flows {
        let Some(total_s) = mean(flow.answer, "one_way_delay_s") else {
            continue;
        };
        let mut parts: Vec<(&str, f64)> = Vec::new();
        for (_, queue, wait_s) in waits(facts).filter(|(name, ..)| *name == flow.name) {
            let at = parts.partition_point(|(_, other_s)| *other_s >= wait_s);
            parts.insert(at, (queue, wait_s));
        }
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
