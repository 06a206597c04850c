//! Causes in queues.

use serde_json::Value;

use super::{Cause, Remedy, remedy};
use crate::edits::{link_rate_bps, queue_key, queue_place, rate, set};
use crate::facts::{Facts, rounded, text};
use crate::index::Groups;
use crate::limits::FULL;

/// Mean queue length above which a queue may be a cause. [packets]
const MIN_PACKETS: f64 = 1.0;

/// Capacity below which a drop-tail queue may be too small. [packets]
const MAX_SHORT_PACKETS: f64 = 250.0;

/// Size of a full TCP segment, including headers. [bit]
const SEGMENT_BITS: f64 = 12_000.0;

/// A queue of the result and its settings.
struct Queue<'a> {
    name: &'a str,
    key: String,
    discipline: &'a str,
    limit: f64,
    packets: f64,
    max_packets: f64,
    sojourn_s: f64,
    drops: f64,
}

/// Returns the queues that have settings. If several queues share a key, only the queue with the
/// longest wait is returned.
fn configurable_queues<'a>(facts: &Facts<'a>) -> Vec<Queue<'a>> {
    let mut queues: Groups<String, Queue<'a>> = Groups::new();
    for item in &facts.answer.queues {
        let Some(key) = queue_key(facts, &item.name) else {
            continue;
        };
        let (discipline, limit) = settings(facts, &item.name);
        let queue = || Queue {
            name: &item.name,
            discipline,
            limit: limit.as_f64().unwrap_or(f64::INFINITY),
            packets: item.mean("occupancy_packets").unwrap_or(0.0),
            max_packets: item.mean("occupancy_max_packets").unwrap_or(0.0),
            sojourn_s: item.mean("sojourn_s").unwrap_or(0.0),
            drops: item.mean("drop_probability").unwrap_or(0.0),
            key: key.clone(),
        };
        let longest = queues.group(key.clone(), queue);
        if longest.sojourn_s < item.mean("sojourn_s").unwrap_or(0.0) {
            *longest = queue();
        }
    }
    queues.into_values()
}

/// Returns the discipline and the limit of a queue from the normalised scenario.
pub fn settings<'a>(facts: &Facts<'a>, queue: &str) -> (&'a str, &'a Value) {
    let of_table =
        |table: &'a Value| (text(&table["queue"], "discipline"), &table["queue_packets"]);
    let wire = &facts.scenario.wire;
    if queue == "wire/up" && !wire["back_queue"].is_null() {
        return (
            text(&wire["back_queue"], "discipline"),
            &wire["back_queue_packets"],
        );
    }
    if queue.starts_with("wire/") {
        return of_table(wire);
    }
    if let Some(link) = facts.link(queue) {
        return (&link.queue.discipline, &link.queue_packets);
    }
    match facts.station(queue.split('/').next().unwrap_or("")) {
        Some(station) => (&station.queue.discipline, &station.queue_packets),
        None => of_table(&facts.scenario.cell["ap"]),
    }
}

pub fn standing_queues(facts: &Facts<'_>) -> Vec<Cause> {
    long_queues(facts, |discipline| {
        let others = ["red", "pi", "proportional"];
        !others.contains(&discipline) && !has_flow_queues(discipline)
    })
}

/// Returns whether a discipline has a queue per flow.
fn has_flow_queues(discipline: &str) -> bool {
    matches!(discipline, "fq_codel" | "cake" | "mac80211")
}

/// Returns the remedy that gives the connections of a shared queue equal shares: FQ-CoDel in the
/// queue without queues per flow in which packets wait longest. `None` if packets wait in no such
/// queue.
pub fn fair_shared_queue(facts: &Facts<'_>) -> Option<Remedy> {
    let queues = configurable_queues(facts).into_iter();
    let shared = queues.filter(|queue| {
        let is_used = queue.packets >= 0.1 || queue.drops > 0.0;
        is_used && !has_flow_queues(queue.discipline)
    });
    let queue = shared.max_by(|a, b| a.sojourn_s.total_cmp(&b.sojourn_s))?;
    let place = queue_place(facts, &queue.key, queue.name);
    Some(remedy(fair_queue(&queue.key), &queue.key, "{ fq_codel = {} }").at(&place))
}

pub fn standing_aqm_queues(facts: &Facts<'_>) -> Vec<Cause> {
    long_queues(facts, |discipline| {
        matches!(discipline, "red" | "pi" | "proportional")
    })
}

/// Returns a cause for each long queue whose discipline satisfies `has_discipline`.
fn long_queues(facts: &Facts<'_>, has_discipline: fn(&str) -> bool) -> Vec<Cause> {
    configurable_queues(facts)
        .into_iter()
        .filter(|queue| has_discipline(queue.discipline))
        .filter(|queue| queue.packets >= MIN_PACKETS || queue.max_packets >= 20.0)
        .map(|queue| long_queue(facts, queue))
        .collect()
}

fn long_queue(facts: &Facts<'_>, queue: Queue<'_>) -> Cause {
    let wait_s = queue.sojourn_s;
    let sentence = format!(
        "Packets wait {} in {}, which holds {} packets on average.",
        milliseconds(wait_s),
        queue.name,
        rounded(queue.packets.max(1.0), 1.0)
    );
    let key = &queue.key;
    let is_ap = key == "cell.ap_queue";
    let (own, value) = match is_ap && facts.aggregates() {
        true => (Some(mac80211()), "{ mac80211 = {} }"),
        false => (None, "{ fq_codel = {} }"),
    };
    let shorter = match link_rate_bps(facts, queue.name) {
        Some(rate_bps) => {
            let packets = (0.02 * rate_bps / SEGMENT_BITS).clamp(5.0, 1000.0).round();
            let label = format!("short queue of {packets} packets (20 ms)");
            (packets < queue.limit).then_some((label, packets))
        }
        None => (queue.limit > 60.0).then_some(("short queue of 50 packets".into(), 50.0)),
    };
    let shorter =
        shorter.map(|(label, packets)| remedy(&label, key, &format!("{{ limit = {packets} }}")));
    let fair = remedy(fair_queue(key), key, "{ fq_codel = {} }");
    let codel = remedy("CoDel", key, "{ codel = {} }");
    let place = queue_place(facts, key, queue.name);
    let remedies = own.into_iter().chain([fair, codel]).chain(shorter);
    let weight = (wait_s / (wait_s + 0.02)).clamp(0.0, 1.0);
    Cause::new(queue.name, sentence, weight, vec![set(key.as_str(), value)])
        .with(remedies.map(|remedy| remedy.at(&place)))
        .with(gateway(facts).filter(|_| is_ap))
}

/// Returns the remedy that gives the access point an mac80211 queue, for a cell that uses
/// aggregation.
pub fn mac80211() -> Remedy {
    let label = "fair queue with equal air time (mac80211)";
    remedy(label, "cell.ap_queue", "{ mac80211 = {} }").at("at the access point")
}

/// Returns the remedy that adds a virtual shared bottleneck to a cell, or `None` if the cell has
/// one.
///
/// If the line is full, the rate of the bottleneck is 10 % below the rate of the line, so that
/// packets wait in the bottleneck. If the line is not full, the bottleneck estimates the capacity
/// of the cell.
pub fn gateway(facts: &Facts<'_>) -> Option<Remedy> {
    if facts.cell().is_none() || !facts.scenario.vsb.is_null() {
        return None;
    }
    let label = "gateway with equal shares (virtual shared bottleneck, lasthop gateway)";
    let line = "wire/down";
    let is_full = facts
        .link_item(line)
        .and_then(|item| item.mean("utilisation"))
        .is_some_and(|used| used > FULL);
    if let Some(rate_bps) = link_rate_bps(facts, line).filter(|_| is_full) {
        let below = (0.9 * rate_bps / 1e3).floor() * 1e3;
        return Some(Remedy::new(label, vec![set("vsb.rate", rate(below))]));
    }
    if !facts.aggregates() {
        return Some(Remedy::new(label, vec![set("vsb.fairness", "station")]));
    }
    let goodput_bps = facts.cell_mean("goodput_bps")?;
    let most = (1.2 * goodput_bps / 1e6).ceil().max(1.0);
    let wce = format!("{{ max = \"{most} Mbps\", threshold = \"10 ms\", high = \"40 ms\" }}");
    let settings = vec![set("vsb.wce", wce), set("vsb.queue", 600)];
    Some(Remedy::new(label, settings))
}

/// Returns the label of the remedy FQ-CoDel. For a queue at the line, the label includes the name
/// that home routers use.
fn fair_queue(key: &str) -> &'static str {
    match key {
        "wire.queue" | "wire.back_queue" => "fair queue (FQ-CoDel; in home routers SQM)",
        _ => "fair queue (FQ-CoDel)",
    }
}

pub fn short_buffers(facts: &Facts<'_>) -> Vec<Cause> {
    configurable_queues(facts)
        .into_iter()
        .filter(|queue| matches!(queue.discipline, "drop_tail" | "threshold"))
        .filter(|queue| queue.limit <= MAX_SHORT_PACKETS && queue.drops > 0.0)
        .map(|queue| short_buffer(facts, queue))
        .collect()
}

fn short_buffer(facts: &Facts<'_>, queue: Queue<'_>) -> Cause {
    let Queue {
        name,
        key,
        limit,
        drops,
        ..
    } = queue;
    let percent = rounded(100.0 * drops, 10.0);
    let sentence = format!("{name} has room for {limit} packets and drops {percent} %.");
    let place = queue_place(facts, &key, name);
    let buffer = |packets: f64| {
        let label = format!("buffer of {packets} packets");
        remedy(&label, &key, &format!("{{ limit = {packets} }}"))
    };
    let fair = remedy(fair_queue(&key), &key, "{ fq_codel = {} }");
    let remedies = [buffer((4.0 * limit).min(1000.0)), buffer(1000.0), fair];
    let edits = vec![set(key.as_str(), "{ limit = 1000 }")];
    Cause::new(name, sentence, (10.0 * drops).min(0.9), edits)
        .with(remedies.map(|remedy| remedy.at(&place)))
}

/// Returns a time [s] as text in milliseconds, with at most three significant digits.
pub fn milliseconds(time_s: f64) -> String {
    let time_ms = 1e3 * time_s;
    let parts = if time_ms < 10.0 { 10.0 } else { 1.0 };
    format!("{} ms", rounded(time_ms, parts))
}
