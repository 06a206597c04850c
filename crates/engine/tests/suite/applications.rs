//! Applications that write to TCP connections at their own times. The expected times are computed by hand.

use lasthop_engine::scenario::{Format, parse};

use super::queues::{mean, simulate};

/// A link of 10 Mb/s with a delay of 20 ms in each direction. A full segment of 1500 B takes 1.2 ms, and an ACK of 40 B
/// takes 0.032 ms. The first segment is acknowledged after 1.2 + 20 + 0.032 + 20 = 41.232 ms.
const LINE: &str = r#"
duration = "30 s"
warmup = "0 s"
replications = 1
tcp = { congestion = "newreno", delayed_ack = false, handshake = false, initial_window = 4, window = 1000 }
link.line = { from = "a", to = "b", rate = "10 Mbps", delay = "20 ms" }
flow.f = { from = "a", to = "b", start_spread = "0 s" }
"#;

/// Returns a quantity of flow `f` with these settings.
fn of_line(settings: &[(&str, &str)], quantity: &str) -> f64 {
    mean(&simulate(LINE, settings), "flows", "f", quantity)
}

fn near(value: f64, expected: f64) {
    assert!(
        (value - expected).abs() < 1e-9,
        "{value} instead of {expected}"
    );
}

#[test]
fn a_rate_is_the_goodput_within_one_segment() {
    let segment_bps = 1460.0 * 8.0 / 30.0;
    for (rate, bps) in [
        ("5 Mbps", 5e6),
        ("333 kbps", 333e3),
        ("7777777 bps", 7_777_777.0),
    ] {
        for more in [&[][..], &[("tcp.rack", "true"), ("tcp.sack", "true")]] {
            let settings = [&[("flow.f.rate", rate)][..], more].concat();
            let goodput_bps = of_line(&settings, "goodput_bps");
            // the data of the last 21.2 ms is on its way at the end
            let expected = bps * (30.0 - 0.0212) / 30.0;
            assert!(
                (goodput_bps - expected).abs() <= segment_bps,
                "{rate}: {goodput_bps}"
            );
        }
    }
}

/// 1 MB at 8 Mb/s is written in exactly 1 s. Its last segment has 1360 B, and takes 1.12 ms on the link.
#[test]
fn a_size_at_a_rate_is_complete_when_its_last_byte_is_acknowledged() {
    let settings = [("flow.f.rate", "8 Mbps"), ("flow.f.size", "1 MB")];
    near(
        of_line(&settings, "completion_s"),
        1.0 + 0.00112 + 0.02 + 0.000032 + 0.02,
    );
    near(of_line(&settings, "goodput_bps"), 8e6 / 30.0);
    assert_eq!(of_line(&settings, "unfinished"), 0.0);
}

/// 15,000 B are ten full segments and one of 400 B, which takes 0.352 ms. With a window of 20 packets all of them leave
/// at once.
#[test]
fn a_size_alone_is_sent_as_fast_as_the_window_permits() {
    let settings = [("flow.f.size", "15 kB"), ("tcp.initial_window", "20")];
    near(
        of_line(&settings, "completion_s"),
        0.012352 + 0.02 + 0.000032 + 0.02,
    );
    near(of_line(&settings, "goodput_bps"), 15_000.0 * 8.0 / 30.0);
}

/// Ten segments with an initial window of 4: segments 4 to 9 leave in pairs, when segments 0 to 2 are acknowledged at
/// 41.232, 42.432 and 43.632 ms. The link sends them from 41.232 ms on without a gap, so that the last arrives at 41.232
/// plus 6 * 1.2 plus 20 = 68.432 ms. The window is then 14, so that later chunks arrive after 10 * 1.2 + 20 = 32 ms, unless
/// the connection restarts with 4 packets.
#[test]
fn chunks_take_longer_if_the_connection_restarts_after_idle_time() {
    let chunks = |every: &str, after_idle: &str| {
        let settings = [
            ("flow.f.size", "14600 B"),
            ("flow.f.every", every),
            ("tcp.after_idle", after_idle),
        ];
        of_line(&settings, "chunk_completion_s")
    };
    let mean_of = |first: f64, later: f64, count: f64| (first + (count - 1.0) * later) / count;
    near(chunks("1 s", "keep"), mean_of(0.068432, 0.032, 30.0));
    near(chunks("1 s", "rfc7661"), mean_of(0.068432, 0.032, 30.0));
    near(chunks("1 s", "rfc5681"), 0.068432);
    near(chunks("1 s", "linux"), 0.068432);
    // 0.3 s after the start of the first chunk, the connection was idle for 256 ms, which is more than one RTO of 200 ms
    // and less than two: Linux halves the window once, to 7. Segments 7 to 9 leave after the first two ACKs, and the last
    // of them arrives at 41.232 + 3 * 1.2 + 20 = 64.832 ms.
    let two = [
        ("duration", "0.6 s"),
        ("flow.f.size", "14600 B"),
        ("flow.f.every", "0.3 s"),
        ("tcp.after_idle", "linux"),
    ];
    near(
        of_line(&two, "chunk_completion_s"),
        (0.068432 + 0.064832) / 2.0,
    );
}

#[test]
fn connections_with_an_application_restart_by_default_and_others_do_not() {
    let after_idle = |keys: &str| {
        let text = format!("{LINE}[flow.f]\n");
        let text = text.replace(
            "start_spread = \"0 s\" }\n[flow.f]\n",
            &format!("{keys} }}\n"),
        );
        let scenario = parse(&text, Format::Toml, "x.toml", &[]).expect("a scenario");
        scenario.to_json()["flows"][0]["tcp"]["after_idle"].clone()
    };
    assert_eq!(after_idle("start = \"0 s\""), "keep");
    assert_eq!(after_idle("size = \"1 MB\""), "keep");
    assert_eq!(after_idle("rate = \"1 Mbps\""), "rfc5681");
    assert_eq!(after_idle("size = \"1 MB\", every = \"4 s\""), "rfc5681");
    assert_eq!(after_idle("on = \"1 s\", off = \"1 s\""), "rfc5681");
    assert_eq!(
        after_idle("rate = \"1 Mbps\", after_idle = \"linux\""),
        "linux"
    );
}

/// A chunk of 1.46 MB is 1000 segments, which take 1.2 s on the link. A chunk per second is late, and one per 2 s is not.
#[test]
fn chunks_are_late_if_the_line_is_too_slow_for_their_period() {
    let late = |every: &str, quantity: &str| {
        let shared = [
            ("flow.f.size", "700 kB"),
            ("flow.f.every", every),
            ("flow.f.arrivals", "poisson"),
        ];
        of_line(&shared, quantity)
    };
    assert_eq!(late("20 s", "late_chunks"), 0.0);
    let (chunks, number) = (late("0.6 s", "chunks"), late("0.6 s", "late_chunks"));
    assert!(
        chunks > 20.0 && number > 0.3 * chunks,
        "{number} of {chunks}"
    );
}

/// In 30 s there are three periods of 2 s on and 8 s off.
#[test]
fn an_application_writes_only_while_it_is_on() {
    let periods = [("flow.f.on", "2 s"), ("flow.f.off", "8 s")];
    let paced = [&periods[..], &[("flow.f.rate", "4 Mbps")]].concat();
    let segment_bps = 1460.0 * 8.0 / 30.0;
    let goodput_bps = of_line(&paced, "goodput_bps");
    assert!((goodput_bps - 0.8e6).abs() <= segment_bps, "{goodput_bps}");
    // without a rate the link is full while the application is on, except for the start of each time
    let greedy = [&periods[..], &[("tcp.window", "100")]].concat();
    let greedy_bps = of_line(&greedy, "goodput_bps");
    let full_bps = 10e6 * 1460.0 / 1500.0 * 0.2;
    assert!(
        (0.95..1.06).contains(&(greedy_bps / full_bps)),
        "{greedy_bps}"
    );
}

#[test]
fn the_application_limits_the_flow_in_the_rest_of_the_time() {
    let cases: [&[(&str, &str)]; 4] = [
        &[("flow.f.rate", "3 Mbps")],
        &[("flow.f.size", "1 MB"), ("flow.f.every", "3 s")],
        &[("flow.f.on", "2 s"), ("flow.f.off", "3 s")],
        &[
            ("flow.f.on", "2 s"),
            ("flow.f.off", "3 s"),
            ("flow.f.arrivals", "poisson"),
            ("flow.f.rate", "3 Mbps"),
        ],
    ];
    for settings in cases {
        let result = simulate(LINE, settings);
        let [cwnd, rwnd, app] = ["cwnd", "rwnd", "app"]
            .map(|limit| mean(&result, "flows", "f", &format!("{limit}_limited_fraction")));
        assert!((cwnd + rwnd + app - 1.0).abs() < 1e-12, "{settings:?}");
        assert!(app > 0.5, "{settings:?}: {app}");
    }
}

/// A chunk of 10 segments leaves within 68.432 ms, of which the window limits the first 43.632 ms: the last segment
/// leaves with the third ACK.
#[test]
fn the_window_limits_a_chunk_until_its_last_segment_has_left() {
    let settings = [("flow.f.size", "14600 B"), ("flow.f.every", "1 s")];
    near(of_line(&settings, "cwnd_limited_fraction"), 0.043632);
    near(of_line(&settings, "app_limited_fraction"), 1.0 - 0.043632);
}

/// A flow that keeps up with its application is not treated unfairly.
#[test]
fn a_paced_flow_with_its_rate_does_not_compete() {
    let text = r#"
duration = "20 s"
warmup = "2 s"
replications = 1
cell = { phy = "802.11g" }
wire = { delay = "10 ms" }
station.video.download = { rate = "2 Mbps" }
station.bulk = { count = 2, download = 1 }
"#;
    let result = simulate(text, &[]);
    let jain = mean(&result, "cells", "cell", "jain");
    assert!(jain > 0.95, "{jain}");
    let goodput_bps = mean(&result, "stations", "video", "goodput_bps");
    assert!((goodput_bps / 2e6 - 1.0).abs() < 0.01, "{goodput_bps}");
}

/// Returns the first line of the message about a file with these keys of flow `f`.
fn refusal(keys: &str) -> String {
    let text = LINE.replace("start_spread = \"0 s\"", keys);
    let problems = parse(&text, Format::Toml, "x.toml", &[]).expect_err("a refusal");
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].to_string()
}

#[test]
fn keys_that_contradict_each_other_are_refused_in_one_line() {
    let cases = [
        (
            "every = \"1 s\"",
            "`flow.f.every`: missing key `size`: expected the size of a chunk, such as size = \"2 MB\"",
        ),
        (
            "on = \"1 s\"",
            "`flow.f.on`: missing key `off`: expected `on` and `off`",
        ),
        (
            "off = \"1 s\"",
            "`flow.f.off`: missing key `on`: expected `on` and `off`",
        ),
        (
            "size = \"1 MB\", every = \"9 s\", on = \"1 s\"",
            "`flow.f.on`: conflicts with `every`",
        ),
        (
            "size = \"1 MB\", segments = 5",
            "`flow.f.segments`: conflicts with `size`",
        ),
        (
            "rate = \"1 Mbps\", arrivals = \"poisson\"",
            "`flow.f.arrivals`: has no effect",
        ),
        (
            "rate = \"1 Mbps\", size = \"1 MB\", every = \"7 s\"",
            "is shorter than the time in which the rate writes a chunk; expected at least 8 s",
        ),
        (
            "rate = \"20 Mbps\"",
            "is 20547945 bit/s with headers of 40 B, more than link `line` carries (10 Mbps); expected at most 9733 kbps",
        ),
        (
            // 99 % of the line do not leave room for headers of 40 B per 1460 B
            "rate = \"9.9 Mbps\"",
            "is 10171233 bit/s with headers of 40 B, more than link `line` carries (10 Mbps)",
        ),
        (
            // a chunk of 1 B is a packet of 41 B
            "size = \"1 B\", every = \"30 us\"",
            "`flow.f.every`: \"30 us\" is too small",
        ),
        (
            "size = \"4 kB\", every = \"3.2 ms\"",
            "\"4 kB\" every 3200 us is 10300000 bit/s with headers of 40 B",
        ),
        (
            "rate = \"1 bps\"",
            "`flow.f.rate`: \"1 bps\" writes no full segment in the measured time; expected at least",
        ),
        (
            "size = \"1.5 B\"",
            "`flow.f.size`: \"1.5 B\" is not a whole number of bytes; expected a size",
        ),
        (
            "size = \"10 MB\", every = \"4 s\"",
            "\"10 MB\" every 4 s is 20548000 bit/s with headers of 40 B, more than link `line` carries",
        ),
        (
            "rate = \"1 Mbps\", udp = \"2 Mbps\"",
            "`flow.f.rate`: this key is only for TCP",
        ),
        (
            "rate = \"1 Mbps\", web = 5",
            "`flow.f.rate`: this key is only for bulk TCP",
        ),
        (
            "every = \"1 s\", web = 5",
            "`flow.f.every`: this key is only for bulk TCP",
        ),
        (
            "on = \"1 s\", udp = \"2 Mbps\"",
            "`flow.f.on`: this key is only for TCP",
        ),
    ];
    for (keys, expected) in cases {
        let message = refusal(keys);
        assert!(message.contains(expected), "{keys}: {message}");
    }
}

#[test]
fn a_rate_above_that_of_the_station_is_refused() {
    let text = r#"
duration = "20 s"
cell = { phy = "802.11b" }
station.a = { rate = "2 Mbps", download = { rate = "5 Mbps" } }
"#;
    let problems = parse(text, Format::Toml, "x.toml", &[]).expect_err("a refusal");
    let message = problems[0].to_string();
    let expected = "\"5 Mbps\" is 5136986 bit/s with headers of 40 B, more than the air to station `a` carries (2 Mbps); expected at most 1946 kbps";
    assert!(message.contains(expected), "{message}");
}
