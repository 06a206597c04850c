//! The little of IPv4 and TCP that the emulator reads and writes (RFC 791, 792, 9293).

use lasthop_engine::pcapng::{self, ECHO_REPLY, ECHO_REQUEST};

/// 10.0.0.0: station k is this plus k. All nodes are in 10.0.0.0/8.
pub const STATIONS: u32 = 0x0A00_0000;
/// 10.255.0.1: the servers.
pub const SERVER: u32 = 0x0AFF_0001;
/// 10.255.255.254: the virtual shared bottleneck, which pings.
pub const BOTTLENECK: u32 = 0x0AFF_FFFE;
/// The server's port of the first flow; flow k has this plus k.
pub const FIRST_PORT: u16 = 20_000;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const HEADER: usize = 20;
const ECHO_HEADER: usize = 8;
const TCP_HEADER: usize = 20;
/// Flags of a TCP header.
const ACK: u8 = 0x10;

/// What an IP packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A packet of the flow with this number.
    Flow(usize),
    /// The answer to the ping with this number.
    Answer(u16),
}

/// A packet that a node has sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// Where it goes.
    pub(crate) to: u32,
    pub(crate) kind: Kind,
}

/// Reads a packet; `None` for what belongs to no flow.
pub(crate) fn parse(packet: &[u8], from_server: bool) -> Option<Parsed> {
    let first = *packet.first()?;
    let header = usize::from(first & 0x0F) * 4;
    if first >> 4 != 4 || header < HEADER || packet.len() < header + ECHO_HEADER {
        return None;
    }
    let word = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let to = u32::from(word(16)) << 16 | u32::from(word(18));
    let kind = match packet[9] {
        TCP | UDP => {
            let port = word(if from_server { header } else { header + 2 });
            Kind::Flow(usize::from(port.checked_sub(FIRST_PORT)?))
        }
        ICMP if packet[header] == ECHO_REPLY && to == BOTTLENECK => Kind::Answer(word(header + 6)),
        _ => return None,
    };
    Some(Parsed { to, kind })
}

/// What a TCP segment says of sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The number behind its last byte, if it carries any.
    pub(crate) end: Option<u32>,
    /// The next byte that its sender expects.
    pub(crate) ack: Option<u32>,
}

/// Reads a packet; `None` for what is not TCP.
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

/// An echo request of `bytes` to station number `station`.
pub(crate) fn ping(station: u32, number: u16, bytes: u16) -> Vec<u8> {
    let ends = [BOTTLENECK, STATIONS + station];
    let mut packet = Vec::with_capacity(usize::from(bytes));
    pcapng::echo(
        &mut packet,
        ECHO_REQUEST,
        ends,
        station as u16,
        number,
        bytes,
    );
    packet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ping_has_good_checksums_and_its_answer_is_recognised() {
        let mut packet = ping(3, 700, 84);
        assert_eq!(packet.len(), 84);
        for part in [&packet[..20], &packet[20..]] {
            assert_eq!(pcapng::folded(pcapng::sum_of(part)), 0xFFFF);
        }
        assert_eq!(parse(&packet, true), None, "a request is no answer");
        let (from, to) = (packet[12..16].to_vec(), packet[16..20].to_vec());
        packet[12..16].copy_from_slice(&to);
        packet[16..20].copy_from_slice(&from);
        packet[20] = ECHO_REPLY;
        let expected = Parsed {
            to: BOTTLENECK,
            kind: Kind::Answer(700),
        };
        assert_eq!(parse(&packet, false), Some(expected));
    }

    #[test]
    fn flows_are_known_by_the_servers_port() {
        let mut packet = ping(1, 0, 60);
        packet[9] = TCP;
        packet[20..22].copy_from_slice(&(FIRST_PORT + 5).to_be_bytes());
        packet[22..24].copy_from_slice(&(FIRST_PORT + 7).to_be_bytes());
        let kind = |from_server| parse(&packet, from_server).map(|parsed| parsed.kind);
        assert_eq!(kind(true), Some(Kind::Flow(5)));
        assert_eq!(kind(false), Some(Kind::Flow(7)));
    }

    #[test]
    fn a_segment_ends_behind_its_data() {
        let mut packet = ping(1, 0, 60);
        assert_eq!(segment(&packet), None);
        packet[9] = TCP;
        packet[24..28].copy_from_slice(&u32::MAX.to_be_bytes());
        packet[28..32].copy_from_slice(&9_u32.to_be_bytes());
        (packet[32], packet[33]) = (0x80, 0);
        let (end, ack) = (Some(7), None);
        assert_eq!(segment(&packet), Some(Segment { end, ack }));
        packet[33] = ACK;
        let (end, ack) = (None, Some(9));
        assert_eq!(segment(&packet[..52]), Some(Segment { end, ack }));
        assert_eq!(segment(&packet[..39]), None);
    }

    #[test]
    fn whatever_else_a_kernel_sends_is_left_alone() {
        for bytes in [&[][..], &[0x60; 60], &[0x45; 19], &[0x4F; 40], &[0x41; 60]] {
            assert_eq!(parse(bytes, true), None);
        }
    }
}
