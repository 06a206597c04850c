//! A set of segment numbers that lie less than one window apart: one bit each, in a ring.

#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Ring {
    /// Numbers in the set.
    pub(super) held: u32,
    words: Box<[u64]>,
}

impl Ring {
    pub(super) fn new(window: u32) -> Ring {
        let words = window.next_power_of_two().div_ceil(u64::BITS);
        Ring {
            words: vec![0; words as usize].into_boxed_slice(),
            held: 0,
        }
    }

    /// Word and bit of `number`.
    fn place(&self, number: u32) -> (usize, u64) {
        let mask = self.words.len() - 1; // the length is a power of two
        let word = (number / u64::BITS) as usize & mask;
        (word, 1 << (number % u64::BITS))
    }

    pub(super) fn insert(&mut self, number: u32) {
        let (word, bit) = self.place(number);
        self.held += u32::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    /// Takes `number` out; returns whether it was there.
    pub(super) fn remove(&mut self, number: u32) -> bool {
        let (word, bit) = self.place(number);
        let present = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        self.held -= u32::from(present);
        present
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        let (word, bit) = self.place(number);
        self.words[word] & bit != 0
    }

    /// Puts `from` up to but not including `to` in, a word at a time.
    pub(super) fn insert_range(&mut self, from: u32, to: u32) {
        for (first, bits) in spans(from, to) {
            let (word, _) = self.place(first);
            self.held += (bits & !self.words[word]).count_ones();
            self.words[word] |= bits;
        }
    }

    /// Takes that range out.
    pub(super) fn remove_range(&mut self, from: u32, to: u32) {
        for (first, bits) in spans(from, to) {
            let (word, _) = self.place(first);
            self.held -= (bits & self.words[word]).count_ones();
            self.words[word] &= !bits;
        }
    }

    /// Numbers of that range in the set.
    pub(super) fn count(&self, from: u32, to: u32) -> u32 {
        let ones =
            |(first, bits): (u32, u64)| (self.words[self.place(first).0] & bits).count_ones();
        spans(from, to).map(ones).sum()
    }

    /// The least number of that range that is not in the set.
    pub(super) fn first_absent(&self, from: u32, to: u32) -> Option<u32> {
        spans(from, to).find_map(|(first, bits)| {
            let absent = bits & !self.words[self.place(first).0];
            let base = first - first % u64::BITS;
            (absent != 0).then(|| base + absent.trailing_zeros())
        })
    }

    /// The least number of that range that is in the set.
    pub(super) fn first_present(&self, from: u32, to: u32) -> Option<u32> {
        spans(from, to).find_map(|(first, bits)| {
            let present = bits & self.words[self.place(first).0];
            let base = first - first % u64::BITS;
            (present != 0).then(|| base + present.trailing_zeros())
        })
    }

    /// The run of numbers in the set around `number`, which is in it too: the first of the run, and one
    /// past its last. At least one number of any window of the ring's size must be absent.
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

/// The words that hold a range: a number in each, and the range's bits there.
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
        /// Against a plain set, for numbers of one window that begins anywhere.
        #[test]
        fn ranges_are_those_of_a_plain_set(
            window in 2..400_u32,
            base in 0..1_000_u32,
            numbers in prop::collection::vec(0..400_u32, 0..200),
            ranges in prop::collection::vec((0..400_u32, 0..400_u32, any::<bool>()), 0..6),
        ) {
            let mut ring = Ring::new(window);
            let mut plain = BTreeSet::new();
            // the first number of the window stays absent, as in receiver and sender
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
