//! A set of segment numbers, whose range is at most as long as one window. It is stored as one bit
//! per number, in a ring buffer that grows with the range.

#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Ring {
    /// Number of segment numbers in the set.
    pub(super) held: u32,
    /// Smallest number in the stored range, and one more than the largest number (`high`). The
    /// range is shorter than the ring buffer, unless the ring buffer has its maximum size.
    low: u32,
    high: u32,
    /// Maximum size of the ring buffer, which is sufficient for a full window. [words]
    max_words: u32,
    words: Box<[u64]>,
}

impl Ring {
    pub(super) fn new(window: u32) -> Ring {
        Ring {
            held: 0,
            low: 0,
            high: 0,
            max_words: window.next_power_of_two().div_ceil(u64::BITS),
            words: Box::new([0]),
        }
    }

    /// Returns the index of the word that contains the bit of `number`, and the bit mask.
    #[inline]
    fn place(&self, number: u32) -> (usize, u64) {
        let mask = self.words.len() - 1; // the length is a power of two
        let word = (number / u64::BITS) as usize & mask;
        (word, 1 << (number % u64::BITS))
    }

    /// Returns whether `number` is in the stored range.
    #[inline]
    fn reaches(&self, number: u32) -> bool {
        number.wrapping_sub(self.low) < self.high.wrapping_sub(self.low)
    }

    /// Returns the intersection of `from..to` and the stored range.
    fn within(&self, from: u32, to: u32) -> (u32, u32) {
        (from.max(self.low), to.min(self.high))
    }

    /// Extends the stored range to include `from..to`.
    #[inline]
    fn reach(&mut self, from: u32, to: u32) {
        if self.held == 0 {
            (self.low, self.high) = (from, from);
        }
        let (low, high) = (self.low.min(from), self.high.max(to));
        let bits = self.words.len() * u64::BITS as usize;
        if (high - low) as usize >= bits && self.words.len() < self.max_words as usize {
            return self.grow(from, high);
        }
        (self.low, self.high) = (low, high);
    }

    /// Extends the stored range to include the numbers from `from` up to `high`. Removes numbers
    /// that are not in the set from the start of the range, and enlarges the ring buffer if
    /// required.
    #[cold]
    fn grow(&mut self, from: u32, high: u32) {
        let first = self.first_present(self.low, self.high);
        let low = first.map_or(from, |first| first.min(from));
        let words = (high - low + 1).next_power_of_two().div_ceil(u64::BITS);
        let words = words.min(self.max_words) as usize;
        if words > self.words.len() {
            let mut wider = vec![0; words].into_boxed_slice();
            for (number, bits) in spans(self.low, self.high) {
                let word = (number / u64::BITS) as usize % words;
                wider[word] |= bits & self.words[self.place(number).0];
            }
            self.words = wider;
        }
        (self.low, self.high) = (low, high);
    }

    pub(super) fn insert(&mut self, number: u32) {
        self.reach(number, number + 1);
        let (word, bit) = self.place(number);
        self.held += u32::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    /// Removes `number` from the set. Returns whether the set contained this number.
    pub(super) fn remove(&mut self, number: u32) -> bool {
        let present = self.contains(number);
        if present {
            let (word, bit) = self.place(number);
            self.words[word] &= !bit;
            self.held -= 1;
        }
        present
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        let (word, bit) = self.place(number);
        self.reaches(number) && self.words[word] & bit != 0
    }

    /// Inserts the numbers `from..to`, one word at a time.
    pub(super) fn insert_range(&mut self, from: u32, to: u32) {
        if from < to {
            self.reach(from, to);
        }
        for (first, bits) in spans(from, to) {
            let (word, _) = self.place(first);
            self.held += (bits & !self.words[word]).count_ones();
            self.words[word] |= bits;
        }
    }

    /// Removes the numbers `from..to`.
    pub(super) fn remove_range(&mut self, from: u32, to: u32) {
        let (from, to) = self.within(from, to);
        for (first, bits) in spans(from, to) {
            let (word, _) = self.place(first);
            self.held -= (bits & self.words[word]).count_ones();
            self.words[word] &= !bits;
        }
    }

    /// Returns how many numbers in `from..to` are in the set.
    pub(super) fn count(&self, from: u32, to: u32) -> u32 {
        let ones =
            |(first, bits): (u32, u64)| (self.words[self.place(first).0] & bits).count_ones();
        let (from, to) = self.within(from, to);
        spans(from, to).map(ones).sum()
    }

    /// Returns the smallest number in `from..to` that is not in the set; `None` if all are in the
    /// set.
    pub(super) fn first_absent(&self, from: u32, to: u32) -> Option<u32> {
        if from >= to || !self.reaches(from) {
            return (from < to).then_some(from);
        }
        let absent = spans(from, to.min(self.high)).find_map(|(first, bits)| {
            let absent = bits & !self.words[self.place(first).0];
            let base = first - first % u64::BITS;
            (absent != 0).then(|| base + absent.trailing_zeros())
        });
        absent.or_else(|| (self.high < to).then_some(self.high))
    }

    /// Returns the smallest number in `from..to` that is in the set; `None` if none is in the set.
    pub(super) fn first_present(&self, from: u32, to: u32) -> Option<u32> {
        let (from, to) = self.within(from, to);
        spans(from, to).find_map(|(first, bits)| {
            let present = bits & self.words[self.place(first).0];
            let base = first - first % u64::BITS;
            (present != 0).then(|| base + present.trailing_zeros())
        })
    }

    /// Returns the longest sequence of consecutive numbers in the set that contains `number`: its
    /// first number, and one more than its last number. The set must contain `number`. In any range
    /// as long as the ring buffer, at least one number must be absent from the set.
    pub(super) fn run(&self, number: u32) -> (u32, u32) {
        let (mut from, mut to) = (number, number + 1);
        while from > 0 && self.contains(from - 1) {
            let (word, _) = self.place(from - 1);
            let below = u64::BITS - 1 - (from - 1) % u64::BITS;
            from -= (self.words[word] << below).leading_ones();
        }
        while self.contains(to) {
            let (word, _) = self.place(to);
            to += (self.words[word] >> (to % u64::BITS)).trailing_ones();
        }
        (from, to)
    }
}

/// Returns a pair for each word of the range `from..to`: the first number of the range in this
/// word, and the bit mask of all numbers of the range in this word.
fn spans(from: u32, to: u32) -> impl Iterator<Item = (u32, u64)> {
    let mut at = from;
    std::iter::from_fn(move || {
        if at >= to {
            return None;
        }
        let first = at;
        let offset = first % u64::BITS;
        let length = (u64::BITS - offset).min(to - first);
        at += length;
        Some((first, (u64::MAX >> (u64::BITS - length)) << offset))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Compares a ring with a standard set, while a window of numbers moves forward.
        #[test]
        fn a_ring_grows_with_what_is_in_it(
            window in 2..2_000_u32,
            steps in prop::collection::vec((0..300_u32, 0..2_000_u32, 0..80_u32), 1..60),
        ) {
            let mut ring = Ring::new(window);
            let mut plain = BTreeSet::new();
            let mut base = 0;
            for (on, first, count) in steps {
                ring.remove_range(base, base + on + 1);
                base += on;
                plain.retain(|&n| n > base);
                let from = base + 1 + first % (window - 1);
                let to = (from + count).min(base + window);
                ring.insert_range(from, to);
                plain.extend(from..to);
                ring.insert(from);
                plain.insert(from);
                for n in base..base + window {
                    prop_assert_eq!(ring.contains(n), plain.contains(&n));
                }
                let (start, end) = (base, base + window);
                prop_assert_eq!(ring.held as usize, plain.len());
                prop_assert_eq!(ring.count(start, end) as usize, plain.len());
                prop_assert_eq!(ring.first_present(start, end), plain.first().copied());
                let absent = (from..end).find(|m| !plain.contains(m));
                prop_assert_eq!(ring.first_absent(from, end), absent);
                let first = (start..from).rev().take_while(|m| plain.contains(m)).last();
                let past = (from..).find(|m| !plain.contains(m)).unwrap();
                prop_assert_eq!(ring.run(from), (first.unwrap_or(from), past));
            }
            prop_assert!(ring.words.len() <= ring.max_words as usize);
        }

        /// Compares a ring with a standard set, for numbers inside one window at any position.
        #[test]
        fn ranges_are_those_of_a_plain_set(
            window in 2..400_u32,
            base in 0..1_000_u32,
            numbers in prop::collection::vec(0..400_u32, 0..200),
            ranges in prop::collection::vec((0..400_u32, 0..400_u32, any::<bool>()), 0..6),
        ) {
            let mut ring = Ring::new(window);
            let mut plain = BTreeSet::new();
            // the first number of the window is never in the set, as at a receiver or sender
            let within = |n: u32| base + 1 + n % (window - 1);
            for n in numbers {
                ring.insert(within(n));
                plain.insert(within(n));
            }
            for (a, b, put) in ranges {
                let (from, to) = (within(a), within(b));
                if put {
                    ring.insert_range(from, to);
                    plain.extend(from..to);
                } else {
                    ring.remove_range(from, to);
                    plain.retain(|n| !(from..to).contains(n));
                }
                prop_assert_eq!(ring.held as usize, plain.len());
            }
            let (from, to) = (base, base + window);
            for n in from..to {
                prop_assert_eq!(ring.contains(n), plain.contains(&n));
                prop_assert_eq!(ring.count(from, n), plain.range(from..n).count() as u32);
                let absent = (n..to).find(|m| !plain.contains(m));
                prop_assert_eq!(ring.first_absent(n, to), absent);
                prop_assert_eq!(ring.first_present(n, to), plain.range(n..to).next().copied());
                if plain.contains(&n) {
                    let first = (from..n).rev().take_while(|m| plain.contains(m)).last();
                    let past = (n..).find(|m| !plain.contains(m)).unwrap();
                    prop_assert_eq!(ring.run(n), (first.unwrap_or(n), past));
                }
            }
        }
    }
}
