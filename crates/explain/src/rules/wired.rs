//! Causes in the wired network.

use super::queues::milliseconds;
use super::{CALLS, Cause, DELAY, FAIRNESS, Remedy, Rule, THROUGHPUT};
use crate::edits::{
    Topology, faster, is_implicit, link_key, link_rate_bps, rate, set, tcp_settings, time, topology,
};
use crate::facts::{Facts, Flow, list, mean, named, percent, rounded, text};

/// Utilisation from which a line may be too slow. [-]
const USED: f64 = 0.3;

/// One-way propagation time from which a path may be too long. [s]
const LONG_S: f64 = 0.005;

pub const SLOW_LINE: Rule = Rule {
    id: "slow-line",
    title: "line without spare capacity",
    objectives: &[THROUGHPUT, DELAY, CALLS],
    find: slow_lines,
};

pub const LONG_PATH: Rule = Rule {
    id: "long-path",
    title: "long path",
    objectives: &[DELAY, THROUGHPUT],
    find: long_paths,
};

pub const LINK_LOSS: Rule = Rule {
    id: "link-loss",
    title: "losses on a link",
    objectives: &[THROUGHPUT, DELAY, CALLS, FAIRNESS],
    find: link_losses,
};

pub const UNEQUAL_RTT: Rule = Rule {
    id: "unequal-rtt",
    title: "unequal round-trip times",
    objectives: &[FAIRNESS],
    find: unequal_rtts,
};

fn slow_lines(facts: &Facts<'_>) -> Vec<Cause> {
    let mut found: Vec<Cause> = Vec::new();
    for item in list(facts.answer, "links") {
        let link = text(item, "name");
        let Some(utilisation) = mean(item, "utilisation").filter(|value| *value >= USED) else {
            continue;
        };
        let (Some(edits), Some(rate_bps)) = (faster(facts, link, 2.0), link_rate_bps(facts, link))
        else {
            continue;
        };
        if found.iter().any(|cause| cause.edits == edits) {
            continue;
        }
        let label = format!("{link} with {}", rate(2.0 * rate_bps));
        found.push(Cause {
            subject: link.into(),
            sentence: format!(
                "{link} ({}) is {} used. No setting adds capacity.",
                rate(rate_bps),
                percent(utilisation)
            ),
            weight: (utilisation - 0.1).clamp(0.0, 1.0),
            remedies: vec![Remedy::not_a_setting(label, edits.clone())],
            edits,
        });
    }
    found
}

fn long_paths(facts: &Facts<'_>) -> Vec<Cause> {
    let mut found = Vec::new();
    let mut add = |subject: &str, key: String, one_way_s: f64, new: String| {
        found.push(Cause {
            subject: subject.into(),
            sentence: format!(
                "The propagation time of {subject} is {} one way.",
                milliseconds(one_way_s)
            ),
            weight: one_way_s / (one_way_s + 0.5),
            edits: vec![set(key, new)],
            remedies: Vec::new(),
        });
    };
    let wire_s = facts.scenario["wire"]["delay_s"].as_f64().unwrap_or(0.0);
    if facts.cell().is_some() && wire_s >= LONG_S {
        add("wire", "wire.delay".into(), wire_s, time(wire_s / 2.0));
    }
    for link in list(facts.scenario, "links") {
        let delay_s = link["delay_s"].as_f64().unwrap_or(0.0);
        let name = text(link, "name");
        if link["of_host"] == true || name.ends_with("/back") || delay_s < LONG_S {
            continue;
        }
        if let Some(key) = link_key(facts, name, "delay") {
            add(name, key, delay_s, time(delay_s / 2.0));
        }
    }
    for (class, one_way_s) in classes(facts) {
        let key = match topology(facts) {
            Topology::Dumbbell if is_implicit(facts, class) => "dumbbell.rtt".into(),
            Topology::ParkingLot if is_implicit(facts, class) => "parking_lot.rtt".into(),
            Topology::Links if !has_host_delay(facts, class) => continue,
            _ => format!("flow.{class}.rtt"),
        };
        if one_way_s >= LONG_S {
            add(class, key, one_way_s, time(one_way_s));
        }
    }
    found
}

/// Whether the links of a class's own hosts have a propagation time.
fn has_host_delay(facts: &Facts<'_>, class: &str) -> bool {
    let links = list(facts.scenario, "links");
    let flows = list(facts.scenario, "flows");
    let mut path = flows
        .iter()
        .filter(|flow| text(flow, "class") == class)
        .flat_map(|flow| list(flow, "forward"))
        .filter_map(|name| named(links, name.as_str()?));
    path.any(|link| link["of_host"] == true && link["delay_s"].as_f64() > Some(0.0))
}

/// Classes of TCP flows between wired nodes, with their mean one-way propagation time. [s]
fn classes<'a>(facts: &Facts<'a>) -> Vec<(&'a str, f64)> {
    let mut found: Vec<(&str, f64, f64)> = Vec::new();
    for flow in facts.flows.iter().filter(|flow| flow.station.is_none()) {
        match found.iter_mut().find(|(class, ..)| *class == flow.class) {
            Some((_, sum, count)) => {
                *sum += flow.propagation_s;
                *count += 1.0;
            }
            None => found.push((flow.class, flow.propagation_s, 1.0)),
        }
    }
    found
        .into_iter()
        .map(|(class, sum, count)| (class, sum / count))
        .collect()
}

fn link_losses(facts: &Facts<'_>) -> Vec<Cause> {
    let mut found = Vec::new();
    let mut add = |subject: &str, loss: &serde_json::Value, key: String| {
        let is_lossy = match loss.as_f64() {
            Some(probability) => probability > 0.0,
            None => !loss.is_null(),
        };
        if !is_lossy {
            return;
        }
        let part = loss
            .as_f64()
            .or_else(|| Some(1.0 / loss["every"].as_f64()?));
        let part = part.unwrap_or(0.0);
        found.push(Cause {
            subject: subject.into(),
            sentence: format!(
                "{subject} loses {} % of the packets.",
                rounded(100.0 * part, 100.0)
            ),
            weight: (0.3 + 20.0 * part).min(0.95),
            edits: vec![set(key.as_str(), 0)],
            remedies: vec![
                Remedy::not_a_setting("a line without losses", vec![set(key, 0)]),
                Remedy::new("CUBIC with SACK", cubic(facts)),
            ],
        });
    };
    add("wire", &facts.scenario["wire"]["loss"], "wire.loss".into());
    for link in list(facts.scenario, "links") {
        let name = text(link, "name");
        if name.ends_with("/back") {
            continue;
        }
        if let Some(key) = link_key(facts, name, "loss") {
            add(name, &link["loss"], key);
        }
    }
    found
}

/// Returns the settings of CUBIC with SACK for all TCP flows.
pub fn cubic(facts: &Facts<'_>) -> Vec<crate::edits::Setting> {
    let all: Vec<&Flow<'_>> = facts.flows.iter().filter(|flow| flow.is_tcp()).collect();
    let mut settings = tcp_settings(facts, &all, "congestion", "cubic");
    settings.extend(tcp_settings(facts, &all, "sack", "true"));
    settings
}

fn unequal_rtts(facts: &Facts<'_>) -> Vec<Cause> {
    let classes = classes(facts);
    let is_tcp = |class: &str| {
        let mut flows = facts.flows.iter().filter(|flow| flow.class == class);
        flows.any(|flow| flow.is_tcp())
    };
    let classes: Vec<(&str, f64)> = classes
        .into_iter()
        .filter(|(class, _)| is_tcp(class))
        .collect();
    let Some(nearest_s) = classes.iter().map(|(_, time_s)| *time_s).reduce(f64::min) else {
        return Vec::new();
    };
    classes
        .into_iter()
        .filter(|(class, time_s)| {
            *time_s > 0.001 && *time_s >= 1.5 * nearest_s && !is_implicit(facts, class)
        })
        .map(|(class, time_s)| Cause {
            subject: class.into(),
            sentence: format!(
                "The round trip of {class} takes {}, the shortest {}.",
                milliseconds(2.0 * time_s),
                milliseconds(2.0 * nearest_s)
            ),
            weight: 0.5,
            edits: vec![set(format!("flow.{class}.rtt"), time(2.0 * nearest_s))],
            remedies: Vec::new(),
        })
        .collect()
}
