//! A ring buffer of packets.
//!
//! Differs from `VecDeque` in: the number of slots is a power of two, a packet leaves the ring
//! without a copy on the stack, and the operations at both ends are always inlined. The compiler
//! does not inline those of `VecDeque` at each place that enqueues a packet.

use crate::packet::Packet;

/// Smallest number of slots of a ring that is not empty.
const MIN_SLOTS: usize = 4;

/// Packets in order.
#[derive(Clone, Debug, Default)]
pub(super) struct PacketRing {
    /// Slots of the ring. Their number is 0 or a power of two.
    slots: Vec<Packet>,
    /// Index of the slot of the first packet.
    first: u32,
    /// Number of packets.
    len: u32,
}

impl PacketRing {
    /// Returns the number of packets.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether there are no packets.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the first packet.
    #[inline(always)]
    pub(super) fn front(&self) -> Option<&Packet> {
        match self.len {
            0 => None,
            _ => self.slots.get(self.first as usize),
        }
    }

    /// Returns the flow of the packet at position `index`. The caller ensures that there is one.
    pub(super) fn flow_at(&self, index: usize) -> u32 {
        self.slots[self.slot_of(index as u32)].flow
    }

    /// Returns the last packet.
    pub(super) fn back_mut(&mut self) -> Option<&mut Packet> {
        let last = self.slot_of(self.len.checked_sub(1)?);
        self.slots.get_mut(last)
    }

    /// Appends `packet`.
    #[inline(always)]
    pub(super) fn push_back(&mut self, packet: Packet) {
        if self.len() == self.slots.len() {
            self.grow();
        }
        let slot = self.slot_of(self.len);
        self.slots[slot] = packet;
        self.len += 1;
    }

    /// Removes the first packet, and writes it to `packet`. Returns false, and writes nothing, if
    /// there are no packets.
    #[inline(always)]
    pub(super) fn pop_front_into(&mut self, packet: &mut Packet) -> bool {
        let Some(front) = self.front() else {
            return false;
        };
        *packet = *front;
        self.first = self.slot_of(1) as u32;
        self.len -= 1;
        true
    }

    /// Moves the packet at position `index` to the front. The order of the other packets does not
    /// change.
    pub(super) fn move_to_front(&mut self, index: usize) {
        for position in (0..index as u32).rev() {
            let slots = [self.slot_of(position), self.slot_of(position + 1)];
            self.slots.swap(slots[0], slots[1]);
        }
    }

    /// Returns the packets in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Packet> {
        (0..self.len).map(|position| &self.slots[self.slot_of(position)])
    }

    /// Returns the index of the slot of the packet at `position`.
    #[inline(always)]
    fn slot_of(&self, position: u32) -> usize {
        (self.first + position) as usize & self.slots.len().wrapping_sub(1)
    }

    /// Doubles the number of slots.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let slots = (2 * self.slots.len()).max(MIN_SLOTS);
        let mut larger = Vec::with_capacity(slots);
        larger.extend(self.iter());
        larger.resize(slots, Packet::BLANK);
        self.slots = larger;
        self.first = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn packet(number: u32) -> Packet {
        Packet {
            number,
            ..Packet::SAMPLE
        }
    }

    proptest! {
        #[test]
        fn a_ring_contains_the_packets_of_a_plain_list(
            steps in prop::collection::vec((0u8..5, 0usize..40), 1..300),
        ) {
            let mut ring = PacketRing::default();
            let mut plain = VecDeque::new();
            for (number, (step, index)) in (0..).zip(steps) {
                match step {
                    0..3 => {
                        ring.push_back(packet(number));
                        plain.push_back(packet(number));
                    }
                    3 => {
                        let mut popped = Packet::BLANK;
                        let expected = plain.pop_front();
                        prop_assert_eq!(ring.pop_front_into(&mut popped), expected.is_some());
                        prop_assert_eq!(popped, expected.unwrap_or(Packet::BLANK));
                    }
                    _ if index < plain.len() => {
                        ring.move_to_front(index);
                        let moved = plain.remove(index).expect("the index is below the length");
                        plain.push_front(moved);
                    }
                    _ => {}
                }
                prop_assert_eq!(ring.len(), plain.len());
                prop_assert_eq!(ring.is_empty(), plain.is_empty());
                prop_assert_eq!(ring.front(), plain.front());
                prop_assert_eq!(ring.back_mut(), plain.back_mut());
                prop_assert!(ring.iter().eq(&plain));
            }
        }
    }
}
