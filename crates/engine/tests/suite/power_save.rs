//! Stations in power save, and stations that reply to pings late or never. Results are compared with theory.

use std::ops::ControlFlow;

use lasthop_engine::scenario::{Format, parse};
use lasthop_engine::{RunResult, run};
use serde_json::Value;

/// Beacon interval. [s]
const BEACON: f64 = 0.1024;

fn simulate(text: &str) -> RunResult {
    let text = format!("warmup = \"10 s\"\nreplications = 1\n{text}");
    let scenario = match parse(&text, Format::Toml, "sleep.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?}"),
    };
    match run(&scenario, 1, &|_| ControlFlow::Continue(())) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

fn item<'r>(result: &'r RunResult, list: &str, name: &str) -> &'r Value {
    let items = result.summary()[list].as_array().expect("a list");
    let item = items.iter().find(|item| item["name"] == name);
    item.unwrap_or_else(|| panic!("{list} without {name}"))
}

fn mean(result: &RunResult, list: &str, name: &str, quantity: &str) -> f64 {
    let item = item(result, list, name);
    let mean = item[quantity]["mean"].as_f64();
    mean.unwrap_or_else(|| panic!("{name} without {quantity}: {item}"))
}

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{value}, not {expected} within {tolerance}"
    );
}

/// Returns statistics of pings to the only station of a cell without other traffic: the mean and the 95th percentile of
/// the round-trip time, and the fraction of pings without a reply.
fn pings(station: &str) -> [f64; 3] {
    // The ping interval of 97.3 ms and the beacon interval of 102.4 ms have no small common multiple. Therefore the
    // pings are spread uniformly between two beacons.
    let result = simulate(&format!(
        "duration = \"310 s\"\ncell.phy = \"802.11g\"\nvsb.wce = {{ rule = \"paper\", interval = \"97.3 ms\" }}\n\
         [station.a]\ndownload = {{ start = \"309.999 s\" }}\n{station}\n"
    ));
    let of_pings = ["ping_rtt_s", "ping_rtt_p95_s", "ping_loss_probability"];
    of_pings.map(|quantity| {
        let mean = &item(&result, "links", "vsb")[quantity]["mean"];
        mean.as_f64().unwrap_or(f64::NAN)
    })
}

/// A ping waits for the beacon, uniformly between 0 and the beacon interval. The mean wait of 3,083 random pings would
/// have a standard error of 0.5 ms.
#[test]
fn a_ping_to_a_station_that_sleeps_is_answered_after_the_next_beacon() {
    let [awake, _, _] = pings("");
    assert!(awake < 0.001, "{awake}");
    let [asleep, most, lost] = pings("power_save = \"0 s\"");
    assert_near(asleep - awake, BEACON / 2.0, 0.0005);
    assert_near(most - awake, 0.95 * BEACON, 0.001);
    assert!(lost < 0.001, "{lost}");
    // the next ping arrives less than 100 ms after the last reply, so that the station stays awake
    let [phone, _, _] = pings("power_save = \"100 ms\"");
    assert_near(phone, awake, 0.0001);
    // With a time-out of 90 ms, the station sleeps again 90 ms after its last reply. After an immediate reply, the next
    // ping arrives 97.3 ms later, when the station sleeps. After a reply that was delayed by more than 7.3 ms, the
    // station is still awake when the next ping arrives.
    let [drowsy, _, _] = pings("power_save = \"90 ms\"");
    let asleep = 1.0 / (2.0 - 0.0073 / BEACON);
    assert_near(drowsy - awake, asleep * BEACON / 2.0, 0.0005);
}

/// Returns the goodput of the only station, with a TCP window of `window` packets and a round-trip time of `wire_ms` on
/// the wire. [bit/s]
fn goodput(flow: &str, window: u32, wire_ms: u32, station: &str) -> f64 {
    let result = simulate(&format!(
        "duration = \"60 s\"\ncell = {{ phy = \"802.11b\", ap_queue = 200 }}\nwire.delay = \"{} ms\"\n\
         tcp = {{ window = {window}, delayed_ack = false }}\n[station.a]\n{flow} = 1\n{station}\n",
        f64::from(wire_ms) / 2.0
    ));
    mean(&result, "stations", "a", "goodput_bps")
}

/// A segment and its ACK take 2.1 ms on the air. The ACK of the first segment lets another segment arrive 40 ms later,
/// when the station sleeps again.
#[test]
fn a_window_passes_with_each_beacon_while_it_takes_less_time_than_the_round_trip() {
    for flow in ["download", "upload"] {
        for window in [4, 8, 12] {
            let expected = f64::from(window) * 1460.0 * 8.0 / BEACON;
            let measured = goodput(flow, window, 40, "power_save = \"0 s\"");
            // the measured time of 50 s has 488.3 beacon intervals, so that the goodput may be wrong by one window in
            // 488
            assert_near(measured / expected, 1.0, 0.004);
        }
    }
}

/// Tests the case of Krashinsky and Balakrishnan (MobiCom 2002). If the window exceeds the air rate times the
/// round-trip time of the wire, the access point always has more data, and the station never sleeps. In this test the
/// station sleeps in rare moments, when it has received all packets of the window and their ACKs wait in its own queue.
#[test]
fn a_window_that_fills_the_air_keeps_the_station_awake() {
    let asleep = goodput("download", 42, 10, "power_save = \"0 s\"");
    let awake = goodput("download", 42, 10, "");
    assert_near(asleep / awake, 1.0, 0.02);
}

#[test]
fn a_phone_is_as_fast_as_a_station_that_never_sleeps() {
    let phone = goodput("download", 8, 40, "power_save = \"100 ms\"");
    let awake = goodput("download", 8, 40, "");
    assert_near(phone / awake, 1.0, 0.002);
    assert!(awake > 1.5 * goodput("download", 8, 40, "power_save = \"0 s\""));
}

/// Simulates a station that receives datagrams of 100 bytes at `rate`, in a cell with the settings `cell`.
fn datagrams(cell: &str, rate: &str) -> RunResult {
    simulate(&format!(
        "duration = \"400 s\"\ncell = {{ phy = \"802.11g\", {cell} }}\nudp.packet = \"100 B\"\n\
         [station.a]\nudp_down = \"{rate}\"\npower_save = \"0 s\"\n"
    ))
}

const EACH_40_MS: &str = "19.95 kbps";

/// Datagrams for a sleeping station wait for half a beacon interval on average. The mean number of waiting datagrams
/// follows from Little's law. The few datagrams that arrive during transmissions after a beacon do not wait.
#[test]
fn what_is_kept_is_counted() {
    let result = datagrams("", EACH_40_MS);
    let of_kept = |quantity| mean(&result, "queues", "power-save/a", quantity);
    assert_near(of_kept("sojourn_s"), BEACON / 2.0, 0.0005);
    assert_near(of_kept("occupancy_packets"), BEACON / 2.0 / 0.0401, 0.012);
    assert_eq!(of_kept("drop_probability"), 0.0);
    let delay = mean(&result, "flows", "a/udp-down/1", "one_way_delay_s");
    assert_near(delay, BEACON / 2.0, 0.0005);
}

/// 10.24 datagrams arrive per beacon interval, 0.1 of them during the transmissions after a beacon, which take 1 ms.
/// The buffer keeps the last 5 datagrams.
#[test]
fn a_full_buffer_loses_the_oldest() {
    let result = datagrams("power_save_queue = 5", "80 kbps");
    let lost = mean(&result, "queues", "power-save/a", "drop_probability");
    assert_near(lost, 1.0 - 5.0 / 10.14, 0.002);
    let lost = mean(&result, "flows", "a/udp-down/1", "loss_probability");
    assert_near(lost, 5.14 / 10.24, 0.002);
    // the 5 delivered datagrams arrived at intervals of 10 ms before the beacon, so their waits are uniform between 0
    // and 50 ms
    let delay = mean(&result, "flows", "a/udp-down/1", "one_way_delay_s");
    assert_near(delay, 0.025, 0.001);
}

#[test]
fn beacons_come_as_often_as_is_said() {
    for (interval, wait) in [("51.2 ms", 0.0256), ("204.8 ms", 0.1024)] {
        let result = datagrams(&format!("beacon_interval = \"{interval}\""), EACH_40_MS);
        let sojourn = mean(&result, "queues", "power-save/a", "sojourn_s");
        assert_near(sojourn / wait, 1.0, 0.01);
    }
}

#[test]
fn a_station_that_only_sends_is_not_touched() {
    let lists = ["flows", "stations", "aps", "cells"];
    let of = |station: &str| {
        let result = simulate(&format!(
            "duration = \"30 s\"\ncell.phy = \"802.11b\"\n[station.b]\ndownload = 1\n\
             [station.a]\nudp_up = \"greedy\"\n{station}\n"
        ));
        lists.map(|list| result.summary()[list].to_string())
    };
    let awake = of("");
    assert_eq!(of("power_save = \"0 s\""), awake);
    assert_eq!(of("power_save = \"100 ms\""), awake);
}

#[test]
fn answers_come_as_late_as_is_said_and_not_always() {
    let [awake, _, _] = pings("");
    let [late, most, lost] = pings("ping_delay = \"300 ms\"");
    // an immediate reply has a backoff of up to 15 slots of 9 us; a late reply is sent without backoff, because the
    // medium has been idle
    assert_near(late - awake, 0.3, 0.0002);
    assert!(most < 0.32, "{most}");
    // three of the pings are in flight at the end, and have no reply
    assert_near(lost, 0.0, 0.002);
    let [rtt, _, lost] = pings("ping_loss = 0.3");
    assert_near(rtt, awake, 0.0001);
    assert_near(lost, 0.3, 0.025); // the tolerance is three standard deviations
    let [_, _, lost] = pings("ping_loss = 1");
    assert_near(lost, 1.0, 0.0);
    // the station replies late between 110 s and 210 s, which is a third of the measured time
    let [flapping, most, _] = pings(
        "pings.late = { at = \"110 s\", ping_delay = \"300 ms\" }\n\
         pings.well = { at = \"210 s\", ping_delay = \"0 s\" }",
    );
    assert_near(flapping - awake, 0.1, 0.001);
    assert!(most > 0.28, "{most}");
}

#[test]
fn a_late_answer_comes_after_the_beacon() {
    let [awake, _, _] = pings("");
    let [both, _, _] = pings("power_save = \"0 s\"\nping_delay = \"300 ms\"");
    assert_near(both - awake, 0.3 + BEACON / 2.0, 0.0005);
}
