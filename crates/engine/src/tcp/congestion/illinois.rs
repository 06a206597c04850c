//! Illinois: a variant of Reno. With a longer queueing delay, the window increases more slowly and
//! a loss decreases it more.
//!
//! Reference: S. Liu, T. Basar, R. Srikant, "TCP-Illinois: a loss- and delay-based congestion
//! control algorithm for high-speed networks", Performance Evaluation 65 (2008); the values are
//! from section 3 of this paper.
//!
//! ```text
//! w + alpha(d)/w per ACK, w (1 - beta(d)) on a loss; d: mean queueing delay of the last round,
//! d_m: largest queueing delay so far
//! alpha: 10 up to d_1 = 0.01 d_m, then kappa_1 / (kappa_2 + d) down to 0.3 at d_m
//! beta:  1/8 up to d_2 = 0.1 d_m, then linear up to 1/2 at d_3 = 0.8 d_m
//! ```
//!
//! w is the window, alpha(d) the increase per round trip, and beta(d) the fraction by which a loss
//! reduces the window. Below 10 packets alpha is 1 and beta is 1/2. After alpha has been below its
//! maximum, it returns to the maximum only after 5 consecutive rounds in which d does not exceed
//! d_1.
//!
//! Differs from Linux in: computation in real numbers; a timeout does not reset the minimum and
//! maximum round-trip times.

use super::control::NewAck;
use super::rounds::{Round, Rounds, Turn};
use super::window::{MIN_SSTHRESH, Window};
use super::window_algorithm::WindowAlgorithm;

pub(super) const ALPHA_MIN: f64 = 0.3;
pub(super) const ALPHA_MAX: f64 = 10.0;
pub(super) const BETA_MIN: f64 = 0.125;
pub(super) const BETA_MAX: f64 = 0.5;

/// Delays d_1, d_2 and d_3 at which the functions alpha and beta change, divided by the largest
/// queueing delay d_m. [-]
pub(super) const ETA: [f64; 3] = [0.01, 0.1, 0.8];

/// Window below which the algorithm behaves like Reno. [packets]
pub(super) const W_THRESH: f64 = 10.0;

/// Number of consecutive rounds with almost no queueing delay after which the increase alpha
/// returns to its maximum.
pub(super) const THETA: u32 = 5;

#[derive(Clone, Debug)]
pub(super) struct Illinois {
    alpha: f64,
    beta: f64,
    /// Number of consecutive rounds in which the queueing delay did not exceed d_1 (see [`ETA`]).
    /// Only rounds after alpha fell below its maximum are counted.
    quiet_rounds: u32,
    rounds: Rounds,
}

impl Illinois {
    /// Returns the initial state, in which the window grows as Reno's until a round has been
    /// measured.
    pub(super) fn new() -> Illinois {
        Illinois {
            alpha: 1.0,
            beta: BETA_MAX,
            quiet_rounds: THETA,
            rounds: Rounds::new(),
        }
    }

    fn on_round(&mut self, round: Round) {
        let (d, d_m) = (round.delay, round.largest_delay);
        self.beta = beta(d, d_m);
        if d > ETA[0] * d_m {
            self.quiet_rounds = 0;
            self.alpha = increase(d, d_m);
        } else {
            self.quiet_rounds += 1;
            if self.quiet_rounds >= THETA {
                self.alpha = ALPHA_MAX;
            }
        }
    }
}

/// Returns the increase alpha at the mean queueing delay `d` and the largest queueing delay `d_m`
/// (function f_1 of the paper). [packets per round trip]
fn increase(d: f64, d_m: f64) -> f64 {
    let d_1 = ETA[0] * d_m;
    if d <= d_1 {
        return ALPHA_MAX;
    }
    let span = (d_m - d_1) / (ALPHA_MAX - ALPHA_MIN);
    let kappa_1 = span * ALPHA_MIN * ALPHA_MAX;
    let kappa_2 = span * ALPHA_MIN - d_1;
    kappa_1 / (kappa_2 + d)
}

/// Returns the decrease beta at the mean queueing delay `d` and the largest queueing delay `d_m`
/// (function f_2 of the paper). [-]
fn beta(d: f64, d_m: f64) -> f64 {
    let (d_2, d_3) = (ETA[1] * d_m, ETA[2] * d_m);
    if d <= d_2 {
        return BETA_MIN;
    }
    if d >= d_3 {
        return BETA_MAX;
    }
    let kappa_3 = (BETA_MIN * d_3 - BETA_MAX * d_2) / (d_3 - d_2);
    let kappa_4 = (BETA_MAX - BETA_MIN) / (d_3 - d_2);
    kappa_3 + kappa_4 * d
}

impl WindowAlgorithm for Illinois {
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        if let Turn::Over(round) = self.rounds.on_ack(&ack) {
            self.on_round(round);
        }
        if window.slow_start() {
            return;
        }
        let alpha = if window.cwnd < W_THRESH {
            1.0
        } else {
            self.alpha
        };
        window.add(alpha / window.cwnd);
    }

    fn decrease(&mut self, window: &Window, flight: u32) -> f64 {
        self.rounds.interrupt();
        let beta = if window.cwnd < W_THRESH {
            BETA_MAX
        } else {
            self.beta
        };
        (window.effective_flight(flight) * (1.0 - beta)).max(MIN_SSTHRESH)
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool) {
        self.rounds.interrupt();
        window.on_timeout(flight, first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::congestion::tests::{Driver, MS};

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} instead of {b}");
    }

    /// With the largest queueing delay d_m = 100 ms, the constants of alpha are kappa_1 = 99 * 3 /
    /// 9.7 and kappa_2 = 99 * 0.3 / 9.7 - 1 [ms].
    #[test]
    fn increase_and_decrease_worked_by_hand() {
        near(increase(0.0, 0.1), 10.0);
        near(increase(0.001, 0.1), 10.0);
        near(increase(0.001 + 1e-15, 0.1), 10.0); // the function is continuous at d_1
        near(
            increase(0.05, 0.1),
            (297.0 / 9.7) / (29.7 / 9.7 - 1.0 + 50.0),
        ); // alpha is 0.588 at a delay of 50 ms
        near(increase(0.1, 0.1), 0.3);
        near(beta(0.0, 0.1), 0.125);
        near(beta(0.01, 0.1), 0.125);
        near(beta(0.045, 0.1), 0.3125); // beta is half way between 1/8 at 10 ms and 1/2 at 80 ms
        near(beta(0.08, 0.1), 0.5);
        near(beta(0.1, 0.1), 0.5);
        // on a path without any queueing delay, d_m is 0
        near(increase(0.0, 0.0), 10.0);
        near(beta(0.0, 0.0), 0.125);
    }

    #[test]
    fn without_delay_it_grows_by_ten_and_loses_an_eighth() {
        let mut driver = Driver::new(Illinois::new(), 400.0);
        driver.round(100 * MS);
        let before = driver.window.cwnd;
        driver.round(100 * MS);
        let grown = driver.window.cwnd - before;
        assert!((9.8..10.0).contains(&grown), "{grown}");
        assert_eq!(driver.algorithm.decrease(&driver.window, 400), 350.0);
    }

    #[test]
    fn small_windows_are_renos() {
        let mut driver = Driver::new(Illinois::new(), 5.0);
        driver.round(100 * MS);
        driver.round(100 * MS);
        let cwnd = driver.window.cwnd;
        assert!((6.6..7.0).contains(&cwnd), "{cwnd}");
        assert_eq!(driver.algorithm.decrease(&driver.window, 6), 3.0);
    }

    #[test]
    fn the_largest_increase_returns_after_five_quiet_rounds() {
        let round = |delay| Round {
            mean_rtt: 0.1 + delay,
            delay,
            largest_delay: 0.1,
        };
        let mut illinois = Illinois::new();
        illinois.on_round(round(0.0));
        assert_eq!(illinois.alpha, 10.0);
        illinois.on_round(round(0.1));
        near(illinois.alpha, 0.3);
        for _ in 0..4 {
            illinois.on_round(round(0.0));
            near(illinois.alpha, 0.3);
        }
        illinois.on_round(round(0.0));
        assert_eq!(illinois.alpha, 10.0);
    }
}
