//! Exchanges that are formed when they begin, by whoever has the queues.
//!
//! ```text
//!   deadline: start, or access at once --> load (each transmitter), launch --> deadline: end
//!   --> finish(received?) --> proceed (each transmitter)
//! ```

use super::{Burst, Dcf, Outcome, Prospect, Span, Time};

/// What a contender sends, beyond what it would have with a single frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Formed {
    /// Air time of the CTS that answers its RTS.
    cts_air: Span,
    /// What EIFS adds to AIFS behind an RTS, and behind data, where those are lost.
    pub(super) eifs_leads: [Span; 2],
    /// Whether what it sends is given up when its attempts are used up.
    gives_up: bool,
}

impl Dcf {
    /// Air time of the CTS that answers an RTS of `contender`.
    pub(super) fn cts_air(&self, contender: u32) -> Span {
        match self.formed.get(contender as usize) {
            Some(formed) => formed.cts_air,
            None => self.contenders[contender as usize].response_air,
        }
    }

    /// Whether what `contender` sends is given up when its attempts are used up.
    pub(super) fn gives_up(&self, contender: u32) -> bool {
        let formed = self.formed.get(contender as usize);
        formed.is_none_or(|formed| formed.gives_up)
    }

    /// Whether exchanges are formed when they begin.
    pub fn forms(&self) -> bool {
        self.forms
    }

    /// [`Dcf::deadline`] where exchanges are formed when they begin.
    #[inline(never)]
    pub fn deadline_of_bursts(&mut self) -> Time {
        if self.stale {
            self.stale = false;
            self.start = self.countdown.next_start(&self.contenders);
            self.end = self.start;
        }
        self.end
    }

    /// Begins the exchange that is due, if none is on the air; tells whether it has begun now and is to be
    /// formed. If not, the one on the air ends: [`Dcf::finish`].
    pub fn begins(&mut self) -> bool {
        if !self.on_air {
            self.begin_apart();
            self.unformed = true;
        }
        self.unformed
    }

    /// What `contender`, one of the transmitters, sends in the exchange that begins.
    pub fn load_burst(&mut self, contender: u32, burst: &Burst) {
        let state = &mut self.contenders[contender as usize];
        state.frame.to = burst.to;
        state.data_air = burst.data_air;
        state.response_air = burst.response_air;
        state.protect = burst.protect;
        state.rts_air = burst.rts_air;
        state.rates = burst.rates;
        let formed = &mut self.formed[contender as usize];
        formed.cts_air = burst.cts_air;
        formed.eifs_leads = burst.eifs_leads;
    }

    /// All transmitters are loaded.
    pub fn launch(&mut self) {
        self.unformed = false;
        let span = match self.transmitters[..] {
            [contender] => {
                let state = &self.contenders[contender as usize];
                let cts = self.formed[contender as usize].cts_air;
                match state.protect {
                    true => state.rts_air + self.phy.sifs + cts + self.phy.sifs + state.data_air,
                    false => state.data_air,
                }
            }
            ref several => {
                let first = |&one: &u32| self.contenders[one as usize].first_air();
                several.iter().map(first).max().unwrap_or_default()
            }
        };
        self.end = self.start + span;
    }

    /// When the response to the data of `contender`, which end at `now`, will end.
    pub fn response_end(&self, now: Time, contender: u32) -> Time {
        now + self.phy.sifs + self.contenders[contender as usize].response_air
    }

    /// Ends the exchange on the air; `received` tells whether any of the data of a single transmitter were.
    /// The caller then tells, by [`Dcf::proceed_with`], what each transmitter, and each contender that was
    /// discarded, has next.
    #[inline(never)]
    pub fn finish(&mut self, received: bool) -> Outcome {
        self.end_exchange::<true>(Some(received))
    }

    /// Whether an MPDU of `contender` is lost, which is so with this probability.
    pub fn is_lost(&mut self, contender: u32, probability: f64) -> bool {
        self.contenders[contender as usize]
            .errors
            .chance(probability)
    }

    /// `contender`, which had nothing to send, has something from `now` on; tells whether its exchange begins
    /// at once, and is to be formed.
    #[inline(never)]
    pub fn backlog_with(&mut self, now: Time, contender: u32, prospect: Prospect) -> bool {
        if !self.on_air && !self.stale && self.start <= now {
            self.begin_apart();
            self.unformed = true;
        }
        self.look_ahead(contender, prospect);
        if let Some(holder) = self.holder
            && holder.contender == contender
            && now < holder.done
            && self.follow(holder)
        {
            self.form_at(self.start);
            return false;
        }
        let state = &mut self.contenders[contender as usize];
        let at_once = self.countdown.arrive(now, self.on_air, contender, state);
        if at_once {
            self.begin_at_once(now, contender);
            self.form_at(now);
        } else {
            self.stale = !self.on_air;
        }
        at_once
    }

    /// Whether an exchange is on the air, and formed.
    pub fn is_under_way(&self) -> bool {
        self.on_air && !self.unformed
    }

    /// After [`Dcf::finish`]: what `contender` has next.
    #[inline(never)]
    pub fn proceed_with(&mut self, contender: u32, prospect: Option<Prospect>) {
        let Some(prospect) = prospect else {
            self.contenders[contender as usize].backlogged = false;
            return;
        };
        self.look_ahead(contender, prospect);
        if let Some(holder) = self.holder
            && holder.contender == contender
            && self.follow(holder)
        {
            self.form_at(self.start);
            return;
        }
        let state = &self.contenders[contender as usize];
        if !state.lone {
            self.countdown.contend(contender, state);
        }
    }

    /// How long the data of `contender`, one of the transmitters, have been on the air by `now` in an exchange that
    /// has not ended.
    pub fn data_on_air(&self, now: Time, contender: u32) -> Span {
        let state = &self.contenders[contender as usize];
        let begin = match self.transmitters[..] {
            _ if !self.is_under_way() => return Span::ZERO,
            [_] => Time(self.end.0 - state.data_air.0),
            _ if state.protect => return Span::ZERO, // RTS collide
            _ => self.start,
        };
        now.since(begin).min(state.data_air)
    }

    /// Whether `contender` has something to send.
    pub fn is_backlogged(&self, contender: u32) -> bool {
        self.contenders[contender as usize].backlogged
    }

    /// Whether what `contender` sends next must end within a limit, so that its prospect counts.
    pub fn has_limit(&self, contender: u32) -> bool {
        self.contenders[contender as usize].txop_limit.is_some()
    }

    /// What is left of the limit of the present opportunity of `contender` for an exchange that begins now;
    /// `None`: there is no limit. Second: whether it is the first exchange of the opportunity.
    pub fn opportunity(&self, contender: u32) -> (Option<Span>, bool) {
        let state = &self.contenders[contender as usize];
        let spent = self.start.since(self.opportunity);
        let left = state
            .txop_limit
            .map(|limit| Span(limit.0.saturating_sub(spent.0)));
        (left, self.followed == 0)
    }

    /// The exchange that begins at `start` is to be formed then.
    fn form_at(&mut self, start: Time) {
        self.end = start;
        self.unformed = true;
    }

    fn look_ahead(&mut self, contender: u32, prospect: Prospect) {
        let state = &mut self.contenders[contender as usize];
        state.data_air = prospect.data_air;
        state.response_air = prospect.response_air;
        state.backlogged = true;
        self.formed[contender as usize].gives_up = prospect.gives_up;
    }
}
