//! Causes in the traffic of stations and flows.

use super::queues::{fair_shared_queue, gateway, mac80211};
use super::{Cause, Remedy, remedy};
use crate::edits::{Setting, category_settings, rate, set};
use crate::facts::{Facts, Flow, Kind, percent};
use crate::index::{Groups, distinct};

/// Rate above which datagrams may reduce the goodput of other flows. [bit/s]
const MIN_UNRESPONSIVE_BPS: f64 = 500_000.0;

pub fn not_prioritised(facts: &Facts<'_>) -> Option<Cause> {
    let is_small = |flow: &Flow<'_>| match flow.kind {
        Kind::Paced(rate_bps) => rate_bps <= 3e6,
        Kind::Sensor => true,
        _ => false,
    };
    let flows = facts.flows_that(|flow| {
        let has_default = matches!(flow.category, "best-effort" | "background");
        flow.station.is_some() && is_small(flow) && has_default
    });
    let edits = category_settings(facts, &flows, "voice");
    if edits.is_empty() {
        return None;
    }
    let stations = flows.iter().filter_map(|flow| flow.station);
    let subject = distinct(stations.map(|station| facts.group(station))).join(", ");
    let sentence = format!("Packets of {subject} have no priority in the Wi-Fi.");
    let voice = format!("category voice for {subject}");
    let video = format!("category video for {subject}");
    let video = Remedy::new(video, category_settings(facts, &flows, "video"));
    let cause = Cause::new(subject, sentence, facts.by_air(0.7, 0.1), edits);
    Some(cause.remedied_by(voice).with([video]))
}

/// Returns an item for each traffic key of a station that has TCP connections: station, station table,
/// traffic key and number of these connections.
fn connections<'a>(facts: &Facts<'a>) -> Vec<(&'a str, &'a str, String, usize)> {
    let mut counts: Groups<(&str, String), (&str, &str, String, usize)> = Groups::new();
    for flow in facts.tcp_flows() {
        let Some(station) = flow.station else {
            continue;
        };
        let key = flow.traffic_key();
        let new = || (station, facts.group(station), key.clone(), 0);
        counts.group((station, key.clone()), new).3 += 1;
    }
    counts.into_values()
}

pub fn many_connections(facts: &Facts<'_>) -> Vec<Cause> {
    let mut stations: Vec<&str> = facts.flows().filter_map(|flow| flow.station).collect();
    stations.dedup();
    let fair = fair_shared_queue(facts);
    let mut causes: Groups<&str, Cause> = Groups::new();
    for (_, group, key, count) in connections(facts) {
        if stations.len() <= 1 || count < 2 {
            continue;
        }
        let cause = causes.group(group, || {
            let shares = "{ limit = 100, vbs = { by = \"station\", algorithm = \"regulated\" } }";
            let queue = match facts.aggregates() {
                true => mac80211(),
                false => remedy("equal shares of the buffer", "cell.ap_queue", shares)
                    .at("at the access point"),
            };
            let sentence = format!("{group} has {count} connections in one direction.");
            let weight = 0.3 + 0.5 * (1.0 - 1.0 / count as f64);
            let cause = Cause::new(group, sentence, weight, Vec::new());
            cause.with(gateway(facts)).with([queue]).with(fair.clone())
        });
        let setting = set(format!("station.{group}.{key}.connections"), 1);
        if !cause.edits.contains(&setting) {
            cause.edits.push(setting);
        }
    }
    causes.into_values()
}

pub fn unresponsive(facts: &Facts<'_>) -> Vec<Cause> {
    let mut causes: Groups<Vec<Setting>, Cause> = Groups::new();
    for flow in facts.flows() {
        let loss = flow.mean("loss_probability").unwrap_or(0.0);
        let share = flow.mean("goodput_share").unwrap_or(0.0);
        let has_effect = loss >= 0.01 || share >= 0.3;
        let slower = match flow.kind {
            Kind::Greedy => "1 Mbps".into(),
            Kind::Paced(bps) if bps > MIN_UNRESPONSIVE_BPS && has_effect => rate(bps / 10.0),
            _ => continue,
        };
        let class = flow.class;
        let traffic = flow.traffic_key();
        let key = match flow.station {
            Some(station) if traffic.starts_with("udp") => {
                format!("station.{}.{traffic}.rate", facts.group(station))
            }
            None if !flow.name.contains("/audio-") && !flow.name.contains("/video-") => {
                format!("flow.{class}.udp.rate")
            }
            _ => continue,
        };
        let edits = vec![set(key, slower.as_str())];
        causes.group(edits.clone(), || {
            let (share, loss) = (percent(share), percent(loss));
            let sentence = format!(
                "{class} sends datagrams without congestion control: {share} of the goodput, and \
                 {loss} are lost."
            );
            let cause = Cause::new(class, sentence, 0.75, edits);
            let limited = format!("{class} limited to {slower}");
            cause.remedied_by(limited).with(gateway(facts))
        });
    }
    causes.into_values()
}
