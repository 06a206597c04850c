//! Tests of pings at stations and between wired nodes.

use super::networks::{MS, names, refused};
use super::refused_values::assert_said;
use super::{message_of, toml};
use crate::app::ping::PingSettings;
use crate::kernel::time::Span;
use crate::scenario::*;

fn settings(flow: &Flow) -> PingSettings {
    let Transport::Ping(ping) = flow.transport else {
        panic!("{} is no flow of pings", flow.name)
    };
    ping
}

#[test]
fn pings_of_a_station_go_up_and_a_bare_time_is_their_interval() {
    let text = "duration = \"20 s\"\ncell.phy = \"802.11g\"\n\
                station.a = { count = 2, ping = \"200 ms\", upload = 1 }\n\
                station.b.ping = { every = \"1 s\", size = \"100 B\", deadline = \"300 ms\", \
                category = \"voice\", start = \"2 s\", stop = \"9 s\" }";
    let scenario = toml(text, &[]).unwrap();
    let names: Vec<&str> = scenario.flows.iter().map(|flow| &*flow.name).collect();
    assert_eq!(
        names,
        [
            "a-1/up/1",
            "a-1/ping/1",
            "a-2/up/1",
            "a-2/ping/1",
            "b/ping/1"
        ]
    );
    let [_, usual, .., own] = &scenario.flows[..] else {
        panic!("five flows")
    };
    assert_eq!(
        settings(usual),
        PingSettings {
            every: Span(200 * MS),
            payload_bytes: 56,
            deadline: Span(2_000 * MS), // a tenth of the run
        }
    );
    assert_eq!(usual.direction(), Some(Direction::Up));
    let ping = settings(own);
    assert_eq!((ping.packet_bytes(), ping.deadline), (128, Span(300 * MS)));
    assert_eq!(own.category, Category::Voice);
    assert_eq!(
        (own.start, own.stop),
        (Span(2_000 * MS), Some(Span(9_000 * MS)))
    );
    let json = scenario.to_json();
    assert_eq!(
        json["flows"][1]["ping"],
        serde_json::json!({
            "every_s": 0.2, "payload_bytes": 56, "header_bytes": 28, "deadline_s": 2.0,
        })
    );
}

#[test]
fn pings_between_wired_nodes_have_hosts_like_other_flows() {
    let text = "duration = \"20 s\"\nlink.l = { from = \"x\", to = \"y\", rate = \"1 Mbps\" }\n\
                flow.probe = { from = \"x\", to = \"y\", count = 2, rtt = \"40 ms\", ping = {} }";
    let scenario = toml(text, &[]).unwrap();
    let [first, second] = &scenario.flows[..] else {
        panic!("two flows")
    };
    assert_eq!((&*first.name, &*second.name), ("probe-1", "probe-2"));
    assert_eq!(settings(first).every, Span(1_000 * MS)); // as ping(8)
    let path = |links: &[u32]| names(&scenario, links);
    assert_eq!(path(&first.forward)[1], "l");
    assert_eq!(path(&first.back)[1], "l/back");
}

#[test]
fn impossible_pings_are_refused_in_one_line() {
    assert_said(&[
        (
            "ping = \"0.1 ms\"",
            "ping`: \"0.1 ms\" is too small; expected a duration from 1 ms to 1000000 s",
        ),
        (
            "ping = { size = \"8 B\" }",
            "ping.size`: \"8 B\" is too small; expected a size from 16 to 2304 B",
        ),
        (
            "ping = { size = \"2300 B\" }",
            "ping.size`: \"2300 B\" with headers of 28 B and 8 B is more than an 802.11 frame \
             carries (2304 B); expected at most 2268 B",
        ),
        (
            "ping = { deadline = \"10 s\" }",
            "ping.deadline`: \"10 s\" leaves no ping to measure; expected less than the duration \
             of 10 s",
        ),
        (
            "ping = { start = \"2 s\", stop = \"1 s\" }",
            "ping.stop`: \"1 s\" is not after the start; expected more than 2 s",
        ),
    ]);
    // SMALL is measured from 1 s to 10 s, and the deadline is 1 s
    assert_said(&[
        (
            "ping = { deadline = \"9 s\" }",
            "ping.deadline`: \"9 s\" leaves no ping to measure; expected less than the measured 9 s",
        ),
        (
            "ping = \"100 s\"",
            "ping`: \"100 s\" may leave no ping to measure; expected at most 8 s",
        ),
        (
            "ping = { every = \"2 s\", deadline = \"7.5 s\" }",
            "ping.every`: \"2 s\" may leave no ping to measure; expected at most 1500 ms",
        ),
        (
            "ping = { every = \"100 ms\", stop = \"900 ms\" }",
            "ping.stop`: \"900 ms\" leaves no ping to measure; expected more than 1 s, from which on pings count",
        ),
        (
            "ping = { every = \"100 ms\", start = \"9.5 s\" }",
            "ping.every`: \"100 ms\" leaves no ping to measure; expected a longer `duration`",
        ),
    ]);
    assert!(toml(&format!("{}ping = \"8 s\"", super::SMALL), &[]).is_ok());
    let link = "link.l = { from = \"a\", to = \"b\", rate = \"1 Mbps\" }\n";
    let said = |keys: &str| {
        refused(&format!(
            "{link}flow.x = {{ from = \"a\", to = \"b\", ping = \"1 s\", {keys} }}"
        ))
    };
    for (keys, wanted) in [
        (
            "udp = \"1 Mbps\"",
            "`flow.x.udp`: conflicts with `ping`; expected one of the two",
        ),
        (
            "web = 2",
            "`flow.x.web`: conflicts with `ping`; expected one of the two",
        ),
        (
            "call = 1",
            "`flow.x.call`: conflicts with `ping`; expected one of the two",
        ),
        (
            "window = 3",
            "`flow.x.window`: this key is only for TCP; expected a flow without ping",
        ),
    ] {
        assert!(said(keys).contains(wanted), "{}", said(keys));
    }
    let csma = "csma.link.one = {}\nflow.x = { route = [\"one\"], ping = \"1 s\" }";
    assert!(refused(csma).contains("`flow.x.ping`: pings are not supported with `csma`"));
}

#[test]
fn pings_of_the_station_and_its_replies_to_a_vsb_are_separate() {
    let message = message_of("pings = \"200 ms\"");
    assert!(
        message.contains("`station.a.pings`: \"200 ms\" is not a table"),
        "{message}"
    );
    assert!(message.contains("hint: pings that the station sends are `ping = \"200 ms\"`"));
    let message = message_of("icmp = \"200 ms\"");
    assert!(message.contains("hint: write pings from the station to its server as `ping ="));
}
