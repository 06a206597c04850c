//! Tests that the examples are valid scenarios with the meaning that their comments describe.

use super::super::*;
use super::{complaints, toml};

pub(super) const HOTSPOT: &str = include_str!("../../../../../examples/hotspot.toml");
pub(super) const HOTSPOT_JSON: &str = include_str!("../../../../../examples/hotspot.json");
pub(super) const SEVEN: &str = include_str!("../../../../../examples/seven-downloads.toml");
pub(super) const PIFS: &str = include_str!("../../../../../examples/pifs.toml");
pub(super) const TWO_RATES: &str = include_str!("../../../../../examples/two-rates.toml");
pub(super) const UDP_BETA: &str = include_str!("../../../../../examples/udp-beta.toml");
pub(super) const CSMA: &str = include_str!("../../../../../examples/csma.toml");
pub(super) const CSMA_WIRES: &str = include_str!("../../../../../examples/csma-wires.toml");

#[test]
fn every_example_is_a_scenario() {
    let rain = include_str!("../../../../../examples/rain.toml");
    let hops = include_str!("../../../../../examples/csma-hops.toml");
    let places = include_str!("../../../../../examples/csma-positions.toml");
    let hidden = include_str!("../../../../../examples/csma-hidden.toml");
    let sleep = include_str!("../../../../../examples/power-save.toml");
    let aggregates = include_str!("../../../../../examples/aggregates.toml");
    for text in [
        aggregates, HOTSPOT, PIFS, SEVEN, TWO_RATES, UDP_BETA, CSMA, CSMA_WIRES, rain, hops,
        places, hidden, sleep,
    ] {
        assert_eq!(complaints(toml(text, &[])), "");
    }
}

#[test]
fn the_json_twin_of_the_hotspot_is_the_same_scenario() {
    let from_toml = toml(HOTSPOT, &[]).unwrap();
    let from_json = parse(HOTSPOT_JSON, Format::Json, "x.json", &[]).unwrap();
    assert_eq!(from_toml, from_json);
}

#[test]
fn groups_expand_in_order_and_flows_follow_their_stations() {
    let scenario = toml(HOTSPOT, &[]).unwrap();
    let stations: Vec<&str> = scenario.stations.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(
        stations,
        ["uploader", "others-1", "others-2", "others-3", "others-4"]
    );
    let flows: Vec<&str> = scenario.flows.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(flows[0], "uploader/up/1");
    assert_eq!(flows[5], "uploader/up/6");
    assert_eq!(flows[6], "others-1/down/1");
    assert_eq!(flows.len(), 10);
}

#[test]
fn the_hotspot_is_the_cell_of_paper_002() {
    let scenario = toml(HOTSPOT, &[]).unwrap();
    assert_eq!(scenario.bss[0].cell.ap.queue, QueueSetting::drop_tail(75));
    assert_eq!(scenario.warmup, crate::kernel::time::Span(18_000_000_000));
    let Transport::Tcp(tcp) = &scenario.flows[0].transport else {
        panic!("an upload is a TCP flow");
    };
    assert_eq!(tcp.congestion, CongestionAlgorithm::Reno);
    assert_eq!(tcp.window_packets, 42);
}

#[test]
fn the_access_point_with_pifs_never_waits_for_a_backoff() {
    let scenario = toml(PIFS, &[]).unwrap();
    assert_eq!(
        scenario.bss[0].cell.ap.best_effort,
        Access::contention(1, 0, 0)
    );
    for station in &scenario.stations {
        assert_eq!(station.node.best_effort, Access::contention(2, 31, 1023));
    }
}

#[test]
fn two_rates_are_greedy_both() {
    let scenario = toml(TWO_RATES, &[]).unwrap();
    let rates: Vec<u64> = scenario.stations.iter().map(|s| s.rate_bps).collect();
    assert_eq!(rates, [11_000_000, 2_000_000]);
    for flow in &scenario.flows {
        let Transport::Udp(udp) = flow.transport else {
            panic!("udp_up is a UDP flow");
        };
        assert_eq!(udp.arrivals, Arrivals::Greedy);
    }
}
