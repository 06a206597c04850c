//! The virtual shared bottleneck in front of an 802.11b cell.

use std::ops::ControlFlow;

use lasthop_engine::scenario::{Format, parse};
use lasthop_engine::{RunResult, run};

const CELL: &str = r#"
duration = "40 s"
warmup = "10 s"
replications = 1
stagger = "100 ms"
cell = { phy = "802.11b", ap_queue = 75 }
tcp = { congestion = "reno", window = 42 }
"#;

fn simulate(rest: &str) -> RunResult {
    let text = format!("{CELL}{rest}");
    let scenario = match parse(&text, Format::Toml, "vsb.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?}"),
    };
    match run(&scenario, 1, &|_| ControlFlow::Continue(())) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

fn mean(result: &RunResult, list: &str, name: &str, quantity: &str) -> f64 {
    let items = result.summary()[list].as_array().expect("a list");
    let item = items.iter().find(|item| item["name"] == name);
    let item = item.unwrap_or_else(|| panic!("{list} without {name}"));
    let mean = item[quantity]["mean"].as_f64();
    mean.unwrap_or_else(|| panic!("{name} without {quantity}: {item}"))
}

fn goodput(result: &RunResult, station: &str) -> f64 {
    mean(result, "stations", station, "goodput_bps")
}

#[test]
fn stations_get_equal_shares_whatever_their_connections() {
    for (first, other) in [
        ("download = 4", "download = 1"),
        ("upload = 4", "download = 1"),
        ("upload = 6", "upload = 1\ncount = 4"),
        (
            "download = 1\ntcp = { window = 12 }",
            "download = 1\ncount = 4",
        ),
        ("rate = \"2 Mbps\"\ndownload = 4", "download = 1"),
    ] {
        let stations = format!("[station.first]\n{first}\n[station.other]\n{other}\n");
        let second = if other.contains("count") {
            "other-1"
        } else {
            "other"
        };
        let shared = simulate(&format!("{stations}[vsb]"));
        let ratio = goodput(&shared, "first") / goodput(&shared, second);
        assert!((0.95..1.05).contains(&ratio), "{first}: {ratio}");
        let free = simulate(&stations);
        let unfair = goodput(&free, "first") / goodput(&free, second);
        assert!(!(0.9..1.1).contains(&unfair), "{first}: {unfair} without");
    }
}

#[test]
fn c_settles_just_under_the_capacity() {
    let stations = "[station.first]\ndownload = 4\n[station.other]\ndownload = 1\n";
    let free = simulate(stations);
    let capacity = mean(&free, "cells", "cell", "goodput_bps");
    let shared = simulate(&format!("{stations}[vsb]"));
    let goodput = mean(&shared, "cells", "cell", "goodput_bps");
    assert!(
        (0.93..1.02).contains(&(goodput / capacity)),
        "{goodput} of {capacity}"
    );
    let rtt = mean(&shared, "links", "vsb", "ping_rtt_p95_s");
    assert!(rtt < 0.08, "{rtt}");
    // the queue builds up in the bottleneck, not in the access point
    let ap = mean(&shared, "aps", "ap", "queue_packets");
    let leaf = mean(&shared, "queues", "vsb/first", "occupancy_packets");
    assert!(ap < 30.0 && leaf > 50.0, "{ap} {leaf}");
}

#[test]
fn the_kinds_of_fairness_share_what_they_say() {
    let stations = "[station.a]\ndownload = 3\n[station.b]\nupload = 1\n";
    let flows = simulate(&format!("{stations}[vsb]\nfairness = \"flow\""));
    let ratio = goodput(&flows, "a") / goodput(&flows, "b");
    assert!((2.8..3.2).contains(&ratio), "per flow: {ratio}");
    let sides = simulate(&format!("{stations}[vsb]\nfairness = \"direction\""));
    let ratio = mean(&sides, "cells", "cell", "updown_ratio");
    assert!((0.9..1.1).contains(&ratio), "up over down: {ratio}");
    let rates = "[station.a]\ndownload = 3\nrate = \"2 Mbps\"\n[station.b]\ndownload = 1\n";
    let share = |fairness: &str| {
        let result = simulate(&format!("{rates}[vsb]\nfairness = \"{fairness}\""));
        goodput(&result, "b") / goodput(&result, "a")
    };
    let ratio = share("rate");
    assert!(
        (5.0..6.0).contains(&ratio),
        "bytes as the rates, 5.5: {ratio}"
    );
    // Each data frame of 1536 bytes causes half a TCP ACK of 76 bytes (delayed ACKs). Station a sends and receives at 2
    // Mb/s, station b at 11 Mb/s, and MAC ACKs are sent at 2 Mb/s. With the MAC ACKs, the ratio of air times per
    // segment is (6594 + 754 / 2) / (1567 + 505 / 2) us = 3.8.
    let ratio = share("airtime");
    assert!((3.6..4.0).contains(&ratio), "air times of both: {ratio}");
}

#[test]
fn a_rate_of_its_own_needs_no_pings() {
    let result = simulate("[station.a]\ndownload = 2\n[vsb]\nrate = \"2 Mbps\"");
    // 1460 of 1500 bytes are payload; TCP ACKs of 40 bytes also use capacity
    let goodput = goodput(&result, "a");
    assert!((1.88e6..1.95e6).contains(&goodput), "{goodput}");
    assert_eq!(mean(&result, "links", "vsb", "capacity_bps"), 2e6);
    let item = &result.summary()["links"][0];
    assert!(item.get("ping_rtt_s").is_none(), "{item}");
}

#[test]
fn before_its_start_packets_pass_freely() {
    let stations = "[station.first]\ndownload = 4\n[station.other]\ndownload = 1\n";
    let free = simulate(stations);
    let late = simulate(&format!("{stations}[vsb]\nstart = \"39.9 s\""));
    let ratio = |result: &RunResult| goodput(result, "first") / goodput(result, "other");
    assert!(
        ratio(&late) > 2.5 && ratio(&free) > 2.5,
        "{} {}",
        ratio(&late),
        ratio(&free)
    );
}

#[test]
fn uplink_datagrams_pass_beside_it_if_asked_to_and_are_counted() {
    let stations = "[station.a]\ndownload = 2\n[station.b]\nudp_up = \"greedy\"\n";
    let result = simulate(&format!("{stations}[vsb]\nudp = \"down\""));
    let beside = mean(&result, "stations", "b", "bypass_packets");
    assert!(beside > 1000.0, "{beside}");
    assert_eq!(mean(&result, "stations", "a", "bypass_packets"), 0.0);
    assert!(goodput(&result, "a") > 1e6, "{}", goodput(&result, "a"));
    let leaves = result.summary()["queues"].as_array().expect("a list");
    let leaf = |name: &str| leaves.iter().any(|queue| queue["name"] == name);
    assert!(leaf("vsb/a") && !leaf("vsb/b"));
}

/// Two downloads and 4 Mbit/s of calls through a bottleneck of 2 Mbit/s. With `udp = "both"` each station gets half of
/// the capacity. With `udp = "down"` calls bypass the bottleneck and are not limited.
#[test]
fn uplink_datagrams_have_the_share_of_their_station() {
    let of = |udp: &str| {
        let stations = "[station.a]\ndownload = 2\n[station.b]\nudp_up = \"4 Mbps\"\n";
        let vsb = format!("{stations}[vsb]\nrate = \"2 Mbps\"\nudp = \"{udp}\"");
        simulate(&vsb)
    };
    let (both, down) = (of("both"), of("down"));
    // Goodput of half of 2 Mbit/s: 1460 of 1500 bytes are payload with TCP, and 1472 of 1500 bytes with UDP. The TCP
    // ACKs of two downloads use part of the capacity.
    let (tcp, udp) = (goodput(&both, "a"), goodput(&both, "b"));
    assert!((0.93e6..0.98e6).contains(&tcp), "{tcp}");
    assert!((0.97e6..0.99e6).contains(&udp), "{udp}");
    assert!((1.86e6..1.95e6).contains(&goodput(&down, "a")));
    let free = goodput(&down, "b");
    assert!(free > 2.0 * udp, "{free} beside");
    assert_eq!(mean(&both, "stations", "b", "bypass_packets"), 0.0);
    let leaf = mean(&both, "queues", "vsb/b", "occupancy_packets");
    assert!(leaf > 190.0, "{leaf} of 200: it does not slow down");
}

#[test]
fn a_sensors_datagrams_pass_it_as_calls_do() {
    for (udp, passes) in [("both", true), ("down", false)] {
        let result = simulate(&format!(
            "[station.a]\nsensor_up = \"10 ms\"\n[station.b]\ndownload = 1\n[vsb]\nudp = \"{udp}\""
        ));
        let beside = mean(&result, "stations", "a", "bypass_packets");
        assert_eq!(beside == 0.0, passes, "{beside}");
    }
}

/// A call of 64 kbit/s runs at the same time as downloads. The station of the call is pinged, and
/// the rate C of the bottleneck stays just below the capacity of the cell.
#[test]
fn c_settles_where_uplink_datagrams_pass_it_too() {
    let stations = "[station.a]\ndownload = 4\n[station.b]\nudp_up = \"64 kbps\"\ndownload = 1\n";
    let capacity = |udp: &str| {
        let result = simulate(&format!("{stations}[vsb]\nudp = \"{udp}\""));
        mean(&result, "links", "vsb", "capacity_bps")
    };
    let ratio = capacity("both") / capacity("down");
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
}

#[test]
fn stations_that_do_not_answer_leave_c_where_it_is() {
    // the only station also sends UDP that bypasses the bottleneck, so that no station is pinged and C is not estimated
    let result =
        simulate("[station.b]\nudp_up = \"greedy\"\nudp_down = \"1 Mbps\"\n[vsb]\nudp = \"down\"");
    assert_eq!(mean(&result, "links", "vsb", "capacity_bps"), 6e6);
}

#[test]
fn who_answers_no_pings_is_heard_by_its_flows() {
    let stations = |silent: &str| {
        format!(
            "[station.mute]\ndownload = 1\ncount = 10\n{silent}\n\
             [station.other]\ndownload = 1\ncount = 10\n{}\n[vsb]",
            if silent.contains("both") {
                "ping_loss = 1"
            } else {
                ""
            }
        )
    };
    let answering = simulate(&stations(""));
    let capacity = |result: &RunResult| mean(result, "links", "vsb", "capacity_bps");
    let queue = |result: &RunResult| mean(result, "aps", "ap", "queue_packets");
    for silent in ["ping_loss = 1", "ping_loss = 1 # both"] {
        let heard = simulate(&stations(silent));
        let ratio = capacity(&heard) / capacity(&answering);
        assert!((0.93..1.07).contains(&ratio), "{silent}: {ratio}");
        let ap = queue(&heard);
        assert!(ap < 30.0, "{silent}: {ap} packets, {}", queue(&answering));
        let goodputs = mean(&heard, "cells", "cell", "goodput_bps");
        let share = goodputs / mean(&answering, "cells", "cell", "goodput_bps");
        assert!(share > 0.95, "{silent}: {share}");
        assert_eq!(
            heard.summary(),
            simulate(&stations(silent)).summary(),
            "again"
        );
    }
}
