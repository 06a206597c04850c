//! Compound TCP: the window is the sum of Reno's window and a window that depends on the queueing
//! delay.
//!
//! Reference: K. Tan, J. Song, Q. Zhang, M. Sridharan, "A Compound TCP approach for high-speed
//! and long distance networks", INFOCOM 2006; as restated in Manjunath & Raina, section II.
//!
//! ```text
//! win = min(cwnd + dwnd, receive window)
//! cwnd + 1/win                     per ACK
//! diff = win (1 - baseRTT/RTT)     once a round trip: packets of the flow in the queue
//! dwnd + (alpha win^k - 1)^+       if diff < gamma
//! (dwnd - zeta diff)^+             if diff >= gamma
//! (win (1 - beta) - cwnd/2)^+      on a loss; cwnd becomes cwnd/2
//! ```
//!
//! win is the window, cwnd the loss window (that of Reno), dwnd the delay window, and (x)^+ =
//! max(x, 0). alpha, beta, gamma, zeta and k are parameters. All values are real numbers. With the
//! default values dwnd begins to grow at win = 16, where alpha win^k exceeds 1. dwnd is 0 in slow
//! start and after a timeout. RTT is the mean of the samples of a round, and win in the equations
//! of dwnd is the window at the beginning of the round.
//!
//! Differs from the paper in: the receive window limits the growth of dwnd, not only win, so that
//! dwnd never contains a fraction of the window that cannot be used. ns-2 runs the Linux module
//! `tcp_compound.c` by A. Castellani and S. Hemminger. The differences from ns-2 are:
//! - ns-2 computes in integers: win^k is a whole fourth root of win^3 by Newton's method, and alpha
//!   is a shift right by 3 bits. dwnd grows by the result minus 1, and only if the result is at
//!   least 2: from 41 packets on (41^0.75 = 16.2), and in steps.
//! - ns-2 uses the minimum RTT of a round, not the mean, and needs at least three samples in the
//!   round.
//! - ns-2 uses zeta = 1 and does not change dwnd on a loss, so that the whole reduction affects
//!   cwnd, unless dwnd already exceeds the window after the reduction.
//! - In ns-2 the algorithm is plain Reno unless `timestamps_` and `ts_echo_rfc1323_` are on.
//!
//! Differs from Windows (draft-sridharan-tcpm-ctcp-02) in: gamma is constant (no TUBE).

use super::control::NewAck;
use super::rounds::{Round, Rounds, Turn};
use super::window::{MIN_SSTHRESH, Window};
use super::window_algorithm::WindowAlgorithm;
use crate::notation::setting::{number, probability};
use crate::table;

table! {
    /// Parameters of Compound TCP (congestion = "compound").
    pub struct CompoundSettings: Copy in "compound" {
        /// Factor alpha of the window's growth. In a round trip without a queue the window win grows by alpha win^k packets.
        alpha: f64 = number(0.0..=100.0), fallback 0.125;
        /// Part by which a loss reduces the window.
        beta: f64 = probability(), fallback 0.5;
        /// Exponent k of the window's growth. In a round trip without a queue the window win grows by alpha win^k packets.
        k: f64 = number(0.0..=1.0), fallback 0.75;
        /// Number of the flow's packets in the queue from which the delay window shrinks.
        gamma: f64, json "gamma_packets" = number(0.0..=1_000_000.0), fallback 30.0;
        /// Number of packets by which the delay window shrinks in a round trip for each packet in the queue.
        zeta: f64 = number(0.0..=1_000.0), fallback 0.5;
    }
}

#[derive(Clone, Debug)]
pub(super) struct Compound {
    settings: CompoundSettings,
    /// Delay window dwnd. [`Window::cwnd`] is the sum of dwnd and the loss window. [packets]
    dwnd: f64,
    rounds: Rounds,
    /// Window win (loss window plus delay window) at the beginning of the round; `None` if the
    /// round did not begin in congestion avoidance. [packets]
    win: Option<f64>,
}

impl Compound {
    pub(super) fn new(settings: CompoundSettings) -> Compound {
        Compound {
            settings,
            dwnd: 0.0,
            rounds: Rounds::new(),
            win: None,
        }
    }

    /// Updates the delay window dwnd at the end of a round that began with the window `win`.
    fn on_round(&mut self, window: &mut Window, win: f64, round: Round) {
        let CompoundSettings { gamma, zeta, .. } = self.settings;
        let diff = win * round.delay / round.mean_rtt;
        let before = self.dwnd;
        if diff < gamma {
            let room = (window.receive - window.cwnd).max(0.0);
            self.dwnd += (increase_per_rtt(&self.settings, win) - 1.0).clamp(0.0, room);
        } else {
            self.dwnd = (self.dwnd - zeta * diff).max(0.0);
        }
        window.cwnd += self.dwnd - before;
    }

    fn interrupt(&mut self) {
        self.rounds.interrupt();
        self.win = None;
    }
}

/// Returns the growth of the window win in a round trip without queue: alpha win^k. [packets]
fn increase_per_rtt(settings: &CompoundSettings, win: f64) -> f64 {
    let power = if settings.k == 0.75 {
        win.sqrt() * win.sqrt().sqrt()
    } else {
        libm::pow(win, settings.k)
    };
    settings.alpha * power
}

impl WindowAlgorithm for Compound {
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        let turn = self.rounds.on_ack(&ack);
        if window.slow_start() {
            self.win = None;
            return;
        }
        window.add(1.0 / window.cwnd);
        if let (Turn::Over(round), Some(win)) = (turn, self.win) {
            self.on_round(window, win, round);
        }
        if turn != Turn::Within {
            self.win = Some(window.cwnd);
        }
    }

    fn decrease(&mut self, _window: &Window, flight: u32) -> f64 {
        self.interrupt();
        let win = f64::from(flight);
        let loss_window = (win - self.dwnd).max(0.0) / 2.0;
        self.dwnd = (win * (1.0 - self.settings.beta) - loss_window).max(0.0);
        (loss_window + self.dwnd).max(MIN_SSTHRESH)
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool) {
        self.interrupt();
        self.dwnd = 0.0;
        window.on_timeout(flight, first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::congestion::tests::{Driver, MS};

    use crate::notation::setting::FileTable;

    fn published() -> CompoundSettings {
        CompoundSettings::usual().unwrap()
    }

    /// At 256 packets alpha win^k is 256^0.75 / 8 = 8 packets per round trip. Of these, Reno's
    /// growth is 1 packet.
    #[test]
    fn window_grows_by_alpha_win_to_the_k_per_round_trip() {
        assert_eq!(increase_per_rtt(&published(), 256.0), 8.0);
        assert_eq!(increase_per_rtt(&published(), 16.0), 1.0);
        let other = CompoundSettings {
            k: 0.5,
            ..published()
        };
        assert_eq!(increase_per_rtt(&other, 256.0), 2.0);

        let mut driver = Driver::new(Compound::new(published()), 256.0);
        driver.round(100 * MS);
        let before = driver.window.cwnd;
        driver.round(100 * MS); // the round begins with the update of dwnd
        let grown = driver.window.cwnd - before;
        assert!((grown - 8.0).abs() < 0.04, "{grown}");
        let dwnd = driver.algorithm.dwnd;
        assert!((dwnd - 7.0).abs() < 1e-3, "{dwnd}");
    }

    #[test]
    fn below_sixteen_packets_it_is_reno() {
        let mut driver = Driver::new(Compound::new(published()), 10.0);
        for _ in 0..4 {
            driver.round(100 * MS);
        }
        assert_eq!(driver.algorithm.dwnd, 0.0);
        let cwnd = driver.window.cwnd;
        assert!((13.6..14.0).contains(&cwnd), "{cwnd}");
    }

    /// The window is 200 packets, the RTT 125 ms and the minimum RTT 100 ms: diff = 200 * 25/125 =
    /// 40 packets are in the queue. This exceeds gamma = 30, so dwnd shrinks by zeta diff = 20.
    #[test]
    fn a_queue_of_gamma_packets_reduces_dwnd_by_zeta_times_diff() {
        let mut compound = Compound::new(published());
        compound.dwnd = 50.0;
        let mut window = Driver::new(Compound::new(published()), 200.0).window;
        let round = |delay| Round {
            mean_rtt: 0.125,
            delay,
            largest_delay: delay,
        };
        compound.on_round(&mut window, 200.0, round(0.025));
        assert_eq!((compound.dwnd, window.cwnd), (30.0, 180.0));
        compound.on_round(&mut window, 200.0, round(0.025));
        compound.on_round(&mut window, 200.0, round(0.025));
        assert_eq!((compound.dwnd, window.cwnd), (0.0, 150.0)); // dwnd is never negative
        // diff = 200 * 0.0125/0.125 = 20 is below gamma, so dwnd grows by 1/8 200^0.75 - 1
        compound.on_round(&mut window, 200.0, round(0.0125));
        assert!((compound.dwnd - 5.648).abs() < 1e-3, "{}", compound.dwnd);
    }

    /// Before the loss win is 100 packets, of which dwnd is 40. The loss changes cwnd from 60 to
    /// 30, and dwnd to 100/2 - 30 = 20.
    #[test]
    fn a_loss_halves_win_and_divides_the_rest() {
        let mut driver = Driver::new(Compound::new(published()), 100.0);
        driver.algorithm.dwnd = 40.0;
        assert_eq!(driver.algorithm.decrease(&driver.window, 100), 50.0);
        assert_eq!(driver.algorithm.dwnd, 20.0);
        // with beta = 0.125 instead of 0.5, the loss reduces win less; cwnd is halved in both
        // cases, so dwnd is larger after the loss
        let gentle = CompoundSettings {
            beta: 0.125,
            ..published()
        };
        let mut compound = Compound::new(gentle);
        compound.dwnd = 40.0;
        assert_eq!(compound.decrease(&driver.window, 100), 87.5);
        assert_eq!(compound.dwnd, 57.5);
    }

    #[test]
    fn a_timeout_removes_the_delay_window() {
        let mut driver = Driver::new(Compound::new(published()), 100.0);
        driver.algorithm.dwnd = 40.0;
        driver.algorithm.on_timeout(&mut driver.window, 100, true);
        assert_eq!(driver.algorithm.dwnd, 0.0);
        assert_eq!((driver.window.cwnd, driver.window.ssthresh), (1.0, 50.0));
    }

    #[test]
    fn the_delay_window_stays_within_the_receive_window() {
        let mut driver = Driver::new(Compound::new(published()), 250.0);
        driver.window.receive = 260.0;
        for _ in 0..10 {
            driver.round(100 * MS);
        }
        assert_eq!(driver.window.cwnd, 260.0);
        assert!(driver.algorithm.dwnd <= 10.0);
    }
}
