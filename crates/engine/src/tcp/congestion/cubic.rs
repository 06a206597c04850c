//! CUBIC: the window is a cubic function of the time t since the last loss.
//!
//! Reference: RFC 9438.
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max          K = cbrt((W_max - cwnd_epoch) / C)
//! ```
//!
//! C is the aggressiveness, K the time until the window is W_max again, W_max the window before the
//! last reduction, and cwnd_epoch the window after this reduction. Choices that the RFC offers:
//! fast convergence is on (section 4.7); ssthresh is beta times FlightSize (section 4.6); the
//! target W_cubic(t + RTT) uses the smoothed RTT.
//!
//! t does not include application-limited periods (sections 4.2 and 5.8). Such a period begins when
//! all data of the application is sent, and ends when the application supplies more. The window
//! before the period therefore does not depend on its length. ACKs during the period have the t of
//! its beginning. Whether they may increase the window, and whether the window is reduced, depends
//! on `after_idle` (`validation.rs`). Slow start after such a reduction does not begin a new stage,
//! as in Linux.
//!
//! Differs from the RFC in: in the Reno-friendly region cwnd is max(cwnd, W_est), so that no ACK
//! reduces cwnd. W_est is the window of a Reno flow. Differs from Linux in: floating point instead
//! of integers in units of 1/1024 s; the window grows by (target - cwnd)/cwnd per ACK, as in the
//! RFC, and not per acknowledged segment. With delayed ACKs cwnd therefore approaches its target at
//! half the speed.

use super::control::NewAck;
use super::window::{MIN_SSTHRESH, Window};
use super::window_algorithm::WindowAlgorithm;
use crate::kernel::time::Time;

/// Constant C, the aggressiveness of the cubic growth (section 5). [packets/s^3]
const C: f64 = 0.4;

/// Factor by which a loss multiplies the window (section 4.6). [-]
const BETA: f64 = 0.7;

/// Growth per round trip of W_est, the window of a Reno flow (section 4.3). With this growth W_est
/// has the average window of Reno. [packets]
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

#[derive(Clone, Debug, Default)]
pub(super) struct Cubic {
    /// W_max: window before the last reduction, or a smaller value because of fast convergence. It
    /// is 0 if there was no reduction since slow start. [packets]
    w_max: f64,
    /// Window before the last reduction; fast convergence does not change this value. [packets]
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    /// Beginning of the present application-limited period; `None` while the application has data.
    out_of_data: Option<Time>,
}

/// A congestion avoidance stage: the time from one reduction of the window to the next.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    begun: Time,
    /// K: time from the beginning of the stage until the window is W_max again. [s]
    k: f64,
    w_max: f64,
    /// W_est: window that a Reno flow would have under the same conditions. [packets]
    w_est: f64,
}

impl Epoch {
    /// Returns the congestion avoidance stage that begins at `begun` with the window `cwnd`.
    /// Without an earlier loss the stage begins at the plateau of the cubic function (section 4.8).
    fn begin(begun: Time, cwnd: f64, w_max: f64) -> Epoch {
        let w_max = w_max.max(cwnd);
        Epoch {
            begun,
            k: libm::cbrt((w_max - cwnd) / C),
            w_max,
            w_est: cwnd,
        }
    }

    /// Returns W_cubic, the cubic function at the time `t` [s] since the beginning of the stage
    /// (section 4.2, equation 1). [packets]
    fn w_cubic(&self, t: f64) -> f64 {
        let since_plateau = t - self.k;
        C * (since_plateau * since_plateau * since_plateau) + self.w_max
    }
}

impl WindowAlgorithm for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        if window.slow_start() {
            return;
        }
        let cwnd = window.cwnd;
        let w_max = self.w_max;
        let now = self.out_of_data.unwrap_or(ack.now);
        let epoch = self
            .epoch
            .get_or_insert_with(|| Epoch::begin(now, cwnd, w_max));
        let t = now.since(epoch.begun).seconds();
        let rtt = ack.rtt.srtt().map_or(0.0, |srtt| srtt.seconds());
        // growth of W_est, section 4.3, equation 4
        let alpha = if epoch.w_est < self.cwnd_prior {
            ALPHA
        } else {
            1.0
        };
        epoch.w_est += alpha * f64::from(ack.acked) / cwnd;
        if epoch.w_cubic(t) < epoch.w_est {
            window.add(epoch.w_est - cwnd); // Reno-friendly region
        } else {
            // concave and convex region, sections 4.4 and 4.5
            let target = epoch.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
            window.add((target - cwnd) / cwnd);
        }
    }

    fn decrease(&mut self, window: &Window, flight: u32) -> f64 {
        self.epoch = None;
        self.cwnd_prior = window.cwnd;
        // fast convergence, section 4.7
        self.w_max = if window.cwnd < self.w_max {
            window.cwnd * (1.0 + BETA) / 2.0
        } else {
            window.cwnd
        };
        (f64::from(flight) * BETA).max(MIN_SSTHRESH)
    }

    /// Processes a timeout (section 4.8): ssthresh is beta times FlightSize, and the next
    /// congestion avoidance stage begins at the plateau of the cubic function.
    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool) {
        if first {
            window.ssthresh = self.decrease(window, flight);
        }
        self.epoch = None;
        self.w_max = 0.0;
        window.collapse();
    }

    fn on_out_of_data(&mut self, now: Time) {
        self.out_of_data.get_or_insert(now);
    }

    fn on_write(&mut self, now: Time, _is_idle: bool) {
        if let Some(begun) = self.out_of_data.take()
            && let Some(epoch) = &mut self.epoch
        {
            epoch.begun += now.since(begun);
        }
    }
}

#[cfg(test)]
mod idle_tests;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::congestion::tests::{Driver, MS};

    /// After a loss at 100 packets: cwnd 70, K = cbrt(30 / 0.4) = 4.2172 s.
    #[test]
    fn the_window_function_worked_by_hand() {
        let epoch = Epoch::begin(Time::ZERO, 70.0, 100.0);
        assert!((epoch.k - 4.217_163).abs() < 1e-6, "{}", epoch.k);
        assert!((epoch.w_cubic(0.0) - 70.0).abs() < 1e-9);
        assert_eq!(epoch.w_cubic(epoch.k), 100.0);
        // one second before and after the plateau, the difference to W_max is 0.4 * 1^3 packets
        assert!((epoch.w_cubic(epoch.k - 1.0) - 99.6).abs() < 1e-9);
        assert!((epoch.w_cubic(epoch.k + 1.0) - 100.4).abs() < 1e-9);
        assert!((epoch.w_cubic(2.0 * epoch.k) - 130.0).abs() < 1e-9);
    }

    #[test]
    fn without_an_earlier_loss_a_stage_begins_on_the_plateau() {
        let epoch = Epoch::begin(Time::ZERO, 50.0, 0.0);
        assert_eq!((epoch.k, epoch.w_max), (0.0, 50.0));
    }

    #[test]
    fn losses_leave_seven_tenths_and_converge_fast() {
        let mut driver = Driver::new(Cubic::default(), 100.0);
        assert_eq!(driver.algorithm.decrease(&driver.window, 100), 70.0);
        assert_eq!(
            (driver.algorithm.w_max, driver.algorithm.cwnd_prior),
            (100.0, 100.0)
        );
        // the loss occurs below the previous W_max, so that fast convergence gives W_max = 80 *
        // 1.7/2
        driver.window.cwnd = 80.0;
        assert_eq!(driver.algorithm.decrease(&driver.window, 80), 56.0);
        assert_eq!(
            (driver.algorithm.w_max, driver.algorithm.cwnd_prior),
            (68.0, 80.0)
        );
    }

    /// With RTT 1 s and W_max 1000 the window is far above Reno's window, and is given by the cubic
    /// function.
    #[test]
    fn cwnd_follows_the_cubic_function_on_a_long_path() {
        let mut driver = Driver::new(Cubic::default(), 1000.0);
        driver.window.ssthresh = driver.algorithm.decrease(&driver.window, 1000);
        driver.window.deflate();
        for _ in 0..10 {
            driver.round(1_000 * MS);
        }
        let epoch = driver.algorithm.epoch.unwrap();
        assert!((epoch.k - 9.0856).abs() < 1e-4); // K = cbrt(300 / 0.4)
        let t = driver.now.since(epoch.begun).seconds();
        // in one round the ACKs reduce the distance from cwnd to the target W_cubic(t + RTT) by at
        // least the fraction 1 - 1/e
        let cwnd = driver.window.cwnd;
        assert!(cwnd <= epoch.w_cubic(t + 1.0), "{cwnd} at {t}");
        assert!(cwnd >= epoch.w_cubic(t - 1.0), "{cwnd} at {t}");
    }

    /// At RTT 10 ms the cubic function grows by 0.4 (0.01 n)^3 in n round trips, and Reno's window
    /// W_est by 0.529 packets per round trip.
    #[test]
    fn on_a_short_path_it_grows_as_reno() {
        let mut driver = Driver::new(Cubic::default(), 20.0);
        driver.window.ssthresh = driver.algorithm.decrease(&driver.window, 20);
        driver.window.deflate(); // cwnd is now 14
        for _ in 0..6 {
            driver.round(10 * MS);
        }
        let grown = driver.window.cwnd - 14.0;
        assert!((grown / 6.0 - ALPHA).abs() < 0.03, "{grown}");
        // above the window before the last loss, W_est grows by one packet per round trip
        for _ in 0..10 {
            driver.round(10 * MS);
        }
        let before = driver.window.cwnd;
        assert!(before > 20.0);
        driver.round(10 * MS);
        let grown = driver.window.cwnd - before;
        assert!((0.9..=1.0).contains(&grown), "{grown}");
    }

    #[test]
    fn a_timeout_keeps_seven_tenths_as_threshold_and_forgets_the_plateau() {
        let mut driver = Driver::new(Cubic::default(), 100.0);
        driver.algorithm.on_timeout(&mut driver.window, 100, true);
        assert_eq!((driver.window.cwnd, driver.window.ssthresh), (1.0, 70.0));
        assert_eq!(driver.algorithm.w_max, 0.0);
    }
}
