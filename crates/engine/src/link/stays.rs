//! The queue of a pipe: when packets entered and depart, in a ring.

use crate::kernel::time::Time;
use crate::queue::Held;

/// A packet's stay in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stay {
    pub(super) entered: Time,
    pub(super) departs: Time,
    pub(super) bytes: u32,
    pub(super) marked: bool,
}

/// Stays by order of departure. Those that were over when the last packet entered are kept, since it may
/// have entered ahead of time; they are forgotten only where their places are needed.
#[derive(Clone, Debug)]
pub(super) struct Stays {
    /// Its length is a power of two; numbers count all stays, modulo 2^64.
    ring: Box<[Stay]>,
    first: usize,
    /// The first that was not over when the last packet entered.
    serving: usize,
    next: usize,
    /// Length of those that are not over. [bytes]
    bytes: u64,
}

impl Stays {
    pub(super) fn new() -> Stays {
        Stays {
            ring: Box::new([Stay::default(); 16]),
            first: 0,
            serving: 0,
            next: 0,
            bytes: 0,
        }
    }

    #[inline]
    fn stay(&self, number: usize) -> &Stay {
        &self.ring[number & (self.ring.len() - 1)]
    }

    /// Stays that were not over when the last packet entered.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.next.wrapping_sub(self.serving)
    }

    /// Length of the packets in those stays. [bytes]
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The first of those stays, which is the one in service.
    #[inline]
    pub(super) fn in_service(&self) -> Option<&Stay> {
        (self.serving != self.next).then(|| self.stay(self.serving))
    }

    /// Passes over those that depart by `at`, the entry of the next packet.
    #[inline]
    pub(super) fn retire(&mut self, at: Time) {
        while let Some(&stay) = self.in_service()
            && stay.departs <= at
        {
            self.bytes -= u64::from(stay.bytes);
            self.serving = self.serving.wrapping_add(1);
        }
    }

    /// Adds the stay of a packet that departs last; no stay that is over at `now` is asked for again.
    #[inline]
    pub(super) fn push(&mut self, now: Time, stay: Stay) {
        if self.next.wrapping_sub(self.first) == self.ring.len() {
            self.make_room(now);
        }
        let place = self.next & (self.ring.len() - 1);
        self.ring[place] = stay;
        self.next = self.next.wrapping_add(1);
        self.bytes += u64::from(stay.bytes);
    }

    /// Forgets stays that are over at `now`; doubles the ring if most are not, so that this is seldom needed.
    #[cold]
    fn make_room(&mut self, now: Time) {
        let over = self.number_before(|stay| stay.departs > now);
        let passed = self.serving.wrapping_sub(self.first);
        self.first = self.first.wrapping_add(over.min(passed));
        let kept = self.next.wrapping_sub(self.first);
        if 2 * kept > self.ring.len() {
            let mut ring = vec![Stay::default(); 2 * self.ring.len()].into_boxed_slice();
            for number in (0..kept).map(|k| self.first.wrapping_add(k)) {
                ring[number & (2 * self.ring.len() - 1)] = *self.stay(number);
            }
            self.ring = ring;
        }
    }

    /// Stays that are not over at `now`, in order.
    pub(super) fn open(&self, now: Time) -> impl Iterator<Item = &Stay> {
        let over = self.number_before(|stay| stay.departs > now);
        let known = self.next.wrapping_sub(self.first);
        (over..known).map(|k| self.stay(self.first.wrapping_add(k)))
    }

    /// Packets in the queue at `now`.
    pub(super) fn length(&self, now: Time) -> usize {
        let entered = self.number_before(|stay| stay.entered > now);
        entered - self.number_before(|stay| stay.departs > now)
    }

    /// Number of stays before the first of which `is_later` holds, found by halving.
    fn number_before(&self, is_later: impl Fn(&Stay) -> bool) -> usize {
        let (mut low, mut high) = (0, self.next.wrapping_sub(self.first));
        while low < high {
            let middle = low.midpoint(high);
            if is_later(self.stay(self.first.wrapping_add(middle))) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Packets inside at `instant`, which is not before the last entry.
    pub(super) fn held_at(&self, instant: Time) -> Held {
        let waiting = (0..self.waiting()).map(|k| self.stay(self.serving.wrapping_add(k)));
        let inside = waiting.filter(|stay| stay.departs > instant);
        inside.fold(Held::default(), |held, stay| Held {
            packets: held.packets + 1,
            bytes: held.bytes + u64::from(stay.bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Against a plain list, from which nothing is forgotten before it is over.
        #[test]
        fn a_ring_holds_what_a_plain_list_does(
            entries in prop::collection::vec((0_u64..30, 0_u64..40, 1_u64..60), 1..120),
        ) {
            let mut stays = Stays::new();
            stays.first = usize::MAX - 40; // numbers go round
            (stays.serving, stays.next) = (stays.first, stays.first);
            let mut plain: VecDeque<Stay> = VecDeque::new();
            let (mut now, mut at, mut free) = (0, 0, 0);
            for (later, ahead, service) in entries {
                now += later;
                at = at.max(now + ahead);
                free = at.max(free) + service;
                stays.retire(Time(at));
                let inside = || plain.iter().filter(|stay| stay.departs > Time(at));
                prop_assert_eq!(stays.waiting(), inside().count());
                prop_assert_eq!(stays.in_service(), inside().next());
                let bytes = |instant| -> u64 {
                    inside().filter(|stay| stay.departs > instant).map(|stay| u64::from(stay.bytes)).sum()
                };
                prop_assert_eq!(stays.bytes(), bytes(Time(at)));
                let held = stays.held_at(Time(at + 50));
                prop_assert_eq!(held.bytes, bytes(Time(at + 50)));
                let later = inside().filter(|stay| stay.departs > Time(at + 50));
                prop_assert_eq!(held.packets as usize, later.count());
                let stay = Stay {
                    entered: Time(at),
                    departs: Time(free),
                    bytes: service as u32,
                    marked: false,
                };
                stays.push(Time(now), stay);
                plain.push_back(stay);
                for instant in [now, at, free].map(Time) {
                    let open = || plain.iter().filter(|stay| stay.departs > instant);
                    let known: Vec<&Stay> = stays.open(instant).collect();
                    prop_assert_eq!(known, open().collect::<Vec<_>>());
                    let inside = open().filter(|stay| stay.entered <= instant);
                    prop_assert_eq!(stays.length(instant), inside.count());
                }
            }
            prop_assert!(stays.ring.len() <= 512, "{} places", stays.ring.len());
        }
    }
}
