//! Means over independent replications, with 95 % confidence intervals.

use serde::Serialize;

/// A mean and the half width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean over the replications.
    pub mean: f64,
    /// Half width of the 95 % confidence interval (Student's t); `None` with fewer than two
    /// replications.
    pub ci95: Option<f64>,
}

/// 97.5 % quantiles of Student's t with 1 to 30 degrees of freedom.
const T_975: [f64; 30] = [
    12.706_204_736_174_7,
    4.302_652_729_749_46,
    3.182_446_305_283_71,
    2.776_445_105_197_79,
    2.570_581_835_636_31,
    2.446_911_851_144_97,
    2.364_624_251_592_78,
    2.306_004_135_204_17,
    2.262_157_162_798_2,
    2.228_138_851_986_27,
    2.200_985_160_091_64,
    2.178_812_829_667_23,
    2.160_368_656_462_79,
    2.144_786_687_917_8,
    2.131_449_545_559_77,
    2.119_905_299_221_25,
    2.109_815_577_833_32,
    2.100_922_040_241_04,
    2.093_024_054_408_31,
    2.085_963_447_265_86,
    2.079_613_844_727_68,
    2.073_873_067_904_03,
    2.068_657_610_419_05,
    2.063_898_561_628_02,
    2.059_538_552_753_3,
    2.055_529_438_642_87,
    2.051_830_516_480_28,
    2.048_407_141_795_24,
    2.045_229_642_132_7,
    2.042_272_456_301_24,
];

/// 97.5 % quantile of the standard normal distribution.
const Z_975: f64 = 1.959_963_984_540_05;

/// Returns the 97.5 % quantile of Student's t.
///
/// Above 30 degrees of freedom, the quantile is computed by the Cornish-Fisher expansion
/// (Abramowitz and Stegun, 26.7.5). The error of this expansion is then below 3e-8.
pub fn student_t_975(degrees_of_freedom: usize) -> f64 {
    if (1..=30).contains(&degrees_of_freedom) {
        return T_975[degrees_of_freedom - 1];
    }
    let (z, n) = (Z_975, degrees_of_freedom as f64);
    let z2 = z * z;
    let g1 = (z2 + 1.0) * z / 4.0;
    let g2 = ((5.0 * z2 + 16.0) * z2 + 3.0) * z / 96.0;
    let g3 = (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) * z / 384.0;
    let g4 = ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) * z / 92_160.0;
    z + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n
}

/// Returns the mean and the confidence interval of `values`, which are one value per replication;
/// `None` if there are no values.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let count = values.len();
    if count == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    if count == 1 {
        return Some(Estimate { mean, ci95: None });
    }
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    let deviation = (squares / (count - 1) as f64).sqrt();
    let half = student_t_975(count - 1) * deviation / (count as f64).sqrt();
    Some(Estimate {
        mean,
        ci95: Some(half),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_the_tables() {
        // expected values: scipy.stats.t.ppf(0.975, n)
        for (n, t) in [(4, 2.776_445_105), (9, 2.262_157_163), (31, 2.039_513_446)] {
            assert!((student_t_975(n) - t).abs() < 3e-8, "{n}");
        }
        assert!((student_t_975(100) - 1.983_971_519).abs() < 1e-8);
        assert!((student_t_975(1000) - 1.962_339_081).abs() < 1e-8);
    }

    #[test]
    fn interval_worked_by_hand() {
        // values 1, 2, 3: mean 2, standard deviation 1, half width 4.3027 / sqrt(3)
        let Some(Estimate {
            mean,
            ci95: Some(half),
        }) = estimate(&[1.0, 2.0, 3.0])
        else {
            panic!("three values have an interval");
        };
        assert_eq!(mean, 2.0);
        assert!((half - 2.484_137_7).abs() < 1e-6);
        assert_eq!(
            estimate(&[5.0]),
            Some(Estimate {
                mean: 5.0,
                ci95: None
            })
        );
        assert_eq!(estimate(&[]), None);
    }
}
