//! The reassembly of a stream from blocks that arrive in any order, and possibly more than once.

use std::collections::BTreeMap;

/// Maximum length of a block that is appended to an adjacent block. [bytes]
const SMALL: usize = 4096;

/// The data of a stream that have arrived and are not yet taken.
#[derive(Debug, Default)]
pub(super) struct Merge {
    /// Blocks by their offsets. They do not overlap, and none is below `taken`.
    blocks: BTreeMap<u64, Vec<u8>>,
    /// Offset up to which all data have been taken.
    taken: u64,
    /// Number of bytes of the first block that have been taken.
    used: usize,
    /// Highest offset seen.
    highest: u64,
    /// Offset of the end of the stream, if it is known.
    end: Option<u64>,
}

/// The error for a block that contradicts earlier blocks.
#[derive(Debug, PartialEq)]
pub(super) struct Contradiction;

impl Merge {
    /// Adds a block. Data that have arrived before are ignored.
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
            // the block that covers `at`, or ends at it
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

    /// Returns the next bytes in order, if they have arrived.
    pub(super) fn next(&self) -> Option<&[u8]> {
        let (&begin, block) = self.blocks.first_key_value()?;
        let next = &block[self.used..];
        (begin + self.used as u64 == self.taken && !next.is_empty()).then_some(next)
    }

    /// Records that the program has taken this number of the next bytes.
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

    /// Returns the offset up to which all data have been taken.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Returns the highest offset seen.
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }

    /// Returns whether all data have been taken up to the end of the stream.
    pub(super) fn is_over(&self) -> bool {
        self.end == Some(self.taken)
    }

    /// Returns the offset of the end of the stream, if it is known.
    pub(super) fn end(&self) -> Option<u64> {
        self.end
    }

    /// Returns the number of blocks that wait.
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
            // small pieces, as a socket accepts them
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
        /// Compares the blocks with an array that marks which bytes have arrived.
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
