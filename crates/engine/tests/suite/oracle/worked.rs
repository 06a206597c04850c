//! Timelines worked by hand that the oracle must reproduce, in microseconds. The cell is 802.11b: slot 20 us, SIFS 10
//! us, DIFS 50 us, MAC ACK at 2 Mb/s 248 us, EIFS 10 + 304 + 50 us. Packets of 1064 bytes make frames of 1100 bytes,
//! 992 us at 11 Mb/s. Packets of 514 bytes make frames of 592 us.

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::{
    Access, Category, ColliderWait, CountdownRule, PhyKind, QueueSetting, Scenario,
};

use super::cells;
use super::medium::{self, Arrival, Outcome, Trace};
use super::node::Packet;
use super::script::Script;

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
        who: (node, Category::BestEffort),
        packet,
    }
}

/// Returns start [us], node, packet and outcome of each attempt. Checks that every draw of the script is used.
fn attempts(
    scenario: &Scenario,
    arrivals: &[Arrival],
    mut script: Script,
) -> (Vec<(u64, u32, u32, Outcome)>, Trace) {
    let trace = medium::play(scenario, arrivals, &mut script);
    script.must_be_used_up();
    let attempts = trace
        .attempts
        .iter()
        .map(|a| (a.start.0 / 1_000, a.who.0, a.packet, a.outcome))
        .collect();
    (attempts, trace)
}

#[test]
fn an_idle_medium_is_used_at_once_and_post_backoff_delays_the_next_packet() {
    // Times in us: the first data frame 100..1092, MAC ACK 1102..1350, AIFS until 1400, 3 slots until 1460.
    let arrivals = [arrival(100, 1, 0, 1064), arrival(1_200, 1, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(31, 3), (31, 9)], vec![]],
        ..Script::default()
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
    // Both packets arrive during node 1's first exchange (100..1350 us). At 1400 the AP has 2 slots and node 2 has 5
    // slots. The AP sends at 1440, until 2690. Node 2 has 3 slots left from 2740 and sends at 2800.
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
        ..Script::default()
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

#[test]
fn an_edca_counter_falls_when_a_slot_begins_in_which_another_node_sends() {
    // With an EDCA counter, node 2 counts at 1400, 1420 and 1440. It has 2 slots left from 2740 and sends at 2780. The
    // AP's post-backoff of 3 slots ends at 2780. The AP's packet that arrives at 2900, while the medium is busy,
    // therefore draws a new backoff. With DCF, the AP's counter would have one slot left.
    let mut scenario = two_stations();
    scenario.bss[0].cell.countdown = CountdownRule::Edca;
    let arrivals = [
        arrival(100, 1, 0, 1064),
        arrival(200, 0, 1, 1064),
        arrival(300, 2, 2, 1064),
        arrival(2_900, 0, 3, 1064),
    ];
    let script = Script {
        backoff: vec![
            vec![(31, 2), (31, 3), (31, 1), (31, 20)],
            vec![(31, 30)],
            vec![(31, 5), (31, 20)],
        ],
        ..Script::default()
    };
    let (seen, _) = attempts(&scenario, &arrivals, script);
    // Node 2 sends 2780..4030 (us); the AP counts its 1 slot from 4080.
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Delivered),
            (1_440, 0, 1, Outcome::Delivered),
            (2_780, 2, 2, Outcome::Delivered),
            (4_100, 0, 3, Outcome::Delivered),
        ]
    );
}

/// Runs a scenario in which nodes 1 and 2 draw 4 slots during the AP's exchange (100..1350 us) and collide at 1480 us.
/// The frames end at 2072 and 2472 us.
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
        ..Script::default()
    };
    attempts(scenario, &arrivals, script).0
}

#[test]
fn a_collision_lasts_the_longest_frame_and_all_resume_together() {
    // All nodes resume at 2472 + 364 = 2836 us. Node 1 sends 2856..3448, ACK until 3706, AIFS until 3756.
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
    // Node 1's time-out ends at 2072 + 300 us, before the medium becomes idle at 2472. Node 1 resumes at 2472 + 50 =
    // 2522, node 2 at 2472 + 300 + 50 = 2822, the AP at 2472 + 364 = 2836.
    let mut scenario = two_stations();
    scenario.bss[0].cell.ack_timeout = Some(Span(300_000));
    // Node 1 sends 2722..3314 (us), ACK until 3572, AIFS until 3622.
    assert_eq!(
        collision(&scenario, (10, 0))[3..],
        [
            (2_722, 1, 1, Outcome::Delivered),
            (3_622, 2, 2, Outcome::Delivered)
        ]
    );
}

#[test]
fn a_collider_that_hears_the_longer_frame_end_may_wait_eifs() {
    // Here node 1 resumes with the AP at 2836 us, after node 2 has begun to send: 2822..3814, ACK until 4072, AIFS
    // until 4122, then the 10 slots of node 1.
    let mut scenario = two_stations();
    scenario.bss[0].cell.ack_timeout = Some(Span(300_000));
    scenario.bss[0].cell.collider_wait = ColliderWait::Eifs;
    assert_eq!(
        collision(&scenario, (10, 0))[3..],
        [
            (2_822, 2, 2, Outcome::Delivered),
            (4_322, 1, 1, Outcome::Delivered)
        ]
    );
}

#[test]
fn colliders_whose_frames_end_together_may_both_wait_eifs() {
    let arrivals = [
        arrival(100, 0, 0, 1064),
        arrival(200, 1, 1, 1064),
        arrival(300, 2, 2, 1064),
    ];
    let mut scenario = two_stations();
    scenario.bss[0].cell.ack_timeout = Some(Span(300_000));
    // both nodes resume at 2472 + 300 + 50 = 2822 us after AIFS, or at 2836 us (like the AP) after EIFS
    for (wait, resumes) in [(ColliderWait::Aifs, 2_822), (ColliderWait::Eifs, 2_836)] {
        scenario.bss[0].cell.collider_wait = wait;
        let script = Script {
            backoff: vec![
                vec![(31, 31)],
                vec![(31, 4), (63, 1), (31, 20)],
                vec![(31, 4), (63, 9), (31, 20)],
            ],
            ..Script::default()
        };
        let (seen, _) = attempts(&scenario, &arrivals, script);
        assert_eq!(
            seen[3],
            (resumes + 20, 1, 1, Outcome::Delivered),
            "{wait:?}"
        );
    }
}

#[test]
fn a_corrupted_frame_makes_the_others_wait_eifs() {
    // Node 1's frame 100..1092 us is lost. Node 1 times out at 1406 and resumes at 1456. Node 2 also resumes at 1092 +
    // 364 = 1456, since its packet arrived during the frame.
    let arrivals = [arrival(100, 1, 0, 1064), arrival(200, 2, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(63, 5), (31, 9)], vec![(31, 2), (31, 31)]],
        corrupted: vec![true],
        ..Script::default()
    };
    let (seen, _) = attempts(&two_stations(), &arrivals, script);
    // Node 2 sends 1496..2746 (us); node 1 has 3 slots left from 2796.
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
        ..Script::default()
    };
    let (seen, trace) = attempts(&scenario, &arrivals, script);
    // The frame is lost at 100..1092 us and at 1456..2448 us, and discarded. The next packet is sent at 2448 +
    // 364 + 20.
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Corrupted),
            (1_456, 1, 0, Outcome::Corrupted),
            (2_832, 1, 1, Outcome::Delivered),
        ]
    );
    assert_eq!(
        trace.discarded,
        [(Time(2_448_000), (1, Category::BestEffort), 0)]
    );
}

#[test]
fn an_arrival_at_the_instant_of_a_transmission_finds_the_medium_busy() {
    let arrivals = [arrival(100, 1, 0, 1064), arrival(100, 2, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(31, 31)], vec![(31, 0), (31, 20)]],
        ..Script::default()
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
    // RTS takes 272 us and CTS 248 us at 2 Mb/s, so that data begins at 100 + 272 + 10 + 248 + 10 = 640 us.
    let mut scenario = two_stations();
    scenario.bss[0].cell.rts_threshold_bytes = Some(1_000);
    let script = Script {
        backoff: vec![vec![], vec![(31, 4)], vec![]],
        ..Script::default()
    };
    let (_, trace) = attempts(&scenario, &[arrival(100, 1, 0, 1064)], script);
    assert!(trace.attempts[0].rts);
    assert_eq!(trace.deliveries, [(Time(1_632_000), 0, 0)]);
}

#[test]
fn a_full_queue_drops_and_has_room_again_after_the_mac_ack() {
    let mut scenario = two_stations();
    scenario.stations[0].node.queue = QueueSetting::drop_tail(1);
    let arrivals = [
        arrival(100, 1, 0, 1064),
        arrival(1_349, 1, 1, 1064),
        arrival(1_350, 1, 2, 1064),
    ];
    let script = Script {
        backoff: vec![vec![], vec![(31, 0), (31, 7)], vec![]],
        ..Script::default()
    };
    let (seen, trace) = attempts(&scenario, &arrivals, script);
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Delivered),
            (1_400, 1, 2, Outcome::Delivered)
        ]
    );
    assert_eq!(
        trace.dropped,
        [(Time(1_349_000), (1, Category::BestEffort), 1)]
    );
}

#[test]
fn a_shorter_ack_timeout_gives_the_sender_a_head_start() {
    let mut scenario = two_stations();
    scenario.bss[0].cell.ack_timeout = Some(Span(300_000));
    // Node 1's frame 100..1092 us is lost. Node 1 resumes at 1092 + 300 + 50 = 1442 us, 14 us before node 2.
    let arrivals = [arrival(100, 1, 0, 1064), arrival(200, 2, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(63, 2), (31, 9)], vec![(31, 2), (31, 31)]],
        corrupted: vec![true],
        ..Script::default()
    };
    let (seen, _) = attempts(&scenario, &arrivals, script);
    // Node 1 sends at 1482 us, until 2732. Node 2 has counted 1 of its 2 slots, and sends at 2782 + 20.
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Corrupted),
            (1_482, 1, 0, Outcome::Delivered),
            (2_802, 2, 1, Outcome::Delivered),
        ]
    );
}

/// Returns a scenario with two stations, in which station 1 may send `txop_packets` frames per TXOP.
fn station_1_may_send(txop_packets: u32) -> Scenario {
    let mut scenario = two_stations();
    scenario.stations[0].node.best_effort.txop_packets = Some(txop_packets);
    scenario
}

#[test]
fn a_packet_that_comes_before_the_mac_ack_ends_joins_the_transmission_opportunity() {
    // First frame 100..1092 us, MAC ACK 1102..1350. The packet that arrived at 1349 follows at 1360, until 2610. The
    // packet that arrives at 2610 is too late for the TXOP and waits for 4 slots from 2660. Post-backoff is drawn after
    // each frame.
    let arrivals = [
        arrival(100, 1, 0, 1064),
        arrival(1_349, 1, 1, 1064),
        arrival(2_610, 1, 2, 1064),
    ];
    let script = Script {
        backoff: vec![vec![], vec![(31, 31), (31, 4), (31, 9)], vec![]],
        ..Script::default()
    };
    let (seen, _) = attempts(&station_1_may_send(3), &arrivals, script);
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Delivered),
            (1_360, 1, 1, Outcome::Delivered),
            (2_740, 1, 2, Outcome::Delivered)
        ]
    );
}

#[test]
fn a_cf_end_truncates_an_opportunity_in_which_it_fits() {
    // First frame 100..1092 us, MAC ACK 1102..1350, CF-End (272 us) 1360..1632, AIFS until 1682. The packet that
    // arrives at 1350 is too late for the TXOP and waits for 4 slots.
    let starts = |limit_us: u64| {
        let mut scenario = two_stations();
        scenario.bss[0].cell.cf_end = true;
        let access = &mut scenario.stations[0].node.best_effort;
        (access.txop_packets, access.txop_limit) = (None, Some(Span(limit_us * 1_000)));
        let arrivals = [arrival(100, 1, 0, 1064), arrival(1_350, 1, 1, 1064)];
        let script = Script {
            backoff: vec![vec![], vec![(31, 4), (31, 9)], vec![]],
            ..Script::default()
        };
        let (seen, _) = attempts(&scenario, &arrivals, script);
        [seen[0].0, seen[1].0]
    };
    assert_eq!(starts(1_532), [100, 1_762]);
    assert_eq!(starts(1_531), [100, 1_480]);
}

#[test]
fn a_lost_frame_ends_the_transmission_opportunity() {
    // The second frame of the TXOP, 1360..2352 us, is lost. EIFS lasts until 2716, followed by 2 slots, drawn from the
    // doubled contention window.
    let arrivals = [arrival(100, 1, 0, 1064), arrival(200, 1, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(31, 31), (63, 2), (31, 9)], vec![]],
        corrupted: vec![false, true],
        ..Script::default()
    };
    let (seen, _) = attempts(&station_1_may_send(3), &arrivals, script);
    assert_eq!(
        seen,
        [
            (100, 1, 0, Outcome::Delivered),
            (1_360, 1, 1, Outcome::Corrupted),
            (2_756, 1, 1, Outcome::Delivered)
        ]
    );
}

#[test]
fn only_the_first_frame_of_an_opportunity_has_rts_and_cts() {
    // RTS takes 272 us and CTS 248 us: data 640..1632, MAC ACK until 1890. The next data frame, at 1900, is lost. This
    // loss counts as a failed attempt of a short frame. The data frame is then sent again, after an RTS.
    let mut scenario = station_1_may_send(2);
    scenario.bss[0].cell.rts_threshold_bytes = Some(1_000);
    scenario.stations[0].node.attempts_long = 1;
    let arrivals = [arrival(100, 1, 0, 1064), arrival(200, 1, 1, 1064)];
    let script = Script {
        backoff: vec![vec![], vec![(31, 31), (63, 0), (31, 9)], vec![]],
        corrupted: vec![false, true],
        ..Script::default()
    };
    let (seen, trace) = attempts(&scenario, &arrivals, script);
    let starts: Vec<u64> = seen.iter().map(|attempt| attempt.0).collect();
    assert_eq!(starts, [100, 1_900, 1_900 + 992 + 364]);
    let rts: Vec<bool> = trace.attempts.iter().map(|attempt| attempt.rts).collect();
    assert_eq!(rts, [true, false, true]);
}

#[test]
fn a_category_that_yields_counts_a_failure_but_is_not_on_the_air() {
    // Both categories of node 1 get a packet during the AP's exchange (100..1350 us) and are ready at 1440. Voice sends
    // until 2690 us. Best effort doubles its contention window and has 1 slot from 2740.
    let voice = |mut arrival: Arrival| {
        arrival.who.1 = Category::Voice;
        arrival
    };
    let mut scenario = two_stations();
    scenario.stations[0].node.voice = Access::contention(2, 7, 15);
    let arrivals = [
        arrival(100, 0, 0, 1064),
        arrival(200, 1, 1, 1064),
        voice(arrival(300, 1, 2, 1064)),
    ];
    let script = || Script {
        backoff: vec![vec![(31, 31)], vec![(31, 2), (63, 1), (31, 9)], vec![]],
        voice: vec![vec![], vec![(7, 2), (7, 7)], vec![]],
        ..Script::default()
    };
    let (seen, trace) = attempts(&scenario, &arrivals, script());
    assert_eq!(
        seen,
        [
            (100, 0, 0, Outcome::Delivered),
            (1_440, 1, 2, Outcome::Delivered),
            (2_760, 1, 1, Outcome::Delivered)
        ]
    );
    assert!(!trace.attempts[2].retry);
    // with a limit of one attempt, best effort discards its packet at the end of the voice data frame
    scenario.stations[0].node.attempts_short = 1;
    let mut given_up = script();
    given_up.backoff[1] = vec![(31, 2), (31, 1)];
    let (seen, trace) = attempts(&scenario, &arrivals, given_up);
    assert_eq!(seen.len(), 2);
    assert_eq!(
        trace.discarded,
        [(Time(2_432_000), (1, Category::BestEffort), 1)]
    );
}
