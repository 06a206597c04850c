//! The utility of a rate to a user: concave utilities, defined by their derivatives (paper 001,
//! section 5.3.1).

/// Maximum number of points of a marginal utility.
pub const MAX_POINTS: usize = 1_000;

/// A strictly concave, increasing utility U(x) of a rate x in packets/s, defined by its derivative
/// U'(x).
#[derive(Clone, Debug, PartialEq)]
pub enum Utility {
    /// `U'(x) = x^-fairness`, with a fairness above zero.
    AlphaFair {
        /// Exponent of the utility. 1 is proportional fairness; large values approach max-min
        /// fairness.
        fairness: f64,
    },
    /// U'(x) interpolated between points.
    Points(Marginals),
}

impl Utility {
    /// Returns `U'(x) x^2`, where U' is the marginal utility at a rate x above zero.
    pub fn worth(&self, rate_pps: f64) -> f64 {
        match self {
            Utility::AlphaFair { fairness } => libm::pow(rate_pps, 2.0 - fairness),
            Utility::Points(marginals) => marginals.at(rate_pps) * rate_pps * rate_pps,
        }
    }
}

/// A marginal utility U'(x), interpolated between points. Between two points the marginal utility
/// is a power of the rate. Before the first and after the last point, the exponent of the nearest
/// interval applies. U'(x) is above zero and decreases, so that the utility is increasing and
/// strictly concave.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginals {
    points: Vec<(f64, f64)>,
    /// Logarithm of the rate and logarithm of the marginal utility, for each point.
    logs: Vec<(f64, f64)>,
}

impl Marginals {
    /// Returns a marginal utility that is interpolated between `points`. Each point contains a rate
    /// and the marginal utility at this rate.
    ///
    /// # Errors
    /// A message about the points: fewer than two points, too many points, a number that is not
    /// above zero, rates that do not increase, or marginal utilities that do not decrease.
    pub fn new(points: Vec<(f64, f64)>) -> Result<Marginals, String> {
        if points.len() < 2 {
            return Err("has fewer than two points".to_owned());
        }
        if points.len() > MAX_POINTS {
            return Err(format!("has {} points", points.len()));
        }
        let above_zero = |value: f64| value > 0.0 && value.is_finite();
        for &(rate, marginal) in &points {
            if !above_zero(rate) {
                return Err(format!("has the rate {rate}, which is not above 0"));
            }
            if !above_zero(marginal) {
                return Err(format!(
                    "has the marginal utility {marginal} at rate {rate}, which is not above 0"
                ));
            }
        }
        let log = |&(rate, marginal): &(f64, f64)| (libm::log(rate), libm::log(marginal));
        let logs: Vec<(f64, f64)> = points.iter().map(log).collect();
        for (pair, log) in points.windows(2).zip(logs.windows(2)) {
            let ((rate, marginal), (next, after)) = (pair[0], pair[1]);
            if log[1].0 <= log[0].0 {
                return Err(format!("has rate {next} after rate {rate}"));
            }
            if log[1].1 >= log[0].1 {
                return Err(format!(
                    "has marginal utility {marginal} at rate {rate} and {after} at {next}, so that \
                     the utility is not strictly concave"
                ));
            }
        }
        Ok(Marginals { points, logs })
    }

    /// Returns the points, each with a rate and a marginal utility.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Returns the marginal utility at a rate above zero.
    pub fn at(&self, rate_pps: f64) -> f64 {
        let rate = libm::log(rate_pps);
        let inner = &self.logs[1..self.logs.len() - 1];
        let place = inner.partition_point(|&(point, _)| point < rate);
        let ((from, high), (to, low)) = (self.logs[place], self.logs[place + 1]);
        libm::exp(high + (rate - from) * (low - high) / (to - from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marginals(points: &[(f64, f64)]) -> Marginals {
        Marginals::new(points.to_vec()).unwrap()
    }

    #[test]
    fn two_points_are_a_power_of_the_rate() {
        let reciprocal = marginals(&[(10.0, 0.01), (100.0, 0.0001)]);
        for rate in [1e-3, 10.0, 37.0, 100.0, 1e6] {
            let close = reciprocal.at(rate) * rate * rate;
            assert!((close - 1.0).abs() < 1e-12, "{close} at {rate}");
        }
    }

    #[test]
    fn a_point_is_met_and_between_two_lies_their_geometric_mean() {
        let bent = marginals(&[(1.0, 8.0), (4.0, 4.0), (16.0, 1.0)]);
        for (rate, value) in [
            (1.0, 8.0),
            (4.0, 4.0),
            (16.0, 1.0),
            (8.0, 2.0),
            (64.0, 0.25),
        ] {
            assert!((bent.at(rate) / value - 1.0).abs() < 1e-12, "at {rate}");
        }
    }

    #[test]
    fn points_of_a_utility_that_is_not_concave_are_refused() {
        let fault = |points: &[(f64, f64)]| Marginals::new(points.to_vec()).unwrap_err();
        assert_eq!(
            fault(&[(1.0, 2.0), (2.0, 2.0)]),
            "has marginal utility 2 at rate 1 and 2 at 2, so that the utility is not strictly concave"
        );
        assert_eq!(fault(&[(2.0, 2.0), (2.0, 1.0)]), "has rate 2 after rate 2");
        assert_eq!(
            fault(&[(1.0, 2.0), (2.0, 0.0)]),
            "has the marginal utility 0 at rate 2, which is not above 0"
        );
        assert_eq!(
            fault(&[(-1.0, 2.0), (2.0, 1.0)]),
            "has the rate -1, which is not above 0"
        );
        assert_eq!(fault(&[(1.0, 2.0)]), "has fewer than two points");
        let many: Vec<(f64, f64)> = (1..=1001)
            .map(|k| (f64::from(k), 1.0 / f64::from(k)))
            .collect();
        assert_eq!(fault(&many), "has 1001 points");
    }
}
