//! Exchanges that collide or fail, on the medium or inside a node; A-MSDUs; EIFS.

use lasthop_engine::mac::ppdu::Modulation;
use lasthop_engine::mac::{Aggregation, EifsRule};
use lasthop_engine::scenario::Category;

use super::super::super::script::Script;
use super::super::Sent;
use super::super::hop::Hop;
use super::{AGGREGATION, attempts, cell, of_node_1, packets, see, times};

/// Runs a cell whose two stations begin to send at 420 us: two packets from station 1, one packet from station 2. The
/// access point's packet is on the air at 100..324 us, and its MAC ACK at 340..368 us. AIFS ends at 402 us, and both
/// stations have a backoff of 2 slots. `next` has the backoffs that the two stations draw afterwards.
fn collision(aggregation: Aggregation, rts: bool, next: [Vec<(u32, u32)>; 2]) -> Vec<String> {
    let mut scenario = cell(2, aggregation);
    scenario.bss[0].cell.rts_threshold_bytes = rts.then_some(1_000);
    if let Some(ppdus) = &mut scenario.bss[0].cell.ppdus {
        ppdus.eifs = EifsRule::Expected;
    }
    let arrivals = [
        packets(100, 0, 0..1),
        packets(150, 1, 1..3),
        packets(160, 2, 3..4),
    ]
    .concat();
    let [of_1, of_2] = next.map(|next| [vec![(15, 2)], next].concat());
    let script = Script {
        backoff: vec![vec![(15, 15)], of_1, of_2],
        ..Script::default()
    };
    let mut trace = see(&scenario, &arrivals, script);
    trace.attempts.remove(0);
    let mut seen = attempts(&trace);
    let given_up = times(&trace.given_up);
    seen.extend(given_up.iter().map(|(at, id)| format!("{at} without {id}")));
    seen
}

#[test]
fn aggregates_that_collide() {
    // Each entry of this timeline begins with a time in us.
    // 420   Station 1 sends two MPDUs until 828, station 2 sends one MPDU until 644. After a frame with 64-QAM, EIFS
    //       exceeds AIFS by SIFS and 32 us, and ends at 828 + 48 + 34 = 910. Station 1 must send a BlockAckReq and
    //       draws 0 slots, station 2 draws 5 slots.
    // 910   BlockAckReq of station 1 until 942, BlockAck 958..990, AIFS ends at 1024.
    // 1069  Station 2 sends after 5 slots, until 1293. MAC ACK 1309..1337, AIFS ends at 1371. Station 1 has 4 of its 9
    //       slots left, and sends at 1407.
    let aggregation = Aggregation {
        bar_after_failure: true,
        ..AGGREGATION
    };
    let next = [vec![(31, 0), (15, 9), (15, 0)], vec![(31, 5), (15, 0)]];
    assert_eq!(
        collision(aggregation, false, next),
        [
            "420 node 1: 0 1 -> collided",
            "420 node 2: 0 -> collided",
            "910 node 1: BlockAckReq -> ",
            "1069 node 2: 0 -> 0",
            "1407 node 1: 0 1 -> 0 1",
        ]
    );
}

#[test]
fn an_attempt_counts_though_only_its_rts_failed() {
    // The access point's packet also has RTS and CTS, 28 + 16 + 28 + 16 = 88 us more. Each entry of this timeline
    // begins with a time in us.
    // 508   Both stations send RTS until 536. After a frame at 24 Mb/s, EIFS exceeds AIFS by SIFS and 28 us, and ends
    //       at 614. With one attempt all MPDUs are discarded, and each station must send a BlockAckReq because of the
    //       discard. (A lost aggregate is not the reason, because the aggregate was not sent.)
    // 614   Station 1 has a backoff of 0 slots: BlockAckReq until 646, BlockAck 662..694, AIFS ends at 728.
    // 737   Station 2 has a backoff of 1 slot: its BlockAckReq takes as long as the BlockAckReq of station 1.
    let once = Aggregation {
        bar_after_failure: true,
        attempts: Some(1),
        ..AGGREGATION
    };
    let next = || [vec![(31, 0), (15, 9)], vec![(31, 1), (15, 9)]];
    assert_eq!(
        collision(once, true, next()),
        [
            "508 node 1: RTS, 0 1 -> collided",
            "508 node 2: RTS, 0 -> collided",
            "614 node 1: BlockAckReq -> ",
            "737 node 2: BlockAckReq -> ",
            "536 without 1",
            "536 without 2",
            "536 without 3",
        ]
    );
    // With more attempts no BlockAckReq is sent. Station 1 sends again at 614 us: RTS until 642, CTS 658..686, PPDU
    // 702..1110, BlockAck 1126..1158, AIFS ends at 1192, and the backoff of one slot ends at 1201.
    let more = Aggregation {
        attempts: Some(2),
        ..once
    };
    assert_eq!(
        collision(more, true, next())[2..],
        ["614 node 1: RTS, 0 1 -> 0 1", "1201 node 2: RTS, 0 -> 0",]
    );
}

#[test]
fn block_ack_reqs_that_collide_are_given_up_like_mpdus() {
    // Each entry of this timeline begins with a time in us.
    // 420   Both stations send a packet with one attempt, until 644, and discard it. Therefore each station must send a
    //       BlockAckReq. EIFS ends at 644 + 48 + 34 = 726, and the backoff is 0 slots at both stations.
    // 726   The two BlockAckReq collide until 758 and are also discarded. After a frame at 24 Mb/s, EIFS exceeds AIFS
    //       by SIFS and 28 us, and ends at 836. The access point has drawn 15 slots, counted 2 of them until 420, and
    //       has a packet since 730. It has 13 slots left.
    // 953   The access point sends.
    let mut scenario = cell(
        2,
        Aggregation {
            attempts: Some(1),
            ..AGGREGATION
        },
    );
    if let Some(ppdus) = &mut scenario.bss[0].cell.ppdus {
        ppdus.eifs = EifsRule::Expected;
    }
    let arrivals = [
        packets(100, 0, 0..1),
        packets(150, 1, 1..2),
        packets(160, 2, 2..3),
        packets(730, 0, 3..4),
    ]
    .concat();
    let of_station = || vec![(15, 2), (31, 0), (63, 63)];
    let script = Script {
        backoff: vec![vec![(15, 15), (15, 9)], of_station(), of_station()],
        ..Script::default()
    };
    let trace = see(&scenario, &arrivals, script);
    assert_eq!(
        attempts(&trace)[1..],
        [
            "420 node 1: 0 -> collided",
            "420 node 2: 0 -> collided",
            "726 node 1: BlockAckReq -> collided",
            "726 node 2: BlockAckReq -> collided",
            "953 node 0: 1 -> 1",
        ]
    );
}

#[test]
fn an_a_msdu_is_sent_again_as_it_was_formed() {
    // A subframe of 14 + 8 + 1462 = 1484 bytes is a multiple of 4. Two subframes have 2968 bytes, three have 4452. Each
    // entry of this timeline begins with a time in us.
    // 402   Packets 1 to 5: MPDUs 1 and 2 have two packets each, 2998 bytes, and MPDU 3 has one packet. The MPDUs have
    //       3004 + 3004 + 1504 bytes with delimiters and padding, 60,118 bits, 232 symbols. The PPDU ends at 402 + 36 +
    //       928 = 1366. MPDU 1 is lost. BlockAck 1382..1414, AIFS ends at 1448, and the backoff is 0 slots. Packet 6
    //       has arrived at 1400.
    // 1448  MPDU 1 is sent again unchanged, with MPDU 4, which contains packet 6.
    let aggregation = Aggregation {
        amsdu_bytes: Some(3_000),
        ..AGGREGATION
    };
    let arrivals = [
        packets(100, 1, 0..1),
        packets(150, 1, 1..6),
        packets(1_400, 1, 6..7),
    ]
    .concat();
    let script = of_node_1(vec![(15, 0), (15, 0), (15, 0)], &[0, 1]);
    let trace = see(&cell(1, aggregation), &arrivals, script);
    let sent = |attempt: usize| match &trace.attempts[attempt].sent {
        Sent::Mpdus(mpdus) => mpdus.clone(),
        Sent::BlockAckReq => vec![],
    };
    assert_eq!(sent(1), [(1, vec![1, 2]), (2, vec![3, 4]), (3, vec![5])]);
    assert_eq!(sent(2), [(1, vec![1, 2]), (4, vec![6])]);
    assert_eq!(trace.attempts[2].start.0, 1_448_000);
}

#[test]
fn eifs_expects_the_response_that_the_modulation_would_have_had() {
    let expected = |mcs, is_control| {
        let mut scenario = cell(1, AGGREGATION);
        if let Some(ppdus) = &mut scenario.bss[0].cell.ppdus {
            ppdus.eifs = EifsRule::Expected;
        }
        let own = &mut scenario.stations[0].modulation;
        *own = own.map(|own| Modulation { mcs, ..own });
        let hop = Hop::new(&scenario, (1, Category::BestEffort), 0);
        hop.expected_response(is_control).0 / 1_000
    };
    let of_ppdus: Vec<u64> = (0..8).map(|mcs| expected(mcs, false)).collect();
    assert_eq!(of_ppdus, [68, 44, 44, 32, 32, 32, 32, 32]);
    // RTS is sent at 6 Mb/s before BPSK, at 12 Mb/s before QPSK at 12 or 18 Mb/s, and at 24 Mb/s before faster PPDUs
    let of_rts: Vec<u64> = (0..4).map(|mcs| expected(mcs, true)).collect();
    assert_eq!(of_rts, [44, 32, 32, 28]);
}

#[test]
fn everybody_waits_for_the_longest_of_the_responses_to_expect() {
    // Here station 1 has MCS 0 (BPSK), 26 bits per symbol, and a packet of 562 bytes: an MPDU of 600 bytes, 4822 bits,
    // 186 symbols, 780 us. Station 2 sends four MPDUs, which also take 780 us. The two PPDUs collide at 420..1200 us.
    // After a frame with BPSK, EIFS exceeds AIFS by SIFS and 68 us, and ends at 1318.
    let mut scenario = cell(2, AGGREGATION);
    if let Some(ppdus) = &mut scenario.bss[0].cell.ppdus {
        ppdus.eifs = EifsRule::Expected;
    }
    let own = &mut scenario.stations[0].modulation;
    *own = own.map(|own| Modulation { mcs: 0, ..own });
    let mut arrivals = [
        packets(100, 0, 0..1),
        packets(150, 1, 1..2),
        packets(160, 2, 2..6),
    ]
    .concat();
    // The access point sends to station 2, which still has MCS 7, so that the packet takes 224 us.
    arrivals[0].packet.to = 2;
    arrivals[1].packet.ip_bytes = 562;
    let script = Script {
        backoff: vec![
            vec![(15, 15)],
            vec![(15, 2), (31, 0), (15, 15)],
            vec![(15, 2), (31, 9), (15, 15)],
        ],
        ..Script::default()
    };
    let trace = see(&scenario, &arrivals, script);
    assert_eq!(
        attempts(&trace)[1..4],
        [
            "420 node 1: 0 -> collided",
            "420 node 2: 0 1 2 3 -> collided",
            "1318 node 1: 0 -> 0",
        ]
    );
}

#[test]
fn what_rts_has_reserved_may_be_longer_than_eifs() {
    // The access point responds at 6 Mb/s, 24 bits per symbol: CTS and MAC ACK 44 us, BlockAck 12 symbols, 68 us.
    // The MAC ACK of packet 0 takes 44 us instead of 28 us, so that station 1 sends at 418 us:
    // 418   RTS until 446, CTS 462..506, MPDUs 1 and 2 522..930, both lost. EIFS exceeds AIFS by SIFS and 32 us. The
    //       NAV of the RTS ends later, because it includes SIFS and a BlockAck of 68 us: it ends at 1014, AIFS at 1014
    //       + 34 = 1048, 0 slots.
    let mut scenario = cell(1, AGGREGATION);
    scenario.bss[0].cell.ap.control_rate_bps = 6_000_000;
    scenario.bss[0].cell.rts_threshold_bytes = Some(2_000);
    if let Some(ppdus) = &mut scenario.bss[0].cell.ppdus {
        ppdus.eifs = EifsRule::Expected;
    }
    let arrivals = [packets(100, 1, 0..1), packets(150, 1, 1..3)].concat();
    let script = of_node_1(vec![(15, 0), (31, 0), (15, 0)], &[0, 1, 1]);
    assert_eq!(
        attempts(&see(&scenario, &arrivals, script))[1..],
        ["418 node 1: RTS, 1 2 -> ", "1048 node 1: RTS, 1 2 -> 1 2",]
    );
}

#[test]
fn a_category_that_yields_gives_up_only_what_is_under_no_agreement() {
    // The access point's packet is on the air at 100..324 us, its MAC ACK until 368, AIFS ends at 402. Best effort and
    // voice of station 1 are ready at 420. Voice sends until 644, MAC ACK 660..688, AIFS ends at 722. Best effort has
    // reached its attempt limit, and draws 1 slot from its smallest contention window.
    let seen = |mpdus| {
        let aggregation = Aggregation {
            mpdus,
            ..AGGREGATION
        };
        let mut scenario = cell(1, aggregation);
        scenario.stations[0].node.attempts_short = 1;
        let mut of_voice = packets(160, 1, 2..3);
        of_voice[0].who.1 = Category::Voice;
        let arrivals = [packets(100, 0, 0..1), packets(150, 1, 1..2), of_voice].concat();
        let mut of_best_effort = vec![(15, 2), (15, 1)];
        if mpdus > 1 {
            of_best_effort.push((15, 9));
        }
        let script = Script {
            backoff: vec![vec![(15, 15)], of_best_effort],
            voice: vec![vec![], vec![(15, 2), (15, 9)]],
            ..Script::default()
        };
        let trace = see(&scenario, &arrivals, script);
        let given_up = times(&trace.given_up);
        (attempts(&trace)[1..].to_vec(), given_up)
    };
    let voice = "420 node 1: 0 -> 0".to_owned();
    let later = "731 node 1: 0 -> 0".to_owned();
    assert_eq!(seen(4), (vec![voice.clone(), later], vec![]));
    assert_eq!(seen(1), (vec![voice], vec![(644, 1)]));
}
