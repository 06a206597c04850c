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
    /// Group of the contenders with the smallest AIFS.
    first: Group,
    /// Other groups, in order of AIFS. Usually there is only one group, so that this list is empty.
    others: Vec<Group>,
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
    /// Planned number of idle slots before the next transmission of the group.
    ahead: u64,
    /// Planned start of the next transmission of the group; `Time::NEVER` if no contender of the
    /// group has a frame.
    start: Time,
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
            ahead: 0,
            start: Time::NEVER,
        };
        // the access point is a contender, so that the list is not empty
        let (first, others) = aifsns.split_first().unwrap_or((&2, &[]));
        Countdown {
            slot: phy.slot,
            lead: match rule {
                CountdownRule::Dcf => 0,
                CountdownRule::Edca => 1,
            },
            first: group(first),
            others: others.iter().map(group).collect(),
            off_grid: Vec::new(),
        }
    }

    /// Enlarges the backoff rings of all groups for contention windows of up to `widest`.
    pub(super) fn widen(&mut self, widest: u32) {
        self.first.ring.widen(widest);
        let others = self.others.iter_mut();
        others.for_each(|group| group.ring.widen(widest));
    }

    #[inline(always)]
    fn group(&self, group: usize) -> &Group {
        match group {
            0 => &self.first,
            other => &self.others[other - 1],
        }
    }

    #[inline(always)]
    fn group_mut(&mut self, group: usize) -> &mut Group {
        match group {
            0 => &mut self.first,
            other => &mut self.others[other - 1],
        }
    }

    /// Returns the numbers of idle slots and idle periods that `group` has counted.
    #[inline(always)]
    pub(super) fn count(&self, group: usize) -> SlotCount {
        self.group(group).count()
    }

    /// Returns when the contenders of `group` begin to count in the present idle period.
    pub(super) fn resume(&self, group: usize) -> Time {
        self.group(group).resume
    }

    /// Records that the medium becomes idle at `end`. Each contender begins to count slots after
    /// `wait` and its AIFS.
    #[inline(always)]
    pub(super) fn release(&mut self, end: Time, wait: Span) {
        let after = end.plus(wait);
        self.first.resume = after.plus(self.first.aifs);
        for group in &mut self.others {
            group.resume = after.plus(group.aifs);
        }
    }

    /// Plans the next transmission. Returns its start if no frame arrives before this start. Also
    /// returns its transmitter if only one contender can be next. `None`: there are several groups,
    /// off-grid contenders or simultaneous transmitters, or no contender has a frame.
    #[inline(always)]
    pub(super) fn plan(&mut self, contenders: &[Contender]) -> (Time, Option<u32>) {
        let only = self.first.plan(self.slot);
        if self.others.is_empty() && self.off_grid.is_empty() {
            return (self.first.start, only);
        }
        (self.plan_several(contenders), None)
    }

    /// Plans the next transmission if there are several groups or off-grid contenders. The first
    /// group has its plan already.
    #[inline(never)]
    fn plan_several(&mut self, contenders: &[Contender]) -> Time {
        let slot = self.slot;
        let mut start = self.first.start;
        for group in &mut self.others {
            group.plan(slot);
            start = start.min(group.start);
        }
        for own in &self.off_grid {
            if contenders[own.contender as usize].backlogged {
                start = start.min(own.start(slot));
            }
        }
        start
    }

    /// Adds to `ready` the contenders whose counters reach zero at `start`, the start of the next
    /// transmission.
    pub(super) fn ready(&self, start: Time, contenders: &[Contender], ready: &mut Vec<u32>) {
        if start == Time::NEVER {
            return;
        }
        for group in std::iter::once(&self.first).chain(&self.others) {
            if group.start == start {
                group
                    .ring
                    .visit_at(group.ahead, |contender| ready.push(contender));
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
        self.first.freeze(start, slot, lead, ready);
        if !self.others.is_empty() {
            self.freeze_others(start, ready);
        }
        if !self.off_grid.is_empty() {
            self.rejoin(start, contenders, ready);
        }
    }

    #[inline(never)]
    fn freeze_others(&mut self, start: Time, ready: &mut Vec<u32>) {
        for group in &mut self.others {
            group.freeze(start, self.slot, self.lead, ready);
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
            let group = match state.group {
                0 => &mut self.first,
                other => &mut self.others[other - 1],
            };
            state.target = group.ring.passed() + own.slots.saturating_sub(elapsed);
            state.drawn_at = group.openings - counting;
            if state.backlogged {
                group.ring.add(own.contender, state.target);
            }
        }
    }

    /// Adds a backlogged contender to the [`BackoffRing`] of its group.
    #[inline(always)]
    pub(super) fn contend(&mut self, contender: u32, state: &Contender) {
        self.group_mut(state.group)
            .ring
            .add(contender, state.target);
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
        let group = self.group_mut(state.group);
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
        let slot = self.slot;
        let group = self.group_mut(state.group);
        let (open, elapsed) = if busy || now < group.resume {
            (false, 0)
        } else {
            (true, now.since(group.resume).0 / slot.0)
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

impl Group {
    /// Plans the next transmission of the group. Returns its transmitter; `None` if there are
    /// several transmitters, or if no contender has a frame.
    #[inline(always)]
    fn plan(&mut self, slot: Span) -> Option<u32> {
        let Some(next) = self.ring.next_slot() else {
            self.start = Time::NEVER;
            return None;
        };
        self.ahead = next.ahead;
        self.start = self.resume.plus(slot * next.ahead);
        next.only
    }

    /// Stops the countdown of the group at `start`, when the medium becomes busy.
    #[inline(always)]
    fn freeze(&mut self, start: Time, slot: Span, lead: u64, ready: &mut Vec<u32>) {
        if start < self.resume {
            return;
        }
        self.openings += 1;
        let slots = if start == self.start {
            let taken = |contender| ready.push(contender);
            self.ring.take_at(self.ahead, taken);
            self.ahead
        } else {
            start.since(self.resume).0 / slot.0
        };
        // in EDCA (`lead` = 1), the slot in which the medium becomes busy is counted too; no
        // counter becomes negative, because the remaining counters are above zero
        self.ring.pass(slots + lead);
    }

    #[inline(always)]
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
