//! The segments in the network, in the order of their transmissions.
//!
//! The linked list consists of elements of a ring buffer, with one element per outstanding segment.
//! The oldest transmissions are at the front of the list. The cost of a transmission or an arrival
//! does not depend on the window. The size of the ring buffer doubles when more segments are
//! outstanding, and never decreases.

use crate::kernel::time::Time;

/// A transmission of a segment. Transmissions are ordered as by RACK_sent_after().
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sent {
    /// Number of transmissions of all segments before this transmission.
    order: u64,
    /// Segment.xmit_ts: time of the transmission.
    pub(super) xmit_ts: Time,
}

impl Sent {
    /// A transmission that is older than all others.
    pub(super) const NEVER: Sent = Sent {
        order: 0,
        xmit_ts: Time::ZERO,
    };
}

/// An element of the ring buffer: the last transmission of a segment, and the neighbours of the
/// segment while the list contains it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    sent: Sent,
    before: u32,
    after: u32,
}

/// Value that means "no segment". It exceeds all segment numbers.
const NONE: u32 = u32::MAX;

/// Initial size of the ring buffer. [elements]
const MIN_SLOTS: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct TransmissionList {
    slots: Vec<Slot>,
    oldest: u32,
    newest: u32,
    /// Number of segments in the list.
    length: u32,
    /// Number of transmissions of all segments so far.
    sent: u64,
}

impl TransmissionList {
    pub(super) fn new() -> TransmissionList {
        let empty = Slot {
            sent: Sent::NEVER,
            before: NONE,
            after: NONE,
        };
        TransmissionList {
            slots: vec![empty; MIN_SLOTS],
            oldest: NONE,
            newest: NONE,
            length: 0,
            sent: 0,
        }
    }

    /// Returns the number of segments in the network, which is the length of the list.
    #[inline]
    pub(super) fn length(&self) -> u32 {
        self.length
    }

    /// Returns the segment with the oldest transmission; `None` if the list is empty.
    #[inline]
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Returns the segment whose transmission follows that of segment `number`; `None` at the end
    /// of the list.
    #[inline]
    pub(super) fn after(&self, number: u32) -> Option<u32> {
        let after = self.slot(number).after;
        (after != NONE).then_some(after)
    }

    /// Returns the last transmission of segment `number`, which must be outstanding.
    #[inline]
    pub(super) fn sent(&self, number: u32) -> Sent {
        self.slot(number).sent
    }

    /// Ensures that the ring buffer has elements for segments from `snd_una` up to and including
    /// `number`.
    #[inline]
    pub(super) fn make_room(&mut self, snd_una: u32, number: u32) {
        if (number - snd_una) as usize >= self.slots.len() {
            self.grow(snd_una, number);
        }
    }

    /// Appends segment `number`, which is sent at `now`, to the list.
    #[inline]
    pub(super) fn push(&mut self, now: Time, number: u32) {
        self.sent += 1;
        let before = self.newest;
        *self.slot_mut(number) = Slot {
            sent: Sent {
                order: self.sent,
                xmit_ts: now,
            },
            before,
            after: NONE,
        };
        self.link(before, number);
        self.newest = number;
        self.length += 1;
    }

    /// Inserts segment `number` into the list by the order of its last transmission. The segment
    /// must have been removed from the list and not sent again.
    pub(super) fn put_back(&mut self, number: u32) {
        let sent = self.sent(number);
        let (mut before, mut after) = (NONE, self.oldest);
        while after != NONE && self.sent(after) < sent {
            (before, after) = (after, self.slot(after).after);
        }
        self.link(before, number);
        self.link(number, after);
        self.length += 1;
    }

    /// Removes segment `number`, which must be in the list.
    #[inline]
    pub(super) fn remove(&mut self, number: u32) {
        let Slot { before, after, .. } = *self.slot(number);
        self.link(before, after);
        self.length -= 1;
    }

    /// Links the list elements `before` and `after`. `NONE` is the end of the list.
    #[inline]
    fn link(&mut self, before: u32, after: u32) {
        match before {
            NONE => self.oldest = after,
            before => self.slot_mut(before).after = after,
        }
        match after {
            NONE => self.newest = before,
            after => self.slot_mut(after).before = before,
        }
    }

    #[cold]
    fn grow(&mut self, snd_una: u32, number: u32) {
        let old = self.clone();
        let length = (number - snd_una + 1).next_power_of_two() as usize;
        self.slots.resize(length, old.slots[0]);
        for outstanding in snd_una..number {
            *self.slot_mut(outstanding) = *old.slot(outstanding);
        }
    }

    #[inline]
    fn slot(&self, number: u32) -> &Slot {
        &self.slots[number as usize & (self.slots.len() - 1)] // the length is a power of two
    }

    #[inline]
    fn slot_mut(&mut self, number: u32) -> &mut Slot {
        let mask = self.slots.len() - 1;
        &mut self.slots[number as usize & mask]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl TransmissionList {
        fn all(&self) -> Vec<u32> {
            std::iter::successors(self.oldest(), |&number| self.after(number)).collect()
        }
    }

    #[test]
    fn a_segment_sent_again_moves_to_the_end() {
        let mut transmissions = TransmissionList::new();
        for number in 0..5 {
            transmissions.push(Time(10), number);
        }
        transmissions.remove(1);
        transmissions.remove(3);
        assert_eq!(transmissions.all(), [0, 2, 4]);
        transmissions.push(Time(20), 5);
        transmissions.push(Time(20), 1);
        assert_eq!(transmissions.all(), [0, 2, 4, 5, 1]);
        let at = |number| transmissions.sent(number).xmit_ts;
        assert_eq!((at(0), at(1)), (Time(10), Time(20)));
        assert!(
            transmissions.sent(4) < transmissions.sent(5)
                && transmissions.sent(5) < transmissions.sent(1)
        );
        assert_eq!(transmissions.length(), 5);
    }

    proptest! {
        /// Compares the linked list with a plain list: segments are sent, arrive and are
        /// retransmitted, while the window moves.
        #[test]
        fn the_order_is_that_of_a_plain_list(
            steps in prop::collection::vec((0..4_u8, 0..200_u32, 0..3_u64), 1..400),
        ) {
            let mut transmissions = TransmissionList::new();
            let mut plain: Vec<u32> = Vec::new();
            let mut last = vec![Time::ZERO; 400];
            let (mut now, mut snd_una, mut snd_max) = (Time::ZERO, 0, 0);
            for (what, which, later) in steps {
                now = Time(now.0 + later);
                let out = snd_max - snd_una;
                let chosen = snd_una + which % out.max(1);
                let is_out = plain.iter().position(|&n| n == chosen);
                match (what, is_out) {
                    (0 | 1, _) => {
                        transmissions.make_room(snd_una, snd_max);
                        transmissions.push(now, snd_max);
                        plain.push(snd_max);
                        last[snd_max as usize] = now;
                        snd_max += 1;
                    }
                    (2, Some(place)) => {
                        transmissions.remove(chosen);
                        plain.remove(place);
                        if chosen == snd_una {
                            snd_una += 1;
                        }
                    }
                    (_, None) if chosen < snd_max => {
                        transmissions.push(now, chosen);
                        plain.push(chosen);
                        last[chosen as usize] = now;
                    }
                    (3, Some(place)) => {
                        transmissions.remove(chosen);
                        transmissions.put_back(chosen);
                        prop_assert_eq!(plain[place], chosen);
                    }
                    _ => {}
                }
                prop_assert_eq!(&transmissions.all(), &plain);
                prop_assert_eq!(transmissions.length() as usize, plain.len());
                for number in snd_una..snd_max {
                    prop_assert_eq!(transmissions.sent(number).xmit_ts, last[number as usize]);
                }
            }
        }
    }
}
