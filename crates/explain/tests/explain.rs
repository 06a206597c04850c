//! Tests of explanations with small results written by hand.

use lasthop_explain::{NotJson, rules};
use serde_json::{Value, json};

fn explain(scenario: &Value, answer: &Value) -> Value {
    let (scenario, answer) = (scenario.to_string(), answer.to_string());
    lasthop_explain::explain(&scenario, &answer, &mut || Ok::<_, NotJson>(()))
        .expect("two JSON documents")
}

fn value(mean: f64, ci95: f64) -> Value {
    json!({ "mean": mean, "ci95": ci95 })
}

/// Returns a scenario with a call and an upload in a cell of 802.11ac, whose line has 100 Mb/s down
/// and 20 Mb/s up.
fn scenario() -> Value {
    let queue = json!({ "discipline": "drop_tail" });
    let station = |name: &str, mcs: u32| {
        json!({
            "name": name, "group": name, "rate_bps": 1e8, "downlink_rate_bps": 1e8, "mcs": mcs,
            "error_up": 0.0, "error_down": 0.0, "cwmin": 15, "cwmax": 1023,
            "queue_packets": 1000, "queue": queue,
        })
    };
    let tcp = json!({ "congestion": "cubic", "sack": true, "window_packets": 2000 });
    let call = |direction: &str| {
        json!({
            "name": format!("phone/udp-{direction}/1"), "class": "phone", "station": "phone",
            "direction": direction, "category": "best-effort", "udp": { "rate_bps": 1e5 },
        })
    };
    json!({
        "cell": {
            "phy": "802.11ac", "width": "80 MHz", "band": "5 GHz",
            "ap": { "cwmin": 15, "cwmax": 63, "queue_packets": 1000, "queue": queue,
                    "aggregation": { "mpdus": 64 } },
        },
        "wire": { "rate_bps": 1e8, "back_rate_bps": 2e7, "delay_s": 0.01, "loss": 0.0,
                  "queue_packets": 1000, "queue": queue },
        "vsb": null,
        "stations": [station("laptop", 9), station("phone", 9)],
        "links": [],
        "flows": [
            { "name": "laptop/up/1", "class": "laptop", "station": "laptop", "direction": "up",
              "category": "best-effort", "tcp": tcp },
            call("up"),
            call("down"),
        ],
    })
}

fn answer() -> Value {
    json!({
        "flows": [
            { "name": "laptop/up/1", "goodput_bps": value(1.8e7, 1e5),
              "cwnd_limited_fraction": value(0.9, 0.1), "rwnd_limited_fraction": value(0.1, 0.1),
              "app_limited_fraction": value(0.0, 0.0) },
            { "name": "phone/udp-up/1", "one_way_delay_s": value(0.146, 0.09),
              "one_way_delay_p99_s": value(0.326, 0.066), "loss_probability": value(0.002, 0.001) },
            { "name": "phone/udp-down/1", "one_way_delay_s": value(0.012, 0.001),
              "one_way_delay_p99_s": value(0.014, 0.001), "loss_probability": value(0.0, 0.0) },
        ],
        "stations": [
            { "name": "laptop", "airtime_fraction": value(0.5, 0.0), "goodput_share": value(0.6, 0.0) },
            { "name": "phone", "airtime_fraction": value(0.1, 0.0), "goodput_share": value(0.4, 0.0) },
        ],
        "queues": [
            { "name": "phone", "occupancy_packets": value(0.1, 0.0), "sojourn_s": value(0.004, 0.0) },
            { "name": "wire/down", "occupancy_packets": value(0.1, 0.0), "sojourn_s": value(0.001, 0.0) },
            { "name": "wire/up", "occupancy_packets": value(513.0, 9.0), "sojourn_s": value(0.13, 0.01) },
        ],
        "links": [
            { "name": "wire/down", "utilisation": value(0.01, 0.0) },
            { "name": "wire/up", "utilisation": value(0.96, 0.01) },
        ],
        "cells": [{ "name": "cell", "busy_fraction": value(0.2, 0.0) }],
        "waits": [
            { "name": "phone/udp-up/1 at phone", "flow": "phone/udp-up/1", "queue": "phone",
              "wait_s": value(0.004, 0.0) },
            { "name": "phone/udp-up/1 at wire/up", "flow": "phone/udp-up/1", "queue": "wire/up",
              "wait_s": value(0.132, 0.01) },
        ],
    })
}

#[test]
fn a_call_has_a_verdict_in_each_direction_and_the_queue_in_which_it_waits() {
    let explanation = explain(&scenario(), &answer());
    let calls = explanation["calls"].as_array().unwrap();
    let verdicts: Vec<_> = calls
        .iter()
        .map(|call| {
            (
                call["direction"].as_str().unwrap(),
                call["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(verdicts, [("up", "bad"), ("down", "good")]);
    assert_eq!(calls[0]["delay_p99_s"], value(0.326, 0.066));
    assert_eq!(calls[0]["waits_at"], "wire/up");
    let share = calls[0]["wait_share"].as_f64().unwrap();
    assert!((share - 0.132 / 0.136).abs() < 1e-9, "{share}");
    assert_eq!(calls[1].get("waits_at"), None);
}

#[test]
fn the_share_of_a_queue_is_that_of_all_packets_of_the_call() {
    let mut answer = answer();
    let mut flow = answer["flows"][1].clone();
    flow["name"] = json!("phone/video-up/1");
    answer["flows"].as_array_mut().unwrap().push(flow);
    for at in [0, 1] {
        let mut wait = answer["waits"][at].clone();
        wait["flow"] = json!("phone/video-up/1");
        answer["waits"].as_array_mut().unwrap().push(wait);
    }
    let mut scenario = scenario();
    let mut call = scenario["flows"][1].clone();
    call["name"] = json!("phone/video-up/1");
    scenario["flows"].as_array_mut().unwrap().push(call);
    let explanation = explain(&scenario, &answer);
    let call = &explanation["calls"][0];
    assert_eq!(call["flows"].as_array().unwrap().len(), 2);
    let share = call["wait_share"].as_f64().unwrap();
    assert!((share - 0.132 / 0.136).abs() < 1e-9, "{share}");
}

#[test]
fn a_delay_within_its_interval_of_the_bound_is_uncertain() {
    let mut answer = answer();
    answer["flows"][1]["one_way_delay_p99_s"] = value(0.16, 0.02);
    assert_eq!(
        explain(&scenario(), &answer)["calls"][0]["verdict"],
        "uncertain"
    );
}

#[test]
fn datagrams_in_one_direction_are_no_call() {
    let mut scenario = scenario();
    scenario["flows"].as_array_mut().unwrap().pop();
    assert_eq!(explain(&scenario, &answer())["calls"], json!([]));
}

#[test]
fn a_delay_is_divided_among_queues() {
    let explanation = explain(&scenario(), &answer());
    let parts = &explanation["delays"][0]["parts"];
    assert_eq!(parts[0]["queue"], "wire/up");
    assert!((parts[0]["share"].as_f64().unwrap() - 0.132 / 0.146).abs() < 1e-9);
    assert_eq!(parts[1]["queue"], "phone");
}

#[test]
fn a_full_line_limits_before_a_window_does() {
    let limits = explain(&scenario(), &answer())["limits"].clone();
    assert_eq!(limits[0]["by"], "line");
    assert_eq!(limits[0]["where"], "wire/up");
    let mut idle = answer();
    idle["links"][1]["utilisation"] = value(0.3, 0.0);
    idle["flows"][0]["rwnd_limited_fraction"] = value(0.8, 0.1);
    assert_eq!(explain(&scenario(), &idle)["limits"][0]["by"], "rwnd");
    idle["cells"][0]["active_stations"] = value(0.95, 0.0);
    for (busy, rtt_s, by) in [(0.8, 0.03, "rwnd"), (0.8, 0.05, "air"), (0.95, 0.03, "air")] {
        idle["cells"][0]["busy_fraction"] = value(busy, 0.0);
        idle["flows"][0]["rtt_s"] = value(rtt_s, 0.0);
        assert_eq!(explain(&scenario(), &idle)["limits"][0]["by"], by);
    }
    idle["flows"][0]["app_limited_fraction"] = value(0.6, 0.1);
    assert_eq!(
        explain(&scenario(), &idle)["limits"][0]["by"],
        "application"
    );
}

/// A flow whose application paces it, and which keeps up, is limited by its application. A window that it does not use is
/// not too small.
#[test]
fn an_application_limits_a_paced_flow_that_keeps_up() {
    let mut paced = scenario();
    let flow = &mut paced["flows"][0];
    flow["application"] = json!({ "rate_bps": 5e6, "every_s": null, "on_s": null });
    flow["tcp"]["window_packets"] = json!(42);
    let mut kept = answer();
    let item = &mut kept["flows"][0];
    item["cwnd_limited_fraction"] = value(0.0, 0.0);
    item["rwnd_limited_fraction"] = value(0.0, 0.0);
    item["app_limited_fraction"] = value(0.3, 0.0);
    item["cwnd_packets"] = value(42.0, 0.0);
    let explanation = explain(&paced, &kept);
    assert_eq!(explanation["limits"][0]["by"], "application");
    let found = |explanation: &Value, id: &str| {
        let causes = explanation["causes"].as_array().unwrap();
        causes.iter().any(|cause| cause["id"] == id)
    };
    assert!(!found(&explanation, "receive-window"), "{explanation}");
    // without data to wait for, the same flow is limited by the full line
    kept["flows"][0]["app_limited_fraction"] = value(0.0, 0.0);
    let explanation = explain(&paced, &kept);
    assert_eq!(explanation["limits"][0]["by"], "line");
    assert!(found(&explanation, "receive-window"), "{explanation}");
}

#[test]
fn a_download_waits_for_acks_in_a_full_upload_or_for_losses() {
    let (mut scenario, mut answer) = (scenario(), answer());
    let mut download = scenario["flows"][0].clone();
    download["name"] = json!("laptop/down/1");
    download["direction"] = json!("down");
    scenario["flows"] = json!([download]);
    answer["flows"][0]["name"] = json!("laptop/down/1");
    answer["flows"][0]["rwnd_limited_fraction"] = value(0.0, 0.0);
    let limit = |answer: &Value| {
        let item = explain(&scenario, answer)["limits"][0].clone();
        (item["by"].clone(), item["where"].clone())
    };
    // the confidence interval 0.89 +- 0.02 includes 0.9, above which a line is full
    answer["links"][1]["utilisation"] = value(0.89, 0.02);
    assert_eq!(limit(&answer), (json!("acks"), json!("wire/up")));
    answer["links"][1]["utilisation"] = value(0.5, 0.02);
    assert_eq!(limit(&answer), (json!("cwnd"), json!("")));
    answer["queues"][1]["drop_probability"] = value(0.001, 0.0);
    assert_eq!(limit(&answer), (json!("losses"), json!("wire/down")));
}

#[test]
fn the_costly_station_has_more_air_time_than_goodput() {
    let explanation = explain(&scenario(), &answer());
    assert_eq!(explanation["air"]["station"], "laptop");
    let mut fair = answer();
    fair["stations"][0]["airtime_fraction"] = value(0.15, 0.0);
    assert_eq!(explain(&scenario(), &fair)["air"], Value::Null);
}

#[test]
fn a_standing_queue_is_the_first_cause_of_a_bad_call() {
    let explanation = explain(&scenario(), &answer());
    let first = &explanation["causes"][0];
    assert_eq!(
        (&first["id"], &first["subject"]),
        (&json!("long-queue"), &json!("wire/up"))
    );
    assert_eq!(first["edits"], json!([["wire.queue", "{ fq_codel = {} }"]]));
    let mut fair = scenario();
    fair["wire"]["queue"]["discipline"] = json!("fq_codel");
    let causes = explain(&fair, &answer())["causes"].clone();
    assert!(
        causes
            .as_array()
            .unwrap()
            .iter()
            .all(|cause| cause["id"] != "long-queue")
    );
}

#[test]
fn twice_the_rate_upstream_keeps_the_rate_downstream() {
    let causes = explain(&scenario(), &answer())["causes"].clone();
    let line = causes
        .as_array()
        .unwrap()
        .iter()
        .find(|cause| cause["id"] == "slow-line");
    assert_eq!(
        line.unwrap()["edits"],
        json!([["wire.back_rate", "40 Mbps"]])
    );
}

#[test]
fn each_rule_has_an_identifier_a_condition_and_an_edit() {
    let rules = rules();
    let rules = rules.as_array().unwrap();
    let mut ids: Vec<&str> = rules
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    for rule in rules {
        for key in ["title", "applies", "edit"] {
            assert!(!rule[key].as_str().unwrap().is_empty(), "{rule}");
        }
        assert!(!rule["objectives"].as_array().unwrap().is_empty());
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rules.len());
}

#[test]
fn a_result_without_lists_is_explained_without_facts() {
    let explanation = explain(&json!({}), &json!({}));
    for key in ["calls", "delays", "limits", "causes"] {
        assert_eq!(explanation[key], json!([]), "{key}");
    }
}

/// Returns the edits of the cause with this identifier, or null.
fn edits(scenario: &Value, answer: &Value, id: &str) -> Value {
    let causes = explain(scenario, answer)["causes"].clone();
    let mut causes = causes.as_array().into_iter().flatten();
    let cause = causes.find(|cause| cause["id"] == id);
    cause.map_or(Value::Null, |cause| cause["edits"].clone())
}

#[test]
fn a_receive_window_is_enlarged_if_it_limits() {
    let (scenario, mut answer) = (scenario(), answer());
    let large = json!([["tcp.window", "10000"]]);
    assert_eq!(edits(&scenario, &answer, "receive-window"), large);
    answer["flows"][0]["rwnd_limited_fraction"] = value(0.01, 0.0);
    assert_eq!(edits(&scenario, &answer, "receive-window"), Value::Null);
}

#[test]
fn a_slow_station_gets_the_best_rate_of_its_phy() {
    let (mut scenario, answer) = (scenario(), answer());
    assert_eq!(edits(&scenario, &answer, "slow-station"), Value::Null);
    scenario["stations"][0]["mcs"] = json!(1);
    let best = json!([["station.laptop.mcs", "9"]]);
    assert_eq!(edits(&scenario, &answer, "slow-station"), best);
    scenario["stations"][0]["mcs_by_snr"] = json!(true);
    let near = json!([["station.laptop.snr", "40 dB"]]);
    assert_eq!(edits(&scenario, &answer, "slow-station"), near);
}

#[test]
fn a_call_gets_category_voice_in_both_directions() {
    let (mut scenario, answer) = (scenario(), answer());
    let voice = json!([
        ["station.phone.udp_up.category", "voice"],
        ["station.phone.udp_down.category", "voice"],
    ]);
    assert_eq!(edits(&scenario, &answer, "not-prioritised"), voice);
    for flow in [1, 2] {
        scenario["flows"][flow]["category"] = json!("voice");
    }
    assert_eq!(edits(&scenario, &answer, "not-prioritised"), Value::Null);
}

#[test]
fn flows_of_a_dumbbell_without_a_table_are_set_in_the_table_tcp() {
    let link = json!({ "name": "bottleneck", "from": "left", "to": "right", "rate_bps": 1e7,
                       "queue_packets": 50, "queue": { "discipline": "drop_tail" } });
    let flow = |name: &str, class: &str, window: u32| {
        json!({ "name": name, "class": class, "forward": ["bottleneck"],
                "tcp": { "congestion": "cubic", "sack": true, "window_packets": window } })
    };
    let scenario = json!({
        "links": [link],
        "flows": [flow("flow-1", "flow", 20), flow("far", "far", 30)],
    });
    let limited = |name: &str| json!({ "name": name, "rwnd_limited_fraction": value(0.9, 0.0) });
    let answer = json!({
        "flows": [limited("flow-1"), limited("far")],
        "queues": [{ "name": "bottleneck", "occupancy_packets": value(20.0, 0.0),
                     "sojourn_s": value(0.02, 0.0), "drop_probability": value(0.01, 0.0) }],
    });
    let large = json!([["tcp.window", "10000"], ["flow.far.window", "10000"]]);
    assert_eq!(edits(&scenario, &answer, "receive-window"), large);
    let buffer = json!([["queue", "{ limit = 1000 }"]]);
    assert_eq!(edits(&scenario, &answer, "short-buffer"), buffer);
}

/// Returns the settings of the remedy whose label begins with `label`, or null.
fn remedy(scenario: &Value, answer: &Value, id: &str, label: &str) -> Value {
    let causes = explain(scenario, answer)["causes"].clone();
    let mut causes = causes.as_array().into_iter().flatten();
    let cause = causes
        .find(|cause| cause["id"] == id)
        .unwrap_or(&Value::Null);
    let mut remedies = cause["remedies"].as_array().into_iter().flatten();
    let begins = |each: &&Value| {
        each["label"]
            .as_str()
            .is_some_and(|text| text.starts_with(label))
    };
    remedies
        .find(begins)
        .map_or(Value::Null, |each| each["settings"].clone())
}

#[test]
fn a_gateway_behind_a_full_line_is_a_tenth_slower_than_the_line() {
    let (mut scenario, mut answer) = (scenario(), answer());
    let mut second = scenario["flows"][0].clone();
    second["name"] = json!("laptop/up/2");
    scenario["flows"]
        .as_array_mut()
        .expect("a list")
        .push(second);
    answer["cells"][0]["goodput_bps"] = value(5e7, 0.0);
    let gateway = |answer: &Value| remedy(&scenario, answer, "many-connections", "gateway");
    let estimated = json!([
        [
            "vsb.wce",
            "{ max = \"60 Mbps\", threshold = \"10 ms\", high = \"40 ms\" }"
        ],
        ["vsb.queue", "600"],
    ]);
    assert_eq!(gateway(&answer), estimated);
    answer["links"][0]["utilisation"] = value(0.95, 0.0);
    assert_eq!(gateway(&answer), json!([["vsb.rate", "90 Mbps"]]));
}

#[test]
fn a_channel_of_twice_the_width_costs_3_db() {
    let (mut scenario, mut answer) = (scenario(), answer());
    answer["cells"][0]["busy_fraction"] = value(0.9, 0.0);
    scenario["stations"][1]["snr_db"] = json!(16.5);
    let settings = json!([["cell.width", "160 MHz"], ["station.phone.snr", "13.5 dB"]]);
    assert_eq!(
        remedy(&scenario, &answer, "narrow-channel", "channel"),
        settings
    );
    let edit = json!([["cell.width", "160 MHz"]]);
    assert_eq!(edits(&scenario, &answer, "narrow-channel"), edit);
}
