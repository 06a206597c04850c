//! Compound TCP over WiFi (paper 000): effects of channel errors, rate fallback, sensors and shared queues on a cell.

use crate::queues::{mean, simulate};
use lasthop_engine::RunResult;

/// Two classes of five downloads each (paper 000, Table II) through a drop-tail queue.
const CLASSES: &str = r#"
duration = "60 s"
warmup = "10 s"
replications = 1
cell = { phy = "802.11g-long", llc = "0 B", ap_queue = 100, attempts_short = 4 }
tcp = { congestion = "compound", window = 45, delayed_ack = false }
station.near = { count = 5, download = 1 }
station.far = { count = 5, download = 1, error_down = 0.3 }
"#;

const EQUAL: &str = "{ near = { station = \"near\", share = 0.5 }, far = { share = 0.5 } }";

/// Returns the sum of the goodputs of the stations with this prefix in their names. [bit/s]
fn goodput(result: &RunResult, prefix: &str) -> f64 {
    let stations = result.summary()["stations"]
        .as_array()
        .into_iter()
        .flatten();
    let own = stations.filter(|station| {
        station["name"]
            .as_str()
            .is_some_and(|n| n.starts_with(prefix))
    });
    own.filter_map(|station| station["goodput_bps"]["mean"].as_f64())
        .sum()
}

fn shared(more: &[(&str, &str)]) -> RunResult {
    let class = ("cell.ap_queue.vbs.class", EQUAL);
    let all: Vec<(&str, &str)> = [class].iter().chain(more).copied().collect();
    simulate(CLASSES, &all)
}

/// With four attempts and frame error rate 0.3 for the far class, drop-tail gives the near class 1.5 times the goodput
/// of the far class.
#[test]
fn shares_hold_classes_and_occupancy_where_drop_tail_lets_go_of_both() {
    let plain = simulate(CLASSES, &[]);
    let ratio = goodput(&plain, "near") / goodput(&plain, "far");
    assert!(ratio > 1.3, "{ratio}");
    assert!(mean(&plain, "queues", "ap", "occupancy_packets") > 80.0);
    for settings in [
        vec![],
        vec![("cell.ap_queue.vbs.share_of", "service")],
        vec![("cell.ap_queue.vbs.algorithm", "regulated")],
        vec![("cell.ap_queue.vbs.update", "10 ms")],
    ] {
        let result = shared(&settings);
        let [near, far] = ["near", "far"].map(|name| goodput(&result, name));
        assert!(
            (near / far - 1.0).abs() < 0.08,
            "{settings:?}: {near} {far}"
        );
        let occupancy = mean(&result, "queues", "ap", "occupancy_packets");
        assert!(
            (48.0..70.0).contains(&occupancy),
            "{settings:?}: {occupancy}"
        );
        assert_eq!(mean(&result, "queues", "ap", "empty_fraction"), 0.0);
        let [a, b] = ["near", "far"].map(|name| mean(&result, "classes", name, "queue_share"));
        assert!((a + b - 1.0).abs() < 1e-12);
        let held = ["near", "far"].map(|name| mean(&result, "classes", name, "occupancy_packets"));
        // the sum over the classes differs from the occupancy of the queue only by the packet whose MAC ACK is on the
        // air at the end: 0.3 ms of 50 s
        assert!((held[0] + held[1] - occupancy).abs() < 1e-5);
    }
}

/// Tests Algorithm 1 as printed in the paper: it blocks a class that has its share, even if the queue is not full.
#[test]
fn algorithm_1_as_printed_collapses_the_cell() {
    let plain = simulate(CLASSES, &[]);
    let printed = shared(&[("cell.ap_queue.vbs.algorithm", "printed")]);
    let total = |result| mean(result, "cells", "cell", "goodput_bps");
    assert!(total(&printed) < 0.4 * total(&plain));
    assert!(mean(&printed, "queues", "ap", "empty_fraction") > 0.5);
    // compared with drop-tail, the corrected algorithm loses only the additional air time of frames
    // to the far class
    assert!(total(&shared(&[])) > 0.93 * total(&plain));
}

#[test]
fn what_an_absent_class_leaves_is_used() {
    let gone = shared(&[("station.far.download.stop", "9 s")]);
    let alone = simulate(CLASSES, &[("station.far.download.stop", "9 s")]);
    let [gone, alone] = [gone, alone].map(|result| goodput(&result, "near"));
    assert!((gone / alone - 1.0).abs() < 0.02, "{gone} {alone}");
}

/// With drop-tail the commands to a sensor find a full queue. With virtual buffer sharing the queue accepts these
/// commands.
#[test]
fn reports_get_through_a_shared_queue() {
    let sensor = "station.sensor.sensor_down = { every = \"100 ms\", deadline = \"2 s\" }";
    let text = format!("{CLASSES}{sensor}\n");
    let plain = simulate(&text, &[]);
    let far =
        "{ near = { station = \"near\", share = 0.5 }, far = { station = \"far\", share = 0.5 } }";
    let held = simulate(&text, &[("cell.ap_queue.vbs.class", far)]);
    let of = |result, quantity| mean(result, "flows", "sensor/sensor-down/1", quantity);
    assert!(of(&plain, "reports") > 400.0);
    assert!(of(&plain, "report_delivery") < 0.99);
    assert_eq!(of(&held, "report_delivery"), 1.0);
    assert!(of(&held, "report_delay_s") < 0.8 * of(&plain, "report_delay_s"));
    assert!(of(&held, "report_delay_p95_s") > of(&held, "report_delay_s"));
}

/// Checks that reports over TCP are retransmitted after a loss and delivered in order.
#[test]
fn tcp_repeats_a_sensors_reports() {
    let text = r#"
duration = "200 s"
warmup = "10 s"
replications = 1
cell = { phy = "802.11b" }
wire = { loss = 0.2 }
[station.a]
sensor_up = { every = "500 ms", transport = "tcp", deadline = "30 s" }
[station.b]
sensor_up = { every = "500 ms", deadline = "30 s" }
"#;
    let result = simulate(text, &[]);
    let of = |station: &str, quantity| {
        mean(
            &result,
            "flows",
            &format!("{station}/sensor-up/1"),
            quantity,
        )
    };
    assert_eq!(of("a", "report_delivery"), 1.0);
    assert!(of("a", "retransmissions") > 20.0);
    let lost = 1.0 - of("b", "report_delivery");
    assert!((lost - 0.2).abs() < 0.07, "{lost}"); // the tolerance is 3 standard deviations for 320 reports
}

/// Checks that data frames and frames with TCP ACKs have separate error rates.
#[test]
fn channel_errors_tell_data_from_acks() {
    let settings = |key| [("station.far.error_down", "0"), (key, "0.5")];
    let data = simulate(CLASSES, &settings("station.far.error_up"));
    let acks = simulate(CLASSES, &settings("station.far.ack_error_up"));
    // stations with downloads send only TCP ACKs, so that the error rate of their data frames has no effect
    assert_eq!(data.summary()["flows"], acks.summary()["flows"]);
    let failures = |result| mean(result, "stations", "far-1", "frame_failure_rate");
    assert!(failures(&acks) > 0.45);
    let spared = [
        ("station.far.error_up", "0.5"),
        ("station.far.ack_error_up", "0"),
    ];
    assert!(failures(&simulate(CLASSES, &spared)) < 0.4);
}

/// At a signal-to-noise ratio of 16 dB and 36 Mb/s, half of the frames of 1000 bytes are lost. Longer frames are lost
/// more often.
#[test]
fn a_signal_to_noise_ratio_says_errors_by_rate_and_length() {
    let noisy = |snr: &str, rate: &str| {
        let settings = [
            ("station.far", "{ count = 1, download = 1 }"),
            ("station.far.snr", snr),
            ("station.far.rate", rate),
        ];
        simulate(CLASSES, &settings)
    };
    let [good, bad, slow] = [
        ("30 dB", "36 Mbps"),
        ("16 dB", "36 Mbps"),
        ("16 dB", "24 Mbps"),
    ]
    .map(|(snr, rate)| mean(&noisy(snr, rate), "aps", "ap", "discard_probability"));
    assert_eq!((good, slow), (0.0, 0.0));
    assert!(bad > 1e-3, "{bad}");
}

#[test]
fn rate_fallback_finds_a_rate_that_gets_through() {
    let snr = ("station.far.snr", "14 dB");
    let none = ("station.far.error_down", "0");
    let fixed = simulate(CLASSES, &[none, snr]);
    let arf = simulate(CLASSES, &[none, snr, ("cell.rate_control", "arf")]);
    assert!(goodput(&fixed, "far") < 1e4);
    assert!(goodput(&arf, "far") > 1e6);
}
