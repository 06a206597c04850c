//! The next step of a packet and of an endpoint.

use super::approach::Filled;
use crate::packet::Packet;

/// The next step of a packet that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It enters this queue of the radio.
    OnAir(u32),
    /// It arrives at its endpoint.
    Arrived,
    /// It is lost.
    Lost,
    /// It is in a link or a queue, or an endpoint with lookahead has it.
    UnderWay,
}

/// The effect of a packet on its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The endpoint consumes the packet.
    Consumed,
    /// The endpoint replies: the reply has taken the place of the packet.
    Acked,
    /// The sender may send more.
    WindowOpened,
    /// The packet is the reply to a ping.
    PingReply,
}

/// The packets that an endpoint sends after an event.
pub(super) enum Wants {
    Nothing,
    /// A packet.
    Packet(Packet),
    /// All packets that the TCP sender of this flow may send.
    All(usize),
    /// Datagrams of greedy sources until this queue is full.
    Fill(Filled),
}
