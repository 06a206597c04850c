//! What comes next: for a packet, for an endpoint.

use super::greedy::Filled;
use crate::packet::Packet;

/// What a packet that goes on its way comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It enters a queue of the radio.
    OnAir(u32),
    /// The endpoint that it is for.
    Arrived,
    /// It is lost.
    Lost,
    /// A link or a queue has it, or it has come to an endpoint ahead of time.
    UnderWay,
}

/// What an endpoint does with a packet that has come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It keeps the packet.
    Kept,
    /// It answers: the answer has taken the packet's place.
    Answered,
    /// It may send, as far as the packet lets it.
    LetsGo,
    /// It has the answer to a ping.
    Pong,
}

/// What an endpoint to which something has happened wants to send.
pub(super) enum Wants {
    Nothing,
    /// A packet.
    Packet(Packet),
    /// All that the TCP sender of this flow may send.
    All(usize),
    /// Datagrams of greedy sources until this queue is full.
    Fill(Filled),
}
