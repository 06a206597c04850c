//! Africa: HighSpeed TCP while the queue is short, otherwise Reno.
//!
//! Reference: R. King, R. Baraniuk, R. Riedi, "TCP-Africa: an adaptive and fair rapid increase
//! rule for scalable TCP", INFOCOM 2005; HighSpeed's functions are RFC 3649, section 5, and
//! Manjunath & Raina, Table I.
//!
//! ```text
//! fast mode, fewer packets of the flow in the queue than a threshold:  w + a(w)/w per ACK
//! slow mode:                                                           w + 1/w per ACK
//! w (1 - b(w)) on a loss, in either mode
//! ```
//!
//! Choices: the number of packets in the queue is w (RTT - baseRTT)/RTT with the mean RTT of a
//! round (one round trip, see `rounds.rs`). This number determines the mode of the next round. A
//! connection begins in slow mode. The increase a(w) and the decrease b(w) are computed by the
//! formulas of the RFC, not by its table of whole packets. The formulas apply above 38 packets. Up
//! to 38 packets a and b have the values of Reno, 1 and 1/2. a is never less than 1, although the
//! formula gives 0.955 at 38 packets.
//!
//! The threshold is a parameter of the algorithm. Its value of 1.641 packets is a choice of this
//! program. The value in the simulations of the paper is not known, because neither the text of the
//! paper nor an implementation was available. The threshold has no effect on a path whose losses
//! occur without a queue.

use super::control::NewAck;
use super::rounds::{Round, Rounds, Turn};
use super::window::{MIN_SSTHRESH, Window};
use super::window_algorithm::WindowAlgorithm;

/// The slow mode applies if at least this number of the flow's packets are in the queue. [packets]
/// The module documentation explains the choice of this value.
const MODE_THRESHOLD: f64 = 1.641;

/// Low_Window and High_Window of RFC 3649, and the decrease b(w) at High_Window.
const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
const HIGH_DECREASE: f64 = 0.1;

#[derive(Clone, Debug)]
pub(super) struct Africa {
    /// Growth in the current round: a(w) of HighSpeed TCP in fast mode, 1 in slow mode. [packets
    /// per round trip]
    increase: f64,
    rounds: Rounds,
}

impl Africa {
    pub(super) fn new() -> Africa {
        Africa {
            increase: 1.0,
            rounds: Rounds::new(),
        }
    }

    fn on_round(&mut self, cwnd: f64, round: Round) {
        let queued = cwnd * round.delay / round.mean_rtt;
        self.increase = if queued < MODE_THRESHOLD {
            increase(cwnd)
        } else {
            1.0
        };
    }
}

/// Returns the decrease b(w) of HighSpeed TCP at the window w: the fraction by which a loss reduces
/// the window (RFC 3649, section 5). [-]
fn decrease(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 0.5;
    }
    let position = libm::log(w / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    ((HIGH_DECREASE - 0.5) * position + 0.5).max(HIGH_DECREASE)
}

/// Returns the increase a(w) of HighSpeed TCP at the window w (RFC 3649, section 5). a(w) is w^2
/// p(w) 2 b(w) / (2 - b(w)), with the loss probability p(w) = 0.078 / w^1.2. [packets per round
/// trip]
fn increase(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 1.0;
    }
    let b = decrease(w);
    (0.156 * libm::pow(w, 0.8) * b / (2.0 - b)).max(1.0)
}

impl WindowAlgorithm for Africa {
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        if let Turn::Over(round) = self.rounds.on_ack(&ack) {
            self.on_round(window.cwnd, round);
        }
        if !window.slow_start() {
            window.add(self.increase / window.cwnd);
        }
    }

    fn decrease(&mut self, window: &Window, flight: u32) -> f64 {
        self.rounds.interrupt();
        let flight = window.effective_flight(flight);
        (flight * (1.0 - decrease(flight))).max(MIN_SSTHRESH)
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

    /// Compares the functions a(w) and b(w) with the table of RFC 3649, appendix B, whose columns
    /// are w, a(w) and b(w). The table lists windows at which a(w) is a whole number.
    #[test]
    fn high_speed_functions_agree_with_the_table_of_the_rfc() {
        let table = [
            (38, 1, 0.50),
            (118, 2, 0.44),
            (221, 3, 0.41),
            (347, 4, 0.38),
            (495, 5, 0.37),
            (663, 6, 0.35),
            (851, 7, 0.34),
            (1058, 8, 0.33),
            (1284, 9, 0.32),
            (1529, 10, 0.31),
            (1793, 11, 0.30),
        ];
        for (w, a, b) in table {
            let (w, a) = (f64::from(w), f64::from(a));
            assert!((increase(w) - a).abs() < 0.02, "a({w}) = {}", increase(w));
            assert!(
                (decrease(w) - b).abs() <= 0.0051,
                "b({w}) = {}",
                decrease(w)
            );
        }
        // a(w) = 0.156 * 83000^0.8 * 0.1/1.9
        assert!((increase(83_000.0) - 70.73).abs() < 0.01);
        assert_eq!(decrease(83_000.0), 0.1);
        assert_eq!((increase(20.0), decrease(20.0)), (1.0, 0.5));
    }

    /// With 851 packets the window grows by 7 packets per round trip if there is no queue, and by 1
    /// packet if there is a queue.
    #[test]
    fn a_queue_turns_it_into_reno() {
        let mut driver = Driver::new(Africa::new(), 851.0);
        driver.round(100 * MS);
        let before = driver.window.cwnd;
        driver.round(100 * MS);
        let fast = driver.window.cwnd - before;
        assert!((6.9..7.1).contains(&fast), "{fast}");
        // w (RTT - baseRTT)/RTT = 858 * 1/101 = 8.5 packets are in the queue
        driver.round(101 * MS);
        let before = driver.window.cwnd;
        driver.round(101 * MS);
        let slow = driver.window.cwnd - before;
        assert!((0.98..1.01).contains(&slow), "{slow}");
    }

    #[test]
    fn a_loss_costs_a_third_at_851_packets_and_half_of_small_windows() {
        let mut driver = Driver::new(Africa::new(), 851.0);
        let remaining = driver.algorithm.decrease(&driver.window, 851);
        assert!((remaining / 851.0 - 0.66).abs() < 0.005);
        assert_eq!(driver.algorithm.decrease(&driver.window, 20), 10.0);
    }
}
