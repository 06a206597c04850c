//! Frame exchanges: frames that are handed to the medium, and results of exchanges.

use super::{NodeId, Rates};
use crate::kernel::time::{Span, Time};

/// Result of a transmission attempt, as its sender learns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxStatus {
    /// The data were acknowledged.
    Acked,
    /// The data were sent, and not acknowledged.
    Failed,
    /// The RTS collided, and no data were sent.
    RtsFailed,
}

/// A data frame handed to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Receiving node.
    pub to: NodeId,
    /// Length of the IP packet inside. [bytes]
    pub ip_bytes: u32,
    /// Kind of the packet.
    pub content: Content,
}

/// The exchange of one contender, whose contents are chosen when it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannedExchange {
    /// Receiving node.
    pub to: NodeId,
    /// Rates of its frames.
    pub rates: Rates,
    /// Whether RTS and CTS go first.
    pub protect: bool,
    /// Air time of an RTS.
    pub rts_air: Span,
    /// Air time of a CTS.
    pub cts_air: Span,
    /// Air time of the data.
    pub data_air: Span,
    /// Air time of the response.
    pub response_air: Span,
    /// EIFS less AIFS after a lost RTS, and after lost data.
    pub eifs_leads: [Span; 2],
}

/// The shortest exchange that a contender can begin with, before its contents are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumExchange {
    /// Air time of its data.
    pub data_air: Span,
    /// Air time of the response.
    pub response_air: Span,
    /// Whether the contender gives up the data at its attempt limit.
    pub gives_up: bool,
}

/// Kind of a packet in a frame: channel errors may differ between the kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Payload of a transport.
    Data,
    /// An acknowledgement of a transport, without data.
    Ack,
}

/// Result of a medium event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has the frame. The frame leaves its queue at the end of the MAC ACK, `done`.
    Delivered {
        /// Sending contender.
        from: u32,
        /// End of the MAC ACK.
        done: Time,
    },
    /// One frame was lost to channel errors.
    Corrupted,
    /// Several nodes sent simultaneously.
    Collided,
    /// No exchange has ended. An exchange begins, whose contents are chosen now.
    Begins,
}

/// Times of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Start of the first frame.
    pub start: Time,
    /// End of the data frame, or of the longest colliding frame.
    pub end: Time,
    /// Whether it followed another exchange in the same transmission opportunity.
    pub follows: bool,
}

/// A CF-End frame, which truncates a transmission opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CfEnd {
    /// Start of the frame, SIFS after the last MAC ACK.
    pub start: Time,
    /// Contender that held the opportunity.
    pub from: u32,
    /// Rate of the frame. [bit/s]
    pub rate_bps: u64,
}
