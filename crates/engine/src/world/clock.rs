//! The simulated time, and the pending events.

use super::numbers::{self, Owner, Slots};
use crate::kernel::agenda::Agenda;
use crate::kernel::time::Time;
use crate::scenario::Scenario;

/// The current time, and the deadline of the next event of each owner (such as a link or a timer).
pub(crate) struct Clock {
    pub(super) now: Time,
    /// The end of the run.
    pub(super) end: Time,
    /// Number of events processed so far.
    pub(super) events: u64,
    agenda: Agenda,
    slots: Slots,
}

impl Clock {
    /// Returns the clock at time 0, without pending events. The agenda (event list) has slots for
    /// `flows` flows.
    pub(super) fn new(scenario: &Scenario, flows: usize) -> Clock {
        let slots = Slots::new(scenario);
        // `scenario.slots()` must return the number of slots of the agenda, because the check of
        // the scenario computes the maximum duration from it
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

    /// Returns the earliest deadline, and the index of its slot in the agenda.
    #[inline(always)]
    pub(super) fn first(&self) -> (Time, usize) {
        self.agenda.first()
    }

    /// Returns the owner of a slot of the agenda, such as a link or a timer.
    #[inline(always)]
    pub(super) fn owner(&self, slot: usize) -> Owner {
        self.slots.owner(slot)
    }

    /// Returns whether a slot of the agenda belongs to a link. The slots of links have lower
    /// indices than the slot of the schedule (planned events).
    #[inline(always)]
    pub(super) fn is_before_schedule(&self, slot: usize) -> bool {
        slot < self.slots.of(Owner::Schedule)
    }

    /// Sets the deadline of `owner`. With `Time::NEVER` the owner has no pending event.
    #[inline(always)]
    pub(super) fn set(&mut self, owner: Owner, at: Time) {
        self.agenda.set(self.slots.of(owner), at);
    }

    /// Sets the deadline of `owner`, and returns the deadline. A deadline after the end of the run
    /// becomes `Time::NEVER`.
    #[inline(always)]
    pub(super) fn reset(&mut self, owner: Owner, at: Time) -> Time {
        let slot = self.slots.of(owner);
        self.agenda.set(slot, at);
        self.agenda.deadline(slot)
    }

    /// Sets the deadline of `owner` if the new deadline is earlier. A later deadline is set only
    /// when the earlier deadline is reached (lazy timer).
    #[inline(always)]
    pub(super) fn arm(&mut self, owner: Owner, at: Time) {
        let slot = self.slots.of(owner);
        if at < self.agenda.deadline(slot) {
            self.agenda.set(slot, at);
        }
    }

    /// Adds slots to the agenda for the timers of `flows` flows. Returns false if the agenda is too
    /// small.
    pub(super) fn grow(&mut self, flows: usize) -> bool {
        self.agenda.grow(self.slots.count(flows), self.end)
    }
}
