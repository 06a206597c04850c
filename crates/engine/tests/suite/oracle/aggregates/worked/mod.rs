//! Timelines worked by hand that the oracle must reproduce. The cell is 802.11n at 5 GHz, 20 MHz, MCS 7, guard interval
//! 0.8 us. Slot 9 us, SIFS 16 us, AIFS 16 + 2 * 9 = 34 us, control frames at 24 Mb/s (96 bits in 4 us).
//!
//! - Packets of 1462 bytes make MPDUs of 1462 + 8 + 30 = 1500 bytes, with their delimiter 1504, a multiple
//!   of 4.
//! - A PPDU has 20 + 8 + 4 + 4 = 36 us of preamble. Its n bytes follow as 16 + 8 n + 6 bits, 260 bits in 4 us.
//!   One MPDU without aggregation: 12,022 bits, 47 symbols, 36 + 188 = 224 us.
//!   Two MPDUs in an A-MPDU: 24,086 bits, 93 symbols, 408 us. Three: 36,118 bits, 139 symbols, 592 us.
//!   Four: 48,150 bits, 186 symbols, 780 us.
//! - MAC ACK and CTS: 20 us of preamble, 22 + 8 * 14 = 134 bits, 2 symbols, 28 us. RTS: 182 bits, 28 us.
//!   BlockAck: 278 bits, 3 symbols, 32 us. BlockAckReq: 214 bits, 32 us.
//! - EIFS without AIFS is 60 us: SIFS and a MAC ACK at 6 Mb/s (134 bits, 6 symbols, 44 us).

mod exchanges;
mod limits;
mod windows;

use lasthop_engine::kernel::time::Time;
use lasthop_engine::mac::ppdu::Modulation;
use lasthop_engine::mac::{Aggregation, Aggregations, Band, EifsRule, LONGEST_PPDU};
use lasthop_engine::scenario::{Category, PhyKind, Scenario};

use super::super::cells as older;
use super::super::medium::Arrival;
use super::super::node::Packet;
use super::super::script::Script;
use super::radios::Radio;
use super::{AggregateTrace, Attempt, Outcome, Sent, play};

/// Aggregation settings: windows of 4 MPDUs, up to 3 attempts, receivers without a reorder time-out.
const AGGREGATION: Aggregation = Aggregation {
    mpdus: 4,
    bytes: 65_535,
    time: LONGEST_PPDU,
    amsdu_bytes: None,
    attempts: Some(3),
    bar_after_failure: false,
    reorder_timeout: None,
};

/// Returns a cell in which the stations and the access point have these aggregation settings.
fn cell(stations: u32, aggregation: Aggregation) -> Scenario {
    let radio = Radio {
        kind: PhyKind::Dot11n,
        band: Band::Ghz5,
    };
    let mut node = older::access(15);
    node.control_rate_bps = 24_000_000;
    node.aggregation = Some(Box::new(Aggregations::alike(aggregation)));
    let modulation = Modulation {
        mcs: 7,
        ..radio.plain()
    };
    let station = |number: u32| {
        let mut station = older::station(number as usize, node.clone());
        (station.phy, station.modulation) = (radio.kind, Some(modulation));
        station
    };
    let stations = (0..stations).map(station).collect();
    let mut scenario = older::scenario(radio.phy(), node.clone(), stations);
    scenario.bss[0].cell.mac_header_bytes = 30;
    scenario.bss[0].cell.ppdus = Some(radio.ppdus(modulation, EifsRule::Ack));
    scenario
}

/// Returns packets `ids` of 1462 bytes that arrive at `node` at one instant. Packets at the access point have the
/// destination station 1.
fn packets(at_us: u64, node: u32, ids: std::ops::Range<u32>) -> Vec<Arrival> {
    let arrival = |id| Arrival {
        at: Time(at_us * 1_000),
        who: (node, Category::BestEffort),
        packet: Packet {
            id,
            to: u32::from(node == 0),
            ip_bytes: 1_462,
            reply_bytes: None,
        },
    };
    ids.map(arrival).collect()
}

/// Runs the scenario and checks that all scripted backoffs were drawn.
fn see(scenario: &Scenario, arrivals: &[Arrival], mut script: Script) -> AggregateTrace {
    let trace = play(scenario, arrivals, &mut script).in_order();
    script.must_be_used_up();
    trace
}

/// Returns the attempts as text: start [us], node, numbers of the MPDUs, numbers of the received MPDUs.
fn attempts(trace: &AggregateTrace) -> Vec<String> {
    let numbers = |numbers: &[u32]| {
        let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
        words.join(" ")
    };
    let line = |attempt: &Attempt| {
        let sent = match &attempt.sent {
            Sent::BlockAckReq => "BlockAckReq".to_owned(),
            Sent::Mpdus(mpdus) => numbers(&mpdus.iter().map(|mpdu| mpdu.0).collect::<Vec<_>>()),
        };
        let rts = if attempt.rts { "RTS, " } else { "" };
        let end = match &attempt.outcome {
            Outcome::Collided => "collided".to_owned(),
            Outcome::Received(received) => numbers(received),
        };
        let (start, node) = (us(attempt.start), attempt.who.0);
        format!("{start} node {node}: {rts}{sent} -> {end}")
    };
    trace.attempts.iter().map(line).collect()
}

/// Returns the time in whole microseconds.
fn us(at: Time) -> u64 {
    assert_eq!(at.0 % 1_000, 0, "{at:?}");
    at.0 / 1_000
}

/// Returns time [us] and packet of each entry of a trace list.
fn times<Where>(list: &[(Time, Where, u32)]) -> Vec<(u64, u32)> {
    list.iter().map(|(at, _, id)| (us(*at), *id)).collect()
}

/// Returns a script that specifies only the draws of node 1.
fn of_node_1(backoff: Vec<(u32, u32)>, lost: &[u32]) -> Script {
    Script {
        backoff: vec![vec![], backoff, vec![]],
        corrupted: lost.iter().map(|&lost| lost == 1).collect(),
        ..Script::default()
    }
}
