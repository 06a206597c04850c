//! The packets of an adaptive video: their sizes, the parts of frames, and the feedback.

use crate::kernel::time::{Span, Time};

/// Largest payload of a datagram: an RTP packet (`kVideoMtu`). [bytes]
pub const PAYLOAD_BYTES: u32 = 1_200;

/// Time between two frames of the video.
pub const FRAME: Span = Span(33_333_333);

/// A part of a frame, which one packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) frame: u32,
    pub(super) index: u16,
}

/// The content of a feedback packet.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// Numbers of packets, and their arrival times; `None` for a lost packet.
    pub(super) packets: Vec<(u32, Option<Time>)>,
    /// Parts that must be sent again.
    pub(super) wanted: Vec<Part>,
    /// Whether the next frame must be a key frame.
    pub(super) key_wanted: bool,
}
