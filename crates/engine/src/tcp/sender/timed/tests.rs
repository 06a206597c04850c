//! Traces worked by hand: each row is an event, with the segments sent, the window and the timer
//! after it.

use super::*;
use crate::packet::EcnEcho;
use crate::tcp::CongestionAlgorithm::NewReno;
use crate::tcp::TcpSettings;
use crate::tcp::pipe::{MS, settings};

/// Executes the events of a table and compares the sender with each row.
///
/// A row reads `time event | segments sent | cwnd | in the network | timer # why`. After a segment,
/// `'` means a retransmission. Times are in ms. Events are `open`, `more N` (N further segments),
/// `close`, `ack N`, and `timer` at the deadline of the timer. In `ack N`, N is the next segment
/// expected, and the first and last segment of each SACK block follow. An ACK echoes the time 100
/// ms before its arrival, or the time that is written after `@`. The timer is R for reordering, P
/// for a probe or T for retransmission, with its deadline.
fn check(settings: &TcpSettings, table: &str) -> Sender {
    let mut sender = Sender::new(settings);
    let mut actual = Vec::new();
    let rows = table.trim().lines();
    let rows: Vec<&str> = rows
        .map(|row| row.split('#').next().unwrap().trim())
        .collect();
    for row in &rows {
        let event = row.split('|').next().unwrap();
        let mut words = event.split_whitespace();
        let ms: f64 = words.next().unwrap().parse().unwrap();
        let now = Time((ms * MS as f64) as u64);
        match words.collect::<Vec<_>>()[..] {
            ["open"] => sender.open(),
            ["more", segments] => sender.supply(now, segments.parse().unwrap()),
            ["close"] => sender.close(),
            ["timer"] => {
                assert_eq!(now, sender.deadline(), "{row}");
                sender.on_timer(now);
            }
            ["ack", next, ref reported @ ..] => {
                let mut blocks = Blocks::default();
                let mut echo = Time(now.0 - 100 * MS);
                let mut known = 0;
                for text in reported {
                    if let Some(at) = text.strip_prefix('@') {
                        echo = Time(at.parse::<u64>().unwrap() * MS);
                        continue;
                    }
                    let (first, last) = text.split_once('-').unwrap_or((text, text));
                    blocks[known] = (first.parse().unwrap(), last.parse::<u32>().unwrap() + 1);
                    known += 1;
                }
                let ack = Ack {
                    next: next.parse().unwrap(),
                    echo,
                    sack: known as u16,
                    ece: EcnEcho::NONE,
                };
                sender.on_sack(now, ack, &blocks);
            }
            _ => panic!("no such event: {event}"),
        }
        let sent: Vec<String> = std::iter::from_fn(|| sender.next_segment(now))
            .map(|s| format!("{}{}", s.number, if s.retransmission { "'" } else { "" }))
            .collect();
        let Some(Board::Timed(timed)) = sender.scoreboard.as_deref() else {
            panic!("no times");
        };
        let (timer, at) = timed.timer();
        assert_eq!(at, sender.deadline());
        let letter = match timer {
            _ if at == Time::NEVER => "-",
            Timer::Reordering => "R",
            Timer::Probe => "P",
            Timer::Retransmission => "T",
        };
        let timer = match at {
            Time::NEVER => String::new(),
            // rounded to whole us, because SRTT is rounded down to whole ns
            at => format!(" {}", (at.0 as f64 / 1e3).round() / 1e3),
        };
        actual.push(format!(
            "{event}|{}|{:.3}|{}|{letter}{timer}",
            sent.join(" "),
            sender.cwnd(),
            sender.in_network(),
        ));
    }
    let actual: Vec<String> = actual.iter().map(|row| squeezed(row)).collect();
    let rows: Vec<String> = rows.iter().map(|row| squeezed(row)).collect();
    assert_eq!(actual, rows, "\n{}", actual.join("\n"));
    sender
}

/// Returns a row without the spaces around its bars.
fn squeezed(row: &str) -> String {
    row.split('|').map(str::trim).collect::<Vec<_>>().join("|")
}

impl RackTlp {
    /// Returns the number of segments in the network that the next transmission must not exceed.
    /// Returns `None` if there is no such limit: for a probe, and for the first segment of a
    /// recovery.
    pub(in crate::tcp) fn room(&self, cwnd: u32) -> Option<u32> {
        let free = self.probes || self.first && self.rack.has_lost();
        (!free).then(|| self.reduction.map_or(cwnd, |reduction| reduction.cwnd))
    }
}

/// Returns settings with which the first ten segments are sent simultaneously.
fn from_ten() -> TcpSettings {
    TcpSettings {
        sack: true,
        rack: true,
        initial_cwnd_packets: 10,
        ..settings(NewReno)
    }
}

/// Without reordering three SACKed segments indicate a loss, as in RFC 6675. With fewer SACKed
/// segments a loss is detected after a quarter of the minimum round-trip time.
#[test]
fn three_sacked_segments_close_the_window() {
    let sender = check(
        &from_ten(),
        "
        0 open         |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000  # 1 gets lost
        100 ack 1      |10 11               |11.000 | 11 | P 300   # 0: slow start; probe after 2 SRTT
        101 ack 1 2    |12                  |11.000 | 11 | R 126   # sent at 0, RACK.rtt 101, window 25
        102 ack 1 2-3  |13                  |11.000 | 11 | R 127   # RACK.rtt 102
        103 ack 1 2-4  |1'                  | 5.500 | 10 | T 381.127   # window 0: lost. (13 - 2)/2; 5-13, 1'
        104 ack 1 2-5  |                    | 5.500 |  9 | T 376.394
        105 ack 1 2-6  |                    | 5.500 |  8 | T 372.017
        106 ack 1 2-7  |                    | 5.500 |  7 | T 367.983
        107 ack 1 2-8  |                    | 5.500 |  6 | T 364.276
        108 ack 1 2-9  |                    | 5.500 |  5 | T 360.884   # 10-13, 1'
        200 ack 1 2-10 |14                  | 5.500 |  5 | T 447.524
        200 ack 1 2-11 |15                  | 5.500 |  5 | T 442.354
        201 ack 1 2-12 |16                  | 5.500 |  5 | T 438.99
        202 ack 1 2-13 |17                  | 5.500 |  5 | T 435.761
        203 ack 14     |18                  | 5.500 |  5 | P 404.152   # 1', 100 after it left: over; probes again
        208 ack 15     |19                  | 5.682 |  5 | P 409.104
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// With two SACKed segments RFC 6675 detects no loss, but the reordering timer does.
#[test]
fn a_quarter_of_the_round_trip_later_it_is_lost() {
    let five = TcpSettings {
        segments: Some(5),
        ..from_ten()
    };
    let sender = check(
        &five,
        "
        0 open        |0 1 2 3 4 |10.000 |  5 | T 1000  # 1 gets lost
        100 ack 1     |          |11.000 |  4 | P 300
        101 ack 1 2   |          |11.000 |  3 | R 126
        102 ack 1 2-3 |          |11.000 |  2 | R 127
        127 timer     |1'        | 2.000 |  2 | T 381.715   # 4/2
        130 ack 1 2-4 |          | 2.000 |  1 | T 382.17
        227 ack 5     |          | 2.000 |  0 | -
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// Segment 1 arrives after segment 2. After this reordering, a segment is lost only if it is late by
/// a quarter of the round-trip time, regardless of the number of SACKed segments.
#[test]
fn who_has_seen_reordering_waits() {
    let sender = check(
        &from_ten(),
        "
        0 open        |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000
        100 ack 1     |10 11               |11.000 | 11 | P 300
        101 ack 1 2   |12                  |11.000 | 11 | R 126
        102 ack 3     |13 14               |12.000 | 12 | P 302.041      # 1 arrives late: reordering
        103 ack 3 4   |15                  |12.000 | 12 | R 128
        104 ack 3 4-5 |16                  |12.000 | 12 | R 129
        105 ack 3 4-6 |17                  |12.000 | 12 | R 130      # three, and a window all the same
        106 ack 3 4-7 |18                  |12.000 | 12 | R 131
        127 ack 8     |19 20               |13.000 | 13 | P 327.648      # 3 arrives late
        128 ack 8 9   |21                  |13.000 | 13 | R 153
        153 timer     |8'                  | 6.500 | 13 | T 408.271  # 8 has got lost: (14 - 1)/2
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// The retransmission is lost, and the arrival of a segment sent after it shows this. RFC 6675
/// would wait for the timeout.
#[test]
fn a_retransmission_that_gets_lost_is_sent_again() {
    let sender = check(
        &from_ten(),
        "
        0 open         |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000  # 1 gets lost
        100 ack 1      |10 11               |11.000 | 11 | P 300
        101 ack 1 2-9  |1' 12 13            | 5.500 |  5 | T 392.854   # all at once; 11/2
        200 ack 1 2-11 |14 15               | 5.500 |  5 | T 485.006   # 10 and 11 had left before 1'
        201 ack 1 2-12 |1' 16               | 5.500 |  5 | T 485.006   # 12 after it: lost again
        202 ack 1 2-13 |17                  | 5.500 |  5 | T 475.765
        300 ack 1 2-15 |18 19               | 5.500 |  5 | T 568.942
        301 ack 16     |20                  | 5.500 |  5 | P 501.069   # over: 12 and more were sent in recovery
        302 ack 17     |21                  | 5.682 |  5 | P 502.066
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// The last three segments of a flow are lost. The probe repeats the last segment, and its ACK
/// shows the loss of the other two.
#[test]
fn a_lost_tail_is_probed() {
    let ten = TcpSettings {
        segments: Some(10),
        ..from_ten()
    };
    let sender = check(
        &ten,
        "
        0 open      |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000    # 7, 8, 9 get lost
        100 ack 1   |                    |11.000 |  9 | P 300
        101 ack 7   |                    |12.000 |  3 | P 301
        301 timer   |9'                  |12.000 |  3 | T 591     # 200 after the last ACK; RTO 290 from here
        401 ack 7 9 |7' 8'               | 2.000 |  2 | T 691     # 7 and 8 left long before: 3/2, at least 2
        501 ack 8   |                    | 2.000 |  1 | T 767.25
        501 ack 10  |                    | 2.000 |  0 | -
        ",
    );
    assert!(sender.finished());
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// Only the last segment is lost. The probe repairs this loss. The window is halved when a later
/// ACK shows that the original segment did not arrive (there was no D-SACK).
#[test]
fn a_repair_by_probe_costs_a_halving() {
    let sender = check(
        &from_ten(),
        "
        0 more 10   |0 1 2 3 4 5 6 7 8 9                 |10.000 | 10 | T 1000  # 9 gets lost
        100 ack 9   |                                    |11.000 |  1 | P 300
        300 timer   |9'                                  |11.000 |  1 | T 600
        400 ack 10  |                                    |12.000 |  0 | -       # of the original or of the probe?
        410 more 12 |10 11 12 13 14 15 16 17 18 19 20 21 |12.000 | 12 | T 660   # no probe until that is known
        510 ack 11  |                                    | 6.000 | 11 | P 710   # no D-SACK before: a loss, 12/2
        511 ack 12  |                                    | 6.167 | 10 | P 711
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// Both the original and the probe arrive, so there is no loss, and the window is not reduced.
#[test]
fn a_needless_probe_costs_nothing() {
    let sender = check(
        &from_ten(),
        "
        0 more 10     |0 1 2 3 4 5 6 7 8 9                 |10.000 | 10 | T 1000     # 9 is late
        100 ack 9     |                                    |11.000 |  1 | P 300
        300 timer     |9'                                  |11.000 |  1 | T 600
        310 ack 10 @0 |                                    |12.000 |  0 | -          # 9; SRTT 126.25
        400 ack 10 9  |                                    |12.000 |  0 | -          # D-SACK: 9' as well
        410 more 12   |10 11 12 13 14 15 16 17 18 19 20 21 |12.000 | 12 | P 662.5
        510 ack 11    |                                    |13.000 | 11 | P 761.406
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (0, 0));
}

/// There is new data, and the window is full. The probe is the next new segment.
#[test]
fn a_probe_is_new_data_if_there_is_some() {
    check(
        &from_ten(),
        "
        0 open       |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000     # all but 0 and 12 get lost
        100 ack 1    |10 11               |11.000 | 11 | P 300
        300 timer    |12                  |11.000 | 12 | T 600      # one more than cwnd
        400 ack 1 12 |1' 2' 3' 4' 5' 6'   | 6.000 |  6 | T 691.667      # eleven are lost: 12/2
        500 ack 7 12 |7' 8' 9' 10' 11' 13 | 6.000 |  6 | T 783.681
        ",
    );
}

/// The probe is lost as well. The retransmission timer expires an RTO after the probe.
#[test]
fn a_timeout_follows_a_lost_probe() {
    let sender = check(
        &from_ten(),
        "
        0 open    |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000      # all but 0 get lost
        100 ack 1 |10 11               |11.000 | 11 | P 300
        300 timer |12                  |11.000 | 12 | T 600       # lost as well
        600 timer |1'                  | 1.000 |  1 | T 1200      # all left longer ago than 125
        700 ack 2 |2' 3'               | 2.000 |  2 | T 991.667   # slow start
        800 ack 4 |4' 5' 6'            | 3.000 |  3 | T 1083.681
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (0, 1));
}

/// Section 6.3: after a timeout, segments that were sent at most one round trip ago are not
/// retransmitted.
#[test]
fn a_timeout_spares_what_was_sent_lately() {
    let sender = check(
        &from_ten(),
        "
        0 more 12      |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000        # 1 gets lost
        100 ack 1      |10 11               |11.000 | 11 | P 300
        101 ack 1 2-4  |1'                  | 5.500 |  8 | T 392.854     # lost again
        390 ack 1 2-11 |                    | 5.500 |  1 | T 709.482     # 5-11 were late
        600 more 8     |12 13 14 15         | 5.500 |  5 | T 709.482
        709.482204 timer |1'                | 1.000 |  5 | T 1348.447  # 12-15 may be under way: 1 alone, whatever they are
        800 ack 1 2-12 |                    | 1.000 |  4 | T 1126.251    # four are more than cwnd
        810 ack 16     |16 17               | 2.000 |  2 | P 1020.787    # 1': over
        811 ack 17     |18 19               | 3.000 |  3 | P 1020.439
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 1));
}

/// With byte counting, the last ACK acknowledges fifteen segments. Eleven of these segments had
/// been SACKed, so only four segments increase the window.
#[test]
fn what_was_sacked_does_not_count_again() {
    let counting = TcpSettings {
        byte_counting: true,
        ..from_ten()
    };
    check(
        &counting,
        "
        0 more 12      |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000
        100 ack 1      |10 11               |11.000 | 11 | P 300
        101 ack 1 2-4  |1'                  | 5.500 |  8 | T 392.854
        390 ack 1 2-11 |                    | 5.500 |  1 | T 709.482
        600 more 12    |12 13 14 15         | 5.500 |  5 | T 709.482
        709.482204 timer |1'                | 1.000 |  5 | T 1348.447
        800 ack 1 2-12 |                    | 1.000 |  4 | T 1126.251
        810 ack 16     |16 17 18            | 3.000 |  3 | P 1020.787  # two up to ssthresh of 2.5, then two of three
        ",
    );
}

/// The ACK that ends fast recovery is counted by segments. Of the eleven segments that the last ACK
/// acknowledges, three had been SACKed. The other eight segments increase the window of five
/// packets by one packet, and three of them are counted for the next packet.
#[test]
fn the_ack_that_ends_recovery_counts_by_segments() {
    let counting = TcpSettings {
        byte_counting: true,
        ..from_ten()
    };
    check(
        &counting,
        "
        0 open        |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000     # 1 gets lost
        100 ack 1     |10 11               |11.000 | 11 | P 300
        101 ack 1 2-4 |1'                  | 5.500 |  8 | T 392.854
        200 ack 12    |12 13 14 15 16 17   | 6.500 |  6 | P 400.041  # one for five; three are left over
        300 ack 14    |18 19               | 6.500 |  6 | P 500.039  # five of six
        301 ack 15    |20 21               | 7.500 |  7 | P 501.037  # six
        ",
    );
}

/// Six of ten segments are lost. With proportional rate reduction the trace is the same as without
/// RACK-TLP: one segment is sent per segment that arrives.
#[test]
fn a_burst_of_losses_with_rate_reduction() {
    let prr = TcpSettings {
        prr: true,
        ..from_ten()
    };
    check(
        &prr,
        "
        0 open         |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000     # 0 to 5 get lost
        100 ack 0 6    |10                  |10.000 | 10 | R 125
        101 ack 0 6-7  |11                  |10.000 | 10 | R 126
        102 ack 0 6-8  |0'                  | 5.000 |  4 | T 386.232     # below ssthresh: 1 for 1
        103 ack 0 6-9  |1'                  | 5.000 |  4 | T 380.109
        200 ack 0 6-10 |2'                  | 5.000 |  4 | T 469.753
        201 ack 0 6-11 |3'                  | 5.000 |  4 | T 463.702
        202 ack 1 6-11 |4' 5'               | 5.000 |  5 | T 457.945      # safe: one more
        203 ack 2 6-11 |12                  | 5.000 |  5 | T 452.469  # at ssthresh
        300 ack 3 6-11 |13                  | 5.000 |  5 | T 543.263
        ",
    );
}

/// Segment 1 is retransmitted unnecessarily. The D-SACK for segment 1 doubles the reordering window.
#[test]
fn a_dsack_widens_the_window() {
    check(
        &from_ten(),
        "
        0 open        |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000     # 1 is late
        100 ack 1     |10 11               |11.000 | 11 | P 300
        101 ack 1 2-4 |1'                  | 5.500 |  8 | T 392.854
        110 ack 5 @0  |                    | 5.500 |  7 | T 395.732  # of the original: tells nothing of 1'
        200 ack 12    |12 13 14 15 16      | 5.500 |  5 | P 400.443  # all; recovery is over
        201 ack 12 1  |                    | 5.500 |  5 | P 400.443  # 1': D-SACK
        300 ack 13    |17                  | 5.682 |  5 | P 500.425
        301 ack 13 15 |18                  | 5.682 |  5 | R 351      # 13 left at 200: RACK.rtt 101, window 50
        351 ack 14 15 |19                  | 5.858 |  5 | R 401      # just in time; RACK.rtt 151
        ",
    );
}

fn undoing() -> TcpSettings {
    TcpSettings {
        undo: true,
        ..from_ten()
    }
}

/// Segment 1 is late and is retransmitted unnecessarily. The ACK echoes the time of the original.
#[test]
fn a_needless_recovery_is_undone() {
    let sender = check(
        &undoing(),
        "
        0 open        |0 1 2 3 4 5 6 7 8 9     |10.000 | 10 | T 1000     # 1 is late
        100 ack 1     |10 11                   |11.000 | 11 | P 300
        101 ack 1 2-4 |1'                      | 5.500 |  8 | T 392.854      # 11/2
        110 ack 5 @0  |12 13 14 15             |11.000 | 11 | P 310.457  # 1, not 1': back to 11, no growth
        201 ack 5 1   |                        |11.000 | 11 | P 310.457  # 1'
        202 ack 12    |16 17 18 19 20 21 22 23 |12.000 | 12 | P 402.448
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// Segment 1 was lost. The ACK echoes the time of the retransmission, so that the recovery is not
/// undone. A later ACK does not undo the recovery either.
#[test]
fn a_needed_recovery_is_not_undone() {
    check(
        &undoing(),
        "
        0 open            |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000     # 1, 5, and then 10 and 11 get lost
        100 ack 1         |10 11               |11.000 | 11 | P 300
        101 ack 1 2-4 6-9 |1' 5' 12            | 5.500 |  5 | T 392.854      # 11/2
        201 ack 5 6-9     |10' 11' 13          | 5.500 |  5 | T 484.864  # 1': 10 and 11 had left before it
        202 ack 10 @0     |14                  | 5.500 |  5 | T 499.617  # too late to tell
        ",
    );
}

/// The ACK echoes the time of the first retransmission of a recovery, so the original segment was
/// lost. Therefore the recovery is not undone, although the timer expired too early.
#[test]
fn an_early_timeout_does_not_undo_the_recovery_before_it() {
    let sender = check(
        &undoing(),
        "
        0 open             |0 1 2 3 4 5 6 7 8 9 |10.000 | 10 | T 1000     # 1 gets lost
        100 ack 1          |10 11               |11.000 | 11 | P 300
        101 ack 1 2-4      |1'                  | 5.500 |  8 | T 392.854
        392.854166 timer   |1'                  | 1.000 |  1 | T 976.562  # all are late
        393 ack 12 @101    |12 13               | 2.000 |  2 | P 601.041
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 1));
}

/// No ACK arrives for 600 ms and the timer expires. After the timeout, the ACKs of all original
/// segments arrive.
#[test]
fn a_needless_timeout_is_undone() {
    let sender = check(
        &undoing(),
        "
        0 open            |0 1 2 3 4 5 6 7 8 9           |10.000 | 10 | T 1000
        100 ack 1         |10 11                         |11.000 | 11 | P 300
        300 timer         |12                            |11.000 | 12 | T 600       # probe
        600 timer         |1'                            | 1.000 |  1 | T 1200      # and all others are taken for lost
        650 ack 2 @0      |                              |11.000 | 11 | P 872.917   # 1: back to 11, eleven are under way
        651 ack 3 @0      |13 14                         |12.000 | 12 | P 896.398   # slow start goes on
        652 ack 12 @100   |15 16 17 18 19 20 21 22 23 24 |13.000 | 13 | P 915.285
        750 ack 13 1 @300 |25 26                         |14.000 | 14 | P 1024.655  # 12 and 1'
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (0, 1));
}
