//! Verdicts on calls: stations and hosts with paced datagrams in both directions.

use serde_json::{Value, json};

use crate::delays::waits;
use crate::facts::{Facts, Flow, Kind, ci95, mean};

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
    let mut directions: Vec<Direction<'f, 'a>> = Vec::new();
    for flow in &facts.flows {
        let Some((owner, direction)) = call_and_direction(flow) else {
            continue;
        };
        let known = directions
            .iter_mut()
            .find(|each| each.name == owner && each.direction == direction);
        match known {
            Some(each) => each.flows.push(flow),
            None => directions.push(Direction {
                name: owner,
                direction,
                flows: vec![flow],
            }),
        }
    }
    let names: Vec<&str> = directions.iter().map(|each| each.name).collect();
    directions.retain(|each| names.iter().filter(|name| **name == each.name).count() == 2);
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
    directions(facts)
        .iter()
        .filter_map(|each| call(facts, each))
        .collect()
}

fn call(facts: &Facts<'_>, call: &Direction<'_, '_>) -> Option<Value> {
    let worst = |quantity: &str| {
        let measured = call.flows.iter().filter_map(|flow| {
            let value = mean(flow.answer, quantity)?;
            Some((value, ci95(flow.answer, quantity)))
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
    if let Some((queue, share)) = longest_wait(facts, &flows) {
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
fn longest_wait<'a>(facts: &Facts<'a>, flows: &[&str]) -> Option<(&'a str, f64)> {
    let (mut longest, mut longest_s, mut total_s) = ("", 0.0, 0.0);
    for (flow, queue, wait_s) in waits(facts) {
        if !flows.contains(&flow) {
            continue;
        }
        total_s += wait_s;
        if wait_s > longest_s {
            (longest, longest_s) = (queue, wait_s);
        }
    }
    let mut sum_s = 0.0;
    for (flow, queue, wait_s) in waits(facts) {
        if queue == longest && flows.contains(&flow) {
            sum_s += wait_s;
        }
    }
    (total_s > 0.0).then(|| (longest, sum_s / total_s))
}
