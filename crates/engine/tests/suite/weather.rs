//! Channels that change during a run.

use std::ops::ControlFlow;

use lasthop_engine::RunResult;
use lasthop_engine::scenario::{Format, parse};
use serde_json::Value;

/// One greedy source over a wireless link without errors.
const LINK: &str = r#"
duration = "20 s"
warmup = "10 s"
replications = 1
cell = { phy = "802.11g", attempts_short = 4 }
station.a = { udp_down = "greedy" }
station.b = { udp_down = "greedy", error_down = 0.1 }
"#;

fn simulate(settings: &[(&str, &str)]) -> RunResult {
    let settings: Vec<(String, String)> = settings
        .iter()
        .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
        .collect();
    let scenario = match parse(LINK, Format::Toml, "test.toml", &settings) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{}", problems[0]),
    };
    match lasthop_engine::run(&scenario, 1, &|_| ControlFlow::Continue(())) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

/// Returns all measured quantities except the number of events, because the change of the channel is itself an event.
fn measured(result: &RunResult) -> Vec<&Value> {
    let lists = ["flows", "stations", "aps", "queues", "cells"];
    lists.iter().map(|list| &result.summary()[list]).collect()
}

/// Returns the fraction of the access point's transmission attempts that fail; there are no collisions. [-]
fn failures(result: &RunResult) -> f64 {
    let failures = &result.summary()["aps"][0]["frame_failure_rate"]["mean"];
    failures.as_f64().unwrap_or_else(|| panic!("{failures}"))
}

#[test]
fn a_change_to_what_is_already_so_changes_nothing() {
    let plain = simulate(&[]);
    let same = simulate(&[(
        "station.b.channel",
        "{ same = { at = \"12 s\" , error_down = 0.1 } }",
    )]);
    assert_eq!(measured(&plain), measured(&same));
}

#[test]
fn nothing_is_different_before_a_change() {
    let before = [("duration", "12 s")];
    let change = (
        "station.b.channel",
        "{ end = { at = \"12 s\", snr = \"-20 dB\" } }",
    );
    let plain = simulate(&before);
    // the channel changes at the end of the shorter run, which is 8 s before the end of the longer run
    let longer = simulate(&[change]);
    let changed = simulate(&[("duration", "12.000001 s"), change]);
    assert_eq!(failures(&plain), failures(&changed));
    assert!(failures(&longer) > 3.0 * failures(&plain));
}

/// Checks the frame failure rates of the last ten seconds, over about 20,000 frames. Frames of station `b` are lost at
/// the given rates.
#[test]
fn from_its_time_on_the_channel_is_as_if_it_had_always_been_so() {
    let changes =
        "{ worse = { at = \"4 s\", error_down = 0.6 }, then = { at = \"8 s\", error_down = 0.3 } }";
    let changed = failures(&simulate(&[("station.b.channel", changes)]));
    let always = failures(&simulate(&[("station.b.error_down", "0.3")]));
    assert!((changed - always).abs() < 0.01, "{changed} {always}");
    assert!((failures(&simulate(&[])) - always).abs() > 0.05);
    // the order of the changes in the file does not matter
    let other =
        "{ then = { at = \"8 s\", error_down = 0.3 }, worse = { at = \"4 s\", error_down = 0.6 } }";
    assert_eq!(
        failures(&simulate(&[("station.b.channel", other)])),
        changed
    );
}

/// All frames to `b` wait until the SNR has changed to -20 dB, so that none of them is received.
#[test]
fn frames_that_wait_meet_the_new_channel() {
    let settings = [
        ("duration", "10.2 s"),
        ("warmup", "10 s"),
        (
            "station.b.channel",
            "{ gone = { at = \"10 s\", snr = \"-20 dB\" } }",
        ),
    ];
    let result = simulate(&settings);
    let [a, b] = [0, 1].map(|k| result.summary()["stations"][k]["goodput_bps"]["mean"].as_f64());
    assert!(a.is_some_and(|bps| bps > 1e6), "{a:?}");
    assert_eq!(b, Some(0.0));
}

#[test]
fn rates_fall_back_when_a_station_walks_away() {
    let settings = |arf: &'static str| {
        [
            ("cell.rate_control", arf),
            ("station.b", "{ udp_down = \"greedy\", snr = \"30 dB\" }"),
            (
                "station.b.channel",
                "{ far = { at = \"5 s\", snr = \"14 dB\" } }",
            ),
        ]
    };
    let goodput = |result: &RunResult| {
        let bps = &result.summary()["stations"][1]["goodput_bps"]["mean"];
        bps.as_f64().unwrap_or_else(|| panic!("{bps}"))
    };
    assert!(goodput(&simulate(&settings("fixed"))) < 1e4);
    assert!(goodput(&simulate(&settings("arf"))) > 1e6);
}
