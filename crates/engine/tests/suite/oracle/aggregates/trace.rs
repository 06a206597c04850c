//! What happened in a cell that aggregates.

use lasthop_engine::kernel::time::Time;

use super::super::contention::Who;
use super::sender::Sent;

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Collided,
    /// Numbers of the MPDUs that were received: none behind a BlockAckReq, and none of a PPDU that
    /// channel errors have destroyed.
    Received(Vec<u32>),
}

/// One contender's attempt at an exchange, RTS/CTS included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub start: Time,
    pub who: Who,
    pub to: u32,
    pub sent: Sent,
    pub rts: bool,
    pub outcome: Outcome,
}

/// Everything that happened, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregateTrace {
    pub attempts: Vec<Attempt>,
    /// Packets handed up: instant, receiver, packet.
    pub handed_up: Vec<(Time, u32, u32)>,
    /// Packets that left the queue acknowledged: end of the response, sender, packet.
    pub acknowledged: Vec<(Time, Who, u32)>,
    /// Packets given up: end of the PPDU of the last attempt (of the busy period after a collision, of the
    /// winner's frame after an internal one), sender, packet.
    pub given_up: Vec<(Time, Who, u32)>,
    /// Packets received and dropped, since the receiver waited for them no more: end of the PPDU,
    /// receiver, packet.
    pub too_late: Vec<(Time, u32, u32)>,
    /// Packets that found the queue full: instant, sender, packet.
    pub refused: Vec<(Time, Who, u32)>,
    /// Packets that are still held when nothing is left to happen: receiver, packet.
    pub held: Vec<(u32, u32)>,
}

impl AggregateTrace {
    /// The same with what happens at one instant in order of nodes. Packets that one node hands up at one
    /// instant stay in their order.
    pub fn in_order(mut self) -> AggregateTrace {
        self.attempts
            .sort_by_key(|attempt| (attempt.start, attempt.who));
        self.handed_up.sort_by_key(|&(at, node, _)| (at, node));
        self.acknowledged.sort_unstable();
        self.given_up.sort_unstable();
        self.too_late.sort_unstable();
        self.held.sort_unstable();
        self
    }
}
