//! Records of a replication in addition to its measures: time series, and frames on the air.

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

/// Kind of a frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// Data: a frame with an IP packet, or a PPDU with one MPDU or several.
    Data,
    /// MAC ACK.
    Ack,
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// End of a transmission opportunity before its limit.
    CfEnd,
    /// Response to several MPDUs, or to a BlockAckReq.
    BlockAck,
    /// BlockAckReq, after which the receiver no longer waits for MPDUs that were given up.
    BlockAckReq,
}

/// Result of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Received, with at least one MPDU of a PPDU.
    Delivered,
    /// Sent while another node sent.
    Collided,
    /// Lost to channel errors.
    Corrupted,
    /// Collided, and given up at the attempt limit.
    #[serde(rename = "collided")]
    CollidedAndDiscarded,
    /// Lost to channel errors, and given up at the attempt limit.
    #[serde(rename = "corrupted")]
    CorruptedAndDiscarded,
}

/// One frame on the air, which is one PPDU in a cell that aggregates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// Start of the frame.
    pub at: Time,
    /// Sender.
    pub from: NodeId,
    /// Receiver. For a CF-End, which is for all nodes, it is the access point.
    pub to: NodeId,
    /// Kind of the frame.
    pub kind: FrameKind,
    /// The IP packet in a data frame, or announced by an RTS; the first, if there are several.
    pub packet: Option<Packet>,
    /// Length, MAC header and FCS included; for a PPDU the length of the PSDU. [bytes]
    pub bytes: u32,
    /// Rate of the frame. [bit/s]
    pub rate_bps: u64,
    /// Number of the attempt at its packet, from 1 on; the largest number of several MPDUs.
    pub attempt: u32,
    /// Result of the frame.
    pub fate: Fate,
    /// Number of idle slots that its sender drew and counted down before it; `None` for a frame
    /// that did not contend (a response, a frame that follows in a TXOP, immediate access).
    pub backoff: Option<u32>,
    /// Time after its end for which it reserves the medium.
    pub reserves: Span,
    /// Further fields of data and BlockAckReqs of a cell that aggregates.
    pub ppdu: Option<Box<Ppdu>>,
}

impl FrameRecord {
    /// Returns a control frame that is received.
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

    /// Returns its air time.
    pub fn air_time(&self, phy: &Phy) -> Span {
        match &self.ppdu {
            Some(ppdu) => ppdu.air_time,
            None => phy.airtime(self.bytes, self.rate_bps),
        }
    }

    /// Returns the number of frames for which it counts: one for each MPDU of an aggregate.
    pub fn count(&self) -> usize {
        self.mpdus().len().max(1)
    }

    /// Returns its MPDUs, if it is data of a cell that aggregates.
    pub fn mpdus(&self) -> &[Mpdu] {
        self.ppdu.as_ref().map_or(&[], |ppdu| &ppdu.mpdus)
    }

    /// Returns its modulation; `None`: that of frames of 802.11a, b or g.
    pub fn modulation(&self) -> Option<&Modulation> {
        self.ppdu.as_ref()?.modulation.as_ref()
    }

    /// Returns whether the frame, or an MPDU of it, was given up at the attempt limit.
    pub fn is_discarded(&self) -> bool {
        self.fate.is_discarded() || self.mpdus().iter().any(|mpdu| mpdu.is_discarded)
    }
}

impl Fate {
    /// Returns the fate of a frame in an exchange with this outcome.
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

    /// Returns whether the frame was given up at the attempt limit.
    pub fn is_discarded(self) -> bool {
        matches!(
            self,
            Fate::CollidedAndDiscarded | Fate::CorruptedAndDiscarded
        )
    }
}
