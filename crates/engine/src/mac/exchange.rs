//! What the medium is given to send, and what came of it.

use super::Rates;
use crate::kernel::time::{Span, Time};

/// A data frame handed to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Receiving node.
    pub to: u32,
    /// Length of the IP packet inside. [bytes]
    pub ip_bytes: u32,
    /// What the packet is.
    pub content: Content,
}

/// What a contender sends in one exchange, if that is formed when it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Receiving node.
    pub to: u32,
    /// Its rates.
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
    /// What EIFS adds to AIFS behind an RTS that is lost, and behind data that are lost.
    pub eifs_leads: [Span; 2],
}

/// The shortest exchange with which a contender could go on, whose contents are formed when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prospect {
    /// Air time of its data.
    pub data_air: Span,
    /// Air time of the response.
    pub response_air: Span,
    /// Whether it is given up when the contender's attempts are used up.
    pub gives_up: bool,
}

/// What a frame carries: channel errors may tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Payload of a transport.
    Data,
    /// A transport's acknowledgement alone.
    Ack,
}

/// How the exchange that ended has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has the frame; its MAC ACK ends at `done`, and then the frame leaves its queue.
    Delivered {
        /// Node whose frame it was.
        from: u32,
        /// End of the MAC ACK.
        done: Time,
    },
    /// One frame was lost to channel errors.
    Corrupted,
    /// Several nodes sent at once.
    Collided,
    /// Nothing has ended: an exchange begins, whose contents are formed now.
    Begins,
}

/// When an exchange took place.
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
    /// Contender whose opportunity it was.
    pub from: u32,
    /// Its rate. [bit/s]
    pub rate_bps: u64,
}
