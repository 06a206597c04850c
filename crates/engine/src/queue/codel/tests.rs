//! Compares CoDel with calculated drop times, and with a separate implementation of the pseudocode
//! of RFC 8289.

use proptest::prelude::*;

use super::*;
use crate::packet::{Ecn, PacketKind};

const MS: u64 = 1_000_000;

const SETTING: CoDelSetting = CoDelSetting {
    target: Span(5 * MS),
    interval: Span(100 * MS),
    ecn: false,
    ce_threshold: None,
    ce_threshold_l4s: false,
};

fn packet(number: u32, queued: u64, bytes: u16, ecn: Ecn) -> Packet {
    Packet {
        flow: 0,
        number,
        stamp: Time::ZERO,
        queued: Time(queued),
        bytes,
        hop: 0,
        kind: PacketKind::Segment,
        ecn,
        ..Packet::SAMPLE
    }
}

/// Removes one packet per `gap` [ns] from `from` to `to` [ns]. Returns for each dropped packet the
/// time of the drop [ms] and the packet's number.
fn serve(
    codel: &mut CoDel,
    setting: &CoDelSetting,
    (from, to, gap): (u64, u64, u64),
) -> Vec<(u64, u32)> {
    let mut drops = Vec::new();
    for now in (from..to).step_by(gap as usize) {
        let (mut dropped, mut marked) = (Vec::new(), 0);
        let passed = Passed {
            dropped: &mut dropped,
            marked: &mut marked,
        };
        codel.dequeue(Time(now), setting, 1_500, passed);
        drops.extend(dropped.iter().map(|packet| (now / MS, packet.number)));
    }
    drops
}

#[test]
fn drops_come_at_the_interval_over_the_root_of_their_number() {
    // all packets arrive at time 0, and one packet is dequeued per millisecond from 10 ms on: the
    // sojourn time exceeds the target at 10 ms, and the first drop is at 110 ms; the next drops are
    // at 210, 210 + 100/sqrt 2 = 280.7, + 100/sqrt 3 = 338.4, + 50 = 388.4 ms
    let mut codel = CoDel::default();
    for number in 0..1_000 {
        codel.push(packet(number, 0, 1_500, Ecn::NotCapable));
    }
    let drops = serve(&mut codel, &SETTING, (10 * MS, 400 * MS, MS));
    let times: Vec<u64> = drops.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [110, 210, 281, 339, 389]);
    // CoDel drops the packet at the head of the queue; this is packet 100, because packets 0 to 99
    // have left before
    assert_eq!(drops[0].1, 100);
}

#[test]
fn a_backlog_of_one_packet_is_never_dropped_from() {
    let mut codel = CoDel::default();
    let mut drops = Vec::new();
    codel.push(packet(0, 0, 1_500, Ecn::NotCapable));
    for step in 1..1_000_u64 {
        codel.push(packet(step as u32, 0, 1_500, Ecn::NotCapable));
        // one of the two packets in the queue leaves; the other packet is not longer than the
        // largest packet, so that CoDel drops nothing
        let at = 500 * MS + step * MS;
        drops.extend(serve(&mut codel, &SETTING, (at, at + 1, 1)));
    }
    assert_eq!((drops.len(), codel.packets.len()), (0, 1));
}

#[test]
fn a_packet_that_can_carry_a_mark_is_marked_and_sent() {
    let mut codel = CoDel::default();
    let setting = CoDelSetting {
        ecn: true,
        ..SETTING
    };
    for number in 0..1_000 {
        let ecn = if number < 300 {
            Ecn::Capable
        } else {
            Ecn::NotCapable
        };
        codel.push(packet(number, 0, 1_500, ecn));
    }
    let (mut dropped, mut marked, mut marks) = (Vec::new(), 0, Vec::new());
    for at in 10..450 {
        let passed = Passed {
            dropped: &mut dropped,
            marked: &mut marked,
        };
        let sent = codel.dequeue(Time(at * MS), &setting, 1_500, passed);
        marks.extend(sent.filter(|sent| sent.ecn == Ecn::Experienced).map(|_| at));
    }
    // CoDel marks packets at the times at which it would otherwise drop packets; from 310 ms on,
    // the head of the queue is packet 300 or a later packet, which is not ECN-capable and is
    // dropped
    assert_eq!((marks, marked), (vec![110, 210, 281], 3));
    assert_eq!(dropped.len(), 3, "at 339, 389 and 433 ms");
}

/// Packets with sojourn times of 0, 1, 2, ... ms are marked above a `ce_threshold` of 3 ms, as in
/// Linux. The setting `ce_threshold_l4s` determines whether all ECN-capable packets are marked, or
/// only ECT(1) packets. CoDel itself marks nothing, because the interval has not passed.
#[test]
fn packets_are_marked_by_their_time_in_the_queue() {
    use Ecn::{Capable, Experienced, NotCapable, Scalable};
    let marked = |ce_threshold_l4s| {
        let setting = CoDelSetting {
            ce_threshold: Some(Span(3 * MS)),
            ce_threshold_l4s,
            ..SETTING
        };
        let mut codel = CoDel::default();
        let kinds = [Scalable, Capable, NotCapable, Experienced];
        for number in 0..12 {
            codel.push(packet(number, 0, 1_500, kinds[number as usize % 4]));
        }
        let (mut dropped, mut marked) = (Vec::new(), 0);
        let newly = (0..12_u64).filter(|at| {
            let passed = Passed {
                dropped: &mut dropped,
                marked: &mut marked,
            };
            let sent = codel.dequeue(Time(at * MS), &setting, 1_500, passed);
            let was = kinds[*at as usize % 4];
            sent.is_some_and(|sent| sent.ecn == Experienced) && was != Experienced
        });
        (newly.collect::<Vec<u64>>(), marked, dropped.len())
    };
    assert_eq!(marked(false), (vec![4, 5, 8, 9], 4, 0));
    assert_eq!(marked(true), (vec![4, 8], 2, 0));
}

/// An implementation of RFC 8289, section 5, with the names of the RFC. Times are floating-point
/// numbers. [s]
#[derive(Default)]
struct Rfc {
    queue: VecDeque<(f64, u32, f64)>,
    first_above_time: f64,
    drop_next: f64,
    count: u32,
    lastcount: u32,
    dropping: bool,
    dropped: Vec<u32>,
}

impl Rfc {
    fn dodequeue(&mut self, now: f64) -> (Option<u32>, bool) {
        let Some((tstamp, number, _)) = self.queue.pop_front() else {
            self.first_above_time = 0.0;
            return (None, false);
        };
        let bytes: f64 = self.queue.iter().map(|(_, _, bytes)| bytes).sum();
        let mut ok_to_drop = false;
        if now - tstamp < 0.005 || bytes <= 1_500.0 {
            self.first_above_time = 0.0;
        } else if self.first_above_time == 0.0 {
            self.first_above_time = now + 0.1;
        } else if now >= self.first_above_time - 1e-12 {
            ok_to_drop = true;
        }
        (Some(number), ok_to_drop)
    }

    fn control_law(&self, t: f64) -> f64 {
        t + 0.1 / f64::from(self.count).sqrt()
    }

    fn deque(&mut self, now: f64) -> Option<u32> {
        let mut r = self.dodequeue(now);
        if self.dropping {
            if !r.1 {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.dropped.extend(r.0);
                self.count += 1;
                r = self.dodequeue(now);
                if r.1 {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if r.1 {
            self.dropped.extend(r.0);
            r = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count.saturating_sub(self.lastcount);
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16.0 * 0.1 {
                self.count = delta;
            }
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        r.0
    }
}

proptest! {
    #[test]
    fn the_pseudo_code_drops_the_same_packets(
        phases in prop::collection::vec((1..400_u64, 40_u16..1500, 1..60_u64), 1..40),
    ) {
        // random phases of arrivals; the server sends one packet every ten steps of a prime number
        // of nanoseconds, so that no comparison depends on rounding
        let (mut codel, mut rfc) = (CoDel::default(), Rfc::default());
        let (mut step, mut number, mut dropped) = (1_u64, 0_u32, Vec::new());
        for (length, bytes, every) in phases {
            for _ in 0..length {
                step += 1;
                let now = step * 300_007;
                if step % every == 0 {
                    number += 1;
                    codel.push(packet(number, now, bytes, Ecn::NotCapable));
                    rfc.queue.push_back((now as f64 / 1e9, number, f64::from(bytes)));
                }
                if step % 10 == 0 {
                    let mut marked = 0;
                    let passed = Passed { dropped: &mut dropped, marked: &mut marked };
                    let sent = codel.dequeue(Time(now), &SETTING, 1_500, passed);
                    prop_assert_eq!(sent.map(|sent| sent.number), rfc.deque(now as f64 / 1e9));
                }
            }
        }
        let dropped: Vec<u32> = dropped.iter().map(|packet| packet.number).collect();
        prop_assert_eq!(dropped, rfc.dropped);
        prop_assert_eq!(codel.packets.len(), rfc.queue.len());
        let bytes: u64 = codel.packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        prop_assert_eq!(codel.bytes, bytes);
    }
}
