//! Quantiles of many durations in fixed memory.

use crate::kernel::time::Span;

/// Cells to an octave: a quantile is within 1 part in 512 of the exact one.
const CELLS_PER_OCTAVE: u64 = 256;

/// Counts of durations in cells whose width grows with the duration.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Cell by cell, up to the longest duration seen.
    counts: Vec<u64>,
    count: u64,
    sum_ns: u128,
}

impl Histogram {
    /// Without any duration.
    pub const EMPTY: Histogram = Histogram {
        counts: Vec::new(),
        count: 0,
        sum_ns: 0,
    };

    /// Adds a duration.
    pub fn add(&mut self, span: Span) {
        let cell = cell(span.0);
        if cell >= self.counts.len() {
            self.counts.resize(cell + 1, 0);
        }
        self.counts[cell] += 1;
        self.count += 1;
        self.sum_ns += u128::from(span.0);
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean of the durations, which is exact. [s]
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }

    /// The middle of the first cell up to which at least `part` of the durations lie. [s]
    pub fn quantile_s(&self, part: f64) -> Option<f64> {
        let rank = ((part * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        let cell = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        })?;
        let (first, next) = (least(cell), least(cell + 1));
        Some((first + next - 1) as f64 / 2.0 / 1e9)
    }
}

/// The cell of a duration. [ns]
fn cell(ns: u64) -> usize {
    let octave = (ns / CELLS_PER_OCTAVE)
        .checked_ilog2()
        .map_or(0, |log| log + 1);
    // from the second octave on the top 9 bits count, the first of which is 1
    let shift = octave.saturating_sub(1);
    (u64::from(shift) * CELLS_PER_OCTAVE + (ns >> shift)) as usize
}

/// The least duration of a cell. [ns]
fn least(cell: usize) -> u64 {
    let cell = cell as u64;
    let shift = (cell / CELLS_PER_OCTAVE).saturating_sub(1);
    (cell - shift * CELLS_PER_OCTAVE) << shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cells_follow_one_another() {
        for (ns, expected) in [
            (0, 0),
            (255, 255),
            (256, 256),
            (511, 511),
            (512, 512),
            (513, 512),
        ] {
            assert_eq!(cell(ns), expected, "{ns}");
        }
        for index in 0..10_000 {
            let first = least(index);
            assert_eq!(cell(first), index);
            assert!(first == 0 || cell(first - 1) == index - 1);
        }
        // the longest time takes 57 x 256 cells: 117 kB
        assert_eq!(cell(u64::MAX), 57 * 256 - 1);
    }

    #[test]
    fn without_durations_there_is_no_quantile() {
        assert_eq!(Histogram::EMPTY.quantile_s(0.95), None);
        assert_eq!(Histogram::EMPTY.mean_s(), None);
    }

    proptest! {
        #[test]
        fn quantiles_are_within_a_512th_of_the_exact_ones(
            mut spans in prop::collection::vec(1..1_u64 << 50, 1..300),
            part in 0.01..1.0_f64,
        ) {
            let mut histogram = Histogram::EMPTY;
            spans.iter().for_each(|&ns| histogram.add(Span(ns)));
            spans.sort_unstable();
            let rank = (part * spans.len() as f64).ceil() as usize;
            let exact = spans[rank.max(1) - 1] as f64 / 1e9;
            let found = histogram.quantile_s(part).unwrap();
            prop_assert!((found / exact - 1.0).abs() <= 1.0 / 512.0, "{found} for {exact}");
            let mean = spans.iter().map(|&ns| ns as f64 / 1e9).sum::<f64>() / spans.len() as f64;
            prop_assert!((histogram.mean_s().unwrap() / mean - 1.0).abs() < 1e-9);
        }
    }
}
