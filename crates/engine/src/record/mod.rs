//! Recorded time series, and recorded frames on the air, of a replication.

mod backoffs;
mod columns;
mod exchange;
mod frames;
mod ppdu;
mod series;

use serde::Serialize;

use crate::kernel::time::{Span, Time};
use crate::mac::dcf::Outcome;
use crate::mac::ppdu::Modulation;
use crate::mac::{NodeId, Phy};
use crate::packet::Packet;

pub use columns::frames_json;
pub use frames::FrameLog;
pub use ppdu::{Mpdu, Ppdu, sequence_number};
pub(crate) use series::Present;
pub use series::{Series, Track};

/// Type of a frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// Data frame: a frame with an IP packet, or a PPDU with one or several MPDUs.
    Data,
    /// MAC ACK.
    Ack,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// CF-End frame, which ends a transmission opportunity before its limit.
    CfEnd,
    /// BlockAck: the response to several MPDUs, or to a BlockAckReq.
    BlockAck,
    /// BlockAckReq: a request for a BlockAck. After this request, the receiver no longer waits for
    /// MPDUs that the sender has discarded.
    BlockAckReq,
}

/// Result of the transmission of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// The frame was received; a PPDU counts as received if at least one of its MPDUs was received.
    Delivered,
    /// The frame was sent while another node was sending.
    Collided,
    /// The frame was lost to channel errors.
    Corrupted,
    /// The frame collided, and was discarded at the attempt limit.
    #[serde(rename = "collided")]
    CollidedAndDiscarded,
    /// The frame was lost to channel errors, and was discarded at the attempt limit.
    #[serde(rename = "corrupted")]
    CorruptedAndDiscarded,
}

/// A frame on the air. In a cell that aggregates, a data frame is a PPDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// Start of the frame.
    pub at: Time,
    /// Node that sends the frame.
    pub from: NodeId,
    /// Node that receives the frame. A CF-End has no single receiver: the value is the access
    /// point.
    pub to: NodeId,
    /// Type of the frame.
    pub kind: FrameKind,
    /// IP packet of a data frame, or of the data frame after an RTS; the first packet if a PPDU
    /// contains several.
    pub packet: Option<Packet>,
    /// Length of the frame, including MAC header and FCS; for a PPDU the length of the PSDU.
    /// [bytes]
    pub bytes: u32,
    /// Rate of the frame. [bit/s]
    pub rate_bps: u64,
    /// Number of the transmission attempt, counted from 1. For a PPDU with several MPDUs, this is
    /// the largest attempt number of the MPDUs.
    pub attempt: u32,
    /// Result of the transmission of the frame.
    pub fate: Fate,
    /// Number of idle slots of the backoff that the sender drew and counted down before the frame.
    /// `None` for a frame without backoff: a response, a later frame of a TXOP, or a frame with
    /// immediate access.
    pub backoff: Option<u32>,
    /// Duration field: time for which the frame reserves the medium after its end.
    pub reserves: Span,
    /// Further fields of data frames and BlockAckReqs in a cell that aggregates.
    pub ppdu: Option<Box<Ppdu>>,
}

impl FrameRecord {
    /// Returns the record of a control frame that was received.
    fn control(
        kind: FrameKind,
        at: Time,
        [from, to]: [NodeId; 2],
        bytes: u32,
        rate_bps: u64,
    ) -> Self {
        FrameRecord {
            at,
            from,
            to,
            kind,
            packet: None,
            bytes,
            rate_bps,
            attempt: 1,
            fate: Fate::Delivered,
            backoff: None,
            reserves: Span::ZERO,
            ppdu: None,
        }
    }

    /// Returns the air time of the frame.
    pub fn air_time(&self, phy: &Phy) -> Span {
        match &self.ppdu {
            Some(ppdu) => ppdu.air_time,
            None => phy.airtime(self.bytes, self.rate_bps),
        }
    }

    /// Returns the number of frames in this record: the number of MPDUs for an aggregate, 1 for
    /// other frames.
    pub fn count(&self) -> usize {
        self.mpdus().len().max(1)
    }

    /// Returns the MPDUs of the frame; an empty list unless the frame is a data frame of a cell
    /// that aggregates.
    pub fn mpdus(&self) -> &[Mpdu] {
        self.ppdu.as_ref().map_or(&[], |ppdu| &ppdu.mpdus)
    }

    /// Returns the modulation of the frame; `None` for a frame of 802.11a, b or g.
    pub fn modulation(&self) -> Option<&Modulation> {
        self.ppdu.as_ref()?.modulation.as_ref()
    }

    /// Returns whether the frame, or one of its MPDUs, was discarded at the attempt limit.
    pub fn is_discarded(&self) -> bool {
        self.fate.is_discarded() || self.mpdus().iter().any(|mpdu| mpdu.is_discarded)
    }
}

impl Fate {
    /// Returns the result for a frame of an exchange with this `outcome`.
    fn of(outcome: Outcome, is_discarded: bool) -> Fate {
        match (outcome, is_discarded) {
            (Outcome::Delivered { .. }, _) => Fate::Delivered,
            (Outcome::Collided | Outcome::Begins, false) => Fate::Collided,
            (Outcome::Collided | Outcome::Begins, true) => Fate::CollidedAndDiscarded,
            (Outcome::Corrupted, false) => Fate::Corrupted,
            (Outcome::Corrupted, true) => Fate::CorruptedAndDiscarded,
        }
    }

    /// Returns whether the frame collided.
    fn is_collided(self) -> bool {
        matches!(self, Fate::Collided | Fate::CollidedAndDiscarded)
    }

    /// Returns whether the frame was discarded at the attempt limit.
    pub fn is_discarded(self) -> bool {
        matches!(
            self,
            Fate::CollidedAndDiscarded | Fate::CorruptedAndDiscarded
        )
    }
}
