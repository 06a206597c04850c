//! Tests of BBR with a connection over a link of known rate and delay.

use std::cell::Cell;

use super::tests::with_bbr;
use crate::kernel::time::{Span, Time};
use crate::tcp::pipe::{MS, Packet, Pipe, plain};
use crate::tcp::{Limit, Sender, TcpSettings};

/// One flow over a link that sends one segment per ms, with a round-trip time of 40 ms without
/// queueing, so that the bandwidth-delay product is 40 segments. The queue is unlimited.
fn link(free_at: &Cell<u64>) -> impl FnMut(Packet) -> Option<Span> {
    |packet| match packet {
        Packet::Data { sent_at, .. } => {
            let leaves = free_at.get().max(sent_at.0) + MS;
            free_at.set(leaves);
            Some(Span(leaves - sent_at.0 + 19 * MS))
        }
        Packet::Ack(_) | Packet::Syn { .. } | Packet::SynAck { .. } => Some(Span(20 * MS)),
    }
}

/// The goodput is the rate of the link, except in ProbeRtt, which takes T = 200 ms plus one to two
/// round trips, with four segments per round trip. A period is 10 s + T. With T = 260 ms the share
/// of the link is 1 - 0.26/10.26 (1 - 4/40) = 97.7 %. The starts of ProbeRtt are 10.24 to 10.32 s
/// apart.
#[test]
fn a_single_flow_fills_the_link_and_probes_the_rtt_every_ten_seconds() {
    let free_at = Cell::new(0);
    let mut pipe = Pipe::new(&with_bbr(1_000), link(&free_at));
    pipe.logs = false;
    let (mut starts, mut was_min, mut largest_flight) = (Vec::new(), false, 0);
    let mut before = 0;
    while pipe.now < Time(62_000 * MS) && pipe.step(Time::NEVER) {
        let is_min = pipe.sender.cwnd() == 4.0;
        if is_min && !was_min {
            starts.push(pipe.now.0 / MS);
        }
        was_min = is_min;
        if pipe.now < Time(10_000 * MS) {
            before = pipe.delivered;
        }
        if pipe.now > Time(2_000 * MS) {
            largest_flight = largest_flight.max(pipe.sender.flight());
        }
        // the sender stores a state for each of these segments
        assert_eq!(
            pipe.sender.pending(),
            pipe.sender.not_known_to_have_arrived()
        );
    }
    let share = (pipe.delivered - before) as f64 / 52_000.0;
    assert!((share - 0.977).abs() < 0.006, "{share}");
    assert_eq!(starts.len(), 6, "{starts:?}");
    for pair in starts.windows(2) {
        assert!(
            (10_240..=10_320).contains(&(pair[1] - pair[0])),
            "{starts:?}"
        );
    }
    // cwnd is at most 2 BDP + 6, 2 more in phase 0, and more by aggregated ACKs
    assert!((45..=96).contains(&largest_flight), "{largest_flight}");
    assert_eq!(pipe.sender.timeouts() + pipe.sender.fast_retransmits(), 0);
}

/// Startup doubles the rate per round trip. When it ends, about 2.89 BDP are in flight, or fewer.
/// Drain then empties the queue: at the transition to ProbeBw at most BDP + 6 are in flight.
#[test]
fn drain_empties_the_queue_of_startup() {
    let free_at = Cell::new(0);
    let mut pipe = Pipe::new(&with_bbr(1_000), link(&free_at));
    pipe.logs = false;
    let (mut largest, mut least) = (0, u32::MAX);
    while pipe.now < Time(2_000 * MS) && pipe.step(Time::NEVER) {
        let flight = pipe.sender.flight();
        largest = largest.max(flight);
        if pipe.now > Time(400 * MS) {
            least = least.min(flight);
        }
    }
    assert!((80..=126).contains(&largest), "{largest}");
    assert!((30..=46).contains(&least), "{least}");
}

/// An application supplies 10 segments every 40 ms, a quarter of the rate of the link. BBR sends
/// all of them, the limit is the application, and Startup does not end because no sample is
/// unlimited. The queue stays short.
#[test]
fn an_application_limited_flow_stays_in_startup() {
    let mut sender = Sender::new(&TcpSettings {
        handshake: false,
        ..with_bbr(1_000)
    });
    let (mut next, mut now) = (0, Time::ZERO);
    for burst in 0..100 {
        now = Time(burst * 40 * MS);
        sender.supply(now, 10);
        let mut last = None;
        loop {
            while let Some(segment) = sender.next_segment(now) {
                last = Some(segment.number);
            }
            if sender.limit_met() == Limit::App {
                break;
            }
            now = sender.deadline();
            sender.on_timer(now);
        }
        assert_eq!(last, Some(10 * burst as u32 + 9));
        next += 10;
        let echo = now;
        let ack = plain(next, echo);
        sender.on_sack(Time(now.0 + 20 * MS), ack, &Default::default());
        assert_eq!(sender.next_segment(Time(now.0 + 20 * MS)), None);
    }
    assert_eq!(sender.acked(), 1_000);
    assert_eq!(sender.timeouts(), 0);
    assert!(now < Time(4_000 * MS));
}
