//! Tests of the TCP defaults that depend on the kind of network.

use super::{complaints, toml};
use crate::scenario::*;

/// One upload of a station. Each test adds the table of its cell.
const UPLOAD: &str = "duration = \"10 s\"\nstation.a.upload = 1\n";

/// One flow over a wired link.
const WIRED: &str = "duration = \"10 s\"\nlink.l = { from = \"x\", to = \"y\", delay = \"1 ms\" }\n\
                     flow.f = { from = \"x\", to = \"y\" }\n";

type Defaults = (CongestionAlgorithm, bool, u32, u32);

const MODERN: Defaults = (CongestionAlgorithm::Cubic, true, 10, 20_000);
const OLDER: Defaults = (CongestionAlgorithm::NewReno, false, 2, 42);

/// Returns the network-dependent TCP settings of each TCP sender.
fn settings(text: &str) -> Vec<Defaults> {
    let scenario = toml(text, &[]).unwrap_or_else(|_| panic!("{}", complaints(toml(text, &[]))));
    let flows = scenario.flows.into_iter();
    let tcp = flows.filter_map(|flow| match flow.transport {
        Transport::Tcp(tcp) => Some(tcp),
        Transport::Web(web) => Some(web.tcp),
        Transport::Udp(_) | Transport::Ping(_) => None,
    });
    tcp.map(|tcp| {
        (
            tcp.congestion,
            tcp.sack,
            tcp.initial_cwnd_packets,
            tcp.window_packets,
        )
    })
    .collect()
}

fn cell(phy: &str) -> String {
    format!("{UPLOAD}cell.phy = \"{phy}\"\n")
}

#[test]
fn a_cell_has_the_defaults_of_its_generation() {
    for phy in PhyKind::ALL {
        let is_modern = matches!(phy.name(), "802.11n" | "802.11ac" | "802.11ax");
        let expected = if is_modern { MODERN } else { OLDER };
        assert_eq!(settings(&cell(phy.name())), [expected], "{}", phy.name());
    }
}

#[test]
fn a_network_of_links_is_modern_unless_it_has_a_shape_of_papers_or_an_older_cell() {
    assert_eq!(settings(WIRED), [MODERN]);
    let dumbbell = "dumbbell = { bottleneck = \"9 Mbps\", delay = \"1 ms\", flows = 1 }\n";
    let parking_lot = "parking_lot = { bottleneck = \"9 Mbps\", delay = \"1 ms\", flows = 1 }\n";
    for shape in [dumbbell, parking_lot] {
        assert_eq!(settings(&format!("{WIRED}{shape}")), [OLDER, OLDER]);
        assert_eq!(settings(&format!("duration = \"1 s\"\n{shape}")), [OLDER]);
    }
    let csma = "duration = \"1 s\"\ncsma.link.l = {}\nflow.f.route = [\"l\"]\n";
    let csma = toml(csma, &[]).unwrap().csma.unwrap();
    let Transport::Tcp(tcp) = &csma.flows[0].transport else {
        panic!("the flow is TCP");
    };
    assert_eq!((tcp.congestion, tcp.window_packets), (OLDER.0, OLDER.3));
    for (phy, expected) in [("802.11g", OLDER), ("802.11ac", MODERN)] {
        let text = format!("{WIRED}cell.phy = \"{phy}\"\nstation.a.upload = 1\n");
        assert_eq!(settings(&text), [expected, expected], "{phy}");
    }
}

#[test]
fn every_kind_of_sender_inherits_the_defaults() {
    let text = format!(
        "{}station.a.tcp.ecn = true\nstation.a.download = 2\nlink.l = {{ from = \"x\", to = \"y\", rate = \
         \"1 Gbps\" }}\nflow.web = {{ from = \"x\", to = \"y\", web = 3 }}\nstation.b.sensor_up = {{ every = \
         \"1 s\", transport = \"tcp\" }}\n",
        cell("802.11ax")
    );
    assert_eq!(settings(&text), [MODERN; 5]);
    assert_eq!(toml(&text, &[]).unwrap().tcp.window_packets, MODERN.3);
}

#[test]
fn a_default_never_contradicts_what_a_file_sets() {
    for congestion in CongestionAlgorithm::ALL {
        let name = congestion.name();
        let own = format!("congestion = \"{name}\"");
        let can_sack = congestion != CongestionAlgorithm::Tahoe;
        for text in [
            format!("{}tcp = {{ {own} }}\n", cell("802.11ax")),
            format!("{}station.a.tcp = {{ {own} }}\n", cell("802.11ax")),
            format!("{WIRED}tcp = {{ {own} }}\n"),
            format!(
                "{}flow.f.{own}\n",
                WIRED.replace(
                    "flow.f = { from = \"x\", to = \"y\" }",
                    "flow.f.from = \"x\"\nflow.f.to = \"y\""
                )
            ),
        ] {
            assert_eq!(
                settings(&text),
                [(congestion, can_sack, 10, 20_000)],
                "{text}"
            );
        }
    }
    for accepted in [
        "hystart = true",
        "sack = false",
        "rack = true, prr = true, undo = true",
        "byte_counting = true, ecn = true",
        "congestion = \"tahoe\", sack = false",
        "congestion = \"cubic_linux\", rack = true",
        "window = 1",
        "initial_window = 50, window = 4",
    ] {
        settings(&format!("{}tcp = {{ {accepted} }}\n", cell("802.11ax")));
    }
}

#[test]
fn what_a_file_sets_may_contradict_itself() {
    for (refused, key) in [
        ("congestion = \"tahoe\", sack = true", "tcp.sack"),
        ("congestion = \"tahoe\", rack = true", "tcp.rack"),
        ("sack = false, prr = true", "tcp.prr"),
        ("undo = true", "tcp.undo"),
        (
            "congestion = \"cubic_linux\", hystart = true",
            "tcp.hystart",
        ),
    ] {
        let text = format!("{}tcp = {{ {refused} }}\n", cell("802.11ax"));
        let complaint = complaints(toml(&text, &[]));
        assert!(
            complaint.contains(&format!("`{key}`")),
            "{refused}: {complaint}"
        );
    }
}

#[test]
fn the_defaults_that_flows_have_are_listed() {
    let listed = |text: &str| {
        let defaults = toml(text, &[]).unwrap().tcp_defaults;
        let values = defaults.values.iter();
        let values: Vec<String> = values
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        format!("{}: {}", defaults.network, values.join(" "))
    };
    let all = "congestion=\"cubic\" sack=true initial_window=10 window=20000";
    assert_eq!(listed(&cell("802.11ax")), format!("802.11ax: {all}"));
    assert_eq!(listed(WIRED), format!("link: {all}"));
    let older = "congestion=\"newreno\" sack=false initial_window=2 window=42";
    assert_eq!(listed(&cell("802.11b")), format!("802.11b: {older}"));
    let tcp = "tcp = { congestion = \"tahoe\", window = 9 }\n";
    let listed_of = |more: &str| listed(&format!("{}{more}", cell("802.11ax")));
    assert_eq!(listed_of(tcp), "802.11ax: initial_window=10");
    let tcp = "tcp.window = 9\nstation.a.tcp = { sack = true, initial_window = 4 }\n";
    assert_eq!(listed_of(tcp), "802.11ax: congestion=\"cubic\"");
    // another group of flows still uses the default
    let other = format!("{tcp}station.b.download = 1\n");
    let expected = "802.11ax: congestion=\"cubic\" sack=true initial_window=10";
    assert_eq!(listed_of(&other), expected);
    let udp = "duration = \"1 s\"\ncell.phy = \"802.11ax\"\nstation.a.udp_up = \"1 Mbps\"\n";
    assert_eq!(listed(udp), "802.11ax: ");
}
