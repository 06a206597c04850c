//! Verdicts on calls: stations and hosts with paced datagrams in both directions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::delays::Waits;
use crate::facts::{Facts, Flow, Kind};
use crate::index::Groups;

/// Maximum 99th percentile of the one-way delay of a good call. ITU-T G.114 recommends this limit
/// for the delay from mouth to ear. [s]
pub const CALL_DELAY_P99_S: f64 = 0.15;

/// Maximum fraction of a good call's datagrams that are lost. [-]
pub const CALL_LOSS: f64 = 0.01;

/// One direction of the call of a station or host.
pub struct Direction<'f, 'a> {
    /// Name of the station or host.
    pub name: &'a str,
    /// `up` or `down`.
    pub direction: &'static str,
    /// Flows of audio and video in this direction.
    pub flows: Vec<&'f Flow<'a>>,
}

/// Returns the directions of all calls, in the order of the scenario file.
pub fn directions<'f, 'a>(facts: &'f Facts<'a>) -> Vec<Direction<'f, 'a>> {
    let mut directions: Groups<(&str, &str), Direction<'f, 'a>> = Groups::new();
    for flow in facts.flows() {
        let Some((owner, direction)) = call_and_direction(flow) else {
            continue;
        };
        let new = || Direction {
            name: owner,
            direction,
            flows: Vec::new(),
        };
        let group = directions.group((owner, direction), new);
        group.flows.push(flow);
    }
    let mut directions = directions.into_values();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for each in &directions {
        *counts.entry(each.name).or_default() += 1;
    }
    directions.retain(|each| counts[each.name] == 2);
    directions
}

/// Returns the station or host and the direction of a flow that may belong to a call.
fn call_and_direction<'a>(flow: &Flow<'a>) -> Option<(&'a str, &'static str)> {
    if !matches!(flow.kind, Kind::Paced(_)) {
        return None;
    }
    let mut parts = flow.name.rsplitn(3, '/').skip(1);
    let direction = match parts.next()? {
        "udp-up" | "audio-up" | "video-up" => "up",
        "udp-down" | "audio-down" | "video-down" => "down",
        _ => return None,
    };
    Some((parts.next()?, direction))
}

/// Returns the calls of the result, with one item per direction of a call.
pub fn calls(facts: &Facts<'_>) -> Vec<Value> {
    let waits = Waits::read(facts);
    directions(facts)
        .iter()
        .filter_map(|each| call(&waits, each))
        .collect()
}

fn call(waits: &Waits<'_>, call: &Direction<'_, '_>) -> Option<Value> {
    let worst = |quantity: &str| {
        let measured = call.flows.iter().filter_map(|flow| {
            let item = flow.answer?;
            Some((item.mean(quantity)?, item.ci95(quantity)))
        });
        measured.max_by(|(a, _), (b, _)| a.total_cmp(b))
    };
    let delay = worst("one_way_delay_p99_s");
    let loss = worst("loss_probability");
    if delay.is_none() && loss.is_none() {
        return None;
    }
    let flows: Vec<&str> = call.flows.iter().map(|flow| flow.name).collect();
    let mut item = json!({
        "name": call.name,
        "direction": call.direction,
        "flows": flows,
        "delay_p99_s": estimate(delay),
        "loss": estimate(loss),
        "verdict": verdict(delay, loss),
    });
    if let Some((queue, share)) = longest_wait(waits, &flows) {
        item["waits_at"] = queue.into();
        item["wait_share"] = share.into();
    }
    Some(item)
}

fn estimate(value: Option<(f64, f64)>) -> Value {
    value.map_or(
        Value::Null,
        |(mean, ci95)| json!({ "mean": mean, "ci95": ci95 }),
    )
}

/// Returns the verdict on one direction of a call. Delay and loss are pairs of a mean and the half
/// width of its 95 % interval.
fn verdict(delay: Option<(f64, f64)>, loss: Option<(f64, f64)>) -> &'static str {
    let bounds = [(delay, CALL_DELAY_P99_S), (loss, CALL_LOSS)];
    let above = |(value, most): (Option<(f64, f64)>, f64)| {
        value.is_some_and(|(mean, ci95)| mean - ci95 > most)
    };
    let below = |(value, most): (Option<(f64, f64)>, f64)| {
        value.is_some_and(|(mean, ci95)| mean + ci95 <= most)
    };
    // if no datagram arrives, `delay` is `None`, and the loss of 1 is above its limit
    if bounds.into_iter().any(above) {
        "bad"
    } else if bounds.into_iter().all(below) {
        "good"
    } else {
        "uncertain"
    }
}

/// Returns the queue in which the packets of these flows wait longest, and the wait in this queue
/// as a fraction of the wait in all queues.
fn longest_wait<'a>(waits: &Waits<'a>, flows: &[&str]) -> Option<(&'a str, f64)> {
    let of_call = waits.of_flows(flows);
    let (mut longest, mut longest_s, mut total_s) = ("", 0.0, 0.0);
    for (queue, wait_s) in &of_call {
        total_s += wait_s;
        if *wait_s > longest_s {
            (longest, longest_s) = (*queue, *wait_s);
        }
    }
    let in_longest = of_call.iter().filter(|(queue, _)| *queue == longest);
    let sum_s = in_longest.fold(0.0, |sum_s, (_, wait_s)| sum_s + wait_s);
    (total_s > 0.0).then(|| (longest, sum_s / total_s))
}
