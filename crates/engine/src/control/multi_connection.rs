//! How many TCP connections a user keeps open, so that its rate does not depend on its round-trip
//! time but on the price of its route alone (paper 001, section 5).

use super::utility::Utility;

/// What the number of connections is to achieve.
#[derive(Clone, Debug, PartialEq)]
pub enum Aim {
    /// `k T` connections (5.1).
    Rtt {
        /// [1/s]
        k: f64,
    },
    /// The optimum of a utility, times its weight (5.29).
    Utility {
        /// [1/s]
        k: f64,
        /// Utility of the rate in packets/s.
        utility: Utility,
        /// Above zero.
        weight: f64,
    },
    /// One connection.
    One,
}

/// What a user has seen of its connections since the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Mean round-trip time, if there was a sample. [s]
    pub rtt_s: Option<f64>,
    /// What they delivered together. [packets/s]
    pub rate_pps: f64,
}

/// Most connections of one user: ports are finite.
pub const MOST_CONNECTIONS: u32 = 10_000;

/// A user's rule, and the number it stands at.
#[derive(Clone, Debug)]
pub struct MultiConnection {
    aim: Aim,
    smoothing: f64,
    nearest: bool,
    /// The number before rounding; `None` before the first round-trip time.
    number: Option<f64>,
}

impl MultiConnection {
    /// One connection at first. `smoothing`, from 0 to below 1, is the weight of the previous number in the
    /// next one, which is rounded to the `nearest` whole number, or down.
    pub fn new(aim: Aim, smoothing: f64, nearest: bool) -> MultiConnection {
        MultiConnection {
            aim,
            smoothing,
            nearest,
            number: None,
        }
    }

    /// The number of connections from now on, at least one. Without a round-trip time or, where the
    /// rate counts, without a rate it stays as it is.
    pub fn step(&mut self, seen: Seen) -> u32 {
        if let Some(asked) = self.asked(seen) {
            let smoothed = match self.number {
                Some(before) => self.smoothing * before + (1.0 - self.smoothing) * asked,
                None => asked,
            };
            self.number = Some(smoothed.min(f64::from(MOST_CONNECTIONS)));
        }
        let number = self.number.unwrap_or(1.0);
        let whole = match self.nearest {
            true => number.round(),
            false => number.floor(),
        };
        (whole as u32).max(1)
    }

    fn asked(&self, seen: Seen) -> Option<f64> {
        let rtt_s = seen.rtt_s?;
        match &self.aim {
            Aim::One => Some(1.0),
            Aim::Rtt { k } => Some(*k * rtt_s),
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
        let rtt_s = Some(rtt_s);
        Seen { rtt_s, rate_pps }
    }

    #[test]
    fn connections_follow_the_round_trip_time() {
        let mut user = MultiConnection::new(Aim::Rtt { k: 10.0 }, 0.0, false);
        let silent = Seen {
            rtt_s: None,
            rate_pps: 0.0,
        };
        assert_eq!(user.step(silent), 1);
        assert_eq!(user.step(seen(1.99, 0.0)), 19);
        assert_eq!(user.step(silent), 19, "it stays without a sample");
        assert_eq!(user.step(seen(0.01, 50.0)), 1, "there is always one");
        assert_eq!(user.step(seen(1e9, 50.0)), MOST_CONNECTIONS);
        let mut nearest = MultiConnection::new(Aim::Rtt { k: 10.0 }, 0.0, true);
        assert_eq!(nearest.step(seen(1.99, 0.0)), 20);
    }

    #[test]
    fn smoothing_takes_the_mean_of_the_last_two() {
        let mut user = MultiConnection::new(Aim::Rtt { k: 10.0 }, 0.5, false);
        let numbers = [2.0, 1.0, 1.0].map(|rtt| user.step(seen(rtt, 1.0)));
        assert_eq!(numbers, [20, 15, 12]); // 12.5
    }

    #[test]
    fn a_utility_is_worth_what_equation_5_29_says() {
        let aim = |fairness, weight| Aim::Utility {
            k: 10.0,
            utility: Utility::AlphaFair { fairness },
            weight,
        };
        // -1/x: k T / sqrt 2, whatever the rate
        for rate in [1.0, 300.0] {
            let mut user = MultiConnection::new(aim(2.0, 1.0), 0.0, false);
            assert_eq!(user.step(seen(3.0, rate)), 21);
        }
        // 4 log x at 50 packets/s: U' x^2 = 200, 10 * 0.3 * 10
        let mut user = MultiConnection::new(aim(1.0, 4.0), 0.0, true);
        assert_eq!(user.step(seen(0.3, 50.0)), 30);
        assert_eq!(user.step(seen(0.3, 0.0)), 30, "no rate tells nothing");
        // 4 U'(x) = 8 / x by points
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
