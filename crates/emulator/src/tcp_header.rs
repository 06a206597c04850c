//! TCP headers as the ACK filter of CAKE compares them (RFC 9293, 2018, 7323). The rules for packets
//! that may be superfluous are those of Linux (`cake_tcph_may_drop`).

use lasthop_engine::live::TcpHeader;

use crate::ip::{Header, TCP};

/// Length of a TCP header without options, and its offsets: acknowledgement number, header length,
/// flags.
const LENGTH: usize = 20;
const ACK_NUMBER: usize = 8;
const DATA_OFFSET: usize = 12;
const FLAGS: usize = 13;

/// Flags of a TCP header: SYN, ACK, and ECE with CWR.
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const ECN: u8 = 0xC0;
/// The reserved bits next to the header length. The lowest of them is the flag AE (RFC 9768).
const RESERVED: u8 = 0x0F;

/// Kinds of TCP options: end of the list, no operation, SACK, time stamps, MD5 signature.
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const SACK: u8 = 5;
const STAMPS: u8 = 8;
const MD5: u8 = 19;

/// Length of the content of the option with time stamps, and of a SACK block. [bytes]
const STAMPS_LENGTH: usize = 8;
const BLOCK: usize = 8;

/// Returns the TCP header of an IPv4 packet; `None` for a packet of another protocol, and for a
/// fragment.
pub(crate) fn tcp_header(packet: &[u8]) -> Option<TcpHeader> {
    let header = Header::of(packet)?;
    let ports = header.ports.filter(|_| header.protocol == TCP)?;
    let tcp = packet.get(usize::from(packet[0] & 0x0F) * 4..)?;
    let length = usize::from(tcp.get(DATA_OFFSET)? >> 4) * 4;
    if length < LENGTH || tcp.len() < length {
        return None;
    }
    let (flags, reserved) = (tcp[FLAGS], tcp[DATA_OFFSET] & RESERVED);
    let mut read = TcpHeader {
        ends: [(header.from, ports.0), (header.to, ports.1)],
        ack: number(tcp, ACK_NUMBER),
        acknowledges: flags & (ACK | SYN) == ACK,
        is_plain: flags & !ECN == ACK && reserved == 0 && tcp.len() == length,
        ecn_flags: flags & ECN,
        ..TcpHeader::default()
    };
    read_options(&tcp[LENGTH..length], &mut read);
    Some(read)
}

/// Reads the options. Options after an option whose length is impossible are ignored, as in Linux.
fn read_options(mut options: &[u8], read: &mut TcpHeader) {
    let mut has_sack = false;
    while let Some((&kind, rest)) = options.split_first() {
        if kind == END {
            return;
        }
        if kind == NO_OPERATION {
            options = rest;
            continue;
        }
        let length = rest.first().map_or(0, |&length| usize::from(length));
        let Some(content) = options.get(2..length) else {
            return;
        };
        match kind {
            STAMPS if content.len() == STAMPS_LENGTH => {
                read.stamps = Some([number(content, 0), number(content, 4)]);
            }
            SACK if content.len() % BLOCK == 0 => {
                if !has_sack {
                    let blocks = content.chunks_exact(BLOCK).take(TcpHeader::BLOCKS);
                    read.blocks = blocks.len() as u8;
                    for (block, bytes) in read.sack.iter_mut().zip(blocks) {
                        *block = [number(bytes, 0), number(bytes, 4)];
                    }
                }
                has_sack = true;
            }
            MD5 => {}
            _ => read.is_plain = false,
        }
        options = &options[length..];
    }
}

/// Returns the number of 32 bits at an offset, which must be inside `bytes`.
fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets;
    use crate::places::{FIRST_PORT, SERVER, STATIONS};

    /// Returns a packet of the server with these flags, options and payload.
    fn packet(flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
        let length = LENGTH + options.len();
        assert_eq!(length % 4, 0);
        let bytes = (20 + length + payload) as u16;
        let mut packet = packets::tcp((SERVER, FIRST_PORT), (STATIONS + 1, 999), bytes);
        packet[28..32].copy_from_slice(&77_u32.to_be_bytes());
        packet[32] = (length as u8 / 4) << 4;
        packet[33] = flags;
        packet[40..20 + length].copy_from_slice(options);
        packet
    }

    fn read(flags: u8, options: &[u8], payload: usize) -> TcpHeader {
        match tcp_header(&packet(flags, options, payload)) {
            Some(header) => header,
            None => panic!("it is a TCP packet"),
        }
    }

    #[test]
    fn a_pure_ack_has_numbers_stamps_and_blocks() {
        // no operation, no operation, time stamps 258 and 3; twice no operation, two blocks
        let stamps = [1, 1, 8, 10, 0, 0, 1, 2, 0, 0, 0, 3];
        let blocks = [1, 1, 5, 18, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 1, 0, 0, 0, 1, 8];
        let options = [&stamps[..], &blocks[..]].concat();
        let expected = TcpHeader {
            ends: [(SERVER, FIRST_PORT), (STATIONS + 1, 999)],
            ack: 77,
            acknowledges: true,
            is_plain: true,
            ecn_flags: 0,
            stamps: Some([258, 3]),
            sack: [[5, 9], [256, 264], [0, 0], [0, 0]],
            blocks: 2,
        };
        assert_eq!(read(ACK, &options, 0), expected);
        // the longest list: four blocks of 34 bytes in total
        let mut four = vec![1, 1, 5, 34];
        four.extend((0..32).map(|byte| byte / 4));
        assert_eq!(read(ACK, &four, 0).sack[3], [0x0606_0606, 0x0707_0707]);
    }

    #[test]
    fn only_pure_acks_may_be_superfluous() {
        const FIN: u8 = 0x01;
        const RST: u8 = 0x04;
        const PSH: u8 = 0x08;
        const URG: u8 = 0x20;
        let is = |flags, payload| {
            let header = read(flags, &[], payload);
            (header.acknowledges, header.is_plain, header.ecn_flags)
        };
        assert_eq!(is(ACK, 0), (true, true, 0));
        assert_eq!(is(ACK | ECN, 0), (true, true, ECN));
        assert_eq!(
            is(ACK, 1),
            (true, false, 0),
            "data may only make ACKs superfluous"
        );
        for flag in [FIN, RST, PSH, URG] {
            assert_eq!(is(ACK | flag, 0), (true, false, 0), "{flag:#x}");
        }
        assert_eq!(is(ACK | SYN, 0), (false, false, 0));
        assert_eq!(is(SYN, 0), (false, false, 0));
        // the flag AE, of accurate ECN
        let mut accurate = packet(ACK, &[], 0);
        accurate[32] |= 1;
        assert_eq!(
            tcp_header(&accurate).map(|header| header.is_plain),
            Some(false)
        );
    }

    #[test]
    fn unknown_options_and_wrong_lengths_keep_an_ack() {
        for (options, is_plain) in [
            // an MD5 signature does not matter
            (&[&[19, 18][..], &[0; 16], &[1, 1]].concat()[..], true),
            // the window scale, the permission of SACK, an experiment, multipath TCP
            (&[3, 3, 7, 0], false),
            (&[4, 2, 1, 1], false),
            (&[254, 4, 1, 1], false),
            (&[30, 4, 1, 1], false),
            // time stamps and a SACK block that are too short
            (&[8, 4, 0, 0], false),
            (&[5, 4, 0, 0], false),
            // after the end of the list, and after an impossible length, nothing is read
            (&[0, 30, 4, 1], true),
            (&[1, 1, 1, 8], true),
            (&[30, 1, 1, 1], true),
            (&[30, 9, 1, 1], true),
        ] {
            assert_eq!(read(ACK, options, 0).is_plain, is_plain, "{options:?}");
        }
    }

    #[test]
    fn other_packets_have_no_tcp_header() {
        assert_eq!(
            tcp_header(&packets::echo(SERVER, STATIONS + 1, true, 7)),
            None
        );
        assert_eq!(tcp_header(&[0x45; 30]), None);
        let mut cut = packet(ACK, &[1, 1, 1, 1], 0);
        cut[32] = 0xF0;
        assert_eq!(tcp_header(&cut), None);
        cut[32] = 0x40;
        assert_eq!(tcp_header(&cut), None);
        let mut fragment = packet(ACK, &[], 0);
        fragment[7] = 1;
        assert_eq!(tcp_header(&fragment), None);
    }
}
