//! The maximum of a value over the last rounds.
//!
//! Reference: Linux 6.12, lib/win_minmax.c, the algorithm of Kathleen Nichols. The filter stores
//! three samples. Its maximum is that of a sliding window, except that a new value may be used up to
//! a quarter of the window late.

/// The maximum over the last rounds (`struct minmax`).
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxFilter<V> {
    /// Best, second-best and third-best sample. Their rounds do not decrease.
    best: [Entry<V>; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry<V> {
    round: u32,
    value: V,
}

impl<V: Copy + PartialOrd> MaxFilter<V> {
    /// Returns a filter whose maximum is `zero`.
    pub(super) fn new(zero: V) -> MaxFilter<V> {
        let entry = Entry {
            round: 0,
            value: zero,
        };
        MaxFilter { best: [entry; 3] }
    }

    #[inline]
    pub(super) fn max(&self) -> V {
        self.best[0].value
    }

    /// `minmax_running_max`: adds a sample of the round `round`. The maximum is that of the last
    /// `window` rounds.
    #[inline]
    pub(super) fn add(&mut self, window: u32, round: u32, value: V) {
        let new = Entry { round, value };
        let [first, second, third] = self.best;
        if value >= first.value || round - third.round > window {
            self.best = [new; 3];
            return;
        }
        if value >= second.value {
            self.best = [first, new, new];
        } else if value >= third.value {
            self.best[2] = new;
        }
        self.age(window, new);
    }

    /// `minmax_subwin_update`: removes samples that are older than the window.
    fn age(&mut self, window: u32, new: Entry<V>) {
        let [first, second, third] = self.best;
        let age = new.round - first.round;
        if age > window {
            self.best = [second, third, new];
            if new.round - second.round > window {
                self.best = [third, new, new];
            }
        } else if second.round == first.round && age > window / 4 {
            self.best = [first, new, new];
        } else if third.round == second.round && age > window / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A maximum is used for ten more rounds. Then the second-best sample is the maximum.
    #[test]
    fn the_maximum_is_forgotten_after_ten_rounds() {
        let mut filter = MaxFilter::new(0);
        filter.add(10, 1, 100);
        for round in 2..=11 {
            filter.add(10, round, 60 - round);
            assert_eq!(filter.max(), 100);
        }
        // second-best: the first sample more than 10/4 rounds after round 1, which is round 4
        filter.add(10, 12, 40);
        assert_eq!(filter.max(), 56);
        filter.add(10, 13, 70);
        assert_eq!(filter.max(), 70);
        // a sample after a gap of more than ten rounds replaces all others
        filter.add(10, 30, 5);
        assert_eq!(filter.max(), 5);
    }

    /// With a window of one round, a maximum is used in its round and in the next round.
    #[test]
    fn a_window_of_one_round() {
        let mut filter = MaxFilter::new(0.0);
        filter.add(1, 1, 8.0);
        filter.add(1, 2, 3.0);
        assert_eq!(filter.max(), 8.0);
        filter.add(1, 3, 2.0);
        assert_eq!(filter.max(), 3.0);
    }
}
