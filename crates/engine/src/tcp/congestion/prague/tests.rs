use super::*;
use crate::notation::setting::FileTable;
use crate::tcp::CongestionAlgorithm;
use crate::tcp::TcpSettings;
use crate::tcp::congestion::dctcp::tests::report;
use crate::tcp::congestion::tests::{Driver, MS};
use crate::tcp::pipe::{Packet, Pipe, settings};

fn usual() -> PragueSettings {
    PragueSettings::usual().expect("Linux's")
}

fn near(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-9, "{actual} for {expected}");
}

/// alpha is 1 until the first mark. After the first mark it is updated once per window of data.
#[test]
fn alpha_begins_with_the_first_mark() {
    let mut prague = Prague::new(usual());
    prague.slow_start = false;
    for una in (10..100).step_by(10) {
        prague.on_marks(&report(una + 1, 10, 0));
    }
    assert_eq!((prague.fraction.alpha(), prague.rounds), (1.0, 5)); // the eleventh segment ends each window of ten
    prague.on_marks(&report(111, 10, 5)); // half of the segments of this window of data are marked
    near(prague.fraction.alpha(), 15.0 / 16.0 + 0.5 / 16.0);
}

/// Three of ten segments are reported as marked, so the window grows by seven times 1/cwnd.
#[test]
fn growth_counts_what_was_not_marked() {
    let mut driver = Driver::new(Prague::new(usual()), 20.0);
    driver.algorithm.on_marks(&report(10, 10, 3));
    driver.acked(100 * MS, 10);
    near(driver.window.cwnd, 20.0 + 7.0 / 20.0);
    // the ACK reports four marks, but acknowledges only one segment, so the window does not grow
    let before = driver.window.cwnd;
    driver.algorithm.on_marks(&report(11, 1, 4));
    driver.acked(100 * MS, 1);
    near(driver.window.cwnd, before);
    // three of the ten segments increase the window in slow start from 5 to ssthresh = 8; the other
    // seven increase it in congestion avoidance by 7/8
    driver.window.cwnd = 5.0;
    driver.window.ssthresh = 8.0;
    driver.algorithm.on_marks(&report(21, 10, 0));
    driver.acked(100 * MS, 10);
    near(driver.window.cwnd, 8.0 + 7.0 / 8.0);
}

/// After 500 rounds the window grows by (10/25)^2 packets per round trip on a path of 10 ms, and by
/// 1 packet on a path of 50 ms. After these rounds, marks reduce the window at most once per 25 ms.
#[test]
fn short_paths_behave_as_those_of_the_virtual_round_trip() {
    let mut prague = Prague::new(usual());
    prague.slow_start = false;
    let ms = |ms: u64| Some(Span(ms * MS));
    near(prague.increase(ms(10)), 1.0);
    prague.rounds = 500;
    near(prague.increase(ms(10)), 0.16);
    near(prague.increase(ms(25)), 1.0);
    near(prague.increase(ms(50)), 1.0);
    near(prague.increase(None), 1.0);

    let driver = Driver::new(Prague::new(usual()), 20.0);
    let mut reduces = |at: u64, una: u32| {
        let now = Time(at * MS);
        let report = MarkReport {
            now,
            ..report(una, 1, 1)
        };
        prague.on_marks(&report);
        prague
            .decrease_by_marks(&driver.window, &report, 20)
            .is_some()
    };
    assert!(reduces(100, 100));
    assert!(!reduces(110, 200));
    assert!(!reduces(120, 300));
    assert!(reduces(125, 400));
    assert!(!reduces(149, 500));
    assert!(reduces(150, 600));

    let mut own = Prague::new(PragueSettings {
        virtual_rtt: Span::ZERO,
        ..usual()
    });
    (own.slow_start, own.rounds) = (false, 1_000);
    near(own.increase(ms(10)), 1.0);
}

/// Every n-th segment is marked, so the marked fraction is p = 1/n. The window grows by 1 - p per
/// round trip and decreases by the fraction alpha / 2, with alpha = p. It converges to the window W
/// at which 1 - p = p W/2, so W = 2 (1 - p)/p. Section 2.4.3 of the draft gives the approximation
/// 2/p.
#[test]
fn the_window_is_two_over_the_part_that_is_marked() {
    for every in [10, 20, 40] {
        let settings = TcpSettings {
            ecn: true,
            window_packets: 1_000,
            prague: PragueSettings {
                virtual_rtt: Span::ZERO,
                ..usual()
            },
            ..settings(CongestionAlgorithm::Prague)
        };
        let mut pipe = Pipe::new(&settings, |packet| {
            Some(Span(match packet {
                Packet::Data { .. } => 90 * MS,
                _ => 10 * MS,
            }))
        });
        pipe.marking = Box::new(move |number| number % every == 0);
        pipe.logs = false;
        pipe.run(Time(100_000 * MS));
        let begun = pipe.delivered;
        pipe.run(Time(600_000 * MS));
        let window = (pipe.delivered - begun) as f64 / 5_000.0;
        let p = 1.0 / f64::from(every);
        let expected = 2.0 * (1.0 - p) / p;
        println!("every {every}: {window} for {expected}");
        assert!(
            (window / expected - 1.0).abs() < 0.05,
            "{window} for {expected}"
        );
    }
}
