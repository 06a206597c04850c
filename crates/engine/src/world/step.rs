//! The next step of a packet and of an endpoint.

use super::approach::Filled;
use crate::packet::Packet;

/// The next step of a packet that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The packet enters this queue of the radio.
    OnAir(u32),
    /// The packet arrives at its endpoint.
    Arrived,
    /// The packet is lost.
    Lost,
    /// The packet is on a link, in a queue, or at an endpoint with lookahead.
    UnderWay,
}

/// The effect of a packet on its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The endpoint consumes the packet.
    Consumed,
    /// The endpoint replies, and the reply has replaced the packet.
    Acked,
    /// The sender may send more packets.
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
