//! Reassembly of a stream from blocks that arrive in any order, some of them repeatedly.

use std::collections::BTreeMap;

/// Maximum length of a block that is merged with an adjacent block. [bytes]
const SMALL: usize = 4096;

/// Data of a stream that have arrived and were not delivered to the program yet.
#[derive(Debug, Default)]
pub(super) struct Merge {
    /// Blocks that have arrived, keyed by offset. The blocks do not overlap, and none begins below
    /// `taken`.
    blocks: BTreeMap<u64, Vec<u8>>,
    /// Offset up to which all data were delivered to the program.
    taken: u64,
    /// Number of delivered bytes of the first block.
    used: usize,
    /// Highest offset received.
    highest: u64,
    /// Offset at which the stream ends, if known.
    end: Option<u64>,
}

/// Error for a block that contradicts earlier blocks.
#[derive(Debug, PartialEq)]
pub(super) struct Contradiction;

impl Merge {
    /// Adds a block. Data that arrived before are ignored.
    pub(super) fn add(
        &mut self,
        offset: u64,
        bytes: &[u8],
        last: bool,
    ) -> Result<(), Contradiction> {
        let until = offset
            .checked_add(bytes.len() as u64)
            .ok_or(Contradiction)?;
        match self.end {
            Some(end) if until > end || (last && until != end) => return Err(Contradiction),
            None if last && until < self.highest => return Err(Contradiction),
            _ => {}
        }
        if last {
            self.end = Some(until);
        }
        self.highest = self.highest.max(until);
        let mut at = offset.max(self.taken);
        while at < until {
            // the last block that begins at or before the offset `at`
            let before = self.blocks.range_mut(..=at).next_back();
            if let Some((&begin, block)) = before {
                let end = begin + block.len() as u64;
                if end > at {
                    at = end;
                    continue;
                }
            }
            let next = self.blocks.range(at..).next().map(|(&begin, _)| begin);
            let stop = next.map_or(until, |next| next.min(until));
            let new = &bytes[(at - offset) as usize..(stop - offset) as usize];
            match self.blocks.range_mut(..at).next_back() {
                Some((&begin, block))
                    if begin + block.len() as u64 == at && block.len() + new.len() <= SMALL =>
                {
                    block.extend(new);
                }
                _ => {
                    self.blocks.insert(at, new.to_vec());
                }
            }
            at = stop;
        }
        Ok(())
    }

    /// Returns the next bytes to deliver to the program, if they have arrived.
    pub(super) fn next(&self) -> Option<&[u8]> {
        let (&begin, block) = self.blocks.first_key_value()?;
        let next = &block[self.used..];
        (begin + self.used as u64 == self.taken && !next.is_empty()).then_some(next)
    }

    /// Records that the program has accepted `count` of the next bytes.
    pub(super) fn take(&mut self, count: usize) {
        self.taken += count as u64;
        self.used += count;
        if let Some(first) = self.blocks.first_entry()
            && self.used >= first.get().len()
        {
            first.remove();
            self.used = 0;
        }
    }

    /// Returns the offset up to which all data were delivered to the program.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the highest offset received.
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }

    /// Returns whether all data of the stream were delivered to the program.
    pub(super) fn is_over(&self) -> bool {
        self.end == Some(self.taken)
    }

    /// Returns the offset at which the stream ends, if known.
    pub(super) fn end(&self) -> Option<u64> {
        self.end
    }

    /// Returns the number of blocks that were not delivered completely.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rest(merge: &mut Merge) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(next) = merge.next() {
            // takes at most 7 bytes at a time, like a socket that accepts only a few bytes
            let count = next.len().min(7);
            all.extend(&next[..count]);
            merge.take(count);
        }
        all
    }

    #[test]
    fn a_gap_is_waited_for() {
        let mut merge = Merge::default();
        merge.add(3, b"def", true).unwrap();
        assert_eq!(merge.next(), None);
        merge.add(0, b"abc", false).unwrap();
        assert_eq!(rest(&mut merge), b"abcdef");
        assert!(merge.is_over());
        merge.add(0, b"abcdef", true).unwrap();
        assert_eq!(merge.next(), None, "twice is once");
    }

    #[test]
    fn ends_that_contradict_each_other_are_found() {
        let mut merge = Merge::default();
        merge.add(0, b"abc", true).unwrap();
        assert_eq!(merge.add(3, b"d", false), Err(Contradiction));
        assert_eq!(merge.add(0, b"ab", true), Err(Contradiction));
        let mut merge = Merge::default();
        merge.add(5, b"x", false).unwrap();
        assert_eq!(merge.add(0, b"abc", true), Err(Contradiction));
        assert_eq!(merge.add(u64::MAX, b"x", false), Err(Contradiction));
    }

    proptest! {
        /// Compares the reassembly with an array that marks the bytes that have arrived.
        #[test]
        fn blocks_in_any_order_give_the_stream(
            stream in proptest::collection::vec(any::<u8>(), 1..400),
            cuts in proptest::collection::vec((0usize..400, 0usize..120), 0..60),
        ) {
            let mut merge = Merge::default();
            let mut come = vec![false; stream.len()];
            let mut taken = Vec::new();
            for (begin, length) in cuts {
                let begin = begin.min(stream.len());
                let end = (begin + length).min(stream.len());
                merge.add(begin as u64, &stream[begin..end], end == stream.len()).unwrap();
                come[begin..end].fill(true);
                taken.extend(rest(&mut merge));
                let expected = come.iter().take_while(|&&here| here).count();
                prop_assert_eq!(&taken, &stream[..expected]);
            }
            merge.add(0, &stream, true).unwrap();
            taken.extend(rest(&mut merge));
            prop_assert_eq!(taken, stream);
            prop_assert!(merge.is_over());
        }
    }
}
