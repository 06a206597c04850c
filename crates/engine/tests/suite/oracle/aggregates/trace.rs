//! Trace of events in a cell with aggregation.

use lasthop_engine::kernel::time::Time;

use super::super::contention::Who;
use super::sender::Sent;

/// Outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Collided,
    /// Numbers of the MPDUs that were received: none after a BlockAckReq, and none of a PPDU that channel errors have
    /// destroyed.
    Received(Vec<u32>),
}

/// One attempt of a contender at an exchange, RTS/CTS included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub start: Time,
    pub who: Who,
    pub to: u32,
    pub sent: Sent,
    pub rts: bool,
    pub outcome: Outcome,
}

/// All events, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregateTrace {
    pub attempts: Vec<Attempt>,
    /// Packets delivered: instant, receiver, packet.
    pub handed_up: Vec<(Time, u32, u32)>,
    /// Packets that left the queue because they were acknowledged: end of the response, sender, packet.
    pub acknowledged: Vec<(Time, Who, u32)>,
    /// Packets discarded: instant, sender, packet. The instant is the end of the PPDU of the last attempt. After a
    /// collision it is the end of the busy period, and after an internal collision the end of the winner's frame.
    pub given_up: Vec<(Time, Who, u32)>,
    /// Packets received and dropped, since the receiver no longer waited for them: end of the PPDU, receiver, packet.
    pub too_late: Vec<(Time, u32, u32)>,
    /// Packets that found the queue full: instant, sender, packet.
    pub refused: Vec<(Time, Who, u32)>,
    /// Packets that are still held after the last event: receiver, packet.
    pub held: Vec<(u32, u32)>,
}

impl AggregateTrace {
    /// Returns the trace with simultaneous events in order of nodes. Packets that one node delivers at one instant keep
    /// their order.
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
