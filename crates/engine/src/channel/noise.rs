//! Loss probability of a frame at a signal-to-noise ratio, with additive white Gaussian noise and
//! no fading.
//!
//! For OFDM rates (IEEE 802.11-2016, 17.3.5), the bit error rate of the modulation is computed
//! first. The bit error rate after decoding is then the union bound of the convolutional code with
//! hard decisions (Chernoff bound of each path). The weights of the paths are those of Haccoun and
//! Begin 1989 and Frenger et al. 1999. The model is that of Pei and Henderson 2010 ("NIST"), which
//! ns-3 uses. For OFDM rates, the signal-to-noise ratio is that of a subcarrier.
//!
//! For DSSS rates (15.4), the error rate is that of differential detection of 11-chip symbols
//! (Proakis 2001, section 5.2.8). For CCK rates (16.3.6), the error rate is the union bound over the
//! code words (Heegard et al. 2001). A test computes the distances between the code words. For DSSS
//! and CCK rates, the signal-to-noise ratio is that of a chip.
//!
//! Differs from a real receiver in two points. The preamble is always detected. The errors of
//! different frames are independent.

const MBPS: u64 = 1_000_000;

/// Returns the probability that noise destroys a frame of `bytes` (MAC header and FCS included)
/// that is sent at `rate_bps`, at a signal-to-noise ratio of `snr_db`. [-]
pub fn frame_error(rate_bps: u64, bytes: u32, snr_db: f64) -> f64 {
    let snr = libm::pow(10.0, snr_db / 10.0);
    let bits = 8.0 * f64::from(bytes);
    let (error, pieces) = match rate_bps {
        MBPS => (dbpsk(snr), bits),
        2_000_000 => (dqpsk(snr), bits),
        5_500_000 => (code_word(snr, CCK_5_5), bits / 4.0),
        11_000_000 => (code_word(snr, CCK_11), bits / 8.0),
        _ => (ofdm(rate_bps, snr), bits),
    };
    // the probability 1 - (1 - error)^pieces, without loss of precision for small errors
    -libm::expm1(pieces * libm::log1p(-error.min(1.0)))
}

/// Returns the probability that noise destroys a frame of `bytes`. `points` is the number of points
/// of the constellation (a power of 4, or 2). `code` is the rate of the convolutional code, as
/// numerator and denominator. [-]
pub fn coded_frame_error(points: u32, code: (u64, u64), bytes: u32, snr_db: f64) -> f64 {
    let snr = libm::pow(10.0, snr_db / 10.0);
    let code = match code {
        (1, _) => Code::Half,
        (2, _) => Code::TwoThirds,
        (3, _) => Code::ThreeQuarters,
        _ => Code::FiveSixths,
    };
    let error = code.decoded(before_decoding(points, snr));
    -libm::expm1(8.0 * f64::from(bytes) * libm::log1p(-error.min(1.0)))
}

/// Returns the Gaussian tail probability Q(x): the probability that a standard normal variable
/// exceeds `x`. [-]
fn q(x: f64) -> f64 {
    0.5 * libm::erfc(x / std::f64::consts::SQRT_2)
}

/// Returns the bit error rate of DBPSK with 11 chips per symbol. [-]
fn dbpsk(snr: f64) -> f64 {
    0.5 * libm::exp(-11.0 * snr)
}

/// Returns the bit error rate of Gray-coded DQPSK with 11 chips per symbol. [-]
fn dqpsk(snr: f64) -> f64 {
    let angle = std::f64::consts::PI / (4.0 * std::f64::consts::SQRT_2);
    q(libm::sqrt(22.0 * snr) * libm::sin(angle))
}

/// Distances between a CCK code word and the other code words. Each pair contains half of the
/// squared distance, for chips of energy 1, and the number of code words at this distance.
type Distances = &'static [(f64, f64)];

const CCK_5_5: Distances = &[(8.0, 14.0), (16.0, 1.0)];
const CCK_11: Distances = &[
    (4.0, 24.0),
    (6.0, 16.0),
    (8.0, 174.0),
    (10.0, 16.0),
    (12.0, 24.0),
    (16.0, 1.0),
];

/// Returns the union bound of the error probability of a code word, given the `distances` of its
/// code. [-]
fn code_word(snr: f64, distances: Distances) -> f64 {
    let terms = distances.iter();
    let terms = terms.map(|&(half_square, count)| count * q(libm::sqrt(half_square * snr)));
    terms.sum::<f64>().min(1.0)
}

/// Rate of the convolutional code.
#[derive(Clone, Copy, Debug)]
enum Code {
    Half,
    TwoThirds,
    ThreeQuarters,
    FiveSixths,
}

/// Returns the number of points of the constellation, and the convolutional code, that an OFDM rate
/// uses.
fn scheme(rate_bps: u64) -> Option<(u32, Code)> {
    Some(match rate_bps / MBPS {
        6 => (2, Code::Half),
        9 => (2, Code::ThreeQuarters),
        12 => (4, Code::Half),
        18 => (4, Code::ThreeQuarters),
        24 => (16, Code::Half),
        36 => (16, Code::ThreeQuarters),
        48 => (64, Code::TwoThirds),
        54 => (64, Code::ThreeQuarters),
        _ => return None,
    })
}

/// Returns the bit error rate of an OFDM rate after decoding; 0 if `rate_bps` is not an OFDM rate.
/// [-]
fn ofdm(rate_bps: u64, snr: f64) -> f64 {
    let Some((points, code)) = scheme(rate_bps) else {
        return 0.0;
    };
    code.decoded(before_decoding(points, snr))
}

/// Returns the bit error rate of a Gray-coded constellation before decoding. [-]
fn before_decoding(points: u32, snr: f64) -> f64 {
    match points {
        2 => q(libm::sqrt(2.0 * snr)),
        4 => q(libm::sqrt(snr)),
        16 => 0.75 * q(libm::sqrt(snr / 5.0)),
        64 => 7.0 / 12.0 * q(libm::sqrt(snr / 21.0)),
        256 => 15.0 / 32.0 * q(libm::sqrt(snr / 85.0)),
        _ => 31.0 / 80.0 * q(libm::sqrt(snr / 341.0)),
    }
}

impl Code {
    /// Returns the bit error rate after decoding. `raw` is the bit error rate before decoding. [-]
    fn decoded(self, raw: f64) -> f64 {
        let d = libm::sqrt(4.0 * raw * (1.0 - raw));
        let (bits_in, first, step, weights): (f64, i32, i32, &[f64]) = match self {
            Code::Half => (1.0, 10, 2, &HALF),
            Code::TwoThirds => (2.0, 6, 1, &TWO_THIRDS),
            Code::ThreeQuarters => (3.0, 5, 1, &THREE_QUARTERS),
            Code::FiveSixths => (5.0, 4, 1, &FIVE_SIXTHS),
        };
        let (mut power, mut sum) = (power(d, first), 0.0);
        let factor = self::power(d, step);
        for weight in weights {
            sum += weight * power;
            power *= factor;
        }
        (sum / (2.0 * bits_in)).min(1.0)
    }
}

fn power(base: f64, exponent: i32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

/// For the code of rate 1/2: total number of bit errors on all paths of one weight, for the weights
/// 10, 12, 14 and so on (Frenger et al., table I).
const HALF: [f64; 9] = [
    36.0,
    211.0,
    1_404.0,
    11_633.0,
    77_433.0,
    502_690.0,
    3_322_763.0,
    21_292_910.0,
    134_365_911.0,
];
const TWO_THIRDS: [f64; 10] = [
    3.0,
    70.0,
    285.0,
    1_276.0,
    6_160.0,
    27_128.0,
    117_019.0,
    498_860.0,
    2_103_891.0,
    8_784_123.0,
];
const THREE_QUARTERS: [f64; 10] = [
    42.0,
    201.0,
    1_492.0,
    10_469.0,
    62_935.0,
    379_644.0,
    2_253_373.0,
    13_073_811.0,
    75_152_755.0,
    428_005_675.0,
];
/// For the code of rate 5/6: total number of bit errors on all paths of one weight, for the weights
/// 4, 5, 6 and so on (Haccoun and Begin 1989, table V).
const FIVE_SIXTHS: [f64; 10] = [
    92.0,
    528.0,
    8_694.0,
    79_453.0,
    792_114.0,
    7_375_573.0,
    67_884_974.0,
    610_875_423.0,
    5_427_275_376.0,
    47_664_215_639.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [u64; 12] = [
        1_000_000, 2_000_000, 5_500_000, 11_000_000, 6_000_000, 9_000_000, 12_000_000, 18_000_000,
        24_000_000, 36_000_000, 48_000_000, 54_000_000,
    ];

    #[test]
    fn longer_frames_and_more_noise_lose_more() {
        for rate in RATES {
            let mut last = 1.0 + 1e-12;
            for tenth in -200..400 {
                let snr_db = f64::from(tenth) / 10.0;
                let long = frame_error(rate, 1500, snr_db);
                let short = frame_error(rate, 68, snr_db);
                assert!((0.0..=1.0).contains(&long), "{rate} at {snr_db}: {long}");
                assert!(short <= long && long <= last, "{rate} at {snr_db}");
                last = long + 1e-12;
            }
            assert!(frame_error(rate, 1500, -20.0) > 0.999, "{rate}");
            assert!(frame_error(rate, 1500, 40.0) < 1e-9, "{rate}");
        }
    }

    /// Returns the distances between the first of the CCK code `words` (16.3.6.6) and the other
    /// code words. Each pair contains half of the squared distance, and the number of code words at
    /// this distance.
    fn counted(words: &[[(i32, i32); 8]]) -> Vec<(i32, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        for other in &words[1..] {
            let square: i32 = (0..8)
                .map(|chip| {
                    let (a, b) = (words[0][chip], other[chip]);
                    (a.0 - b.0) * (a.0 - b.0) + (a.1 - b.1) * (a.1 - b.1)
                })
                .sum();
            *counts.entry(square / 2).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }

    /// Returns the CCK code word for four phases. [quarter turns]
    fn word(phases: [i32; 4]) -> [(i32, i32); 8] {
        let [p1, p2, p3, p4] = phases;
        let turns = [
            p1 + p2 + p3 + p4,
            p1 + p3 + p4,
            p1 + p2 + p4,
            p1 + p4 + 2,
            p1 + p2 + p3,
            p1 + p3,
            p1 + p2 + 2,
            p1,
        ];
        turns.map(|turn| [(1, 0), (0, 1), (-1, 0), (0, -1)][turn.rem_euclid(4) as usize])
    }

    #[test]
    fn the_distances_of_cck_are_those_of_its_code_words() {
        let quarter = 0..4_i32;
        let all = quarter.clone().flat_map(|a| (0..4).map(move |b| (a, b)));
        let eleven: Vec<_> = all
            .flat_map(|(a, b)| (0..4).flat_map(move |c| (0..4).map(move |d| word([a, b, c, d]))))
            .collect();
        let half: Vec<_> = quarter
            .flat_map(|a| [1, 3].map(|b| [0, 2].map(|d| word([a, b, 0, d]))))
            .flatten()
            .collect();
        for (words, distances) in [(half, CCK_5_5), (eleven, CCK_11)] {
            let expected: Vec<(i32, usize)> = distances
                .iter()
                .map(|&(half_square, count)| (half_square as i32, count as usize))
                .collect();
            assert_eq!(counted(&words), expected);
        }
    }

    /// An MCS of 802.11n and later has the same error probability as the OFDM rate with the same
    /// constellation and code. Each denser constellation, and each weaker code, needs a higher
    /// signal-to-noise ratio.
    #[test]
    fn faster_mcs_need_more() {
        for (rate, points, code) in [
            (6, 2, (1, 2)),
            (18, 4, (3, 4)),
            (48, 64, (2, 3)),
            (54, 64, (3, 4)),
        ] {
            let error = coded_frame_error(points, code, 1000, 15.0);
            assert_eq!(error, frame_error(rate * MBPS, 1000, 15.0), "{rate}");
        }
        let half = |points, code| {
            let (mut low, mut high) = (-20.0, 60.0);
            for _ in 0..60 {
                let middle = (low + high) / 2.0;
                if coded_frame_error(points, code, 1000, middle) > 0.5 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low
        };
        let ratios_db = [
            half(64, (3, 4)),
            half(64, (5, 6)),
            half(256, (3, 4)),
            half(256, (5, 6)),
            half(1024, (3, 4)),
            half(1024, (5, 6)),
        ];
        for pair in ratios_db.windows(2) {
            assert!(pair[0] + 0.5 < pair[1], "{ratios_db:?}");
        }
        // with four times as many points, a constellation needs nearly four times the power (6.02
        // dB)
        for (few, many) in [(0, 2), (1, 3), (2, 4), (3, 5)] {
            assert!(
                (ratios_db[many] - ratios_db[few] - 6.02).abs() < 0.3,
                "{ratios_db:?}"
            );
        }
    }

    /// Half of all frames of 1000 bytes are lost at about the expected signal-to-noise ratios.
    #[test]
    fn faster_rates_need_more() {
        let half = |rate| {
            let (mut low, mut high) = (-20.0, 40.0);
            for _ in 0..60 {
                let middle = (low + high) / 2.0;
                if frame_error(rate, 1000, middle) > 0.5 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            low
        };
        let ratios_db: Vec<f64> = RATES.iter().map(|&rate| half(rate)).collect();
        // results of the same formulas, computed once in another language
        let expected = [
            -1.0, 3.6, 3.1, 6.1, 3.3, 6.2, 6.3, 9.2, 12.8, 15.9, 20.6, 21.8,
        ];
        for (rate, (db, expected)) in RATES.iter().zip(ratios_db.iter().zip(expected)) {
            assert!((db - expected).abs() < 0.06, "{rate}: {db:.2} dB");
        }
    }
}
