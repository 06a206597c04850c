//! The oracle itself, on timelines worked by hand. 802.11b: slot 20 us, SIFS 10 us, DIFS 50 us,
//! MAC ACK at 2 Mb/s 248 us, EIFS 10 + 304 + 50 us. Packets of 1064 bytes make frames of 1100
//! bytes, 992 us at 11 Mb/s; of 514 bytes, 592 us.

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::{PhyKind, Scenario};

use crate::cells;
use crate::medium::{self, Arrival, Outcome, Trace};
use crate::node::{Draws, Packet};

/// Draws from a script, per node; channel errors from a script, in order.
struct Script {
    backoff: Vec<Vec<(u32, u32)>>,
    corrupted: Vec<bool>,
}

impl Draws for Script {
    fn backoff(&mut self, node: u32, cw: u32) -> u32 {
        let (expected_cw, slots) = self.backoff[node as usize].remove(0);
        assert_eq!(cw, expected_cw, "window of node {node}");
        slots
    }

    fn corrupted(&mut self, _from: u32, _to: u32) -> bool {
        if self.corrupted.is_empty() {
            false
        } else {
            self.corrupted.remove(0)
        }
    }
}

fn two_stations() -> Scenario {
    let stations = (0..2)
        .map(|number| cells::station(number, cells::access(31)))
        .collect();
    cells::scenario(cells::phy(PhyKind::Dot11b), cells::access(31), stations)
}

fn arrival(at_us: u64, node: u32, id: u32, ip_bytes: u32) -> Arrival {
    let packet = Packet {
        id,
        to: u32::from(node == 0),
        ip_bytes,
        reply_bytes: None,
    };
    Arrival {
        at: Time(at_us * 1_000),
        node,
        packet,
    }
}

/// Start [us], node, packet, outcome of each attempt; every draw of the script must be used.
fn attempts(
    scenario: &Scenario,
    arrivals: &[Arrival],
    mut script: Script,
) -> (Vec<(u64, u32, u32, Outcome)>, Trace) {
    let trace = medium::play(scenario, arrivals, &mut script);
    assert!(
        script.backoff.iter().all(Vec::is_empty),
        "left over: {:?}",
        script.backoff
    );
    let attempts = trace
        .attempts
        .iter()
        .map(|a| (a.start.0 / 1_000, a.node, a.packet, a.outcome))
        .collect();
    (attempts, trace)
}

#[test]
fn an_idle_medium_is_used_at_once_and_post_backoff_delays_the_next_packet() {
    // Data 100..1092, ACK 1102..1350, AIFS until 1400, 3 slots until 1460.
    let arrivals = [arrival(100, 1, 0, 1064), arrival(1_200, 1, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(31, 3), (31, 9)], vec![]],
        corrupted: vec![],
    };
    let (seen, trace) = attempts(&two_stations(), &arrivals, script);
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Delivered),
            (1_460, 1, 1, Outcome::Delivered)
        ]
    );
    assert_eq!(trace.deliveries[0], (Time(1_092_000), 0, 0));
}

#[test]
fn a_packet_that_finds_the_medium_busy_draws_and_a_frozen_counter_keeps_its_value() {
    // Both arrive during node 1's first frame (100..1350 with ACK). From 1400: the AP has 2 slots,
    // node 2 has 5. The AP sends at 1440, until 2690; node 2 has 3 left, from 2740: 2800.
    let arrivals = [
        arrival(100, 1, 0, 1064),
        arrival(200, 0, 1, 1064),
        arrival(300, 2, 2, 1064),
    ];
    let script = Script {
        backoff: vec![
            vec![(31, 2), (31, 20)],
            vec![(31, 30)],
            vec![(31, 5), (31, 20)],
        ],
        corrupted: vec![],
    };
    let (seen, _) = attempts(&two_stations(), &arrivals, script);
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Delivered),
            (1_440, 0, 1, Outcome::Delivered),
            (2_800, 2, 2, Outcome::Delivered),
        ]
    );
}

/// Nodes 1 and 2 draw 4 during the AP's frame (100..1350) and collide at 1480; the frames end
/// at 2072 and 2472.
fn collision(scenario: &Scenario, second_draws: (u32, u32)) -> Vec<(u64, u32, u32, Outcome)> {
    let arrivals = [
        arrival(100, 0, 0, 1064),
        arrival(200, 1, 1, 514),
        arrival(300, 2, 2, 1064),
    ];
    let script = Script {
        backoff: vec![
            vec![(31, 31)],
            vec![(31, 4), (63, second_draws.0), (31, 20)],
            vec![(31, 4), (63, second_draws.1), (31, 20)],
        ],
        corrupted: vec![],
    };
    attempts(scenario, &arrivals, script).0
}

#[test]
fn a_collision_lasts_the_longest_frame_and_all_resume_together() {
    // All resume at 2472 + 364 = 2836. Node 1: 2856..3448, ACK until 3706, AIFS until 3756.
    assert_eq!(
        collision(&two_stations(), (1, 2)),
        [
            (100, 0, 0, Outcome::Delivered),
            (1_480, 1, 1, Outcome::Collided),
            (1_480, 2, 2, Outcome::Collided),
            (2_856, 1, 1, Outcome::Delivered),
            (3_776, 2, 2, Outcome::Delivered),
        ]
    );
}

#[test]
fn a_time_out_within_the_longer_frame_ends_with_it() {
    // Node 1's time-out ends at 2072 + 300, before the medium falls idle: it resumes at
    // 2472 + 50 = 2522, node 2 at 2472 + 300 + 50 = 2822, the AP at 2472 + 364 = 2836.
    let mut scenario = two_stations();
    scenario.cell.ack_timeout = Some(Span(300_000));
    // Node 1: 2722..3314, ACK until 3572, AIFS until 3622.
    assert_eq!(
        collision(&scenario, (10, 0))[3..],
        [
            (2_722, 1, 1, Outcome::Delivered),
            (3_622, 2, 2, Outcome::Delivered)
        ]
    );
}

#[test]
fn a_corrupted_frame_makes_the_others_wait_eifs() {
    // Node 1's frame 100..1092 is lost: node 1 times out at 1406 and resumes at 1456, as does
    // node 2, which came during the frame: 1092 + 364 = 1456.
    let arrivals = [arrival(100, 1, 0, 1064), arrival(200, 2, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(63, 5), (31, 9)], vec![(31, 2), (31, 31)]],
        corrupted: vec![true],
    };
    let (seen, _) = attempts(&two_stations(), &arrivals, script);
    // Node 2: 1496..2746; node 1 has 3 slots left from 2796.
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Corrupted),
            (1_496, 2, 1, Outcome::Delivered),
            (2_856, 1, 0, Outcome::Delivered),
        ]
    );
}

#[test]
fn the_attempt_limit_discards_and_resets_the_window() {
    let mut scenario = two_stations();
    scenario.stations[0].node.attempts_short = 2;
    let arrivals = [arrival(100, 1, 0, 1064), arrival(200, 1, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(63, 0), (31, 1), (31, 8)], vec![]],
        corrupted: vec![true, true],
    };
    let (seen, trace) = attempts(&scenario, &arrivals, script);
    // 100..1092, again at 1456..2448, given up; the next one at 2448 + 364 + 20.
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Corrupted),
            (1_456, 1, 0, Outcome::Corrupted),
            (2_832, 1, 1, Outcome::Delivered),
        ]
    );
    assert_eq!(trace.discarded, [(Time(2_448_000), 1, 0)]);
}

#[test]
fn an_arrival_at_the_instant_of_a_transmission_finds_the_medium_busy() {
    let arrivals = [arrival(100, 1, 0, 1064), arrival(100, 2, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(31, 31)], vec![(31, 0), (31, 20)]],
        corrupted: vec![],
    };
    let (seen, _) = attempts(&two_stations(), &arrivals, script);
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Delivered),
            (1_400, 2, 1, Outcome::Delivered)
        ]
    );
}

#[test]
fn rts_and_cts_go_before_a_long_frame() {
    // RTS 272 us, CTS 248 us at 2 Mb/s: data begins at 100 + 272 + 10 + 248 + 10 = 640.
    let mut scenario = two_stations();
    scenario.cell.rts_threshold_bytes = Some(1_000);
    let script = Script {
        backoff: vec![vec![], vec![(31, 4)], vec![]],
        corrupted: vec![],
    };
    let (_, trace) = attempts(&scenario, &[arrival(100, 1, 0, 1064)], script);
    assert!(trace.attempts[0].rts);
    assert_eq!(trace.deliveries, [(Time(1_632_000), 0, 0)]);
}

#[test]
fn a_full_queue_drops_and_has_room_again_after_the_mac_ack() {
    let mut scenario = two_stations();
    scenario.stations[0].node.queue_packets = 1;
    let arrivals = [
        arrival(100, 1, 0, 1064),
        arrival(1_349, 1, 1, 1064),
        arrival(1_350, 1, 2, 1064),
    ];
    let script = Script {
        backoff: vec![vec![], vec![(31, 0), (31, 7)], vec![]],
        corrupted: vec![],
    };
    let (seen, trace) = attempts(&scenario, &arrivals, script);
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Delivered),
            (1_400, 1, 2, Outcome::Delivered)
        ]
    );
    assert_eq!(trace.dropped, [(Time(1_349_000), 1, 1)]);
}

#[test]
fn a_shorter_ack_timeout_gives_the_sender_a_head_start() {
    let mut scenario = two_stations();
    scenario.cell.ack_timeout = Some(Span(300_000));
    // As in the corrupted case, but node 1 resumes at 1092 + 300 + 50 = 1442, 14 us before node 2.
    let arrivals = [arrival(100, 1, 0, 1064), arrival(200, 2, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(63, 2), (31, 9)], vec![(31, 2), (31, 31)]],
        corrupted: vec![true],
    };
    let (seen, _) = attempts(&scenario, &arrivals, script);
    // Node 1 at 1482, until 2732; node 2 has counted 1 of its 2 slots: 2782 + 20.
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Corrupted),
            (1_482, 1, 0, Outcome::Delivered),
            (2_802, 2, 1, Outcome::Delivered),
        ]
    );
}
