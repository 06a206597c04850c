//! Trace of events in a cell with aggregation.

use lasthop_engine::kernel::time::Time;

use super::super::contention::Who;
use super::sender::Sent;

/// Outcome of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Collided,
    /// Sequence numbers of the MPDUs that were received. The list is empty after a BlockAckReq, or if channel errors
    /// destroyed the whole PPDU.
    Received(Vec<u32>),
}

/// One attempt of a contender to send an exchange, including RTS and CTS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub start: Time,
    pub who: Who,
    pub to: u32,
    pub sent: Sent,
    pub rts: bool,
    pub outcome: Outcome,
}

/// All events of a run, sorted by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AggregateTrace {
    pub attempts: Vec<Attempt>,
    /// Packets delivered, as (time, receiver, packet).
    pub handed_up: Vec<(Time, u32, u32)>,
    /// Packets that left the queue because they were acknowledged, as (end of the response, sender, packet).
    pub acknowledged: Vec<(Time, Who, u32)>,
    /// Packets discarded, as (time, sender, packet). The time is the end of the PPDU of the last attempt. After a
    /// collision it is the end of the busy period, and after an internal collision the end of the winner's frame.
    pub given_up: Vec<(Time, Who, u32)>,
    /// Packets that were received after the receiver had stopped waiting for them, and were dropped, as (end of the
    /// PPDU, receiver, packet).
    pub too_late: Vec<(Time, u32, u32)>,
    /// Packets dropped at a full queue, as (time, sender, packet).
    pub refused: Vec<(Time, Who, u32)>,
    /// Packets in reorder buffers after the last event, as (receiver, packet).
    pub held: Vec<(u32, u32)>,
}

impl AggregateTrace {
    /// Returns the trace with simultaneous events sorted by node. Packets that one node delivers at one instant keep
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
