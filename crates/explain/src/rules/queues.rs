//! Causes in queues.

use super::{CALLS, Cause, DELAY, FAIRNESS, Remedy, Rule, THROUGHPUT, remedy};
use crate::edits::{link_rate_bps, queue_key, queue_place, rate, set};
use crate::facts::{Facts, list, mean, named, rounded, text};
use crate::limits::FULL;

/// Mean queue length from which a queue may be a cause. [packets]
const MIN_PACKETS: f64 = 1.0;

/// Limit up to which a drop-tail queue may be too short. [packets]
const MAX_SHORT_PACKETS: f64 = 250.0;

/// Payload and headers of a full segment. [bit]
const SEGMENT_BITS: f64 = 12_000.0;

pub const LONG_QUEUE: Rule = Rule {
    id: "long-queue",
    title: "standing queue",
    objectives: &[CALLS, DELAY],
    find: |facts| standing_queues(facts, false),
};

pub const AQM_SETTINGS: Rule = Rule {
    id: "aqm-settings",
    title: "queue whose drops do not suit its rate and its flows",
    objectives: &[DELAY, THROUGHPUT, CALLS],
    find: |facts| standing_queues(facts, true),
};

pub const SHORT_BUFFER: Rule = Rule {
    id: "short-buffer",
    title: "buffer that is too short",
    objectives: &[THROUGHPUT, DELAY, FAIRNESS, CALLS],
    find: short_buffers,
};

/// A queue of the result with its settings.
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

/// Returns the queues that have settings. Of the queues with one key, only the queue with the
/// longest wait is returned.
fn configurable_queues<'a>(facts: &Facts<'a>) -> Vec<Queue<'a>> {
    let mut found: Vec<Queue<'a>> = Vec::new();
    for item in list(facts.answer, "queues") {
        let name = text(item, "name");
        let Some(key) = queue_key(facts, name) else {
            continue;
        };
        let table = settings(facts, name);
        let queue = Queue {
            name,
            discipline: text(&table["queue"], "discipline"),
            limit: table["queue_packets"].as_f64().unwrap_or(f64::INFINITY),
            packets: mean(item, "occupancy_packets").unwrap_or(0.0),
            max_packets: mean(item, "occupancy_max_packets").unwrap_or(0.0),
            sojourn_s: mean(item, "sojourn_s").unwrap_or(0.0),
            drops: mean(item, "drop_probability").unwrap_or(0.0),
            key,
        };
        match found.iter_mut().find(|each| each.key == queue.key) {
            Some(each) if each.sojourn_s < queue.sojourn_s => *each = queue,
            Some(_) => {}
            None => found.push(queue),
        }
    }
    found
}

/// Returns the table of the normalised scenario that has a queue's settings.
fn settings<'a>(facts: &Facts<'a>, queue: &str) -> &'a serde_json::Value {
    let scenario = facts.scenario;
    if queue.starts_with("wire/") {
        return &scenario["wire"];
    }
    if let Some(link) = named(list(scenario, "links"), queue) {
        return link;
    }
    let node = queue.split('/').next().unwrap_or("");
    facts.station(node).unwrap_or(&scenario["cell"]["ap"])
}

/// Whether the cell aggregates, so that its queues may be those of mac80211.
fn cell_aggregates(facts: &Facts<'_>) -> bool {
    facts
        .cell()
        .is_some_and(|cell| !cell["ap"]["aggregation"].is_null())
}

fn standing_queues(facts: &Facts<'_>, is_aqm: bool) -> Vec<Cause> {
    configurable_queues(facts)
        .into_iter()
        .filter(|queue| match queue.discipline {
            "fq_codel" | "mac80211" => false,
            "red" | "pi" | "proportional" => is_aqm,
            _ => !is_aqm,
        })
        .filter(|queue| queue.packets >= MIN_PACKETS || queue.max_packets >= 20.0)
        .map(|queue| cause(facts, queue))
        .collect()
}

fn cause(facts: &Facts<'_>, queue: Queue<'_>) -> Cause {
    let wait_s = queue.sojourn_s;
    let sentence = format!(
        "Packets wait {} in {}, which holds {} packets on average.",
        milliseconds(wait_s),
        queue.name,
        rounded(queue.packets.max(1.0), 1.0)
    );
    let key = &queue.key;
    let is_ap = key == "cell.ap_queue";
    let mut remedies = Vec::new();
    if is_ap && cell_aggregates(facts) {
        remedies.push(mac80211());
    }
    remedies.push(remedy(fair_queue(key), key, "{ fq_codel = {} }"));
    remedies.push(remedy("CoDel", key, "{ codel = {} }"));
    if let Some(rate_bps) = link_rate_bps(facts, queue.name) {
        let packets = (0.02 * rate_bps / SEGMENT_BITS).clamp(5.0, 1000.0).round();
        if packets < queue.limit {
            let label = format!("short queue of {packets} packets (20 ms)");
            remedies.push(remedy(&label, key, &format!("{{ limit = {packets} }}")));
        }
    } else if queue.limit > 60.0 {
        let label = "short queue of 50 packets";
        remedies.push(remedy(label, key, "{ limit = 50 }"));
    }
    let place = queue_place(key, queue.name);
    let mut remedies: Vec<Remedy> = remedies.into_iter().map(|each| each.at(&place)).collect();
    if is_ap {
        remedies.extend(gateway(facts));
    }
    Cause {
        subject: queue.name.into(),
        sentence,
        weight: (wait_s / (wait_s + 0.02)).clamp(0.0, 1.0),
        edits: vec![set(
            key.as_str(),
            match is_ap && cell_aggregates(facts) {
                true => "{ mac80211 = {} }",
                false => "{ fq_codel = {} }",
            },
        )],
        remedies,
    }
}

/// Returns the queue of mac80211 at the access point as a remedy, for a cell that aggregates.
pub fn mac80211() -> Remedy {
    let label = "fair queue with equal air time (mac80211)";
    remedy(label, "cell.ap_queue", "{ mac80211 = {} }").at("at the access point")
}

/// Returns the virtual shared bottleneck as a remedy, for a cell without it.
///
/// If the line is full, the rate of the bottleneck is a tenth below that of the line, so that
/// packets wait in the bottleneck. Otherwise the bottleneck estimates the capacity of the cell.
pub fn gateway(facts: &Facts<'_>) -> Option<Remedy> {
    if facts.cell().is_none() || !facts.scenario["vsb"].is_null() {
        return None;
    }
    let label = "gateway with equal shares (virtual shared bottleneck, lasthop gateway)";
    let line = "wire/down";
    let is_full = facts.utilisation(line).is_some_and(|used| used > FULL);
    if let Some(rate_bps) = link_rate_bps(facts, line).filter(|_| is_full) {
        let below = (0.9 * rate_bps / 1e3).floor() * 1e3;
        return Some(Remedy::new(label, vec![set("vsb.rate", rate(below))]));
    }
    if !cell_aggregates(facts) {
        return Some(Remedy::new(label, vec![set("vsb.fairness", "station")]));
    }
    let goodput_bps = mean(facts.cell_answer(), "goodput_bps")?;
    let most = (1.2 * goodput_bps / 1e6).ceil().max(1.0);
    let wce = format!("{{ max = \"{most} Mbps\", threshold = \"10 ms\", high = \"40 ms\" }}");
    let settings = vec![set("vsb.wce", wce), set("vsb.queue", 600)];
    Some(Remedy::new(label, settings))
}

/// Returns the label of FQ-CoDel, with its name in home routers if the queue is at their line.
fn fair_queue(key: &str) -> &'static str {
    match key {
        "wire.queue" => "fair queue (FQ-CoDel; in home routers SQM)",
        _ => "fair queue (FQ-CoDel)",
    }
}

fn short_buffers(facts: &Facts<'_>) -> Vec<Cause> {
    configurable_queues(facts)
        .into_iter()
        .filter(|queue| matches!(queue.discipline, "drop_tail" | "threshold"))
        .filter(|queue| queue.limit <= MAX_SHORT_PACKETS && queue.drops > 0.0)
        .map(|queue| {
            let longer = (4.0 * queue.limit).min(1000.0);
            let place = queue_place(&queue.key, queue.name);
            Cause {
                sentence: format!(
                    "{} has room for {} packets and drops {} %.",
                    queue.name,
                    queue.limit,
                    rounded(100.0 * queue.drops, 10.0)
                ),
                weight: (10.0 * queue.drops).min(0.9),
                edits: vec![set(queue.key.as_str(), "{ limit = 1000 }")],
                remedies: [
                    (
                        format!("buffer of {longer} packets"),
                        format!("{{ limit = {longer} }}"),
                    ),
                    ("buffer of 1000 packets".into(), "{ limit = 1000 }".into()),
                    (fair_queue(&queue.key).into(), "{ fq_codel = {} }".into()),
                ]
                .map(|(label, value)| remedy(&label, queue.key.as_str(), &value).at(&place))
                .into(),
                subject: queue.name.into(),
            }
        })
        .collect()
}

/// Writes a time in milliseconds, with three significant digits at most. [s]
pub fn milliseconds(time_s: f64) -> String {
    let time_ms = 1e3 * time_s;
    match time_ms {
        value if value < 10.0 => format!("{} ms", rounded(value, 10.0)),
        value => format!("{} ms", rounded(value, 1.0)),
    }
}
