//! Named random streams. Each component draws from its own stream, which depends on the seed, the
//! replication and the name of the component. An additional component therefore never changes the
//! draws of other components.

use rand_core::Rng;
use rand_pcg::Pcg32;

/// Source of the streams of one replication.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
    replication: u32,
}

/// Random number generator of one component (algorithm PCG XSH RR 64/32).
#[derive(Clone, Debug)]
pub struct Stream(Pcg32);

impl Streams {
    /// Returns the source of the random streams of one replication. `seed` is the seed of the
    /// scenario.
    pub fn new(seed: u64, replication: u32) -> Streams {
        Streams { seed, replication }
    }

    /// Returns the random stream of the component called `name`.
    pub fn stream(&self, name: &str) -> Stream {
        let (seed, replication) = (self.seed.to_le_bytes(), self.replication.to_le_bytes());
        let hash = fnv1a(seed.into_iter().chain(replication).chain(name.bytes()));
        Stream(Pcg32::new(mix(hash), mix(hash ^ 0x9e37_79b9_7f4a_7c15)))
    }
}

/// Returns the FNV-1a hash of bytes, which is the same on every platform.
pub(crate) fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    let eat = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.fold(0xcbf2_9ce4_8422_2325, eat)
}

/// Returns the output of the SplitMix64 finaliser, which makes similar keys very different.
fn mix(key: u64) -> u64 {
    let key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    key ^ (key >> 31)
}

impl Stream {
    /// Returns a uniform integer on `[0, most]`, without bias (Lemire's multiplication with
    /// rejection).
    #[inline]
    pub fn up_to(&mut self, most: u32) -> u32 {
        let values = u64::from(most) + 1;
        let mut product = u64::from(self.0.next_u32()) * values;
        // for 2^32 values, `values as u32` is zero, so that no draw is rejected
        if (product as u32) < values as u32 {
            let floor = (values as u32).wrapping_neg() % values as u32;
            while (product as u32) < floor {
                product = u64::from(self.0.next_u32()) * values;
            }
        }
        (product >> 32) as u32
    }

    /// Returns a uniform number on [0, 1), which is a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns true with the given probability. Draws no number if the probability is zero.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.unit() < probability
    }

    /// Returns an exponential number with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// Returns a Gaussian number with mean 0 and variance 1 (the first of the two numbers of the
    /// Box-Muller transform).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_told_apart_by_each_part_of_the_key() {
        let first = |seed, replication, name: &str| {
            let mut stream = Streams::new(seed, replication).stream(name);
            [stream.up_to(u32::MAX), stream.up_to(u32::MAX)]
        };
        let draws = [
            first(1, 0, "ap"),
            first(2, 0, "ap"),
            first(1, 1, "ap"),
            first(1, 0, "sta"),
        ];
        for (index, draw) in draws.iter().enumerate() {
            assert!(!draws[..index].contains(draw));
        }
        assert_eq!(first(1, 0, "ap"), draws[0]);
    }

    #[test]
    fn bounded_draws_are_uniform() {
        // each of the 32 values is expected 10,000 times in 320,000 draws; the tolerance is 5
        // standard deviations, of 98.4 each
        let mut stream = Streams::new(7, 0).stream("backoff");
        let mut counts = [0_i32; 32];
        for _ in 0..320_000 {
            counts[stream.up_to(31) as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (count - 10_000).abs() < 492),
            "{counts:?}"
        );
    }

    #[test]
    fn a_window_of_zero_draws_zero() {
        assert_eq!(Streams::new(1, 0).stream("pifs").up_to(0), 0);
    }

    #[test]
    fn normal_has_mean_zero_and_variance_one() {
        // with 100,000 draws, the standard errors of the mean and the variance are 0.0032 and
        // 0.0045
        let mut stream = Streams::new(3, 0).stream("noise");
        let draws: Vec<f64> = (0..100_000).map(|_| stream.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let squares = draws.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 3.0 * 0.0032, "{mean}");
        assert!((squares - 1.0).abs() < 3.0 * 0.0045, "{squares}");
    }

    #[test]
    fn exponential_has_mean_one() {
        // with 100,000 draws, the standard error of the mean is 0.0032
        let mut stream = Streams::new(3, 0).stream("poisson");
        let sum: f64 = (0..100_000).map(|_| stream.exponential()).sum();
        assert!((sum / 100_000.0 - 1.0).abs() < 0.013);
    }
}
