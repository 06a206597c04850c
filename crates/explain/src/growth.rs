//! Tests that the work of an explanation grows in proportion to the size of the scenario.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::{NotJson, explain};

thread_local! {
    static READS: Cell<u64> = const { Cell::new(0) };
}

/// Counts one read of a name, of a quantity or of a flow.
pub fn count() {
    READS.set(READS.get() + 1);
}

/// Returns the number of reads of an explanation, and the number of its causes.
fn reads(scenario: &Value, answer: &Value) -> (u64, usize) {
    let (scenario, answer) = (scenario.to_string(), answer.to_string());
    READS.set(0);
    let explanation = explain(&scenario, &answer, &mut || Ok::<_, NotJson>(())).unwrap();
    (READS.get(), explanation["causes"].as_array().unwrap().len())
}

/// Fails if the number of reads grows by 2.5 or more when the size doubles. Binary searches let it
/// grow by slightly more than 2.
fn assert_linear(network: fn(usize) -> (Value, Value)) {
    let [small, large] = [400, 800].map(|size| {
        let (scenario, answer) = network(size);
        reads(&scenario, &answer).0
    });
    let growth = large as f64 / small as f64;
    assert!(growth < 2.5, "{small} reads, then {large}: {growth:.2}");
}

fn value(mean: f64) -> Value {
    json!({ "mean": mean, "ci95": 0.0 })
}

fn tcp() -> Value {
    json!({ "congestion": "reno", "sack": false, "window_packets": 20, "mss_bytes": 500,
            "initial_cwnd_packets": 2, "segments": 10 })
}

fn link(name: &str, from: &str, to: &str) -> Value {
    json!({ "name": name, "from": from, "to": to, "rate_bps": 1e6, "delay_s": 0.02,
            "loss": { "every": 100 }, "of_host": true, "queue_packets": 50,
            "queue": { "discipline": "drop_tail" } })
}

/// Returns a network of `size` flows, each with a class and with two links of its own, that have
/// losses, delays, queues and high utilisation. All flows cross the link `middle`.
fn wired(size: usize, middle: &Value) -> (Value, Value) {
    let name = middle["name"].as_str().unwrap();
    let mut links = vec![
        middle.clone(),
        link(&format!("{name}/back"), "right", "left"),
    ];
    let (mut flows, mut items) = (vec![], vec![]);
    for n in 0..size {
        let own = format!("flow-{n}/access");
        links.push(link(&own, "host", "left"));
        links.push(link(&format!("{own}/back"), "left", "host"));
        flows.push(json!({
            "name": format!("flow-{n}"), "class": format!("flow-{n}"), "station": null,
            "direction": null, "forward": [own, name], "back": [format!("{name}/back")],
            "category": "best-effort", "tcp": tcp(),
        }));
        items.push(json!({
            "name": format!("flow-{n}"), "goodput_bps": value(1e5), "rtt_s": value(0.1),
            "cwnd_limited_fraction": value(0.9), "rwnd_limited_fraction": value(0.1),
        }));
    }
    let names = links.iter().map(|link| link["name"].clone());
    let measured: Vec<Value> = names
        .map(|name| {
            json!({ "name": name, "utilisation": value(0.8), "occupancy_packets": value(9.0),
                    "drop_probability": value(0.01), "sojourn_s": value(0.1) })
        })
        .collect();
    let scenario = json!({ "links": links, "flows": flows });
    (
        scenario,
        json!({ "flows": items, "links": measured, "queues": measured }),
    )
}

/// Returns a cell of `size` stations with a table each. Every station has a download, a call, and a
/// camera without congestion control.
fn cell(size: usize) -> (Value, Value) {
    let (mut stations, mut flows, mut items) = (vec![], vec![], vec![]);
    let (mut queues, mut waits, mut measured) = (vec![], vec![], vec![]);
    let queue = json!({ "discipline": "drop_tail" });
    for n in 0..size {
        let station = format!("station-{n}");
        stations.push(json!({
            "name": station, "group": station, "rate_bps": 1e6, "downlink_rate_bps": 1e6,
            "snr_db": 10.0, "error_up": 0.1, "power_save_s": 0.1, "cwmin": 15, "cwmax": 1023,
            "queue_packets": 50, "queue": queue,
        }));
        queues.push(json!({ "name": station, "occupancy_packets": value(9.0),
                            "drop_probability": value(0.01), "sojourn_s": value(0.1) }));
        measured.push(json!({ "name": station, "airtime_fraction": value(0.1),
                              "frame_failure_rate": value(0.2), "collision_rate": value(0.1) }));
        let traffic = [
            ("up/1", "up"),
            ("up/2", "up"),
            ("udp-up/1", "up"),
            ("udp-down/1", "down"),
        ];
        for (rest, direction) in traffic {
            let name = format!("{station}/{rest}");
            let mut flow = json!({ "name": name, "class": station, "station": station,
                                   "direction": direction, "category": "best-effort" });
            match rest.starts_with("udp") {
                true => flow["udp"] = json!({ "rate_bps": 1e6 }),
                false => flow["tcp"] = tcp(),
            }
            flows.push(flow);
            waits.push(json!({ "flow": name, "queue": station, "wait_s": value(0.1) }));
            items.push(json!({ "name": name, "one_way_delay_s": value(0.2),
                               "one_way_delay_p99_s": value(0.2), "loss_probability": value(0.1),
                               "cwnd_limited_fraction": value(0.9) }));
        }
    }
    let scenario = json!({
        "cell": { "phy": "802.11g", "ap": { "cwmin": 15, "txop_packets": 1, "queue": queue } },
        "stations": stations,
        "flows": flows,
    });
    let cells = [json!({ "name": "cell", "busy_fraction": value(0.5) })];
    let answer = json!({ "flows": items, "queues": queues, "waits": waits, "stations": measured,
                         "cells": cells });
    (scenario, answer)
}

#[test]
fn the_work_for_a_dumbbell_is_linear_in_its_flows() {
    assert_linear(|size| wired(size, &link("bottleneck", "left", "right")));
}

#[test]
fn the_work_for_explicit_links_is_linear_in_their_number() {
    assert_linear(|size| wired(size, &link("uplink", "left", "right")));
}

#[test]
fn the_work_for_a_cell_is_linear_in_its_stations() {
    assert_linear(cell);
}

#[test]
fn the_networks_of_these_tests_have_causes_for_every_item() {
    let (scenario, answer) = wired(10, &link("uplink", "left", "right"));
    assert!(reads(&scenario, &answer).1 > 30);
    let (scenario, answer) = cell(10);
    assert!(reads(&scenario, &answer).1 > 30);
}
