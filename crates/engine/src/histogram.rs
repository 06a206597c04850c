//! Quantiles of many durations. The memory does not depend on the number of durations.

use crate::kernel::time::Span;

/// Number of bins (cells) per octave. An octave is the range of durations from one power of two to
/// the next. A computed quantile is at most 1/512 above the exact quantile.
const CELLS_PER_OCTAVE: u64 = 512;

/// Maximum number of bins per octave in output. Adjacent bins are merged.
const CELLS_SHOWN: u64 = 32;

/// A histogram of durations. The width of a bin (cell) increases with the duration.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Number of durations in each bin of each octave, up to the longest duration. An octave
    /// without durations has an empty list.
    counts: Vec<Vec<u64>>,
    count: u64,
    sum_ns: u128,
    /// Shortest duration; the next field is the longest duration.
    least: Span,
    most: Span,
}

impl Histogram {
    /// A histogram without durations.
    pub const EMPTY: Histogram = Histogram {
        counts: Vec::new(),
        count: 0,
        sum_ns: 0,
        least: Span(u64::MAX),
        most: Span::ZERO,
    };

    /// Adds a duration.
    pub fn add(&mut self, span: Span) {
        let (octave, cell) = place(cell(span.0));
        if octave >= self.counts.len() {
            self.counts.resize(octave + 1, Vec::new());
        }
        let counts = &mut self.counts[octave];
        if counts.is_empty() {
            counts.resize(CELLS_PER_OCTAVE as usize, 0);
        }
        counts[cell] += 1;
        self.count += 1;
        self.sum_ns += u128::from(span.0);
        self.least = self.least.min(span);
        self.most = self.most.max(span);
    }

    /// Adds all durations of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), Vec::new());
        }
        for (own, more) in self.counts.iter_mut().zip(&other.counts) {
            own.resize(own.len().max(more.len()), 0);
            own.iter_mut()
                .zip(more)
                .for_each(|(own, more)| *own += more);
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
    }

    /// Returns the edges of the bins for output, at most `CELLS_SHOWN` per octave, and the number
    /// of durations in each bin. The first and the last bin contain at least one duration. There is
    /// one more edge than bins. The first edge is the shortest duration, and the last edge is 1 ns
    /// above the longest duration. [ns]
    pub fn cells(&self) -> (Vec<u64>, Vec<u64>) {
        let merged = (CELLS_PER_OCTAVE / CELLS_SHOWN) as usize;
        let mut counts: Vec<u64> = Vec::new();
        for octave in &self.counts {
            let cells = octave.chunks(merged).map(|cells| cells.iter().sum::<u64>());
            let filled = counts.len() + CELLS_SHOWN as usize;
            counts.extend(cells);
            counts.resize(filled, 0); // the list of an octave without durations is empty
        }
        let Some(first) = counts.iter().position(|&count| count > 0) else {
            return (Vec::new(), Vec::new());
        };
        let last = counts.iter().rposition(|&count| count > 0).unwrap_or(first);
        let within = |edge: u64| edge.clamp(self.least.0, self.most.0 + 1);
        let edges = (first..=last + 1)
            .map(|cell| within(least(cell * merged)))
            .collect();
        (edges, counts[first..=last].to_vec())
    }

    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact mean of the durations. [s]
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64 / 1e9)
    }

    /// Returns a quantile. The durations are counted bin by bin, from the shortest durations on.
    /// The quantile is the upper end of the bin at which the count reaches the fraction `part` of
    /// all durations, but at most the longest duration. The value is never below the exact
    /// quantile, and exact if all durations are equal. [s]
    pub fn quantile_s(&self, part: f64) -> Option<f64> {
        let rank = ((part * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        for (octave, counts) in self.counts.iter().enumerate() {
            for (cell, count) in counts.iter().enumerate() {
                below += count;
                if below >= rank {
                    let cell = octave * CELLS_PER_OCTAVE as usize + cell;
                    let end = Span(least(cell + 1) - 1).min(self.most);
                    return Some(end.seconds());
                }
            }
        }
        None
    }
}

/// Returns the octave of a bin, and the index of the bin in this octave.
fn place(cell: usize) -> (usize, usize) {
    let cells = CELLS_PER_OCTAVE as usize;
    (cell / cells, cell % cells)
}

/// Returns the index of the bin that contains a duration. [ns]
fn cell(ns: u64) -> usize {
    let octave = (ns / CELLS_PER_OCTAVE)
        .checked_ilog2()
        .map_or(0, |log| log + 1);
    // from the second octave on, the bin depends only on the 10 most significant bits of the
    // duration; the first of these bits is 1
    let shift = octave.saturating_sub(1);
    (u64::from(shift) * CELLS_PER_OCTAVE + (ns >> shift)) as usize
}

/// Returns the shortest duration that a bin contains. [ns]
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
            (511, 511),
            (512, 512),
            (1023, 1023),
            (1024, 1024),
            (1025, 1024),
        ] {
            assert_eq!(cell(ns), expected, "{ns}");
        }
        for index in 0..10_000 {
            let first = least(index);
            assert_eq!(cell(first), index);
            assert!(first == 0 || cell(first - 1) == index - 1);
        }
        // the longest time is in bin 56 x 512 - 1, so that all bins use at most 229 kB
        assert_eq!(cell(u64::MAX), 56 * 512 - 1);
    }

    #[test]
    fn quantiles_of_equal_durations_are_their_mean() {
        for ns in [1, 1_499, 30_123_457, 250_000_001, 7_000_000_000] {
            let mut histogram = Histogram::EMPTY;
            (0..7).for_each(|_| histogram.add(Span(ns)));
            for part in [0.05, 0.5, 0.95, 0.99] {
                assert_eq!(histogram.quantile_s(part), histogram.mean_s(), "{ns}");
            }
            assert_eq!(histogram.cells(), (vec![ns, ns + 1], vec![7]));
        }
    }

    #[test]
    fn without_durations_there_is_no_quantile() {
        assert_eq!(Histogram::EMPTY.quantile_s(0.95), None);
        assert_eq!(Histogram::EMPTY.mean_s(), None);
    }

    #[test]
    fn cells_that_are_shown_have_every_duration_between_their_edges() {
        let mut histogram = Histogram::EMPTY;
        assert_eq!(histogram.cells(), (Vec::new(), Vec::new()));
        let spans: Vec<u64> = (0..40).map(|k| 3_000 + 977 * k * k * k).collect();
        spans.iter().for_each(|&ns| histogram.add(Span(ns)));
        let (edges, counts) = histogram.cells();
        assert_eq!(edges.len(), counts.len() + 1);
        for (pair, &count) in edges.windows(2).zip(&counts) {
            let inside = spans.iter().filter(|&&ns| (pair[0]..pair[1]).contains(&ns));
            assert_eq!(inside.count() as u64, count, "{pair:?}");
            // the width of a bin is at most 1/32 of its lower edge, because an octave has 32 bins
            assert!((pair[1] - pair[0]) * 32 <= pair[0], "{pair:?}");
        }
        assert_eq!(counts.iter().sum::<u64>(), 40);
        assert!(counts[0] > 0 && counts[counts.len() - 1] > 0);
    }

    #[test]
    fn merged_histograms_are_one_of_all_durations() {
        let (mut short, mut long, mut all) = (Histogram::EMPTY, Histogram::EMPTY, Histogram::EMPTY);
        for ns in (1..2_000).step_by(7) {
            short.add(Span(ns));
            long.add(Span(ns * 1_000));
            all.add(Span(ns));
            all.add(Span(ns * 1_000));
        }
        for (mut one, other) in [(short.clone(), &long), (long.clone(), &short)] {
            one.merge(other);
            assert_eq!(one.count(), all.count());
            assert_eq!(one.mean_s(), all.mean_s());
            for part in [0.01, 0.5, 0.99] {
                assert_eq!(one.quantile_s(part), all.quantile_s(part));
            }
        }
    }

    proptest! {
        #[test]
        fn quantiles_are_at_most_a_512th_above_the_exact_ones(
            mut spans in prop::collection::vec(1..1_u64 << 50, 1..300),
            part in 0.01..1.0_f64,
        ) {
            let mut histogram = Histogram::EMPTY;
            spans.iter().for_each(|&ns| histogram.add(Span(ns)));
            spans.sort_unstable();
            let rank = (part * spans.len() as f64).ceil() as usize;
            let exact = spans[rank.max(1) - 1] as f64 / 1e9;
            let found = histogram.quantile_s(part).unwrap();
            prop_assert!(found >= exact && found <= exact * (1.0 + 1.0 / 512.0), "{found} for {exact}");
            let mean = spans.iter().map(|&ns| ns as f64 / 1e9).sum::<f64>() / spans.len() as f64;
            prop_assert!((histogram.mean_s().unwrap() / mean - 1.0).abs() < 1e-9);
        }
    }
}
