//! Tests of CUBIC as in Linux: windows worked by hand, and comparisons with simple loops.

use super::*;
use crate::tcp::congestion::tests::{Driver, MS};
use proptest::prelude::*;

fn driver(cwnd: f64) -> Driver<CubicLinux> {
    ticking(1_000, cwnd)
}

fn ticking(hz: u32, cwnd: f64) -> Driver<CubicLinux> {
    let settings = CubicLinuxSettings { hystart: false, hz };
    Driver::new(CubicLinux::new(settings), cwnd)
}

/// After a loss at 100 packets the window is 70, and K = cbrt(30 * 2^40/410) = 4316.97/1024 s
/// is rounded down (RFC 9438: 4.217 s).
#[test]
fn the_window_function_worked_by_hand() {
    let epoch = Epoch::begin(0, 70, 100);
    assert_eq!((epoch.k, epoch.origin, epoch.w_est), (4316, 100, 70));
    assert_eq!(epoch.target(0), 71); // 100 minus 29.99 packets, which are rounded down to 29
    assert_eq!(epoch.target(4316), 100);
    // one second from the plateau the difference of 410 * 1024^3 / 2^40 = 0.4 packets is
    // rounded down to 0; two seconds from the plateau it is 3.2
    assert_eq!(
        (epoch.target(4316 - 1024), epoch.target(4316 + 1024)),
        (100, 100)
    );
    assert_eq!(
        (epoch.target(4316 - 2048), epoch.target(4316 + 2048)),
        (97, 103)
    );
    let plateau = Epoch::begin(0, 50, 0);
    assert_eq!((plateau.k, plateau.origin), (0, 50));
}

#[test]
fn losses_leave_seven_tenths_in_whole_packets_and_converge_fast() {
    let mut driver = driver(100.0);
    // 100 * 717/1024 = 70.02, rounded down
    assert_eq!(driver.algorithm.decrease(&driver.window, 3), 70.0);
    assert_eq!(driver.algorithm.w_max, 100);
    driver.window.cwnd = 81.0;
    // 81 * 717/1024 = 56.7, rounded down
    assert_eq!(driver.algorithm.decrease(&driver.window, 3), 56.0);
    // fast convergence: 81 * 1741/2048 = 68.9, rounded down
    assert_eq!(driver.algorithm.w_max, 68);
    driver.window.cwnd = 2.0;
    assert_eq!(driver.algorithm.decrease(&driver.window, 3), 2.0);
}

/// In slow start an ACK of k segments adds k packets. Segments that are acknowledged after the
/// window has reached ssthresh count for congestion avoidance.
#[test]
fn slow_start_counts_segments() {
    let mut driver = driver(10.0);
    driver.window.ssthresh = 15.0;
    driver.acked(10 * MS, 2);
    assert_eq!(driver.window.cwnd, 12.0);
    driver.acked(10 * MS, 2);
    assert_eq!(driver.window.cwnd, 14.0);
    driver.acked(10 * MS, 4);
    // the window is 15, and three of the 20 segments for the next packet have been counted
    assert_eq!(
        (
            driver.window.cwnd,
            driver.algorithm.credit,
            driver.algorithm.cnt
        ),
        (15.0, 3, 20)
    );
}

/// Before the first loss the window grows by one packet per 20 segments, which is 5 % per round
/// trip.
#[test]
fn before_a_loss_it_grows_by_a_twentieth_per_round_trip() {
    let mut driver = driver(200.0);
    driver.round(10 * MS);
    assert_eq!(driver.window.cwnd, 210.0);
    driver.round(10 * MS);
    assert_eq!(driver.window.cwnd, 220.0); // 210/20 = 10.5 packets, rounded down
}

/// At RTT 10 ms and 14 packets, W_est grows by one packet per 14 * 15/8 = 26 segments.
/// Therefore the window grows by one packet in two round trips. It grows half a round trip
/// later than W_est.
#[test]
fn on_a_short_path_it_grows_as_reno() {
    let mut driver = driver(20.0);
    driver.window.ssthresh = driver.algorithm.decrease(&driver.window, 20);
    driver.window.deflate();
    assert_eq!(driver.window.cwnd, 14.0);
    let windows: Vec<f64> = (0..12)
        .map(|_| {
            driver.round(10 * MS);
            driver.window.cwnd
        })
        .collect();
    let grown = windows[11] - 14.0;
    assert!((5.0..=7.0).contains(&grown), "{windows:?}");
}

/// Far below its target, the window grows by half of its size per round trip, which is the
/// maximum.
#[test]
fn it_grows_by_at_most_one_packet_per_two_segments() {
    let mut driver = driver(100.0);
    driver.algorithm.w_max = 100;
    driver.round(100 * MS);
    driver.now += Span(100_000 * MS);
    driver.acked(MS, 1);
    assert_eq!(driver.algorithm.cnt, 2);
    let before = driver.window.cwnd;
    driver.round(100 * MS);
    // one counted segment may remain from the previous round, so the growth is rounded up
    assert_eq!(driver.window.cwnd, before + (before / 2.0).ceil());
}

/// An ACK per millisecond leaves a window at its plateau as it is. `cnt` is then computed again
/// after more than 1/32 s: after 4 ticks of 10 ms, or after 32 ticks of 1 ms.
#[test]
fn growth_is_computed_per_timer_tick() {
    for (hz, expected) in [(100, vec![0, 4, 8]), (1_000, vec![1, 33, 65, 97])] {
        let mut driver = ticking(hz, 100.0);
        driver.window.ssthresh = 2.0;
        driver.algorithm.w_max = 100;
        let mut ticks: Vec<u64> = (0..100)
            .map(|_| {
                driver.acked(MS, 1);
                driver.algorithm.last.1 - u64::from(hz) // the driver starts at 1 s
            })
            .collect();
        ticks.dedup();
        assert_eq!(ticks, expected, "{hz}");
    }
}

#[test]
fn a_timeout_keeps_seven_tenths_as_threshold_and_nothing_else() {
    let mut driver = driver(100.0);
    driver.round(100 * MS);
    driver.algorithm.on_timeout(&mut driver.window, 100, true);
    assert_eq!(driver.window.cwnd, 1.0);
    assert_eq!(driver.window.ssthresh, 73.0); // 105 * 717/1024 = 73.5, rounded down
    assert_eq!(
        (driver.algorithm.w_max, driver.algorithm.delay_min),
        (0, None)
    );
    driver.algorithm.on_timeout(&mut driver.window, 1, false);
    assert_eq!(driver.window.ssthresh, 73.0);
}

/// The queue begins to grow at a round-trip time of 100 ms. The delay rule of HyStart then ends
/// slow start at the present window.
#[test]
fn slow_start_ends_with_the_delay() {
    let settings = CubicLinuxSettings {
        hystart: true,
        hz: 1_000,
    };
    let mut driver = Driver::new(CubicLinux::new(settings), 10.0);
    driver.window.ssthresh = driver.window.receive;
    driver.round(100 * MS); // ACKs that are 10 ms apart do not form a train
    assert_eq!(driver.window.cwnd, 20.0);
    driver.round(110 * MS);
    assert_eq!(driver.window.cwnd, 40.0); // an increase of 10 ms is below the threshold of 12.5 ms
    driver.round(120 * MS);
    // the ninth ACK of the round ends slow start, before the acknowledged segment increases the
    // window
    assert_eq!(driver.window.ssthresh, 48.0);
}

proptest! {
    #[test]
    fn cube_roots_are_whole(root in 0..2_000_000_u64, above in any::<u64>()) {
        let (cube, next) = (root.pow(3), (root + 1).pow(3));
        prop_assert_eq!(cube_root(cube + above % (next - cube)), root);
    }

    /// Compares W_est and the count of segments with simple loops over single segments.
    #[test]
    fn w_est_and_credit_are_those_of_plain_loops(
        cwnd in 2..500_u64,
        acks in prop::collection::vec((1..40_u64, 2..60_u64), 1..60),
    ) {
        let mut epoch = Epoch::begin(0, cwnd, 0);
        let mut algorithm = driver(1.0).algorithm;
        let (mut ack_cnt, mut w_est) = (0, cwnd);
        let (mut credit, mut grown, mut sum) = (0, 0, 0);
        for (acked, cnt) in acks {
            epoch.acked += acked;
            epoch.follow_reno(cwnd);
            ack_cnt += acked;
            while ack_cnt > cwnd * 15 / 8 {
                ack_cnt -= cwnd * 15 / 8;
                w_est += 1;
            }
            prop_assert_eq!((epoch.acked, epoch.w_est), (ack_cnt, w_est));

            algorithm.cnt = cnt;
            sum += algorithm.increase(acked);
            if credit >= cnt {
                (credit, grown) = (0, grown + 1);
            }
            for _ in 0..acked {
                credit += 1;
                if credit == cnt {
                    (credit, grown) = (0, grown + 1);
                }
            }
            prop_assert_eq!((algorithm.credit, sum), (credit, grown));
        }
    }

    /// Compares the target with the cubic function in real numbers (C = 0.4) at any tick up to
    /// twice K. The difference is at most one packet plus a fiftieth of the value of the
    /// function, because C, K and the target are rounded.
    #[test]
    fn the_target_is_rfc_9438s(w_max in 50..20_000_u64, part in 0.0..2.0_f64) {
        let cwnd = w_max * 7 / 10;
        let epoch = Epoch::begin(0, cwnd, w_max);
        let k = libm::cbrt((w_max - cwnd) as f64 / 0.4);
        let t = (part * k * 1024.0) as u64;
        let since = t as f64 / 1024.0 - k;
        let expected = w_max as f64 + 0.4 * since * since * since;
        let target = epoch.target(t) as f64;
        prop_assert!((target - expected).abs() <= 1.0 + expected / 50.0, "{} {}", target, expected);
    }

    /// On a long path, far above Reno's window, the window approaches the value that the cubic
    /// function has one round trip later. The window lags by at most one round trip and two
    /// packets.
    #[test]
    fn the_window_follows_its_target(w_max in 400..4_000_u64, seconds in 1..12_u64) {
        let mut driver = driver(w_max as f64);
        driver.window.ssthresh = driver.algorithm.decrease(&driver.window, 1);
        driver.window.deflate();
        for _ in 0..5 * seconds {
            driver.round(200 * MS);
        }
        let epoch = driver.algorithm.epoch.unwrap();
        let begun = driver.algorithm.clock.at(driver.now) - epoch.start;
        let at = |ms: u64| epoch.target(ms * 1024 / 1000) as f64;
        let cwnd = driver.window.cwnd;
        prop_assert!(cwnd >= at(begun - 200) - 2.0, "{} of {}", cwnd, at(begun));
        prop_assert!(cwnd <= at(begun + 200).max(epoch.w_est as f64) + 1.0, "{} of {}", cwnd, at(begun));
    }
}
