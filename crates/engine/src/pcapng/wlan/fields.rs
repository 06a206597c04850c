//! Fields of several kinds of 802.11 frames.

use crate::kernel::time::Span;
use crate::mac::{Category, NodeId};

/// LLC/SNAP header that precedes an IPv4 packet (RFC 1042).
pub(super) const SNAP_IPV4: [u8; 8] = [0xAA, 0xAA, 0x03, 0, 0, 0, 0x08, 0x00];

// First byte of the frame control field: subtype, type and version.
pub(super) const DATA: u8 = 0x08;
pub(super) const QOS_DATA: u8 = 0x88;
pub(super) const RTS: u8 = 0xB4;
pub(super) const CTS: u8 = 0xC4;
pub(super) const ACK: u8 = 0xD4;
pub(super) const CF_END: u8 = 0xE4;
// Second byte of the frame control field: flags.
pub(super) const TO_DS: u8 = 0x01;
pub(super) const FROM_DS: u8 = 0x02;
pub(super) const RETRY: u8 = 0x08;

pub(super) const BROADCAST: [u8; 6] = [0xFF; 6];
/// Largest value of the duration field. [us]
const DURATION_MAX: u64 = 32_767;
/// Node number of the wired host to which the access point forwards frames. The MAC address of the
/// host is computed from this number.
pub(super) const SERVER: NodeId = NodeId(0x0100_0000);

/// Appends the FCS of the frame whose first byte is at `start`.
pub(super) fn close(out: &mut Vec<u8>, start: usize) {
    let fcs = crc32(&out[start..]);
    out.extend_from_slice(&fcs.to_le_bytes());
}

/// Appends a control frame without its FCS.
pub(super) fn control(out: &mut Vec<u8>, kind: u8, duration: Span, addresses: &[NodeId]) {
    out.extend_from_slice(&[kind, 0]);
    out.extend_from_slice(&microseconds(duration));
    for &address in addresses {
        out.extend_from_slice(&mac_address(address));
    }
}

/// Returns the value of the duration field for `duration`, rounded up to microseconds.
pub(super) fn microseconds(duration: Span) -> [u8; 2] {
    (duration.0.div_ceil(1000).min(DURATION_MAX) as u16).to_le_bytes()
}

/// Returns the locally administered MAC address of a node.
pub(super) fn mac_address(node: NodeId) -> [u8; 6] {
    let [a, b, c, d] = node.0.to_be_bytes();
    [0x02, 0, a, b, c, d]
}

const CRC_TABLE: [u32; 256] = crc_table();

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = crc & 1;
            crc >>= 1;
            if carry == 1 {
                crc ^= 0xEDB8_8320;
            }
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

/// Returns the CRC-32 of IEEE 802 (reflected polynomial 0xEDB88320), the FCS of a frame.
pub(in super::super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        CRC_TABLE[((crc ^ u32::from(byte)) & 0xFF) as usize] ^ (crc >> 8)
    })
}

/// Returns the user priority in the frames of an access category (IEEE 802.11-2020, table 10-1).
pub(super) fn traffic_identifier(category: Category) -> u8 {
    match category {
        Category::BestEffort => 0,
        Category::Background => 1,
        Category::Video => 5,
        Category::Voice => 6,
    }
}
