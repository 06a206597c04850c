//! Lengths of MPDUs and PPDUs, and their limits.

use lasthop_engine::kernel::time::Span;
use lasthop_engine::mac::Aggregation;
use lasthop_engine::mac::ppdu::{Generation, Modulation};
use lasthop_engine::scenario::{Category, PhyKind, Scenario};

use super::super::super::script::Script;
use super::super::hop::Hop;
use super::super::{Sent, lengths, play};
use super::{AGGREGATION, attempts, cell, of_node_1, packets, see};

#[test]
fn lengths_are_padded_all_but_the_last() {
    // Subframes in bytes: 14 + 8 + 100 = 122, padded 124, and 14 + 8 + 61 = 83. The A-MSDU has 207 bytes, or 237 with
    // its MAC header of 30 bytes. With a delimiter it has 241 bytes, padded 244. The next MPDU adds 4 + 99 bytes.
    let cell = cell(1, AGGREGATION).bss.remove(0).cell;
    assert_eq!(lengths::amsdu(&cell, &[100, 61]), 207);
    assert_eq!(lengths::mpdu(&cell, &[100, 61]), 237);
    assert_eq!(lengths::mpdu(&cell, &[61]), 99);
    let psdu = |generation, mpdus: &[u32]| lengths::psdu(generation, mpdus);
    assert_eq!(psdu(None, &[237]), 237);
    assert_eq!(psdu(Some(Generation::Ht), &[237]), 237);
    assert_eq!(psdu(Some(Generation::Vht), &[237]), 241);
    assert_eq!(psdu(Some(Generation::He), &[237]), 241);
    assert_eq!(psdu(Some(Generation::Ht), &[237, 99]), 244 + 103);
    assert_eq!([64, 65].map(lengths::block_ack), [32, 56]);
}

/// Returns the packets of each MPDU in the first PPDU, which is formed when six packets wait.
fn first_of_six(aggregation: Aggregation) -> Vec<Vec<u32>> {
    let arrivals = [packets(100, 1, 0..1), packets(150, 1, 1..7)].concat();
    let mut script = Script {
        backoff: vec![vec![], vec![(15, 0); 20]],
        ..Script::default()
    };
    let trace = play(&cell(1, aggregation), &arrivals, &mut script);
    match &trace.attempts[1].sent {
        Sent::Mpdus(mpdus) => mpdus.iter().map(|(_, packets)| packets.clone()).collect(),
        Sent::BlockAckReq => vec![],
    }
}

#[test]
fn a_ppdu_is_as_long_as_all_limits_allow() {
    let alone = |ids: &[u32]| ids.iter().map(|&id| vec![id]).collect::<Vec<_>>();
    let mpdus = |mpdus| {
        first_of_six(Aggregation {
            mpdus,
            ..AGGREGATION
        })
    };
    assert_eq!(mpdus(4), alone(&[1, 2, 3, 4]));
    assert_eq!(mpdus(1), alone(&[1]));
    // two MPDUs with delimiters have 3008 bytes; the first MPDU is always allowed
    let bytes = |bytes| {
        first_of_six(Aggregation {
            bytes,
            ..AGGREGATION
        })
    };
    assert_eq!(bytes(3_008), alone(&[1, 2]));
    assert_eq!(bytes(3_007), alone(&[1]));
    assert_eq!(bytes(100), alone(&[1]));
    // a PPDU with three MPDUs takes 592 us
    let time = |us: u64| {
        let time = Span(us * 1_000);
        first_of_six(Aggregation {
            time,
            ..AGGREGATION
        })
    };
    assert_eq!(time(592), alone(&[1, 2, 3]));
    assert_eq!(time(591), alone(&[1, 2]));
    // An A-MSDU of two packets has 2968 bytes, its MPDU 2998 bytes. A PPDU with only this MPDU has 24,006 bits, 93
    // symbols, 408 us.
    let amsdu = |most, bytes, us: u64| {
        first_of_six(Aggregation {
            amsdu_bytes: Some(most),
            bytes,
            time: Span(us * 1_000),
            ..AGGREGATION
        })
    };
    assert_eq!(amsdu(2_968, 3_000, 408), [vec![1, 2]]);
    assert_eq!(amsdu(2_967, 3_000, 408), alone(&[1]));
    assert_eq!(amsdu(2_968, 2_998, 408), [vec![1, 2]]);
    assert_eq!(amsdu(2_968, 2_997, 408), alone(&[1]));
    assert_eq!(amsdu(2_968, 3_000, 407), alone(&[1]));
}

/// Returns the result of `ask` for the path from the only station of a cell to the access point.
fn from_station<T>(scenario: &Scenario, ask: impl Fn(Hop) -> T) -> T {
    ask(Hop::new(scenario, (1, Category::BestEffort), 0))
}

#[test]
fn the_stations_generation_has_limits_too() {
    let aggregation = Aggregation {
        mpdus: 200,
        bytes: 1_048_575,
        amsdu_bytes: Some(11_398),
        ..AGGREGATION
    };
    // At 540 Mb/s the PSDU limit is 65,535 bytes: 43 MPDUs have 64,672 bytes, 44 MPDUs have 66,176 bytes.
    let mut scenario = cell(1, aggregation);
    let own = &mut scenario.stations[0].modulation;
    *own = own.map(|own| Modulation {
        width_mhz: 40,
        streams: 4,
        ..own
    });
    assert_eq!(from_station(&scenario, |hop| hop.window()), 64);
    let fits = |mpdus| from_station(&scenario, |hop| hop.may_aggregate(&vec![1_500; mpdus]));
    assert_eq!([43, 44].map(fits), [true, false]);
    // The A-MSDU limit is 7935 bytes: five packets of 1462 bytes make 7420 bytes, six packets make 8904 bytes.
    let shares = |count| from_station(&scenario, |hop| hop.may_share(&vec![1_462; count]));
    assert_eq!([5, 6].map(shares), [true, false]);
    let station = &mut scenario.stations[0];
    (station.phy, station.modulation) = (PhyKind::Dot11a, None);
    assert_eq!(from_station(&scenario, |hop| hop.window()), 1);
    assert!(!from_station(&scenario, |hop| hop.may_share(&[100, 100])));
}

#[test]
fn rts_goes_ahead_of_what_is_longer_in_bytes_or_in_time() {
    let mut scenario = cell(1, AGGREGATION);
    let needs = |scenario: &Scenario| from_station(scenario, |hop| hop.needs_rts(&[1_500]));
    for (bytes, expected) in [(1_499, true), (1_500, false)] {
        scenario.bss[0].cell.rts_threshold_bytes = Some(bytes);
        assert_eq!(needs(&scenario), expected, "{bytes} bytes");
    }
    // RTS precedes a frame that is longer than the threshold `us`. The PPDU takes 224 us at MCS 7. From a legacy
    // station at 54 Mb/s the frame has 12,022 bits, 56 symbols of 216 bits, and takes 20 + 224 = 244 us.
    for (us, expected) in [(223, [true, true]), (224, [false, true]), (244, [false; 2])] {
        if let Some(ppdus) = &mut scenario.bss[0].cell.ppdus {
            ppdus.rts_longer_than = Some(Span(us * 1_000));
        }
        let mut legacy = scenario.clone();
        let station = &mut legacy.stations[0];
        (station.phy, station.modulation, station.rate_bps) = (PhyKind::Dot11a, None, 54_000_000);
        let seen = [&scenario, &legacy].map(needs);
        assert_eq!(seen, expected, "{us} us");
    }
}

#[test]
fn an_opportunity_goes_on_as_long_as_there_is_time_and_its_ppdus_are_as_long_as_fits() {
    // The TXOP begins at 402 us and has a limit of 1600 us (until 2002). RTS precedes PPDUs longer than 500 us. Each
    // entry of this timeline begins with a time in us.
    // 402   RTS until 430, CTS 446..474, packets 1 to 4 490..1270, BlockAck 1286..1318. Packets 1 to 4 are
    //       acknowledged.
    // 1334  A PPDU of packets 5 and 6 would last until 1742, its BlockAck 1758..1790. With packet 7 the PPDU lasts
    //       until 1926, and its BlockAck 1942..1974 is within the TXOP. It needs no RTS. With packet 8 the PPDU would
    //       last until 2114. Packet 8 alone would begin at 1990 and end at 2214, after the TXOP. AIFS ends at 2008, and
    //       the backoff is 0 slots.
    // 2008  Packet 8 is sent alone.
    let mut scenario = cell(1, AGGREGATION);
    let access = &mut scenario.stations[0].node.best_effort;
    (access.txop_packets, access.txop_limit) = (None, Some(Span(1_600_000)));
    if let Some(ppdus) = &mut scenario.bss[0].cell.ppdus {
        ppdus.rts_longer_than = Some(Span(500_000));
    }
    let arrivals = [packets(100, 1, 0..1), packets(370, 1, 1..9)].concat();
    let script = |slots: &[u32]| {
        let draws = slots.iter().map(|&slots| (15, slots)).collect();
        of_node_1(draws, &[])
    };
    let trace = see(&scenario, &arrivals, script(&[0, 9, 0, 9]));
    assert_eq!(
        attempts(&trace)[1..],
        [
            "402 node 1: RTS, 1 2 3 4 -> 1 2 3 4",
            "1334 node 1: 5 6 7 -> 5 6 7",
            "2008 node 1: 8 -> 8",
        ]
    );
    // With a TXOP limit of 1571 us (until 1973) the BlockAck of packets 5 to 7 would end 1 us too late. With 1386 us
    // (until 1788) the BlockAck of packets 5 and 6 would end too late, at 1790, so that packet 5 is sent alone. With
    // 915 us (until 1317) the BlockAck of packets 1 to 4 would end at 1318, so that only three MPDUs are sent: PPDU
    // 490..1082, BlockAck until 1130. Another exchange would end at 1370.
    let with = |limit_us: u64, slots: &[u32]| {
        let mut scenario = scenario.clone();
        scenario.stations[0].node.best_effort.txop_limit = Some(Span(limit_us * 1_000));
        attempts(&see(&scenario, &arrivals, script(slots)))[1..3].to_vec()
    };
    let followed = "402 node 1: RTS, 1 2 3 4 -> 1 2 3 4";
    let slots = [0, 9, 9, 9];
    assert_eq!(
        with(1_572, &slots),
        [followed, "1334 node 1: 5 6 7 -> 5 6 7"]
    );
    assert_eq!(with(1_571, &slots), [followed, "1334 node 1: 5 6 -> 5 6"]);
    assert_eq!(with(1_386, &slots), [followed, "1334 node 1: 5 -> 5"]);
    assert_eq!(
        with(915, &[0, 0, 9, 9]),
        [
            "402 node 1: RTS, 1 2 3 -> 1 2 3",
            "1164 node 1: RTS, 4 5 6 -> 4 5 6",
        ]
    );
}
