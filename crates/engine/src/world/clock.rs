//! The simulated time of a world, and its pending events.

use super::numbers::{self, Owner, Slots};
use crate::kernel::agenda::Agenda;
use crate::kernel::time::Time;
use crate::scenario::Scenario;

/// The current time, and a deadline for each owner of a slot.
pub(crate) struct Clock {
    pub(super) now: Time,
    /// The end of the run.
    pub(super) end: Time,
    /// Number of events so far.
    pub(super) events: u64,
    agenda: Agenda,
    slots: Slots,
}

impl Clock {
    /// Returns the clock at the start, without pending events, and with slots for `flows` flows.
    pub(super) fn new(scenario: &Scenario, flows: usize) -> Clock {
        let slots = Slots::new(scenario);
        // the maximum duration of a scenario depends on this number of slots
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

    /// Returns the earliest deadline and its slot.
    #[inline(always)]
    pub(super) fn first(&self) -> (Time, usize) {
        self.agenda.first()
    }

    /// Returns the owner of a slot.
    #[inline(always)]
    pub(super) fn owner(&self, slot: usize) -> Owner {
        self.slots.owner(slot)
    }

    /// Returns whether a slot comes before the slot of the schedule, that is, whether the slot
    /// belongs to a link.
    #[inline(always)]
    pub(super) fn is_before_schedule(&self, slot: usize) -> bool {
        slot < self.slots.of(Owner::Schedule)
    }

    /// Moves the deadline of `owner`. With `Time::NEVER` the owner has no pending event.
    #[inline(always)]
    pub(super) fn set(&mut self, owner: Owner, at: Time) {
        self.agenda.set(self.slots.of(owner), at);
    }

    /// Moves the deadline of `owner`, and returns the new deadline. A deadline after the horizon
    /// becomes `Time::NEVER`.
    #[inline(always)]
    pub(super) fn reset(&mut self, owner: Owner, at: Time) -> Time {
        let slot = self.slots.of(owner);
        self.agenda.set(slot, at);
        self.agenda.deadline(slot)
    }

    /// Moves the deadline of `owner` only if it becomes earlier, as a lazy timer requires.
    #[inline(always)]
    pub(super) fn arm(&mut self, owner: Owner, at: Time) {
        let slot = self.slots.of(owner);
        if at < self.agenda.deadline(slot) {
            self.agenda.set(slot, at);
        }
    }

    /// Allocates slots for the timers of `flows` flows. Returns false if there are not enough
    /// slots.
    pub(super) fn grow(&mut self, flows: usize) -> bool {
        self.agenda.grow(self.slots.count(flows), self.end)
    }
}
