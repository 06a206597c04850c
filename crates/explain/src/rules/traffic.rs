//! Causes in the traffic of stations and flows.

use super::queues::{gateway, mac80211};
use super::{CALLS, Cause, DELAY, FAIRNESS, Remedy, Rule, THROUGHPUT, remedy};
use crate::edits::{Setting, category_settings, rate, set};
use crate::facts::{Facts, Flow, Kind, mean, percent};

/// Rate above which datagrams may take goodput from other flows. [bit/s]
const MIN_UNRESPONSIVE_BPS: f64 = 500_000.0;

pub const NOT_PRIORITISED: Rule = Rule {
    id: "not-prioritised",
    title: "call or sensor without priority in the Wi-Fi",
    objectives: &[CALLS, DELAY],
    find: not_prioritised,
};

pub const MANY_CONNECTIONS: Rule = Rule {
    id: "many-connections",
    title: "station with many connections",
    objectives: &[FAIRNESS, DELAY, CALLS],
    find: many_connections,
};

pub const UNRESPONSIVE: Rule = Rule {
    id: "unresponsive",
    title: "datagrams that do not slow down",
    objectives: &[FAIRNESS, THROUGHPUT, DELAY, CALLS],
    find: unresponsive,
};

fn not_prioritised(facts: &Facts<'_>) -> Vec<Cause> {
    let is_small = |flow: &Flow<'_>| match flow.kind {
        Kind::Paced(rate_bps) => rate_bps <= 3e6,
        Kind::Sensor => true,
        _ => false,
    };
    let flows: Vec<&Flow<'_>> = facts
        .flows
        .iter()
        .filter(|flow| flow.station.is_some() && is_small(flow))
        .filter(|flow| matches!(flow.category, "best-effort" | "background"))
        .collect();
    let edits = category_settings(facts, &flows, "voice");
    if edits.is_empty() {
        return Vec::new();
    }
    let mut groups: Vec<&str> = Vec::new();
    for station in flows.iter().filter_map(|flow| flow.station) {
        let group = facts.group(station);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let subject = groups.join(", ");
    vec![Cause {
        sentence: format!("Packets of {subject} have no priority in the Wi-Fi."),
        weight: if facts.air_is_full() { 0.7 } else { 0.1 },
        remedies: vec![
            Remedy::new(format!("category voice for {subject}"), edits.clone()),
            Remedy::new(
                format!("category video for {subject}"),
                category_settings(facts, &flows, "video"),
            ),
        ],
        edits,
        subject,
    }]
}

/// Number of TCP connections of a station in a direction, by its table and key.
fn connections<'a>(facts: &Facts<'a>) -> Vec<(&'a str, &'a str, String, usize)> {
    let mut found: Vec<(&str, &str, String, usize)> = Vec::new();
    for flow in facts.flows.iter().filter(|flow| flow.is_tcp()) {
        let Some(station) = flow.station else {
            continue;
        };
        let key = flow.traffic_key();
        match found
            .iter_mut()
            .find(|(name, _, known, _)| *name == station && *known == key)
        {
            Some(item) => item.3 += 1,
            None => found.push((station, facts.group(station), key, 1)),
        }
    }
    found
}

fn many_connections(facts: &Facts<'_>) -> Vec<Cause> {
    let connections = connections(facts);
    let fewest = connections.iter().map(|(.., count)| *count).min();
    let mut stations: Vec<&str> = facts.flows.iter().filter_map(|flow| flow.station).collect();
    stations.dedup();
    let fewest = match stations.len() > 1 {
        true => fewest.unwrap_or(1).min(1),
        false => return Vec::new(),
    };
    let mut found: Vec<Cause> = Vec::new();
    for (_, group, key, count) in &connections {
        if *count <= fewest || *count < 2 {
            continue;
        }
        let setting: Setting = set(format!("station.{group}.{key}.connections"), 1);
        if let Some(cause) = found.iter_mut().find(|cause| cause.subject == *group) {
            if !cause.edits.contains(&setting) {
                cause.edits.push(setting);
            }
            continue;
        }
        let mut remedies: Vec<Remedy> = gateway(facts).into_iter().collect();
        match facts
            .cell()
            .is_some_and(|cell| !cell["ap"]["aggregation"].is_null())
        {
            true => remedies.push(mac80211()),
            false => remedies.push(
                remedy(
                    "equal shares of the buffer",
                    "cell.ap_queue",
                    "{ limit = 100, vbs = { by = \"station\", algorithm = \"regulated\" } }",
                )
                .at("at the access point"),
            ),
        }
        found.push(Cause {
            subject: (*group).into(),
            sentence: format!("{group} has {count} connections in one direction."),
            weight: 0.3 + 0.5 * (1.0 - 1.0 / *count as f64),
            edits: vec![setting],
            remedies,
        });
    }
    found
}

fn unresponsive(facts: &Facts<'_>) -> Vec<Cause> {
    let mut found: Vec<Cause> = Vec::new();
    for flow in &facts.flows {
        let loss = mean(flow.answer, "loss_probability").unwrap_or(0.0);
        let share = mean(flow.answer, "goodput_share").unwrap_or(0.0);
        let slower = match flow.kind {
            Kind::Greedy => "1 Mbps".into(),
            Kind::Paced(rate_bps)
                if rate_bps > MIN_UNRESPONSIVE_BPS && (loss >= 0.01 || share >= 0.3) =>
            {
                rate(rate_bps / 10.0)
            }
            _ => continue,
        };
        let traffic = flow.traffic_key();
        let key = match flow.station {
            Some(station) if traffic.starts_with("udp") => {
                format!("station.{}.{traffic}.rate", facts.group(station))
            }
            None if !flow.name.contains("/audio-") && !flow.name.contains("/video-") => {
                format!("flow.{}.udp.rate", flow.class)
            }
            _ => continue,
        };
        let edits = vec![set(key, slower.as_str())];
        if found.iter().any(|cause| cause.edits == edits) {
            continue;
        }
        let mut remedies = vec![Remedy::new(
            format!("{} limited to {slower}", flow.class),
            edits.clone(),
        )];
        remedies.extend(gateway(facts));
        found.push(Cause {
            subject: flow.class.into(),
            sentence: format!(
                "{} sends datagrams without congestion control: {} of the goodput, and {} \
                 are lost.",
                flow.class,
                percent(share),
                percent(loss)
            ),
            weight: 0.75,
            edits,
            remedies,
        });
    }
    found
}
