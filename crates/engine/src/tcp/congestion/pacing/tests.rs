use std::cell::Cell;

use super::*;
use crate::tcp::congestion::CongestionAlgorithm::{self, Cubic, NewReno, Reno};
use crate::tcp::pipe::{MS, Packet, Pipe, settings};
use crate::tcp::{Sender, TcpSettings};

/// Returns settings with pacing, immediate ACKs, a handshake (for the first round-trip sample), and
/// a receive window of `window` packets.
fn paced(congestion: CongestionAlgorithm, window: u32) -> TcpSettings {
    TcpSettings {
        pacing: true,
        handshake: true,
        window_packets: window,
        ..settings(congestion)
    }
}

/// SRTT is 100 ms and ssthresh is 40. The pacing factor is 2 below 20 packets, and 1.2 from 20
/// packets on.
#[test]
fn spacing_worked_by_hand() {
    let between = |cwnd, flight| {
        let window = Window::new(cwnd, 40.0, 64.0);
        spacing(&window, flight, Span(100 * MS))
    };
    assert_eq!(between(10.0, 3), Span(5 * MS));
    assert_eq!(between(20.0, 3), Span(4_166_667));
    assert_eq!(between(40.0, 40), Span(2_083_334));
    // after a loss, 50 segments are in flight at a window of 20 packets, and the rate depends on
    // the larger number
    assert_eq!(between(20.0, 50), Span(1_666_667));
}

/// Returns the pacing rate of a sender; `None` without a round-trip sample. [segments/ns]
fn rate(sender: &Sender) -> Option<f64> {
    let factor = match sender.cwnd() < sender.ssthresh() / 2.0 {
        true => 2.0,
        false => 1.2,
    };
    let flight = f64::from(sender.flight());
    let srtt = sender.srtt()?.nanoseconds();
    Some(factor * sender.cwnd().max(flight) / srtt)
}

/// One in 97 segments is lost, and the delay is 50 ms in each direction. Segments are never sent
/// simultaneously, and never earlier than pacing permits. Pacing, and not the window, determines
/// the transmission time of at least 1 in 6 segments.
#[test]
fn segments_leave_at_least_their_length_over_the_pacing_rate_apart() {
    for (sack, rack) in [(false, false), (true, false), (true, true)] {
        for congestion in [Reno, Cubic] {
            let (number_sent, sent) = (Cell::new(0_u64), Cell::new(Time::ZERO));
            let fate = |packet| match packet {
                Packet::Data { sent_at, .. } => {
                    number_sent.set(number_sent.get() + 1);
                    sent.set(sent_at);
                    (number_sent.get() % 97 != 60).then_some(Span(50 * MS))
                }
                Packet::Ack(_) | Packet::Syn { .. } | Packet::SynAck { .. } => Some(Span(50 * MS)),
            };
            let settings = TcpSettings {
                sack,
                rack,
                ..paced(congestion, 200)
            };
            let mut pipe = Pipe::new(&settings, fate);
            pipe.logs = false;
            let (mut count, mut last, mut at_rate) = (0, None, 0);
            while number_sent.get() < 3_000 && pipe.step(Time::NEVER) {
                if number_sent.get() == count {
                    continue;
                }
                count += 1;
                assert_eq!(pipe.sender.pending(), 0, "transmissions are stored");
                assert_eq!(number_sent.get(), count, "two segments leave together");
                if let Some((before, spacing)) = last {
                    let gap = sent.get().since(before).nanoseconds();
                    assert!(gap >= spacing - 1.0, "{gap} instead of {spacing}");
                    at_rate += u64::from(gap <= spacing + 1.0);
                }
                last = rate(&pipe.sender).map(|rate| (sent.get(), 1.0 / rate));
            }
            assert_eq!(number_sent.get(), 3_000);
            assert!(
                at_rate > 500,
                "{at_rate} with {congestion:?}, {sack}, {rack}"
            );
        }
    }
}

/// A window of 42 packets and a round-trip time of 100 ms give 420 segments per second, and not 1.2
/// times this rate.
#[test]
fn the_average_rate_is_the_window_over_the_round_trip_time() {
    let mut pipe = Pipe::new(&paced(NewReno, 42), |_| Some(Span(50 * MS)));
    pipe.run(Time(2_000 * MS));
    let before = pipe.delivered;
    pipe.run(Time(12_000 * MS));
    let delivered = pipe.delivered - before;
    assert!((4_190..=4_210).contains(&delivered), "{delivered}");
}

#[test]
fn without_a_sample_the_initial_window_leaves_immediately() {
    let settings = TcpSettings {
        handshake: false,
        initial_cwnd_packets: 10,
        ..paced(Reno, 42)
    };
    let mut sender = Sender::new(&settings);
    sender.open();
    assert_eq!(
        std::iter::from_fn(|| sender.next_segment(Time(5))).count(),
        10
    );
    assert!(!sender.may_act_at(Time::NEVER)); // the deadline is that of the retransmission timer
}

/// If pacing delays a segment, its transmission time is a deadline of the sender. An ACK that
/// arrives after this deadline is processed after the transmission.
#[test]
fn the_departure_is_a_deadline_of_the_sender() {
    let mut sender = Sender::new(&paced(Reno, 40));
    sender.open();
    sender.next_opening(Time::ZERO);
    sender.on_syn_ack(Time(100 * MS), Time::ZERO);
    assert_eq!(sender.next_segment(Time(100 * MS)).unwrap().number, 0);
    assert_eq!(sender.next_segment(Time(100 * MS)), None);
    // cwnd 2 is below 40/2, so that the pacing rate is 2 cwnd/SRTT, and the time between segments a
    // quarter of 100 ms
    assert_eq!(sender.deadline(), Time(125 * MS));
    assert!(sender.may_act_at(Time(125 * MS)) && !sender.may_act_at(Time(125 * MS + 1)));
    sender.on_timer(Time(125 * MS));
    assert_eq!(sender.next_segment(Time(125 * MS)).unwrap().number, 1);
    assert_eq!(sender.next_segment(Time(125 * MS)), None);
    assert!(sender.deadline() > Time(200 * MS)); // the window is used up, so that pacing sets no deadline
    assert_eq!(sender.timeouts(), 0);
}

/// Returns the maximum queue of a bottleneck that sends one segment per ms. The round-trip time
/// without queueing is 100 ms.
fn largest_queue(settings: &TcpSettings) -> u64 {
    let (free_at, largest) = (Cell::new(0_u64), Cell::new(0_u64));
    let fate = |packet| match packet {
        Packet::Data { sent_at, .. } => {
            let leaves = free_at.get().max(sent_at.0) + MS;
            free_at.set(leaves);
            let waits = leaves - sent_at.0;
            largest.set(largest.get().max(waits.div_ceil(MS)));
            Some(Span(waits + 49 * MS))
        }
        Packet::Ack(_) | Packet::Syn { .. } | Packet::SynAck { .. } => Some(Span(50 * MS)),
    };
    let mut pipe = Pipe::new(settings, fate);
    pipe.logs = false;
    pipe.run(Time(3_000 * MS));
    assert_eq!(pipe.sender.timeouts() + pipe.sender.fast_retransmits(), 0);
    largest.get()
}

/// Without pacing, ACKs arrive at the rate of the bottleneck in slow start, and two segments are
/// sent per ACK. While n ACKs increase the window, n segments are queued in addition to the segment
/// in service. n is 32 for a receive window of 64 packets, and 36 in the last round trip from 64 to
/// 100 packets.
///
/// With pacing, the sending rate is up to 2 cwnd/RTT while cwnd is below half of the receive window
/// W, and then 1.2 cwnd/RTT. If 1.2 W is less than the 100 packets that the bottleneck sends per
/// round trip, no segment is queued. At W = 100 the sending rate exceeds the rate of the bottleneck
/// by up to a fifth, for windows above 83 packets.
#[test]
fn slow_start_queues_at_most_half_as_many_segments() {
    for congestion in [Reno, Cubic] {
        for (window, unpaced, max_paced) in [(64, 33, 1), (100, 37, 18)] {
            let settings = paced(congestion, window);
            let burst = largest_queue(&TcpSettings {
                pacing: false,
                ..settings.clone()
            });
            assert_eq!(burst, unpaced, "{congestion:?}");
            let queue = largest_queue(&settings);
            assert!(queue <= max_paced, "{queue} with {congestion:?}");
        }
    }
}
