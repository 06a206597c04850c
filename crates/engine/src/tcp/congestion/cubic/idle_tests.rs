//! Tests of the time t of the cubic function when the application has no data, computed by hand.

use super::*;
use crate::kernel::time::Span;
use crate::tcp::congestion::tests::{Driver, MS};

const S: u64 = 1_000 * MS;

/// A loss at 100 packets leaves 70 packets: K = cbrt(30 / 0.4) = 4.2172 s. The stage begins at 1 s.
/// The application is out of data at 3 s, and writes at 3 s + `pause`.
fn paused(pause: u64, is_idle: bool) -> Cubic {
    let mut cubic = Cubic {
        w_max: 100.0,
        cwnd_prior: 100.0,
        epoch: Some(Epoch::begin(Time(S), 70.0, 100.0)),
        out_of_data: None,
    };
    WindowAlgorithm::on_out_of_data(&mut cubic, Time(3 * S));
    // a later poll that finds no data does not change the beginning of the period
    WindowAlgorithm::on_out_of_data(&mut cubic, Time(3 * S + pause / 2));
    WindowAlgorithm::on_write(&mut cubic, Time(3 * S + pause), is_idle);
    cubic
}

/// At 3 s, t is 2 s, and W_cubic(2 s) = 100 - 0.4 (4.2172 - 2)^3 = 95.640. A pause of any length
/// leaves t, W_cubic(t), K and W_max as they are, whether segments are outstanding or not.
#[test]
fn the_stage_begins_later_by_the_length_of_the_pause() {
    for pause in [0, S, 20 * S, 3_600 * S] {
        for is_idle in [false, true] {
            let cubic = paused(pause, is_idle);
            let epoch = cubic.epoch.unwrap();
            assert_eq!(epoch.begun, Time(S + pause));
            let t = Time(3 * S + pause).since(epoch.begun).seconds();
            assert!((epoch.w_cubic(t) - 95.640).abs() < 1e-3);
            assert!((epoch.k - 4.217_163).abs() < 1e-6);
            assert_eq!(
                (epoch.w_max, cubic.w_max, cubic.cwnd_prior),
                (100.0, 100.0, 100.0)
            );
            assert_eq!(cubic.out_of_data, None);
        }
    }
}

/// ACKs of the last segments arrive while the application has no data. A stage that begins with one
/// of them begins at t = 0 after the pause.
#[test]
fn a_stage_that_begins_in_the_pause_begins_at_its_end() {
    let mut driver = Driver::new(Cubic::default(), 100.0);
    let out_of_data = driver.now;
    WindowAlgorithm::on_out_of_data(&mut driver.algorithm, out_of_data);
    driver.round(100 * MS);
    assert_eq!(driver.algorithm.epoch.unwrap().begun, out_of_data);
    let write = driver.now + Span(20 * S);
    WindowAlgorithm::on_write(&mut driver.algorithm, write, true);
    assert_eq!(driver.algorithm.epoch.unwrap().begun, write);
}

/// The windows of the ten round trips after a pause are the same after 0.1 s and after an hour.
#[test]
fn the_window_does_not_depend_on_the_length_of_the_pause() {
    let windows = |pause: u64| -> Vec<f64> {
        let mut driver = Driver::new(Cubic::default(), 1_000.0);
        driver.window.ssthresh = driver.algorithm.decrease(&driver.window, 1_000);
        driver.window.deflate();
        for _ in 0..20 {
            driver.round(100 * MS);
        }
        WindowAlgorithm::on_out_of_data(&mut driver.algorithm, driver.now);
        driver.now += Span(pause);
        WindowAlgorithm::on_write(&mut driver.algorithm, driver.now, true);
        let after = (0..10).map(|_| {
            driver.round(100 * MS);
            driver.window.cwnd
        });
        after.collect()
    };
    let without = windows(0);
    for pause in [100 * MS, 20 * S, 3_600 * S] {
        for (with, without) in windows(pause).iter().zip(&without) {
            assert!((with - without).abs() < 1e-6, "{with} {without}");
        }
    }
}
