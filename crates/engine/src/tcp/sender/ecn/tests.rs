//! Traces of senders with ECN, worked by hand. The format of the tables is explained in
//! `sender/tests.rs`.

use crate::tcp::CongestionAlgorithm::{Dctcp, NewReno, Prague, Tahoe};
use crate::tcp::TcpSettings;
use crate::tcp::pipe::settings;
use crate::tcp::sender::tests::check;

fn from_ten() -> TcpSettings {
    TcpSettings {
        ecn: true,
        initial_cwnd_packets: 10,
        ..settings(NewReno)
    }
}

/// The receiver echoes a mark until a segment with CWR arrives. The window is halved once by these
/// echoes, and again by a mark on a segment sent after the first reduction.
#[test]
fn a_mark_halves_the_window_once_and_nothing_is_sent_again() {
    let sender = check(
        &from_ten(),
        "
        open     |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 1 is marked
        ack 1    |10 11               |11.000 | 42.0 | 11  # slow start
        ack 2 ece|                    | 5.500 |  5.5 | 10  # half of 11
        ack 3 ece|                    | 5.500 |  5.5 |  9
        ack 4 ece|                    | 5.500 |  5.5 |  8
        ack 5 ece|                    | 5.500 |  5.5 |  7
        ack 6 ece|                    | 5.500 |  5.5 |  6
        ack 7 ece|                    | 5.500 |  5.5 |  5
        ack 8 ece|12*                 | 5.500 |  5.5 |  5
        ack 9 ece|13                  | 5.500 |  5.5 |  5
        ack 10 ece|14                  | 5.500 |  5.5 |  5
        ack 11 ece|15                  | 5.500 |  5.5 |  5
        ack 12 ece|16                  | 5.500 |  5.5 |  5
        ack 13   |17                  | 5.682 |  5.5 |  5  # CWR has arrived: growth, + 1/5.5
        ack 14 ece|                    | 2.500 |  2.5 |  4  # 13 was marked: half of 5
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (0, 0));
}

/// Segment 2 is marked, and segment 7 of the same window is lost. The lost segment is
/// retransmitted without a further reduction of the window.
#[test]
fn a_loss_in_a_window_whose_mark_was_answered_is_only_repaired() {
    check(
        &from_ten(),
        "
        open     |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10
        ack 1    |10 11               |11.000 | 42.0 | 11
        ack 2    |12 13               |12.000 | 42.0 | 12
        ack 3 ece|                    | 6.000 |  6.0 | 11
        ack 7 ece|                    | 6.000 |  6.0 |  7  # 3 to 6
        ack 7 ece|                    | 6.000 |  6.0 |  7  # 8
        ack 7 ece|                    | 6.000 |  6.0 |  7  # 9
        ack 7 ece|7' 14* 15           | 9.000 |  6.0 |  9  # 10: inflated by 3, not halved
        ack 7 ece|16                  |10.000 |  6.0 | 10  # 11
        ack 7 ece|17                  |11.000 |  6.0 | 11  # 12
        ack 7 ece|18                  |12.000 |  6.0 | 12  # 13
        ack 14 ece|19                  | 6.000 |  6.0 |  6  # 7': recovered
        ack 15   |20                  | 6.167 |  6.0 |  6  # 14: CWR has arrived
        ",
    );
}

/// The next new segment reports any reduction of the window. A mark on a segment that was sent
/// before a loss was detected does not reduce the window further.
#[test]
fn losses_and_timeouts_are_reported_by_cwr() {
    check(
        &from_ten(),
        "
        open     |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 0 gets lost, 9 is marked
        ack 0    |                    |10.000 | 42.0 | 10
        ack 0    |                    |10.000 | 42.0 | 10
        ack 0    |0'                  | 8.000 |  5.0 | 10
        ack 0    |                    | 9.000 |  5.0 | 10
        ack 0    |                    |10.000 |  5.0 | 10
        ack 0    |10*                 |11.000 |  5.0 | 11
        ack 0    |11                  |12.000 |  5.0 | 12
        ack 0    |12                  |13.000 |  5.0 | 13
        ack 0 ece|13                  |14.000 |  5.0 | 14  # 9
        ack 10 ece|14                  | 5.000 |  5.0 |  5  # 0'
        ack 11   |15                  | 5.200 |  5.0 |  5
        timeout  |11'                 | 1.000 |  2.5 |  1
        ack 16   |16* 17              | 2.000 |  2.5 |  2  # all had arrived, the ACKs got lost
        ",
    );
}

/// A mark halves the window of Tahoe. There is no slow start, because no segment is lost.
#[test]
fn tahoe_does_not_start_slowly_for_a_mark() {
    check(
        &TcpSettings {
            congestion: Tahoe,
            ..from_ten()
        },
        "
        open     |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10
        ack 1 ece|                    | 5.000 |  5.0 |  9
        ack 6 ece|10*                 | 5.000 |  5.0 |  5
        ",
    );
}

/// Segments 2 and 3 are marked. alpha is 15/16 at the first report. At the end of the window of
/// data, alpha is 15/16 of this value plus 1/16 of 2/10. A window of data has one reduction by
/// marks. A loss and a mark each cause a separate reduction.
#[test]
fn a_sender_reduces_by_half_of_alpha_once_a_window() {
    let settings = TcpSettings {
        ecn: true,
        initial_cwnd_packets: 10,
        ..settings(Dctcp)
    };
    let sender = check(
        &settings,
        "
        open     |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10
        ack 1    |10 11               |11.000 | 42.0 | 11  # slow start
        ack 2    |12 13               |12.000 | 42.0 | 12
        ack 3 ece|                    | 6.375 |  6.4 | 11  # 12 (1 - 15/32)
        ack 4 ece|                    | 6.375 |  6.4 | 10
        ack 8    |                    | 6.532 |  6.4 |  6  # no echo is left to wait for: growth
        ack 10   |14* 15              | 6.685 |  6.4 |  6
        ack 14   |16 17 18 19         | 6.835 |  6.4 |  6  # beyond 10: alpha = 0.8906
        ack 14   |                    | 6.835 |  6.4 |  6
        ack 14   |                    | 6.835 |  6.4 |  6
        ack 14   |14'                 | 6.000 |  3.0 |  6  # a loss after it: half of 6, inflated by 3
        ",
    );
    assert_eq!(sender.reductions_by_marks(), 1);
    assert_eq!(sender.fast_retransmits(), 1);
}

/// The window of a sender that counts marks also grows while marks arrive. The first mark halves the window,
/// because alpha is 1 at that time.
#[test]
fn a_sender_grows_between_marks() {
    let settings = TcpSettings {
        ecn: true,
        initial_cwnd_packets: 10,
        ..settings(Prague)
    };
    let sender = check(
        &settings,
        "
        open   |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10
        ack 1 0|10 11               |11.000 | 42.0 | 11
        ack 2 0|12 13               |12.000 | 42.0 | 12
        ack 3 1|                    | 6.000 |  6.0 | 11  # alpha is 1; the ACK's one segment was marked
        ack 5 1|                    | 6.333 |  6.0 |  9  # 2/6
        ack 9 3|14*                 | 6.649 |  6.0 |  6  # two more marks, of the same window; 2/6.333
        ",
    );
    assert_eq!(sender.reductions_by_marks(), 1);
}
