//! Converts frame records to a pcapng capture that Wireshark can open. The capture consists of
//! bytes in memory; this module writes no file.
//!
//! References: draft-ietf-opsawg-pcapng (blocks), radiotap.org (rate, modulation, channel, A-MPDUs),
//! IEEE 802.11-2020 clause 9 (frames), RFC 791, 768, 9293 (IPv4, UDP, TCP).
//!
//! Properties of the capture:
//!
//! - The time stamp of a frame is its start on the air, in nanoseconds since the start of the run.
//! - Each MPDU of an aggregate is a frame with the time stamp of its PPDU. The MPDUs of one A-MPDU
//!   have the same reference number. In a cell with aggregation, the radiotap header also contains
//!   the time of the end of the preamble, in microseconds.
//! - Every frame contains the bytes that its transmitter sent, with a correct FCS. If a frame was
//!   not received, a packet comment gives the reason: `collided` or `corrupted`, and `discarded` if
//!   it was the last attempt.
//! - The engine numbers segments, and the capture contains byte sequence numbers. Packets that real
//!   hosts have sent (in an emulation) contain the bytes of these hosts. In other packets, both
//!   endpoints begin at sequence number 0 with the SYN, and the payload consists of zeros. Each
//!   segment advances the sequence number by one MSS.
//! - Stations have the addresses 10.0.0.1 and up. The server has the address 198.18.0.1 (RFC 2544)
//!   and port 9 (discard). A virtual shared bottleneck sends pings from 198.19.255.254.
//! - Requests and responses of web pages, and requests of adaptive video, have connections of their
//!   own, each with a port of its own. The sequence numbers of chunks of video count full segments.
//! - Headers have the standard size nearest to the size in the scenario. If the size of a frame on
//!   the air differs from its size in the capture, a packet comment gives the size on the air.

mod block;
mod ip;
mod radiotap;
mod wlan;

pub use self::ip::{folded, sum_of};
use self::radiotap::{Reception, Subframe};
use crate::kernel::time::Span;
use crate::mac::Band;
use crate::mac::ppdu::Modulation;
use crate::packet::Packet;
use crate::record::{Fate, FrameRecord};
use crate::scenario::Scenario;

/// A pcapng capture, to which frames are appended.
pub struct Capture {
    addresses: ip::Addresses,
    cell: wlan::Cell,
    band: Band,
    /// Whether the stations of the cell send aggregates.
    aggregates: bool,
    /// Duration of the preamble of 802.11a, b and g frames.
    preamble: Span,
    /// Number of A-MPDUs in the capture so far.
    ampdus: u32,
    frame_bytes: Vec<u8>,
}

impl Capture {
    /// Creates the capture of the scenario's cell, and appends the header blocks of the file to
    /// `out`.
    pub fn begin(scenario: &Scenario, out: &mut Vec<u8>) -> Capture {
        block::section_header(out, &scenario.name);
        block::interface(out, radiotap::LINK_TYPE);
        let cell = &scenario.only_bss().cell;
        Capture {
            addresses: ip::Addresses::new(scenario),
            cell: wlan::Cell::new(scenario),
            band: cell.ppdus.map_or(Band::Ghz2_4, |ppdus| ppdus.band),
            aggregates: cell.ppdus.is_some(),
            preamble: cell.phy.preamble,
            ampdus: 0,
            frame_bytes: Vec::new(),
        }
    }

    /// Appends a frame, or each MPDU of a PPDU, to `out`. `sent` returns the bytes of the IP packet
    /// in a data frame, if a real host sent the packet. If it returns `None`, the IP packet is
    /// generated.
    pub fn frame(
        &mut self,
        out: &mut Vec<u8>,
        frame: &FrameRecord,
        sent: impl Fn(&Packet) -> Option<Vec<u8>>,
    ) {
        let addresses = &self.addresses;
        let packet = |out: &mut Vec<u8>, packet: &Packet| match sent(packet) {
            Some(bytes) => out.extend(bytes),
            None => addresses.packet(out, packet, [frame.from, frame.to]),
        };
        let modulation = frame.modulation();
        let preamble = modulation.map_or(self.preamble, Modulation::preamble);
        let reception = Reception {
            band: self.band,
            modulation,
            rate_bps: frame.rate_bps,
            mac_time: self.aggregates.then_some(frame.at + preamble),
        };
        let bytes = &mut self.frame_bytes;
        let Some(ppdu) = frame.ppdu.as_ref().filter(|ppdu| !ppdu.mpdus.is_empty()) else {
            bytes.clear();
            radiotap::header(bytes, reception, None);
            let start = bytes.len();
            self.cell.frame(bytes, frame, packet);
            let comment = comment(frame.fate, frame.bytes, bytes.len() - start);
            return block::packet(out, frame.at.0, bytes, &comment);
        };
        let count = ppdu.mpdus.len();
        let delimits_one = modulation.is_some_and(|own| own.generation.delimits_one());
        let is_ampdu = count > 1 || delimits_one;
        self.ampdus = self.ampdus.wrapping_add(u32::from(is_ampdu));
        for (index, (mpdu, packets)) in ppdu.contents().enumerate() {
            let subframe = Subframe {
                reference: self.ampdus,
                is_last: index + 1 == count,
                is_only: count == 1,
            };
            bytes.clear();
            radiotap::header(bytes, reception, is_ampdu.then_some(subframe));
            let start = bytes.len();
            (self.cell).mpdu(bytes, frame, ppdu, (mpdu, packets), &packet);
            let comment = comment(mpdu.fate(frame.fate), mpdu.bytes, bytes.len() - start);
            block::packet(out, frame.at.0, bytes, &comment);
        }
        self.cell.end_ppdu(frame, ppdu);
    }
}

/// Passes a complete capture of `frames` to `sink`, in the given order and in several pieces.
///
/// # Errors
/// The first error of `sink`, after which no further piece is passed.
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

/// Returns the packet comment: the reason why a frame was not received, and the size on the air if
/// it differs from the captured size. If neither applies, the comment is empty.
fn comment(fate: Fate, bytes: u32, shown_bytes: usize) -> String {
    let fate = match fate {
        Fate::Delivered => "",
        Fate::Collided => "collided",
        Fate::Corrupted => "corrupted",
        Fate::CollidedAndDiscarded => "collided, discarded",
        Fate::CorruptedAndDiscarded => "corrupted, discarded",
    };
    if shown_bytes == bytes as usize {
        return fate.to_owned();
    }
    let separator = if fate.is_empty() { "" } else { "; " };
    format!("{fate}{separator}{bytes} bytes on the air")
}

#[cfg(test)]
mod tests;
