//! Frame records as a pcapng capture that Wireshark opens: bytes in memory, no files.
//!
//! References: draft-ietf-opsawg-pcapng (blocks), radiotap.org (rate and channel),
//! IEEE 802.11-2020 clause 9 (frames), RFC 791, 768, 9293 (IPv4, UDP, TCP).
//!
//! What a reader of the capture should know:
//! - A frame's time stamp is its start on the air, in nanoseconds since the start of the run.
//! - Every frame carries what its transmitter sent, with a good FCS. What became of it, if it
//!   was not received, is a comment on the packet (`collided`, `corrupted`, and `discarded` where it was
//!   the last attempt).
//! - The engine counts segments; the capture shows bytes. Where hosts outside have sent them these are
//!   theirs; else both ends start at sequence number 0 with the SYN, payload is zeros, and one MSS is a
//!   segment's share of the sequence space.
//! - Stations are 10.0.0.1 and up, the server is 198.18.0.1 (RFC 2544) on port 9 (discard), a
//!   virtual shared bottleneck pings from 198.19.255.254.
//! - Headers are the standard ones of the size nearest to the scenario's; where the engine
//!   counts other bytes on the air than the capture shows, a comment says so.

mod block;
mod ip;
mod radiotap;
mod wlan;

pub use self::ip::{folded, sum_of};
use crate::packet::Packet;
use crate::record::{Fate, FrameRecord};
use crate::scenario::Scenario;

/// A capture that is being written.
pub struct Capture {
    addresses: ip::Addresses,
    cell: wlan::Cell,
    frame_bytes: Vec<u8>,
}

impl Capture {
    /// A capture of the scenario's cell, which begins with what is appended to `out`.
    pub fn begin(scenario: &Scenario, out: &mut Vec<u8>) -> Capture {
        block::section_header(out, &scenario.name);
        block::interface(out, radiotap::LINK_TYPE);
        Capture {
            addresses: ip::Addresses::new(scenario),
            cell: wlan::Cell::new(scenario),
            frame_bytes: Vec::new(),
        }
    }

    /// Appends a frame to `out`. A data frame has the IP packet that `sent` knows, or one that stands for it.
    pub fn frame(
        &mut self,
        out: &mut Vec<u8>,
        frame: &FrameRecord,
        sent: impl FnOnce(&Packet) -> Option<Vec<u8>>,
    ) {
        self.frame_bytes.clear();
        radiotap::header(&mut self.frame_bytes, frame.rate_bps);
        let start = self.frame_bytes.len();
        let addresses = &self.addresses;
        let packet = |out: &mut Vec<u8>, packet: &Packet| match sent(packet) {
            Some(bytes) => out.extend(bytes),
            None => addresses.packet(out, packet),
        };
        self.cell.frame(&mut self.frame_bytes, frame, packet);
        let comment = comment(frame, self.frame_bytes.len() - start);
        block::packet(out, frame.at.0, &self.frame_bytes, &comment);
    }
}

/// Writes a whole capture of `frames`, in the order given, piece by piece into `sink`.
///
/// # Errors
/// Stops at the first error of `sink` and returns it.
pub fn write<'a, E>(
    scenario: &Scenario,
    frames: impl IntoIterator<Item = &'a FrameRecord>,
    sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut piece = Vec::new();
    let mut capture = Capture::begin(scenario, &mut piece);
    sink(&piece)?;
    for frame in frames {
        piece.clear();
        capture.frame(&mut piece, frame, |_| None);
        sink(&piece)?;
    }
    Ok(())
}

/// A whole capture in memory, see [`write()`].
pub fn to_bytes<'a>(
    scenario: &Scenario,
    frames: impl IntoIterator<Item = &'a FrameRecord>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let result: Result<(), std::convert::Infallible> =
        write(scenario, frames, &mut |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        });
    match result {
        Ok(()) => bytes,
        Err(never) => match never {},
    }
}

/// What a reader could not see from the bytes: the fate, and a size on the air that standard
/// headers cannot show. Empty for a frame received as shown.
fn comment(frame: &FrameRecord, shown_bytes: usize) -> String {
    let fate = match frame.fate {
        Fate::Delivered => "",
        Fate::Collided => "collided",
        Fate::Corrupted => "corrupted",
        Fate::CollidedAndDiscarded => "collided, discarded",
        Fate::CorruptedAndDiscarded => "corrupted, discarded",
    };
    if shown_bytes == frame.bytes as usize {
        return fate.to_owned();
    }
    let separator = if fate.is_empty() { "" } else { "; " };
    format!("{fate}{separator}{} bytes on the air", frame.bytes)
}

#[cfg(test)]
mod tests;
