//! Tests of FQ-CoDel: hashing, calculated rounds of the scheduler, priority of sparse flows, shares
//! of flows.

use super::*;
use crate::kernel::streams::Streams;
use crate::kernel::time::Span;
use crate::packet::PacketKind;
use crate::queue::CoDelSetting;

const MS: u64 = 1_000_000;

const CODEL: CoDelSetting = CoDelSetting {
    target: Span(5 * MS),
    interval: Span(100 * MS),
    ecn: true,
    ce_threshold: None,
    ce_threshold_l4s: false,
};

const SETTING: FqCoDelSetting = FqCoDelSetting {
    target: CODEL.target,
    interval: CODEL.interval,
    quantum_bytes: 1_500,
    queues: 1_024,
    ecn: CODEL.ecn,
    ce_threshold: None,
    ce_threshold_l4s: false,
};

fn fq(seed: u64) -> FqCoDel {
    FqCoDel::new(SETTING, Streams::new(seed, 0).stream("ap/fq"))
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

/// Returns the flow and the number of the next packet at `now` [ns].
fn next(fq: &mut FqCoDel, now: u64) -> Option<(u32, u32)> {
    let mut dropped = Vec::new();
    fq.dequeue(Time(now), &mut dropped)
        .map(|packet| (packet.flow, packet.number))
}

#[test]
fn flows_are_spread_over_the_queues_by_a_seeded_hash() {
    let queues = |seed| {
        let fq = fq(seed);
        (0..1_024)
            .map(|flow| hashed(flow, fq.key, 1_024))
            .collect::<Vec<u32>>()
    };
    let (first, second) = (queues(1), queues(2));
    assert_eq!(first, queues(1));
    assert_ne!(first, second);
    // 1,024 flows are hashed to 1,024 queues: the expected number of empty queues is 1,024/e = 377,
    // with a standard deviation of 10
    for mut queues in [first, second] {
        queues.sort_unstable();
        queues.dedup();
        let empty = 1_024 - queues.len();
        assert!((327..427).contains(&empty), "{empty}");
        assert!(queues.last().is_some_and(|last| *last < 1_024));
    }
}

#[test]
fn rounds_give_each_flow_its_quantum_of_bytes() {
    let mut fq = fq(1);
    let mut dropped = Vec::new();
    for number in 0..6 {
        fq.enqueue(packet(1, number, 1_500), 100, &mut dropped);
    }
    for number in 0..6 {
        fq.enqueue(packet(2, number, 500), 100, &mut dropped);
    }
    assert_ne!(hashed(1, fq.key, 1_024), hashed(2, fq.key, 1_024));
    // a round consists of one packet of 1,500 B from flow 1 and three packets of 500 B from flow 2
    let order: Vec<(u32, u32)> = std::iter::from_fn(|| next(&mut fq, 1)).take(8).collect();
    let flows: Vec<u32> = order.iter().map(|(flow, _)| *flow).collect();
    assert_eq!(flows, [1, 2, 2, 2, 1, 2, 2, 2]);
    let bytes: u32 = fq.packets().map(|packet| u32::from(packet.bytes)).sum();
    assert_eq!((fq.packets, bytes), (4, 6_000));
    assert!(std::iter::from_fn(|| next(&mut fq, 1)).all(|(flow, _)| flow == 1));
    assert_eq!((fq.packets, fq.packets().count(), dropped.len()), (0, 0, 0));
}

#[test]
fn a_sparse_flow_goes_first_but_cannot_keep_going_first() {
    let mut fq = fq(1);
    let mut dropped = Vec::new();
    for number in 0..10 {
        fq.enqueue(packet(1, number, 1_500), 100, &mut dropped);
    }
    assert_eq!(next(&mut fq, 1), Some((1, 0)));
    // flow 1 has used up its quantum: a packet of flow 2, which has just become busy, is served
    // before the nine waiting packets of flow 1
    fq.enqueue(packet(2, 0, 100), 100, &mut dropped);
    assert_eq!(next(&mut fq, 1), Some((2, 0)));
    // a flow that becomes idle stays in the old list for one round before it counts as new again
    assert_eq!(next(&mut fq, 1), Some((1, 1)));
    fq.enqueue(packet(2, 1, 100), 100, &mut dropped);
    assert_eq!(next(&mut fq, 1), Some((2, 1)));
    assert_eq!(next(&mut fq, 1), Some((1, 2)));
}

#[test]
fn a_full_queue_drops_from_the_head_of_the_longest() {
    let mut fq = fq(1);
    let mut dropped = Vec::new();
    for number in 0..8 {
        fq.enqueue(packet(1, number, 1_500), 10, &mut dropped);
    }
    for number in 0..4 {
        fq.enqueue(packet(2, number, 1_500), 10, &mut dropped);
    }
    let victims: Vec<(u32, u32)> = dropped.iter().map(|p| (p.flow, p.number)).collect();
    assert_eq!((victims, fq.packets), (vec![(1, 0), (1, 1)], 10));
}

#[test]
fn greedy_flows_share_by_bytes_whatever_they_offer() {
    // the link sends 1,500 B per millisecond; flow 1 offers 3,000 B per millisecond, and flow 2
    // offers 6,000 B per millisecond in packets of 500 B
    let mut fq = fq(1);
    let (mut dropped, mut sent, mut numbers) = (Vec::new(), [0_u64; 3], [0_u32; 3]);
    for ms in 0..20_000_u64 {
        for (flow, bytes, times) in [(1, 1_500, 2), (2, 500, 12)] {
            for _ in 0..times {
                numbers[flow as usize] += 1;
                let queued = Time(ms * MS);
                let packet = Packet {
                    queued,
                    ..packet(flow, numbers[flow as usize], bytes)
                };
                fq.enqueue(packet, 1_000, &mut dropped);
            }
        }
        let mut room = 1_500_i64;
        while room > 0 {
            let Some(packet) = fq.dequeue(Time(ms * MS + 500_000), &mut dropped) else {
                break;
            };
            room -= i64::from(packet.bytes);
            sent[packet.flow as usize] += u64::from(packet.bytes);
        }
    }
    // the numbers of bytes that the two flows have sent differ by at most one quantum and one
    // packet
    assert!(sent[1].abs_diff(sent[2]) <= 3_000, "{sent:?}");
    let inside = fq.packets().count();
    let offered = (numbers[1] + numbers[2]) as usize;
    let left = (sent[1] / 1_500 + sent[2] / 500) as usize;
    assert_eq!(offered, left + dropped.len() + inside);
    assert!(inside <= 1_000 && inside == fq.packets);
}
