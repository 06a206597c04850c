//! How long MPDUs and PSDUs are (IEEE 802.11-2020, 9.3.2.2 and 9.7), each summed up from its parts.

use lasthop_engine::mac::ppdu::Generation;
use lasthop_engine::scenario::Cell;

/// BlockAckReq. [bytes]
pub const BAR_BYTES: u32 = 24;
/// Delimiter in front of an MPDU in an A-MPDU. [bytes]
const DELIMITER: u32 = 4;
/// Destination, source and length in front of an MSDU in an A-MSDU. [bytes]
const SUBFRAME_HEADER: u32 = 14;

/// BlockAck of a window of so many MPDUs. [bytes]
pub fn block_ack(window: u32) -> u32 {
    if window <= 64 { 32 } else { 56 }
}

/// A-MSDU of IP packets of these lengths: all but the last are padded. [bytes]
pub fn amsdu(cell: &Cell, ip_bytes: &[u32]) -> u32 {
    padded_sum(
        ip_bytes
            .iter()
            .map(|ip| SUBFRAME_HEADER + cell.llc_bytes + ip),
    )
}

/// MPDU with IP packets of these lengths. [bytes]
pub fn mpdu(cell: &Cell, ip_bytes: &[u32]) -> u32 {
    let body = match ip_bytes {
        [alone] => cell.llc_bytes + alone,
        several => amsdu(cell, several),
    };
    cell.mac_header_bytes + body
}

/// PSDU of MPDUs of these lengths, of a generation or of none. [bytes]
pub fn psdu(generation: Option<Generation>, mpdu_bytes: &[u32]) -> u32 {
    match (generation, mpdu_bytes) {
        (None | Some(Generation::Ht), [alone]) => *alone,
        _ => padded_sum(mpdu_bytes.iter().map(|mpdu| DELIMITER + mpdu)),
    }
}

/// Sum of parts, each but the last padded to a multiple of 4.
fn padded_sum(parts: impl Iterator<Item = u32>) -> u32 {
    parts.fold(0, |sum: u32, part| sum.next_multiple_of(4) + part)
}
