//! What the medium is given to send, and what came of it.

use crate::kernel::time::Time;

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
