//! The base round-trip time of a path: what is left of it when no queue stands on it.
//!
//! Paper 002, appendix IV: every 8 samples their minimum becomes the base. By itself that takes a queue
//! that stands through 8 samples for a longer path.
//!
//! Differs from the paper in: the base is the least of the last 8 such minima. It falls with the
//! sample that shows it, and rises only if none of the last 64 samples was below.

use crate::kernel::time::Span;

/// Samples of which the minimum is kept (N of appendix IV).
const SAMPLES: u32 = 8;
/// Minima of which the least is the base.
const MINIMA: usize = 8;

/// Running estimate of a base round-trip time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BaseRtt {
    /// The last minima, oldest first; `None` until there are that many.
    minima: [Option<Span>; MINIMA],
    /// Minimum of the samples since the last of them, and their number.
    current: Option<Span>,
    samples: u32,
}

impl BaseRtt {
    /// Samples without one below, after which the base has risen.
    pub const MEMORY: u32 = SAMPLES * MINIMA as u32;

    /// Takes a sample.
    pub fn add(&mut self, rtt: Span) {
        self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
        self.samples += 1;
        if self.samples == SAMPLES {
            self.minima.rotate_left(1);
            self.minima[MINIMA - 1] = self.current.take();
            self.samples = 0;
        }
    }

    /// The base; `None` until [`BaseRtt::MEMORY`] samples have been seen.
    pub fn estimate(&self) -> Option<Span> {
        self.minima[0]?;
        self.minima
            .iter()
            .copied()
            .flatten()
            .chain(self.current)
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn after(samples: impl IntoIterator<Item = u64>) -> Option<u64> {
        let mut base = BaseRtt::default();
        for rtt in samples {
            base.add(Span(rtt * MS));
        }
        base.estimate().map(|span| span.0 / MS)
    }

    #[test]
    fn there_is_none_before_64_samples() {
        assert_eq!(after([3; 63]), None);
        assert_eq!(after([3; 64]), Some(3));
    }

    #[test]
    fn it_falls_with_the_first_smaller_sample() {
        assert_eq!(after([9; 70].into_iter().chain([4])), Some(4));
    }

    #[test]
    fn it_rises_only_after_64_samples_without_one_below() {
        let risen = |larger: usize| after([4; 64].into_iter().chain(vec![9; larger]));
        assert_eq!(risen(63), Some(4));
        assert_eq!(risen(64), Some(9));
        // one small sample among the larger ones, wherever, holds it down
        for at in 0..64 {
            let samples = (0..64).map(|k| if k == at { 5 } else { 9 });
            assert_eq!(after([4; 64].into_iter().chain(samples)), Some(5), "{at}");
        }
    }
}
