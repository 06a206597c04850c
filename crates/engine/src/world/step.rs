//! The next step of a packet, and the next step of an endpoint.

use super::approach::Filled;
use crate::packet::Packet;

/// The next step of a packet after a movement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The packet must enter this queue in front of the radio channel.
    OnAir(u32),
    /// The packet arrives at its endpoint now.
    Arrived,
    /// The packet is lost.
    Lost,
    /// The packet waits for an event on a link or in a queue, or an endpoint with lookahead has
    /// already processed the packet. In both cases nothing more is to be done now.
    UnderWay,
}

/// The reaction of an endpoint to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The endpoint sends nothing.
    Consumed,
    /// The endpoint replies. The packet has been replaced by the reply.
    Acked,
    /// The TCP sender sends a segment, which has replaced the packet, and may send more segments.
    WindowOpened,
    /// The packet is the reply to a ping of the virtual shared bottleneck.
    PingReply,
}

/// The packets that an endpoint must send after an event.
pub(super) enum Wants {
    Nothing,
    /// A single packet.
    Packet(Packet),
    /// All packets that the TCP sender of this flow may send.
    All(usize),
    /// Datagrams of greedy sources, until this queue is full.
    Fill(Filled),
}
