//! Tests of the division of routes into legs. A leg is a section of a route that a packet passes in
//! one event. Each test checks one reason to divide a route, or one reason not to divide it.

use super::super::World;
use super::*;
use crate::scenario::{Format, parse};

/// Returns as text the legs of the two routes of the first flow: first the route of its ACKs, then
/// the route of its data.
fn legs(settings: &str) -> [String; 2] {
    let text = format!("duration = \"2 s\"\nwarmup = \"1 s\"\n{settings}");
    let scenario = match parse(&text, Format::Toml, "test.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?} in {text}"),
    };
    let world = World::new(&scenario, 0).expect("a network");
    [false, true].map(|data| line(world.network.wires.routes.legs_of(0, data)))
}

/// Returns legs as text. The text of a leg is the delay before its link, queue or endpoint, the
/// name of this link, queue or endpoint, and the delay after it. `at once` means that packets enter
/// the leg with lookahead, that is, in the event of the previous leg. `ends` means that the leg
/// ends at the endpoint.
fn line(legs: &[Leg]) -> String {
    let delay = |span: Span| match span {
        Span::ZERO => String::new(),
        Span(ns) => format!("{} ms ", ns / 1_000_000),
    };
    let text = |leg: &Leg| {
        let place = match leg.place {
            Place::Host(_) => "host",
            Place::Link(_) | Place::Gate(_) => "link",
            Place::Delay => "delay",
            Place::Air(_) => "air",
            Place::End | Place::EndAhead => "end",
        };
        let (before, behind) = (delay(leg.lead), delay(leg.delay));
        let at_once = if leg.lookahead { "at once " } else { "" };
        let ends = if leg.ends { "ends " } else { "" };
        format!("{before}{place} {behind}{at_once}{ends}")
            .trim_end()
            .to_owned()
    };
    legs.iter().map(text).collect::<Vec<_>>().join(" | ")
}

const TWO_FLOWS: &str = "tcp = { delayed_ack = false, window = 10 }\n";

#[test]
fn a_host_with_a_rate_is_a_place_and_an_event_waits_where_several_meet() {
    let [_, data] = legs(&format!(
        "{TWO_FLOWS}dumbbell = {{ flows = 2, access = \"2 Mbps\", access_spread = 0.01, \
         bottleneck = \"20 Mbps\", delay = \"1 ms\", rtt = \"40 ms\" }}\n"
    ));
    // packets of the two hosts meet in front of the bottleneck, and wait there for an event;
    // therefore packets do not enter the second leg with lookahead; this leg consists of the
    // bottleneck and the endpoint
    let [first, rest] = data.split(" | ").collect::<Vec<_>>()[..] else {
        panic!("{data}");
    };
    assert!(
        first.starts_with("host") && first.ends_with("at once"),
        "{data}"
    );
    assert!(
        rest.starts_with("link") && !rest.contains("at once"),
        "{data}"
    );
    assert!(rest.ends_with("ends"), "{data}");
}

#[test]
fn a_mere_delay_that_begins_a_way_is_the_lead_of_the_link_behind_it() {
    let [_, data] = legs(&format!(
        "{TWO_FLOWS}dumbbell = {{ flows = 2, bottleneck = \"20 Mbps\", rtt = \"40 ms\" }}\n"
    ));
    // the hosts have the same delay, so that their packets reach the bottleneck in a known order:
    // the first leg contains both the delay and the bottleneck
    let first = data.split(" | ").next().unwrap_or_default();
    assert!(first.contains(" ms link"), "{data}");
    assert!(first.contains("at once"), "{data}");
}

#[test]
fn hosts_at_different_distances_are_legs_of_their_own() {
    let [_, data] = legs(
        "tcp = { delayed_ack = false }\n\
         dumbbell = { flows = 0, bottleneck = \"20 Mbps\" }\n\
         flow.near = { rtt = \"40 ms\" }\nflow.far = { rtt = \"90 ms\" }\n",
    );
    let [first, rest, ..] = data.split(" | ").collect::<Vec<_>>()[..] else {
        panic!("{data}");
    };
    assert!(
        first.starts_with("delay") && first.ends_with("at once"),
        "{data}"
    );
    assert!(
        rest.starts_with("link") && !rest.contains("at once"),
        "{data}"
    );
}

#[test]
fn mere_delays_behind_a_link_join_its_leg() {
    let [_, data] = legs(&format!(
        "{TWO_FLOWS}dumbbell = {{ flows = 2, access = \"2 Mbps\", access_spread = 0.01, \
         bottleneck = \"20 Mbps\", rtt = \"40 ms\" }}\n"
    ));
    assert!(!data.contains("delay"), "{data}");
}

#[test]
fn behind_a_queue_that_decides_on_departure_is_a_leg_of_its_own() {
    let [_, data] = legs(&format!(
        "{TWO_FLOWS}queue = {{ limit = 50, codel = {{}} }}\n\
         dumbbell = {{ flows = 2, access = \"2 Mbps\", bottleneck = \"20 Mbps\", rtt = \"40 ms\" }}\n"
    ));
    let [_, served, behind, ..] = data.split(" | ").collect::<Vec<_>>()[..] else {
        panic!("{data}");
    };
    assert_eq!(served, "link", "{data}");
    assert!(
        !behind.starts_with("link") && behind.contains("at once"),
        "{data}"
    );
}

#[test]
fn an_endpoint_in_its_own_time_is_the_last_leg() {
    let [_, data] = legs(
        "tcp = { delayed_ack = true }\n\
         dumbbell = { flows = 1, bottleneck = \"20 Mbps\", rtt = \"40 ms\" }\n",
    );
    assert!(data.ends_with("| end"), "{data}");
}

#[test]
fn a_queue_of_the_radio_is_a_leg() {
    let both =
        legs("cell = { phy = \"802.11b\" }\nwire.delay = \"5 ms\"\nstation.a.download = 1\n");
    let expected = ["link at once | end", "link at once | air"];
    assert_eq!(both, expected);
}
