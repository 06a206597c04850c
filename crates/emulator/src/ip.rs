//! The IPv4, ICMP, TCP and UDP header fields that the emulator reads and writes (RFC 791, 3168, 9293).

use lasthop_engine::packet::Ecn;
use lasthop_engine::pcapng;

pub(crate) const ICMP: u8 = 1;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
const HEADER: usize = 20;
const PORTS: usize = 4;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// ACK flag of a TCP header.
const ACK: u8 = 0x10;
/// The TCP flags FIN, SYN and RST, which use a sequence number or end a connection.
const FIN_SYN_RST: u8 = 0x07;
/// Mask of the ECN field in the second byte of an IP header, and values of the field.
const ECN: u8 = 0b11;
const NOT_CAPABLE: u8 = 0b00;
const SCALABLE: u8 = 0b01;
const EXPERIENCED: u8 = 0b11;

/// The header fields of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) protocol: u8,
    /// Source and destination port of a TCP or UDP packet; `None` for other packets and for fragments.
    pub(crate) ports: Option<(u16, u16)>,
    /// Identifier of an ICMP echo request or echo reply (RFC 792); `None` for other packets and for
    /// fragments.
    pub(crate) echo: Option<u16>,
    pub(crate) ecn: Ecn,
}

impl Header {
    /// Returns the header fields of a packet, or `None` if the packet is not a complete IPv4
    /// packet.
    pub(crate) fn of(packet: &[u8]) -> Option<Header> {
        let first = *packet.first()?;
        let header = usize::from(first & 0x0F) * 4;
        if first >> 4 != 4 || header < HEADER || packet.len() < header + PORTS {
            return None;
        }
        let word = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
        let address = |at: usize| u32::from(word(at)) << 16 | u32::from(word(at + 2));
        let is_whole = word(6) & 0x3FFF == 0;
        let has_ports = is_whole && matches!(packet[9], TCP | UDP);
        Some(Header {
            from: address(12),
            to: address(16),
            protocol: packet[9],
            echo: (is_whole && packet[9] == ICMP && matches!(packet[header], 0 | 8))
                .then(|| packet.get(header + 4..header + 6))
                .flatten()
                .map(|identifier| u16::from_be_bytes([identifier[0], identifier[1]])),
            ports: has_ports.then(|| (word(header), word(header + 2))),
            ecn: match packet[1] & ECN {
                NOT_CAPABLE => Ecn::NotCapable,
                SCALABLE => Ecn::Scalable,
                EXPERIENCED => Ecn::Experienced,
                _ => Ecn::Capable,
            },
        })
    }
}

/// Sets the CE mark of a packet and corrects the checksum of the IP header.
pub(crate) fn mark(packet: &mut [u8]) {
    let header = usize::from(packet[0] & 0x0F) * 4;
    packet[1] |= EXPERIENCED;
    packet[10..12].fill(0);
    let sum = !pcapng::folded(pcapng::sum_of(&packet[..header]));
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Returns the payload length of a packet. Without a TCP or UDP header, the IP payload is counted.
/// [bytes]
pub(crate) fn payload_bytes(packet: &[u8]) -> usize {
    let header = usize::from(packet[0] & 0x0F) * 4;
    let behind = packet.len().saturating_sub(header);
    let own = match packet[9] {
        TCP => packet
            .get(header + 12)
            .map_or(0, |byte| usize::from(byte >> 4) * 4),
        UDP => UDP_HEADER,
        _ => 0,
    };
    behind.saturating_sub(own)
}

/// Returns whether a TCP packet is a pure ACK.
pub(crate) fn is_pure_ack(packet: &[u8]) -> bool {
    let header = usize::from(packet[0] & 0x0F) * 4;
    let flags = packet.get(header + 13).copied().unwrap_or_default();
    flags & ACK != 0 && flags & FIN_SYN_RST == 0 && payload_bytes(packet) == 0
}

/// The sequence numbers of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Sequence number after the last byte of the segment, if the segment has data.
    pub(crate) end: Option<u32>,
    /// Acknowledgement number, if the segment has the ACK flag: the next sequence number that the
    /// sender of the segment expects.
    pub(crate) ack: Option<u32>,
}

/// Returns the sequence numbers of a packet, or `None` if the packet is not a TCP segment.
pub(crate) fn segment(packet: &[u8]) -> Option<Segment> {
    let header = usize::from(*packet.first()? & 0x0F) * 4;
    let tcp = packet.get(header..)?;
    if packet.get(9) != Some(&TCP) || tcp.len() < TCP_HEADER {
        return None;
    }
    let number = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
    let data = tcp.len().saturating_sub(usize::from(tcp[12] >> 4) * 4);
    Some(Segment {
        end: (data > 0).then(|| number(4).wrapping_add(data as u32)),
        ack: (tcp[13] & ACK != 0).then(|| number(8)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::tcp;
    use crate::places::{FIRST_PORT, SERVER, STATIONS};

    #[test]
    fn headers_are_read() {
        let packet = tcp((SERVER, FIRST_PORT), (STATIONS + 3, 999), 60);
        let header = Header {
            from: SERVER,
            to: STATIONS + 3,
            protocol: TCP,
            ports: Some((FIRST_PORT, 999)),
            echo: None,
            ecn: Ecn::NotCapable,
        };
        assert_eq!(Header::of(&packet), Some(header));
        let mut fragment = packet;
        fragment[7] = 1;
        assert_eq!(Header::of(&fragment).map(|header| header.ports), Some(None));
    }

    #[test]
    fn ect_0_and_ect_1_are_told_apart() {
        let mut packet = tcp((SERVER, FIRST_PORT), (STATIONS + 3, 999), 60);
        let ecns = [0b00, 0b01, 0b10, 0b11].map(|ecn| {
            packet[1] = 0b1011_1000 | ecn; // DSCP 46 in addition to the ECN field
            Header::of(&packet).map(|header| header.ecn)
        });
        let expected = [
            Ecn::NotCapable,
            Ecn::Scalable,
            Ecn::Capable,
            Ecn::Experienced,
        ];
        assert_eq!(ecns, expected.map(Some));
    }

    #[test]
    fn a_mark_has_a_good_checksum() {
        for capable in [0b01, 0b10, 0b11] {
            let mut packet = tcp((SERVER, FIRST_PORT), (STATIONS + 3, 999), 60);
            packet[1] |= capable;
            mark(&mut packet);
            assert_eq!(
                Header::of(&packet).map(|header| header.ecn),
                Some(Ecn::Experienced)
            );
            assert_eq!(pcapng::folded(pcapng::sum_of(&packet[..20])), 0xFFFF);
        }
    }

    #[test]
    fn a_segment_ends_behind_its_data() {
        let mut packet = tcp((SERVER, 1), (STATIONS + 1, 2), 60);
        packet[24..28].copy_from_slice(&u32::MAX.to_be_bytes());
        packet[28..32].copy_from_slice(&9_u32.to_be_bytes());
        (packet[32], packet[33]) = (0x80, 0);
        let (end, ack) = (Some(7), None);
        assert_eq!(segment(&packet), Some(Segment { end, ack }));
        packet[33] = ACK;
        let (end, ack) = (None, Some(9));
        assert_eq!(segment(&packet[..52]), Some(Segment { end, ack }));
        assert_eq!(segment(&packet[..39]), None);
        packet[9] = UDP;
        assert_eq!(segment(&packet), None);
    }

    #[test]
    fn whatever_else_a_kernel_sends_is_left_alone() {
        for bytes in [&[][..], &[0x60; 60], &[0x45; 19], &[0x4F; 40], &[0x41; 60]] {
            assert_eq!(Header::of(bytes), None);
        }
    }
}
