//! One node's contention for the medium, a rule of the standard at a time.

use std::collections::VecDeque;

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::Node as Access;

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
/// Transmit --end of own frame--> AwaitAck, or --MAC ACK--> Frozen (post-backoff)
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
    /// Uniform integer on `[0, cw]` from the stream of `node`.
    fn backoff(&mut self, node: u32, cw: u32) -> u32;
    /// Whether channel errors spoil the data frame that `from` has just sent to `to`.
    fn corrupted(&mut self, from: u32, to: u32) -> bool;
}

/// A node: queue, window, attempts, contention.
#[derive(Debug)]
pub struct Node {
    index: u32,
    access: Access,
    aifs: Span,
    slot: Span,
    cw: u32,
    short_attempts: u32,
    long_attempts: u32,
    pub contention: Contention,
    pub queue: VecDeque<Packet>,
}

impl Node {
    pub fn new(index: u32, access: &Access, aifs: Span, slot: Span) -> Node {
        Node {
            index,
            access: access.clone(),
            aifs,
            slot,
            cw: access.cwmin,
            short_attempts: 0,
            long_attempts: 0,
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

    /// Whether the packet at the head has failed before.
    pub fn retries(&self) -> bool {
        self.short_attempts + self.long_attempts > 0
    }

    /// A packet arrives; returns whether it found room and whether it is sent at once.
    pub fn arrival(&mut self, packet: Packet, draws: &mut dyn Draws) -> (bool, bool) {
        if self.queue.len() >= self.access.queue_packets as usize {
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
                *slots = Some(draws.backoff(self.index, self.cw));
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
            Contention::Backoff { slots, .. } => Contention::Frozen { slots: Some(slots) },
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
            // To settle the failure before the node knows of it shows in nothing but the room in
            // the queue after a discard.
            Contention::AwaitAck { until, after_cts } => {
                let discarded = self.failed(after_cts);
                (
                    until.map_or(eifs, |until| until.max(now)),
                    Some(draws.backoff(self.index, self.cw)),
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

    /// Own exchange succeeded: the packet leaves, post-backoff begins whether or not another waits.
    pub fn acknowledged(&mut self, draws: &mut dyn Draws) -> Packet {
        let packet = self.leave();
        self.contention = Contention::Frozen {
            slots: Some(draws.backoff(self.index, self.cw)),
        };
        packet
    }

    /// Own attempt failed: a wider window, or the end of the packet.
    fn failed(&mut self, after_cts: bool) -> Option<Packet> {
        let (attempts, limit) = if after_cts {
            (&mut self.long_attempts, self.access.attempts_long)
        } else {
            (&mut self.short_attempts, self.access.attempts_short)
        };
        *attempts += 1;
        if *attempts >= limit {
            return Some(self.leave());
        }
        self.cw = (2 * (self.cw + 1) - 1).min(self.access.cwmax);
        None
    }

    /// The head of the queue is done with, for better or worse.
    fn leave(&mut self) -> Packet {
        self.cw = self.access.cwmin;
        self.short_attempts = 0;
        self.long_attempts = 0;
        self.queue
            .pop_front()
            .expect("a node that transmits has a packet")
    }
}
