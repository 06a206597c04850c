//! What a replication leaves behind beside what is measured: time series, frames on the air.

mod backoffs;
mod columns;
mod frames;
mod ppdu;
mod series;

use crate::kernel::time::{Span, Time};
use crate::mac::ppdu::Modulation;
use crate::mac::{NodeId, Phy};
use crate::packet::Packet;

pub use columns::frames_json;
pub use frames::FrameLog;
pub use ppdu::{Mpdu, Ppdu, sequence_number};
pub(crate) use series::Present;
pub use series::{Series, Track};

/// Kind of a frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Answer to several MPDUs, or to a BlockAckReq.
    BlockAck,
    /// Tells the receiver not to wait for what has been given up.
    BlockAckReq,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Received, of a PPDU at least one MPDU.
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

/// One frame on the air; in a cell that aggregates one PPDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// Start of the frame.
    pub at: Time,
    /// Sender.
    pub from: NodeId,
    /// Receiver. For a CF-End, which is for all nodes, it is the access point.
    pub to: NodeId,
    /// What it is for.
    pub kind: FrameKind,
    /// The IP packet in a data frame, or announced by an RTS; the first, if there are several.
    pub packet: Option<Packet>,
    /// Length, MAC header and FCS included; of a PPDU that of the PSDU. [bytes]
    pub bytes: u32,
    /// Rate. [bit/s]
    pub rate_bps: u64,
    /// Attempt at the packet that it belongs to, from 1 on; the most among several MPDUs.
    pub attempt: u32,
    /// What became of it.
    pub fate: Fate,
    /// Idle slots that its sender had to count down before it, as they were drawn; `None` of a frame that
    /// had not to contend (an answer, one that follows in a transmission opportunity, immediate access).
    pub backoff: Option<u32>,
    /// In a cell that aggregates: the time behind its end that it reserves.
    pub reserves: Option<Span>,
    /// What data and BlockAckReqs of a cell that aggregates have beyond that.
    pub ppdu: Option<Box<Ppdu>>,
}

impl FrameRecord {
    /// How long it occupies the air.
    pub fn air_time(&self, phy: &Phy) -> Span {
        match &self.ppdu {
            Some(ppdu) => ppdu.air_time,
            None => phy.airtime(self.bytes, self.rate_bps),
        }
    }

    /// How many frames it counts for: an aggregate has as many as MPDUs.
    pub fn count(&self) -> usize {
        self.mpdus().len().max(1)
    }

    /// Its MPDUs, if it is data of a cell that aggregates.
    pub fn mpdus(&self) -> &[Mpdu] {
        self.ppdu.as_ref().map_or(&[], |ppdu| &ppdu.mpdus)
    }

    /// How it is modulated, if not as a frame of 802.11a, b or g.
    pub fn modulation(&self) -> Option<&Modulation> {
        self.ppdu.as_ref()?.modulation.as_ref()
    }

    /// Whether it, or some of it, was given up at the attempt limit.
    pub fn is_discarded(&self) -> bool {
        self.fate.is_discarded() || self.mpdus().iter().any(|mpdu| mpdu.is_discarded)
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
