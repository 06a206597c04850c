//! Tests the windows of all congestion controls against values computed by hand. The driver
//! delivers ACKs to a single algorithm.

use super::state::Congestion;
use super::window_algorithm::WindowAlgorithm;
use super::*;
use crate::kernel::time::{Span, Time};
use crate::tcp::pipe::settings;
use crate::tcp::rtt::RttEstimator;

pub(super) use crate::tcp::pipe::MS;

/// Driver of one algorithm in congestion avoidance. It simulates a path without loss, one round
/// trip at a time.
pub(super) struct Driver<A> {
    pub(super) algorithm: A,
    pub(super) window: Window,
    pub(super) now: Time,
    rtt: RttEstimator,
    acked: u32,
}

impl<A: WindowAlgorithm> Driver<A> {
    pub(super) fn new(algorithm: A, cwnd: f64) -> Driver<A> {
        Driver {
            algorithm,
            window: Window::new(cwnd, 2.0, 65_535.0),
            now: Time(1_000 * MS),
            rtt: RttEstimator::new(Span(1_000 * MS), Span(1)),
            acked: 0,
        }
    }

    /// Delivers one ACK per segment of the window, evenly spread over `rtt` nanoseconds.
    pub(super) fn round(&mut self, rtt: u64) {
        let flight = self.window.cwnd as u32;
        let end = self.acked + flight;
        for k in 1..=flight {
            self.now += Span(rtt / u64::from(flight));
            self.rtt.on_sample(Span(rtt), flight);
            self.acked += 1;
            // each ACK lets a new segment be sent, so that a full window is always outstanding
            let snd_nxt = end + k - 1;
            let ack = NewAck {
                now: self.now,
                acked: 1,
                delivered: 1,
                snd_una: self.acked,
                snd_nxt,
                rtt: &self.rtt,
            };
            self.algorithm.on_ack(&mut self.window, ack);
        }
    }

    /// Delivers one ACK of `segments` segments, `later` nanoseconds after the previous ACK. `later`
    /// is also its round-trip time.
    pub(super) fn acked(&mut self, later: u64, segments: u32) {
        self.now += Span(later);
        self.rtt.on_sample(Span(later), segments);
        self.acked += segments;
        let ack = NewAck {
            now: self.now,
            acked: segments,
            delivered: segments,
            snd_una: self.acked,
            snd_nxt: self.acked + self.window.cwnd as u32,
            rtt: &self.rtt,
        };
        self.algorithm.on_ack(&mut self.window, ack);
    }
}

impl Congestion {
    /// Returns the number of transmissions whose attached state the congestion control has not
    /// received back.
    pub(in crate::tcp) fn pending(&self) -> u32 {
        match &self.control {
            Control::Paced(tracked) => tracked.pending(),
            Control::Bbr(tracked) => tracked.pending(),
            Control::Bbr3(tracked) => tracked.pending(),
            other => panic!("{other:?} is not tracked"),
        }
    }

    /// Delivers an ACK of `segments` segments with an arbitrary round-trip time.
    fn acked(&mut self, segments: u32) {
        let rtt = RttEstimator::new(Span(1), Span(1));
        self.on_ack(NewAck {
            now: Time::ZERO,
            acked: segments,
            delivered: segments,
            snd_una: segments,
            snd_nxt: segments,
            rtt: &rtt,
        });
    }
}

fn congestion(choice: CongestionAlgorithm) -> Congestion {
    Congestion::new(&settings(choice))
}

/// Returns cwnd and ssthresh. [packets]
fn numbers(congestion: &Congestion) -> (f64, f64) {
    (congestion.cwnd(), congestion.ssthresh())
}

#[test]
fn window_starts_at_the_initial_window_in_slow_start() {
    let mut c = congestion(CongestionAlgorithm::NewReno);
    assert_eq!(numbers(&c), (2.0, 42.0));
    c.acked(1);
    assert_eq!(numbers(&c), (3.0, 42.0));
}

#[test]
fn initial_window_is_cut_to_the_receive_window() {
    let narrow = TcpSettings {
        window_packets: 1,
        ..settings(CongestionAlgorithm::Reno)
    };
    assert_eq!(Congestion::new(&narrow).usable(), 1);
}

#[test]
fn a_timeout_in_recovery_leaves_a_fraction_of_ssthresh() {
    for (remaining, ssthresh) in [(f64::INFINITY, 15.0), (1.0, 10.0), (0.5, 5.0), (0.1, 2.0)] {
        let mut c = congestion(CongestionAlgorithm::NewReno);
        c.on_loss(20, CongestionSign::DuplicateAcks);
        c.on_timeout(30, true, remaining);
        assert_eq!(numbers(&c), (1.0, ssthresh));
    }
}

#[test]
fn congestion_avoidance_adds_one_packet_per_window_of_acks() {
    for choice in [
        CongestionAlgorithm::Tahoe,
        CongestionAlgorithm::Reno,
        CongestionAlgorithm::NewReno,
    ] {
        let mut c = congestion(choice);
        c.on_timeout(20, true, f64::INFINITY);
        for _ in 0..9 {
            c.acked(1); // slow start from 1 to 10 packets
        }
        assert_eq!(numbers(&c), (10.0, 10.0));
        for _ in 0..10 {
            c.acked(1);
        }
        // 10 + 1/10 + 1/10.1 + ... is less than 11, because the window grows with each ACK
        assert!((10.95..11.0).contains(&c.cwnd()), "{}", c.cwnd());
    }
}

/// ACKs cover two segments each, and the window begins at two packets. In slow start the window
/// grows by 1 packet per ACK, or by 2 with byte counting. From ten packets on, the window grows by
/// half a packet per round trip, or with byte counting by one packet per ten acknowledged segments.
/// Segments beyond these ten are counted for the next packet.
#[test]
fn an_ack_counts_once_or_once_per_segment() {
    let connection = |choice, byte_counting| {
        let mut c = Congestion::new(&TcpSettings {
            byte_counting,
            ..settings(choice)
        });
        c.window.ssthresh = 10.0;
        c
    };
    let after = |choice, byte_counting, covered: &[u32]| {
        let mut c = connection(choice, byte_counting);
        for &segments in covered {
            c.acked(segments);
        }
        c.cwnd()
    };
    for choice in [CongestionAlgorithm::Tahoe, CongestionAlgorithm::NewReno] {
        assert_eq!(after(choice, false, &[2; 4]), 6.0);
        assert!((10.45..10.5).contains(&after(choice, false, &[2; 8 + 5])));
        for (covered, cwnd) in [
            (&[2; 4][..], 10.0),
            (&[3; 3], 10.0), // one segment more than slow start requires
            (&[3, 3, 3, 8], 10.0),
            (&[3, 3, 3, 9], 11.0),
            (&[2; 4 + 4], 10.0),
            (&[2; 4 + 5], 11.0),
            (&[2; 4 + 10], 11.0), // ten segments are counted, and the next packet requires eleven
            (&[2; 4 + 11], 12.0), // twelve segments, one more than the next packet requires
            (&[8, 33], 13.0),     // three windows of ten in one ACK
        ] {
            assert_eq!(after(choice, true, covered), cwnd, "{covered:?}");
        }
        let mut c = connection(choice, true);
        (0..8).for_each(|_| c.acked(2));
        c.on_loss(20, CongestionSign::Selective); // a loss resets the number of counted segments
        (0..4).for_each(|_| c.acked(2));
        assert_eq!(c.cwnd(), 10.0);
    }
    let compound = CongestionAlgorithm::Compound;
    assert_eq!(
        after(compound, true, &[2; 9]),
        after(compound, false, &[1; 18])
    );
    let linux = |byte_counting| after(CongestionAlgorithm::CubicLinux, byte_counting, &[2; 9]);
    assert_eq!(linux(true), linux(false));
}

#[test]
fn window_never_grows_beyond_the_receive_window() {
    let mut c = congestion(CongestionAlgorithm::NewReno);
    for _ in 0..100 {
        c.acked(1);
    }
    assert_eq!((c.cwnd(), c.usable()), (42.0, 42));
}

#[test]
fn responses_to_a_loss_among_twenty_segments() {
    for (choice, at_loss, inflated, recovered) in [
        (CongestionAlgorithm::Reno, 13.0, 14.0, 10.0),
        (CongestionAlgorithm::NewReno, 13.0, 14.0, 10.0),
    ] {
        let mut c = congestion(choice);
        c.on_loss(20, CongestionSign::DuplicateAcks);
        assert_eq!(numbers(&c), (at_loss, 10.0), "{choice:?}");
        c.on_recovery_ack(RecoveryAck::Duplicate);
        assert_eq!(numbers(&c), (inflated, 10.0), "{choice:?}");
        c.on_recovery_ack(RecoveryAck::Full);
        assert_eq!(numbers(&c), (recovered, 10.0), "{choice:?}");
    }
}

#[test]
fn tahoe_collapses_on_any_loss() {
    let mut c = congestion(CongestionAlgorithm::Tahoe);
    c.on_loss(20, CongestionSign::DuplicateAcks);
    assert_eq!(numbers(&c), (1.0, 10.0));
}

#[test]
fn partial_ack_deflates_by_what_it_acknowledges_but_one() {
    let mut c = congestion(CongestionAlgorithm::NewReno);
    c.on_loss(20, CongestionSign::DuplicateAcks); // three duplicate ACKs: cwnd is 13
    c.on_recovery_ack(RecoveryAck::Partial { acked: 4 });
    assert_eq!(c.cwnd(), 10.0);
    c.on_recovery_ack(RecoveryAck::Partial { acked: 30 });
    assert_eq!(c.cwnd(), 1.0);
}

#[test]
fn repeated_timeout_keeps_ssthresh_and_the_smallest_ssthresh_is_two() {
    for choice in [
        CongestionAlgorithm::Tahoe,
        CongestionAlgorithm::Reno,
        CongestionAlgorithm::NewReno,
    ] {
        let mut c = congestion(choice);
        c.on_timeout(21, true, f64::INFINITY);
        assert_eq!(numbers(&c), (1.0, 10.5));
        c.on_timeout(1, false, f64::INFINITY);
        assert_eq!(numbers(&c), (1.0, 10.5));
        c.on_timeout(1, true, f64::INFINITY);
        assert_eq!(numbers(&c), (1.0, 2.0));
    }
}

#[test]
fn a_timeout_in_fast_recovery_does_not_raise_ssthresh() {
    // BBR has no ssthresh
    let all = CongestionAlgorithm::ALL.into_iter();
    for choice in all.filter(|&choice| !choice.sets_recovery_window()) {
        let mut c = congestion(choice);
        c.window.cwnd = 40.0;
        c.on_loss(40, CongestionSign::DuplicateAcks);
        let reduced = c.ssthresh();
        c.on_timeout(200, true, 1.0); // segments sent in recovery do not raise ssthresh
        assert_eq!(c.ssthresh(), reduced, "{choice:?}");
        c.on_timeout(3, true, 1.0);
        assert!(c.ssthresh() < reduced, "{choice:?}");
    }
}

#[test]
fn inflation_does_not_open_the_receive_window() {
    let mut c = congestion(CongestionAlgorithm::Reno);
    c.on_loss(42, CongestionSign::DuplicateAcks);
    for _ in 0..38 {
        c.on_recovery_ack(RecoveryAck::Duplicate);
    }
    assert_eq!((c.cwnd(), c.usable()), (62.0, 42));
}
