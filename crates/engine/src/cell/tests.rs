//! Tests of the cell, without an event queue, flows or a real-time clock.

use proptest::prelude::*;

use super::*;
use crate::kernel::streams::Streams;
use crate::kernel::time::Span;
use crate::queue::Greedy;
use crate::scenario::{Format, parse};

fn cell(text: &str) -> Cell<SingleFrame> {
    let text = format!("duration = \"1 s\"\n[cell]\nphy = \"802.11b\"\n{text}");
    let Ok(scenario) = parse(&text, Format::Toml, "test.toml", &[]) else {
        panic!("a cell");
    };
    Cell::new(scenario.hotspot(), false, &Streams::new(1, 0))
}

/// Runs the cell until `until`. Returns the packets received, and the number of packets lost.
fn run(
    cell: &mut Cell<SingleFrame>,
    sources: &mut impl Greedy,
    until: Time,
) -> (Vec<(Time, Packet, OffAir)>, usize) {
    let mut received = Vec::new();
    let mut lost = 0;
    while cell.deadline() <= until {
        let now = cell.deadline();
        let mut packet = Packet::BLANK;
        match cell.advance(now, sources, None, &mut packet) {
            OffAir::Nothing => {}
            place => received.push((now, packet, place)),
        }
        while cell.take_lost().is_some() {
            lost += 1;
        }
    }
    (received, lost)
}

#[test]
fn packets_offered_to_the_access_point_reach_the_station_in_order() {
    let mut cell = cell("[station.a]\ndownload = 1\n");
    for number in 0..3 {
        let packet = Packet {
            number,
            ..Packet::SAMPLE
        };
        assert!(cell.offer(Time::ZERO, 0, &packet));
    }
    let (received, lost) = run(&mut cell, &mut (), Time(1_000_000_000));
    let numbers: Vec<u32> = received
        .iter()
        .map(|(_, packet, _)| packet.number)
        .collect();
    assert_eq!((numbers, lost), (vec![0, 1, 2], 0));
    assert!(received.iter().all(|(_, _, off)| *off == OffAir::AtStation));
    assert_eq!(cell.frames(0).delivered, 3);
}

#[test]
fn packets_from_a_station_reach_the_access_point() {
    let mut cell = cell("[station.a]\nupload = 1\n");
    assert!(cell.offer(Time::ZERO, 1, &Packet::SAMPLE));
    assert_eq!(cell.activity_ns(Time(1_000)), 1_000, "one station active");
    let (received, _) = run(&mut cell, &mut (), Time(1_000_000_000));
    assert!(matches!(received[..], [(_, _, OffAir::AtAccessPoint)]));
}

#[test]
fn a_full_queue_refuses_packets() {
    let mut cell = cell("ap_queue = 2\n[station.a]\ndownload = 1\n");
    let enters = [(); 3].map(|()| cell.offer(Time::ZERO, 0, &Packet::SAMPLE));
    assert_eq!(enters, [true, true, false]);
}

#[test]
fn frames_given_up_are_returned_as_lost() {
    let mut cell = cell("[station.a]\ndownload = 1\nerror_down = 0.99\n");
    assert!(cell.offer(Time::ZERO, 0, &Packet::SAMPLE));
    let (received, lost) = run(&mut cell, &mut (), Time(10_000_000_000));
    assert_eq!((received.len(), lost), (0, 1));
    assert_eq!(cell.queue(0).packets().count(), 0);
}

/// A greedy source with a limited number of remaining packets.
struct Supply(u32);

impl Greedy for Supply {
    fn refill(&mut self, now: Time, _: u32, queue: &mut HeadQueue) {
        while self.0 > 0 && !queue.is_full(now) {
            self.0 -= 1;
            queue.offer(now, &Packet::SAMPLE);
        }
    }
}

#[test]
fn greedy_sources_fill_a_queue_before_the_medium_reads_it() {
    let mut cell = cell("ap_queue = 2\n[station.a]\ndownload = 1\n");
    let mut supply = Supply(5);
    cell.fill(Time::ZERO, 0, &mut supply);
    assert_eq!(cell.queue(0).packets().count(), 2);
    let (received, _) = run(&mut cell, &mut supply, Time(1_000_000_000));
    assert_eq!(received.len(), 5);
}

const MS: u64 = 1_000_000;

/// Times of the first two beacons. [ns]
const BEACONS: [u64; 2] = [102_400_000, 204_800_000];

/// Upper bound of the time to send a frame of 1500 bytes in an empty cell. This time consists of
/// DIFS, at most 31 slots, and 1500 us on the air. [ns]
const FRAME: u64 = 3 * MS;

fn packet(flow: u32, number: u32) -> Packet {
    Packet {
        flow,
        number,
        ..Packet::SAMPLE
    }
}

fn numbers(received: &[(Time, Packet, OffAir)]) -> Vec<u32> {
    received
        .iter()
        .map(|(_, packet, _)| packet.number)
        .collect()
}

/// Returns whether `at` is within the duration of one frame after `since`.
fn soon(since: u64, at: Time) -> bool {
    (since..since + FRAME).contains(&at.0)
}

#[test]
fn a_packet_for_a_station_that_sleeps_waits_for_the_beacon() {
    let mut cell = cell("[station.a]\ndownload = 1\npower_save = \"0 s\"\n");
    assert_eq!(cell.deadline(), Time::NEVER, "no packet waits for a beacon");
    // a packet that arrives at the time of a beacon is too late for this beacon, and waits for the
    // next beacon
    for (at, beacon) in [(10 * MS, BEACONS[0]), (BEACONS[0], BEACONS[1])] {
        let mut cell = cell.clone();
        assert!(cell.offer(Time(at), 0, &packet(0, 0)));
        assert_eq!(cell.deadline(), Time(beacon));
        let inside = (
            cell.power_save_packets().count(),
            cell.queue(0).packets().count(),
        );
        assert_eq!(inside, (1, 0));
        let (received, _) = run(&mut cell, &mut (), Time(beacon + FRAME));
        assert_eq!(received.len(), 1);
        assert!(soon(beacon, received[0].0));
    }
}

#[test]
fn kept_packets_of_all_stations_are_released_in_order_of_arrival() {
    let mut cell = cell("[station.s]\ncount = 3\ndownload = 1\npower_save = \"0 s\"\n");
    let flows = [2, 0, 1, 0, 2];
    for (flow, number) in flows.into_iter().zip(0..) {
        assert!(cell.offer(Time(u64::from(number)), 0, &packet(flow, number)));
    }
    let (received, lost) = run(&mut cell, &mut (), Time(200 * MS));
    assert_eq!((numbers(&received), lost), (vec![0, 1, 2, 3, 4], 0));
    assert!(soon(BEACONS[0], received[0].0));
    assert_eq!(cell.power_save_packets().count(), 0);
    assert_eq!(cell.deadline(), Time::NEVER);
}

#[test]
fn a_full_power_save_queue_loses_its_oldest_packet() {
    let text = "power_save_queue = 2\n[station.s]\ncount = 2\ndownload = 1\npower_save = \"0 s\"\n";
    let mut cell = cell(text);
    for number in 0..4 {
        assert!(cell.offer(Time(5), 0, &packet(0, number)));
    }
    assert!(cell.offer(Time(5), 0, &packet(1, 9)));
    let lost: Vec<u32> = std::iter::from_fn(|| cell.take_lost())
        .map(|packet| packet.number)
        .collect();
    assert_eq!(lost, [1, 0], "the packet lost last is fetched first");
    let (received, _) = run(&mut cell, &mut (), Time(200 * MS));
    assert_eq!(numbers(&received), [2, 3, 9]);
    let counted: Vec<_> = cell
        .sleepers()
        .map(|(name, own)| (name.to_owned(), own.offered, own.dropped, own.left))
        .collect();
    let expected = [("power-save/s-1", 4, 2, 2), ("power-save/s-2", 1, 0, 1)];
    assert_eq!(
        counted,
        expected.map(|(name, a, b, c)| (name.to_owned(), a, b, c))
    );
}

#[test]
fn a_full_queue_loses_released_packets() {
    let text = "ap_queue = 2\n[station.a]\ndownload = 1\npower_save = \"0 s\"\n";
    let mut cell = cell(text);
    for number in 0..5 {
        assert!(cell.offer(Time(5), 0, &packet(0, number)));
    }
    let (received, lost) = run(&mut cell, &mut (), Time(200 * MS));
    assert_eq!((numbers(&received), lost), (vec![0, 1], 3));
}

#[test]
fn a_packet_that_arrives_while_others_are_sent_is_sent_with_them() {
    let mut cell = cell("[station.a]\ndownload = 1\npower_save = \"0 s\"\n");
    for number in 0..10 {
        assert!(cell.offer(Time(5), 0, &packet(0, number)));
    }
    let during = BEACONS[0] + 4 * MS;
    let (mut received, _) = run(&mut cell, &mut (), Time(during));
    assert!(cell.offer(Time(during), 0, &packet(0, 10)));
    let (others, _) = run(&mut cell, &mut (), Time(BEACONS[0] + 60 * MS));
    received.extend(others);
    assert_eq!(numbers(&received), (0..11).collect::<Vec<u32>>());
    // 60 ms after the beacon the queue is empty and the station sleeps again, so that a new packet
    // waits for the next beacon
    assert!(cell.offer(Time(BEACONS[0] + 60 * MS), 0, &packet(0, 11)));
    assert_eq!(cell.deadline(), Time(BEACONS[1]));
}

#[test]
fn a_frame_from_a_station_that_stays_awake_after_frames_wakes_it() {
    let text = "[station.a]\ndownload = 1\nupload = 1\npower_save = \"20 ms\"\n";
    let mut cell = cell(text);
    let up = packet(1, 7);
    assert!(cell.offer(Time(5), 0, &packet(0, 0)));
    assert_eq!(cell.deadline(), Time(BEACONS[0]));
    assert!(cell.offer(Time(10 * MS), 1, &up));
    let (received, _) = run(&mut cell, &mut (), Time(30 * MS));
    assert_eq!(numbers(&received), [7, 0]);
    assert!(soon(received[0].0.0, received[1].0), "{received:?}");
    // the station stays awake for 20 ms after the end of its last MAC ACK, which is later than
    // `last`; the new packet is therefore not kept
    let last = received[1].0;
    assert!(cell.offer(last + Span(20 * MS), 0, &packet(0, 1)), "awake");
    assert_eq!(cell.queue(0).packets().count(), 1);
    let (received, _) = run(&mut cell, &mut (), Time(60 * MS));
    assert_eq!(numbers(&received), [1]);
    let asleep = received[0].0 + Span(20 * MS + MS / 2);
    assert!(cell.offer(asleep, 0, &packet(0, 2)));
    assert_eq!(cell.power_save_packets().count(), 1);
}

#[test]
fn a_frame_from_a_station_that_sleeps_until_beacons_does_not_wake_it() {
    let text = "[station.a]\ndownload = 1\nupload = 1\npower_save = \"0 s\"\n";
    let mut cell = cell(text);
    assert!(cell.offer(Time(5), 0, &packet(0, 0)));
    assert!(cell.offer(Time(10 * MS), 1, &packet(1, 7)));
    let ends = cell.deadline();
    let (received, _) = run(&mut cell, &mut (), ends);
    assert_eq!(numbers(&received), [7]);
    // the station is awake only to receive its MAC ACK; the access point keeps the new packet,
    // which would otherwise overtake the kept packet
    assert!(cell.offer(received[0].0 + Span(1), 0, &packet(0, 1)));
    assert_eq!(cell.power_save_packets().count(), 2);
    let (received, _) = run(&mut cell, &mut (), Time(200 * MS));
    assert!(soon(BEACONS[0], received[0].0));
}

#[test]
fn packets_for_an_awake_station_do_not_wait_for_a_sleeping_station() {
    let text = "[station.a]\ndownload = 1\npower_save = \"0 s\"\n[station.b]\ndownload = 1\n";
    let mut cell = cell(text);
    assert!(cell.offer(Time(5), 0, &packet(0, 0)));
    assert!(cell.offer(Time(5), 0, &packet(1, 1)));
    let (received, _) = run(&mut cell, &mut (), Time(200 * MS));
    assert_eq!(numbers(&received), [1, 0]);
    assert!(soon(0, received[0].0) && soon(BEACONS[0], received[1].0));
}

/// Time for which each station stays awake after a frame: a station that sleeps until the next
/// beacon, a station that stays awake for 20 ms, and a station that never sleeps. [ns]
const AWAKE: [Option<u64>; 3] = [Some(0), Some(20 * MS), None];

/// Upper bound of the duration of SIFS and a MAC ACK. The test does not need the exact duration.
const MAC_ACK: u64 = MS / 2;

/// Offers packets at random times, and checks for each packet that the access point keeps it if,
/// and only if, its station sleeps.
fn obey(arrivals: &[(u64, usize, bool)]) {
    let mut cell = cell(
        "[station.s0]\ndownload = 1\nupload = 1\npower_save = \"0 s\"\n\
         [station.s1]\ndownload = 1\nupload = 1\npower_save = \"20 ms\"\n\
         [station.s2]\ndownload = 1\nupload = 1\n",
    );
    let (mut at, mut offered) = (0, [[0_u32; 2]; 3]);
    let mut last = [None; 3];
    let mut received = [[0_u32; 2]; 3];
    let mut observe = |received_now: Vec<(Time, Packet, OffAir)>, last: &mut [Option<u64>; 3]| {
        for (at, packet, off) in received_now {
            let (station, up) = (packet.flow as usize / 2, off == OffAir::AtAccessPoint);
            let next = &mut received[station][usize::from(up)];
            assert_eq!(packet.number, *next, "in order, and nothing is lost");
            *next += 1;
            last[station] = Some(at.0);
        }
    };
    for &(gap, station, up) in arrivals {
        at += gap;
        let now = Time(at);
        observe(run(&mut cell, &mut (), now).0, &mut last);
        let flow = 2 * station as u32 + u32::from(up);
        let held: Vec<Packet> = cell.power_save_packets().copied().collect();
        let in_queue = cell
            .queue(0)
            .packets()
            .any(|packet| packet.flow as usize / 2 == station);
        let number = offered[station][usize::from(up)];
        offered[station][usize::from(up)] += 1;
        let queue = if up { station as u32 + 1 } else { 0 };
        assert!(cell.offer(now, queue, &packet(flow, number)));
        let is_kept = cell.power_save_packets().count() > held.len();
        let waits = held
            .iter()
            .any(|packet| packet.flow as usize / 2 == station);
        match (AWAKE[station], last[station]) {
            (Some(_), _) if !up && waits => assert!(is_kept, "others wait before it"),
            (Some(_), _) if !up && in_queue => assert!(!is_kept, "the queue has a packet for it"),
            (Some(_), None) if !up => assert!(is_kept, "no frame of it was observed"),
            (Some(awake), Some(last)) if !up && at > last + awake + MAC_ACK => assert!(is_kept),
            (Some(awake), Some(last)) if !up && awake > 0 && at < last + awake => assert!(!is_kept),
            // the station falls asleep at about this time, so that the packet may be kept or not
            (Some(_), Some(_)) if !up => {}
            (_, _) => assert!(!is_kept),
        }
    }
    observe(run(&mut cell, &mut (), Time(at + 2_000 * MS)).0, &mut last);
    assert_eq!(received, offered);
    assert_eq!(cell.power_save_packets().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn kept_packets_are_those_of_the_rules(
        arrivals in prop::collection::vec((0..40 * MS, 0..3_usize, any::<bool>()), 1..80)
    ) {
        obey(&arrivals);
    }
}
