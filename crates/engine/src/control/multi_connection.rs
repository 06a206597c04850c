//! The number of TCP connections that a user keeps open (paper 001, section 5). With this number,
//! the rate of the user depends only on the price of its route, not on its round-trip time T.
//!
//! **Channel errors in addition to interference** (the outlook of section 7.2 of the paper). The
//! equilibrium window of a connection is `W = sqrt(2 / p)`, where p is the fraction of packets that
//! are lost or marked. If links mark packets with a probability equal to their price r, and the
//! channel loses a fraction e, then `p = r + e`. With `k T` connections, the rate of the user is `k
//! sqrt(2 / (r + e))`. Without errors, the rate is `k sqrt(2 / r)` (5.2). A route with errors
//! therefore gets a smaller rate. With `n = k T sqrt(1 + e / r)` connections the rate is `n W / T =
//! k sqrt(2 / r)` again, and the equilibrium is that of (5.1) to (5.4). The ratio e / r is the
//! ratio of the window reductions by losses to the window reductions by marks.

use super::utility::Utility;

/// Rule for the number of connections.
#[derive(Clone, Debug, PartialEq)]
pub enum Aim {
    /// The number is `k T` (5.1), where T is the round-trip time.
    Rtt {
        /// Factor k: number of connections per second of round-trip time. [1/s]
        k: f64,
    },
    /// The number maximises a utility of the rate, multiplied by a weight (5.29).
    Utility {
        /// Factor k: number of connections per second of round-trip time, before the adjustment to
        /// the utility. [1/s]
        k: f64,
        /// Utility of the rate. The rate is in packets/s.
        utility: Utility,
        /// Weight of the utility, above zero.
        weight: f64,
    },
    /// The number is `k T sqrt(1 + losses / marks)`, where T is the round-trip time, for a channel
    /// that also loses packets.
    Marks {
        /// Factor k: number of connections per second of round-trip time, without losses. [1/s]
        k: f64,
    },
    /// The number is always one.
    One,
}

/// Measurements of the connections of a user since the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Mean round-trip time; `None` without a sample. [s]
    pub rtt_s: Option<f64>,
    /// Total goodput of all connections. [packets/s]
    pub rate_pps: f64,
    /// Number of window reductions of the connections.
    pub falls: Falls,
}

/// Number of window reductions, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Falls {
    /// Number of window reductions by losses: by fast recovery or by timeout.
    pub by_losses: u64,
    /// Number of window reductions by marks.
    pub by_marks: u64,
}

/// Weight of earlier losses and marks in their running sums. The rule uses the ratio of these sums.
/// [-]
const MEMORY: f64 = 0.9;

/// Maximum number of connections of one user, because ports are limited.
pub const MAX_CONNECTIONS: u32 = 10_000;

/// Control of the number of connections of a user: the rule, and the current number.
#[derive(Clone, Debug)]
pub struct MultiConnection {
    aim: Aim,
    smoothing: f64,
    nearest: bool,
    /// Number of connections before rounding; `None` before the first round-trip time.
    number: Option<f64>,
    /// Running sums of window reductions by losses and by marks; older reductions have a smaller
    /// weight.
    falls: [f64; 2],
}

impl MultiConnection {
    /// Returns the state of a user that has one connection. `smoothing`, from 0 to below 1, is the
    /// weight of the previous number in the next number. If `nearest`, the next number is rounded
    /// to the nearest integer; if not, it is rounded down.
    pub fn new(aim: Aim, smoothing: f64, nearest: bool) -> MultiConnection {
        MultiConnection {
            aim,
            smoothing,
            nearest,
            number: None,
            falls: [0.0; 2],
        }
    }

    /// Returns the next number of connections, at least one. The number does not change if there is
    /// no round-trip time, or if the rule needs a rate and there is no rate.
    pub fn step(&mut self, seen: Seen) -> u32 {
        let falls = [seen.falls.by_losses, seen.falls.by_marks];
        for (known, new) in self.falls.iter_mut().zip(falls) {
            *known = MEMORY * *known + new as f64;
        }
        if let Some(asked) = self.asked(seen) {
            let smoothed = match self.number {
                Some(before) => self.smoothing * before + (1.0 - self.smoothing) * asked,
                None => asked,
            };
            self.number = Some(smoothed.min(f64::from(MAX_CONNECTIONS)));
        }
        let number = self.number.unwrap_or(1.0);
        let rounded = match self.nearest {
            true => number.round(),
            false => number.floor(),
        };
        (rounded as u32).max(1)
    }

    fn asked(&self, seen: Seen) -> Option<f64> {
        let rtt_s = seen.rtt_s?;
        match &self.aim {
            Aim::One => Some(1.0),
            Aim::Rtt { k } => Some(*k * rtt_s),
            Aim::Marks { k } => {
                let [losses, marks] = self.falls;
                // before the first mark, the ratio is computed with one mark
                Some(*k * rtt_s * libm::sqrt(1.0 + losses / marks.max(1.0)))
            }
            Aim::Utility { k, utility, weight } => {
                let rate = seen.rate_pps;
                let worth = weight * utility.worth(rate);
                (rate > 0.0).then(|| *k * rtt_s * libm::sqrt(worth / 2.0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::utility::Marginals;
    use super::*;

    fn seen(rtt_s: f64, rate_pps: f64) -> Seen {
        Seen {
            rtt_s: Some(rtt_s),
            rate_pps,
            falls: Falls::default(),
        }
    }

    #[test]
    fn connections_follow_the_round_trip_time() {
        let mut user = MultiConnection::new(Aim::Rtt { k: 10.0 }, 0.0, false);
        let silent = Seen {
            rtt_s: None,
            ..seen(0.0, 0.0)
        };
        assert_eq!(user.step(silent), 1);
        assert_eq!(user.step(seen(1.99, 0.0)), 19);
        assert_eq!(user.step(silent), 19, "it stays without a sample");
        assert_eq!(user.step(seen(0.01, 50.0)), 1, "there is always one");
        assert_eq!(user.step(seen(1e9, 50.0)), MAX_CONNECTIONS);
        let mut nearest = MultiConnection::new(Aim::Rtt { k: 10.0 }, 0.0, true);
        assert_eq!(nearest.step(seen(1.99, 0.0)), 20);
    }

    #[test]
    fn losses_beside_marks_are_made_up_for() {
        let mut user = MultiConnection::new(Aim::Marks { k: 10.0 }, 0.0, true);
        let falls = |by_losses, by_marks| Seen {
            falls: Falls {
                by_losses,
                by_marks,
            },
            ..seen(2.0, 50.0)
        };
        assert_eq!(user.step(falls(0, 0)), 20);
        assert_eq!(user.step(falls(3, 0)), 40, "as if there had been a mark");
        // the running sums are 0.9 x 3 + 6 = 8.7 losses and 3 marks, and 20 sqrt(1 + 8.7 / 3) is
        // 39.5
        assert_eq!(user.step(falls(6, 3)), 39);
        for _ in 0..200 {
            user.step(falls(15, 5));
        }
        assert_eq!(user.step(falls(15, 5)), 40);
    }

    #[test]
    fn smoothing_takes_the_mean_of_the_last_two() {
        let mut user = MultiConnection::new(Aim::Rtt { k: 10.0 }, 0.5, false);
        let numbers = [2.0, 1.0, 1.0].map(|rtt| user.step(seen(rtt, 1.0)));
        assert_eq!(numbers, [20, 15, 12]); // the last number is 12.5, rounded down
    }

    #[test]
    fn a_utility_is_worth_what_equation_5_29_says() {
        let aim = |fairness, weight| Aim::Utility {
            k: 10.0,
            utility: Utility::AlphaFair { fairness },
            weight,
        };
        // with the utility U = -1/x, the number is k T / sqrt 2 = 21.2 at any rate, rounded down
        for rate in [1.0, 300.0] {
            let mut user = MultiConnection::new(aim(2.0, 1.0), 0.0, false);
            assert_eq!(user.step(seen(3.0, rate)), 21);
        }
        // with the utility 4 log x at x = 50 packets/s, U' x^2 is 200; with k = 10/s and T = 0.3 s,
        // the number is k T sqrt(200 / 2) = 30
        let mut user = MultiConnection::new(aim(1.0, 4.0), 0.0, true);
        assert_eq!(user.step(seen(0.3, 50.0)), 30);
        assert_eq!(user.step(seen(0.3, 0.0)), 30, "no rate tells nothing");
        // the weighted marginal utility 4 U'(x) is 8 / x, interpolated between points; at x = 25
        // packets/s it also gives U' x^2 = 200 and the number 30
        let points = Marginals::new(vec![(1.0, 2.0), (20.0, 0.1)]).unwrap();
        let aim = Aim::Utility {
            k: 10.0,
            utility: Utility::Points(points),
            weight: 4.0,
        };
        let mut user = MultiConnection::new(aim, 0.0, true);
        assert_eq!(user.step(seen(0.3, 25.0)), 30);
    }
}
