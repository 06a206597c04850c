//! Averages and fractions of a result: the time interval of each average, and the denominator of each fraction.

use lasthop_engine::RunResult;
use lasthop_engine::quantities::FRACTIONS;
use serde_json::Value;

use crate::queues::{mean, simulate};

/// Returns all fractions of a result with their names.
fn fractions(result: &RunResult) -> Vec<(String, f64)> {
    let lists = result.summary().as_object().into_iter().flatten();
    let items = lists.filter_map(|(list, items)| Some((list, items.as_array()?)));
    let items = items.flat_map(|(list, items)| items.iter().map(move |item| (list, item)));
    items
        .flat_map(|(list, item)| {
            FRACTIONS.iter().filter_map(move |quantity| {
                let value = item[quantity.name]["mean"].as_f64()?;
                let name = item["name"].as_str()?;
                Some((format!("{list} {name} {}", quantity.name), value))
            })
        })
        .collect()
}

/// A download stops 50 ms after the warm-up. The packets still in the queue are lost after the warm-up, so that the
/// measurement includes all losses.
#[test]
fn losses_after_a_flow_has_stopped_count_with_its_arrivals() {
    let text = r#"
duration = "4 s"
warmup = "1 s"
replications = 1
cell = { phy = "802.11b", rate = "1 Mbps", ap_queue = { codel = {} } }
station.a.udp_down = { rate = "3 Mbps", stop = "1.05 s" }
"#;
    let result = simulate(text, &[]);
    let [loss, drops] = [
        ("flows", "a/udp-down/1", "loss_probability"),
        ("queues", "ap", "drop_probability"),
    ]
    .map(|(list, name, quantity)| mean(&result, list, name, quantity));
    assert!(loss > 0.3 && loss < 1.0, "{loss}");
    // No other packet is lost, and no packet is in flight at the end. The packet in service at the end of the warm-up
    // was counted as delivered during the warm-up.
    assert!((drops / loss - 1.0).abs() < 0.02, "{drops} {loss}");
}

/// Most measurement windows of 2 ms lie within one frame of 12 ms and its ACK. The medium is busy during the whole
/// window, so that its busy fraction must be 1, not 6 (12 ms / 2 ms) or 0.
#[test]
fn a_window_within_an_exchange_is_busy_all_the_while() {
    let text = r#"
replications = 1
cell = { phy = "802.11b", rate = "1 Mbps" }
station.a.udp_up = "greedy"
station.b.udp_up = "greedy"
"#;
    let busy: Vec<f64> = (0..12)
        .map(|k| {
            let warmup = 500.0 + 3.7 * f64::from(k);
            let times = [warmup, warmup + 2.0].map(|ms| format!("\"{ms} ms\""));
            let result = simulate(text, &[("warmup", &times[0]), ("duration", &times[1])]);
            for (name, part) in fractions(&result) {
                assert!((0.0..=1.0).contains(&part), "{name}: {part}");
            }
            mean(&result, "cells", "cell", "busy_fraction")
        })
        .collect();
    let within = busy.iter().filter(|&&part| part == 1.0).count();
    assert!(within >= 6, "{busy:?}");
}

/// The access point and its only station always collide, so that PPDUs to and from the station are on the air
/// simultaneously. The station's air time is the whole time except gaps, with the overlap counted once.
#[test]
fn ppdus_that_collide_take_a_stations_air_time_once() {
    let text = r#"
duration = "1 s"
warmup = "0.1 s"
replications = 1
cell = { phy = "802.11ac", cwmin = 0, cwmax = 0 }
station.a = { udp_down = "greedy", udp_up = "greedy" }
"#;
    let result = simulate(text, &[]);
    let air = mean(&result, "stations", "a", "airtime_fraction");
    assert!(air > 0.5 && air <= 1.0, "{air}");
    assert_eq!(mean(&result, "stations", "a", "collision_rate"), 1.0);
}

/// A path without a queue, on which TCP windows stay constant.
const PATH: &str = r#"
duration = "20 s"
warmup = "5 s"
replications = 1
tcp = { window = 42, handshake = false }
link.path = { from = "a", to = "b", delay = "50 ms" }
flow.one = { from = "a", to = "b" }
"#;

#[test]
fn a_window_is_averaged_over_the_life_of_its_flow() {
    let window = |settings: &[(&str, &str)]| {
        let result = simulate(PATH, settings);
        let of = |list| mean(&result, list, "one", "cwnd_packets");
        assert_eq!(of("flows"), of("classes"));
        of("flows")
    };
    // The flow has the same age in both runs, so that its average windows are equal for both start times.
    let early = window(&[("duration", "5 s"), ("warmup", "0 s")]);
    assert_eq!(early, window(&[("flow.one.start", "15 s")]));
    // the window reaches its limit within the first of five seconds
    assert!(early > 35.0 && early <= 42.0, "{early}");
    assert_eq!(window(&[]), 42.0);
}

/// A TCP flow that has sent all its data, or was stopped, no longer has a window. Its average window does not change if
/// the measurement or the run lasts longer.
#[test]
fn a_window_is_averaged_until_all_is_acknowledged() {
    for end in [("flow.one.segments", "1000"), ("flow.one.stop", "4 s")] {
        let window = |duration| {
            let result = simulate(PATH, &[end, ("duration", duration), ("warmup", "0 s")]);
            mean(&result, "flows", "one", "cwnd_packets")
        };
        assert_eq!(window("5 s"), window("9 s"), "{end:?}");
        assert!(window("5 s") > 25.0, "{end:?}");
    }
    // a flow that ended before the warm-up has no average window
    let over = simulate(PATH, &[("flow.one.stop", "2 s")]);
    assert!(over.summary()["flows"][0]["cwnd_packets"]["mean"].is_null());
}

#[test]
fn a_series_has_a_window_while_its_flow_exists() {
    let life = [
        ("flow.one.start", "2 s"),
        ("flow.one.start_spread", "0 s"),
        ("flow.one.stop", "4 s"),
        ("duration", "6 s"),
        ("warmup", "1 s"),
        ("record.series_interval", "0.5 s"),
    ];
    let result = simulate(PATH, &life);
    let series: Value = serde_json::from_str(&result.series_json()).unwrap_or_default();
    let tracks = series["tracks"].as_array().into_iter().flatten();
    let windows = tracks.filter(|track| track["quantity"] == "cwnd_packets");
    let known: Vec<bool> = windows
        .flat_map(|track| track["values"].as_array().into_iter().flatten())
        .map(Value::is_number)
        .collect();
    // A sample is taken before a start or stop at the same instant. Therefore the sample at 2 s does not contain the
    // flow, and the sample at 4 s contains it.
    let expected: Vec<bool> = (1..=12).map(|k| (5..=8).contains(&k)).collect();
    assert_eq!(known, expected);
}

/// All datagrams have the same delay. The percentile and the mean are equal to the last bit.
#[test]
fn percentiles_of_equal_delays_are_exactly_their_mean() {
    let text = r#"
duration = "5 s"
warmup = "1 s"
replications = 1
link.l = { from = "x", to = "y", delay = "10.7 ms", rate = "2 Mbps" }
[flow.call]
from = "x"
to = "y"
udp = { rate = "64 kbps", packet = "200 B" }
"#;
    let result = simulate(text, &[]);
    for list in ["flows", "classes"] {
        let of = |quantity| mean(&result, list, "call", quantity);
        assert_eq!(of("one_way_delay_p99_s"), of("one_way_delay_s"), "{list}");
    }
}

/// Calls with the same rate and the same loss begin at different times. A late start must not lower the fairness index.
#[test]
fn fairness_within_a_class_is_of_rates_while_flows_exist() {
    let text = r#"
duration = "20 s"
warmup = "0 s"
replications = 1
link.l = { from = "x", to = "y", delay = "10 ms", rate = "2 Mbps", loss = { every = 10 } }
[flow.call]
from = "x"
to = "y"
count = 4
start_spread = "18 s"
udp = { rate = "64 kbps", packet = "100 B" }
"#;
    let result = simulate(text, &[]);
    let of = |quantity| mean(&result, "classes", "call", quantity);
    assert!(of("jain") > 0.99, "{}", of("jain"));
    assert_eq!(of("starved_flows"), 0.0);
}

/// Files with equal completion times: their mean is exact and does not exceed their percentile.
#[test]
fn a_mean_of_equal_completion_times_is_their_percentile() {
    let file = [
        ("flow.one.count", "7"),
        ("flow.one.segments", "100"),
        ("flow.one.start_spread", "0 s"),
        ("warmup", "0 s"),
    ];
    let result = simulate(PATH, &file);
    let of = |quantity| mean(&result, "classes", "one", quantity);
    assert_eq!(of("completion_s"), of("completion_p95_s"));
}
