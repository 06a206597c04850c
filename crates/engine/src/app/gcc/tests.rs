//! A sender at its target rate over a link with a queue.

use super::*;

const BOUNDS: RateBounds = RateBounds {
    min_bps: 30_000,
    start_bps: 300_000,
    max_bps: 2_500_000,
};

/// A link with a rate and a queue, and a path of 20 ms in each direction.
struct Link {
    rate_bps: f64,
    free: Time,
    /// Longest wait in the queue.
    queue: Span,
}

const DELAY: Span = Span(20_000_000);

impl Link {
    /// Returns the arrival time of a packet; `None` if the queue is full.
    fn pass(&mut self, now: Time, bytes: u32) -> Option<Time> {
        let begins = self.free.max(now);
        if begins.since(now) > self.queue {
            return None;
        }
        self.free = begins + Span::from_seconds(8.0 * f64::from(bytes) / self.rate_bps);
        Some(self.free + DELAY)
    }
}

/// Sends packets of 1,000 bytes at the target rate over the link for `seconds`, with feedback each
/// 100 ms. Packet number k is lost if `is_lost(k)`. Returns the estimate after each feedback.
fn run(
    controller: &mut Controller,
    link: &mut Link,
    from: Time,
    seconds: u64,
    is_lost: impl Fn(u64) -> bool,
) -> Vec<f64> {
    let (mut flying, mut estimates) = (Vec::new(), Vec::new());
    let (mut due, mut number) = (from, 0);
    for step in 1..=10 * seconds {
        let now = from + Span(step * 100_000_000);
        while due < now {
            let cluster = controller.next_cluster();
            let (packets, rate) = match cluster {
                Some(cluster) => (10, cluster.rate_bps),
                None => (1, controller.target_bps()),
            };
            for _ in 0..packets {
                number += 1;
                let arrived = link.pass(due, 1000).filter(|_| !is_lost(number));
                controller.on_sent(due, 1000);
                flying.push(PacketReport {
                    sent: due,
                    arrived,
                    bytes: 1000,
                    cluster,
                });
                due += Span::from_seconds(8_000.0 / rate);
            }
        }
        let known = |packet: &PacketReport| match packet.arrived {
            Some(at) => at + DELAY <= now,
            None => packet.sent + DELAY + DELAY <= now,
        };
        let (report, rest) = flying.into_iter().partition(known);
        flying = rest;
        let report: Vec<PacketReport> = report;
        controller.on_feedback(now, &report);
        for part in 0..4 {
            controller.on_interval(now + Span(part * 25_000_000));
        }
        estimates.push(controller.estimate_bps());
    }
    estimates
}

fn link(rate_bps: f64) -> Link {
    Link {
        rate_bps,
        free: Time::ZERO,
        queue: Span(300_000_000),
    }
}

fn mean(estimates: &[f64]) -> f64 {
    estimates.iter().sum::<f64>() / estimates.len() as f64
}

#[test]
fn the_estimate_finds_the_rate_of_a_link_and_follows_its_changes() {
    let mut controller = Controller::new(Time::ZERO, BOUNDS);
    let mut path = link(1e6);
    let estimates = run(&mut controller, &mut path, Time::ZERO, 60, |_| false);
    let settled = mean(&estimates[200..]) / 1e6;
    assert!((0.8..1.02).contains(&settled), "{settled}");
    path.rate_bps = 5e5;
    let from = Time(60_000_000_000);
    let estimates = run(&mut controller, &mut path, from, 60, |_| false);
    let settled = mean(&estimates[200..]) / 5e5;
    assert!((0.8..1.02).contains(&settled), "{settled}");
    // less than a second of overuse, and a decrease below the new rate
    assert!(estimates[..20].iter().any(|estimate| *estimate < 5e5));
    path.rate_bps = 2e6;
    let from = Time(120_000_000_000);
    let estimates = run(&mut controller, &mut path, from, 60, |_| false);
    let settled = mean(&estimates[400..]) / 2e6;
    assert!((0.8..1.02).contains(&settled), "{settled}");
}

/// Probes find a fast link within a second. The application then limits the rate.
#[test]
fn probes_find_a_fast_link() {
    let mut controller = Controller::new(Time::ZERO, BOUNDS);
    let estimates = run(&mut controller, &mut link(2e7), Time::ZERO, 2, |_| false);
    let last = estimates[estimates.len() - 1];
    assert!(last > 2.5e6, "{last}");
    assert_eq!(controller.target_bps(), 2.5e6);
    assert!(last <= 5.1e6);
}

/// At 20 % losses the rate falls by at most 10 % per second, and at 1 % it is as without.
#[test]
fn losses_above_10_percent_reduce_the_rate() {
    let mut controller = Controller::new(Time::ZERO, BOUNDS);
    let estimates = run(&mut controller, &mut link(1e6), Time::ZERO, 30, |k| {
        k % 100 == 0
    });
    assert!(mean(&estimates[200..]) > 8e5);
    let from = Time(30_000_000_000);
    let before = controller.estimate_bps();
    run(&mut controller, &mut link(1e6), from, 5, |k| k % 5 == 0);
    let part = controller.estimate_bps() / before;
    assert!((0.53..0.75).contains(&part), "{part}");
}
