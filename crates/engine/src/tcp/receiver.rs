//! The receiving half of a connection: in-order delivery, ACKs, timestamp echo.
//!
//! References: RFC 5681, section 4.2 (when to acknowledge); RFC 7323, section 4.3 (which
//! timestamp to echo). The echo of marks is in [`super::feedback`].
//!
//! An ACK is sent immediately for a segment out of order, for a segment that fills a gap, for a
//! duplicate segment, and for every second segment in order. The ACK of a single segment in order
//! is delayed by `ack_delay`. Without `delayed_ack` every segment is acknowledged immediately.
//!
//! Differs from Linux in: no quick ACKs at the start of a connection, and a fixed delay.

use super::Ack;
use super::feedback::Echoes;
use super::ring::Ring;
use super::sack::{Blocks, Reporter};
use crate::kernel::time::{Span, Time};
use crate::tcp::TcpSettings;

/// The result of the arrival of a segment at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Number of segments that are delivered in order because of this arrival.
    pub delivered: u32,
    /// ACK to send now; `None` if the ACK is delayed.
    pub ack: Option<Ack>,
}

/// The receiver of one connection. The fields that are used for every segment are in one cache
/// line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Receiver {
    /// Number of the next expected segment. All segments before this segment have been delivered.
    rcv_nxt: u32,
    /// Last.ACK.sent of RFC 7323: the number that the last ACK contained.
    last_ack_sent: u32,
    /// TS.Recent of RFC 7323: the transmission time that the next ACK echoes.
    ts_recent: Time,
    /// Time at which the delayed ACK is sent; [`Time::NEVER`] if no ACK is delayed.
    deadline: Time,
    /// Maximum delay of an ACK; `None` if every segment is acknowledged immediately.
    ack_delay: Option<Span>,
    /// ECN state, which determines the ECN echo of ACKs.
    echoes: Echoes,
    window: u32,
    /// Segments that have arrived out of order, above a missing segment.
    ahead: Ring,
    /// SACK options of the ACKs; `None` if the connection does not use SACK.
    reporter: Option<Box<Reporter>>,
}

impl Receiver {
    /// Creates a receiver that expects segment 0.
    pub fn new(settings: &TcpSettings) -> Receiver {
        Receiver {
            rcv_nxt: 0,
            last_ack_sent: 0,
            ts_recent: Time::ZERO,
            deadline: Time::NEVER,
            ack_delay: settings.delayed_ack.then_some(settings.ack_delay),
            window: settings.window_packets,
            echoes: Echoes::new(settings.feedback()),
            ahead: Ring::new(settings.window_packets),
            reporter: settings.sack.then(|| Reporter::new(settings.rack).into()),
        }
    }

    /// Processes the arrival of segment `number`, which was sent at `sent_at`.
    #[inline(always)]
    pub fn on_segment(&mut self, now: Time, number: u32, sent_at: Time) -> Received {
        // by RFC 7323, section 4.3, the ACK echoes the transmission time of the earliest
        // unacknowledged segment, so that round-trip time samples include the delay of the ACK
        if number <= self.last_ack_sent && sent_at >= self.ts_recent {
            self.ts_recent = sent_at;
        }
        if number != self.rcv_nxt {
            let sack = self.on_other_segment(number);
            return Received {
                delivered: 0,
                ack: Some(self.ack_with(sack)),
            };
        }
        self.rcv_nxt += 1;
        let filled = self.ahead.held > 0;
        let delivered = if filled { 1 + self.deliver_ahead() } else { 1 };
        let waiting = self.deadline != Time::NEVER;
        let ack = match self.ack_delay {
            Some(delay) if !filled && !waiting => {
                self.deadline = now + delay;
                None
            }
            _ => Some(self.ack()),
        };
        Received { delivered, ack }
    }

    /// Processes the ECN flags of a segment before [`on_segment`](Receiver::on_segment) processes
    /// the segment itself. With feedback that reports each mark, the call is also required for a
    /// segment without CWR and CE. Returns the delayed ACK of earlier segments, if its echo differs
    /// from the echo for this segment. The caller sends the returned ACK only if
    /// [`on_segment`](Receiver::on_segment) returns no ACK.
    #[cold]
    pub fn on_marks(&mut self, cwr: bool, ce: bool) -> Option<Ack> {
        let early = self.echoes.hastens(ce, self.deadline).then(|| self.ack());
        self.echoes.on_segment(cwr, ce);
        early
    }

    /// Returns the number of the next expected segment. All segments before this segment have been
    /// delivered.
    #[inline]
    pub fn expected(&self) -> u32 {
        self.rcv_nxt
    }

    /// Returns the time at which the delayed ACK is sent; [`Time::NEVER`] if no ACK is delayed.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Processes the expiry of the delayed-ACK timer. Returns the delayed ACK; `None` if the timer
    /// has not expired.
    pub fn on_timer(&mut self, now: Time) -> Option<Ack> {
        (now >= self.deadline).then(|| self.ack())
    }

    /// Processes a segment that is out of order or a duplicate. Returns the number of the SACK
    /// option that reports the segment.
    #[inline(never)]
    fn on_other_segment(&mut self, number: u32) -> u16 {
        let is_ahead = number > self.rcv_nxt && number - self.rcv_nxt < self.window;
        let twice = number < self.rcv_nxt || is_ahead && self.ahead.contains(number);
        let mut needs_dsack = false;
        if let Some(reporter) = &mut self.reporter {
            needs_dsack = twice && reporter.on_duplicate(number);
            if is_ahead {
                reporter.on_arrival(number);
            }
        }
        if is_ahead {
            self.ahead.insert(number);
        }
        match needs_dsack || self.ahead.held > 0 {
            true => self.report(),
            false => 0,
        }
    }

    /// Delivers segments that arrived out of order and are now in order. Returns the number of
    /// these segments.
    #[inline(never)]
    fn deliver_ahead(&mut self) -> u32 {
        let first = self.rcv_nxt;
        while self.ahead.remove(self.rcv_nxt) {
            self.rcv_nxt += 1;
        }
        self.rcv_nxt - first
    }

    /// Returns the SACK blocks of the ACK with the option number `option`. The function must be
    /// called at most once per option.
    pub fn blocks(&mut self, option: u16) -> Blocks {
        match &mut self.reporter {
            Some(reporter) => reporter.take(option),
            None => Blocks::default(),
        }
    }

    #[inline(always)]
    fn ack(&mut self) -> Ack {
        let sack = match self.ahead.held {
            0 => 0,
            _ => self.report(),
        };
        self.ack_with(sack)
    }

    /// Returns the ACK to send now, with the SACK option number `sack`.
    #[inline(always)]
    fn ack_with(&mut self, sack: u16) -> Ack {
        self.deadline = Time::NEVER;
        self.last_ack_sent = self.rcv_nxt;
        Ack {
            next: self.rcv_nxt,
            echo: self.ts_recent,
            sack,
            ece: self.echoes.now(),
        }
    }

    /// Creates a SACK option and returns its number; 0 if the connection does not use SACK.
    #[cold]
    fn report(&mut self) -> u16 {
        match &mut self.reporter {
            Some(reporter) => reporter.report(self.rcv_nxt, &self.ahead),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::EcnEcho;
    use crate::tcp::CongestionAlgorithm::{self, NewReno};
    use crate::tcp::pipe::{MS, plain, settings};

    fn receiver(delayed_ack: bool, window_packets: u32) -> Receiver {
        Receiver::new(&TcpSettings {
            delayed_ack,
            window_packets,
            ..settings(NewReno)
        })
    }

    /// Delivers segments, given as `(number, transmission time [ms], arrival time [ms])`. Returns
    /// for each segment `(number of delivered segments, ACK as (next, echo [ms]))`.
    fn feed(
        receiver: &mut Receiver,
        segments: &[(u32, u64, u64)],
    ) -> Vec<(u32, Option<(u32, u64)>)> {
        let feed_one = |&(number, sent, now): &(u32, u64, u64)| {
            let received = receiver.on_segment(Time(now * MS), number, Time(sent * MS));
            let ack = received.ack.map(|a| (a.next, a.echo.0 / MS));
            (received.delivered, ack)
        };
        segments.iter().map(feed_one).collect()
    }

    #[test]
    fn every_segment_is_acknowledged_at_once_without_delay() {
        let mut r = receiver(false, 42);
        let got = feed(&mut r, &[(0, 1, 51), (1, 2, 52), (2, 3, 53)]);
        assert_eq!(
            got,
            [(1, Some((1, 1))), (1, Some((2, 2))), (1, Some((3, 3)))]
        );
        assert_eq!(r.deadline(), Time::NEVER);
    }

    #[test]
    fn every_second_segment_is_acknowledged_with_the_echo_of_the_first_of_them() {
        let mut r = receiver(true, 42);
        let got = feed(&mut r, &[(0, 1, 51), (1, 2, 52), (2, 3, 53), (3, 4, 54)]);
        assert_eq!(
            got,
            [(1, None), (1, Some((2, 1))), (1, None), (1, Some((4, 3)))]
        );
    }

    #[test]
    fn a_single_segment_waits_for_the_timer() {
        let mut r = receiver(true, 42);
        feed(&mut r, &[(0, 1, 51)]);
        assert_eq!(r.deadline(), Time(151 * MS));
        assert_eq!(r.on_timer(Time(150 * MS)), None);
        let ack = plain(1, Time(MS));
        assert_eq!(r.on_timer(Time(151 * MS)), Some(ack));
        assert_eq!(r.deadline(), Time::NEVER);
        assert_eq!(r.on_timer(Time(152 * MS)), None);
    }

    /// RFC 7323, section 4.3, example of out-of-order arrival. Duplicate ACKs echo the time of the
    /// last segment in order. The ACK of a segment that fills the gap echoes the time of this
    /// segment.
    #[test]
    fn segments_around_a_gap_are_acknowledged_at_once() {
        let mut r = receiver(true, 42);
        let arrivals = [
            (0, 1, 51), // the ACK is delayed
            (2, 3, 53), // a segment is missing: immediate ACK with the time of segment 0
            (3, 4, 54),
            (5, 6, 56),
            (1, 60, 110),  // fills the first gap
            (4, 120, 170), // fills the last gap
            (6, 121, 171), // in order again, so that the ACK is delayed
        ];
        let got = feed(&mut r, &arrivals);
        let expected = [
            (1, None),
            (0, Some((1, 1))),
            (0, Some((1, 1))),
            (0, Some((1, 1))),
            (3, Some((4, 60))),
            (2, Some((6, 120))),
            (1, None),
        ];
        assert_eq!(got, expected);
    }

    #[test]
    fn a_segment_that_arrived_before_is_acknowledged_at_once_and_not_delivered() {
        let mut r = receiver(true, 42);
        let got = feed(&mut r, &[(0, 1, 51), (0, 30, 80), (2, 31, 81), (2, 32, 82)]);
        assert_eq!(
            got,
            [
                (1, None),
                (0, Some((1, 30))),
                (0, Some((1, 30))),
                (0, Some((1, 30)))
            ]
        );
    }

    #[test]
    fn an_overtaken_copy_does_not_turn_the_echo_back() {
        let mut r = receiver(false, 42);
        let got = feed(&mut r, &[(0, 30, 80), (0, 1, 90)]);
        assert_eq!(got, [(1, Some((1, 30))), (0, Some((1, 30)))]);
    }

    #[test]
    fn a_segment_beyond_the_window_is_dropped() {
        let mut r = receiver(false, 4);
        let got = feed(
            &mut r,
            &[(4, 1, 51), (0, 2, 52), (1, 3, 53), (2, 4, 54), (3, 5, 55)],
        );
        assert_eq!(got[0], (0, Some((0, 0))));
        assert_eq!(got[4], (1, Some((4, 5))));
    }

    #[test]
    fn the_largest_window_is_held_and_delivered_in_one_go() {
        const WINDOW: u32 = 65_535;
        let mut r = receiver(true, WINDOW);
        for round in 0..3 {
            let first = round * WINDOW;
            for number in (first + 1..first + WINDOW).rev() {
                assert_eq!(r.on_segment(Time(MS), number, Time::ZERO).delivered, 0);
            }
            let filled = r.on_segment(Time(MS), first, Time::ZERO);
            assert_eq!(filled.delivered, WINDOW);
            assert_eq!(filled.ack.unwrap().next, first + WINDOW);
        }
    }

    /// RFC 3168, section 6.1.3: all ACKs echo a mark until a segment with CWR arrives. If this
    /// segment also has CE, the echo continues.
    #[test]
    fn marks_are_echoed_until_the_window_was_reduced() {
        let mut r = receiver(false, 42);
        let arrivals = [
            // (CWR, CE) of the segment, and ECE of its ACK
            ((false, false), false),
            ((false, true), true),
            ((false, false), true),
            ((false, true), true),
            ((true, false), false),
            ((false, false), false),
            ((true, true), true),
            ((false, false), true),
            ((true, false), false),
        ];
        for (number, ((cwr, ce), ece)) in (0..).zip(arrivals) {
            r.on_marks(cwr, ce);
            let ack = r.on_segment(Time(MS), number, Time(0)).ack;
            assert_eq!(ack.unwrap().ece.is_set(), ece, "segment {number}");
        }
    }

    /// Returns the ACK of each segment as (next, ECE), and finally the ACK of the delayed-ACK
    /// timer. `ce` says for each segment whether it has CE. Every second segment is acknowledged.
    fn echoes(congestion: CongestionAlgorithm, ce: &[bool]) -> Vec<Option<(u32, EcnEcho)>> {
        let mut r = Receiver::new(&TcpSettings {
            ecn: true,
            delayed_ack: true,
            ..settings(congestion)
        });
        let leaves = |ack: Option<Ack>| ack.map(|ack| (ack.next, ack.ece));
        let arrivals = (0..).zip(ce).map(|(number, &ce)| {
            let early = r.on_marks(false, ce);
            let ack = r.on_segment(Time(MS), number, Time(0)).ack;
            assert!(early.is_none() || ack.is_none());
            leaves(ack.or(early))
        });
        let mut acks: Vec<_> = arrivals.collect();
        acks.push(leaves(r.on_timer(Time(1_000 * MS))));
        acks
    }

    /// RFC 8257, section 3.2: when marks begin or end, the delayed ACK is sent with the echo of the
    /// segments that it covers.
    #[test]
    fn each_mark_is_echoed_for_the_segments_that_an_ack_covers() {
        let each = |next, ce| Some((next, EcnEcho::of_each(ce)));
        let ce = [false, false, false, true, true, false, false, true, false];
        let expected = [
            None,
            each(2, false),
            None,
            each(3, false), // the ACK of the previous, unmarked segment; the ACK of the marked segment is delayed
            each(5, true),
            None,
            each(7, false),
            None,
            each(8, true), // the ACK of the marked segment
            each(9, false),
        ];
        assert_eq!(echoes(CongestionAlgorithm::Dctcp, &ce), expected);
    }

    #[test]
    fn marks_are_counted() {
        let count = |next, marked| Some((next, EcnEcho::count(marked)));
        let ce = [false, false, true, false, true, true, false];
        let expected = [
            None,
            count(2, 0),
            None,
            count(4, 1),
            None,
            count(6, 3),
            None,
            count(7, 3),
        ];
        assert_eq!(echoes(CongestionAlgorithm::Prague, &ce), expected);
    }
}
