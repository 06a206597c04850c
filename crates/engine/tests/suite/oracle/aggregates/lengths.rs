//! Lengths of MPDUs and PSDUs (IEEE 802.11-2020, 9.3.2.2 and 9.7), as sums over the fields.

use lasthop_engine::mac::ppdu::Generation;
use lasthop_engine::scenario::Cell;

/// Length of a BlockAckReq. [bytes]
pub const BAR_BYTES: u32 = 24;
/// Length of the delimiter before an MPDU in an A-MPDU. [bytes]
const DELIMITER: u32 = 4;
/// Length of the subframe header before an MSDU in an A-MSDU: destination, source and length field. [bytes]
const SUBFRAME_HEADER: u32 = 14;

/// Returns the length of a BlockAck for a window of this many MPDUs. [bytes]
pub fn block_ack(window: u32) -> u32 {
    if window <= 64 { 32 } else { 56 }
}

/// Returns the length of an A-MSDU with IP packets of these lengths; all subframes but the last are padded. [bytes]
pub fn amsdu(cell: &Cell, ip_bytes: &[u32]) -> u32 {
    padded_sum(
        ip_bytes
            .iter()
            .map(|ip| SUBFRAME_HEADER + cell.llc_bytes + ip),
    )
}

/// Returns the length of an MPDU with IP packets of these lengths. [bytes]
pub fn mpdu(cell: &Cell, ip_bytes: &[u32]) -> u32 {
    let body = match ip_bytes {
        [alone] => cell.llc_bytes + alone,
        several => amsdu(cell, several),
    };
    cell.mac_header_bytes + body
}

/// Returns the length of a PSDU with MPDUs of these lengths. A legacy station has no `generation`. [bytes]
pub fn psdu(generation: Option<Generation>, mpdu_bytes: &[u32]) -> u32 {
    match (generation, mpdu_bytes) {
        (None | Some(Generation::Ht), [alone]) => *alone,
        _ => padded_sum(mpdu_bytes.iter().map(|mpdu| DELIMITER + mpdu)),
    }
}

/// Returns the sum of the lengths, each except the last padded to a multiple of 4.
fn padded_sum(parts: impl Iterator<Item = u32>) -> u32 {
    parts.fold(0, |sum: u32, part| sum.next_multiple_of(4) + part)
}
