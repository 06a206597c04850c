//! Countdown of idle slots. The countdown determines the next transmitter if the medium stays idle,
//! and the remaining backoff of each contender if the medium becomes busy.
//!
//! Contenders with the same AIFS count the same idle slots, so they form a group that shares one
//! [`BackoffRing`]. A contender may count from another instant than its group only after a failure,
//! when it has waited for its own ACK timeout. Until the next transmission, this contender is then
//! "off the slot grid" of its group.
//!
//! A DCF counter decreases at the end of each idle slot (IEEE 802.11-2016, 10.3.4.3). An EDCA
//! counter decreases at the beginning of each slot (10.22.2.4), so that the slot in which another
//! node begins to send is counted too. If the medium stays idle, both counters reach zero at the
//! same instant.

use super::backoff::BackoffRing;
use super::contender::{Contender, SlotCount};
use super::{CountdownRule, Phy};
use crate::kernel::time::{Span, Time};

/// Backoffs of all contenders of a contention domain.
#[derive(Clone, Debug)]
pub(super) struct Countdown {
    slot: Span,
    /// Number of slots by which each counter decreases when the medium becomes busy, in addition to
    /// the idle slots: 1 in EDCA, 0 in the DCF.
    lead: u64,
    groups: Vec<Group>,
    off_grid: Vec<OffGridContender>,
}

/// Group of contenders with the same AIFS.
#[derive(Clone, Debug)]
struct Group {
    aifs: Span,
    /// Time at which the contenders of the group begin to count slots in the present idle period.
    resume: Time,
    /// Number of idle periods in which the group began to count slots.
    openings: u64,
    ring: BackoffRing,
    /// Planned number of idle slots before the next transmission of the group; `None` if no
    /// contender of the group has a frame.
    ahead: Option<u64>,
}

/// A contender that is off the slot grid: in the present idle period, it begins to count at another
/// time than its group.
#[derive(Clone, Copy, Debug)]
struct OffGridContender {
    contender: u32,
    resume: Time,
    slots: u64,
}

impl Countdown {
    /// Returns the countdown of `contenders` contenders whose contention window never exceeds
    /// `widest`. The AIFSN of group g is `aifsns[g]`.
    pub(super) fn new(
        phy: &Phy,
        rule: CountdownRule,
        aifsns: &[u32],
        contenders: usize,
        widest: u32,
    ) -> Countdown {
        let group = |&aifsn: &u32| Group {
            aifs: phy.aifs(aifsn),
            resume: Time::ZERO,
            openings: 1,
            ring: BackoffRing::new(contenders, widest),
            ahead: None,
        };
        Countdown {
            slot: phy.slot,
            lead: match rule {
                CountdownRule::Dcf => 0,
                CountdownRule::Edca => 1,
            },
            groups: aifsns.iter().map(group).collect(),
            off_grid: Vec::new(),
        }
    }

    /// Enlarges the backoff rings of all groups for contention windows of up to `widest`.
    pub(super) fn widen(&mut self, widest: u32) {
        let groups = self.groups.iter_mut();
        groups.for_each(|group| group.ring.widen(widest));
    }

    /// Returns the numbers of idle slots and idle periods that `group` has counted.
    #[inline]
    pub(super) fn count(&self, group: usize) -> SlotCount {
        self.groups[group].count()
    }

    /// Returns when the contenders of `group` begin to count in the present idle period.
    pub(super) fn resume(&self, group: usize) -> Time {
        self.groups[group].resume
    }

    /// Records that the medium becomes idle at `end`. Each contender begins to count slots after
    /// `wait` and its AIFS.
    #[inline]
    pub(super) fn release(&mut self, end: Time, wait: Span) {
        let after = end.plus(wait);
        each(&mut self.groups, |group| {
            group.resume = after.plus(group.aifs)
        });
    }

    /// Returns the start of the next transmission if no frame arrives before this start.
    #[inline(always)]
    pub(super) fn next_start(&mut self, contenders: &[Contender]) -> Time {
        let mut start = Time::NEVER;
        let slot = self.slot;
        each(&mut self.groups, |group| {
            group.ahead = group.ring.slots_ahead();
            if let Some(ahead) = group.ahead {
                start = start.min(group.resume.plus(slot * ahead));
            }
        });
        for own in &self.off_grid {
            if contenders[own.contender as usize].backlogged {
                start = start.min(own.start(self.slot));
            }
        }
        start
    }

    /// Returns the next transmitter if only one contender can be next. `None`: there are several
    /// groups, off-grid contenders or simultaneous transmitters, or no contender has a frame.
    #[inline]
    pub(super) fn only_next(&self) -> Option<u32> {
        match (&self.groups[..], &self.off_grid[..]) {
            ([group], []) => group.ahead.and_then(|ahead| group.ring.only_at(ahead)),
            _ => None,
        }
    }

    /// Adds to `ready` the contenders whose counters reach zero at `start`, the start of the next
    /// transmission.
    pub(super) fn ready(&self, start: Time, contenders: &[Contender], ready: &mut Vec<u32>) {
        for group in &self.groups {
            if let Some(ahead) = group.ahead
                && group.resume + self.slot * ahead == start
            {
                group
                    .ring
                    .visit_at(ahead, |contender| ready.push(contender));
            }
        }
        for own in &self.off_grid {
            let backlogged = contenders[own.contender as usize].backlogged;
            if backlogged && own.start(self.slot) == start {
                ready.push(own.contender);
            }
        }
    }

    /// Makes the medium busy from `start` on. The counters stop. Contenders whose counters are zero
    /// are moved from the backoff rings of their groups to `ready`.
    #[inline(always)]
    pub(super) fn freeze(
        &mut self,
        start: Time,
        contenders: &mut [Contender],
        ready: &mut Vec<u32>,
    ) {
        let (slot, lead) = (self.slot, self.lead);
        // a call of `each` would not inline the closure
        match &mut self.groups[..] {
            [only] => only.freeze(start, slot, lead, ready),
            several => {
                let several = several.iter_mut();
                several.for_each(|group| group.freeze(start, slot, lead, ready));
            }
        }
        if !self.off_grid.is_empty() {
            self.rejoin(start, contenders, ready);
        }
    }

    /// Adds to `ready` the off-grid contenders whose counters are zero. Each of the other off-grid
    /// contenders counts with its group again.
    #[cold]
    #[inline(never)]
    fn rejoin(&mut self, start: Time, contenders: &mut [Contender], ready: &mut Vec<u32>) {
        let slot = self.slot;
        for own in self.off_grid.drain(..) {
            let state = &mut contenders[own.contender as usize];
            state.off_grid = false;
            if state.backlogged && own.start(slot) == start {
                ready.push(own.contender);
                continue;
            }
            let counting = u64::from(start >= own.resume);
            let elapsed = start.since(own.resume).0 / slot.0 + self.lead * counting;
            let group = &mut self.groups[state.group];
            state.target = group.ring.passed() + own.slots.saturating_sub(elapsed);
            state.drawn_at = group.openings - counting;
            if state.backlogged {
                group.ring.add(own.contender, state.target);
            }
        }
    }

    /// Adds a backlogged contender to the [`BackoffRing`] of its group.
    #[inline]
    pub(super) fn contend(&mut self, contender: u32, state: &Contender) {
        self.groups[state.group].ring.add(contender, state.target);
    }

    /// Makes `contender` wait for AIFS after a failure. The wait begins at `from`; `None`: when the
    /// wait of the other contenders of its group begins. If the contender then begins to count at
    /// another time than its group, the contender is off the slot grid. If not, and if the
    /// contender has a frame, the contender is added to the [`BackoffRing`] of the group.
    pub(super) fn resume_after_failure(
        &mut self,
        contender: u32,
        state: &mut Contender,
        from: Option<Time>,
    ) {
        let group = &mut self.groups[state.group];
        let resume = from.map_or(group.resume, |from| from + group.aifs);
        if resume != group.resume {
            let slots = state.target - group.ring.passed();
            state.off_grid = true;
            self.off_grid.push(OffGridContender {
                contender,
                resume,
                slots,
            });
        } else if state.backlogged {
            group.ring.add(contender, state.target);
        }
    }

    /// Lets `contender`, which had no frame, contend for a frame that arrives. Returns true if the
    /// post-backoff of the contender has ended and the medium is idle, so that the frame may be
    /// sent immediately. If not, the contender is added to the [`BackoffRing`] of its group, in
    /// which it counts down its backoff.
    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        now: Time,
        busy: bool,
        contender: u32,
        state: &mut Contender,
    ) -> bool {
        if state.off_grid {
            return self.arrive_off_grid(now, contender, state);
        }
        let group = &mut self.groups[state.group];
        let (open, elapsed) = if busy || now < group.resume {
            (false, 0)
        } else {
            (true, now.since(group.resume).0 / self.slot.0)
        };
        let ripe = group.openings + u64::from(open) > state.drawn_at;
        if ripe && state.target <= group.ring.passed() + elapsed {
            if open {
                return true;
            }
            state.draw(group.count());
        }
        group.ring.add(contender, state.target);
        false
    }

    fn arrive_off_grid(&mut self, now: Time, contender: u32, state: &mut Contender) -> bool {
        let slot = self.slot;
        let has_run_out =
            |own: &OffGridContender| own.contender == contender && own.start(slot) <= now;
        let Some(index) = self.off_grid.iter().position(has_run_out) else {
            return false;
        };
        self.off_grid.swap_remove(index);
        state.off_grid = false;
        true
    }
}

/// Calls `act` for each group. Usually there is only one group.
#[inline(always)]
fn each(groups: &mut [Group], mut act: impl FnMut(&mut Group)) {
    match groups {
        [only] => act(only),
        several => several.iter_mut().for_each(act),
    }
}

impl Group {
    /// Stops the countdown of the group at `start`, when the medium becomes busy.
    #[inline(always)]
    fn freeze(&mut self, start: Time, slot: Span, lead: u64, ready: &mut Vec<u32>) {
        if start < self.resume {
            return;
        }
        self.openings += 1;
        match self.ahead {
            Some(ahead) if self.resume.plus(slot * ahead) == start => {
                self.ring.pass(ahead);
                self.ring.take_present(|contender| ready.push(contender));
            }
            Some(_) | None => self.ring.pass(start.since(self.resume).0 / slot.0),
        }
        // in EDCA (`lead` = 1), the slot in which the medium becomes busy is counted too; no
        // counter becomes negative, because the remaining counters are above zero
        self.ring.pass(lead);
    }

    #[inline]
    fn count(&self) -> SlotCount {
        SlotCount {
            passed: self.ring.passed(),
            openings: self.openings,
        }
    }
}

impl OffGridContender {
    /// Returns when the contender will transmit if the medium stays idle.
    fn start(&self, slot: Span) -> Time {
        self.resume + slot * self.slots
    }
}
