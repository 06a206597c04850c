//! End of a transmission: its outcome, and the times at which all contenders resume their
//! countdown.

use super::{
    CfEnd, ColliderWait, Dcf, Exchange, FrameExchange, Outcome, Phase, TxStatus, TxopHolder,
};
use crate::kernel::time::{Span, Time};

impl Dcf {
    /// Ends the exchange on the air. The present time is exactly the deadline. The caller then
    /// calls [`Dcf::proceed`].
    #[inline(always)]
    pub fn end_exchange<X: FrameExchange>(&mut self, kind: &mut X) -> Outcome {
        self.phase = Phase::Planned;
        self.stale = true;
        if self.cf_end {
            self.closed = self.closing.take();
        }
        self.discarded.clear();
        if !self.discarded_inside.is_empty() {
            self.discarded.append(&mut self.discarded_inside);
            for &contender in &self.discarded {
                let state = &mut self.contenders[contender as usize];
                state.counters.discarded += 1;
                kind.on_discard(state);
            }
        }
        self.exchange = Exchange {
            start: self.start,
            end: self.end,
            follows: self.followed > 0,
        };
        self.idle_ns += self.start.0 - self.idle_since.0;
        if let [from] = self.transmitters[..] {
            self.end_single(from, kind)
        } else {
            self.end_collision(kind);
            Outcome::Collided
        }
    }

    #[inline(always)]
    fn end_single<X: FrameExchange>(&mut self, from: u32, kind: &mut X) -> Outcome {
        let state = &mut self.contenders[from as usize];
        state.counters.attempts += 1;
        let ack_end = self
            .end
            .plus(self.phy.sifs)
            .plus(state.planned.response_air);
        if !kind.is_received(state) {
            self.end_corrupted(from, ack_end, kind);
            return Outcome::Corrupted;
        }
        state.counters.delivered += 1;
        state.start_afresh(self.countdown.count(state.group));
        let rts = (state.planned.rts_air, state.planned.rates.rts_bps);
        kind.on_tx_status(self.end, state, TxStatus::Acked, &self.phy);
        if self.followed < state.may_follow {
            self.holder = Some(TxopHolder {
                contender: from,
                done: ack_end,
            });
        }
        let free = match self.cf_end {
            true => self.close(from, ack_end, rts),
            false => ack_end,
        };
        self.release_medium(free, Span::ZERO);
        Outcome::Delivered {
            from,
            done: ack_end,
        }
    }

    /// Ends the exchange of the only transmitter, `from`, whose data were lost to channel errors.
    /// The MAC ACK, if there was one, would have ended at `ack_end`.
    #[inline(never)]
    fn end_corrupted<X: FrameExchange>(&mut self, from: u32, ack_end: Time, kind: &mut X) {
        let state = &mut self.contenders[from as usize];
        state.counters.corrupted += 1;
        let protect = state.planned.protect && self.followed == 0;
        let end = self.end;
        // the wait for EIFS does not depend on the NAV, but after an RTS the NAV may end later; the
        // longer time applies
        let nav = if protect {
            ack_end.since(end)
        } else {
            Span::ZERO
        };
        let wait = nav.max(state.eifs_lead(false));
        self.release_medium(end, wait);
        let resumes = self.ack_timeout.map(|timeout| end + timeout);
        self.fail(from, protect, resumes, kind);
        self.report(from, TxStatus::Failed, kind);
    }

    /// Returns when the medium becomes idle after the MAC ACK of `holder` if no frame follows: at
    /// `ack_end`, or after a CF-End frame. A CF-End frame is as long as an RTS.
    #[inline(never)]
    fn close(&mut self, holder: u32, ack_end: Time, (rts_air, rts_bps): (Span, u64)) -> Time {
        let start = ack_end + self.phy.sifs;
        let end = start + rts_air;
        let fits = |limit| end.since(self.opportunity) <= limit;
        let limit = self.contenders[holder as usize].txop_limit;
        if !limit.is_some_and(fits) {
            return ack_end;
        }
        self.closing = Some(CfEnd {
            start,
            from: holder,
            rate_bps: rts_bps,
        });
        end
    }

    fn end_collision<X: FrameExchange>(&mut self, kind: &mut X) {
        let Exchange { start, end, .. } = self.exchange;
        let transmitters = std::mem::take(&mut self.transmitters);
        let lead = self.longest_eifs_lead(&transmitters);
        self.release_medium(end, lead);
        for &contender in &transmitters {
            let state = &mut self.contenders[contender as usize];
            state.counters.attempts += 1;
            state.counters.collided += 1;
            let own_end = start + state.first_air();
            let status = match state.planned.protect {
                true => TxStatus::RtsFailed,
                false => TxStatus::Failed,
            };
            let resumes = self
                .ack_timeout
                .filter(|_| !self.hears_another_end(own_end, &transmitters))
                .map(|timeout| (own_end + timeout).max(end));
            let long = false; // the lost frame is an RTS or a frame without RTS, for which `attempts_short` applies
            self.fail(contender, long, resumes, kind);
            self.report(contender, status, kind);
        }
        self.transmitters = transmitters;
    }

    /// Returns EIFS minus AIFS after the colliding frame that ends last. If several frames end
    /// last, returns the largest value.
    fn longest_eifs_lead(&self, transmitters: &[u32]) -> Span {
        let last = self.ending_last(transmitters);
        let lead = last.map(|contender| self.contenders[contender as usize].eifs_lead(true));
        lead.max().unwrap_or(Span::ZERO)
    }

    /// Returns the colliding transmitters whose first frame ends last.
    fn ending_last(&self, transmitters: &[u32]) -> impl Iterator<Item = u32> {
        let Exchange { start, end, .. } = self.exchange;
        let air = |&contender: &u32| self.contenders[contender as usize].first_air();
        transmitters
            .iter()
            .copied()
            .filter(move |contender| start + air(contender) == end)
    }

    /// Returns whether a collider waits for EIFS like a node that did not transmit. With
    /// [`ColliderWait::Eifs`], this is the case if the frame of another collider ended at `own_end`
    /// or later. `own_end` is the end of the collider's own frame.
    fn hears_another_end(&self, own_end: Time, transmitters: &[u32]) -> bool {
        self.collider_wait == ColliderWait::Eifs
            && (own_end < self.exchange.end || self.ending_last(transmitters).count() > 1)
    }

    /// Records that the medium becomes idle at `end`. Each contender begins to count slots after
    /// `wait` and its AIFS.
    #[inline(always)]
    fn release_medium(&mut self, end: Time, wait: Span) {
        self.idle_since = end;
        self.countdown.release(end, wait);
    }

    /// Counts a failure of `contender`, which doubles its contention window or gives up its frame.
    /// The contender waits for AIFS from `resumes` on; `None`: at the same time as the other
    /// contenders.
    fn fail<X: FrameExchange>(
        &mut self,
        contender: u32,
        long: bool,
        resumes: Option<Time>,
        kind: &mut X,
    ) {
        let state = &mut self.contenders[contender as usize];
        if state.fail(long, self.countdown.count(state.group)) && state.gives_up {
            state.counters.discarded += 1;
            self.discarded.push(contender);
            kind.on_discard(state);
        }
        state.backlogged &= !X::FORMED_AT_START; // with aggregates, the contender has nothing to send until the caller calls `proceed`
        self.countdown
            .resume_after_failure(contender, state, resumes);
    }

    #[inline(always)]
    fn report<X: FrameExchange>(&mut self, contender: u32, status: TxStatus, kind: &mut X) {
        let state = &mut self.contenders[contender as usize];
        kind.on_tx_status(self.exchange.end, state, status, &self.phy);
    }
}
