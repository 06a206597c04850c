//! Tests of CUBIC's window after idle time, by a sender whose application pauses.
//!
//! The path has a round-trip time of 100 ms, and every segment is acknowledged by itself.

use super::tests::Driver;
use super::*;
use crate::tcp::pipe::{MS, settings};
use crate::tcp::{CongestionAlgorithm, TcpSettings};

const S: u64 = 1_000 * MS;

/// Returns the windows at the ends of the ten round trips after a pause. Before the pause, the
/// window was in congestion avoidance from 20 packets on, for 2 s.
fn after_pause(congestion: CongestionAlgorithm, after_idle: AfterIdle, pause: u64) -> Vec<f64> {
    let mut driver = Driver::with(&TcpSettings {
        after_idle,
        window_packets: 2_000,
        initial_cwnd_packets: 10,
        sack: true,
        rack: true,
        ..settings(congestion)
    });
    driver.sender.congestion.window.ssthresh = 20.0;
    driver.write(Time::ZERO, 500);
    driver.run(Time(2 * S));
    while driver.sender.flight() > 0 {
        driver.run(driver.next_ack());
    }
    let write = driver.sent() + Span(pause);
    driver.write(write, 5_000);
    (1..=10)
        .map(|round| {
            driver.run(write + Span(100 * round * MS));
            driver.sender.cwnd()
        })
        .collect()
}

/// After 3 s, all rules have reduced the window as far as they ever do within five minutes. The
/// window is then the same after 3 s, 20 s and 250 s. At the end of the pause, t is less than 3 s,
/// so that the cubic function is less than 0.4 * 4^3 = 26 packets above the window at which the
/// epoch began.
#[test]
fn the_window_of_cubic_depends_on_the_rule_and_not_on_the_pause() {
    for congestion in [CongestionAlgorithm::Cubic, CongestionAlgorithm::CubicLinux] {
        for rule in AfterIdle::ALL {
            let [short, middle, long] =
                [3, 20, 250].map(|pause| after_pause(congestion, rule, pause * S));
            assert_eq!(short.len(), 10);
            for (short, other) in short.iter().zip(&middle).chain(short.iter().zip(&long)) {
                let off = (short - other).abs();
                assert!(off < 1e-6, "{congestion:?} {rule:?}: {short} {other}");
            }
            let last = short[9];
            assert!(
                (15.0..75.0).contains(&last),
                "{congestion:?} {rule:?}: {last}"
            );
        }
    }
}
