//! How a transmission ends: delivered, corrupted, collided, and when everyone resumes.

use super::{AP, CfEnd, ColliderWait, Dcf, Exchange, Holder, Outcome, Span, Time};

impl Dcf {
    #[inline(always)]
    pub(super) fn end_single<const OF_BURSTS: bool>(
        &mut self,
        from: u32,
        received: Option<bool>,
    ) -> Outcome {
        let state = &mut self.contenders[from as usize];
        state.counters.attempts += 1;
        let lost = match received {
            None => state.errors.chance(state.error),
            Some(received) => !received,
        };
        let protect = state.protect && self.followed == 0;
        let ack_end = self.end.plus(self.phy.sifs).plus(state.response_air);
        if self.falls_back {
            state.sent_at = state.rates;
        }
        if lost {
            // EIFS runs whatever the NAV says, but behind an RTS the NAV may last longer
            let nav = if protect {
                ack_end.since(self.end)
            } else {
                Span::ZERO
            };
            let wait = nav.max(self.eifs_lead::<OF_BURSTS>(from, false));
            let end = self.end;
            self.contenders[from as usize].counters.corrupted += 1;
            self.tell_down(from, |down| {
                down.attempts += 1;
                down.failed += 1;
            });
            self.release_medium(end, wait);
            self.fail::<OF_BURSTS>(from, protect, self.ack_timeout.map(|timeout| end + timeout));
            self.adapt(from, false);
            return Outcome::Corrupted;
        }
        state.counters.delivered += 1;
        state.start_afresh(self.countdown.count(state.group));
        if state.node == AP {
            let down = &mut self.down_counters[state.frame.to as usize - 1];
            down.attempts += 1;
            down.delivered += 1;
        }
        if self.followed < state.may_follow {
            self.holder = Some(Holder {
                contender: from,
                done: ack_end,
            });
        }
        let free = match self.cf_end {
            true => self.close(from, ack_end),
            false => ack_end,
        };
        self.release_medium(free, Span::ZERO);
        self.adapt(from, true);
        Outcome::Delivered {
            from,
            done: ack_end,
        }
    }

    /// When the medium falls idle after the MAC ACK of `holder` if nothing follows: at once, or after
    /// a CF-End frame, which is as long as an RTS.
    #[inline(never)]
    fn close(&mut self, holder: u32, ack_end: Time) -> Time {
        let state = &self.contenders[holder as usize];
        let start = ack_end + self.phy.sifs;
        let end = start + state.rts_air;
        let fits = |limit| end.since(self.opportunity) <= limit;
        if !state.txop_limit.is_some_and(fits) {
            return ack_end;
        }
        self.closing = Some(CfEnd {
            start,
            from: holder,
            rate_bps: state.rates.rts_bps,
        });
        end
    }

    pub(super) fn end_collision<const OF_BURSTS: bool>(&mut self) -> Outcome {
        let Exchange { start, end, .. } = self.exchange;
        let transmitters = std::mem::take(&mut self.transmitters);
        let lead = match OF_BURSTS {
            false => self.phy.eifs_lead(),
            true => self.longest_eifs_lead(start, end, &transmitters),
        };
        self.release_medium(end, lead);
        for &contender in &transmitters {
            let state = &mut self.contenders[contender as usize];
            state.counters.attempts += 1;
            state.counters.collided += 1;
            if self.falls_back {
                state.sent_at = state.rates;
            }
            let own_end = start + state.first_air();
            let data_went = !state.protect;
            self.tell_down(contender, |down| {
                down.attempts += 1;
                down.failed += 1;
            });
            let resumes = self
                .ack_timeout
                .filter(|_| !self.hears_another_end(own_end, &transmitters))
                .map(|timeout| (own_end + timeout).max(end));
            let long = false; // an RTS or an unprotected frame: both count as short
            self.fail::<OF_BURSTS>(contender, long, resumes);
            if data_went {
                self.adapt(contender, false);
            }
        }
        self.transmitters = transmitters;
        Outcome::Collided
    }

    /// What EIFS adds to AIFS after the frame that ends last, the most if there are several.
    #[inline(never)]
    fn longest_eifs_lead(&self, start: Time, end: Time, transmitters: &[u32]) -> Span {
        let ends_last = |&&each: &&u32| start + self.contenders[each as usize].first_air() == end;
        let last = transmitters.iter().filter(ends_last);
        let lead = last.map(|&each| self.eifs_lead::<true>(each, true)).max();
        lead.unwrap_or(Span::ZERO)
    }

    /// What EIFS adds to AIFS after a frame of `contender` was lost: its `first` one, or its data.
    fn eifs_lead<const OF_BURSTS: bool>(&self, contender: u32, first: bool) -> Span {
        if !OF_BURSTS {
            return self.phy.eifs_lead();
        }
        let state = &self.contenders[contender as usize];
        self.formed[contender as usize].eifs_leads[usize::from(!(first && state.protect))]
    }

    /// Whether a collider waits with those that only listened: its frame ended at `own_end`, and another
    /// of the colliding frames with it or later.
    fn hears_another_end(&self, own_end: Time, transmitters: &[u32]) -> bool {
        let Exchange { start, end, .. } = self.exchange;
        let ends_last = |&&each: &&u32| start + self.contenders[each as usize].first_air() == end;
        self.collider_wait == ColliderWait::Eifs
            && (own_end < end || transmitters.iter().filter(ends_last).count() > 1)
    }

    /// The medium falls idle at `end`; everyone resumes `wait` and its AIFS later.
    fn release_medium(&mut self, end: Time, wait: Span) {
        self.busy_ns += end.since(self.start).0;
        self.idle_since = end;
        self.countdown.release(end, wait);
    }

    /// One more failure of `contender`: double, retry or give up. It waits for AIFS from `resumes` on, or
    /// with the others.
    fn fail<const OF_BURSTS: bool>(&mut self, contender: u32, long: bool, resumes: Option<Time>) {
        let state = &mut self.contenders[contender as usize];
        if state.fail(long, self.countdown.count(state.group))
            && (!OF_BURSTS || self.gives_up(contender))
        {
            let state = &mut self.contenders[contender as usize];
            state.counters.discarded += 1;
            self.discarded.push(contender);
            self.tell_down(contender, |down| down.discarded += 1);
        }
        let state = &mut self.contenders[contender as usize];
        state.backlogged &= !OF_BURSTS; // until it is told what is next
        self.countdown
            .resume_after_failure(contender, state, resumes);
    }
}
