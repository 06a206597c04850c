//! The rate control of two states in a cell of single frames and in a cell that aggregates.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lasthop_engine::record::{FrameKind, FrameRecord};
use lasthop_engine::scenario::{Format, parse};

/// Returns the rates of the data frames that the access point sends to one station, whose frames or
/// MPDUs are lost with the probability `error`. [bit/s]
fn rates(cell: &str, error: &str) -> BTreeSet<u64> {
    let text = format!(
        "duration = \"1 s\"\nwarmup = \"0.1 s\"\nreplications = 1\nrecord.frames = 10000\n\
         cell = {{ {cell}, rate_control = \"two-state\" }}\n\
         station.a = {{ udp_down = \"greedy\", error_down = {error} }}\n"
    );
    let scenario = parse(&text, Format::Toml, "test.toml", &[]).expect("a scenario");
    let run = lasthop_engine::run(&scenario, 1, &|_| ControlFlow::Continue(()));
    let frames = run.expect("it runs").frames;
    let is_data = |frame: &&FrameRecord| frame.kind == FrameKind::Data;
    frames
        .iter()
        .filter(is_data)
        .map(|frame| frame.rate_bps)
        .collect()
}

#[test]
fn single_frames_use_the_nominal_rate_and_after_losses_the_lowest_rate() {
    assert_eq!(
        rates("phy = \"802.11g\"", "0"),
        BTreeSet::from([54_000_000])
    );
    assert_eq!(
        rates("phy = \"802.11g\"", "0.2"),
        BTreeSet::from([6_000_000, 54_000_000])
    );
}

#[test]
fn aggregates_use_the_nominal_mcs_and_after_losses_the_lowest_mcs() {
    let cell = "phy = \"802.11n\", aggregation = { mpdus = 4 }";
    let clean = rates(cell, "0");
    let lossy = rates(cell, "0.9");
    assert_eq!((clean.len(), lossy.len()), (1, 2));
    assert!(lossy.is_superset(&clean));
}
