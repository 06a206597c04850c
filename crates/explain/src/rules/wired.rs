//! Causes in the wired network.

use std::collections::BTreeSet;

use super::queues::{fair_shared_queue, milliseconds};
use super::{Cause, Remedy};
use crate::edits::{
    Setting, Topology, faster, is_implicit, link_key, link_rate_bps, rate, set, time,
};
use crate::facts::{Facts, percent, rounded};
use crate::index::{Groups, set_of};
use crate::scenario::FlowTable;

/// Utilisation above which a line may be a bottleneck. [-]
const USED: f64 = 0.3;

/// Utilisation above which a line may be a bottleneck of pages, chunks, and flows with an end, which
/// use the whole line while they run. [-]
const USED_AT_TIMES: f64 = 0.02;

/// Smallest weight of a line that carries such flows. [-]
const WEIGHT_AT_TIMES: f64 = 0.3;

/// One-way propagation time above which a path may be too long. [s]
const LONG_S: f64 = 0.005;

pub fn slow_lines(facts: &Facts<'_>) -> Vec<Cause> {
    let mut causes: Groups<Vec<Setting>, Cause> = Groups::new();
    let bursts = facts.flows().filter(|flow| flow.kind.is_in_bursts());
    let bursts: BTreeSet<&str> = bursts.flat_map(|flow| flow.path.iter().copied()).collect();
    for item in &facts.answer.links {
        let link = &*item.name;
        let is_in_bursts = bursts.contains(link);
        let least = if is_in_bursts { USED_AT_TIMES } else { USED };
        let used = item.mean("utilisation").filter(|used| *used >= least);
        let (Some(used), Some(edits), Some(rate_bps)) =
            (used, faster(facts, link, 2.0), link_rate_bps(facts, link))
        else {
            continue;
        };
        causes.group(edits.clone(), || {
            let (line, part) = (rate(rate_bps), percent(used));
            let sentence = format!("{link} ({line}) is {part} used. No setting adds capacity.");
            let label = format!("{link} with {}", rate(2.0 * rate_bps));
            let faster = Remedy::not_a_setting(label, edits.clone());
            let least_weight = if is_in_bursts { WEIGHT_AT_TIMES } else { 0.0 };
            let weight = (used - 0.1).clamp(least_weight, 1.0);
            Cause::new(link, sentence, weight, edits).with([faster])
        });
    }
    causes.into_values()
}

pub fn long_paths(facts: &Facts<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut add = |subject: &str, key: String, one_way_s: f64, new: String| {
        let time = milliseconds(one_way_s);
        let sentence = format!("The propagation time of {subject} is {time} one way.");
        let weight = one_way_s / (one_way_s + 0.5);
        causes.push(Cause::new(subject, sentence, weight, vec![set(key, new)]));
    };
    let wire_s = facts.scenario.wire["delay_s"].as_f64().unwrap_or(0.0);
    if facts.cell().is_some() && wire_s >= LONG_S {
        add("wire", "wire.delay".into(), wire_s, time(wire_s / 2.0));
    }
    for link in &facts.scenario.links {
        let delay_s = link.delay_s.as_f64().unwrap_or(0.0);
        let name = &*link.name;
        if link.of_host == true || name.ends_with("/back") || delay_s < LONG_S {
            continue;
        }
        if let Some(key) = link_key(facts, name, "delay") {
            add(name, key, delay_s, time(delay_s / 2.0));
        }
    }
    let with_host_delay = classes_with_host_delay(facts);
    for (class, one_way_s) in classes(facts) {
        let key = match facts.topology {
            Topology::Dumbbell if is_implicit(facts, class) => "dumbbell.rtt".into(),
            Topology::ParkingLot if is_implicit(facts, class) => "parking_lot.rtt".into(),
            Topology::Links if !with_host_delay.contains(class) => continue,
            _ => format!("flow.{class}.rtt"),
        };
        if one_way_s >= LONG_S {
            add(class, key, one_way_s, time(one_way_s));
        }
    }
    causes
}

/// Returns the classes of flows of which a host is connected by a link with a propagation time.
fn classes_with_host_delay<'a>(facts: &Facts<'a>) -> BTreeSet<&'a str> {
    let has_host_delay = |flow: &&FlowTable<'_>| {
        let mut links = flow.forward.iter().filter_map(|name| facts.link(name));
        links.any(|link| link.of_host == true && link.delay_s.as_f64() > Some(0.0))
    };
    let flows = facts.scenario.flows.iter().filter(has_host_delay);
    set_of(flows.map(|flow| &*flow.class))
}

/// Returns the classes of TCP flows between wired nodes, each with its mean one-way propagation
/// time. [s]
fn classes<'a>(facts: &Facts<'a>) -> Vec<(&'a str, f64)> {
    let mut classes: Groups<&str, (&str, f64, f64)> = Groups::new();
    for flow in facts.flows().filter(|flow| flow.station.is_none()) {
        let (_, sum, count) = classes.group(flow.class, || (flow.class, 0.0, 0.0));
        *sum += flow.propagation_s;
        *count += 1.0;
    }
    let means = classes.into_values().into_iter();
    means
        .map(|(class, sum, count)| (class, sum / count))
        .collect()
}

pub fn link_losses(facts: &Facts<'_>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut add = |subject: &str, loss: &serde_json::Value, key: String| {
        let periodic = || Some(1.0 / loss["every"].as_f64()?);
        let is_random = loss.is_number();
        let part = loss.as_f64().or_else(periodic).unwrap_or(0.0);
        if loss.is_null() || is_random && part <= 0.0 {
            return;
        }
        let lost = rounded(100.0 * part, 100.0);
        let sentence = format!("{subject} loses {lost} % of the packets.");
        let edits = vec![set(key, 0)];
        let lossless = Remedy::not_a_setting("a line without losses", edits.clone());
        let cubic = Remedy::new("CUBIC with SACK", facts.cubic().to_vec());
        let weight = (0.3 + 20.0 * part).min(0.95);
        causes.push(Cause::new(subject, sentence, weight, edits).with([lossless, cubic]));
    };
    add("wire", &facts.scenario.wire["loss"], "wire.loss".into());
    for link in &facts.scenario.links {
        let name = &*link.name;
        let key = link_key(facts, name, "loss").filter(|_| !name.ends_with("/back"));
        if let Some(key) = key {
            add(name, &link.loss, key);
        }
    }
    causes
}

pub fn unequal_rtts(facts: &Facts<'_>) -> Vec<Cause> {
    let tcp_flows = facts.flows().filter(|flow| flow.is_tcp());
    let with_tcp = set_of(tcp_flows.map(|flow| flow.class));
    let mut classes = classes(facts);
    classes.retain(|(class, _)| with_tcp.contains(class));
    let times_s = classes.iter().map(|(_, time_s)| *time_s);
    let nearest_s = times_s.reduce(f64::min).unwrap_or(f64::INFINITY);
    classes.retain(|(class, time_s)| {
        *time_s > 0.001 && *time_s >= 1.5 * nearest_s && !is_implicit(facts, class)
    });
    let fair = fair_shared_queue(facts);
    let causes = classes.into_iter().map(|(class, time_s)| {
        let [own, least] = [time_s, nearest_s].map(|one_way_s| milliseconds(2.0 * one_way_s));
        let sentence = format!("The round trip of {class} takes {own}, the shortest {least}.");
        let edits = vec![set(format!("flow.{class}.rtt"), time(2.0 * nearest_s))];
        Cause::new(class, sentence, 0.5, edits).with(fair.clone())
    });
    causes.collect()
}
