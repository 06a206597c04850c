//! Contention of one node in one access category, modelled as the state machine of the standard.

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::{Access, Category, CountdownRule, Node as Settings};

/// A node (0 is the access point) and one of its access categories.
pub type Who = (u32, Category);

/// State of a node's contention. `slots` is the backoff counter; it is `None` after the counter has run out
/// and there was nothing to send.
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
    /// Medium idle for AIFS (EIFS) or longer, backoff counter expired, nothing to send.
    Idle,
    /// Medium idle, but not yet for AIFS (EIFS); the countdown begins at `until`.
    Defer { until: Time, slots: Option<u32> },
    /// Countdown of the backoff: at time `tick` the counter falls by one slot.
    Backoff { tick: Time, slots: u32 },
    /// Medium busy; the counter keeps its value.
    Frozen { slots: Option<u32> },
    /// An exchange of the node is on the air.
    Transmit,
    /// The node's frame has ended and no response comes, so that the attempt has failed. The node detects the failure
    /// at `until`: by default one AIFS before the other nodes' EIFS ends. `after_cts` says whether the frame was a
    /// data frame after a CTS.
    AwaitAck {
        until: Option<Time>,
        after_cts: bool,
    },
}

/// Effect of a failed attempt on the contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Whether the attempt was the last one that the attempt limit allows.
    pub at_limit: bool,
}

/// Source of the random numbers of a node.
pub trait Draws {
    /// Returns a uniform integer on `[0, cw]` from the stream of `who`.
    fn backoff(&mut self, who: Who, cw: u32) -> u32;
    /// Returns whether channel errors destroy the data frame that `from` has just sent to node `to`.
    fn corrupted(&mut self, from: Who, to: u32) -> bool;
}

/// Contention state of a node in one access category: contention window, attempts, backoff counter, TXOP. The queue is
/// modelled elsewhere.
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
    /// Number of packets that the node may still send in the present TXOP.
    may_follow: u32,
    /// End of the present TXOP.
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

    /// Returns the end of the AIFS, slot or time-out for which the node waits.
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

    /// Returns the end of a TXOP that begins at `now`.
    pub fn limit_from(&self, now: Time) -> Time {
        let limit = self.access.txop_limit;
        limit.map_or(Time::NEVER, |limit| now + limit)
    }

    /// Begins a TXOP at `now`, if no other node has begun to send.
    pub fn wins(&mut self, now: Time) {
        self.may_follow = self.access.txop_packets.map_or(u32::MAX, |most| most - 1);
        self.opportunity_ends = self.limit_from(now);
    }

    /// Returns the end of the present TXOP.
    pub fn opportunity_ends(&self) -> Time {
        self.opportunity_ends
    }

    /// Returns, after a response, whether the next exchange follows in the same TXOP. `end` is the end of the next
    /// exchange's response.
    pub fn goes_on(&mut self, end: Time) -> bool {
        if self.may_follow == 0 || end > self.opportunity_ends {
            return false;
        }
        self.may_follow -= 1;
        self.state = Contention::Transmit;
        true
    }

    /// Returns whether the node may end its TXOP early with a CF-End frame, after all its packets are sent. `end` is
    /// the end of this frame.
    pub fn closes(&self, end: Time) -> bool {
        self.access.txop_limit.is_some() && end <= self.opportunity_ends
    }

    /// Notes that a packet has arrived at a node whose queue was empty. Returns whether the node transmits immediately.
    pub fn has_something(&mut self, draws: &mut dyn Draws) -> bool {
        // The node had nothing to send, so that its counter is the counter of post-backoff, running or expired.
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
            // Nothing changes: a running post-backoff continues as the packet's backoff. In all other states the node
            // had a packet before.
            _ => {}
        }
        false
    }

    /// Handles the end of the AIFS or slot that `deadline` returns. `something` says whether the node has a packet to
    /// send. Returns whether the node transmits now.
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

    /// Notes that another node begins to send.
    pub fn medium_busy(&mut self, something: bool) {
        self.state = match self.state {
            Contention::Idle => Contention::Frozen { slots: None },
            Contention::Defer { slots, .. } => Contention::Frozen { slots },
            Contention::Backoff { slots, .. } => {
                // `slots` is decremented at the end of each slot, but the counter of EDCA at the start, so that a slot
                // that has begun is subtracted
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

    /// Notes that the medium becomes idle at `now`. After frames that the other nodes could not read, `eifs_lead` is
    /// the time that EIFS adds to AIFS. Returns the failure of the node's own attempt, if it failed.
    pub fn medium_idle(
        &mut self,
        now: Time,
        eifs_lead: Option<Span>,
        draws: &mut dyn Draws,
    ) -> Option<Failed> {
        let eifs = now + eifs_lead.unwrap_or(Span::ZERO);
        let (resume, slots, failed) = match self.state {
            Contention::Frozen { slots } => (eifs, slots, None),
            // The oracle handles the failure immediately, and not after the time-out with which a node detects it. The
            // only effect is that a discarded packet leaves the queue earlier.
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

    /// Handles an internal collision, in which a higher category of the node sends. The node acts as after a collision,
    /// but the medium is busy immediately.
    pub fn yields(&mut self, draws: &mut dyn Draws) -> Failed {
        let failed = self.failed(false);
        self.post_backoff(draws);
        failed
    }

    /// Handles the end of a successful exchange: post-backoff begins, whether or not another packet waits.
    pub fn succeeded(&mut self, draws: &mut dyn Draws) {
        self.start_afresh();
        self.post_backoff(draws);
    }

    fn post_backoff(&mut self, draws: &mut dyn Draws) {
        self.state = Contention::Frozen {
            slots: Some(draws.backoff(self.who, self.cw)),
        };
    }

    /// Handles a failed attempt: doubles the contention window, or resets the window at the attempt limit.
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
