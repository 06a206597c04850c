//! What a replication leaves behind beside what is measured: time series, frames on the air.

mod backoffs;
mod columns;
mod frames;
mod series;

use crate::kernel::time::{Span, Time};
use crate::mac::Phy;
use crate::packet::Packet;

pub use columns::frames_json;
pub use frames::FrameLog;
pub use series::{Series, Track};

/// Kind of a frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Data frame with an IP packet.
    Data,
    /// MAC ACK.
    Ack,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// End of a transmission opportunity before its limit.
    CfEnd,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Received.
    Delivered,
    /// Sent while another node sent.
    Collided,
    /// Lost to channel errors.
    Corrupted,
    /// Collided, and given up at the attempt limit.
    CollidedAndDiscarded,
    /// Lost to channel errors, and given up at the attempt limit.
    CorruptedAndDiscarded,
}

/// One frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// Start of the frame.
    pub at: Time,
    /// Sender: 0 is the AP, i + 1 is station i.
    pub from: u32,
    /// Receiver, numbered in the same way; a CF-End, which is for all, has the AP here.
    pub to: u32,
    /// What it is for.
    pub kind: FrameKind,
    /// The IP packet in a data frame, or announced by an RTS.
    pub packet: Option<Packet>,
    /// Length, MAC header and FCS included. [bytes]
    pub bytes: u32,
    /// Rate. [bit/s]
    pub rate_bps: u64,
    /// Attempt at the packet that it belongs to, from 1 on.
    pub attempt: u32,
    /// What became of it.
    pub fate: Fate,
    /// Idle slots that its sender had to count down before it, as they were drawn; `None` of a frame that
    /// had not to contend (an answer, one that follows in a transmission opportunity, immediate access).
    pub backoff: Option<u32>,
}

impl FrameRecord {
    /// How long it occupies the air.
    pub fn air_time(&self, phy: &Phy) -> Span {
        phy.airtime(self.bytes, self.rate_bps)
    }
}

impl Fate {
    /// Whether it was given up at the attempt limit.
    pub fn is_discarded(self) -> bool {
        matches!(
            self,
            Fate::CollidedAndDiscarded | Fate::CorruptedAndDiscarded
        )
    }
}
