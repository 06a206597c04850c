//! Tests of the epoch when the application has no data, computed by hand. A timer tick is 1 ms.

use super::*;
use crate::tcp::congestion::tests::MS;

const S: u64 = 1_000 * MS;

/// A loss at 100 packets leaves 70 packets. The epoch begins at `begun` ms. The application is out
/// of data at 3 s, and writes at 3 s + `pause`.
fn paused(begun: u64, pause: u64, is_idle: bool) -> Epoch {
    let mut cubic = CubicLinux::new(CubicLinuxSettings {
        hystart: false,
        hz: 1_000,
    });
    cubic.w_max = 100;
    cubic.epoch = Some(Epoch::begin(begun, 70, 100));
    WindowAlgorithm::on_out_of_data(&mut cubic, Time(3 * S));
    WindowAlgorithm::on_out_of_data(&mut cubic, Time(3 * S + pause / 2));
    WindowAlgorithm::on_write(&mut cubic, Time(3 * S + pause), is_idle);
    assert_eq!((cubic.w_max, cubic.out_of_data), (100, None));
    cubic.epoch.unwrap()
}

/// At 3 s, t is 2048/1024 s, and the target is 100 - 410 (4316 - 2048)^3 / 2^40 = 100 - 4.35, where
/// 4.35 is rounded down. Idle time of any length leaves t and the target as they are.
#[test]
fn idle_time_moves_the_epoch() {
    for pause in [0, S, 20 * S, 3_600 * S] {
        let epoch = paused(1_000, pause, true);
        assert_eq!(epoch.start, 1_000 + pause / MS);
        let now = 3_000 + pause / MS;
        assert_eq!(epoch.target((now - epoch.start) * SCALE / 1_000), 96);
        assert_eq!((epoch.k, epoch.origin, epoch.w_est), (4316, 100, 70));
    }
}

/// As in Linux, t includes a pause in which segments are outstanding.
#[test]
fn a_pause_with_outstanding_segments_does_not_move_the_epoch() {
    assert_eq!(paused(1_000, 20 * S, false).start, 1_000);
}

/// An epoch that began 1 s after the last transmission would begin 1 s after the present.
#[test]
fn an_epoch_does_not_begin_in_the_future() {
    assert_eq!(paused(4_000, 20 * S, true).start, 23_000);
}

#[test]
fn a_timeout_does_not_end_the_pause() {
    let mut cubic = CubicLinux::new(CubicLinuxSettings {
        hystart: true,
        hz: 1_000,
    });
    WindowAlgorithm::on_out_of_data(&mut cubic, Time(3 * S));
    let mut window = Window::new(100.0, 50.0, 200.0);
    WindowAlgorithm::on_timeout(&mut cubic, &mut window, 100, true);
    assert_eq!(cubic.out_of_data, Some(Time(3 * S)));
}
