//! Pending events: one deadline per slot, the earliest first.
//!
//! Every component that can have a pending event owns a slot, which is an index. A tournament tree
//! over the slots has the earliest deadline at its root. A change of one deadline costs log2(slots)
//! comparisons and allocates no memory. The agenda is therefore also used for timers.
//!
//! Events are in order of time. Events at the same time are in order of slot number, lowest first.

use super::time::Time;

/// Returns the number of leaves of the tree for `slots` slots.
fn leaves(slots: usize) -> usize {
    slots.next_power_of_two().max(2)
}

/// Returns the latest instant that a key of the tree can store if `slot_bits` of its bits are used
/// for the slot.
#[inline]
fn latest(slot_bits: u32) -> Time {
    Time((u64::MAX >> slot_bits) - 1)
}

/// Pending events: the deadline of each slot.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Tournament tree: `tree[1]` is the root, and the leaves begin at index `leaves`. A key is
    /// `time << slot_bits | slot`.
    tree: Vec<u64>,
    leaves: usize,
    slot_bits: u32,
    /// The earliest deadline and its slot, as [`Agenda::first`] returns them. The event loop reads
    /// them much more often than they change.
    first: (Time, usize),
}

impl Agenda {
    /// Returns an agenda of `slots` slots without deadlines.
    pub fn new(slots: usize) -> Agenda {
        let leaves = leaves(slots);
        Agenda {
            tree: vec![u64::MAX; 2 * leaves],
            leaves,
            slot_bits: leaves.trailing_zeros(),
            first: (Time::NEVER, leaves - 1),
        }
    }

    /// Returns the latest instant that an agenda of `slots` slots can store.
    pub fn horizon_of(slots: usize) -> Time {
        latest(leaves(slots).trailing_zeros())
    }

    /// Increases the number of slots to `slots`, with the pending deadlines unchanged. Returns
    /// false, and changes nothing, if an agenda with this number of slots cannot store the instant
    /// `end`.
    pub fn grow(&mut self, slots: usize, end: Time) -> bool {
        if slots <= self.leaves {
            return true;
        }
        let mut larger = Agenda::new(slots);
        if end >= larger.horizon() {
            return false;
        }
        for slot in 0..self.leaves {
            larger.set(slot, self.deadline(slot));
        }
        *self = larger;
        true
    }

    /// Returns the latest instant that this agenda can store. A later deadline is stored as
    /// `Time::NEVER`.
    pub fn horizon(&self) -> Time {
        latest(self.slot_bits)
    }

    /// Sets the deadline of `slot`; `Time::NEVER` removes the deadline.
    #[inline]
    pub fn set(&mut self, slot: usize, at: Time) {
        let key = if at > self.horizon() {
            u64::MAX
        } else {
            at.0 << self.slot_bits | slot as u64
        };
        let mut node = self.leaves + slot;
        if self.tree[node] == key {
            return;
        }
        self.tree[node] = key;
        let mut winner = key;
        while node > 1 {
            winner = winner.min(self.tree[node ^ 1]);
            node >>= 1;
            if self.tree[node] == winner {
                return;
            }
            self.tree[node] = winner;
        }
        let root = self.tree[1];
        let slot = root & (self.leaves as u64 - 1);
        self.first = (self.time_of(root), slot as usize);
    }

    /// Returns the deadline of `slot`.
    #[inline]
    pub fn deadline(&self, slot: usize) -> Time {
        self.time_of(self.tree[self.leaves + slot])
    }

    /// Returns the earliest deadline and its slot; `Time::NEVER` if no slot has a deadline.
    #[inline]
    pub fn first(&self) -> (Time, usize) {
        self.first
    }

    #[inline]
    fn time_of(&self, key: u64) -> Time {
        if key == u64::MAX {
            Time::NEVER
        } else {
            Time(key >> self.slot_bits)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_times_leave_in_slot_order() {
        let mut agenda = Agenda::new(5);
        for slot in [4, 2, 3] {
            agenda.set(slot, Time(7));
        }
        let mut order = Vec::new();
        while agenda.first().0 != Time::NEVER {
            let (_, slot) = agenda.first();
            order.push(slot);
            agenda.set(slot, Time::NEVER);
        }
        assert_eq!(order, [2, 3, 4]);
    }

    #[test]
    fn growing_keeps_what_is_pending() {
        let mut agenda = Agenda::new(3);
        agenda.set(1, Time(9));
        agenda.set(2, Time(4));
        assert!(agenda.grow(100, Time(1_000)));
        agenda.set(99, Time(4));
        assert_eq!(agenda.first(), (Time(4), 2));
        agenda.set(2, Time::NEVER);
        assert_eq!(agenda.first(), (Time(4), 99));
        assert_eq!(agenda.deadline(1), Time(9));
        // a tree for 200 slots has 256 leaves and uses 8 bits of a key for the slot, so that 2^56
        // ns is not representable
        assert!(!agenda.grow(200, Time(1 << 56)));
        assert_eq!(agenda.first(), (Time(4), 99));
    }

    proptest! {
        #[test]
        fn first_is_the_minimum_of_a_plain_list(
            slots in 1usize..40,
            moves in prop::collection::vec((0usize..40, 0u64..50), 1..200),
        ) {
            let mut agenda = Agenda::new(slots);
            let mut plain = vec![Time::NEVER; slots];
            for (slot, at) in moves {
                let slot = slot % slots;
                let at = if at == 0 { Time::NEVER } else { Time(at) };
                agenda.set(slot, at);
                plain[slot] = at;
                let earliest = plain.iter().copied().min().expect("at least one slot");
                prop_assert_eq!(agenda.first().0, earliest);
                if earliest != Time::NEVER {
                    let slot = plain.iter().position(|&t| t == earliest);
                    prop_assert_eq!(Some(agenda.first().1), slot);
                }
            }
        }
    }
}
