//! How far a world is, and what is pending in it.

use super::numbers::{self, Owner, Slots};
use crate::kernel::agenda::Agenda;
use crate::kernel::time::Time;
use crate::scenario::Scenario;

/// The present instant, and a deadline for each owner of a slot.
pub(crate) struct Clock {
    pub(super) now: Time,
    /// The end of the run.
    pub(super) end: Time,
    /// Events so far.
    pub(super) events: u64,
    agenda: Agenda,
    slots: Slots,
}

impl Clock {
    /// At the start, with nothing pending and slots for `flows` flows.
    pub(super) fn new(scenario: &Scenario, flows: usize) -> Clock {
        let slots = Slots::new(scenario);
        // a scenario tells by it how long it may last
        debug_assert_eq!(
            slots.count(numbers::first_connection(scenario)),
            scenario.slots()
        );
        Clock {
            now: Time::ZERO,
            end: Time::ZERO + scenario.duration,
            events: 0,
            agenda: Agenda::new(slots.count(flows)),
            slots,
        }
    }

    /// The earliest deadline and its slot.
    #[inline(always)]
    pub(super) fn first(&self) -> (Time, usize) {
        self.agenda.first()
    }

    /// The owner of a slot.
    #[inline(always)]
    pub(super) fn owner(&self, slot: usize) -> Owner {
        self.slots.owner(slot)
    }

    /// Whether a slot's turn is before the schedule's, that is, whether the slot is a link's.
    #[inline(always)]
    pub(super) fn is_before_schedule(&self, slot: usize) -> bool {
        slot < self.slots.of(Owner::Schedule)
    }

    /// Moves the deadline of `owner`; `Time::NEVER` makes it idle.
    #[inline(always)]
    pub(super) fn set(&mut self, owner: Owner, at: Time) {
        self.agenda.set(self.slots.of(owner), at);
    }

    /// Moves the deadline of `owner` and returns what it is then: `Time::NEVER` if it is beyond the
    /// horizon.
    #[inline(always)]
    pub(super) fn reset(&mut self, owner: Owner, at: Time) -> Time {
        let slot = self.slots.of(owner);
        self.agenda.set(slot, at);
        self.agenda.deadline(slot)
    }

    /// Lazy timers: only a deadline earlier than the pending one moves it.
    #[inline(always)]
    pub(super) fn arm(&mut self, owner: Owner, at: Time) {
        let slot = self.slots.of(owner);
        if at < self.agenda.deadline(slot) {
            self.agenda.set(slot, at);
        }
    }

    /// Makes room for the timers of `flows` flows; false if there is none.
    pub(super) fn grow(&mut self, flows: usize) -> bool {
        self.agenda.grow(self.slots.count(flows), self.end)
    }
}
