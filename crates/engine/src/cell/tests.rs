//! The cell by itself: no agenda, no flows, no clock.

use super::*;
use crate::scenario::{Format, parse};

fn cell(text: &str) -> Cell {
    let text = format!("duration = \"1 s\"\n[cell]\nphy = \"802.11b\"\n{text}");
    let Ok(scenario) = parse(&text, Format::Toml, "test.toml", &[]) else {
        panic!("a cell");
    };
    Cell::new(scenario.hotspot(), false, &Streams::new(1, 0))
}

/// Lets the cell run dry: what has been received, and how many packets were lost.
fn run(cell: &mut Cell, sources: &mut impl Greedy, until: Time) -> (Vec<(Time, Received)>, usize) {
    let mut received = Vec::new();
    let mut lost = 0;
    while cell.deadline() <= until {
        let now = cell.deadline();
        let outcome = cell.end_exchange();
        received.extend(cell.clear(now, outcome, sources).map(|one| (now, one)));
        while cell.take_lost().is_some() {
            lost += 1;
        }
    }
    (received, lost)
}

#[test]
fn what_is_offered_to_the_access_point_reaches_the_station_in_order() {
    let mut cell = cell("[station.a]\ndownload = 1\n");
    for number in 0..3 {
        let packet = Packet {
            number,
            ..Packet::SAMPLE
        };
        assert!(cell.offer(Time::ZERO, 0, &packet));
    }
    let (received, lost) = run(&mut cell, &mut (), Time(1_000_000_000));
    let numbers: Vec<u32> = received.iter().map(|(_, one)| one.packet.number).collect();
    assert_eq!((numbers, lost), (vec![0, 1, 2], 0));
    assert!(received.iter().all(|(_, one)| one.by_station));
    assert_eq!(cell.frames(0).delivered, 3);
}

#[test]
fn what_a_station_sends_is_received_by_the_access_point() {
    let mut cell = cell("[station.a]\nupload = 1\n");
    assert!(cell.offer(Time::ZERO, 1, &Packet::SAMPLE));
    assert_eq!(cell.activity_ns(Time(1_000)), 1_000, "one station active");
    let (received, _) = run(&mut cell, &mut (), Time(1_000_000_000));
    assert!(matches!(
        received[..],
        [(
            _,
            Received {
                by_station: false,
                ..
            }
        )]
    ));
}

#[test]
fn a_full_queue_refuses() {
    let mut cell = cell("ap_queue = 2\n[station.a]\ndownload = 1\n");
    let enters = [(); 3].map(|()| cell.offer(Time::ZERO, 0, &Packet::SAMPLE));
    assert_eq!(enters, [true, true, false]);
}

#[test]
fn frames_given_up_are_handed_out_as_lost() {
    let mut cell = cell("[station.a]\ndownload = 1\nerror_down = 0.99\n");
    assert!(cell.offer(Time::ZERO, 0, &Packet::SAMPLE));
    let (received, lost) = run(&mut cell, &mut (), Time(10_000_000_000));
    assert_eq!((received.len(), lost), (0, 1));
    assert_eq!(cell.queue(0).packets().count(), 0);
}

/// A source that has a number of packets left.
struct Supply(u32);

impl Greedy for Supply {
    fn refill(&mut self, now: Time, _: u32, queue: &mut HeadQueue) {
        while self.0 > 0 && !queue.is_full(now) {
            self.0 -= 1;
            queue.offer(now, Packet::SAMPLE);
        }
    }
}

#[test]
fn greedy_sources_fill_a_queue_again_before_the_medium_looks_at_it() {
    let mut cell = cell("ap_queue = 2\n[station.a]\ndownload = 1\n");
    let mut supply = Supply(5);
    cell.fill(Time::ZERO, 0, &mut supply);
    assert_eq!(cell.queue(0).packets().count(), 2);
    let (received, _) = run(&mut cell, &mut supply, Time(1_000_000_000));
    assert_eq!(received.len(), 5);
}
