//! Statistics that averages hide: Jain's index per second, starved stations, long waits.

use std::ops::ControlFlow;

use lasthop_engine::measure::Distribution;
use lasthop_engine::scenario::{Format, parse};
use lasthop_engine::{Detail, RunResult, run_in_detail, run_replication};

use super::queues::{mean, simulate};

/// Three downloads, of which one ends early and one starts late.
const CELL: &str = r#"
duration = "31 s"
warmup = "5 s"
replications = 2
cell = { phy = "802.11b" }
tcp.congestion = "reno"
station.a.download = 1
station.b.download = { connections = 1, stop = "20 s" }
station.c.download = { connections = 1, start = "9.5 s" }
station.phone.udp_down = { rate = "64 kbps", packet = "160 B" }
"#;

/// A cell in which the access point has PIFS and seven stations have contention windows of 1. A station that lost the
/// medium waits for a long time.
const CAPTURE: &str = r#"
duration = "66 s"
warmup = "6 s"
replications = 4
cell = { phy = "802.11b", cwmin = 1, ap = { aifsn = 1, cwmin = 0, cwmax = 0 } }
tcp.congestion = "reno"
station.sta = { count = 7, upload = 1 }
"#;

/// Flows whose endpoints are simulated ahead of the global clock (lookahead).
const ROUTER: &str = r#"
duration = "12 s"
warmup = "3 s"
replications = 2
dumbbell = { flows = 5, access = "20 Mbps", bottleneck = "10 Mbps", rtt = "20 ms" }
queue = 30
tcp = { congestion = "reno", delayed_ack = false }
"#;

/// Users that open and close connections; each connection is a separate flow.
const USERS: &str = r#"
duration = "30 s"
warmup = "2 s"
replications = 2
tcp = { congestion = "reno", delayed_ack = false, mss = "1000 B", initial_rto = "3 s" }
[csma]
k = 60
r_per_packet = 2e-4
connections_interval = "1 s"
[csma.link]
1 = { conflicts = ["2"], error = 0.05 }
2 = { conflicts = ["3"] }
3 = {}
[flow]
far = { route = ["1", "3"] }
noise = { route = ["3"], udp = { rate = "300 kbps", arrivals = "poisson" } }
"#;

fn with_tails(text: &str, detail: Detail, series: &str) -> RunResult {
    let settings = [("record.series_interval".to_owned(), series.to_owned())];
    let Ok(scenario) = parse(text, Format::Toml, "test.toml", &settings) else {
        panic!("a cell");
    };
    match run_in_detail(&scenario, 1, detail, &|_| ControlFlow::Continue(())) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

fn sample(result: &RunResult, list: &str, name: &str, quantity: &str) -> f64 {
    let value = &result.samples()[list][name][quantity][0];
    value
        .as_f64()
        .unwrap_or_else(|| panic!("no {quantity} of {name}"))
}

#[test]
fn asking_for_tails_moves_no_other_value() {
    let tails = [
        "jain_p05",
        "longest_starved_s",
        "sojourn_p99_s",
        "rtt_p95_s",
        "rtt_p99_s",
    ];
    for text in [CELL, CAPTURE, ROUTER, USERS] {
        let means = with_tails(text, Detail::Means, "never");
        let means = means.summary().clone();
        let mut all = with_tails(text, Detail::Tails, "never").summary().clone();
        assert_ne!(means, all);
        let lists = all.as_object_mut().into_iter().flatten();
        for item in lists.filter_map(|(_, list)| list.as_array_mut()).flatten() {
            if let Some(item) = item.as_object_mut() {
                item.retain(|quantity, _| !tails.contains(&quantity.as_str()));
            }
        }
        assert_eq!(means, all);
    }
}

/// Recomputes the statistics from the series, which has the data of each flow in each second. The second smallest
/// Jain's index of 26 windows is the 5th percentile. Jain's index omits a station that gets all that it demands.
#[test]
fn windows_are_those_of_the_series() {
    let result = with_tails(CELL, Detail::Tails, "1 s");
    let Some(series) = &result.series else {
        panic!("a series");
    };
    let rates = |station: &str| {
        let name = format!("{station}/down/1");
        let mut tracks = series.tracks.iter();
        let track = tracks.find(|track| track.name == name && track.quantity == "goodput_bps");
        track.map_or(&[][..], |track| &track.values[5..])
    };
    let (a, b, c) = (rates("a"), rates("b"), rates("c"));
    assert_eq!(a.len(), 26);
    let mut indices: Vec<f64> = (0..26)
        .map(|k| {
            let mut shares = vec![a[k]];
            // the windows last 1 s each and begin at 5 s: flow b, which stops at 20 s, is in the first 15 windows; flow
            // c, which starts at 9.5 s, is in the windows from the sixth on
            shares.extend((k < 15).then_some(b[k]));
            shares.extend((k >= 5).then_some(c[k]));
            let sum: f64 = shares.iter().sum();
            let squares: f64 = shares.iter().map(|x| x * x).sum();
            sum * sum / (shares.len() as f64 * squares)
        })
        .collect();
    indices.sort_unstable_by(f64::total_cmp);
    let found = sample(&result, "cells", "cell", "jain_p05");
    assert!(
        (found - indices[1]).abs() < 1e-12,
        "{found} {:?}",
        &indices[..3]
    );
    // the phone gets all the data that it demands, so there is no starvation time
    assert!(result.samples()["stations"]["phone"]["longest_starved_s"][0].is_null());
}

#[test]
fn capture_starves_stations_for_seconds() {
    let longest = |text: &str| {
        let result = with_tails(text, Detail::Tails, "never");
        (1..=7)
            .map(|k| {
                mean(
                    &result,
                    "stations",
                    &format!("sta-{k}"),
                    "longest_starved_s",
                )
            })
            .fold(0.0, f64::max)
    };
    let with_windows_of_31 = CAPTURE.replace("cwmin = 1,", "cwmin = 31,");
    let (captured, shared) = (longest(CAPTURE), longest(&with_windows_of_31));
    assert!(captured > 2.0 && shared < 0.5, "{captured} {shared}");
}

/// Checks that the distribution and the mean of the round-trip times are computed from the same samples, in each
/// replication and in all replications together.
#[test]
fn round_trip_times_are_those_of_the_mean() {
    for (text, user) in [(CELL, "a/down/1"), (ROUTER, "flow-1"), (USERS, "far")] {
        let Ok(scenario) = parse(text, Format::Toml, "test.toml", &[]) else {
            panic!("{text}");
        };
        let result = with_tails(text, Detail::Tails, "never");
        for number in 0..2 {
            let run = run_replication(&scenario, number, Detail::Tails, &mut |_| {
                ControlFlow::Continue(())
            });
            let Ok(run) = run else { panic!("a run") };
            let of_flows = run.distributions.iter().filter(|own| own.list == "flows");
            let of_flows: Vec<_> = of_flows.collect();
            assert!(of_flows.iter().any(|own| own.name == user));
            for own in of_flows {
                let samples = &result.samples()["flows"][&own.name];
                let mean = samples[own.quantity][number as usize].as_f64();
                assert!(mean.is_some() && own.histogram.count() > 10, "{}", own.name);
                assert_eq!(own.histogram.mean_s(), mean, "{}", own.name);
                if own.quantity == "rtt_s" {
                    for (quantity, part) in [("rtt_p95_s", 0.95), ("rtt_p99_s", 0.99)] {
                        let value = samples[quantity][number as usize].as_f64();
                        assert_eq!(own.histogram.quantile_s(part), value);
                    }
                }
            }
        }
        let count = |own: &Distribution| own.histogram.count();
        let all: u64 = result.distributions.iter().map(count).sum();
        let first = run_replication(&scenario, 0, Detail::Tails, &mut |_| {
            ControlFlow::Continue(())
        });
        let first: u64 = first.map_or(0, |run| run.distributions.iter().map(count).sum());
        assert!(all > first && first > 0);
    }
}

/// Datagrams arrive every 100 ms over a wire with a delay of 30 ms. No datagram waits for another, so that all delays
/// are equal.
#[test]
fn percentiles_of_equal_delays_are_their_mean() {
    let text = "duration = \"20 s\"\nreplications = 1\n[cell]\nphy = \"802.11b\"\n[wire]\n\
                delay = \"30 ms\"\n[station.a]\n\
                udp_down = { rate = \"12.8 kbps\", packet = \"160 B\" }\n";
    let result = with_tails(text, Detail::Tails, "never");
    let flow = |quantity| mean(&result, "flows", "a/udp-down/1", quantity);
    let [delay, p99] = ["one_way_delay_s", "one_way_delay_p99_s"].map(flow);
    assert!(delay > 0.03, "{delay}");
    assert_eq!(delay, p99); // no other node contends, and the post-backoff is over when a datagram arrives
    let queue = |quantity| mean(&result, "queues", "ap", quantity);
    let [sojourn, p99] = ["sojourn_s", "sojourn_p99_s"].map(queue);
    assert!(sojourn < 2e-3, "{sojourn}");
    assert_eq!(sojourn, p99);
}

/// The percentile of a class is computed over the datagrams of all its flows; it is not a mean of the flows'
/// percentiles.
#[test]
fn a_class_has_the_percentile_of_all_its_datagrams() {
    let text = "duration = \"20 s\"\nreplications = 1\n\
                [link.l]\nfrom = \"x\"\nto = \"y\"\ndelay = \"10 ms\"\nrate = \"2 Mbps\"\n\
                [flow.call]\nfrom = \"x\"\nto = \"y\"\ncount = 3\n\
                udp = { rate = \"640 kbps\", packet = \"1000 B\", arrivals = \"poisson\" }\n";
    let result = simulate(text, &[]);
    let p99 = |name: &str| mean(&result, "flows", name, "one_way_delay_p99_s");
    let own = ["call-1", "call-2", "call-3"].map(p99);
    let class = mean(&result, "classes", "call", "one_way_delay_p99_s");
    let (least, most) = (
        own[0].min(own[1]).min(own[2]),
        own[0].max(own[1]).max(own[2]),
    );
    assert!(least <= class && class <= most, "{own:?} {class}");
    assert!(class > mean(&result, "classes", "call", "one_way_delay_s"));
}

#[test]
fn a_series_with_tails_contains_the_delays_of_flows() {
    let result = with_tails(CELL, Detail::Tails, "100 ms");
    let series = result.series.as_ref().expect("a series");
    let plain = with_tails(CELL, Detail::Means, "100 ms");
    let others = plain.series.expect("a series").tracks.len();
    assert_eq!(series.tracks.len(), others + 4);
    // one datagram arrives every 20 ms, so that each interval has the same number of datagrams
    let track = series
        .tracks
        .iter()
        .find(|track| track.quantity == "one_way_delay_s");
    let values = &track.expect("a track").values[50..];
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let measured = sample(&result, "flows", "phone/udp-down/1", "one_way_delay_s");
    assert!(
        (mean - measured).abs() < 0.02 * measured,
        "{mean} {measured}"
    );
}
