//! Compares the BPF implementations of Compound and Illinois (`crates/bpf`) with the algorithms of
//! the engine. Their C code is compiled for this machine, and processes random traces of ACKs,
//! losses and timeouts.
//!
//! With the environment variable `LASTHOP_FREEZE=1`, the test writes the C header with the
//! constants again.

use super::compound::CompoundSettings;
use super::illinois::{ALPHA_MAX, ALPHA_MIN, BETA_MAX, BETA_MIN, ETA, THETA, W_THRESH};
use super::state::Congestion;
use super::{CongestionAlgorithm, CongestionSign, NewAck};
use crate::in_c::{self, Compiled};
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::notation::setting::FileTable;
use crate::tcp::TcpSettings;
use crate::tcp::pipe::settings;
use crate::tcp::rtt::RttEstimator;
use std::fs;

/// Returns a C header with the constants of the engine's algorithms.
fn constants() -> String {
    let CompoundSettings {
        alpha,
        beta,
        k,
        gamma,
        zeta,
    } = CompoundSettings::usual().unwrap();
    format!(
        "/* Written by crates/engine/src/tcp/congestion/linux.rs from the engine's constants. */\n\
         #define COMPOUND_ALPHA {alpha:?}\n\
         #define COMPOUND_BETA {beta:?}\n\
         #define COMPOUND_K {k:?}\n\
         #define COMPOUND_GAMMA_PACKETS {gamma:?}\n\
         #define COMPOUND_ZETA {zeta:?}\n\
         #define ILLINOIS_ALPHA_MIN {ALPHA_MIN:?}\n\
         #define ILLINOIS_ALPHA_MAX {ALPHA_MAX:?}\n\
         #define ILLINOIS_BETA_MIN {BETA_MIN:?}\n\
         #define ILLINOIS_BETA_MAX {BETA_MAX:?}\n\
         #define ILLINOIS_ETA_1 {:?}\n\
         #define ILLINOIS_ETA_2 {:?}\n\
         #define ILLINOIS_ETA_3 {:?}\n\
         #define ILLINOIS_W_THRESH {W_THRESH:?}\n\
         #define ILLINOIS_THETA {THETA}\n",
        ETA[0], ETA[1], ETA[2],
    )
}

#[test]
fn constants_are_those_here() {
    let path = in_c::sources().join("constants.h");
    if std::env::var_os("LASTHOP_FREEZE").is_some() {
        fs::write(&path, constants()).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), constants());
}

/// Returns the tolerance of a comparison at the window `cwnd`. The C code computes windows in units
/// of 2^-32 packets, and fractions of a window in units of 2^-32. The accumulated rounding errors
/// of a trace are smaller than the tolerance. [packets]
fn step(cwnd: f64) -> f64 {
    const PACKETS: f64 = 1.0 / 65_536.0;
    const PART: f64 = PACKETS / 4_096.0;
    PACKETS.max(PART * cwnd)
}

/// Number of random traces. It is smaller in debug builds; `make test-long PART=rust` runs all
/// traces.
const TRACES: u32 = if cfg!(debug_assertions) {
    10_000
} else {
    100_000
};
/// Number of traces that one process of the compiled C code processes.
const AT_ONCE: u32 = 5_000;
/// Largest number of events in a trace.
const LONGEST: u32 = 150;

/// Returns the window after each event, as computed by the C code. [2^-32 packets]
fn answers(compiled: &Compiled, events: &[Event]) -> Vec<u64> {
    let report: Vec<u32> = events.iter().flat_map(|event| event.0).collect();
    let report: Vec<u8> = report.iter().flat_map(|word| word.to_ne_bytes()).collect();
    compiled.answers(report)
}

/// An event in the format that `user_space.c` reads.
#[derive(Clone, Copy, Debug)]
struct Event([u32; 4]);

/// A sender of the engine to which the test delivers events.
struct Trace {
    congestion: Congestion,
    rtt: RttEstimator,
    una: u32,
}

impl Trace {
    fn new(algorithm: CongestionAlgorithm, receive: u32, initial: u32) -> Trace {
        Trace {
            congestion: Congestion::new(&TcpSettings {
                window_packets: receive,
                initial_cwnd_packets: initial,
                ..settings(algorithm)
            }),
            rtt: RttEstimator::new(Span(1), Span(1)),
            una: 0,
        }
    }

    /// Delivers one ACK that acknowledges `segments` segments.
    fn acked(&mut self, segments: u32, rtt_us: u32) -> Event {
        let flight = self.congestion.usable();
        self.una += segments;
        self.rtt.on_sample(Span(1_000 * u64::from(rtt_us)), flight);
        let ack = NewAck {
            now: Time::ZERO,
            acked: 1,
            delivered: 1,
            snd_una: self.una,
            snd_nxt: self.una + flight,
            rtt: &self.rtt,
        };
        self.congestion.on_ack(ack);
        Event([1, self.una, self.una + flight, rtt_us])
    }

    fn lost(&mut self) -> Event {
        self.congestion
            .on_loss(self.congestion.usable(), CongestionSign::Selective);
        Event([2, 0, 0, 0])
    }

    fn timed_out(&mut self) -> Event {
        self.congestion
            .on_timeout(self.congestion.usable(), true, f64::INFINITY);
        Event([3, 0, 0, 0])
    }

    /// Returns whether the number of whole packets in the window is the same in both programs in
    /// spite of rounding errors.
    fn is_clear(&self) -> bool {
        let cwnd = self.congestion.cwnd();
        let fraction = cwnd - cwnd.floor();
        let step = step(cwnd);
        fraction == 0.0 || (step..1.0 - step).contains(&fraction)
    }
}

/// Returns a random number from 1 to `max`, in which all orders of magnitude are equally likely.
fn scattered(stream: &mut Stream, max: u32) -> u32 {
    let bits = stream.up_to(max.ilog2());
    (1 + stream.up_to((2 << bits) - 2)).min(max)
}

/// Draws a random trace. Appends its events, and the window of the engine's algorithm after each
/// event.
fn draw(
    algorithm: CongestionAlgorithm,
    stream: &mut Stream,
    events: &mut Vec<Event>,
    windows: &mut Vec<f64>,
) {
    let receive = (64 + scattered(stream, 65_535)).min(65_535);
    let initial = scattered(stream, receive);
    let mut trace = Trace::new(algorithm, receive, initial);
    let mut happened = |event, trace: &Trace| {
        events.push(event);
        windows.push(trace.congestion.cwnd());
    };
    happened(Event([0, receive, initial, 0]), &trace);
    let base_us = 100 + scattered(stream, 500_000);
    let max_delay_us = scattered(stream, 2_000_000);
    let mut delay_us = 0;
    let acks_in_a_round = 1 + stream.up_to(20);
    let between_losses = 2 + scattered(stream, 200);
    for _ in 0..stream.up_to(LONGEST) {
        let event = match stream.up_to(between_losses) {
            0 if trace.is_clear() => trace.lost(),
            1 if trace.is_clear() && stream.up_to(3) == 0 => trace.timed_out(),
            _ => {
                match stream.up_to(3) {
                    0 => delay_us = stream.up_to(max_delay_us),
                    1 => delay_us /= 2,
                    _ => {}
                }
                let flight = trace.congestion.usable();
                trace.acked(flight.div_ceil(acks_in_a_round), base_us + delay_us)
            }
        };
        happened(event, &trace);
        if (trace.congestion.cwnd() - W_THRESH).abs() < step(W_THRESH) {
            return; // the comparison of window and threshold depends on the last bit, so the trace ends here
        }
    }
}

/// Compares the windows of the engine and of the C code over random traces.
#[track_caller]
fn compare(algorithm: CongestionAlgorithm, name: &str) {
    let compiled = Compiled::new("user_space.c", &format!("{name}.bpf.c"));
    let mut largest = 0.0_f64;
    for first in (0..TRACES).step_by(AT_ONCE as usize) {
        let (mut events, mut windows) = (Vec::new(), Vec::new());
        let mut stream = Streams::new(1, first).stream(name);
        for _ in 0..AT_ONCE {
            draw(algorithm, &mut stream, &mut events, &mut windows);
        }
        let answers = answers(&compiled, &events);
        assert_eq!(answers.len(), windows.len());
        for (k, (answer, expected)) in answers.iter().zip(&windows).enumerate() {
            let actual = *answer as f64 / 4_294_967_296.0;
            let off = (actual - expected).abs() / step(*expected);
            largest = largest.max(off);
            if off > 1.0 {
                let begin = events[..=k]
                    .iter()
                    .rposition(|event| event.0[0] == 0)
                    .unwrap();
                panic!(
                    "{actual} instead of {expected} after {:?}",
                    &events[begin..=k]
                );
            }
        }
    }
    println!("{name}: up to {largest:.3} steps apart");
}

#[test]
fn compound_has_the_windows_of_the_engine() {
    compare(CongestionAlgorithm::Compound, "compound");
}

#[test]
fn illinois_has_the_windows_of_the_engine() {
    compare(CongestionAlgorithm::Illinois, "illinois");
}

/// An ACK of several packets has nearly the effect of several ACKs. The only difference is that the
/// window does not grow between the packets. Up to the threshold, the window grows as in slow
/// start. Above the threshold, the algorithm determines the growth.
#[test]
fn a_stretch_ack_counts_its_packets() {
    for name in ["compound", "illinois"] {
        let compiled = Compiled::new("user_space.c", &format!("{name}.bpf.c"));
        let begin = Event([0, 1_000, 20, 0]);
        let stretch = |packets: u32| Event([4 | packets << 16, 1, 2, 50_000]);
        let windows = |events: &[Event]| -> Vec<f64> {
            answers(&compiled, events)
                .iter()
                .map(|window| *window as f64 / 4_294_967_296.0)
                .collect()
        };
        assert_eq!(windows(&[begin, stretch(16)])[1], 36.0, "{name}");
        // the timeout sets the threshold to 10 (half of 20) and the window to 1; nine packets
        // increase the window to 10; the other five packets are half a window, so they increase the
        // window by half a packet, as in Reno
        let timeout = Event([3, 0, 0, 0]);
        let actual = windows(&[begin, timeout, stretch(9 + 5)])[2];
        assert!((actual - 10.5).abs() < step(10.5), "{name}: {actual}");
    }
}
