//! Traces worked by hand: each row is an event, with the segments sent and the window after it.

use super::*;
use crate::kernel::streams::Streams;
use crate::kernel::time::Span;
use crate::packet::EcnEcho;
use crate::tcp::CongestionAlgorithm::{Cubic, NewReno};
use crate::tcp::TcpSettings;
use crate::tcp::limit::Limit;
use crate::tcp::pipe::{MS, Pipe, plain, settings};

impl Sender {
    /// Returns the number of segments whose attached state the congestion control has not received
    /// back.
    pub(in crate::tcp) fn pending(&self) -> u32 {
        self.congestion.pending()
    }

    /// Returns the number of segments that were sent and neither acknowledged nor SACKed.
    pub(in crate::tcp) fn not_known_to_have_arrived(&self) -> u32 {
        let outstanding = self.snd_max - self.snd_una;
        match self.scoreboard.as_deref() {
            None => outstanding,
            Some(Board::Timed(timed)) => outstanding - timed.rack.sacked(),
            Some(Board::Counted(board)) => board.unsacked(self.snd_una, self.snd_max),
        }
    }

    /// Returns the number of segments that are assumed to be in the network.
    pub(in crate::tcp) fn in_network(&self) -> u32 {
        let board = match self.scoreboard.as_deref() {
            None => return self.flight(),
            Some(Board::Timed(timed)) => return timed.rack.in_flight(),
            Some(Board::Counted(board)) => board,
        };
        match self.recovery {
            Recovery::Fast { .. } => board.pipe(self.snd_una, self.snd_max),
            _ => board.unsacked(self.snd_una, self.snd_nxt),
        }
    }

    /// Asserts after a poll that the windows and the data are consistent with the limit that was
    /// met.
    pub(in crate::tcp) fn check_limit(&self) {
        let (cwnd, receive) = (self.congestion.cwnd(), self.congestion.receive_window());
        let sent_all = self.snd_max == self.limit;
        let at_edge = self.snd_max - self.snd_una == receive;
        let holds = match self.limit_met() {
            Limit::None => !self.is_open() || self.finished(),
            Limit::App => self.is_open() && !self.finished() && sent_all,
            Limit::Rwnd => cwnd >= f64::from(receive) || at_edge && !sent_all,
            Limit::Cwnd => {
                let is_paced = self.departure != Time::NEVER;
                (cwnd < f64::from(receive) || is_paced) && self.limit > 0
            }
        };
        assert!(holds, "{:?} of {self:?}", self.limit_met());
    }

    /// Returns whether `number` was SACKed.
    pub(in crate::tcp) fn knows_of(&self, number: u32) -> bool {
        match self.scoreboard.as_deref() {
            None => false,
            Some(Board::Timed(timed)) => timed.rack.is_sacked(number),
            Some(Board::Counted(board)) => board.is_sacked(number),
        }
    }

    /// Returns the number of segments in the network that the next transmission must not exceed.
    /// Returns `None` if there is no such limit: for the first segment of a recovery, for rate
    /// reduction, and without SACK.
    pub(in crate::tcp) fn room(&self) -> Option<u32> {
        let board = match self.scoreboard.as_deref()? {
            Board::Timed(timed) => return timed.room(self.congestion.usable()),
            Board::Counted(board) => board,
        };
        let recovers = matches!(self.recovery, Recovery::Fast { .. });
        let free = recovers && (board.first || board.counts());
        (!free).then(|| self.congestion.usable())
    }
}

/// Executes the events of a table and compares the sender with each row.
///
/// A row reads `event | segments sent | cwnd | ssthresh | pipe # why`. After a segment, `'` means a
/// retransmission. Events are 10 ms apart. They are `open`, `close`, `ack N`, `ece` for the echo of
/// a mark, and `timeout` at the deadline of the timer. In `ack N`, N is the next segment expected,
/// and the first and last segment of each SACK block follow; the echo is 100 ms old.
fn check(settings: &TcpSettings, table: &str) -> Sender {
    let mut sender = Sender::new(settings);
    let mut now = Time(1_000 * MS);
    for row in table.trim().lines() {
        let row = row.split('#').next().unwrap().trim();
        let event = row.split('|').next().unwrap();
        now += Span(10 * MS);
        match event.split_whitespace().collect::<Vec<_>>()[..] {
            ["open"] => sender.open(),
            ["close"] => sender.close(),
            ["timeout"] => {
                now = sender.deadline();
                sender.on_timer(now);
            }
            ["ack", next, ref reported @ ..] => {
                let mut blocks = Blocks::default();
                let ece = reported.contains(&"ece");
                let reported = reported.iter().filter(|&&text| text != "ece");
                for (block, text) in blocks.iter_mut().zip(reported) {
                    let (first, last) = text.split_once('-').unwrap_or((text, text));
                    *block = (first.parse().unwrap(), last.parse::<u32>().unwrap() + 1);
                }
                let echo = Time(now.0 - 100 * MS);
                let ack = plain(next.parse().unwrap(), echo);
                sender.on_sack(
                    now,
                    Ack {
                        ece: EcnEcho::flag(ece),
                        ..ack
                    },
                    &blocks,
                );
            }
            _ => panic!("no such event: {event}"),
        }
        let sent: Vec<String> = std::iter::from_fn(|| sender.next_segment(now))
            .map(|s| format!("{}{}", s.number, if s.retransmission { "'" } else { "" }))
            .collect();
        let played = format!(
            "{event}|{:<20}|{:>6.3} |{:>5.1} |{:>3}",
            sent.join(" "),
            sender.cwnd(),
            sender.ssthresh(),
            sender.in_network()
        );
        assert_eq!(played, row);
    }
    sender
}

/// Returns settings with which the first ten segments are sent simultaneously.
fn from_ten() -> TcpSettings {
    TcpSettings {
        sack: true,
        initial_cwnd_packets: 10,
        ..settings(NewReno)
    }
}

/// Two lost segments are both retransmitted in the round trip after their loss. The window is
/// halved once.
#[test]
fn two_losses_of_a_window_are_repaired_in_one_round_trip() {
    let sender = check(
        &from_ten(),
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 2 and 5 get lost
        ack 1              |10 11               |11.000 | 42.0 | 11  # 0 arrives: slow start
        ack 2              |12 13               |12.000 | 42.0 | 12  # 1
        ack 2 3            |14                  |12.000 | 42.0 | 12  # limited transmit
        ack 2 3-4          |15                  |12.000 | 42.0 | 12
        ack 2 6 3-4        |2'                  | 6.000 |  6.0 | 11  # third: (14 - 2)/2; 5, 7-15, 2'
        ack 2 6-7 3-4      |                    | 6.000 |  6.0 | 10
        ack 2 6-8 3-4      |                    | 6.000 |  6.0 |  8  # three above 5: lost
        ack 2 6-9 3-4      |                    | 6.000 |  6.0 |  7  # 10-15, 2'
        ack 2 6-10 3-4     |                    | 6.000 |  6.0 |  6
        ack 2 6-11 3-4     |5'                  | 6.000 |  6.0 |  6  # 12-15, 2', 5'
        ack 2 6-12 3-4     |16                  | 6.000 |  6.0 |  6
        ack 2 6-13 3-4     |17                  | 6.000 |  6.0 |  6
        ack 2 6-14 3-4     |18                  | 6.000 |  6.0 |  6
        ack 2 6-15 3-4     |19                  | 6.000 |  6.0 |  6  # 16-19, 2', 5'
        ack 5 6-15         |20                  | 6.000 |  6.0 |  6  # 2': one new for it
        ack 16             |21                  | 6.000 |  6.0 |  6  # 5': all sent before; over
        ack 17             |22                  | 6.167 |  6.0 |  6  # congestion avoidance, + 1/6
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// Six of ten segments are lost. All segments for which IsLost() is true are retransmitted
/// immediately, within the window.
#[test]
fn a_burst_of_losses_is_repaired_in_a_burst_within_the_window() {
    check(
        &from_ten(),
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 0 to 5 get lost
        ack 0 6            |10                  |10.000 | 42.0 | 10
        ack 0 6-7          |11                  |10.000 | 42.0 | 10
        ack 0 6-8          |0' 1'               | 5.000 |  5.0 |  5  # pipe 3 before: 9, 10, 11
        ack 0 6-9          |2'                  | 5.000 |  5.0 |  5
        ack 0 6-10         |3'                  | 5.000 |  5.0 |  5
        ack 0 6-11         |4'                  | 5.000 |  5.0 |  5  # 0' to 4'
        ack 1 6-11         |5'                  | 5.000 |  5.0 |  5
        ack 2 6-11         |12                  | 5.000 |  5.0 |  5
        ack 3 6-11         |13                  | 5.000 |  5.0 |  5
        ack 4 6-11         |14                  | 5.000 |  5.0 |  5
        ack 5 6-11         |15                  | 5.000 |  5.0 |  5
        ack 12             |16                  | 5.000 |  5.0 |  5  # 5': over
        ",
    );
}

/// Six of ten segments are lost, and the sender uses proportional rate reduction. One segment is
/// sent per segment that arrives. While the ACKs report no further loss, two segments are sent per
/// segment that arrives, until ssthresh segments are in the network.
#[test]
fn a_burst_of_losses_with_rate_reduction() {
    let prr = TcpSettings {
        prr: true,
        ..from_ten()
    };
    check(
        &prr,
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 0 to 5 get lost
        ack 0 6            |10                  |10.000 | 42.0 | 10
        ack 0 6-7          |11                  |10.000 | 42.0 | 10
        ack 0 6-8          |0'                  | 5.000 |  5.0 |  4  # below ssthresh: 1 for 1
        ack 0 6-9          |1'                  | 5.000 |  5.0 |  4
        ack 0 6-10         |2'                  | 5.000 |  5.0 |  4
        ack 0 6-11         |3'                  | 5.000 |  5.0 |  4
        ack 1 6-11         |4' 5'               | 5.000 |  5.0 |  5  # safe: one more
        ack 2 6-11         |12                  | 5.000 |  5.0 |  5  # at ssthresh
        ack 3 6-11         |13                  | 5.000 |  5.0 |  5
        ",
    );
}

/// RFC 6937, section 3.1, first figure: the first of 20 segments is lost. The RFC includes the
/// segments of limited transmit in FlightSize, so that ssthresh is 11. RFC 5681 excludes them, so
/// that ssthresh is 10 here.
#[test]
fn rate_reduction_spreads_the_silence_of_half_a_window() {
    let twenty = TcpSettings {
        initial_cwnd_packets: 20,
        window_packets: 64,
        ..from_ten()
    };
    let sent_with = |prr| {
        let mut sender = Sender::new(&TcpSettings {
            prr,
            ..twenty.clone()
        });
        let now = Time(1_000 * MS);
        sender.open();
        while sender.next_segment(now).is_some() {}
        let mut sent = String::new();
        for arrived in 1..=21 {
            let ack = plain(0, Time(900 * MS));
            sender.on_sack(now, ack, &[(1, arrived + 1), (0, 0), (0, 0)]);
            let segments = std::iter::from_fn(|| sender.next_segment(now)).collect::<Vec<_>>();
            sent.push(match segments[..] {
                [] => '.',
                [segment] if segment.retransmission => 'R',
                [_] => 'N',
                _ => panic!("a burst on ACK {arrived}"),
            });
        }
        sent
    };
    // for each ACK, N is a new segment, R a retransmission, and a dot means that no segment is
    // sent; with a cwnd of 10 and 18 segments in the network after the retransmission, 9 segments
    // must arrive before the next segment is sent
    assert_eq!(sent_with(false), "NNR.........NNNNNNNNN");
    // the figure has the rows NNR.........NNNNNNNN (a segment is sent from ACK 12 on, because cwnd
    // is 11) and NNR.N.N.N.N.N.N..NN
    assert_eq!(sent_with(true), "NNR.N.N.N.N.N.N.N..NN");
}

/// The retransmission is lost. SACK does not show this loss (RFC 6675 cannot detect it), so the
/// segment is retransmitted when the timer expires. SACKed segments are not retransmitted. ACKs do
/// not indicate a further loss until all segments sent before the timeout have arrived.
#[test]
fn a_lost_retransmission_is_repaired_by_the_timer() {
    let sender = check(
        &from_ten(),
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 0 and 4 get lost
        ack 0 1            |10                  |10.000 | 42.0 | 10
        ack 0 1-2          |11                  |10.000 | 42.0 | 10
        ack 0 1-3          |0'                  | 5.000 |  5.0 |  9  # lost again
        ack 0 5 1-3        |                    | 5.000 |  5.0 |  8
        ack 0 5-6 1-3      |                    | 5.000 |  5.0 |  7
        ack 0 5-7 1-3      |                    | 5.000 |  5.0 |  5  # 4 is lost: 8-11, 0'
        ack 0 5-8 1-3      |4'                  | 5.000 |  5.0 |  5
        ack 0 5-9 1-3      |12                  | 5.000 |  5.0 |  5
        ack 0 5-10 1-3     |13                  | 5.000 |  5.0 |  5
        ack 0 5-11 1-3     |14                  | 5.000 |  5.0 |  5
        ack 0 1-11         |15                  | 5.000 |  5.0 |  5  # 4'; 12-15, 0'
        ack 0 1-12         |16                  | 5.000 |  5.0 |  5
        timeout            |0'                  | 1.000 |  5.0 |  1  # FlightSize 17, yet the same loss
        ack 0 1-13         |                    | 1.000 |  5.0 |  1
        ack 0 1-14         |                    | 1.000 |  5.0 |  1  # no loss by duplicate ACKs
        ack 0 1-15         |                    | 1.000 |  5.0 |  1
        ack 0 1-16         |                    | 1.000 |  5.0 |  1
        ack 17             |17 18               | 2.000 |  5.0 |  2  # 0': nothing else again
        ack 18             |19 20               | 3.000 |  5.0 |  3
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 1));
}

/// After a timeout, the lost segments are retransmitted in slow start, and the SACKed segments are
/// not.
#[test]
fn a_timeout_sends_only_the_holes_again() {
    check(
        &TcpSettings {
            initial_cwnd_packets: 6,
            ..from_ten()
        },
        "
        open               |0 1 2 3 4 5         | 6.000 | 42.0 |  6  # 0, 1, 3 and 5 get lost
        ack 0 2            |6                   | 6.000 | 42.0 |  6  # lost as well
        ack 0 4 2          |7                   | 6.000 | 42.0 |  6  # lost as well
        timeout            |0'                  | 1.000 |  4.0 |  1
        ack 1 4 2          |1' 3'               | 2.000 |  4.0 |  2  # 2 had arrived
        ack 3 4            |5' 6'               | 3.000 |  4.0 |  3  # 4 had arrived
        ack 5              |7' 8                | 4.000 |  4.0 |  4
        ack 6              |9                   | 4.250 |  4.0 |  4
        ",
    );
}

/// Two segments overtake an earlier segment. There are fewer than three duplicate ACKs, and nothing
/// is retransmitted.
#[test]
fn mild_reordering_is_no_loss() {
    let sender = check(
        &from_ten(),
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 1 and 2 overtake 0
        ack 0 1            |10                  |10.000 | 42.0 | 10
        ack 0 1-2          |11                  |10.000 | 42.0 | 10
        ack 3              |12 13               |11.000 | 42.0 | 11  # 0: one ACK, growth by one
        ack 4              |14 15               |12.000 | 42.0 | 12
        ack 4 6            |16                  |12.000 | 42.0 | 12  # 6 and 7 overtake 4 and 5:
        ack 4 6-7          |17                  |12.000 | 42.0 | 12  # counted from 0 again
        ack 8              |18 19 20            |13.000 | 42.0 | 13
        ",
    );
    assert_eq!(sender.fast_retransmits(), 0);
}

/// Three segments overtake an earlier segment. The earlier segment is retransmitted unnecessarily,
/// and the window is halved. Its original transmission then arrives, but the recovery ends only
/// when all segments sent before the recovery have arrived.
#[test]
fn reordering_by_three_halves_the_window_once() {
    let sender = check(
        &from_ten(),
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 1, 2 and 3 overtake 0
        ack 0 1            |10                  |10.000 | 42.0 | 10
        ack 0 1-2          |11                  |10.000 | 42.0 | 10
        ack 0 1-3          |0'                  | 5.000 |  5.0 |  9  # 4-11, 0'
        ack 4              |                    | 5.000 |  5.0 |  8  # the original 0
        ack 5              |                    | 5.000 |  5.0 |  7
        ack 6              |                    | 5.000 |  5.0 |  6
        ack 7              |                    | 5.000 |  5.0 |  5
        ack 8              |12                  | 5.000 |  5.0 |  5
        ack 9              |13                  | 5.000 |  5.0 |  5
        ack 10             |14                  | 5.000 |  5.0 |  5
        ack 11             |15                  | 5.000 |  5.0 |  5
        ack 12             |16                  | 5.000 |  5.0 |  5  # recovery is over
        ack 12             |                    | 5.000 |  5.0 |  5  # 0', no block: means nothing
        ack 13             |17                  | 5.200 |  5.0 |  5
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// The last segments of a flow and one segment before them are lost. The rescue retransmission
/// (rule 4) repeats the highest segment, once. Its ACK reports the other losses.
#[test]
fn a_lost_tail_is_rescued_once() {
    let eight = TcpSettings {
        segments: Some(8),
        ..from_ten()
    };
    let sender = check(
        &eight,
        "
        open               |0 1 2 3 4 5 6 7     |10.000 | 42.0 |  8  # 1, 6 and 7 get lost
        ack 1              |                    |11.000 | 42.0 |  7
        ack 1 2            |                    |11.000 | 42.0 |  6
        ack 1 2-3          |                    |11.000 | 42.0 |  5
        ack 1 2-4          |1'                  | 3.500 |  3.5 |  4  # 7/2; 5, 6, 7, 1'
        ack 1 2-5          |                    | 3.500 |  3.5 |  3  # 3 allowed
        ack 6              |7'                  | 3.500 |  3.5 |  2  # 1'; rescue, not in the pipe
        ack 6 7            |6'                  | 3.500 |  3.5 |  2  # 7': rule 3; 6 and 6'
        ack 8              |                    | 3.500 |  3.5 |  0
        ",
    );
    assert!(sender.finished());
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
    assert_eq!(sender.deadline(), Time::NEVER);
}

/// Segments 12 and 13 are sent in the recovery from the loss of segment 0, and are lost. They cause
/// another recovery and another halving of the window.
#[test]
fn a_loss_in_recovery_is_another_event() {
    let sender = check(
        &from_ten(),
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 0 gets lost
        ack 0 1            |10                  |10.000 | 42.0 | 10
        ack 0 1-2          |11                  |10.000 | 42.0 | 10
        ack 0 1-3          |0'                  | 5.000 |  5.0 |  9
        ack 0 1-8          |12                  | 5.000 |  5.0 |  5  # 9, 10, 11, 0'; lost
        ack 0 1-9          |13                  | 5.000 |  5.0 |  5  # lost
        ack 0 1-10         |14                  | 5.000 |  5.0 |  5
        ack 0 1-11         |15                  | 5.000 |  5.0 |  5  # 12-15, 0'
        ack 12             |16                  | 5.000 |  5.0 |  5  # 0': over
        ack 12 14          |17                  | 5.000 |  5.0 |  5  # limited transmit
        ack 12 14-15       |18                  | 5.000 |  5.0 |  5
        ack 12 14-16       |12'                 | 2.500 |  2.5 |  3  # (7 - 2)/2; 17, 18, 12'
        ack 12 14-17       |                    | 2.500 |  2.5 |  2
        ack 12 14-18       |13'                 | 2.500 |  2.5 |  2  # 12', 13'
        ack 13 14-18       |19                  | 2.500 |  2.5 |  2  # lost
        ack 19             |20                  | 2.500 |  2.5 |  2  # 13': over
        ack 19 20          |21                  | 2.500 |  2.5 |  2
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (2, 0));
}

/// Segments 12 and 13 are lost, and are retransmitted during the recovery from the loss of segments
/// 0 and 9. Their loss starts the next recovery and halves the window, but the two segments are not
/// sent a third time.
#[test]
fn a_recovery_that_follows_on_another_repeats_nothing() {
    let sender = check(
        &from_ten(),
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 0 and 9 get lost
        ack 0 1            |10                  |10.000 | 42.0 | 10
        ack 0 1-2          |11                  |10.000 | 42.0 | 10
        ack 0 1-3          |0'                  | 5.000 |  5.0 |  9
        ack 0 1-8          |12                  | 5.000 |  5.0 |  5  # 9, 10, 11, 0'; 12 gets lost
        ack 0 10 1-8       |13                  | 5.000 |  5.0 |  5  # lost
        ack 0 10-11 1-8    |14                  | 5.000 |  5.0 |  5
        ack 9 10-11        |15                  | 5.000 |  5.0 |  5  # 0'; 9 and 12-15
        ack 9 14 10-11     |9' 16               | 5.000 |  5.0 |  5  # 9 is lost: 12, 13, 15, 9'
        ack 9 14-15 10-11  |17                  | 5.000 |  5.0 |  5
        ack 9 14-16 10-11  |12' 13' 18          | 5.000 |  5.0 |  5  # 12 and 13 are: 17, 9'
        ack 12 14-16       |19                  | 5.000 |  5.0 |  5  # 9': over; 12, 13, 17, 18
        ack 12 14-17       |                    | 4.000 |  4.0 |  4  # 8/2; 18, 19, 12', 13'
        ack 13 14-17       |20                  | 4.000 |  4.0 |  4  # 12'
        ack 18             |21                  | 4.000 |  4.0 |  4  # 13'
        ack 19             |22                  | 4.000 |  4.0 |  4
        ack 20             |23                  | 4.000 |  4.0 |  4  # over
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (2, 0));
}

/// An ACK that reports three SACKed segments starts the recovery immediately (step 2). The sender
/// does not wait for three duplicate ACKs, because ACKs may have been lost.
#[test]
fn one_ack_with_three_sacked_segments_is_enough() {
    check(
        &from_ten(),
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 0 and all ACKs but one
        ack 0 1-5          |0'                  | 5.000 |  5.0 |  5  # 6-9, 0'
        ",
    );
}

/// The receive window limits the number of outstanding segments, SACKed or not.
#[test]
fn the_receive_window_holds_while_the_pipe_is_short() {
    check(
        &TcpSettings {
            window_packets: 10,
            ..from_ten()
        },
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 10.0 | 10  # 0 gets lost
        ack 0 1            |                    |10.000 | 10.0 |  9
        ack 0 1-2          |                    |10.000 | 10.0 |  8
        ack 0 1-3          |0'                  | 5.000 |  5.0 |  7
        ack 0 1-9          |                    | 5.000 |  5.0 |  1
        ack 10             |10 11 12 13 14      | 5.000 |  5.0 |  5
        ",
    );
}

/// The decrease after a loss is that of the congestion control: CUBIC reduces the window to 0.7
/// FlightSize.
#[test]
fn the_congestion_control_sets_the_window_after_a_loss() {
    let cubic = TcpSettings {
        congestion: Cubic,
        ..from_ten()
    };
    check(
        &cubic,
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10
        ack 0 1            |10                  |10.000 | 42.0 | 10
        ack 0 1-2          |11                  |10.000 | 42.0 | 10
        ack 0 1-3          |0'                  | 7.000 |  7.0 |  9
        ",
    );
}

#[test]
fn old_acks_and_repeated_reports_change_nothing() {
    let mut sender = check(
        &from_ten(),
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10
        ack 3              |10 11 12 13         |11.000 | 42.0 | 11
        ack 3 5            |14                  |11.000 | 42.0 | 11
        ",
    );
    let before = format!("{sender:?}");
    for next in [0, 1, 2, 3] {
        let now = Time(2_000 * MS);
        let blocks = [(5, 6), (0, 0), (0, 0)];
        sender.on_sack(now, plain(next, Time(1_900 * MS)), &blocks);
    }
    assert_eq!(format!("{sender:?}"), before);
}

/// A mark and a loss in one window cause one reduction. The lost segment is retransmitted, and the
/// ACKs that echo the mark do not reduce the window a second time.
#[test]
fn a_loss_in_a_window_whose_mark_was_answered_is_only_repaired() {
    let sender = check(
        &TcpSettings {
            ecn: true,
            ..from_ten()
        },
        "
        open               |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 0 is marked, 3 gets lost
        ack 1 ece          |                    | 5.000 |  5.0 |  9  # no growth either
        ack 2 ece          |                    | 5.000 |  5.0 |  8
        ack 3 ece          |                    | 5.000 |  5.0 |  7
        ack 3 4 ece        |                    | 5.000 |  5.0 |  6
        ack 3 4-5 ece      |                    | 5.000 |  5.0 |  5
        ack 3 4-6 ece      |3' 10               | 5.000 |  5.0 |  5  # 7, 8, 9, 3' and 10, with CWR
        ack 3 4-7 ece      |11                  | 5.000 |  5.0 |  5
        ack 3 4-8 ece      |12                  | 5.000 |  5.0 |  5
        ack 3 4-9 ece      |13                  | 5.000 |  5.0 |  5
        ack 10 ece         |14                  | 5.000 |  5.0 |  5  # 3': over
        ack 11             |15                  | 5.200 |  5.0 |  5  # CWR has arrived
        ack 12 ece         |                    | 2.500 |  2.5 |  4  # 11 was marked, sent since
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// While all segments arrive in order, the sender does not use the scoreboard. Using the scoreboard
/// would not change the result.
#[test]
fn the_scoreboard_changes_nothing_without_a_loss() {
    let mut losses = 0;
    for seed in 0..40 {
        let mut play = |looks| {
            let mut draws = Streams::new(seed, 0).stream("fates");
            let fate = move |_| {
                // 1 % of the packets are 30 ms late, so that a few later packets overtake them
                let late = 30 * u64::from(draws.chance(0.01));
                (!draws.chance(0.02)).then_some(Span((50 + late) * MS))
            };
            let settings = TcpSettings {
                sack: true,
                prr: seed % 2 == 1,
                delayed_ack: seed % 4 > 1,
                ..settings(NewReno)
            };
            let mut pipe = Pipe::new(&settings, fate);
            pipe.looks = looks;
            pipe.run(Time(30_000 * MS));
            losses += pipe.sender.fast_retransmits().min(pipe.sender.timeouts());
            (pipe.log, pipe.sender.cwnd().to_bits())
        };
        assert_eq!(play(false), play(true), "seed {seed}");
    }
    assert!(losses > 100, "{losses} of either kind");
}
