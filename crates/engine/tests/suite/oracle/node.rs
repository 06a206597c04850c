//! One node's contention for the medium in one access category, a rule of the standard at a time.

use std::collections::VecDeque;

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::{Access, Category, CountdownRule, Node as Settings};

/// A node, 0 the access point, and one of its access categories.
pub type Who = (u32, Category);

/// A packet for the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Number that names it in the trace.
    pub id: u32,
    /// Receiving node.
    pub to: u32,
    /// IP packet. [bytes]
    pub ip_bytes: u32,
    /// Size of the packet with which the receiver answers at once, if it does. [bytes]
    pub reply_bytes: Option<u32>,
}

/// What a node does about the medium. `slots` is the backoff counter; `None` once it has run out
/// and nothing was there to send.
///
/// ```text
/// Idle --packet--> Transmit                          (immediate access)
/// Idle, Defer, Backoff --medium busy--> Frozen --medium idle--> Defer
/// Defer --AIFS or EIFS over--> Backoff --slots run out--> Transmit, or Idle without a packet
/// Transmit --end of own frame--> AwaitAck, or --MAC ACK--> Frozen (post-backoff), or Transmit (TXOP)
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

/// Where the node's random numbers come from.
pub trait Draws {
    /// Uniform integer on `[0, cw]` from the stream of `who`.
    fn backoff(&mut self, who: Who, cw: u32) -> u32;
    /// Whether channel errors spoil the data frame that `from` has just sent to node `to`.
    fn corrupted(&mut self, from: Who, to: u32) -> bool;
}

/// A node in one category: queue, window, attempts, contention.
#[derive(Debug)]
pub struct Node {
    pub who: Who,
    access: Access,
    attempts_short: u32,
    attempts_long: u32,
    queue_packets: usize,
    aifs: Span,
    slot: Span,
    rule: CountdownRule,
    cw: u32,
    short_attempts: u32,
    long_attempts: u32,
    /// Whether the packet at the head has been on the air.
    sent: bool,
    /// Whether the packet at the head was given up in an internal collision.
    doomed: bool,
    /// Packets that may follow in the present transmission opportunity.
    may_follow: u32,
    /// When the present transmission opportunity ends.
    opportunity_ends: Time,
    pub contention: Contention,
    pub queue: VecDeque<Packet>,
}

impl Node {
    pub fn new(who: Who, settings: &Settings, aifs: Span, slot: Span, rule: CountdownRule) -> Node {
        let access = *settings.access(who.1);
        Node {
            who,
            access,
            attempts_short: settings.attempts_short,
            attempts_long: settings.attempts_long,
            queue_packets: settings.queue.limit_packets as usize,
            aifs,
            slot,
            rule,
            cw: access.cwmin,
            short_attempts: 0,
            long_attempts: 0,
            sent: false,
            doomed: false,
            may_follow: 0,
            opportunity_ends: Time::ZERO,
            contention: Contention::Idle,
            queue: VecDeque::new(),
        }
    }

    /// The end of the wait or of the slot that the node counts, on an idle medium.
    pub fn deadline(&self) -> Option<Time> {
        match self.contention {
            Contention::Defer { until, .. } => Some(until),
            Contention::Backoff { tick, .. } => Some(tick),
            Contention::Idle
            | Contention::Frozen { .. }
            | Contention::Transmit
            | Contention::AwaitAck { .. } => None,
        }
    }

    /// The head of the queue goes on the air; returns whether for another time.
    pub fn sends(&mut self) -> bool {
        std::mem::replace(&mut self.sent, true)
    }

    /// Nobody else has begun to send at `now`: the transmission opportunity begins.
    pub fn wins(&mut self, now: Time) {
        self.may_follow = self.access.txop_packets.map_or(u32::MAX, |most| most - 1);
        let limit = self.access.txop_limit;
        self.opportunity_ends = limit.map_or(Time::NEVER, |limit| now + limit);
    }

    /// After a MAC ACK: whether the next packet, whose MAC ACK would end at `end`, follows in the
    /// same transmission opportunity.
    pub fn goes_on(&mut self, end: Time) -> bool {
        if self.may_follow == 0 || end > self.opportunity_ends {
            return false;
        }
        self.may_follow -= 1;
        self.contention = Contention::Transmit;
        true
    }

    /// After a MAC ACK, with nothing more to send: whether a CF-End frame that would end at `end` ends
    /// the transmission opportunity.
    pub fn closes(&self, end: Time) -> bool {
        self.access.txop_limit.is_some() && end <= self.opportunity_ends
    }

    /// A packet arrives; returns whether it found room and whether it is sent at once.
    pub fn arrival(&mut self, packet: Packet, draws: &mut dyn Draws) -> (bool, bool) {
        if self.queue.len() >= self.queue_packets {
            return (false, false);
        }
        self.queue.push_back(packet);
        if self.queue.len() > 1 {
            return (true, false);
        }
        // The queue was empty, so this is post-backoff, running or over.
        match &mut self.contention {
            Contention::Idle => {
                self.contention = Contention::Transmit;
                return (true, true);
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
        (true, false)
    }

    /// `deadline` has come; returns whether the node transmits now.
    pub fn count_down(&mut self) -> bool {
        let (now, slots) = match self.contention {
            Contention::Defer { until, slots } => (until, slots.unwrap_or(0)),
            Contention::Backoff { tick, slots } => (tick, slots - 1),
            state => unreachable!("no countdown in {state:?}"),
        };
        self.contention = match (slots, self.queue.is_empty()) {
            (0, true) => Contention::Idle,
            (0, false) => Contention::Transmit,
            _ => Contention::Backoff {
                tick: now + self.slot,
                slots,
            },
        };
        self.contention == Contention::Transmit
    }

    /// Another node begins to send.
    pub fn medium_busy(&mut self) {
        self.contention = match self.contention {
            Contention::Idle => Contention::Frozen { slots: None },
            Contention::Defer { slots, .. } => Contention::Frozen { slots },
            Contention::Backoff { slots, .. } => {
                // `slots` counts slots that have ended; an EDCA counter fell when this one began
                let begun = u32::from(self.rule == CountdownRule::Edca);
                let run_out = self.queue.is_empty() && slots == begun;
                Contention::Frozen {
                    slots: (!run_out).then(|| slots - begun),
                }
            }
            Contention::Transmit => Contention::Transmit,
            state => unreachable!("medium busy again in {state:?}"),
        };
    }

    /// The medium falls idle at `now`, after a good frame or after one that only its senders
    /// could read (`eifs_lead`). Returns the node's packet if it is discarded now.
    pub fn medium_idle(
        &mut self,
        now: Time,
        eifs_lead: Option<Span>,
        draws: &mut dyn Draws,
    ) -> Option<Packet> {
        let eifs = now + eifs_lead.unwrap_or(Span::ZERO);
        let (resume, slots, discarded) = match self.contention {
            Contention::Frozen { slots } => (eifs, slots, None),
            // Settling the failure before the node knows of it changes nothing but the room in the queue
            // after a discard.
            Contention::AwaitAck { until, after_cts } => {
                let discarded = self.failed(after_cts).then(|| self.leave());
                (
                    until.map_or(eifs, |until| until.max(now)),
                    Some(draws.backoff(self.who, self.cw)),
                    discarded,
                )
            }
            state => unreachable!("medium falls idle in {state:?}"),
        };
        self.contention = Contention::Defer {
            until: resume + self.aifs,
            slots,
        };
        discarded
    }

    /// A higher category of the node sends instead: as if collided, but the medium is busy at once.
    pub fn yields(&mut self, draws: &mut dyn Draws) {
        self.doomed = self.failed(false);
        self.contention = Contention::Frozen {
            slots: Some(draws.backoff(self.who, self.cw)),
        };
    }

    /// The exchange of the higher category is over: the packet that was given up for it leaves.
    pub fn settle(&mut self) -> Option<Packet> {
        std::mem::take(&mut self.doomed).then(|| self.leave())
    }

    /// Own exchange succeeded: the packet leaves, post-backoff begins whether or not another waits.
    pub fn acknowledged(&mut self, draws: &mut dyn Draws) {
        self.leave();
        self.start_afresh();
        self.contention = Contention::Frozen {
            slots: Some(draws.backoff(self.who, self.cw)),
        };
    }

    /// Own attempt failed: a wider window, or the end of the packet, which is then true.
    fn failed(&mut self, after_cts: bool) -> bool {
        let (attempts, limit) = if after_cts {
            (&mut self.long_attempts, self.attempts_long)
        } else {
            (&mut self.short_attempts, self.attempts_short)
        };
        *attempts += 1;
        let given_up = *attempts >= limit;
        if given_up {
            self.start_afresh();
        } else {
            self.cw = (2 * (self.cw + 1) - 1).min(self.access.cwmax);
        }
        given_up
    }

    fn start_afresh(&mut self) {
        self.cw = self.access.cwmin;
        self.short_attempts = 0;
        self.long_attempts = 0;
    }

    /// The head of the queue is done with, for better or worse.
    fn leave(&mut self) -> Packet {
        self.sent = false;
        self.queue
            .pop_front()
            .expect("a node that transmits has a packet")
    }
}
