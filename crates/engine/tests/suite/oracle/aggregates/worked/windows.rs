//! BlockAck windows, gaps in windows, and reorder buffers that keep MPDUs after a gap.

use lasthop_engine::kernel::time::Span;
use lasthop_engine::mac::Aggregation;

use super::{AGGREGATION, AggregateTrace, attempts, cell, of_node_1, packets, see, times};

#[test]
fn a_hole_at_the_windows_head_frame_by_frame() {
    // Each entry of this timeline begins with a time in us.
    // 100   Packet 0 is sent immediately, alone, as MPDU 0: until 324, MAC ACK 340..368. AIFS ends at 402, and the
    //       backoff is 0 slots.
    // 402   Packets 1 to 8 have arrived at 150. Four of them are within the window, and are sent as MPDUs 1 to 4, until
    //       1182. MPDUs 1 and 3 are lost, so that the receiver buffers MPDUs 2 and 4. BlockAck 1198..1230, AIFS ends at
    //       1264, and the backoff is 1 slot.
    // 1273  MPDUs 1 and 3 are sent again, until 1681. The window of 4 MPDUs from MPDU 1 on does not include MPDU 5, so
    //       that the missing MPDU 1 blocks packets 5 to 8. MPDU 1 is lost again, MPDU 3 is also buffered. BlockAck
    //       1697..1729, AIFS ends at 1763, and the backoff is 0 slots.
    // 1763  MPDU 1 is sent alone, until 1987, and lost for the third time. It is discarded, and no response comes. The
    //       sender's window begins at 5, but the receiver expects MPDU 1: a BlockAckReq is necessary. EIFS ends at 1987
    //       + 60 + 34 = 2081, and the backoff is 2 of 0 to 31 slots.
    // 2099  BlockAckReq, until 2131, when the receiver delivers MPDUs 2, 3 and 4. BlockAck 2147..2179, AIFS ends at
    //       2213, and the backoff is 3 slots.
    // 2240  MPDUs 5 to 8, until 3020: MPDU 6 is lost, MPDU 5 is delivered, MPDUs 7 and 8 are buffered. BlockAck
    //       3036..3068. Packets 9 and 10 have arrived at 3050. AIFS ends at 3102, and the backoff is 0 slots.
    // 3102  MPDU 6 is sent again, then the new MPDU 9. The window from MPDU 6 on does not include MPDU 10. MPDUs 6 to 9
    //       are delivered at 3510. BlockAck 3526..3558, AIFS ends at 3592, and the backoff is 1 slot.
    // 3601  MPDU 10 is sent alone, until 3825, MAC ACK 3841..3869.
    let arrivals = [
        packets(100, 1, 0..1),
        packets(150, 1, 1..9),
        packets(3_050, 1, 9..11),
    ]
    .concat();
    let lost = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0];
    let backoff = vec![
        (15, 0),
        (15, 1),
        (15, 0),
        (31, 2),
        (15, 3),
        (15, 0),
        (15, 1),
        (15, 7),
    ];
    let trace = see(&cell(1, AGGREGATION), &arrivals, of_node_1(backoff, &lost));
    assert_eq!(
        attempts(&trace),
        [
            "100 node 1: 0 -> 0",
            "402 node 1: 1 2 3 4 -> 2 4",
            "1273 node 1: 1 3 -> 3",
            "1763 node 1: 1 -> ",
            "2099 node 1: BlockAckReq -> ",
            "2240 node 1: 5 6 7 8 -> 5 7 8",
            "3102 node 1: 6 9 -> 6 9",
            "3601 node 1: 10 -> 10",
        ]
    );
    assert_eq!(
        times(&trace.handed_up),
        [
            (324, 0),
            (2_131, 2),
            (2_131, 3),
            (2_131, 4),
            (3_020, 5),
            (3_510, 6),
            (3_510, 7),
            (3_510, 8),
            (3_510, 9),
            (3_825, 10),
        ]
    );
    assert_eq!(
        times(&trace.acknowledged),
        [
            (368, 0),
            (1_230, 2),
            (1_230, 4),
            (1_729, 3),
            (3_068, 5),
            (3_068, 7),
            (3_068, 8),
            (3_558, 6),
            (3_558, 9),
            (3_869, 10),
        ]
    );
    assert_eq!(times(&trace.given_up), [(1_987, 1)]);
    assert_eq!((trace.too_late, trace.refused), (vec![], vec![]));
}

/// Runs a cell with packet 0, sent alone, and packets 1 to 4. `lost` says which MPDUs are lost. The receiver's reorder
/// time-out is `timeout_us`. `slots` are the backoffs after each exchange.
fn impatient(timeout_us: u64, slots: &[u32], lost: &[u32]) -> AggregateTrace {
    let aggregation = Aggregation {
        reorder_timeout: Some(Span(timeout_us * 1_000)),
        ..AGGREGATION
    };
    let arrivals = [packets(100, 1, 0..1), packets(150, 1, 1..5)].concat();
    let backoff = slots.iter().map(|&slots| (15, slots)).collect();
    see(&cell(1, aggregation), &arrivals, of_node_1(backoff, lost))
}

#[test]
fn a_receiver_waits_for_what_is_missing_until_its_time_out() {
    // Times are in us. MPDUs 1 to 4 are sent from 402 to 1182. MPDU 2 is lost, MPDU 1 is delivered, MPDUs 3 and 4 are
    // buffered. BlockAck 1198..1230, AIFS ends at 1264, and the backoff of 15 slots ends at 1399. MPDU 2 is sent again,
    // alone, 1399..1623, MAC ACK 1639..1667.
    let with = |timeout_us| impatient(timeout_us, &[0, 15, 0], &[0, 0, 1, 0, 0, 0]);
    let sent = [
        "100 node 1: 0 -> 0",
        "402 node 1: 1 2 3 4 -> 1 3 4",
        "1399 node 1: 2 -> 2",
    ];
    // With a time-out of 440 us, MPDUs 3 and 4 are delivered at 1622 us. MPDU 2 arrives too late but is acknowledged.
    let trace = with(440);
    assert_eq!(attempts(&trace), sent);
    assert_eq!(
        times(&trace.handed_up),
        [(324, 0), (1_182, 1), (1_622, 3), (1_622, 4)]
    );
    assert_eq!(times(&trace.too_late), [(1_623, 2)]);
    assert_eq!(times(&trace.acknowledged).last(), Some(&(1_667, 2)));
    // With a time-out of 441 us, which ends at 1623 us, the PPDU with MPDU 2 has just ended, so MPDU 2 is not too late.
    let trace = with(441);
    assert_eq!(attempts(&trace), sent);
    assert_eq!(
        times(&trace.handed_up),
        [(324, 0), (1_182, 1), (1_623, 2), (1_623, 3), (1_623, 4)]
    );
    assert_eq!(trace.too_late, []);
}

#[test]
fn each_mpdu_that_is_held_has_a_deadline_of_its_own() {
    // Each entry of this timeline begins with a time in us.
    // 402   MPDUs 1 to 4, until 1182; MPDU 2 is received and buffered. BlockAck until 1230, AIFS ends at 1264, and the
    //       backoff is 0 slots.
    // 1264  MPDUs 1, 3 and 4, until 1856; MPDU 4 is received and buffered. BlockAck 1872..1904, AIFS ends at 1938, and
    //       the backoff is 15 slots.
    // 1882  The time-out of MPDU 2 ends (1182 + 700): MPDU 2 is delivered, and MPDU 3 is expected. The time-out of MPDU
    //       4 ends at 1856 + 700 = 2556.
    // 2073  MPDUs 1 and 3, until 2481: MPDU 3 is delivered together with MPDU 4, and MPDU 1 arrives too late.
    let trace = impatient(700, &[0, 0, 15, 0], &[0, 1, 0, 1, 1, 1, 1, 0, 0, 0]);
    assert_eq!(
        attempts(&trace)[1..],
        [
            "402 node 1: 1 2 3 4 -> 2",
            "1264 node 1: 1 3 4 -> 4",
            "2073 node 1: 1 3 -> 1 3",
        ]
    );
    assert_eq!(
        times(&trace.handed_up)[1..],
        [(1_882, 2), (2_481, 3), (2_481, 4)]
    );
    assert_eq!(times(&trace.too_late), [(2_481, 1)]);
    // Here MPDU 4 is received first, at 1182 us, and MPDU 2 at 1856 us. While MPDU 2 is buffered, its time-out applies,
    // which ends at 2556 us. The time-out of MPDU 4, 1882 us, is ignored.
    // 2073  MPDUs 1 and 3, until 2481, are lost for the third time and discarded. A BlockAckReq is necessary. EIFS ends
    //       at 2575, and the backoff is 0 slots. At 2556 the receiver expects MPDU 5, so that the BlockAckReq releases
    //       no MPDU. It lasts until 2607, BlockAck until 2655.
    let arrivals = [packets(100, 1, 0..1), packets(150, 1, 1..5)].concat();
    let aggregation = Aggregation {
        reorder_timeout: Some(Span(700_000)),
        ..AGGREGATION
    };
    let lost = [0, 1, 1, 1, 0, 1, 0, 1, 1, 1];
    let backoff = vec![(15, 0), (15, 0), (15, 15), (31, 0), (15, 0)];
    let trace = see(&cell(1, aggregation), &arrivals, of_node_1(backoff, &lost));
    assert_eq!(
        attempts(&trace)[1..],
        [
            "402 node 1: 1 2 3 4 -> 4",
            "1264 node 1: 1 2 3 -> 2",
            "2073 node 1: 1 3 -> ",
            "2575 node 1: BlockAckReq -> ",
        ]
    );
    assert_eq!(times(&trace.handed_up)[1..], [(2_556, 2), (2_556, 4)]);
    assert_eq!(times(&trace.given_up), [(2_481, 1), (2_481, 3)]);
}

#[test]
fn an_aggregate_without_response_may_be_followed_by_a_block_ack_req() {
    // Each entry of this timeline begins with a time in us.
    // 402   MPDUs 1 and 2, until 810, both lost. EIFS ends at 904, and the backoff is 1 slot.
    // 913   BlockAckReq, until 945, BlockAck 961..993, AIFS ends at 1027, and the backoff is 2 slots.
    // 1045  MPDUs 1 and 2 are sent again, until 1453.
    let aggregation = Aggregation {
        bar_after_failure: true,
        ..AGGREGATION
    };
    let arrivals = [packets(100, 1, 0..1), packets(150, 1, 1..3)].concat();
    let script = || of_node_1(vec![(15, 0), (31, 1), (15, 2), (15, 0)], &[0, 1, 1]);
    let trace = see(&cell(1, aggregation), &arrivals, script());
    assert_eq!(
        attempts(&trace)[1..],
        [
            "402 node 1: 1 2 -> ",
            "913 node 1: BlockAckReq -> ",
            "1045 node 1: 1 2 -> 1 2",
        ]
    );
}

#[test]
fn a_receiver_is_told_of_what_was_given_up_though_more_was_received() {
    // Each entry of this timeline begins with a time in us.
    // 402   MPDUs 1 to 4, until 1182. MPDU 2 is lost and discarded immediately, MPDU 1 is delivered, MPDUs 3 and 4 are
    //       buffered. BlockAck 1198..1230. The sender's window begins at 5, but the receiver expects MPDU 2: a
    //       BlockAckReq is necessary. BlockAckReq 1246..1278 and BlockAck 1294..1326 belong to the same TXOP if it
    //       lasts until 1326, which is 924 us.
    let aggregation = Aggregation {
        attempts: Some(1),
        ..AGGREGATION
    };
    let with = |limit_us: u64, slots: [u32; 3]| {
        let mut scenario = cell(1, aggregation);
        let access = &mut scenario.stations[0].node.best_effort;
        (access.txop_packets, access.txop_limit) = (None, Some(Span(limit_us * 1_000)));
        let arrivals = [packets(100, 1, 0..1), packets(370, 1, 1..5)].concat();
        let backoff = slots.map(|slots| (15, slots)).to_vec();
        see(&scenario, &arrivals, of_node_1(backoff, &[0, 0, 1]))
    };
    let trace = with(924, [0, 3, 3]);
    assert_eq!(
        attempts(&trace)[1..],
        [
            "402 node 1: 1 2 3 4 -> 1 3 4",
            "1246 node 1: BlockAckReq -> ",
        ]
    );
    assert_eq!(times(&trace.given_up), [(1_182, 2)]);
    assert_eq!(
        times(&trace.handed_up)[1..],
        [(1_182, 1), (1_278, 3), (1_278, 4)]
    );
    // With a TXOP limit of 923 us the BlockAckReq does not fit into the TXOP and needs a new contention: AIFS ends at
    // 1264 us, and the backoff is 0 slots.
    let trace = with(923, [0, 0, 3]);
    assert_eq!(attempts(&trace)[2], "1264 node 1: BlockAckReq -> ");
}

#[test]
fn a_receiver_that_has_moved_on_by_itself_is_told_nothing() {
    // Each entry of this timeline begins with a time in us.
    // 402   MPDUs 1 to 4, until 1182. MPDU 2 is lost. MPDUs 3 and 4 are buffered until 1282 and then delivered, so that
    //       the receiver expects MPDU 5.
    // 1264 MPDU 2 is sent again, until 1488, and is lost and discarded. The sender's window then
    // begins at 5 as well, so no BlockAckReq is necessary.
    let aggregation = Aggregation {
        attempts: Some(2),
        reorder_timeout: Some(Span(100_000)),
        ..AGGREGATION
    };
    let arrivals = [packets(100, 1, 0..1), packets(150, 1, 1..5)].concat();
    let script = of_node_1(vec![(15, 0), (15, 0), (31, 5)], &[0, 0, 1, 0, 0, 1]);
    let trace = see(&cell(1, aggregation), &arrivals, script);
    assert_eq!(
        attempts(&trace)[1..],
        ["402 node 1: 1 2 3 4 -> 1 3 4", "1264 node 1: 2 -> "]
    );
    assert_eq!(times(&trace.given_up), [(1_488, 2)]);
}
