//! Congestion control: how large the window is. One algorithm a file.
//!
//! An algorithm is told what the ACKs mean ([`super::recovery`] finds that out) and changes a
//! [`Window`]. It says itself how losses are repaired ([`CongestionControl::repair`]), so that
//! a new law of growth can share the recovery of an old one.
//!
//! Differs from RFC 5681 and Linux in:
//! - Growth is counted per ACK: 1 in slow start, 1/cwnd in congestion avoidance, whatever the
//!   ACK covers. With delayed ACKs the window grows by half a packet per RTT, as Padhye's
//!   b = 2 assumes. RFC 3465 (appropriate byte counting), which Linux follows, is not used.
//! - cwnd never exceeds the receive window except while it is inflated in fast recovery (ns-2
//!   caps it alike; Linux validates it, RFC 7661). Nothing is sent beyond the receive window
//!   even then.
//! - ssthresh after a loss is max(FlightSize/2, 2) as RFC 5681 says; ns-2 halves cwnd.
//! - ssthresh starts at the receive window, where it has no effect ("arbitrarily high").

mod newreno;
mod reno;
mod tahoe;

use super::recovery::Repair;
use crate::scenario::{CongestionControl as Choice, TcpSettings};
use newreno::NewReno;
use reno::Reno;
use tahoe::Tahoe;

/// The congestion control of one sender: its window and the algorithm that governs it.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    window: Window,
    algorithm: Algorithm,
}

#[derive(Clone, Debug)]
enum Algorithm {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
}

/// Passes one event on to the algorithm in use.
macro_rules! dispatch {
    ($self:ident.$event:ident($($argument:expr),*)) => {
        match &mut $self.algorithm {
            Algorithm::Tahoe(algorithm) => algorithm.$event($($argument),*),
            Algorithm::Reno(algorithm) => algorithm.$event($($argument),*),
            Algorithm::NewReno(algorithm) => algorithm.$event($($argument),*),
        }
    };
}

impl Congestion {
    pub(super) fn new(settings: &TcpSettings) -> Congestion {
        let receive = f64::from(settings.window_packets);
        Congestion {
            window: Window {
                cwnd: f64::from(settings.initial_cwnd_packets).min(receive),
                ssthresh: receive,
                receive,
            },
            algorithm: match settings.congestion {
                Choice::Tahoe => Algorithm::Tahoe(Tahoe),
                Choice::Reno => Algorithm::Reno(Reno),
                Choice::NewReno => Algorithm::NewReno(NewReno),
            },
        }
    }

    pub(super) fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    pub(super) fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Whole segments that may be outstanding: min(cwnd, receive window).
    #[inline]
    pub(super) fn usable(&self) -> u32 {
        self.window.cwnd.min(self.window.receive) as u32
    }

    pub(super) fn repair(&self) -> Repair {
        match self.algorithm {
            Algorithm::Tahoe(_) => Tahoe::REPAIR,
            Algorithm::Reno(_) => Reno::REPAIR,
            Algorithm::NewReno(_) => NewReno::REPAIR,
        }
    }

    #[inline]
    pub(super) fn on_ack(&mut self) {
        dispatch!(self.on_ack(&mut self.window));
    }

    pub(super) fn on_loss(&mut self, flight: u32) {
        dispatch!(self.on_loss(&mut self.window, flight));
    }

    pub(super) fn on_dup_ack(&mut self) {
        dispatch!(self.on_dup_ack(&mut self.window));
    }

    pub(super) fn on_partial_ack(&mut self, acked: u32) {
        dispatch!(self.on_partial_ack(&mut self.window, acked));
    }

    pub(super) fn on_recovered(&mut self) {
        dispatch!(self.on_recovered(&mut self.window));
    }

    pub(super) fn on_rto(&mut self, flight: u32, first: bool) {
        dispatch!(self.on_rto(&mut self.window, flight, first));
    }
}

/// One algorithm. `flight` counts the segments outstanding when the event happened.
/// The three events of fast recovery reach only those algorithms whose repair has one.
trait CongestionControl {
    /// How losses found by duplicate ACKs are repaired.
    const REPAIR: Repair;

    /// New data was acknowledged outside fast recovery.
    fn on_ack(&mut self, window: &mut Window);

    /// A loss was found by duplicate ACKs.
    fn on_loss(&mut self, window: &mut Window, flight: u32);

    /// Fast recovery: another duplicate ACK.
    fn on_dup_ack(&mut self, _window: &mut Window) {}

    /// Fast recovery goes on after an ACK of `acked` new segments ([`Repair::EachHole`] only).
    fn on_partial_ack(&mut self, _window: &mut Window, _acked: u32) {}

    /// Fast recovery is over.
    fn on_recovered(&mut self, _window: &mut Window) {}

    /// The retransmission timer expired; `first` unless it did so before for the same segment,
    /// in which case ssthresh stays (RFC 5681, section 3.1).
    fn on_rto(&mut self, window: &mut Window, flight: u32, first: bool) {
        if first {
            window.halve(flight);
        }
        window.collapse();
    }
}

/// The numbers that an algorithm governs. [packets]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Window {
    /// Congestion window; in fast recovery with its inflation.
    cwnd: f64,
    /// Slow start below, congestion avoidance from here on.
    ssthresh: f64,
    /// Receive window.
    receive: f64,
}

impl Window {
    /// Growth on an ACK of new data: slow start or congestion avoidance
    /// (RFC 5681, section 3.1, equations 2 and 3).
    #[inline]
    fn grow(&mut self) {
        if self.cwnd >= self.receive {
            return;
        }
        let increase = if self.cwnd < self.ssthresh {
            1.0
        } else {
            1.0 / self.cwnd
        };
        self.cwnd = (self.cwnd + increase).min(self.receive);
    }

    /// Halves the slow-start threshold (RFC 5681, equation 4).
    fn halve(&mut self, flight: u32) {
        self.ssthresh = (f64::from(flight) / 2.0).max(2.0);
    }

    /// Enters fast recovery: the segments that caused the three duplicate ACKs have left the
    /// network (RFC 5681, section 3.2, step 3).
    fn inflate(&mut self) {
        self.cwnd = self.ssthresh + 3.0;
    }

    /// Takes the inflation back at the end of fast recovery (step 6); never beyond the receive
    /// window, which may be smaller than the least ssthresh.
    fn deflate(&mut self) {
        self.cwnd = self.ssthresh.min(self.receive);
    }

    /// Loss window of one segment (RFC 5681, section 3.1).
    fn collapse(&mut self) {
        self.cwnd = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::pipe::settings;

    fn congestion(choice: Choice) -> Congestion {
        Congestion::new(&settings(choice))
    }

    /// (cwnd, ssthresh), [packets]
    fn numbers(congestion: &Congestion) -> (f64, f64) {
        (congestion.cwnd(), congestion.ssthresh())
    }

    #[test]
    fn window_starts_at_the_initial_window_in_slow_start() {
        let mut c = congestion(Choice::NewReno);
        assert_eq!(numbers(&c), (2.0, 42.0));
        c.on_ack();
        assert_eq!(numbers(&c), (3.0, 42.0));
    }

    #[test]
    fn initial_window_is_cut_to_the_receive_window() {
        let narrow = TcpSettings {
            window_packets: 1,
            ..settings(Choice::Reno)
        };
        assert_eq!(Congestion::new(&narrow).usable(), 1);
    }

    #[test]
    fn congestion_avoidance_adds_one_packet_per_window_of_acks() {
        for choice in [Choice::Tahoe, Choice::Reno, Choice::NewReno] {
            let mut c = congestion(choice);
            c.on_rto(20, true);
            for _ in 0..9 {
                c.on_ack(); // slow start, 1 to 10
            }
            assert_eq!(numbers(&c), (10.0, 10.0));
            for _ in 0..10 {
                c.on_ack();
            }
            // 10 + 1/10 + 1/10.1 + ...: less than 11, since the window grows meanwhile
            assert!((10.95..11.0).contains(&c.cwnd()), "{}", c.cwnd());
        }
    }

    #[test]
    fn window_never_grows_beyond_the_receive_window() {
        let mut c = congestion(Choice::NewReno);
        for _ in 0..100 {
            c.on_ack();
        }
        assert_eq!((c.cwnd(), c.usable()), (42.0, 42));
    }

    #[test]
    fn responses_to_a_loss_among_twenty_segments() {
        for (choice, at_loss, inflated, recovered) in [
            (Choice::Tahoe, 1.0, 1.0, 1.0),
            (Choice::Reno, 13.0, 14.0, 10.0),
            (Choice::NewReno, 13.0, 14.0, 10.0),
        ] {
            let mut c = congestion(choice);
            c.on_loss(20);
            assert_eq!(numbers(&c), (at_loss, 10.0), "{choice:?}");
            c.on_dup_ack();
            assert_eq!(numbers(&c), (inflated, 10.0), "{choice:?}");
            c.on_recovered();
            assert_eq!(numbers(&c), (recovered, 10.0), "{choice:?}");
        }
    }

    #[test]
    fn partial_ack_deflates_by_what_it_acknowledges_but_one() {
        let mut c = congestion(Choice::NewReno);
        c.on_loss(20); // cwnd 13
        c.on_partial_ack(4);
        assert_eq!(c.cwnd(), 10.0);
        c.on_partial_ack(30);
        assert_eq!(c.cwnd(), 1.0);
    }

    #[test]
    fn repeated_timeout_keeps_ssthresh_and_the_least_ssthresh_is_two() {
        for choice in [Choice::Tahoe, Choice::Reno, Choice::NewReno] {
            let mut c = congestion(choice);
            c.on_rto(21, true);
            assert_eq!(numbers(&c), (1.0, 10.5));
            c.on_rto(1, false);
            assert_eq!(numbers(&c), (1.0, 10.5));
            c.on_rto(1, true);
            assert_eq!(numbers(&c), (1.0, 2.0));
        }
    }

    #[test]
    fn inflation_does_not_open_the_receive_window() {
        let mut c = congestion(Choice::Reno);
        c.on_loss(42);
        for _ in 0..38 {
            c.on_dup_ack();
        }
        assert_eq!((c.cwnd(), c.usable()), (62.0, 42));
    }
}
