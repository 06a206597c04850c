//! The distributions of PackMime-HTTP, as functions of the rate of new connections.
//!
//! Reference: Cao et al. 2004, with the values in ns-2.35 (`packmime_ranvar`). Some authors of that
//! code also wrote the paper. All values in this file were compared with random draws of ns-2, but
//! not with the values printed in the paper.
//!
//! | quantity | distribution |
//! |---|---|
//! | gap between connections | Weibull of mean 1 / rate, long memory d = 0.33 |
//! | request | fitted quantiles, long memory d = 0.31 |
//! | response | runs of answers "not changed" and runs of files, each with fitted quantiles |
//! | server delay | 1 / Weibull(0.63, 305 / s), at most 0.1 s |
//!
//! The Weibull shapes and the fractions of white noise increase with the rate: log2(p / (1 - p)) =
//! a + b log2(rate), where p is the shape or the fraction, and a and b are constants. Therefore the
//! traffic of many clients is nearly Poisson.
//!
//! Differs from ns-2 in two points. The quantiles are given at fewer points, between which they are
//! interpolated linearly as in ns-2; the error is at most 1 %. No length exceeds the last quantile,
//! whereas ns-2 extends the tails, which contribute 4 % to the mean length of responses.

use super::long_memory::{LongMemory, above};
use crate::kernel::streams::Stream;

/// Returns p at this `rate` of connections. Here p is a Weibull shape or a fraction of white noise,
/// and log2(p / (1 - p)) = a + b log2(rate).
fn by_rate((a, b): (f64, f64), rate: f64) -> f64 {
    1.0 / (1.0 + libm::exp2(-(a + b * libm::log2(rate))))
}

/// The random gaps between the starts of connections.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    memory: LongMemory,
    shape: f64,
    scale_s: f64,
}

impl Arrivals {
    pub(super) fn new(rate: f64, stream: Stream) -> Arrivals {
        let shape = by_rate((0.352, 0.388), rate);
        Arrivals {
            memory: LongMemory::new(0.33, by_rate((0.333, 0.414), rate), stream),
            shape,
            scale_s: 1.0 / (rate * libm::tgamma(1.0 + 1.0 / shape)),
        }
    }

    /// Returns the next gap. [s]
    pub(super) fn gap_s(&mut self) -> f64 {
        let exponential = -libm::log(above(self.memory.next()));
        self.scale_s * libm::pow(exponential, 1.0 / self.shape)
    }
}

/// The random lengths of requests.
#[derive(Clone, Debug)]
pub(super) struct Requests(LongMemory);

impl Requests {
    pub(super) fn new(rate: f64, stream: Stream) -> Requests {
        let theta = by_rate((0.123, 0.494), rate);
        Requests(LongMemory::new(0.31, theta, stream))
    }

    /// Returns the length of the next request. [bytes]
    pub(super) fn bytes(&mut self) -> u32 {
        let above = above(self.0.next());
        if above >= 0.5 {
            truncated(quantile(SHORT_REQUEST, 2.0 * (1.0 - above)))
        } else {
            truncated(libm::exp2(quantile(LONG_REQUEST, libm::log2(2.0 * above))))
        }
    }
}

/// The random lengths of responses.
#[derive(Clone, Debug)]
pub(super) struct Responses {
    stream: Stream,
    /// Whether the current responses contain files; if false, they are answers "not changed".
    files: bool,
    /// Number of remaining responses in the current run of files or of answers "not changed".
    run: u32,
    /// Weibull shapes of the number of responses in a run: first for runs of answers "not changed",
    /// then for runs of files.
    shapes: [f64; 2],
}

/// Weibull scales of the number of responses in a run: first for runs of answers "not changed",
/// then for runs of files. A drawn number is rounded up to a whole number of responses.
const RUN_SCALES: [f64; 2] = [0.775, 3.11];

impl Responses {
    pub(super) fn new(rate: f64, stream: Stream) -> Responses {
        Responses {
            stream,
            files: false,
            run: 0,
            shapes: [(0.718, 0.357), (1.293, 0.316)].map(|by| by_rate(by, rate)),
        }
    }

    /// Returns the length of the next response. [bytes]
    pub(super) fn bytes(&mut self) -> u32 {
        if self.run == 0 {
            self.files = !self.files;
            let kind = usize::from(self.files);
            let length = weibull(&mut self.stream, self.shapes[kind], RUN_SCALES[kind]);
            self.run = (length.ceil() as u32).max(1);
        }
        self.run -= 1;
        let p = self.stream.unit();
        truncated(match self.files {
            false => quantile(NOT_CHANGED, p),
            true => libm::exp2(quantile(FILE, libm::log2(1.0 - p))),
        })
    }
}

/// Returns the random processing time of the server between request and response. [s]
pub(super) fn server_delay_s(stream: &mut Stream) -> f64 {
    1.0 / weibull(stream, 0.63, 305.0).max(10.0)
}

fn weibull(stream: &mut Stream, shape: f64, scale: f64) -> f64 {
    scale * libm::pow(stream.exponential(), 1.0 / shape)
}

/// Returns a length as a whole number of bytes, at least 1.
fn truncated(bytes: f64) -> u32 {
    (bytes as u32).max(1)
}

/// Returns the value y at `at`, interpolated linearly between the given points (x, y). Outside the
/// points the value is constant.
fn quantile(given: &[(f64, f64)], at: f64) -> f64 {
    let above = given.partition_point(|&(x, _)| x <= at);
    if above == 0 || above == given.len() {
        return given[above.min(given.len() - 1)].1;
    }
    let ((x0, y0), (x1, y1)) = (given[above - 1], given[above]);
    y0 + (y1 - y0) * (at - x0) / (x1 - x0)
}

/// Quantiles of the shorter half of requests, as pairs of probability and length in bytes.
const SHORT_REQUEST: &[(f64, f64)] = &[
    (0.0, 50.98),
    (0.0101, 93.82),
    (0.0202, 123.30),
    (0.0404, 168.81),
    (0.0505, 184.26),
    (0.0606, 193.95),
    (0.0909, 210.07),
    (0.1414, 253.06),
    (0.1919, 277.17),
    (0.3233, 315.35),
    (0.4142, 336.14),
    (1.0, 421.79),
];

/// Quantiles of the longer half of requests. The first value of a pair is log2 of the probability
/// that a request is longer than the quantile, and the second value is log2 of the quantile in bytes.
const LONG_REQUEST: &[(f64, f64)] = &[
    (-17.7791, 19.758),
    (-3.5983, 10.209),
    (-3.2393, 10.011),
    (-3.0598, 9.935),
    (-2.3418, 9.769),
    (-1.9828, 9.647),
    (-1.8033, 9.547),
    (-1.0853, 9.052),
    (-0.9058, 8.955),
    (-0.5468, 8.827),
    (-0.0083, 8.728),
];

/// Quantiles of answers "not changed", as pairs of probability and length in bytes.
const NOT_CHANGED: &[(f64, f64)] = &[
    (0.0001, 4.645),
    (0.0203, 40.80),
    (0.0304, 53.01),
    (0.0405, 61.47),
    (0.0708, 69.69),
    (0.1011, 74.81),
    (0.1314, 93.57),
    (0.1718, 107.02),
    (0.2122, 114.27),
    (0.2728, 121.55),
    (0.4445, 135.60),
    (0.6465, 155.40),
    (0.6970, 168.54),
    (0.7576, 200.64),
    (0.8081, 214.42),
    (0.9293, 261.54),
    (1.0, 272.23),
];

/// Quantiles of responses with a file. The first value of a pair is log2 of the probability that a
/// response is longer than the quantile, and the second value is log2 of the quantile in bytes. The
/// tail is Pareto with exponent 1.23.
const FILE: &[(f64, f64)] = &[
    (-18.1793, 25.877),
    (-5.6937, 15.739),
    (-5.3265, 15.480),
    (-5.1429, 15.378),
    (-4.9593, 15.300),
    (-4.2249, 15.098),
    (-4.0412, 15.004),
    (-3.8576, 14.867),
    (-3.6740, 14.693),
    (-3.1232, 14.098),
    (-2.9396, 13.925),
    (-2.3887, 13.504),
    (-2.2051, 13.344),
    (-2.0215, 13.148),
    (-1.8379, 12.900),
    (-1.6543, 12.601),
    (-1.4707, 12.251),
    (-1.2871, 11.854),
    (-1.1035, 11.413),
    (-0.9199, 10.930),
    (-0.7362, 10.410),
    (-0.3690, 9.289),
    (-0.0018, 8.108),
];

#[cfg(test)]
mod tests;
