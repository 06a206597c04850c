//! Frame exchanges: the frames that contenders pass to the medium, and the results of exchanges.

use super::{NodeId, Rates};
use crate::kernel::time::{Span, Time};

/// Result of a transmission attempt, as the sender learns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxStatus {
    /// The data were acknowledged.
    Acked,
    /// The data were sent but not acknowledged.
    Failed,
    /// The RTS collided, so that no data were sent.
    RtsFailed,
}

/// A data frame that a contender passes to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Node that receives the frame.
    pub to: NodeId,
    /// Length of the IP packet in the frame. [bytes]
    pub ip_bytes: u32,
    /// Kind of the IP packet in the frame.
    pub content: Content,
}

/// An exchange that a contender plans to send. With aggregates, the contents are chosen when the
/// exchange begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlannedExchange {
    /// Node that receives the data.
    pub to: NodeId,
    /// Rates of the frames of the exchange.
    pub rates: Rates,
    /// Whether RTS and CTS precede the data.
    pub protect: bool,
    /// Air time of an RTS.
    pub rts_air: Span,
    /// Air time of a CTS.
    pub cts_air: Span,
    /// Air time of the data.
    pub data_air: Span,
    /// Air time of the response to the data.
    pub response_air: Span,
    /// EIFS minus AIFS after a lost RTS, and after lost data.
    pub eifs_leads: [Span; 2],
}

/// The shortest exchange with which a contender can begin, before the contents of the exchange are
/// chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimumExchange {
    /// Air time of the shortest data.
    pub data_air: Span,
    /// Air time of the response to the data.
    pub response_air: Span,
    /// Whether the contender gives up the data at its attempt limit.
    pub gives_up: bool,
}

/// Kind of the packet in a frame. Channel errors may depend on the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Payload of a transport protocol.
    Data,
    /// Acknowledgement of a transport protocol, without data.
    Ack,
}

/// Result of a medium event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has the frame. The sender dequeues the frame at the end of the MAC ACK, `done`.
    Delivered {
        /// Contender that sent the frame.
        from: u32,
        /// End of the MAC ACK.
        done: Time,
    },
    /// The frame of a single sender was lost to channel errors.
    Corrupted,
    /// Several nodes sent at the same time.
    Collided,
    /// No exchange has ended. An exchange begins, and its contents are chosen now.
    Begins,
}

/// Times of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Start of the first frame of the exchange.
    pub start: Time,
    /// End of the data frame; if frames collided, the end of the longest frame.
    pub end: Time,
    /// Whether the exchange is not the first exchange of its transmission opportunity.
    pub follows: bool,
}

/// A CF-End frame, which truncates a transmission opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CfEnd {
    /// Start of the frame, SIFS after the last MAC ACK.
    pub start: Time,
    /// Contender that held the transmission opportunity.
    pub from: u32,
    /// Rate of the frame. [bit/s]
    pub rate_bps: u64,
}
