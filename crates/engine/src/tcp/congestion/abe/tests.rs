use super::*;
use crate::kernel::time::{Span, Time};
use crate::packet::EcnEcho;
use crate::tcp::congestion::CongestionAlgorithm::{self, Cubic, CubicLinux, NewReno};
use crate::tcp::pipe::{MS, Pipe, plain, settings};
use crate::tcp::{Ack, TcpSettings};

/// Returns the windows before and after an ACK that echoes a mark.
fn reduced(congestion: CongestionAlgorithm, abe: bool) -> (f64, f64) {
    let settings = TcpSettings {
        ecn: true,
        abe,
        ..settings(congestion)
    };
    let mut pipe = Pipe::new(&settings, |_| Some(Span(50 * MS)));
    pipe.run(Time(1_000 * MS));
    let before = pipe.sender.cwnd();
    let echoing = Ack {
        ece: EcnEcho::SET,
        ..plain(pipe.sender.acked() as u32 + 1, pipe.now)
    };
    pipe.sender.on_ack(pipe.now, echoing);
    (before, pipe.sender.cwnd())
}

/// The window is full, so that FlightSize is cwnd: 42 packets. RFC 8511 has the factors 0.8 and
/// 0.85: 33.6 and 35.7 packets. Without ABE the factors are those of losses: 0.5, 0.7 and 717/1024
/// (29.4, rounded down).
#[test]
fn a_mark_reduces_the_window_less_than_a_loss() {
    for (congestion, without, with) in [
        (NewReno, 21.0, 33.6),
        (Cubic, 29.4, 35.7),
        (CubicLinux, 29.0, 35.0),
    ] {
        for (abe, expected) in [(false, without), (true, with)] {
            let (before, after) = reduced(congestion, abe);
            assert_eq!(before, 42.0);
            assert!(
                (after - expected).abs() < 1e-9,
                "{after} instead of {expected} with {congestion:?}, {abe}"
            );
        }
    }
}

/// FlightSize counts segments that were SACKed. The reduction applies to at most the window.
#[test]
fn the_window_never_grows_and_has_at_least_two_packets() {
    let before = Window::new(20.0, 64.0, 64.0);
    let mut window = before;
    Abe::Reno.soften(&mut window, &before, 40);
    assert_eq!((window.cwnd, window.ssthresh), (16.0, 16.0));
    let before = Window::new(2.0, 64.0, 64.0);
    Abe::Cubic.soften(&mut window, &before, 2);
    assert_eq!((window.cwnd, window.ssthresh), (2.0, 2.0));
}

/// A loss halves the window of NewReno also with ABE.
#[test]
fn losses_reduce_the_window_as_without_abe() {
    let settings = TcpSettings {
        ecn: true,
        abe: true,
        ..settings(NewReno)
    };
    let mut pipe = Pipe::new(&settings, |_| Some(Span(50 * MS)));
    pipe.run(Time(1_000 * MS));
    let (next, now) = (pipe.sender.acked() as u32, pipe.now);
    (0..3).for_each(|_| pipe.sender.on_ack(now, plain(next, now)));
    assert_eq!(pipe.sender.ssthresh(), 21.0);
}
