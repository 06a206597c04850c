//! Plan and start of the next transmission.

use super::{Contender, Dcf, FrameExchange, Phase, Span, Time, outranked};

impl Dcf {
    /// Returns the time from the start of an undisturbed exchange of `contender` to the end of its
    /// data frame.
    #[inline(always)]
    pub(super) fn span_to_delivery(&self, contender: u32) -> Span {
        let planned = &self.contenders[contender as usize].planned;
        if planned.protect {
            planned.rts_air + self.phy.sifs + planned.cts_air + self.phy.sifs + planned.data_air
        } else {
            planned.data_air
        }
    }

    /// Returns the largest air time of the first frames that `contenders` send.
    pub(super) fn longest_first(&self, contenders: &[u32]) -> Span {
        let first = |&contender: &u32| self.contenders[contender as usize].first_air();
        contenders.iter().map(first).max().unwrap_or(Span::ZERO)
    }

    /// Plans the next transmission.
    #[inline(always)]
    pub(super) fn plan<X: FrameExchange>(&mut self) {
        self.stale = false;
        let (start, only) = self.countdown.plan(&self.contenders);
        self.start = start;
        if X::FORMED_AT_START {
            self.end = start;
            return;
        }
        let span = match only {
            Some(contender) => self.span_to_delivery(contender),
            None => self.longest_planned_span(),
        };
        self.end = start + span; // the sum may be `Time::NEVER`
    }

    /// Plans the next transmission like [`Dcf::plan`], but is not inlined. The callers use this
    /// function if contents are chosen when the transmission begins, because few of the events are
    /// then ends of exchanges.
    #[inline(never)]
    pub(super) fn plan_apart<X: FrameExchange>(&mut self) {
        self.plan::<X>();
    }

    /// Returns the time from the planned start to the end of the data frame; if several contenders
    /// begin, to the end of the longest colliding frame.
    fn longest_planned_span(&mut self) -> Span {
        self.candidates.clear();
        self.countdown
            .ready(self.start, &self.contenders, &mut self.candidates);
        if self.several_categories {
            let ready = self.candidates.clone();
            self.candidates
                .retain(|&candidate| !outranked(&self.contenders, candidate, &ready));
        }
        match self.candidates[..] {
            [contender] => self.span_to_delivery(contender),
            ref several => self.longest_first(several),
        }
    }

    /// Begins the planned transmission: the backoff counters stop, and the transmitters leave the
    /// backoff rings of their groups.
    #[inline(always)]
    pub(super) fn begin<X: FrameExchange>(&mut self) {
        self.transmitters.clear();
        self.freeze::<X>();
    }

    /// Begins the planned transmission like [`Dcf::begin`], but is not inlined, because it is
    /// rarely called. The callers use this function if a frame arrives before the planned end, or
    /// if contents are chosen when the transmission begins.
    pub(super) fn begin_apart<X: FrameExchange>(&mut self) {
        self.transmitters.clear();
        self.freeze_apart::<X>();
    }

    /// Begins an exchange of `contender` by immediate access.
    #[inline(never)]
    pub(super) fn begin_immediately<X: FrameExchange>(&mut self, now: Time, contender: u32) {
        self.start = now;
        self.end = match X::FORMED_AT_START {
            true => now,
            false => now + self.span_to_delivery(contender),
        };
        self.transmitters.clear();
        self.transmitters.push(contender);
        self.freeze_apart::<X>();
    }

    /// Calls [`Dcf::freeze`] without inlining, because this function is rarely called.
    #[inline(never)]
    fn freeze_apart<X: FrameExchange>(&mut self) {
        self.freeze::<X>();
    }

    /// Makes the medium busy from `start` on: the backoff counters stop, and the contenders whose
    /// counters are zero transmit.
    #[inline(always)]
    fn freeze<X: FrameExchange>(&mut self) {
        self.phase = match X::FORMED_AT_START {
            true => Phase::Forming,
            false => Phase::OnAir,
        };
        self.opportunity = self.start;
        self.followed = 0;
        self.stale = false;
        self.holder = None;
        self.countdown
            .freeze(self.start, &mut self.contenders, &mut self.transmitters);
        if self.several_categories && self.transmitters.len() > 1 {
            self.resolve_internal_collisions();
        }
    }

    /// Resolves internal collisions of contenders that are ready in the same slot. Only the highest
    /// category of a node sends. The other categories count a failure.
    #[inline(never)]
    fn resolve_internal_collisions(&mut self) {
        let ready = std::mem::take(&mut self.transmitters);
        for &contender in &ready {
            if !outranked(&self.contenders, contender, &ready) {
                self.transmitters.push(contender);
                continue;
            }
            let state: &mut Contender = &mut self.contenders[contender as usize];
            let used_up = state.fail(false, self.countdown.count(state.group));
            if used_up && state.gives_up {
                self.discarded_inside.push(contender);
            } else {
                state.backlogged = true;
                self.countdown.contend(contender, state);
            }
        }
    }
}
