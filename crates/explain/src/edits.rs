//! Settings that edits and remedies change, in the format of `--set KEY=VALUE`.

use serde_json::Value;

use crate::facts::{Facts, Flow};
use crate::index::distinct;
use crate::scenario::Tcp;

/// Key path and value of one setting, as in `--set KEY=VALUE`.
pub type Setting = (String, String);

/// Returns the setting `key` = `value`.
pub fn set(key: impl Into<String>, value: impl ToString) -> Setting {
    (key.into(), value.to_string())
}

/// Returns a rate [bit/s] as text with a unit.
pub fn rate(rate_bps: f64) -> String {
    format!("{} Mbps", rate_bps / 1e6)
}

/// Returns a time [s] as text with a unit.
pub fn time(time_s: f64) -> String {
    format!("{} ms", (time_s * 1e6).round() / 1e3)
}

/// Table with which the scenario describes its wired network.
#[derive(Clone, Copy, PartialEq)]
pub enum Topology {
    /// Table `dumbbell`.
    Dumbbell,
    /// Table `parking_lot`.
    ParkingLot,
    /// Tables `link`, one per link. Also the value without a wired network.
    Links,
}

/// Returns the scenario key of the queue that results call `queue`, or `None` if the queue has no
/// settings.
pub fn queue_key(facts: &Facts<'_>, queue: &str) -> Option<String> {
    if queue.starts_with("wire/") {
        let has_own = queue == "wire/up" && !facts.scenario.wire["back_queue"].is_null();
        let key = if has_own {
            "wire.back_queue"
        } else {
            "wire.queue"
        };
        return Some(key.into());
    }
    if let Some(key) = link_key(facts, queue, "queue") {
        return Some(key);
    }
    let node = queue.split('/').next()?;
    if node == "ap" {
        return facts.cell().map(|_| "cell.ap_queue".into());
    }
    let group = facts.group(node);
    (!group.is_empty()).then(|| format!("station.{group}.queue"))
}

/// Returns the location of a queue as a phrase, such as "at the access point".
pub fn queue_place(facts: &Facts<'_>, key: &str, queue: &str) -> String {
    match key {
        "wire.queue" if facts.scenario.wire["back_queue"].is_null() => {
            "at both ends of the line".into()
        }
        "wire.queue" => "at the line towards the access point".into(),
        "wire.back_queue" => "at the line towards the servers".into(),
        "cell.ap_queue" => "at the access point".into(),
        _ => match key.strip_prefix("station.") {
            Some(rest) => format!("at {}", rest.trim_end_matches(".queue")),
            None => format!("at {queue}"),
        },
    }
}

/// Returns the scenario key of a property of a wired link. The property is `rate`, `queue`, `delay`
/// or `loss`.
///
/// Properties that can differ between the two directions of a link have one key per direction.
pub fn link_key(facts: &Facts<'_>, link: &str, property: &str) -> Option<String> {
    facts.link(link)?;
    let (name, is_back) = match link.strip_suffix("/back") {
        Some(name) => (name, true),
        None => (link, false),
    };
    match (facts.topology, property) {
        (Topology::Links, "rate" | "queue") if is_back => {
            Some(format!("link.{name}.back_{property}"))
        }
        (Topology::Links, _) => Some(format!("link.{name}.{property}")),
        (_, "queue") => Some("queue".into()),
        (Topology::Dumbbell, "rate") => Some("dumbbell.bottleneck".into()),
        (Topology::ParkingLot, "rate") => Some("parking_lot.bottleneck".into()),
        (Topology::Dumbbell, _) => Some(format!("dumbbell.{property}")),
        (Topology::ParkingLot, _) => Some(format!("parking_lot.{property}")),
    }
}

/// Returns the rate of a wired link, or `None` if the rate is unlimited or follows a trace. [bit/s]
pub fn link_rate_bps(facts: &Facts<'_>, link: &str) -> Option<f64> {
    let wire = &facts.scenario.wire;
    match link {
        "wire/down" => wire["rate_bps"].as_f64(),
        "wire/up" => match &wire["back_rate_bps"] {
            Value::Null => wire["rate_bps"].as_f64(),
            back => back.as_f64(),
        },
        "vsb" => facts.scenario.vsb["rate_bps"].as_f64(),
        _ => facts.link(link)?.rate_bps.as_f64(),
    }
}

/// Returns the settings that multiply the rate of one direction of a wired link by `factor`.
pub fn faster(facts: &Facts<'_>, link: &str, factor: f64) -> Option<Vec<Setting>> {
    let new = rate(factor * link_rate_bps(facts, link)?);
    let settings = match link {
        "vsb" => vec![set("vsb.rate", new)],
        "wire/up" => vec![set("wire.back_rate", new)],
        "wire/down" => {
            let mut settings = vec![set("wire.rate", new)];
            if facts.scenario.wire["back_rate_bps"].is_null() {
                let back = link_rate_bps(facts, "wire/up")?;
                settings.push(set("wire.back_rate", rate(back)));
            }
            settings
        }
        _ => {
            let mut settings = vec![set(link_key(facts, link, "rate")?, new)];
            let back = format!("{link}/back");
            if facts.topology == Topology::Links && !link.ends_with("/back") {
                let key = link_key(facts, &back, "rate")?;
                settings.push(set(key, rate(link_rate_bps(facts, &back)?)));
            }
            settings
        }
    };
    Some(settings)
}

/// Returns the settings that change a key of the table `tcp` for these TCP flows.
///
/// If `flows` are all TCP flows and have equal values of the key, the result is one setting of the
/// table `tcp`. Otherwise each table that defines such a flow gets a setting.
pub fn tcp_settings(
    facts: &Facts<'_>,
    flows: &[&Flow<'_>],
    key: &str,
    value: &str,
) -> Vec<Setting> {
    let all = facts.tcp_flows();
    let mut values = all.iter().map(|flow| tcp_value(flow.tcp, key));
    let first = values.next();
    let is_equal = values.all(|value| Some(value) == first);
    if is_equal && all.len() == flows.len() {
        return vec![set(format!("tcp.{key}"), value)];
    }
    distinct(flows.iter().map(|flow| {
        let table = match flow.station {
            Some(station) => format!("station.{}.{}", facts.group(station), flow.traffic_key()),
            None if is_implicit(facts, flow.class) => "tcp".into(),
            None => format!("flow.{}", flow.class),
        };
        set(format!("{table}.{key}"), value)
    }))
}

/// Returns the value of a key of the table `tcp`.
fn tcp_value(tcp: Option<&Tcp<'_>>, key: &str) -> Value {
    let Some(tcp) = tcp else {
        return Value::Null;
    };
    match key {
        "congestion" => (*tcp.congestion).into(),
        "sack" => tcp.sack.clone(),
        "window" => tcp.window_packets.clone(),
        "initial_window" => tcp.initial_cwnd_packets.clone(),
        "mss" => tcp.mss_bytes.clone(),
        _ => unreachable!("no rule changes this key: {key}"),
    }
}

/// Returns whether a class of flows is defined by the table of a topology and has no table of its
/// own.
pub fn is_implicit(facts: &Facts<'_>, class: &str) -> bool {
    match facts.topology {
        Topology::Dumbbell => class == "flow",
        Topology::ParkingLot => class == "through" || class.starts_with("cross-"),
        Topology::Links => false,
    }
}

/// Returns the settings that assign the traffic of these flows to an access category.
pub fn category_settings(facts: &Facts<'_>, flows: &[&Flow<'_>], category: &str) -> Vec<Setting> {
    distinct(flows.iter().filter_map(|flow| {
        let group = facts.group(flow.station?);
        let mut traffic = flow.traffic_key();
        if traffic.starts_with("audio_") || traffic.starts_with("video_") {
            traffic = "call".into();
        }
        Some(set(format!("station.{group}.{traffic}.category"), category))
    }))
}
