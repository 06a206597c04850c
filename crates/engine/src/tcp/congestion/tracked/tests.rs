//! Tests of tracked transmissions, with a congestion control that records its events.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::tcp::congestion::{CongestionSign, MarkReport, NewAck, RecoveryAck};

/// A congestion control that attaches a transmission number to each transmission, and records
/// whether the transmission arrives or is lost.
#[derive(Clone, Debug, Default)]
struct Recorder {
    departures: u32,
    arrivals: Vec<(u32, u32)>,
    lost: Vec<u32>,
}

impl CongestionControl for Recorder {
    type PacketInfo = u32;

    fn on_sent(&mut self, _: &mut Window, _: &Sent) -> u32 {
        self.departures += 1;
        self.departures
    }

    fn on_delivered(&mut self, window: &mut Window, arrival: &Arrival, newest: u32) {
        window.cwnd += f64::from(arrival.segments);
        self.arrivals.push((arrival.segments, newest));
    }

    fn on_lost(&mut self, _: &mut Window, _: &Lost, info: u32) {
        self.lost.push(info);
    }

    fn earliest_departure(&self, now: Time) -> Time {
        Time(now.0 + u64::from(self.departures))
    }

    fn on_ack(&mut self, _: &mut Window, _: NewAck) {}
    fn on_recovery_ack(&mut self, _: &mut Window, _: RecoveryAck) {}
    fn on_loss(&mut self, _: &mut Window, _: u32, _: CongestionSign) {}
    fn on_timeout(&mut self, _: &mut Window, _: u32, _: bool) {}
    fn on_marks(&mut self, _: &MarkReport) {}

    fn decrease_by_marks(&mut self, _: &mut Window, _: &MarkReport, _: u32) -> bool {
        false
    }
}

struct Bench {
    tracked: Tracked<Recorder>,
    window: Window,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            tracked: Tracked::new(Recorder::default(), 64),
            window: Window::new(10.0, 64.0, 64.0),
        }
    }

    fn send(&mut self, number: u32, is_probe: bool) {
        let sent = Sent {
            now: Time(1),
            number,
            is_retransmission: false,
            is_probe,
            flight: 1,
            srtt: None,
        };
        self.tracked.on_sent(&mut self.window, &sent);
    }

    fn lose(&mut self, number: u32) {
        let phase = RecoveryPhase::Fast;
        (self.tracked).on_lost(&mut self.window, Time(1), phase, &[number]);
    }

    /// Delivers an ACK. Returns the number of segments that the ACK reports for the first time, and
    /// the number of the most recent transmission of these segments; `None` if it reports nothing
    /// new.
    fn ack(&mut self, next: u32, blocks: &[(u32, u32)]) -> Option<(u32, u32)> {
        let mut all = Blocks::default();
        all[..blocks.len()].copy_from_slice(blocks);
        self.tracked
            .on_delivered(&mut self.window, Time(2), next, &all);
        self.tracked.control.arrivals.pop()
    }
}

/// Segments 0 to 5 are sent as transmissions 1 to 6. Segment 1 is lost and is sent again as
/// transmission 7.
#[test]
fn each_transmission_is_returned_once() {
    let mut bench = Bench::new();
    (0..6).for_each(|number| bench.send(number, false));
    assert_eq!(bench.ack(1, &[]), Some((1, 1)));
    assert_eq!(bench.ack(1, &[(3, 5)]), Some((2, 5)));
    // segments 3 and 4 have been reported before, so only segment 2 (transmission 3) is new
    assert_eq!(bench.ack(1, &[(2, 5)]), Some((1, 3)));
    bench.lose(1);
    bench.send(1, false);
    assert_eq!(bench.tracked.control.lost, [2]);
    assert_eq!(bench.ack(1, &[(2, 6)]), Some((1, 6)));
    assert_eq!(bench.ack(6, &[]), Some((1, 7)));
    assert_eq!(bench.ack(6, &[(2, 6)]), None); // an old SACK block, which reports nothing new
    assert_eq!(bench.window.cwnd, 16.0);
    assert_eq!(bench.tracked.control.earliest_departure(Time(5)), Time(12));
}

#[test]
fn a_probe_is_no_loss_and_the_newest_is_the_last_to_leave() {
    let mut bench = Bench::new();
    (0..3).for_each(|number| bench.send(number, false));
    bench.send(2, true);
    assert!(bench.tracked.control.lost.is_empty());
    bench.lose(0);
    bench.send(0, false);
    assert_eq!(bench.tracked.control.lost, [1]);
    assert_eq!(bench.ack(3, &[]), Some((3, 5))); // segment 0 was sent last, as transmission 5
}

proptest! {
    /// Compares the list of transmissions with a map from segments to their last transmissions.
    #[test]
    fn it_agrees_with_a_plain_map(steps in prop::collection::vec((0..4_u8, 0..40_u32), 1..200)) {
        let mut bench = Bench::new();
        let mut plain: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut snd_una, mut snd_max, mut departures) = (0, 0, 0);
        for (step, which) in steps {
            let outstanding = snd_max - snd_una;
            let chosen = snd_una + which % outstanding.max(1);
            match step {
                0 | 1 if outstanding < 40 => {
                    bench.send(snd_max, false);
                    departures += 1;
                    plain.insert(snd_max, departures);
                    snd_max += 1;
                }
                2 if outstanding > 0 => {
                    if plain.contains_key(&chosen) {
                        bench.lose(chosen);
                    }
                    bench.send(chosen, false);
                    departures += 1;
                    let lost = plain.insert(chosen, departures);
                    prop_assert_eq!(bench.tracked.control.lost.pop(), lost);
                }
                _ if outstanding > 0 => {
                    let (next, block) = match which % 2 {
                        0 => (chosen + 1, (0, 0)),
                        _ => (snd_una, (chosen, snd_max)),
                    };
                    let reported = |number: &u32| *number < next || (block.0..block.1).contains(number);
                    let arrived: Vec<u32> = plain
                        .iter()
                        .filter(|(number, _)| reported(number))
                        .map(|(_, &departure)| departure)
                        .collect();
                    plain.retain(|number, _| !reported(number));
                    let expected = arrived.iter().max().map(|&max| (arrived.len() as u32, max));
                    prop_assert_eq!(bench.ack(next, &[block]), expected);
                    snd_una = next;
                }
                _ => {}
            }
            prop_assert_eq!(bench.tracked.pending() as usize, plain.len());
        }
    }
}
