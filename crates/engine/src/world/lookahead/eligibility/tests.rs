//! Tests of the conditions for lookahead, one test per condition.

use super::super::super::World;
use crate::scenario::{Format, parse};

/// Returns whether packets enter the link `name` with lookahead.
fn is_entered(settings: &str, name: &str) -> bool {
    let text = format!("duration = \"2 s\"\nwarmup = \"1 s\"\n{settings}");
    let scenario = match parse(&text, Format::Toml, "test.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?} in {text}"),
    };
    let world = World::new(&scenario, 0).expect("a network");
    let link = world
        .network
        .wires
        .links()
        .iter()
        .find(|link| link.name() == name);
    link.is_some_and(|link| link.enters_ahead())
}

fn dumbbell(flows: &str) -> String {
    format!("dumbbell = {{ flows = 0, bottleneck = \"20 Mbps\" }}\n{flows}")
}

#[test]
fn hosts_at_the_same_distance_without_a_rate_feed_a_link_in_order() {
    let equal = dumbbell("flow.a = { count = 3, rtt = \"40 ms\" }\n");
    assert!(is_entered(&equal, "bottleneck"));
}

#[test]
fn hosts_at_different_distances_do_not_feed_a_link_in_order() {
    let apart = dumbbell("flow.a = { rtt = \"40 ms\" }\nflow.b = { rtt = \"50 ms\" }\n");
    assert!(!is_entered(&apart, "bottleneck"));
}

#[test]
fn hosts_with_a_rate_or_jitter_do_not_feed_a_link_in_order() {
    for setting in ["access = \"2 Mbps\"", "jitter = \"1 ms\""] {
        let hosts = dumbbell(&format!(
            "flow.a = {{ count = 2, rtt = \"40 ms\", {setting} }}\n"
        ));
        assert!(!is_entered(&hosts, "bottleneck"), "{setting}");
    }
}

#[test]
fn one_other_link_feeds_a_link_in_order() {
    let lone = dumbbell("flow.a = { rtt = \"40 ms\", access = \"2 Mbps\" }\n");
    assert!(is_entered(&lone, "bottleneck"));
}

#[test]
fn a_link_that_decides_on_departure_is_never_eligible() {
    let queue = "queue = { limit = 50, codel = {} }\n";
    let equal = dumbbell("flow.a = { count = 3, rtt = \"40 ms\" }\n");
    assert!(!is_entered(&format!("{queue}{equal}"), "bottleneck"));
}

#[test]
fn a_link_that_follows_a_trace_is_never_eligible() {
    let flows = "flow.a = { count = 3, rtt = \"40 ms\" }\n";
    let traced = dumbbell(flows).replace("\"20 Mbps\"", "{ trace = [1, 2] }");
    assert!(!is_entered(&traced, "bottleneck"));
}

#[test]
fn replies_of_hosts_at_the_same_distance_feed_the_route_back_in_order() {
    let back = |flows: &str| {
        let settings = format!("tcp = {{ delayed_ack = false }}\n{}", dumbbell(flows));
        is_entered(&settings, "bottleneck/back")
    };
    assert!(back(
        "flow.a = { count = 3, rtt = \"40 ms\", access = \"2 Mbps\" }\n"
    ));
    assert!(!back(
        "flow.a = { rtt = \"40 ms\" }\nflow.b = { rtt = \"50 ms\" }\n"
    ));
}

#[test]
fn packets_off_the_air_are_known_at_their_arrival() {
    let cell = "cell = { phy = \"802.11b\" }\nwire.delay = \"5 ms\"\nstation.a.upload = 1\n";
    assert!(!is_entered(cell, "wire/up"));
}
