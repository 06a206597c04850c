//! Transmission opportunities, internal collisions and PIFS on timelines worked by hand.
//!
//! 802.11b, contention windows of 0: slot 20 us, SIFS 10 us, DIFS 50 us, PIFS 30 us. A datagram of 1500 bytes makes a
//! frame of 1538 bytes, which takes 1310.545 us at 11 Mb/s. Its exchange with MAC ACK (248 us at 2 Mb/s) lasts 1568.545
//! us.

use std::ops::ControlFlow;

use crate::support::*;
use lasthop_engine::kernel::time::Span;
use lasthop_engine::record::{FrameKind, FrameRecord};
use lasthop_engine::scenario::*;
use lasthop_engine::{RunResult, run};

const EXCHANGE_NS: u64 = 1_310_545 + 10_000 + 248_000;

/// Returns a scenario with one station and contention windows of 0, so that no node backs off.
fn without_backoff() -> Scenario {
    let mut scenario = dot11b(1, 1);
    for node in [&mut scenario.bss[0].cell.ap, &mut scenario.stations[0].node] {
        node.best_effort = Access::contention(2, 0, 0);
        node.voice = Access::contention(2, 0, 0);
    }
    scenario.record.frames = Some(40);
    scenario
}

fn result(scenario: &Scenario) -> RunResult {
    match run(scenario, 1, &|_| ControlFlow::Continue(())) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

/// Returns the start [ns], the sender and the flow of each data frame.
fn data_frames(result: &RunResult) -> Vec<(u64, u32, u32)> {
    let data = |frame: &FrameRecord| {
        let flow = frame.packet?.flow;
        (frame.kind == FrameKind::Data).then_some((frame.at.0, frame.from.0, flow))
    };
    result.frames.iter().filter_map(data).collect()
}

/// Returns the start times of the first frames of a saturated station with these TXOP limits. [ns]
fn burst(txop_packets: Option<u32>, txop_limit_ns: Option<u64>) -> Vec<u64> {
    let mut scenario = without_backoff();
    let access = &mut scenario.stations[0].node.best_effort;
    access.txop_packets = txop_packets;
    access.txop_limit = txop_limit_ns.map(Span);
    add_flow(&mut scenario, 0, Direction::Up, greedy());
    let frames = data_frames(&result(&scenario));
    frames[..5].iter().map(|frame| frame.0).collect()
}

/// Returns the start times of five frames. Frame k starts SIFS after the previous MAC ACK if `sifs[k - 1]` is true, and
/// DIFS after it if not. [ns]
fn starts(sifs: [bool; 4]) -> Vec<u64> {
    let mut starts = vec![0];
    for follows in sifs {
        let gap = if follows { 10_000 } else { 50_000 };
        starts.push(starts[starts.len() - 1] + EXCHANGE_NS + gap);
    }
    starts
}

#[test]
fn frames_of_an_opportunity_are_sifs_apart_up_to_the_limit_in_packets() {
    assert_eq!(burst(Some(1), None), starts([false; 4]));
    assert_eq!(burst(Some(3), None), starts([true, true, false, true]));
}

#[test]
fn the_limit_in_time_counts_to_the_end_of_the_last_mac_ack() {
    let two = 2 * EXCHANGE_NS + 10_000;
    assert_eq!(burst(None, Some(two)), starts([true, false, true, false]));
    assert_eq!(burst(None, Some(two - 1)), starts([false; 4]));
    assert_eq!(
        burst(None, Some(1)),
        starts([false; 4]),
        "the first is always allowed"
    );
    assert_eq!(
        burst(Some(2), Some(9 * two)),
        starts([true, false, true, false])
    );
    assert_eq!(
        burst(Some(9), Some(two)),
        starts([true, false, true, false])
    );
}

#[test]
fn a_cf_end_goes_sifs_after_the_last_mac_ack_of_an_opportunity_with_time_left() {
    // CF-End: 20 bytes at 2 Mb/s after a preamble, 272 us
    let cf_end_ns = 272_000;
    let closed_by = |txop_limit_ns| {
        let mut scenario = without_backoff();
        scenario.bss[0].cell.cf_end = true;
        let access = &mut scenario.stations[0].node.best_effort;
        access.txop_packets = Some(1);
        access.txop_limit = Some(Span(txop_limit_ns));
        add_flow(&mut scenario, 0, Direction::Up, greedy());
        let frames = result(&scenario).frames;
        let seen = |frame: &FrameRecord| (frame.at.0, frame.kind, frame.from.0);
        frames[2..4].iter().map(seen).collect::<Vec<_>>()
    };
    let with_cf_end = EXCHANGE_NS + 10_000 + cf_end_ns;
    assert_eq!(
        closed_by(with_cf_end),
        [
            (EXCHANGE_NS + 10_000, FrameKind::CfEnd, 1),
            (with_cf_end + 50_000, FrameKind::Data, 1)
        ]
    );
    assert_eq!(
        closed_by(with_cf_end - 1)[0],
        (EXCHANGE_NS + 50_000, FrameKind::Data, 1)
    );
}

#[test]
fn voice_wins_internal_collisions_and_best_effort_is_given_up_at_its_limit() {
    let mut scenario = without_backoff();
    scenario.stations[0].node.attempts_short = 3;
    add_flow(&mut scenario, 0, Direction::Up, greedy());
    add_flow(&mut scenario, 0, Direction::Up, greedy());
    scenario.flows[1].category = Category::Voice;
    let result = result(&scenario);
    // Best effort sends the first packet. Afterwards both categories always have a packet and end their backoff
    // simultaneously.
    let frames = data_frames(&result);
    for (index, frame) in frames.iter().enumerate() {
        let start = index as u64 * (EXCHANGE_NS + 50_000);
        assert_eq!(*frame, (start, 1, u32::from(index > 0)));
    }
    let station = &result.summary()["stations"][0];
    assert_eq!(
        station["collision_rate"]["mean"], 0.0,
        "nothing collides on the air"
    );
    // each datagram of best effort is discarded after three internal collisions, while three voice frames are sent, so
    // 1 of 4 packets is discarded
    let given_up = station["discard_probability"]["mean"]
        .as_f64()
        .expect("a mean");
    assert!((given_up - 0.25).abs() < 0.001, "{given_up}");
}

#[test]
fn pifs_access_goes_before_every_station() {
    let mut scenario = without_backoff();
    scenario.bss[0].cell.ap.best_effort.aifsn = 1;
    add_flow(&mut scenario, 0, Direction::Up, greedy());
    add_flow(&mut scenario, 0, Direction::Down, greedy());
    let frames = data_frames(&result(&scenario));
    for (index, frame) in frames.iter().enumerate() {
        let start = index as u64 * (EXCHANGE_NS + 30_000);
        // 1 for the frame of the station, which is first because its packet arrives first; 0 for
        // all other frames, which are from the access point
        let from = u32::from(index == 0);
        assert_eq!(*frame, (start, from, 1 - from));
    }
    assert!(frames.len() > 10);
}
