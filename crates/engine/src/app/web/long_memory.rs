//! A Gaussian sequence with long memory plus white noise, from which PackMime's connection gaps and
//! request lengths are computed.
//!
//! References: Cao et al. 2004 (the FSD-MA(1) model: fractional sum-difference, moving average of
//! order 1); J. R. M. Hosking, "Modeling persistence in hydrological time series using fractional
//! differencing", Water Resources Research 20(12), 1984 (generation of the sequence).
//!
//! ```text
//! z_t = sqrt(1 - theta) s_t + sqrt(theta) n_t,     n_t white, all of variance 1
//! (1 - B)^d s_t = e_t + e_{t-1}                    so s_t is proportional to x_t + x_{t-1},
//!                                                  x_t fractional noise: (1 - B)^d x_t = e_t
//! ```
//!
//! In these equations, z_t is the sequence, s_t is its part with long memory, and n_t is its white
//! noise. theta is the fraction of white noise in the variance of z_t. x_t is fractional noise, e_t
//! is the white noise from which x_t and s_t follow, d is the order of fractional differencing, and
//! B is the backshift operator. Each x_t is drawn conditionally on the last [`MEMORY`] values
//! before it. Therefore the correlations of x_t are exact up to this lag. ns-2 uses the same
//! method, with 1,000 values for gaps and 5,000 values for requests.

use crate::kernel::streams::Stream;

/// Number of past values on which the next value depends. The number is a multiple of [`LANES`].
pub(super) const MEMORY: usize = 1_000;

/// Number of separate sums in the scalar product, which the processor can compute in parallel.
const LANES: usize = 8;

/// A stationary Gaussian sequence of mean 0 and variance 1.
#[derive(Clone, Debug)]
pub(super) struct LongMemory {
    stream: Stream,
    /// Coefficients by which the past values are multiplied to predict the next x_t, from lag
    /// `MEMORY` to lag 1.
    coefficients: Vec<f64>,
    /// Standard deviation of the fractional noise x_t, given the past values.
    innovation: f64,
    /// Past values of x_t. The oldest value is at index `oldest`. Each value is stored twice, at
    /// two indices that differ by `MEMORY`.
    past: Vec<f64>,
    oldest: usize,
    /// Factors in the sum z_t: the factor of x_t + x_{t-1}, and the factor of the white noise n_t.
    weights: [f64; 2],
}

impl LongMemory {
    /// Returns a sequence with fractional differencing of order `d`, from 0 to 0.5. White noise
    /// contributes the fraction `theta` of the variance.
    pub(super) fn new(d: f64, theta: f64, mut stream: Stream) -> LongMemory {
        // Durbin-Levinson recursion: the coefficients for t past values are computed from the
        // coefficients for t - 1 past values, and x_t is drawn with the new coefficients
        let mut row: Vec<f64> = Vec::with_capacity(MEMORY); // coefficients from lag 1 on
        let mut previous = Vec::with_capacity(MEMORY);
        let mut variance = 1.0;
        let mut x = vec![stream.normal()];
        for t in 1..=MEMORY {
            let last = d / (t as f64 - d);
            previous.clone_from(&row);
            let pairs = row.iter_mut().zip(previous.iter().rev());
            pairs.for_each(|(own, mirrored)| *own -= last * mirrored);
            row.push(last);
            variance *= 1.0 - last * last;
            if t < MEMORY {
                let lags = x.iter().rev().zip(&row);
                let mean: f64 = lags.map(|(x, coefficient)| x * coefficient).sum();
                x.push(mean + libm::sqrt(variance) * stream.normal());
            }
        }
        row.reverse();
        // Var(x_t + x_{t-1}) = 2 (1 + rho_1), where rho_1 = d / (1 - d) is the correlation of x_t
        // at lag 1
        let of_sum = 2.0 + 2.0 * d / (1.0 - d);
        LongMemory {
            stream,
            coefficients: row,
            innovation: libm::sqrt(variance),
            past: [x.clone(), x].concat(),
            oldest: 0,
            weights: [libm::sqrt((1.0 - theta) / of_sum), libm::sqrt(theta)],
        }
    }

    /// Returns the next value of the sequence.
    pub(super) fn next(&mut self) -> f64 {
        let window = &self.past[self.oldest..self.oldest + MEMORY];
        let before = window[MEMORY - 1];
        let x = product(&self.coefficients, window) + self.innovation * self.stream.normal();
        self.past[self.oldest] = x;
        self.past[self.oldest + MEMORY] = x;
        self.oldest = (self.oldest + 1) % MEMORY;
        self.weights[0] * (x + before) + self.weights[1] * self.stream.normal()
    }
}

/// Returns the scalar product of two sequences of `MEMORY` numbers.
fn product(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

/// Returns the probability that a standard Gaussian exceeds `z`.
pub(super) fn above(z: f64) -> f64 {
    0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;

    /// Returns the correlation of the sequence z_t at `lag`, which is at least one. The result is
    /// (1 - theta) times the correlation of s_t. The correlation of s_t follows from rho_k, the
    /// correlation of the fractional noise x_t at lag k. rho_k is
    /// rho_{k-1} (k - 1 + d) / (k - d) (Hosking 1984, eq. 3).
    fn correlation(d: f64, theta: f64, lag: usize) -> f64 {
        let mut rho = vec![1.0];
        for k in 1..=lag + 1 {
            rho.push(rho[k - 1] * (k as f64 - 1.0 + d) / (k as f64 - d));
        }
        let below = rho[lag - 1];
        (1.0 - theta) * (below + 2.0 * rho[lag] + rho[lag + 1]) / (2.0 + 2.0 * rho[1])
    }

    /// Compares the variance and the correlations of many short, independent sequences with the
    /// model.
    #[test]
    fn variance_and_correlations_are_those_of_the_model() {
        let (d, theta) = (0.33, 0.4);
        let (runs, length, lags) = (60, 400, [1, 2, 10, 60]);
        let mut products = vec![Vec::new(); 1 + lags.len()];
        for run in 0..runs {
            let stream = Streams::new(1, run).stream("memory");
            let mut sequence = LongMemory::new(d, theta, stream);
            let z: Vec<f64> = (0..length).map(|_| sequence.next()).collect();
            for (list, lag) in products.iter_mut().zip([0].into_iter().chain(lags)) {
                let pairs = z.iter().zip(&z[lag..]);
                let sum: f64 = pairs.map(|(a, b)| a * b).sum();
                list.push(sum / (length - lag) as f64);
            }
        }
        for (list, lag) in products.iter().zip([0].into_iter().chain(lags)) {
            let n = f64::from(runs);
            let mean = list.iter().sum::<f64>() / n;
            let squares: f64 = list.iter().map(|x| (x - mean) * (x - mean)).sum();
            let error = libm::sqrt(squares / (n * (n - 1.0)));
            let expected = if lag == 0 {
                1.0
            } else {
                correlation(d, theta, lag)
            };
            assert!(
                (mean - expected).abs() < 3.0 * error,
                "lag {lag}: {mean} +- {error}, not {expected}"
            );
        }
    }

    /// Checks that `past` contains the last values in order, also when the index wraps.
    #[test]
    fn the_past_is_the_last_values_in_order() {
        let stream = Streams::new(1, 0).stream("memory");
        let mut sequence = LongMemory::new(0.3, 0.0, stream);
        let mut expected = sequence.past[..MEMORY].to_vec();
        for _ in 0..MEMORY + 3 {
            let last = expected[MEMORY - 1];
            let x = sequence.next() / sequence.weights[0] - last;
            expected.remove(0);
            expected.push(x);
        }
        let window = &sequence.past[sequence.oldest..sequence.oldest + MEMORY];
        let far = window
            .iter()
            .zip(&expected)
            .find(|(a, b)| (*a - *b).abs() > 1e-9);
        assert_eq!(far, None);
    }

    #[test]
    fn tail_probabilities_are_those_of_tables() {
        for (z, expected) in [(0.0, 0.5), (1.959_964, 0.025), (-1.281_552, 0.9)] {
            assert!((above(z) - expected).abs() < 1e-7);
        }
    }
}
