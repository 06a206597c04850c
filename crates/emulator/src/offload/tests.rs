use super::*;
use crate::packets;
use crate::places::{FIRST_PORT, SERVER, STATIONS};

const HEADERS: usize = 40;

/// Returns a `virtio_net_hdr` as the kernel writes it: flags, segmentation type, segment size,
/// start of the checksummed bytes, and offset of the checksum.
fn header(flags: u8, kind: u8, size: u16, start: u16, offset: u16) -> [u8; HEADER] {
    let mut header = WHOLE;
    (header[0], header[1]) = (flags, kind);
    header[4..6].copy_from_slice(&size.to_ne_bytes());
    header[6..8].copy_from_slice(&start.to_ne_bytes());
    header[8..10].copy_from_slice(&offset.to_ne_bytes());
    header
}

/// Returns a TCP packet with `data` bytes that is not yet cut into segments and has no complete checksum. The value of
/// each byte is its index modulo 256.
fn large(data: usize, sequence: u32, flags: u8) -> Vec<u8> {
    let bytes = (HEADERS + data) as u16;
    let mut packet = packets::tcp((SERVER, FIRST_PORT), (STATIONS + 1, 40_000), bytes);
    packet[4..6].copy_from_slice(&u16::MAX.to_be_bytes());
    packet[24..28].copy_from_slice(&sequence.to_be_bytes());
    packet[33] = flags;
    for (at, byte) in packet[HEADERS..].iter_mut().enumerate() {
        *byte = at as u8;
    }
    packet
}

fn taken(header: [u8; HEADER], packet: &[u8]) -> Vec<Vec<u8>> {
    let mut read = [&header[..], packet].concat();
    let mut packets = Vec::new();
    let count = each_packet(&mut read, |packet| packets.push(packet.to_vec()));
    assert_eq!(count, packets.len());
    packets
}

fn number(packet: &[u8]) -> u32 {
    u32::from_be_bytes([packet[24], packet[25], packet[26], packet[27]])
}

/// Returns whether the checksums are correct: the words of each checksummed range, with the
/// pseudo-header, have a sum of all ones (RFC 1071).
fn is_whole(packet: &[u8]) -> bool {
    let sum = |bytes: &[u8]| -> u32 {
        let words = bytes.chunks(2);
        words
            .map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |&low| u32::from(low)))
            .sum()
    };
    let fold = |sum: u32| (sum >> 16) + (sum & 0xFFFF);
    let pseudo = sum(&packet[12..20]) + u32::from(packet[9]) + packet.len() as u32 - 20;
    let (ip, tcp) = (sum(&packet[..20]), sum(&packet[20..]) + pseudo);
    [ip, tcp].iter().all(|&sum| fold(fold(sum)) == 0xFFFF)
}

#[test]
fn a_packet_that_is_whole_is_taken_as_it_is() {
    let packet = large(100, 7, 0x10);
    assert_eq!(taken(WHOLE, &packet), [packet]);
}

#[test]
fn a_large_packet_is_cut_into_segments_with_their_own_headers() {
    let (ack, push, congestion) = (0x10, 0x08, CWR);
    let packet = large(1448 * 2 + 100, u32::MAX - 1447, ack | push | congestion);
    let segments = taken(header(NEEDS_CHECKSUM, TCP_IPV4, 1448, 20, 16), &packet);
    let lengths: Vec<usize> = segments.iter().map(Vec::len).collect();
    assert_eq!(lengths, [1488, 1488, 140]);
    assert!(segments.iter().all(|segment| is_whole(segment)));
    let lengths = segments
        .iter()
        .map(|segment| u16::from_be_bytes([segment[2], segment[3]]));
    assert_eq!(lengths.collect::<Vec<_>>(), [1488, 1488, 140]);
    let numbers: Vec<u32> = segments.iter().map(|segment| number(segment)).collect();
    assert_eq!(numbers, [u32::MAX - 1447, 0, 1448]);
    let identifications: Vec<[u8; 2]> = segments
        .iter()
        .map(|segment| [segment[4], segment[5]])
        .collect();
    assert_eq!(identifications, [[0xFF, 0xFF], [0, 0], [0, 1]]);
    let flags: Vec<u8> = segments.iter().map(|segment| segment[33]).collect();
    assert_eq!(flags, [ack | congestion, ack, ack | push]);
    let data: Vec<u8> = segments
        .iter()
        .flat_map(|segment| &segment[HEADERS..])
        .copied()
        .collect();
    assert_eq!(data, packet[HEADERS..]);
}

#[test]
fn segments_shorter_than_their_headers_are_cut_as_well() {
    let packet = large(100, 0, 0x10);
    let segments = taken(header(NEEDS_CHECKSUM, TCP_IPV4, 7, 20, 16), &packet);
    assert_eq!(segments.len(), 15);
    assert!(segments.iter().all(|segment| is_whole(segment)));
    let data: Vec<u8> = segments
        .iter()
        .flat_map(|segment| &segment[HEADERS..])
        .copied()
        .collect();
    assert_eq!(data, packet[HEADERS..]);
}

#[test]
fn a_checksum_that_is_left_to_the_device_is_completed() {
    let mut packet = large(99, 3, 0x18);
    let pseudo = folded(pseudo_header(&packet, 119));
    packet[36..38].copy_from_slice(&pseudo.to_be_bytes());
    let sum = !folded(sum_of(&packet[..20]));
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    let [segment] = &taken(header(NEEDS_CHECKSUM, NONE, 0, 20, 16), &packet)[..] else {
        panic!("one packet");
    };
    assert!(is_whole(segment));
    assert_eq!(segment[HEADERS..], packet[HEADERS..]);
}

#[test]
fn what_no_kernel_sends_is_no_packet() {
    let packet = large(3000, 0, 0x10);
    assert!(taken(header(NEEDS_CHECKSUM, TCP_IPV4, 0, 20, 16), &packet).is_empty());
    assert!(taken(header(NEEDS_CHECKSUM, 4, 1448, 20, 16), &packet).is_empty());
    assert!(taken(header(NEEDS_CHECKSUM, NONE, 0, 20, 60_000), &packet).is_empty());
    assert!(taken(header(NEEDS_CHECKSUM, NONE, 0, 60_000, 16), &packet).is_empty());
    assert!(
        taken(
            header(NEEDS_CHECKSUM, TCP_IPV4, 1448, 20, 16),
            &packet[..30]
        )
        .is_empty()
    );
    assert_eq!(each_packet(&mut [0; 5], |_| ()), 0);
}
