//! The queue of a pipe: the arrivals and departures of its packets, in a ring buffer.

use crate::kernel::time::Time;
use crate::queue::{Backlog, Held};

/// Residence of a packet in the queue: the times of its entry and of its departure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Residence {
    pub(super) entered: Time,
    pub(super) departs: Time,
    pub(super) bytes: u32,
    pub(super) marked: bool,
}

/// Residences of packets in the queue, in order of departure. A residence is stored even after the
/// departure, because the last packet may have entered with lookahead. A residence is overwritten
/// when the ring needs space.
#[derive(Clone, Debug)]
pub(super) struct Residences {
    /// Ring buffer, whose length is a power of two. Residences are numbered from the start, modulo
    /// 2^64. The index of a residence is its number modulo the length of the ring.
    ring: Box<[Residence]>,
    /// Number of the first residence for which the ring has no room. The number of the oldest
    /// stored residence is smaller by the length of the ring.
    room_end: usize,
    /// Number of the oldest residence that had not ended when the last packet entered.
    serving: usize,
    next: usize,
    /// Total length of the packets that had not departed when the last packet entered. [bytes]
    bytes: u64,
}

impl Residences {
    pub(super) fn new() -> Residences {
        Residences {
            ring: Box::new([Residence::default(); 16]),
            room_end: 16,
            serving: 0,
            next: 0,
            bytes: 0,
        }
    }

    #[inline]
    fn residence(&self, number: usize) -> &Residence {
        &self.ring[number & (self.ring.len() - 1)]
    }

    /// Returns the number of the oldest stored residence.
    fn first(&self) -> usize {
        self.room_end.wrapping_sub(self.ring.len())
    }

    /// Returns the number of packets that have entered so far.
    pub(super) fn entered(&self) -> u64 {
        self.next as u64
    }

    /// Returns the number of packets in the queue, or in service, when the last packet entered.
    #[inline]
    pub(super) fn waiting(&self) -> usize {
        self.next.wrapping_sub(self.serving)
    }

    /// Returns the residence of the packet that was in service when the last packet entered.
    #[inline]
    pub(super) fn in_service(&self) -> Option<&Residence> {
        (self.serving != self.next).then(|| self.residence(self.serving))
    }

    /// Returns the backlog when the last packet entered. `last_departure` is the time at which the
    /// last packet of the queue departs or has departed.
    #[inline(always)]
    pub(super) fn backlog(&self, last_departure: Time) -> Backlog {
        let in_service = self.in_service();
        Backlog {
            packets: self.waiting() as u32,
            bytes: self.bytes,
            in_service_bytes: in_service.map_or(0, |residence| residence.bytes),
            idle_since: in_service.is_none().then_some(last_departure),
        }
    }

    /// Ends the residences of packets that depart by `at`, the time of entry of the next packet.
    #[inline]
    pub(super) fn retire(&mut self, at: Time) {
        while let Some(&residence) = self.in_service()
            && residence.departs <= at
        {
            self.bytes -= u64::from(residence.bytes);
            self.serving = self.serving.wrapping_add(1);
        }
    }

    /// Adds the residence of a packet that departs after all other packets. From now on, the caller
    /// asks only for states of the queue at `now` or later.
    #[inline]
    pub(super) fn push(&mut self, now: Time, residence: Residence) {
        if self.next == self.room_end {
            self.make_room(now);
        }
        let place = self.next & (self.ring.len() - 1);
        self.ring[place] = residence;
        self.next = self.next.wrapping_add(1);
        self.bytes += u64::from(residence.bytes);
    }

    /// Removes residences that have ended by `now`. If more than half of the ring is still in use,
    /// doubles the ring, so that this method is rarely called.
    #[cold]
    fn make_room(&mut self, now: Time) {
        let over = self.number_before(|residence| residence.departs > now);
        let passed = self.serving.wrapping_sub(self.first());
        let first = self.first().wrapping_add(over.min(passed));
        let open = self.next.wrapping_sub(first);
        if 2 * open > self.ring.len() {
            let mut ring = vec![Residence::default(); 2 * self.ring.len()].into_boxed_slice();
            for number in (0..open).map(|k| first.wrapping_add(k)) {
                ring[number & (2 * self.ring.len() - 1)] = *self.residence(number);
            }
            self.ring = ring;
        }
        self.room_end = first.wrapping_add(self.ring.len());
    }

    /// Returns the residences that have not ended at `now`, in order.
    pub(super) fn open(&self, now: Time) -> impl Iterator<Item = &Residence> {
        let over = self.number_before(|residence| residence.departs > now);
        let known = self.next.wrapping_sub(self.first());
        (over..known).map(|k| self.residence(self.first().wrapping_add(k)))
    }

    /// Returns the number of packets in the queue at `now`.
    pub(super) fn length(&self, now: Time) -> usize {
        let entered = self.number_before(|residence| residence.entered > now);
        entered - self.number_before(|residence| residence.departs > now)
    }

    /// Returns the number of residences before the first residence for which `is_later` is true, by
    /// bisection.
    fn number_before(&self, is_later: impl Fn(&Residence) -> bool) -> usize {
        let (mut low, mut high) = (0, self.next.wrapping_sub(self.first()));
        while low < high {
            let middle = low.midpoint(high);
            if is_later(self.residence(self.first().wrapping_add(middle))) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Returns the packets and bytes in the queue at `instant`, which is not before the last entry
    /// of a packet.
    pub(super) fn held_at(&self, instant: Time) -> Held {
        let waiting = (0..self.waiting()).map(|k| self.residence(self.serving.wrapping_add(k)));
        let inside = waiting.filter(|residence| residence.departs > instant);
        inside.fold(Held::default(), |held, residence| Held {
            packets: held.packets + 1,
            bytes: held.bytes + u64::from(residence.bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        /// Compares the ring with a plain list, which stores every residence until its end.
        #[test]
        fn a_ring_holds_what_a_plain_list_does(
            entries in prop::collection::vec((0_u64..30, 0_u64..40, 1_u64..60), 1..120),
        ) {
            let mut residences = Residences::new();
            let first = usize::MAX - 40; // during the test, the numbers wrap around
            residences.room_end = first.wrapping_add(residences.ring.len());
            (residences.serving, residences.next) = (first, first);
            let mut plain: VecDeque<Residence> = VecDeque::new();
            let (mut now, mut at, mut free) = (0, 0, 0);
            for (later, ahead, service) in entries {
                now += later;
                at = at.max(now + ahead);
                free = at.max(free) + service;
                residences.retire(Time(at));
                let inside = || plain.iter().filter(|residence| residence.departs > Time(at));
                prop_assert_eq!(residences.waiting(), inside().count());
                prop_assert_eq!(residences.in_service(), inside().next());
                let bytes = |instant| -> u64 {
                    inside().filter(|residence| residence.departs > instant).map(|residence| u64::from(residence.bytes)).sum()
                };
                prop_assert_eq!(residences.bytes, bytes(Time(at)));
                let held = residences.held_at(Time(at + 50));
                prop_assert_eq!(held.bytes, bytes(Time(at + 50)));
                let later = inside().filter(|residence| residence.departs > Time(at + 50));
                prop_assert_eq!(held.packets as usize, later.count());
                let residence = Residence {
                    entered: Time(at),
                    departs: Time(free),
                    bytes: service as u32,
                    marked: false,
                };
                residences.push(Time(now), residence);
                plain.push_back(residence);
                for instant in [now, at, free].map(Time) {
                    let open = || plain.iter().filter(|residence| residence.departs > instant);
                    let known: Vec<&Residence> = residences.open(instant).collect();
                    prop_assert_eq!(known, open().collect::<Vec<_>>());
                    let inside = open().filter(|residence| residence.entered <= instant);
                    prop_assert_eq!(residences.length(instant), inside.count());
                }
            }
            prop_assert!(residences.ring.len() <= 512, "{} places", residences.ring.len());
        }
    }
}
