//! One node's contention for the medium in one access category, a rule of the standard at a time.

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::{Access, Category, CountdownRule, Node as Settings};

/// A node, 0 the access point, and one of its access categories.
pub type Who = (u32, Category);

/// What a node does about the medium. `slots` is the backoff counter; `None` once it has run out
/// and nothing was there to send.
///
/// ```text
/// Idle --packet--> Transmit                          (immediate access)
/// Idle, Defer, Backoff --medium busy--> Frozen --medium idle--> Defer
/// Defer --AIFS or EIFS over--> Backoff --slots run out--> Transmit, or Idle without a packet
/// Transmit --end of own frame--> AwaitAck, or --response--> Frozen (post-backoff), or Transmit (TXOP)
/// Transmit --a higher category of the node is ready too--> Frozen (internal collision)
/// AwaitAck --medium idle--> Defer, until AIFS after the time-out
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contention {
    /// Medium idle for AIFS (EIFS) or longer, counter run out, nothing to send.
    Idle,
    /// Medium idle, but not yet for AIFS (EIFS); counts down from `until` on.
    Defer { until: Time, slots: Option<u32> },
    /// Counting down: at `tick` one slot less.
    Backoff { tick: Time, slots: u32 },
    /// Medium busy; the counter keeps its value.
    Frozen { slots: Option<u32> },
    /// Own exchange on the air.
    Transmit,
    /// Own frame over, no answer: failed, which the node knows at `until` or, by default, when
    /// the others' EIFS leaves only AIFS. `after_cts`: it was the data frame behind a CTS.
    AwaitAck {
        until: Option<Time>,
        after_cts: bool,
    },
}

/// What an attempt that failed did to the contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Whether its attempts have reached their limit.
    pub at_limit: bool,
}

/// Where the node's random numbers come from.
pub trait Draws {
    /// Uniform integer on `[0, cw]` from the stream of `who`.
    fn backoff(&mut self, who: Who, cw: u32) -> u32;
    /// Whether channel errors spoil the data frame that `from` has just sent to node `to`.
    fn corrupted(&mut self, from: Who, to: u32) -> bool;
}

/// A node in one category, as far as it contends: window, attempts, counter, opportunity. What it has
/// to send is somebody else's affair.
#[derive(Debug)]
pub struct Contender {
    pub who: Who,
    access: Access,
    attempts_short: u32,
    attempts_long: u32,
    aifs: Span,
    slot: Span,
    rule: CountdownRule,
    cw: u32,
    short_attempts: u32,
    long_attempts: u32,
    /// Packets that may follow in the present transmission opportunity.
    may_follow: u32,
    /// When the present transmission opportunity ends.
    opportunity_ends: Time,
    pub state: Contention,
}

impl Contender {
    pub fn new(
        who: Who,
        settings: &Settings,
        aifs: Span,
        slot: Span,
        rule: CountdownRule,
    ) -> Contender {
        let access = *settings.access(who.1);
        Contender {
            who,
            access,
            attempts_short: settings.attempts_short,
            attempts_long: settings.attempts_long,
            aifs,
            slot,
            rule,
            cw: access.cwmin,
            short_attempts: 0,
            long_attempts: 0,
            may_follow: 0,
            opportunity_ends: Time::ZERO,
            state: Contention::Idle,
        }
    }

    /// The end of the wait or of the slot that the node counts, on an idle medium.
    pub fn deadline(&self) -> Option<Time> {
        match self.state {
            Contention::Defer { until, .. } => Some(until),
            Contention::Backoff { tick, .. } => Some(tick),
            Contention::Idle
            | Contention::Frozen { .. }
            | Contention::Transmit
            | Contention::AwaitAck { .. } => None,
        }
    }

    /// When an opportunity that begins at `now` ends.
    pub fn limit_from(&self, now: Time) -> Time {
        let limit = self.access.txop_limit;
        limit.map_or(Time::NEVER, |limit| now + limit)
    }

    /// Nobody else has begun to send at `now`: the transmission opportunity begins.
    pub fn wins(&mut self, now: Time) {
        self.may_follow = self.access.txop_packets.map_or(u32::MAX, |most| most - 1);
        self.opportunity_ends = self.limit_from(now);
    }

    /// When the present transmission opportunity ends.
    pub fn opportunity_ends(&self) -> Time {
        self.opportunity_ends
    }

    /// After a response: whether the next exchange, whose response would end at `end`, follows in the
    /// same transmission opportunity.
    pub fn goes_on(&mut self, end: Time) -> bool {
        if self.may_follow == 0 || end > self.opportunity_ends {
            return false;
        }
        self.may_follow -= 1;
        self.state = Contention::Transmit;
        true
    }

    /// After a response, with nothing more to send: whether a CF-End frame that would end at `end` ends
    /// the transmission opportunity.
    pub fn closes(&self, end: Time) -> bool {
        self.access.txop_limit.is_some() && end <= self.opportunity_ends
    }

    /// The node has something to send, and had nothing before; returns whether it is sent at once.
    pub fn has_something(&mut self, draws: &mut dyn Draws) -> bool {
        // There was nothing to send, so this is post-backoff, running or over.
        match &mut self.state {
            Contention::Idle => {
                self.state = Contention::Transmit;
                return true;
            }
            Contention::Defer {
                slots: slots @ None,
                ..
            }
            | Contention::Frozen {
                slots: slots @ None,
            } => {
                *slots = Some(draws.backoff(self.who, self.cw));
            }
            // Post-backoff goes on as the packet's backoff. The other states have a packet.
            _ => {}
        }
        false
    }

    /// `deadline` has come, `something` is there to send or not; returns whether the node transmits now.
    pub fn count_down(&mut self, something: bool) -> bool {
        let (now, slots) = match self.state {
            Contention::Defer { until, slots } => (until, slots.unwrap_or(0)),
            Contention::Backoff { tick, slots } => (tick, slots - 1),
            state => unreachable!("no countdown in {state:?}"),
        };
        self.state = match (slots, something) {
            (0, false) => Contention::Idle,
            (0, true) => Contention::Transmit,
            _ => Contention::Backoff {
                tick: now + self.slot,
                slots,
            },
        };
        self.state == Contention::Transmit
    }

    /// Another node begins to send.
    pub fn medium_busy(&mut self, something: bool) {
        self.state = match self.state {
            Contention::Idle => Contention::Frozen { slots: None },
            Contention::Defer { slots, .. } => Contention::Frozen { slots },
            Contention::Backoff { slots, .. } => {
                // `slots` counts slots that have ended; an EDCA counter fell when this one began
                let begun = u32::from(self.rule == CountdownRule::Edca);
                let run_out = !something && slots == begun;
                Contention::Frozen {
                    slots: (!run_out).then(|| slots - begun),
                }
            }
            Contention::Transmit => Contention::Transmit,
            state => unreachable!("medium busy again in {state:?}"),
        };
    }

    /// The medium falls idle at `now`, after a good frame or after one that only its senders
    /// could read (`eifs_lead`). Returns what the node's own attempt came to, if it failed.
    pub fn medium_idle(
        &mut self,
        now: Time,
        eifs_lead: Option<Span>,
        draws: &mut dyn Draws,
    ) -> Option<Failed> {
        let eifs = now + eifs_lead.unwrap_or(Span::ZERO);
        let (resume, slots, failed) = match self.state {
            Contention::Frozen { slots } => (eifs, slots, None),
            // Settling the failure before the node knows of it changes nothing but the room in the queue
            // after a discard.
            Contention::AwaitAck { until, after_cts } => {
                let failed = self.failed(after_cts);
                (
                    until.map_or(eifs, |until| until.max(now)),
                    Some(draws.backoff(self.who, self.cw)),
                    Some(failed),
                )
            }
            state => unreachable!("medium falls idle in {state:?}"),
        };
        self.state = Contention::Defer {
            until: resume + self.aifs,
            slots,
        };
        failed
    }

    /// A higher category of the node sends instead: as if collided, but the medium is busy at once.
    pub fn yields(&mut self, draws: &mut dyn Draws) -> Failed {
        let failed = self.failed(false);
        self.post_backoff(draws);
        failed
    }

    /// Own exchange succeeded: post-backoff begins whether or not something waits.
    pub fn succeeded(&mut self, draws: &mut dyn Draws) {
        self.start_afresh();
        self.post_backoff(draws);
    }

    fn post_backoff(&mut self, draws: &mut dyn Draws) {
        self.state = Contention::Frozen {
            slots: Some(draws.backoff(self.who, self.cw)),
        };
    }

    /// Own attempt failed: a wider window, or at the limit of attempts the smallest again.
    fn failed(&mut self, after_cts: bool) -> Failed {
        let (attempts, limit) = if after_cts {
            (&mut self.long_attempts, self.attempts_long)
        } else {
            (&mut self.short_attempts, self.attempts_short)
        };
        *attempts += 1;
        let at_limit = *attempts >= limit;
        if at_limit {
            self.start_afresh();
        } else {
            self.cw = (2 * (self.cw + 1) - 1).min(self.access.cwmax);
        }
        Failed { at_limit }
    }

    fn start_afresh(&mut self) {
        self.cw = self.access.cwmin;
        self.short_attempts = 0;
        self.long_attempts = 0;
    }
}
