//! What a replication leaves behind: counters, time series, frames on the air.

mod frames;
mod series;

use crate::kernel::time::Time;
use crate::packet::Packet;

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
    /// Receiver, likewise; a CF-End, which is for all, has the AP here.
    pub to: u32,
    /// What it is for.
    pub kind: FrameKind,
    /// The IP packet in a data frame, or announced by an RTS.
    pub packet: Option<Packet>,
    /// Length, MAC header and FCS included. [bytes]
    pub bytes: u32,
    /// Rate. [bit/s]
    pub rate_bps: u64,
    /// Sent before.
    pub retry: bool,
    /// What became of it.
    pub fate: Fate,
}

/// Totals of one flow since the start of the run. Packets means segments or datagrams. Those that every
/// packet changes come first, in a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct FlowCounters {
    /// Packets sent, retransmissions included.
    pub sent: u64,
    /// Packets that reached the receiver, duplicates included.
    pub arrived: u64,
    /// Packets handed to the application, in order.
    pub delivered: u64,
    /// ACKs sent.
    pub acks_sent: u64,
    /// ACKs that reached the sender.
    pub acks_arrived: u64,
    /// Sum of round-trip samples (TCP) or one-way delays (UDP). [ns]
    pub delay_ns: u64,
    /// Number of those samples.
    pub delay_samples: u64,
    /// Time integral of cwnd. [packets ns]
    pub cwnd_ns: f64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// What the last segments of delivered web messages lack to full ones. [bytes]
    pub short_bytes: u64,
    /// Packets lost: full queues, wire, attempt limit.
    pub lost: u64,
    /// ACKs lost.
    pub acks_lost: u64,
}
