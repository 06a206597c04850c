use lasthop_engine::kernel::time::Time;

use super::*;
use crate::packets;
use crate::places::{FIRST_PORT, SERVER, STATIONS};

const HEADERS: usize = 40;

/// Returns a TCP segment with `data` bytes. The value of each byte is its sequence number
/// modulo 256.
fn segment(sequence: u32, data: usize, flags: u8) -> Delivery {
    let (server, station) = ((SERVER, FIRST_PORT), (STATIONS + 1, 40_000));
    let mut bytes = packets::tcp(server, station, (HEADERS + data) as u16);
    bytes[24..28].copy_from_slice(&sequence.to_be_bytes());
    bytes[33] = flags;
    for (at, byte) in bytes[HEADERS..].iter_mut().enumerate() {
        *byte = (sequence as usize + at) as u8;
    }
    Delivery {
        due: Time(7),
        node: 1,
        bytes,
    }
}

/// Returns the packets that a batch writes for these deliveries, each with its node and header.
fn written(deliveries: impl IntoIterator<Item = Delivery>) -> Vec<(u32, Vec<u8>, Vec<u8>)> {
    let mut batch = Batch::new(true);
    let mut seen = Vec::new();
    let mut flush = |batch: &mut Batch| {
        let write = |node, pieces: &[IoSlice<'_>]| {
            let packet = pieces[1..].iter().flat_map(|piece| piece.to_vec());
            seen.push((node, pieces[0].to_vec(), packet.collect()));
            Ok::<(), ()>(())
        };
        assert_eq!(batch.hand_over(write), Ok(()));
    };
    for delivery in deliveries {
        if let Some(next) = batch.join(delivery) {
            flush(&mut batch);
            assert_eq!(batch.join(next), None);
        }
    }
    flush(&mut batch);
    flush(&mut batch); // the batch is empty
    seen
}

fn lengths(seen: &[(u32, Vec<u8>, Vec<u8>)]) -> Vec<usize> {
    seen.iter().map(|(_, _, packet)| packet.len()).collect()
}

#[test]
fn segments_that_follow_each_other_are_one_packet() {
    let numbers = [u32::MAX - 999, 0, 1000];
    let three = numbers.map(|at| segment(at, 1000, ACK));
    let mut last = segment(2000, 300, ACK | PSH);
    last.due = Time(9);
    let seen = written(three.clone().into_iter().chain([last.clone()]));
    let [(1, header, packet)] = &seen[..] else {
        panic!("{seen:?}");
    };
    assert_eq!(packet.len(), HEADERS + 3300);
    assert_eq!(packet[2..4], 3340_u16.to_be_bytes());
    assert_eq!(packet[33], ACK | PSH);
    let sent = three.iter().chain([&last]);
    let data: Vec<u8> = sent
        .flat_map(|delivery| delivery.bytes[HEADERS..].to_vec())
        .collect();
    assert_eq!(packet[HEADERS..], data);
    // the kernel cuts the merged packet into the original segments
    let mut read = [&header[..], packet].concat();
    let mut cut = Vec::new();
    assert_eq!(
        crate::offload::each_packet(&mut read, |packet| cut.push(packet.to_vec())),
        4
    );
    let numbers: Vec<&[u8]> = cut.iter().map(|packet| &packet[24..28]).collect();
    let expected: Vec<&[u8]> = three
        .iter()
        .chain([&last])
        .map(|delivery| &delivery.bytes[24..28])
        .collect();
    assert_eq!(numbers, expected);
    assert_eq!(folded(sum_of(&packet[..20])), 0xFFFF);
}

#[test]
fn a_packet_alone_stays_as_it_is() {
    let single = segment(5, 1000, ACK);
    let seen = written([single.clone()]);
    assert_eq!(seen, [(1, WHOLE.to_vec(), single.bytes)]);
}

#[test]
fn a_segment_that_ends_something_is_the_last() {
    for (first, flags) in [(600, ACK), (1000, ACK | PSH), (1000, ACK | FIN)] {
        let seen = written([
            segment(0, 1000, ACK),
            segment(1000, first, flags),
            segment(1000 + first as u32, 500, ACK),
        ]);
        assert_eq!(lengths(&seen), [HEADERS + 1000 + first, HEADERS + 500]);
    }
}

#[test]
fn what_differs_begins_anew() {
    let change = |place: usize, value: u8| {
        let mut other = segment(1000, 1000, ACK);
        other.bytes[place] = value;
        other
    };
    // Segments that cannot be merged. In each of the first segments one header field differs, namely
    // ECN mark, time to live, address, port, acknowledgement number or window. The other segments
    // have a gap before them, more data than the first segment, or no data.
    let mut others: Vec<Delivery> = [(1, 3), (8, 9), (19, 9), (23, 9), (31, 9), (35, 9)]
        .map(|(place, value)| change(place, value))
        .into();
    others.extend([
        segment(1001, 1000, ACK),
        segment(1000, 1001, ACK),
        segment(1000, 0, ACK),
    ]);
    for flags in [ACK | 0x80, ACK | 0x40, ACK | 0x20, ACK | 0x04, 0] {
        others.push(segment(1000, 1000, flags));
    }
    let mut elsewhere = segment(1000, 1000, ACK);
    elsewhere.node = 2;
    others.push(elsewhere);
    for other in others {
        let seen = written([segment(0, 1000, ACK), other.clone()]);
        assert_eq!(seen.len(), 2, "{other:?}");
        assert_eq!(seen[1].2, other.bytes);
    }
}

#[test]
fn a_packet_is_never_longer_than_ip_allows() {
    let seen = written((0..100).map(|k| segment(k * 1448, 1448, ACK)));
    assert_eq!(seen.len(), 3);
    assert!(lengths(&seen).iter().all(|&length| length <= LONGEST));
    assert_eq!(
        lengths(&seen).iter().sum::<usize>(),
        100 * 1448 + 3 * HEADERS
    );
}

#[test]
fn nothing_is_merged_unless_asked_for() {
    let mut batch = Batch::new(false);
    assert_eq!(batch.join(segment(0, 1000, ACK)), None);
    let next = segment(1000, 1000, ACK);
    assert_eq!(batch.join(next.clone()), Some(next));
}
