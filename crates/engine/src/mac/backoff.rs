//! Backoff counters of a group of contenders. All contenders of a group have the same arbitration
//! interframe space.
//!
//! A counter is stored as the number of the idle slot in which the node will transmit. The idle
//! slots that the group counts have consecutive numbers from the start of the run. A counter that
//! is frozen needs no update, because no idle slot passes while the medium is busy. Contenders are
//! stored in a circular array of slots (a ring), which is divided into blocks of 64 slots. A bit
//! per slot shows whether the slot has a contender. The next transmission is at the first set bit
//! from the present slot on.

/// Flag of an entry: several nodes contend for its slot. The list `next` has the other nodes.
const SEVERAL: u32 = 1 << 31;

/// Number of slots in a block.
const SLOTS: usize = 64;

/// Contenders with the same arbitration interframe space (AIFS), sorted by the idle slot in which
/// each contender will transmit.
#[derive(Clone, Debug)]
pub struct BackoffRing {
    /// Blocks of the ring. Their number is a power of two, so that `& last` computes the remainder
    /// of a division by it.
    blocks: Vec<Block>,
    /// Index of the last block.
    last: usize,
    /// For each node with the flag `SEVERAL`, the entry of the other nodes that contend for the
    /// same slot.
    next: Vec<u32>,
    /// Number of idle slots that the group has counted since the start of the run.
    passed: u64,
    contenders: u32,
}

/// Consecutive slots of the ring.
#[derive(Clone, Debug)]
struct Block {
    /// Slots that have a contender; the lowest bit is the first slot.
    used: u64,
    /// Entry of each slot: the node that was added last, and the flag `SEVERAL`. The entry of a
    /// slot that is not `used` is not valid.
    entries: [u32; SLOTS],
}

/// The next slot that has a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextSlot {
    /// Number of idle slots before this slot.
    pub ahead: u64,
    /// The node that contends for this slot; `None` if several nodes contend for it.
    pub only: Option<u32>,
}

impl BackoffRing {
    /// Returns a ring for `nodes` nodes whose backoff never exceeds `most` slots.
    pub fn new(nodes: usize, most: u32) -> BackoffRing {
        let blocks = (most as usize + 2).div_ceil(SLOTS).next_power_of_two();
        let empty = Block {
            used: 0,
            entries: [0; SLOTS],
        };
        BackoffRing {
            blocks: vec![empty; blocks],
            last: blocks - 1,
            next: vec![0; nodes],
            passed: 0,
            contenders: 0,
        }
    }

    /// Enlarges the ring for backoffs of up to `most` slots. The slots of the contenders and their
    /// order do not change.
    #[cold]
    #[inline(never)]
    pub fn widen(&mut self, most: u32) {
        let mut wide = BackoffRing::new(self.next.len(), most);
        if wide.last <= self.last {
            return;
        }
        wide.passed = self.passed;
        for ahead in 0..self.slots() as u64 {
            let mut nodes = Vec::new();
            self.visit_at(ahead, |node| nodes.push(node));
            for &node in nodes.iter().rev() {
                wide.add(node, self.passed + ahead);
            }
        }
        *self = wide;
    }

    /// Returns the number of slots in the ring.
    fn slots(&self) -> usize {
        self.blocks.len() * SLOTS
    }

    /// Returns the number of idle slots that the group has counted so far.
    #[inline(always)]
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Counts `slots` more idle slots. The caller ensures that no contender would transmit before
    /// these slots have passed.
    #[inline(always)]
    pub fn pass(&mut self, slots: u64) {
        self.passed += slots;
    }

    /// Adds `node` to the ring. The node will transmit in idle slot number `target`, which is at
    /// most one contention window after the present slot.
    #[inline(always)]
    pub fn add(&mut self, node: u32, target: u64) {
        let block = &mut self.blocks[block_of(target) & self.last];
        let entry = &mut block.entries[bit_of(target)];
        let bit = 1 << bit_of(target);
        self.contenders += 1;
        if block.used & bit == 0 {
            block.used |= bit;
            *entry = node;
        } else {
            self.next[node as usize] = *entry;
            *entry = node | SEVERAL;
        }
    }

    /// Returns the slot of the next transmission; `None` if the ring has no contenders.
    #[inline(always)]
    pub fn next_slot(&self) -> Option<NextSlot> {
        if self.contenders == 0 {
            return None;
        }
        let block = &self.blocks[block_of(self.passed) & self.last];
        let bits = block.used >> bit_of(self.passed);
        if bits == 0 {
            return Some(self.next_slot_in_later_block());
        }
        let ahead = u64::from(bits.trailing_zeros());
        let entry = block.entries[bit_of(self.passed + ahead)];
        Some(NextSlot::new(ahead, entry))
    }

    /// Returns the slot of the next transmission if this slot is not in the block of the present
    /// slot, or if it is in this block but before the present slot.
    #[inline(never)]
    fn next_slot_in_later_block(&self) -> NextSlot {
        debug_assert!(self.blocks.iter().any(|block| block.used != 0));
        let mut slot = self.passed - bit_of(self.passed) as u64;
        loop {
            slot += SLOTS as u64;
            let block = &self.blocks[block_of(slot) & self.last];
            if block.used != 0 {
                let bit = block.used.trailing_zeros();
                let ahead = slot + u64::from(bit) - self.passed;
                return NextSlot::new(ahead, block.entries[bit as usize]);
            }
        }
    }

    /// Calls `visit` for each node that contends for the slot `ahead` slots after the present slot.
    #[inline]
    pub fn visit_at(&self, ahead: u64, visit: impl FnMut(u32)) {
        let slot = self.passed + ahead;
        let block = &self.blocks[block_of(slot) & self.last];
        if block.used & 1 << bit_of(slot) != 0 {
            self.visit(block.entries[bit_of(slot)], visit);
        }
    }

    /// Removes all nodes that contend for the slot `ahead` slots after the present slot. Calls
    /// `taken` for each of these nodes. The caller ensures that a node contends for this slot.
    #[inline(always)]
    pub fn take_at(&mut self, ahead: u64, mut taken: impl FnMut(u32)) {
        let slot = self.passed + ahead;
        let block = &mut self.blocks[block_of(slot) & self.last];
        let entry = block.entries[bit_of(slot)];
        debug_assert!(block.used >> bit_of(slot) & 1 == 1, "no contender");
        block.used &= !(1 << bit_of(slot));
        self.contenders -= 1;
        if entry & SEVERAL == 0 {
            return taken(entry);
        }
        let mut several = 0;
        self.visit(entry, |node| {
            several += 1;
            taken(node);
        });
        self.contenders -= several - 1;
    }

    /// Calls `visit` for each node of an entry.
    #[inline]
    fn visit(&self, mut entry: u32, mut visit: impl FnMut(u32)) {
        while entry & SEVERAL != 0 {
            let node = entry & !SEVERAL;
            visit(node);
            entry = self.next[node as usize];
        }
        visit(entry);
    }
}

impl NextSlot {
    #[inline(always)]
    fn new(ahead: u64, entry: u32) -> NextSlot {
        NextSlot {
            ahead,
            only: (entry & SEVERAL == 0).then_some(entry),
        }
    }
}

/// Returns the number of the block of a slot, counted from the start of the run.
#[inline(always)]
fn block_of(slot: u64) -> usize {
    slot as usize / SLOTS
}

/// Returns the index of a slot in its block.
#[inline(always)]
fn bit_of(slot: u64) -> usize {
    slot as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_wider_ring_has_the_same_contenders_in_the_same_order() {
        let mut narrow = BackoffRing::new(5, 31);
        narrow.pass(50);
        for (node, ahead) in [(0, 20), (3, 7), (1, 20), (2, 63), (4, 7)] {
            narrow.add(node, 50 + ahead);
        }
        let mut wide = narrow.clone();
        wide.widen(31);
        assert_eq!(wide.slots(), narrow.slots());
        wide.widen(1023);
        assert_eq!(wide.slots(), 2048);
        let nodes = |ring: &BackoffRing, ahead| {
            let mut nodes = Vec::new();
            ring.visit_at(ahead, |node| nodes.push(node));
            nodes
        };
        for ahead in 0..64 {
            assert_eq!(nodes(&wide, ahead), nodes(&narrow, ahead), "{ahead}");
        }
        let next_slot = |ahead, only| Some(NextSlot { ahead, only });
        assert_eq!((wide.next_slot(), wide.passed()), (next_slot(7, None), 50));
        wide.take_at(7, |_| ());
        wide.pass(7);
        wide.add(3, 57 + 1023);
        assert_eq!(wide.next_slot(), next_slot(13, None));
        wide.take_at(13, |_| ());
        wide.pass(13);
        assert_eq!(wide.next_slot(), next_slot(43, Some(2)));
    }

    proptest! {
        /// Compares the ring with a plain list of counters that is scanned and decremented.
        #[test]
        fn the_ring_equals_a_list_of_counters(
            most in 0u32..200,
            draws in prop::collection::vec(0u32..1000, 1..120),
        ) {
            let nodes = 7;
            let mut ring = BackoffRing::new(nodes, most);
            let mut plain: Vec<Option<u32>> = vec![None; nodes];
            for (turn, draw) in draws.iter().enumerate() {
                let backoff = draw % (most + 1);
                if let Some(node) = plain.iter().position(Option::is_none) {
                    plain[node] = Some(backoff);
                    ring.add(node as u32, ring.passed() + u64::from(backoff));
                }
                let least = plain.iter().flatten().min().copied();
                let next = ring.next_slot();
                prop_assert_eq!(next.map(|next| next.ahead), least.map(u64::from));
                if turn % 2 == 1 && let Some(least) = least {
                    let mut taken = Vec::new();
                    ring.take_at(u64::from(least), |node| taken.push(node as usize));
                    ring.pass(u64::from(least));
                    taken.sort_unstable();
                    let expected: Vec<usize> =
                        (0..nodes).filter(|&n| plain[n] == Some(least)).collect();
                    prop_assert_eq!(&taken, &expected);
                    let only = match expected[..] {
                        [only] => Some(only as u32),
                        _ => None,
                    };
                    prop_assert_eq!(next.and_then(|next| next.only), only);
                    for counter in plain.iter_mut() {
                        *counter = match *counter {
                            Some(slots) if slots == least => None,
                            other => other.map(|slots| slots - least),
                        };
                    }
                }
            }
        }
    }
}
