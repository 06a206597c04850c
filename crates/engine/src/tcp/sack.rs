//! Selective acknowledgements (SACK): the blocks that a receiver reports.
//!
//! References: RFC 2018, section 4; RFC 2883 (D-SACK), section 4.
//!
//! A packet of the simulation is a small value that is copied from queue to queue. Therefore it
//! contains only the number of its SACK option. The receiver of the connection stores the blocks of
//! the option until the ACK arrives at the sender. Therefore flows without SACK have no cost, and
//! no ACK allocates memory. Options of lost ACKs are removed when a later ACK arrives.
//!
//! Differs from the RFC in: there are at most three blocks, the number that fits next to a
//! timestamp; the bytes of the option are not counted. Differs from Linux in: the receiver sends
//! D-SACKs, which report duplicate segments, only if the sender uses them.

use std::collections::VecDeque;

use super::ring::Ring;

/// Maximum number of blocks in a SACK option in addition to a timestamp option (RFC 2018, section
/// 3).
const MAX_BLOCKS: usize = 3;

/// Number of distinct option numbers. The number after the last number is 1.
const NUMBERS: u32 = u16::MAX as u32;

/// Maximum number of stored options. The maximum is half of the number of distinct option numbers,
/// so that old and new numbers can be distinguished.
const MAX_STORED: usize = NUMBERS as usize / 2;

/// The SACK blocks of one ACK. Each block contains its first segment, and one more than its last
/// segment. An unused block is (0, 0).
pub type Blocks = [(u32, u32); MAX_BLOCKS];

/// The SACK options of one receiver, stored until the ACKs with these options arrive at the sender.
#[derive(Clone, Debug, Default)]
pub(super) struct Reporter {
    /// Segment that arrived last, followed by one segment of each block in the last option,
    /// beginning with the most recent block.
    recent: [u32; MAX_BLOCKS + 1],
    /// Whether duplicate segments are reported (D-SACK).
    dsack: bool,
    /// Duplicate segment that has not been reported yet; `None` without such a segment.
    twice: Option<u32>,
    /// Number of the first option in `in_flight`, minus 1.
    front: u32,
    in_flight: VecDeque<Blocks>,
}

impl Reporter {
    pub(super) fn new(dsack: bool) -> Reporter {
        Reporter {
            dsack,
            ..Reporter::default()
        }
    }

    /// Records that segment `number` arrived twice. Returns whether its ACK needs a SACK option
    /// that reports the duplicate.
    pub(super) fn on_duplicate(&mut self, number: u32) -> bool {
        self.twice = self.dsack.then_some(number);
        self.dsack
    }

    /// Records the arrival of segment `number` above a missing segment. The block with this segment
    /// becomes the first block of the next options.
    pub(super) fn on_arrival(&mut self, number: u32) {
        self.recent.rotate_right(1);
        self.recent[0] = number;
    }

    /// Creates the SACK option of an ACK with the number `rcv_nxt`. `ahead` are the segments that
    /// have arrived out of order. Returns the number of the option.
    pub(super) fn report(&mut self, rcv_nxt: u32, ahead: &Ring) -> u16 {
        let mut blocks = Blocks::default();
        let mut count = 0;
        let twice = self.twice.take().map(|number| (number, number + 1));
        for number in self.recent {
            let reported = blocks[..count]
                .iter()
                .any(|block| (block.0..block.1).contains(&number));
            if count < MAX_BLOCKS && number > rcv_nxt && !reported && ahead.contains(number) {
                blocks[count] = ahead.run(number);
                count += 1;
            }
        }
        self.recent = [blocks[0].0, blocks[1].0, blocks[2].0, 0];
        if let Some(twice) = twice {
            blocks = [twice, blocks[0], blocks[1]];
        }
        if self.in_flight.len() == MAX_STORED {
            self.remove_oldest(1);
        }
        let number = (self.front + self.in_flight.len() as u32) % NUMBERS + 1;
        self.in_flight.push_back(blocks);
        number as u16
    }

    /// Returns the blocks of an arriving ACK with the option number `option`. Returns no blocks if
    /// a later ACK has already arrived.
    #[inline(never)]
    pub(super) fn take(&mut self, option: u16) -> Blocks {
        let Some(number) = u32::from(option).checked_sub(1) else {
            return Blocks::default();
        };
        let later = (number + NUMBERS - self.front) % NUMBERS;
        let Some(&blocks) = self.in_flight.get(later as usize) else {
            return Blocks::default();
        };
        self.remove_oldest(later + 1);
        blocks
    }

    /// Removes the oldest `options` options.
    fn remove_oldest(&mut self, options: u32) {
        self.in_flight.drain(..options as usize);
        self.front = (self.front + options) % NUMBERS;
    }
}

/// Returns the duplicate segment that the blocks of an ACK with the number `next` report; `None`
/// without a D-SACK. The block of the duplicate is the first block, and is below the number of the
/// ACK or inside the second block (RFC 2883, section 4).
pub(super) fn dsack(next: u32, blocks: &Blocks) -> Option<u32> {
    let [(from, to), (low, high), _] = *blocks;
    (from < to && (to <= next || low <= from && to <= high)).then_some(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Side {
        ring: Ring,
        reporter: Reporter,
    }

    impl Side {
        fn new() -> Side {
            Side {
                ring: Ring::new(64),
                reporter: Reporter::default(),
            }
        }

        /// Processes the arrival of segment `number` while the receiver expects `rcv_nxt`. Returns
        /// the number of the SACK option.
        fn arrive(&mut self, rcv_nxt: u32, number: u32) -> u16 {
            self.ring.insert(number);
            self.reporter.on_arrival(number);
            self.reporter.report(rcv_nxt, &self.ring)
        }

        fn blocks(&mut self, rcv_nxt: u32, number: u32) -> Vec<(u32, u32)> {
            let option = self.arrive(rcv_nxt, number);
            let blocks = self.reporter.take(option);
            blocks.into_iter().filter(|&(_, to)| to > 0).collect()
        }
    }

    /// RFC 2018, section 7, case 3: of segments 0 to 7, the 2nd, 4th, 6th and 8th are lost.
    #[test]
    fn the_block_of_the_latest_segment_comes_first() {
        let mut side = Side::new();
        assert_eq!(side.blocks(1, 2), [(2, 3)]);
        assert_eq!(side.blocks(1, 4), [(4, 5), (2, 3)]);
        assert_eq!(side.blocks(1, 6), [(6, 7), (4, 5), (2, 3)]);
        // the segment between two blocks combines these blocks
        assert_eq!(side.blocks(1, 3), [(2, 5), (6, 7)]);
    }

    /// A block that grows is not a new block: the other blocks remain in the option (section 4,
    /// "repeating the most recently reported SACK blocks").
    #[test]
    fn a_block_that_grows_pushes_no_other_out() {
        let mut side = Side::new();
        for number in [2, 4, 6] {
            side.blocks(1, number);
        }
        assert_eq!(side.blocks(1, 7), [(6, 8), (4, 5), (2, 3)]);
        // a fourth block replaces the block that was least recently reported
        assert_eq!(side.blocks(1, 10), [(10, 11), (6, 8), (4, 5)]);
        // after the arrival of 1 to 5, only segments above the next missing segment are reported
        for number in 2..=5 {
            side.ring.remove(number);
        }
        assert_eq!(side.blocks(5, 12), [(12, 13), (10, 11), (6, 8)]);
    }

    /// RFC 2883, sections 4.1 and 4.3: the block of the duplicate segment comes first, and the
    /// other blocks do not change.
    #[test]
    fn a_segment_that_arrived_twice_comes_first() {
        let mut side = Side {
            reporter: Reporter::new(true),
            ..Side::new()
        };
        side.blocks(1, 3);
        assert_eq!(side.blocks(1, 5), [(5, 6), (3, 4)]);
        assert!(side.reporter.on_duplicate(3));
        let blocks = side.blocks(1, 3);
        assert_eq!(blocks, [(3, 4), (3, 4), (5, 6)]);
        assert_eq!(side.blocks(1, 6), [(5, 7), (3, 4)]);
        assert!(side.reporter.on_duplicate(0));
        assert_eq!(side.blocks(1, 7), [(0, 1), (5, 8), (3, 4)]);
        assert!(!Reporter::new(false).on_duplicate(0));
    }

    #[test]
    fn a_dsack_is_told_from_other_blocks() {
        let none = (0, 0);
        assert_eq!(dsack(4, &[none, none, none]), None);
        assert_eq!(dsack(4, &[(6, 8), none, none]), None);
        assert_eq!(dsack(4, &[(6, 8), (10, 12), none]), None);
        assert_eq!(dsack(4, &[(0, 1), none, none]), Some(0));
        assert_eq!(dsack(4, &[(3, 4), (6, 8), none]), Some(3));
        assert_eq!(dsack(4, &[(7, 8), (6, 9), none]), Some(7));
    }

    #[test]
    fn options_arrive_once_and_lost_ones_are_forgotten() {
        let mut side = Side::new();
        let options: Vec<u16> = (2..6).map(|number| side.arrive(1, number)).collect();
        assert_eq!(options, [1, 2, 3, 4]);
        assert_eq!(side.reporter.take(3)[0], (2, 5));
        assert_eq!(side.reporter.take(2), Blocks::default()); // a later ACK has already arrived
        assert_eq!(side.reporter.take(4)[0], (2, 6));
        assert_eq!(side.reporter.take(4), Blocks::default());
        assert_eq!(side.reporter.take(0), Blocks::default());
        assert_eq!(side.arrive(1, 9), 5);
    }

    /// Option numbers begin again at 1. Options whose ACKs never arrive are removed.
    #[test]
    fn numbers_wrap() {
        let mut side = Side::new();
        side.arrive(1, 2);
        let ring = &side.ring;
        let reporter = &mut side.reporter;
        let mut last = 0;
        for _ in 0..240_000 {
            last = reporter.report(1, ring);
            assert!(last > 0 && reporter.in_flight.len() <= MAX_STORED);
        }
        assert_eq!(u32::from(last), 240_000 % NUMBERS + 1);
        let earlier = last - MAX_STORED as u16 / 2;
        assert_eq!(reporter.take(earlier), [(2, 3), (0, 0), (0, 0)]);
        assert_eq!(reporter.take(earlier - 1), Blocks::default());
        assert_eq!(reporter.take(last), [(2, 3), (0, 0), (0, 0)]);
        assert!(reporter.in_flight.is_empty());
    }
}
