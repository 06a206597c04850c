//! Traces worked by hand: each row is an event, with the segments sent and the window after it.

use super::*;
use crate::tcp::CongestionAlgorithm::{self, NewReno, Reno, Tahoe};
use crate::tcp::Feedback;
use crate::tcp::pipe::{MS, plain, settings};

/// Executes the events of a table and compares the sender with each row.
///
/// A row reads `event | segments sent | cwnd | ssthresh | flight  # why`. After a segment, `'`
/// means a retransmission, and `*` means that the segment reports a reduced window (CWR). `S` is a
/// SYN. Events are 10 ms apart. They are `open`, `close`, `syn-ack` (of a SYN that is 100 ms old),
/// `ack N` and `timeout` at the deadline of the timer. In `ack N`, N is the next segment expected;
/// the echo is 100 ms old. `ack N ece` has the echo of a mark, and `ack N M` reports M marks so
/// far.
pub(super) fn check(settings: &TcpSettings, table: &str) -> Sender {
    let mut sender = Sender::new(settings);
    let feedback = settings.feedback();
    let mut now = Time(1_000 * MS);
    for row in table.trim().lines() {
        let row = row.split('#').next().unwrap().trim();
        let event = row.split('|').next().unwrap();
        now += Span(10 * MS);
        match event.split_whitespace().collect::<Vec<_>>()[..] {
            ["open"] => sender.open(),
            ["syn-ack"] => sender.on_syn_ack(now, Time(now.0 - 100 * MS)),
            ["close"] => sender.close(),
            ["timeout"] => {
                now = sender.deadline();
                sender.on_timer(now);
            }
            ["ack", next, ref options @ ..] => {
                let next = next.parse().unwrap();
                let echo = Time(now.0 - 100 * MS);
                let ece = options == ["ece"];
                let counts = feedback == Feedback::Count;
                assert!(ece || counts || options.is_empty(), "{row}");
                let ack = plain(next, echo);
                let ece = match (feedback, options) {
                    (Feedback::Each, [_]) => EcnEcho::of_each(true),
                    (Feedback::Each, _) => EcnEcho::of_each(false),
                    (Feedback::Count, [marked]) => EcnEcho::count(marked.parse().unwrap()),
                    (Feedback::Count, _) => EcnEcho::count(0),
                    _ => EcnEcho::flag(ece),
                };
                sender.on_ack(now, Ack { ece, ..ack });
            }
            _ => panic!("no such event: {event}"),
        }
        let mut sent: Vec<String> = std::iter::from_fn(|| sender.next_segment(now))
            .map(|s| {
                format!(
                    "{}{}{}",
                    s.number,
                    again(&s),
                    if s.echo.is_set() { "*" } else { "" }
                )
            })
            .collect();
        let syn = sender.next_opening(now);
        sent.extend(syn.map(|syn| format!("S{}", if syn.repeated { "'" } else { "" })));
        let played = format!(
            "{event}|{:<20}|{:>6.3} |{:>5.1} |{:>3}",
            sent.join(" "),
            sender.cwnd(),
            sender.ssthresh(),
            sender.flight()
        );
        assert_eq!(played, row);
    }
    sender
}

fn again(segment: &Segment) -> &str {
    if segment.retransmission { "'" } else { "" }
}

/// Returns settings with which ten segments are sent simultaneously, so that losses occur in a
/// window of about ten segments.
fn from_ten(congestion: CongestionAlgorithm) -> TcpSettings {
    TcpSettings {
        initial_cwnd_packets: 10,
        ..settings(congestion)
    }
}

/// The window is halved once for two losses. The repair of each loss takes one round trip.
#[test]
fn newreno_repairs_two_losses_of_a_window_and_halves_once() {
    let sender = check(
        &from_ten(NewReno),
        "
        open    |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 2 and 5 get lost
        ack 1   |10 11               |11.000 | 42.0 | 11  # 0 arrives: slow start
        ack 2   |12 13               |12.000 | 42.0 | 12  # 1
        ack 2   |                    |12.000 | 42.0 | 12  # 3: first duplicate ACK
        ack 2   |                    |12.000 | 42.0 | 12  # 4
        ack 2   |2'                  | 9.000 |  6.0 | 12  # 6: third; 12/2, inflated by 3
        ack 2   |                    |10.000 |  6.0 | 12  # 7: inflation, but 12 are out
        ack 2   |                    |11.000 |  6.0 | 12  # 8
        ack 2   |                    |12.000 |  6.0 | 12  # 9
        ack 2   |14                  |13.000 |  6.0 | 13  # 10: new data on each from here
        ack 2   |15                  |14.000 |  6.0 | 14  # 11
        ack 2   |16                  |15.000 |  6.0 | 15  # 12
        ack 2   |17                  |16.000 |  6.0 | 16  # 13, the last sent before the loss
        ack 5   |5' 18               |14.000 |  6.0 | 14  # 2': partial, 16 - 3 + 1
        ack 5   |19                  |15.000 |  6.0 | 15  # 14
        ack 5   |20                  |16.000 |  6.0 | 16  # 15
        ack 5   |21                  |17.000 |  6.0 | 17  # 16
        ack 5   |22                  |18.000 |  6.0 | 18  # 17
        ack 18  |23                  | 6.000 |  6.0 |  6  # 5': full; back to ssthresh
        ack 19  |24                  | 6.167 |  6.0 |  6  # 18: congestion avoidance, + 1/6
        ack 20  |25                  | 6.329 |  6.0 |  6  # 19: + 1/6.167
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// Reno ends fast recovery with the ACK of the first retransmission. It detects the second loss by
/// three more duplicate ACKs, and halves the window again.
#[test]
fn reno_halves_twice_for_two_losses_of_a_window() {
    let sender = check(
        &from_ten(Reno),
        "
        open    |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 2 and 5 get lost
        ack 1   |10 11               |11.000 | 42.0 | 11  # 0
        ack 2   |12 13               |12.000 | 42.0 | 12  # 1
        ack 2   |                    |12.000 | 42.0 | 12  # 3
        ack 2   |                    |12.000 | 42.0 | 12  # 4
        ack 2   |2'                  | 9.000 |  6.0 | 12  # 6
        ack 2   |                    |10.000 |  6.0 | 12  # 7
        ack 2   |                    |11.000 |  6.0 | 12  # 8
        ack 2   |                    |12.000 |  6.0 | 12  # 9
        ack 2   |14                  |13.000 |  6.0 | 13  # 10
        ack 2   |15                  |14.000 |  6.0 | 14  # 11
        ack 2   |16                  |15.000 |  6.0 | 15  # 12
        ack 2   |17                  |16.000 |  6.0 | 16  # 13
        ack 5   |                    | 6.000 |  6.0 | 13  # 2': deflated, recovery is over
        ack 5   |                    | 6.000 |  6.0 | 13  # 14: first duplicate ACK
        ack 5   |                    | 6.000 |  6.0 | 13  # 15
        ack 5   |5'                  | 9.500 |  6.5 | 13  # 16: third; 13/2, inflated by 3
        ack 5   |                    |10.500 |  6.5 | 13  # 17
        ack 18  |18 19 20 21 22 23   | 6.500 |  6.5 |  6  # 5': nothing was out, a burst
        ack 19  |24                  | 6.654 |  6.5 |  6  # 18: + 1/6.5
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (2, 0));
}

#[test]
fn tahoe_starts_slowly_after_a_fast_retransmit() {
    let sender = check(
        &from_ten(Tahoe),
        "
        open    |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10  # 2 gets lost
        ack 1   |10 11               |11.000 | 42.0 | 11  # 0
        ack 2   |12 13               |12.000 | 42.0 | 12  # 1
        ack 2   |                    |12.000 | 42.0 | 12  # 3
        ack 2   |                    |12.000 | 42.0 | 12  # 4
        ack 2   |2'                  | 1.000 |  6.0 |  1  # 5: back to the hole
        ack 2   |                    | 1.000 |  6.0 |  1  # 6
        ack 2   |                    | 1.000 |  6.0 |  1  # 7
        ack 2   |                    | 1.000 |  6.0 |  1  # 8: not three more
        ack 14  |14 15               | 2.000 |  6.0 |  2  # 2': 3 to 13 are skipped
        ack 15  |16 17               | 3.000 |  6.0 |  3  # 14: slow start
        ack 16  |18 19               | 4.000 |  6.0 |  4
        ack 17  |20 21               | 5.000 |  6.0 |  5
        ack 18  |22 23               | 6.000 |  6.0 |  6
        ack 19  |24                  | 6.167 |  6.0 |  6  # congestion avoidance
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (1, 0));
}

/// A second timeout of the same segment does not change ssthresh. ACK 5 also acknowledges segments
/// 2 to 4, which had arrived before the timeout.
#[test]
fn timeout_goes_back_to_the_first_hole() {
    let from_six = TcpSettings {
        initial_cwnd_packets: 6,
        ..settings(NewReno)
    };
    let sender = check(
        &from_six,
        "
        open    |0 1 2 3 4 5         | 6.000 | 42.0 |  6  # 0, 1 and 5 get lost, all ACKs too
        timeout |0'                  | 1.000 |  3.0 |  1  # lost as well
        timeout |0'                  | 1.000 |  3.0 |  1
        ack 1   |1' 2'               | 2.000 |  3.0 |  2  # 0'
        ack 5   |5' 6 7              | 3.000 |  3.0 |  3  # 1': 2 to 4 had arrived
        ack 5   |                    | 3.000 |  3.0 |  3  # 2', for nothing: no duplicate ACK
        ack 6   |8                   | 3.333 |  3.0 |  3  # 5': + 1/3
        ack 7   |9                   | 3.633 |  3.0 |  3  # 6
        ",
    );
    assert_eq!((sender.fast_retransmits(), sender.timeouts()), (0, 2));
}

/// Segments sent twice after a timeout cause duplicate ACKs. These ACKs do not indicate a loss
/// until an ACK covers more than the segments sent before the timeout.
#[test]
fn duplicate_acks_after_a_timeout_are_ignored_until_new_data_is_acknowledged() {
    check(
        &TcpSettings {
            initial_cwnd_packets: 4,
            ..settings(NewReno)
        },
        "
        open    |0 1 2 3             | 4.000 | 42.0 |  4  # all arrive, but late
        timeout |0'                  | 1.000 |  2.0 |  1
        ack 1   |1' 2'               | 2.000 |  2.0 |  2  # 0
        ack 2   |3'                  | 2.500 |  2.0 |  2  # 1
        ack 3   |4                   | 2.900 |  2.0 |  2  # 2
        ack 4   |5 6                 | 3.245 |  2.0 |  3  # 3: all before the timeout
        ack 4   |                    | 3.245 |  2.0 |  3  # 0'
        ack 4   |                    | 3.245 |  2.0 |  3  # 1'
        ack 4   |                    | 3.245 |  2.0 |  3  # 2'
        ack 4   |                    | 3.245 |  2.0 |  3  # 3'
        ack 5   |7                   | 3.553 |  2.0 |  3  # 4: beyond, ACKs count again
        ack 5   |                    | 3.553 |  2.0 |  3
        ack 5   |                    | 3.553 |  2.0 |  3
        ack 5   |5' 8 9              | 5.000 |  2.0 |  5
        ",
    );
}

#[test]
fn cwnd_stops_at_the_receive_window_and_flight_stays_within_it_when_inflated() {
    check(
        &TcpSettings {
            window_packets: 6,
            initial_cwnd_packets: 4,
            ..settings(Reno)
        },
        "
        open    |0 1 2 3             | 4.000 |  6.0 |  4
        ack 1   |4 5                 | 5.000 |  6.0 |  5
        ack 2   |6 7                 | 6.000 |  6.0 |  6
        ack 3   |8                   | 6.000 |  6.0 |  6
        ack 3   |                    | 6.000 |  6.0 |  6
        ack 3   |                    | 6.000 |  6.0 |  6
        ack 3   |3'                  | 6.000 |  3.0 |  6
        ack 3   |                    | 7.000 |  3.0 |  6  # cwnd allows one more, the receiver not
        ack 3   |                    | 8.000 |  3.0 |  6
        ack 9   |9 10 11             | 3.000 |  3.0 |  3
        ",
    );
}

#[test]
fn close_sends_no_new_data_but_repairs_what_is_outstanding() {
    let sender = check(
        &from_ten(NewReno),
        "
        open    |0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10
        close   |                    |10.000 | 42.0 | 10
        ack 1   |                    |11.000 | 42.0 |  9
        ack 1   |                    |11.000 | 42.0 |  9
        ack 1   |                    |11.000 | 42.0 |  9
        ack 1   |1'                  | 7.500 |  4.5 |  9
        ack 9   |9'                  | 1.000 |  4.5 |  1  # 7.5 - 8 is below 0
        timeout |9'                  | 1.000 |  2.0 |  1
        ack 10  |                    | 2.000 |  2.0 |  0
        ",
    );
    assert!(sender.finished());
    assert_eq!(sender.deadline(), Time::NEVER);
}

#[test]
fn a_finite_flow_ends_with_the_ack_of_its_last_segment() {
    let sender = check(
        &TcpSettings {
            segments: Some(3),
            ..settings(NewReno)
        },
        "
        open    |0 1                 | 2.000 | 42.0 |  2
        ack 1   |2                   | 3.000 | 42.0 |  2
        ack 2   |                    | 4.000 | 42.0 |  1
        ack 3   |                    | 5.000 | 42.0 |  0
        ",
    );
    assert!(sender.finished());
    assert_eq!(sender.acked(), 3);
    assert_eq!(sender.deadline(), Time::NEVER);
}

#[test]
fn timeouts_back_off_and_the_next_sample_moves_the_deadline_earlier() {
    let mut sender = Sender::new(&settings(NewReno));
    sender.open();
    assert_eq!(sender.deadline(), Time::NEVER);
    while sender.next_segment(Time::ZERO).is_some() {}
    let mut fired = Vec::new();
    for _ in 0..4 {
        let now = sender.deadline();
        fired.push(now.0 / MS);
        sender.on_timer(now);
        while sender.next_segment(now).is_some() {}
    }
    assert_eq!(fired, [1_000, 3_000, 7_000, 15_000]);
    assert_eq!(sender.deadline(), Time(31_000 * MS));
    // first sample 100 ms: RTO = 100 + 4 * 50 ms
    let echo = Time(15_000 * MS);
    sender.on_ack(Time(15_100 * MS), plain(1, echo));
    assert_eq!(sender.deadline(), Time(15_400 * MS));
    assert_eq!(sender.srtt(), Some(Span(100 * MS)));
}

/// RFC 6298, rules 5.1 to 5.3, and the "impatient" timer of NewReno. RTO is 200 ms throughout.
#[test]
fn timer_restarts_on_progress_but_not_on_the_second_partial_ack() {
    let mut sender = Sender::new(&from_ten(NewReno));
    let mut deadline_after = |at_ms: u64, next: Option<u32>| {
        let now = Time(at_ms * MS);
        match next {
            Some(next) => sender.on_ack(now, plain(next, now)),
            None => sender.open(),
        }
        while sender.next_segment(now).is_some() {}
        sender.deadline().0 / MS
    };
    assert_eq!(deadline_after(0, None), 1_000);
    assert_eq!(deadline_after(10, Some(1)), 210);
    assert_eq!(deadline_after(20, Some(1)), 210); // first duplicate ACK
    assert_eq!(deadline_after(30, Some(1)), 210);
    assert_eq!(deadline_after(40, Some(1)), 240); // fast retransmit
    assert_eq!(deadline_after(50, Some(1)), 240);
    assert_eq!(deadline_after(60, Some(3)), 260); // first partial ACK
    assert_eq!(deadline_after(70, Some(5)), 260); // second partial ACK
    assert_eq!(deadline_after(80, Some(12)), 280); // full ACK: the timer stops, and starts again for new data
}

#[test]
fn nothing_is_sent_before_open_nor_after_an_early_close() {
    let mut sender = Sender::new(&settings(NewReno));
    assert_eq!(sender.next_segment(Time::ZERO), None);
    assert!(!sender.finished());
    sender.close();
    sender.open();
    assert_eq!(sender.next_segment(Time(5)), None);
    assert!(sender.finished());
}

#[test]
fn old_acks_change_nothing() {
    let mut sender = Sender::new(&from_ten(NewReno));
    sender.open();
    while sender.next_segment(Time::ZERO).is_some() {}
    let echo = Time::ZERO;
    sender.on_ack(Time(100 * MS), plain(5, echo));
    let before = format!("{sender:?}");
    for next in [1, 4, 3, 2] {
        sender.on_ack(Time(110 * MS), plain(next, echo));
    }
    assert_eq!(format!("{sender:?}"), before);
}

#[test]
fn a_sender_stays_small() {
    assert!(size_of::<Sender>() <= 192, "{}", size_of::<Sender>());
}

/// The first segment is lost and retransmitted after a timeout. The ACK also covers the nine
/// segments after it, which arrived earlier. With byte counting this ACK is counted as one delayed
/// ACK, and later ACKs are counted in full.
#[test]
fn after_a_timeout_an_ack_counts_two_segments_at_most() {
    for congestion in [Tahoe, Reno, NewReno] {
        let counting = TcpSettings {
            byte_counting: true,
            ..from_ten(congestion)
        };
        check(
            &counting,
            "
open|0 1 2 3 4 5 6 7 8 9 |10.000 | 42.0 | 10
timeout|0'                  | 1.000 |  5.0 |  1
ack 10|10 11 12            | 3.000 |  5.0 |  3
ack 13|13 14 15 16 17      | 5.000 |  5.0 |  5
",
        );
    }
}
