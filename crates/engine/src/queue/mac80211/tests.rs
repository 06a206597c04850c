//! Tests of flow queues and tins (queues of a station and access category) with calculated traces,
//! one rule of the Linux kernel per test.

use super::*;
use crate::kernel::streams::Streams;
use crate::packet::{Ecn, PacketKind};

const MS: u64 = 1_000_000;

pub(super) const SETTING: Mac80211Setting = Mac80211Setting {
    flows: 4_096,
    memory_bytes: None,
    quantum_bytes: 300,
    target: Span(20 * MS),
    interval: Span(100 * MS),
    ecn: true,
    ce_threshold: None,
    ce_threshold_l4s: false,
    airtime_fairness: true,
    airtime_weight: Span(256_000),
    aql: false,
    aql_low: Span(5 * MS),
    aql_high: Span(12 * MS),
    aql_radio: Span(24 * MS),
    slow_stations: false,
};

fn queue(setting: Mac80211Setting, limit_packets: u32, stations: u32) -> Mac80211 {
    let stream = Streams::new(1, 0).stream("ap/flows");
    Mac80211::new(setting, limit_packets, 16 << 20, (stations, 1), stream)
}

fn packet(flow: u32, number: u32, bytes: u16) -> Packet {
    Packet {
        flow,
        number,
        stamp: Time::ZERO,
        queued: Time::ZERO,
        bytes,
        hop: 0,
        kind: PacketKind::Segment,
        ..Packet::SAMPLE
    }
}

/// Offers a packet to the queue. Returns the flow and the number of each packet that is lost.
fn offer(queue: &mut Mac80211, now: u64, station: u32, packet: Packet) -> Vec<(u32, u32)> {
    let mut lost = Vec::new();
    queue.enqueue(Time(now), 0, station, &packet, &mut lost);
    let lost = lost.iter();
    lost.map(|lost| (lost.packet.flow, lost.packet.number))
        .collect()
}

/// Removes the next packet for a station. Returns its flow and number, and the numbers of the
/// packets that CoDel dropped.
fn take(queue: &mut Mac80211, now: u64, station: u32) -> (Option<(u32, u32)>, Vec<u32>) {
    let (mut marked, mut lost) = (0, Vec::new());
    let packet = queue.take(Time(now), 0, station, &mut marked, &mut lost);
    let lost = lost.iter().map(|lost| lost.number).collect();
    (packet.map(|packet| (packet.flow, packet.number)), lost)
}

/// Returns two flows that the hash function maps to the same queue.
fn colliding(flows: u32) -> (u32, u32) {
    let fq = queue(Mac80211Setting { flows, ..SETTING }, 100, 2).fq;
    let first = fq.queue_of(0, 0);
    let second = (1..).find(|&flow| fq.queue_of(0, flow) == first);
    (0, second.unwrap())
}

#[test]
fn a_flow_whose_queue_another_tin_has_goes_to_its_tins_overflow_queue() {
    let (first, second) = colliding(64);
    let mut queue = queue(
        Mac80211Setting {
            flows: 64,
            ..SETTING
        },
        100,
        2,
    );
    offer(&mut queue, 0, 0, packet(first, 0, 1_500));
    assert_eq!(queue.fq.queue_of(1, second), 64 + 1);
    offer(&mut queue, 0, 1, packet(second, 1, 1_500));
    // each station gets only its own packets
    assert_eq!(take(&mut queue, 0, 1).0, Some((second, 1)));
    assert_eq!(take(&mut queue, 0, 1).0, None);
    assert_eq!(take(&mut queue, 0, 0).0, Some((first, 0)));
    // a flow queue that has left the round robin of its tin may be used by any tin
    assert_eq!(take(&mut queue, 0, 0).0, None);
    assert_ne!(queue.fq.queue_of(1, second), 64 + 1);
}

#[test]
fn a_full_radio_drops_half_of_the_fattest_flow_from_its_head() {
    let mut queue = queue(SETTING, 20, 2);
    for number in 0..12 {
        offer(&mut queue, 0, 0, packet(0, number, 1_500));
    }
    for number in 0..8 {
        assert_eq!(offer(&mut queue, 0, 1, packet(1, number, 1_500)), []);
    }
    let lost = offer(&mut queue, 0, 1, packet(1, 8, 40));
    assert_eq!(lost, (0..6).map(|number| (0, number)).collect::<Vec<_>>());
    assert_eq!(queue.packets(None).count(), 15);
    assert_eq!(take(&mut queue, 0, 0).0, Some((0, 6)));
}

#[test]
fn no_more_than_32_are_dropped_together() {
    let mut queue = queue(SETTING, 200, 1);
    for number in 0..200 {
        offer(&mut queue, 0, 0, packet(0, number, 1_500));
    }
    assert_eq!(offer(&mut queue, 0, 0, packet(0, 200, 1_500)).len(), 32);
}

#[test]
fn memory_is_limited_too() {
    // 10 packets of 1,500 bytes use 23,040 bytes of memory
    let setting = Mac80211Setting {
        memory_bytes: Some(23_040),
        ..SETTING
    };
    let mut queue = queue(setting, 8_192, 1);
    for number in 0..10 {
        assert_eq!(offer(&mut queue, 0, 0, packet(0, number, 1_500)), []);
    }
    assert_eq!(offer(&mut queue, 0, 0, packet(0, 10, 40)).len(), 5);
}

#[test]
fn a_sparse_flow_goes_first_and_long_packets_wait_for_their_quanta() {
    let mut queue = queue(SETTING, 100, 1);
    for number in 0..3 {
        offer(&mut queue, 0, 0, packet(0, number, 1_500));
    }
    // the byte deficit of the flow is 300 - 1500 = -1200
    assert_eq!(take(&mut queue, 0, 0).0, Some((0, 0)));
    for number in 0..5 {
        offer(&mut queue, 0, 0, packet(1, 10 + number, 300));
    }
    let order: Vec<_> = (0..7)
        .map(|_| take(&mut queue, 0, 0).0.unwrap().1)
        .collect();
    // the first flow has a deficit of -1200 bytes and gets 300 bytes per packet of the other flow:
    // its deficit is positive only after five packets
    assert_eq!(order, [10, 11, 12, 13, 14, 1, 2]);
}

#[test]
fn codel_controls_the_last_packet_of_a_flow_too() {
    let mut queue = queue(SETTING, 100, 1);
    for number in 0..3 {
        offer(&mut queue, 0, 0, packet(0, number, 1_500));
    }
    // the sojourn time is above the target from 30 ms on, and at 130 ms it has been above the
    // target for one interval: CoDel drops packet 1, and packet 2, the last of the flow queue, is
    // sent
    assert_eq!(take(&mut queue, 30 * MS, 0), (Some((0, 0)), vec![]));
    assert_eq!(take(&mut queue, 131 * MS, 0), (Some((0, 2)), vec![1]));
}

#[test]
fn marks_are_for_who_can_carry_them() {
    let mut queue = queue(SETTING, 100, 1);
    for number in 0..4 {
        let packet = Packet {
            ecn: Ecn::Capable,
            ..packet(0, number, 1_500)
        };
        offer(&mut queue, 0, 0, packet);
    }
    take(&mut queue, 30 * MS, 0);
    let (mut marked, mut lost) = (0, Vec::new());
    let packet = queue.take(Time(131 * MS), 0, 0, &mut marked, &mut lost);
    assert_eq!(packet.map(|packet| packet.ecn), Some(Ecn::Experienced));
    assert_eq!((marked, lost.len()), (1, 0));
}

#[test]
fn a_slow_station_has_a_longer_target_where_there_is_the_rule() {
    let codel = |slow_stations, expected_bps| {
        let setting = Mac80211Setting {
            slow_stations,
            ..SETTING
        };
        let mut queue = queue(setting, 100, 3);
        queue.rate(1, 0..1, Estimate::default(), expected_bps);
        queue.codel(1)
    };
    assert_eq!(codel(false, 1e6), SETTING.codel());
    assert_eq!(codel(true, 18e6), SETTING.codel());
    assert_eq!(
        codel(true, 17.9e6),
        settings::SLOW,
        "three stations, 18 Mb/s"
    );
}
