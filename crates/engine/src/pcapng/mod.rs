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
//! - The engine counts segments; the capture shows bytes. Both ends start at sequence number 0
//!   with a SYN outside the capture, payload is zeros, and one MSS is a segment's share of the
//!   sequence space.
//! - Stations are 10.0.0.1 and up, the server is 198.18.0.1 (RFC 2544) on port 9 (discard), a
//!   virtual shared bottleneck pings from 198.19.255.254.
//! - Headers are the standard ones of the size nearest to the scenario's; where the engine
//!   counts other bytes on the air than the capture shows, a comment says so.

mod block;
mod ip;
mod radiotap;
mod wlan;

pub use self::ip::{folded, sum_of};
use crate::record::{Fate, FrameRecord};
use crate::scenario::Scenario;

/// Writes a whole capture of `frames`, in the order given, piece by piece into `sink`.
///
/// # Errors
/// Stops at the first error of `sink` and returns it.
pub fn write<'a, E>(
    scenario: &Scenario,
    frames: impl IntoIterator<Item = &'a FrameRecord>,
    sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut headers = Vec::new();
    block::section_header(&mut headers, &scenario.name);
    block::interface(&mut headers, radiotap::LINK_TYPE);
    sink(&headers)?;

    let addresses = ip::Addresses::new(scenario);
    let mut cell = wlan::Cell::new(scenario);
    let mut frame_bytes = Vec::new();
    let mut packet_block = Vec::new();
    for frame in frames {
        frame_bytes.clear();
        radiotap::header(&mut frame_bytes, frame.rate_bps);
        let start = frame_bytes.len();
        cell.frame(&mut frame_bytes, frame, &addresses);
        let comment = comment(frame, frame_bytes.len() - start);
        packet_block.clear();
        block::packet(&mut packet_block, frame.at.0, &frame_bytes, &comment);
        sink(&packet_block)?;
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
