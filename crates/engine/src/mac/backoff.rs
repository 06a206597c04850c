//! Backoff counters of a group of contenders. All contenders of a group have the same arbitration
//! interframe space.
//!
//! A counter is stored as the number of the idle slot in which the node will transmit. The idle
//! slots that the group counts have consecutive numbers from the start of the run. A counter that
//! is frozen needs no update, because no idle slot passes while the medium is busy. Contenders are
//! stored in a circular array of buckets (a ring), one bucket per slot. A bit per bucket shows
//! whether the bucket has a contender. The next transmission is at the first set bit from the
//! present slot on.

/// Value that means "no node" in the lists of the nodes of a bucket.
const NONE: u32 = u32::MAX;

/// Contenders with the same arbitration interframe space (AIFS), sorted by the idle slot in which
/// each contender will transmit.
#[derive(Clone, Debug)]
pub struct BackoffRing {
    heads: Vec<u32>,
    next: Vec<u32>,
    used: Vec<u64>,
    /// Number of idle slots that the group has counted since the start of the run.
    passed: u64,
    contenders: u32,
}

impl BackoffRing {
    /// Returns a ring for `nodes` nodes whose backoff never exceeds `most` slots.
    pub fn new(nodes: usize, most: u32) -> BackoffRing {
        let buckets = (most as usize + 2).next_power_of_two().max(64);
        BackoffRing {
            heads: vec![NONE; buckets],
            next: vec![NONE; nodes],
            used: vec![0; buckets / 64],
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
        if wide.heads.len() <= self.heads.len() {
            return;
        }
        wide.passed = self.passed;
        for ahead in 0..self.heads.len() as u64 {
            let mut nodes = Vec::new();
            self.visit_at(ahead, |node| nodes.push(node));
            for &node in nodes.iter().rev() {
                wide.add(node, self.passed + ahead);
            }
        }
        *self = wide;
    }

    /// Returns the number of idle slots that the group has counted so far.
    #[inline]
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Counts `slots` more idle slots. The caller ensures that no contender would transmit before
    /// these slots have passed.
    #[inline]
    pub fn pass(&mut self, slots: u64) {
        self.passed += slots;
    }

    /// Adds `node` to the ring. The node will transmit in idle slot number `target`, which is at
    /// most one contention window after the present slot.
    #[inline]
    pub fn add(&mut self, node: u32, target: u64) {
        let bucket = self.bucket(target);
        self.next[node as usize] = self.heads[bucket];
        self.heads[bucket] = node;
        self.used[bucket / 64] |= 1 << (bucket % 64);
        self.contenders += 1;
    }

    /// Returns the number of idle slots until the next transmission; `None` if the ring has no
    /// contenders.
    #[inline]
    pub fn slots_ahead(&self) -> Option<u64> {
        if self.contenders == 0 {
            return None;
        }
        let start = self.bucket(self.passed);
        let last = self.used.len() - 1; // one less than a power of two, so that `& last` computes the remainder
        let mut word = start / 64;
        let mut bits = self.used[word] & (u64::MAX << (start % 64));
        debug_assert!(self.used.iter().any(|&word| word != 0), "no contender");
        while bits == 0 {
            word = (word + 1) & last;
            bits = self.used[word];
        }
        let bucket = word * 64 + bits.trailing_zeros() as usize;
        Some((bucket.wrapping_sub(start) & (self.heads.len() - 1)) as u64)
    }

    /// Returns the node that contends for the slot `ahead` slots after the present slot; `None` if
    /// no node or several nodes contend for this slot.
    #[inline]
    pub fn only_at(&self, ahead: u64) -> Option<u32> {
        let first = self.heads[self.bucket(self.passed + ahead)];
        (first != NONE && self.next[first as usize] == NONE).then_some(first)
    }

    /// Calls `visit` for each node that contends for the slot `ahead` slots after the present slot.
    #[inline]
    pub fn visit_at(&self, ahead: u64, mut visit: impl FnMut(u32)) {
        let mut node = self.heads[self.bucket(self.passed + ahead)];
        while node != NONE {
            visit(node);
            node = self.next[node as usize];
        }
    }

    /// Removes all nodes that contend for the present slot. Calls `taken` for each of these nodes.
    #[inline(always)]
    pub fn take_present(&mut self, mut taken: impl FnMut(u32)) {
        let bucket = self.bucket(self.passed);
        let mut node = std::mem::replace(&mut self.heads[bucket], NONE);
        self.used[bucket / 64] &= !(1 << (bucket % 64));
        while node != NONE {
            taken(node);
            self.contenders -= 1;
            node = std::mem::replace(&mut self.next[node as usize], NONE);
        }
    }

    #[inline]
    fn bucket(&self, slot: u64) -> usize {
        slot as usize & (self.heads.len() - 1)
    }
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
        assert_eq!(wide.heads.len(), narrow.heads.len());
        wide.widen(1023);
        assert_eq!(wide.heads.len(), 2048);
        let nodes = |ring: &BackoffRing, ahead| {
            let mut nodes = Vec::new();
            ring.visit_at(ahead, |node| nodes.push(node));
            nodes
        };
        for ahead in 0..64 {
            assert_eq!(nodes(&wide, ahead), nodes(&narrow, ahead), "{ahead}");
        }
        assert_eq!((wide.slots_ahead(), wide.passed()), (Some(7), 50));
        wide.pass(7);
        wide.take_present(|_| ());
        wide.add(3, 57 + 1023);
        assert_eq!(wide.slots_ahead(), Some(13));
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
                prop_assert_eq!(ring.slots_ahead(), least.map(u64::from));
                if turn % 2 == 1 && let Some(least) = least {
                    ring.pass(u64::from(least));
                    let mut taken = Vec::new();
                    ring.take_present(|node| taken.push(node as usize));
                    taken.sort_unstable();
                    let expected: Vec<usize> =
                        (0..nodes).filter(|&n| plain[n] == Some(least)).collect();
                    prop_assert_eq!(&taken, &expected);
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
