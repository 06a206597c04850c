//! Handshakes worked by hand.

use super::super::tests::check;
use super::*;
use crate::tcp::CongestionAlgorithm::NewReno;
use crate::tcp::TcpSettings;
use crate::tcp::pipe::{MS, Packet, Pipe, settings};

fn opened() -> TcpSettings {
    TcpSettings {
        handshake: true,
        ..settings(NewReno)
    }
}

/// Returns the logged events of a connection with a round-trip time of 100 ms, without the arrivals
/// of packets.
fn log_of(settings: &TcpSettings, mut is_lost: impl FnMut(Packet) -> bool) -> Vec<String> {
    let mut pipe = Pipe::new(settings, |packet| {
        (!is_lost(packet)).then_some(Span(50 * MS))
    });
    pipe.run(Time(60_000 * MS));
    let is_shown = |what: &str| {
        ["send", "timeout", "acked", "lost"]
            .iter()
            .any(|word| what.starts_with(word))
    };
    let log = pipe.log.iter().filter(|(_, what)| is_shown(what));
    log.map(|(at_ms, what)| format!("{at_ms} {what}")).collect()
}

#[test]
fn a_round_trip_passes_before_data_does() {
    let sender = check(
        &opened(),
        "
open|S                   | 2.000 | 42.0 |  0
syn-ack|0 1                 | 2.000 | 42.0 |  2
syn-ack|                    | 2.000 | 42.0 |  2  # one that is late
ack 1|2 3                 | 3.000 | 42.0 |  3
",
    );
    // with one sample of the handshake and one of the segment: RTO = 100 + 4 (3/4 50)
    assert_eq!(sender.rtt.rto(), Span(250 * MS));
    assert_eq!(sender.timeouts(), 0);
}

#[test]
fn a_lost_syn_costs_seconds_and_the_initial_window() {
    let sender = check(
        &TcpSettings {
            initial_cwnd_packets: 10,
            ..opened()
        },
        "
open|S                   |10.000 | 42.0 |  0
timeout|S'                  |10.000 | 42.0 |  0
timeout|S'                  |10.000 | 42.0 |  0
syn-ack|0                   | 1.000 | 42.0 |  1
",
    );
    assert_eq!(sender.timeouts(), 2);
    assert_eq!(
        sender.srtt(),
        Some(Span(100 * MS)),
        "timestamps tell which SYN was answered"
    );
    assert_eq!(sender.rtt.rto(), Span(3_000 * MS));
}

/// RFC 6298, rule 5.7: the next sample sets the RTO again.
#[test]
fn three_seconds_hold_until_the_next_sample() {
    let sender = check(
        &opened(),
        "
open|S                   | 2.000 | 42.0 |  0
timeout|S'                  | 2.000 | 42.0 |  0
syn-ack|0                   | 1.000 | 42.0 |  1
ack 1|1 2                 | 2.000 | 42.0 |  2
",
    );
    assert_eq!(sender.rtt.rto(), Span(250 * MS));
}

#[test]
fn what_is_supplied_waits_for_the_handshake() {
    let mut sender = Sender::new(&opened());
    sender.supply(Time::ZERO, 1);
    sender.connect();
    assert_eq!(sender.next_segment(Time::ZERO), None);
    assert_eq!(
        sender.next_opening(Time::ZERO),
        Some(Syn { repeated: false })
    );
    assert_eq!(sender.deadline(), Time(1_000 * MS));
    sender.supply(Time::ZERO, 1);
    sender.on_syn_ack(Time(100 * MS), Time::ZERO);
    let sent = std::iter::from_fn(|| sender.next_segment(Time(100 * MS)));
    assert_eq!(sent.map(|s| s.number).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_flow_that_ends_before_it_is_open_never_sends() {
    let sender = check(
        &opened(),
        "
open|S                   | 2.000 | 42.0 |  0
close|                    | 2.000 | 42.0 |  0
syn-ack|                    | 2.000 | 42.0 |  0
",
    );
    assert!(sender.finished() && !sender.completed());
    assert_eq!(sender.deadline(), Time::NEVER);
}

/// Ten segments at a round-trip time of 100 ms: one round trip for the handshake, then windows of 2
/// and 4 segments, then the remaining 4 segments.
#[test]
fn ten_segments_take_four_round_trips() {
    let ten = TcpSettings {
        segments: Some(10),
        ..opened()
    };
    let log = log_of(&ten, |_| false);
    assert_eq!(log.first().unwrap(), "0 send SYN");
    assert_eq!(log[1..3], ["100 send 0", "100 send 1"]);
    assert_eq!(log.last().unwrap(), "400 acked 10");
    let without = TcpSettings {
        handshake: false,
        ..ten
    };
    assert_eq!(log_of(&without, |_| false).last().unwrap(), "300 acked 10");
}

/// First the SYN is lost, then the SYN-ACK: timeouts of 1 s and 2 s pass (RFC 6298, rules 2.1 and
/// 5.5). Then one segment is sent and is also lost: a timeout of 3 s passes.
#[test]
fn losses_of_a_handshake_take_what_the_rfcs_say() {
    let (mut syns, mut answers, mut segments) = (0, 0, 0);
    let log = log_of(
        &TcpSettings {
            segments: Some(2),
            initial_cwnd_packets: 10,
            ..opened()
        },
        |packet| {
            let (count, lost) = match packet {
                Packet::Syn { .. } => (&mut syns, 1),
                Packet::SynAck { .. } => (&mut answers, 1),
                Packet::Data { .. } => (&mut segments, 1),
                Packet::Ack(_) => return false,
            };
            *count += 1;
            *count <= lost
        },
    );
    let expected = [
        "0 send SYN",
        "0 lost",
        "1000 timeout",
        "1000 send SYN again",
        "1050 lost",
        "3000 timeout",
        "3000 send SYN again",
        "3100 send 0",
        "3100 lost",
        "6100 timeout",
        "6100 send 0 again",
        "6200 acked 1",
        "6200 send 1",
        "6300 acked 2",
    ];
    assert_eq!(log, expected);
}
