//! What comes next: for a packet, for an endpoint.

use crate::packet::Packet;

/// What comes next for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It goes on its way, which it has begun or not.
    GoesOn,
    /// It enters a queue of the radio.
    OnAir(u32),
    /// It has come to its endpoint.
    Arrived,
    /// It came to the sender, which may send all it has leave for.
    LetsGo,
    /// It answered a ping.
    Pong,
    /// It is lost.
    Lost,
    /// A link or a queue has it, or it is no more.
    UnderWay,
}

/// What an endpoint to which something has happened wants to send.
pub(super) enum Wants {
    Nothing,
    /// A packet.
    Packet(Packet),
    /// All that the TCP sender of this flow may send.
    All(usize),
    /// As much as this queue of the radio takes.
    Fill(u32),
}
