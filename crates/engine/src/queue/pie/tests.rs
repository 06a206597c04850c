//! Compares PIE with calculated updates of its controller, and tests PIE in a closed loop with a
//! fluid source.

use super::*;
use crate::kernel::streams::Streams;
use crate::packet::{Ecn, PacketKind};

const MS: u64 = 1_000_000;

const SETTING: PieSetting = PieSetting {
    target: Span(15 * MS),
    update: Span(15 * MS),
    alpha: 0.125,
    beta: 1.25,
    max_burst: Span(150 * MS),
    ecn: false,
};

/// Egress at which 1,500 B take 1.2 ms.
const OUTLET: Egress = Egress {
    rate_bps: 10_000_000,
    is_fixed: true,
    delay: Span(0),
};

fn pie(setting: PieSetting, egress: Egress) -> Pie {
    Pie::new(setting, 100, egress, Streams::new(1, 0).stream("pie"))
}

fn packet(ecn: Ecn) -> Packet {
    Packet {
        flow: 0,
        number: 0,
        stamp: Time::ZERO,
        queued: Time::ZERO,
        bytes: 1_500,
        hop: 0,
        kind: PacketKind::Segment,
        ecn,
        ..Packet::SAMPLE
    }
}

fn backlog(packets: u32) -> Backlog {
    Backlog {
        packets,
        bytes: u64::from(packets) * 1_500,
        in_service_bytes: 1_500 * packets.min(1),
        idle_since: (packets == 0).then_some(Time::ZERO),
    }
}

fn close(value: f64, expected: f64) {
    let error = (value - expected).abs();
    assert!(error <= 1e-12 * expected.abs(), "{value} for {expected}");
}

#[test]
fn the_controller_follows_a_trace_worked_by_hand() {
    let mut queue = pie(SETTING, OUTLET);
    // a backlog of 50 packets is a delay of 60 ms: the change of p is 0.125 (60 - 15) + 1.25 (60 -
    // 0) = 0.080625 (with delays in s), divided by 2048
    queue.advance(Time(15 * MS), |_| 75_000);
    close(queue.probability, 0.080_625 / 2_048.0);
    // the delay is 60 ms again: the change of p is 0.125 (60 - 15) = 0.005625 (with delays in s),
    // divided by 128 because p is between 1e-5 and 1e-4
    queue.advance(Time(30 * MS), |_| 75_000);
    close(queue.probability, 0.080_625 / 2_048.0 + 0.005_625 / 128.0);
    // one probability of each range of auto-tuning, and the factor of the range
    for (probability, gain) in [
        (0.0, 1.0 / 2_048.0),
        (0.000_005, 1.0 / 512.0),
        (0.000_05, 1.0 / 128.0),
        (0.000_5, 1.0 / 32.0),
        (0.005, 1.0 / 8.0),
        (0.05, 1.0 / 2.0),
        (0.5, 1.0),
    ] {
        queue.probability = probability;
        close(queue.gain(), gain);
    }
    // if p is 0.1 or more, its change is at most 0.02; a delay of 120 ms after 60 ms would change p
    // by 0.088125
    queue.probability = 0.3;
    queue.advance(Time(45 * MS), |_| 150_000);
    close(queue.probability, 0.32);
    // the queue is empty at two updates: the first update reduces p by a step, and the second
    // update also applies the decay
    queue.advance(Time(60 * MS), |_| 0);
    let first = 0.32 + 0.125 * -0.015 + 1.25 * -0.12;
    close(queue.probability, first);
    queue.advance(Time(75 * MS), |_| 0);
    close(queue.probability, (first + 0.125 * -0.015) * 0.98);
}

#[test]
fn updates_see_the_backlog_of_their_own_instant() {
    let mut late = pie(SETTING, OUTLET);
    let mut seen = Vec::new();
    late.advance(Time(50 * MS), |at| {
        seen.push(at.0 / MS);
        75_000
    });
    assert_eq!(seen, [15, 30, 45]);
    late.advance(Time(59 * MS), |_| panic!("the next is due at 60 ms"));
    let mut punctual = pie(SETTING, OUTLET);
    for at in 0..51 {
        punctual.advance(Time(at * MS), |_| 75_000);
    }
    assert_eq!(late.probability.to_bits(), punctual.probability.to_bits());
}

#[test]
fn bursts_pass_for_their_allowance_and_small_queues_always() {
    let mut queue = pie(SETTING, OUTLET);
    queue.probability = 1.0;
    for at in 0..15 {
        let now = Time(at * 10 * MS);
        queue.advance(now, |_| 75_000);
        assert_eq!(
            queue.admit(&backlog(50), &packet(Ecn::NotCapable)),
            Verdict::Enter
        );
    }
    queue.advance(Time(150 * MS), |_| 75_000);
    assert_eq!(queue.burst_allowance, Span::ZERO);
    assert_eq!(
        queue.admit(&backlog(50), &packet(Ecn::NotCapable)),
        Verdict::Drop
    );
    assert_eq!(
        queue.admit(&backlog(2), &packet(Ecn::NotCapable)),
        Verdict::Enter
    );
    // a packet is also dropped if the queue is full during a burst; the burst allowance is restored
    // when the probability is 0 and the delay is below half of the target
    assert_eq!(
        queue.admit(&backlog(100), &packet(Ecn::NotCapable)),
        Verdict::Drop
    );
    (queue.probability, queue.delay) = (0.0, 0.0);
    queue.admit(&backlog(3), &packet(Ecn::NotCapable));
    assert_eq!(queue.burst_allowance, SETTING.max_burst);
}

#[test]
fn a_short_delay_is_left_alone_unless_the_probability_is_high() {
    // section 4.1: no drop while the delay is below half of the target and p is below 0.2
    let mut queue = pie(SETTING, OUTLET);
    queue.burst_allowance = Span::ZERO;
    for (delay, probability, verdict) in [
        (0.007, 0.19, Verdict::Enter),
        (0.008, 0.19, Verdict::Drop),
        (0.007, 0.21, Verdict::Drop),
    ] {
        (queue.delay, queue.probability) = (delay, probability);
        queue.accumulated = 9.0; // certain drop, if section 4.1 allows a drop
        let decision = queue.admit(&backlog(50), &packet(Ecn::NotCapable));
        assert_eq!(decision, verdict, "{delay} s, {probability}");
    }
}

#[test]
fn drops_are_apart_as_section_5_4_says() {
    let mut queue = pie(SETTING, OUTLET);
    (queue.probability, queue.delay) = (0.05, 0.020);
    queue.burst_allowance = Span::ZERO;
    let (mut gaps, mut gap) = (Vec::new(), 0);
    while gaps.len() < 2_000 {
        gap += 1;
        if queue.admit(&backlog(50), &packet(Ecn::NotCapable)) == Verdict::Drop {
            gaps.push(gap);
            gap = 0;
        }
    }
    // no drop before 0.85 / 0.05 = 17 packets; then the gap is geometric with mean 20, and after
    // 8.5 / 0.05 = 170 packets a drop is certain
    assert!(gaps.iter().all(|gap| (17..=171).contains(gap)));
    let mean = f64::from(gaps.iter().sum::<u32>()) / 2_000.0;
    // the standard deviation of a gap is 19.5, and of the mean 0.44; the upper bound of 171 lowers
    // the mean by less than 0.02
    assert!((mean - 36.0).abs() < 1.8, "{mean}");
}

#[test]
fn marks_stand_for_drops_while_the_probability_is_below_a_tenth() {
    let setting = PieSetting {
        ecn: true,
        ..SETTING
    };
    let mut queue = pie(setting, OUTLET);
    queue.delay = 0.020;
    queue.burst_allowance = Span::ZERO;
    let mut verdicts = |probability: f64, ecn: Ecn| {
        queue.probability = probability;
        queue.accumulated = 9.0; // the sum is so high that PIE certainly drops or marks the packet
        queue.admit(&backlog(50), &packet(ecn))
    };
    assert_eq!(verdicts(0.09, Ecn::Capable), Verdict::Mark);
    assert_eq!(verdicts(0.09, Ecn::NotCapable), Verdict::Drop);
    assert_eq!(verdicts(0.11, Ecn::Capable), Verdict::Drop);
}

#[test]
fn without_a_fixed_rate_the_last_departure_tells_the_delay() {
    let egress = Egress {
        is_fixed: false,
        ..OUTLET
    };
    let mut queue = pie(SETTING, egress);
    queue.departed(Span(60 * MS));
    queue.advance(Time(15 * MS), |_| 1_500);
    close(queue.probability, 0.080_625 / 2_048.0);
    queue.advance(Time(30 * MS), |_| 0);
    assert_eq!(queue.delay, 0.0, "nothing waits in an empty queue");
}

#[test]
fn a_load_of_125_percent_is_held_at_the_target() {
    // 1,500 B arrive every 0.96 ms, and their service takes 1.2 ms: one fifth of the packets must
    // be dropped
    let mut queue = Pie::new(SETTING, 1_000, OUTLET, Streams::new(1, 0).stream("pie"));
    let mut departures: std::collections::VecDeque<u64> = std::collections::VecDeque::new();
    let (mut last, mut dropped, mut delays) = (0, 0, 0.0);
    for k in 0..200_000_u64 {
        let now = k * 960_000;
        let inside = |at: u64| departures.iter().filter(|&&left| left > at).count() as u64;
        queue.advance(Time(now), |at| inside(at.0) * 1_500);
        while departures.front().is_some_and(|&left| left <= now) {
            departures.pop_front();
        }
        let state = backlog(departures.len() as u32);
        if queue.admit(&state, &packet(Ecn::NotCapable)) == Verdict::Drop {
            dropped += u32::from(k >= 100_000);
        } else {
            last = now.max(last) + 1_200_000;
            departures.push_back(last);
        }
        if k >= 100_000 {
            delays += last.saturating_sub(now) as f64 / 1e9;
        }
    }
    let (drop_rate, delay) = (f64::from(dropped) / 1e5, delays / 1e5);
    // packets in excess of the service rate are dropped; because of the integral term the delay is
    // 15 ms on average
    assert!((drop_rate - 0.2).abs() < 0.002, "{drop_rate}");
    assert!((delay - 0.015).abs() < 0.002, "{delay}");
}
