//! Tests of a sender and a receiver over a simulated path.

use super::pipe::{MS, Packet, Pipe, settings};
use crate::kernel::time::{Span, Time};
use crate::tcp::CongestionAlgorithm::{self, NewReno, Reno};
use crate::tcp::TcpSettings;
use proptest::prelude::*;

/// Returns a delay of 50 ms for each packet in either direction, and loses no packet.
fn clean(_: Packet) -> Option<Span> {
    Some(Span(50 * MS))
}

/// Returns the log as text, with one line per time and the events of this time in order.
fn story(log: &[(u64, String)]) -> String {
    let mut story = String::new();
    let mut last = None;
    for (ms, what) in log {
        match last.replace(*ms) {
            Some(before) if before == *ms => story += ", ",
            before => story += &format!("{}{ms} ms: ", if before.is_some() { "\n" } else { "" }),
        }
        story += what;
    }
    story
}

fn lines(text: &str) -> String {
    let trimmed: Vec<_> = text.trim().lines().map(str::trim).collect();
    trimmed.join("\n")
}

#[test]
fn slow_start_doubles_each_round_trip() {
    let mut pipe = Pipe::new(&settings(NewReno), clean);
    let mut cwnd = Vec::new();
    for round_trip in 1..=5 {
        pipe.run(Time(round_trip * 100 * MS));
        cwnd.push(pipe.sender.cwnd());
    }
    assert_eq!(cwnd, [4.0, 8.0, 16.0, 32.0, 42.0]);
}

/// Every second segment is acknowledged, so the window grows by a half per round trip. The ACK of
/// the last segment of an odd window is sent when the next segment arrives, or when the delayed-ACK
/// timer expires.
#[test]
fn slow_start_with_delayed_acks_as_a_trace() {
    let delayed = TcpSettings {
        delayed_ack: true,
        initial_cwnd_packets: 3,
        segments: Some(8),
        ..settings(NewReno)
    };
    let mut pipe = Pipe::new(&delayed, clean);
    pipe.run(Time::NEVER);
    let expected = "
        0 ms: send 0, send 1, send 2
        50 ms: got 0, got 1, ack 2, got 2
        100 ms: acked 2, send 3, send 4, send 5
        150 ms: got 3, ack 4, got 4, got 5, ack 6
        200 ms: acked 4, send 6, send 7, acked 6
        250 ms: got 6, got 7, ack 8
        300 ms: acked 8";
    assert_eq!(story(&pipe.log), lines(expected));
    assert!(pipe.sender.finished());
}

#[test]
fn the_last_odd_segment_waits_for_the_ack_timer() {
    let single = TcpSettings {
        delayed_ack: true,
        segments: Some(1),
        ..settings(NewReno)
    };
    let mut pipe = Pipe::new(&single, clean);
    pipe.run(Time::NEVER);
    let expected = "
        0 ms: send 0
        50 ms: got 0
        150 ms: ack timer, ack 1
        200 ms: acked 1";
    assert_eq!(story(&pipe.log), lines(expected));
}

/// No segment follows the last segments of a flow, so that no duplicate ACKs occur. There are three
/// samples of 100 ms, with 2, 3 and 2 segments outstanding. RTTVAR becomes 50, 7/8 50, and 3/4 7/8
/// 50 = 32.8 ms. The RTO is therefore 231.25 ms when ACK 3 arrives.
#[test]
fn a_lost_tail_is_repaired_by_timeouts() {
    let mut losses = 2;
    let lossy = |packet| match packet {
        Packet::Data { number: 3, .. } if losses > 0 => {
            losses -= 1;
            None
        }
        _ => Some(Span(50 * MS)),
    };
    let four = TcpSettings {
        segments: Some(4),
        ..settings(NewReno)
    };
    let mut pipe = Pipe::new(&four, lossy);
    pipe.run(Time::NEVER);
    let expected = "
        0 ms: send 0, send 1
        50 ms: got 0, ack 1, got 1, ack 2
        100 ms: acked 1, send 2, send 3, lost, acked 2
        150 ms: got 2, ack 3
        200 ms: acked 3
        431 ms: timeout, send 3 again, lost
        893 ms: timeout, send 3 again
        943 ms: got 3, ack 4
        993 ms: acked 4";
    assert_eq!(story(&pipe.log), lines(expected));
    assert_eq!(pipe.sender.timeouts(), 2);
}

/// In Reno and NewReno, a single loss at a window of 42 halves the window and causes no timeout.
#[test]
fn a_single_loss_costs_a_halving() {
    for congestion in [Reno, NewReno] {
        let mut lost = false;
        let mut pipe = Pipe::new(&settings(congestion), |packet| match packet {
            Packet::Data { number: 300, .. } if !lost => {
                lost = true;
                None
            }
            _ => Some(Span(50 * MS)),
        });
        while pipe.sender.ssthresh() == 42.0 {
            pipe.step(Time::NEVER);
        }
        assert_eq!(pipe.sender.ssthresh(), 21.0);
        // 3 s are 30 round trips; the growth from 21 to 42 packets takes a little more than 21
        // round trips, because at a window of 21.9 only 21 segments are sent per round trip
        pipe.run(pipe.now + Span(3_000 * MS));
        assert_eq!(pipe.sender.cwnd(), 42.0);
        assert_eq!(pipe.sender.fast_retransmits(), 1);
        assert_eq!(pipe.sender.timeouts(), 0);
    }
}

fn any_settings() -> impl Strategy<Value = TcpSettings> {
    (
        (
            prop::sample::select(CongestionAlgorithm::ALL.to_vec()),
            any::<[bool; 7]>(),
        ),
        prop_oneof![1..100u32, Just(65_535)],
        1..20u32,
        any::<bool>(),
        1..500u64,
        1..400u64,
    )
        .prop_map(
            |(
                (congestion, [hystart, byte_counting, ecn, sack, rack, undo, prr]),
                window,
                initial,
                delayed_ack,
                min_rto,
                segments,
            )| {
                let is_bbr = congestion.sets_recovery_window();
                let sack = is_bbr || sack && congestion != CongestionAlgorithm::Tahoe;
                TcpSettings {
                    pacing: is_bbr,
                    hystart: hystart && !is_bbr,
                    byte_counting,
                    ecn,
                    sack,
                    rack: is_bbr || sack && rack,
                    undo,
                    prr,
                    window_packets: window,
                    initial_cwnd_packets: initial,
                    delayed_ack,
                    min_rto: Span(min_rto * MS),
                    segments: Some(segments),
                    ..settings(congestion)
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Packets are lost, marked, delayed or reordered at random. In all cases, each segment is
    /// delivered once and in order, the flow ends, and the receive window is never exceeded. The
    /// receiver counts the delivered segments.
    #[test]
    fn everything_arrives_once_and_flight_stays_within_the_window(
        settings in any_settings(),
        // for each packet, whether it is lost, and its delay in ms; the list of delays repeats
        // until the flow ends
        losses in prop::collection::vec(prop::bool::weighted(0.15), 1..300),
        every in 1..40u32,
        delays in prop::collection::vec(1..200u64, 1..50),
    ) {
        let mut packets = 0;
        let mut pipe = Pipe::new(&settings, |_| {
            packets += 1;
            // the list of losses does not repeat, so that every flow can end
            let lost = losses.get(packets).copied().unwrap_or(false);
            (!lost).then(|| Span(delays[packets % delays.len()] * MS))
        });
        pipe.marking = Box::new(move |number| number % every == 0);
        let segments = settings.segments.unwrap();
        while pipe.step(Time::NEVER) {
            prop_assert!(pipe.sender.flight() <= settings.window_packets);
            prop_assert!(pipe.sender.acked() <= pipe.delivered);
            prop_assert!(pipe.delivered <= segments);
            prop_assert!(pipe.sender.cwnd() >= 1.0);
            prop_assert!(pipe.sender.ssthresh() >= 1.0);
        }
        prop_assert!(pipe.sender.finished());
        prop_assert_eq!(pipe.delivered, segments);
    }

    /// If packets stay in order and none is lost, no segment is sent twice, unless the RTO is
    /// shorter than the round-trip time.
    #[test]
    fn nothing_is_repeated_without_loss(settings in any_settings(), one_way in 1..90u64) {
        let mut pipe = Pipe::new(&settings, |_| Some(Span(one_way * MS)));
        while pipe.step(Time::NEVER) {}
        let delayed_ack_fits = !settings.delayed_ack || settings.min_rto > Span(300 * MS);
        prop_assume!(delayed_ack_fits);
        prop_assert_eq!(pipe.sender.timeouts(), 0);
        prop_assert_eq!(pipe.sender.fast_retransmits(), 0);
        prop_assert!(!pipe.log.iter().any(|(_, what)| what.ends_with("again")));
    }

    /// With SACK and packets in order, a segment that has arrived is retransmitted at most once per
    /// recovery (the rescue retransmission), for any number of lost segments. The RTO is long
    /// enough for all ACKs.
    #[test]
    fn sack_repeats_only_what_was_lost(
        settings in any_settings(),
        losses in prop::collection::vec(prop::bool::weighted(0.1), 1..300),
        one_way in 1..90u64,
    ) {
        prop_assume!(settings.sack);
        let patient = TcpSettings { min_rto: Span(1_000 * MS), ..settings };
        let mut sent = 0;
        let mut pipe = Pipe::new(&patient, |packet| {
            let lost = matches!(packet, Packet::Data { .. }) && {
                sent += 1;
                losses.get(sent).copied().unwrap_or(false)
            };
            (!lost).then(|| Span(one_way * MS))
        });
        while pipe.step(Time::NEVER) {}
        prop_assert!(pipe.sender.finished());
        let arrivals = pipe.log.iter().filter(|(_, what)| what.starts_with("got")).count() as u64;
        let needless = arrivals - pipe.delivered;

        prop_assert!(needless <= pipe.sender.fast_retransmits(), "{needless}: {}", story(&pipe.log));
    }
}
