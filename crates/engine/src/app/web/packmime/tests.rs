//! Compares the distributions with their formulas, and with draws of ns-2.35.
//!
//! The values of ns-2 come from 400,000 draws of its RandomVariable/PackMimeHTTP... at 50
//! connections per second, with seed 7. Each test compares means of blocks of independent sources.
//! The standard error of an estimate is computed from the means of the blocks. For the values of
//! ns-2, it is computed from 20 blocks of the single sequence that ns-2 generates.

use super::*;
use crate::kernel::streams::Streams;

const BLOCKS: usize = 100;
const BLOCK: usize = 500;

/// Returns the mean of the function `of` over all draws, and its standard error.
fn estimate(draws: &[f64], of: impl Fn(f64) -> f64) -> (f64, f64) {
    let block = |block: &[f64]| block.iter().map(|&x| of(x)).sum::<f64>() / block.len() as f64;
    let means: Vec<f64> = draws.chunks_exact(BLOCK).map(block).collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let squares: f64 = means.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, libm::sqrt(squares / (n * (n - 1.0))))
}

/// Asserts that the estimate is within 3 standard errors of the expected value. The standard error
/// combines the errors of the estimate and of the expected value.
fn assert_near(draws: &[f64], of: impl Fn(f64) -> f64, expected: f64, own_error: f64, what: &str) {
    let (mean, error) = estimate(draws, of);
    let error = libm::sqrt(error * error + own_error * own_error);
    assert!(
        (mean - expected).abs() < 3.0 * error,
        "{what}: {mean} +- {error}, not {expected}"
    );
}

/// Checks the fractions of the draws that do not exceed the quantiles of ns-2. Each entry of
/// `quantiles` has three values: a quantile of ns-2, the expected fraction, and the standard error
/// of this fraction.
fn assert_quantiles(draws: &[f64], quantiles: &[(f64, f64, f64)]) {
    for &(quantile, part, error) in quantiles {
        let below = |x| f64::from(u8::from(x <= quantile));
        assert_near(draws, below, part, error, &format!("part up to {quantile}"));
    }
}

/// Returns blocks of random draws. Each block comes from a separate source.
fn draws<S>(source: impl Fn(Stream) -> S, next: impl Fn(&mut S) -> f64) -> Vec<f64> {
    let mut all = Vec::new();
    for block in 0..BLOCKS {
        let mut source = source(Streams::new(1, block as u32).stream("web"));
        all.extend((0..BLOCK).map(|_| next(&mut source)));
    }
    all
}

fn stream() -> Stream {
    Streams::new(1, 0).stream("web")
}

#[test]
fn gaps_are_weibull_with_the_mean_asked_for() {
    let arrivals = Arrivals::new(50.0, stream());
    // the shape p satisfies p / (1 - p) = 2^(0.352 + 0.388 log2 50) = 5.8232
    assert!((arrivals.shape - 5.8232 / 6.8232).abs() < 1e-4);
    let gaps = draws(|stream| Arrivals::new(50.0, stream), Arrivals::gap_s);
    assert_near(&gaps, |x| x, 0.02, 0.0, "mean gap");
    let (shape, scale) = (arrivals.shape, arrivals.scale_s);
    for p in [0.1, 0.5, 0.9, 0.99] {
        let quantile = scale * libm::pow(-libm::log(1.0 - p), 1.0 / shape);
        assert_quantiles(&gaps, &[(quantile, p, 0.0)]);
    }
    assert_quantiles(
        &gaps,
        &[
            (0.001_337_31, 0.1, 0.001_9),
            (0.012_076_6, 0.5, 0.004_0),
            (0.049_102_7, 0.9, 0.002_1),
            (0.110_500, 0.99, 0.000_32),
        ],
    );
}

#[test]
fn gaps_of_many_clients_are_nearly_poisson() {
    let shapes = [0.5, 50.0, 5_000.0].map(|rate| Arrivals::new(rate, stream()).shape);
    assert!(shapes[0] < shapes[1] && shapes[1] < shapes[2]);
    assert!(shapes[2] > 0.96, "{shapes:?}");
}

#[test]
fn requests_are_as_long_as_those_of_ns2() {
    let source = |stream| Requests::new(50.0, stream);
    let lengths = draws(source, |requests| f64::from(requests.bytes()));
    assert_quantiles(
        &lengths,
        &[
            (280.0, 0.101_3, 0.002_2),
            (351.0, 0.253_0, 0.003_9),
            (423.0, 0.500_4, 0.004_9),
            (515.0, 0.750_1, 0.003_9),
            (870.0, 0.900_0, 0.002_4),
            (3_068.0, 0.990_0, 0.000_36),
        ],
    );
    assert_near(&lengths, |x| x, 574.6, 6.4, "mean request");
}

#[test]
fn responses_are_as_long_as_those_of_ns2() {
    let source = |stream| Responses::new(50.0, stream);
    let lengths = draws(source, |responses| f64::from(responses.bytes()));
    assert_quantiles(
        &lengths,
        &[
            (129.0, 0.103_5, 0.000_49),
            (252.0, 0.250_6, 0.000_77),
            (893.0, 0.500_0, 0.000_78),
            (5_311.0, 0.750_0, 0.000_67),
            (14_811.0, 0.900_0, 0.000_48),
            (71_393.0, 0.990_0, 0.000_16),
        ],
    );
    assert_near(&lengths, libm::log2, 10.188, 0.004, "mean log2 of response");
}

/// The longest request and the longest response are the last quantiles of the tables: 887 kB and
/// 61.6 MB.
#[test]
fn no_length_lies_beyond_the_last_quantile() {
    let longest = |given| libm::exp2(quantile(given, -60.0));
    assert_eq!(longest(FILE), libm::exp2(25.877));
    assert_eq!(longest(LONG_REQUEST), libm::exp2(19.758));
    assert_eq!(quantile(NOT_CHANGED, 0.0), 4.645);
    assert_eq!(quantile(NOT_CHANGED, 0.4445), 135.60);
}

/// The expected number of responses in a run is E ceil(W) = sum over k >= 0 of P(W > k), where W is
/// a Weibull variable.
#[test]
fn runs_of_answers_are_weibull() {
    let mut responses = Responses::new(50.0, stream());
    let mut runs = [Vec::new(), Vec::new()];
    while runs[1].len() < BLOCKS * BLOCK {
        responses.run = 0;
        responses.bytes();
        runs[usize::from(responses.files)].push(f64::from(responses.run + 1));
    }
    for (kind, scale) in RUN_SCALES.into_iter().enumerate() {
        let shape = responses.shapes[kind];
        let tail = |k: u32| libm::exp(-libm::pow(f64::from(k) / scale, shape));
        let expected: f64 = (0..500).map(tail).sum();
        assert_near(&runs[kind], |x| x, expected, 0.0, "mean run");
    }
}

/// The expected processing time is E min(1 / W, 0.1), where W is a Weibull variable. The
/// expectation is computed by quadrature over the quantiles of W. The median is 5.9 ms.
#[test]
fn servers_take_the_inverse_of_a_weibull_at_most_a_tenth_of_a_second() {
    let delays = draws(|stream| stream, server_delay_s);
    let cells = 200_000;
    let delay = |k| {
        let p = (f64::from(k) + 0.5) / f64::from(cells);
        let weibull = 305.0 * libm::pow(-libm::log(p), 1.0 / 0.63);
        1.0 / weibull.max(10.0)
    };
    let mean = (0..cells).map(delay).sum::<f64>() / f64::from(cells);
    assert_near(&delays, |x| x, mean, 0.0, "mean delay");
    assert!((mean - 0.021_95).abs() < 1e-5, "{mean}");
    let median = 1.0 / (305.0 * libm::pow(libm::log(2.0), 1.0 / 0.63));
    assert!((median - 0.0059).abs() < 5e-5, "{median}");
    let shorter = libm::exp(-libm::pow(10.0 / 305.0, 0.63)); // P(W > 10) = P(1 / W < 0.1 s)
    assert_quantiles(&delays, &[(median, 0.5, 0.0), (0.099_999, shorter, 0.0)]);
    assert!(delays.iter().all(|&delay| delay <= 0.1));
}
