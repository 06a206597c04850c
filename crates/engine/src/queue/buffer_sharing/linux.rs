//! Compares virtual buffer sharing for Linux, `crates/bpf/sharing.h`, with that of the engine. The
//! C code for BPF is compiled for this machine, and processes random traces of arrivals.
//!
//! With `LASTHOP_FREEZE=1` the test writes the constants of the C code to their file again.

use super::*;
use crate::control::buffer_sharing::constants;
use crate::in_c::{self, Compiled};
use crate::kernel::streams::Streams;
use std::collections::VecDeque;
use std::fs;

#[test]
fn constants_are_those_here() {
    let path = in_c::sources().join("sharing_constants.h");
    let (least, gain, slow_gain) = constants();
    let text = format!(
        "/* Written by crates/engine/src/queue/buffer_sharing/linux.rs from the engine's constants. */\n\
         #define SHARING_LEAST_PROBABILITY {least:?}\n\
         #define SHARING_GAIN {gain:?}\n\
         #define SHARING_SLOW_GAIN {slow_gain:?}\n"
    );
    if std::env::var_os("LASTHOP_FREEZE").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

/// Number of traces. The number is smaller in debug builds; `make test-long PART=rust` runs all
/// traces.
const TRACES: u32 = if cfg!(debug_assertions) {
    10_000
} else {
    100_000
};
/// Number of traces that one process of the C code processes.
const AT_ONCE: u32 = 5_000;
/// Maximum number of arrivals in a random trace.
const LONGEST: u32 = 150;
/// Number of classes in the output of the C code.
const MOST: usize = 3;
/// Maximum difference between the probabilities of the C code and of the engine after a step of the
/// regulator. The C code counts packets in units of 2^-24, and departures of hundreds of packets
/// multiply the rounding error. [-]
const APART: f64 = 1e-6;
/// If a share and its target differ by less than this value, rounding may decide which is larger.
/// [-]
const TIE: f64 = 1e-9;

const ONE: f64 = 4_294_967_296.0;

/// One event of the input of `sharing_user_space.c`.
#[derive(Clone, Copy, Debug)]
struct Event([u64; 4]);

/// The state of one random trace: a queue of the engine and its packets.
struct Trace {
    algorithm: SharingAlgorithm,
    queue: SharedBuffer,
    inside: VecDeque<Packet>,
    now: Time,
}

/// The expected output of the C code for one arrival: whether the packet is admitted, and the
/// blocking probabilities.
type Answer = (bool, Vec<f64>);

fn class(name: usize, share: f64, total: f64) -> SharingClass {
    SharingClass {
        name: name.to_string(),
        share,
        target: share / total,
        flows: vec![name as u32],
    }
}

impl Trace {
    /// Returns an empty queue with random settings, and appends these settings to the input of the
    /// C code.
    fn draw(stream: &mut Stream, events: &mut Vec<Event>) -> Trace {
        let algorithm = SharingAlgorithm::ALL[stream.up_to(3) as usize];
        let limit = 8 + stream.up_to(200);
        let setting = SharingSetting {
            // the occupancy has no rounding error in either implementation
            occupancy: f64::from(8 + stream.up_to(55)) / 64.0,
            share_of: ShareOf::Queue,
            algorithm,
            tol: [0.0, 1.0, 6.25][stream.up_to(2) as usize],
            update: (stream.up_to(1) == 0).then(|| Span(u64::from(1 + stream.up_to(20_000_000)))),
        };
        let count = 1 + stream.up_to(MOST as u32 - 1) as usize;
        let shares: Vec<f64> = (0..count)
            .map(|_| f64::from(1 + stream.up_to(249)) / 1000.0)
            .collect();
        let total: f64 = shares.iter().sum();
        let classes: Vec<SharingClass> = (shares.iter().enumerate())
            .map(|(name, &share)| class(name, share, total))
            .collect();
        let part = |k: usize| {
            classes
                .get(k)
                .map_or(0, |class| (class.target * ONE) as u64)
        };
        let occupancy = setting.occupancy * f64::from(limit);
        let event = Event([
            (algorithm as u64) << 8 | u64::from(limit) << 32,
            (occupancy * 16_777_216.0).round() as u64,
            (setting.tol * ONE) as u64,
            setting.update.map_or(0, |update| update.0),
        ]);
        events.push(event);
        events.push(Event([1 | (count as u64) << 8, part(0), part(1), part(2)]));
        let flows = count + 1; // the last flow has no class
        let draws = Streams::new(1, 0).stream("not used");
        Trace {
            algorithm,
            queue: SharedBuffer::new(setting, limit, &classes, flows, draws),
            inside: VecDeque::new(),
            now: Time(1),
        }
    }

    /// Advances the time by a random amount, and removes a random number of packets from the head
    /// of the queue.
    fn pass(&mut self, stream: &mut Stream) {
        let most_ns = [100, 20_000_000, 2_000_000_000][stream.up_to(9).saturating_sub(7) as usize];
        self.now += Span(u64::from(1 + stream.up_to(most_ns)));
        let most = match stream.up_to(29) {
            0 => 200,
            1..=19 => 1,
            _ => 2,
        };
        let leave = (stream.up_to(most) as usize).min(self.inside.len());
        for packet in self.inside.drain(..leave) {
            self.queue.departed(&packet, self.now);
        }
    }

    /// Returns the integral terms of the blocking probabilities in the format of the C code.
    fn integrals(&self) -> Event {
        let mut event = [2, 0, 0, 0];
        for (k, p) in self.queue.controller.integrals().iter().enumerate() {
            event[1 + k] = (p * 65_536.0 * ONE).round() as u64;
        }
        Event(event)
    }

    /// Adds a packet to the queue. Returns `None` if a share is so close to its target that the
    /// decision depends on rounding.
    fn arrive(&mut self, stream: &mut Stream) -> Option<(Event, Answer)> {
        let flow = stream.up_to(self.queue.class_of.len() as u32 - 1);
        let class = self.queue.class(flow);
        let backlog = self.inside.len();
        if let Some(class) = class {
            self.queue.last_arrival[class] = Some(self.now);
        }
        self.queue.control(self.now, backlog as u32);
        if self.is_tied() {
            return None;
        }
        let blocking = self.queue.controller.blocking().to_vec();
        let p = class.map_or(0.0, |class| blocking[class]);
        let random = loop {
            let random = stream.up_to(u32::MAX);
            if self.algorithm != SharingAlgorithm::Regulated
                || (f64::from(random) / ONE - p).abs() > APART
            {
                break random;
            }
        };
        let enters = f64::from(random) / ONE >= p && (backlog as u32) < self.queue.limit;
        if let Some(class) = class {
            match enters {
                true => self.queue.counters[class].enter(self.now),
                false => self.queue.counters[class].refuse(),
            }
        }
        if enters {
            self.queue.area.advance(self.now);
            self.queue.area.length += 1;
            self.inside.push_back(Packet {
                flow,
                queued: self.now,
                ..Packet::SAMPLE
            });
        }
        let number = class.unwrap_or(63) as u64;
        let event = Event([
            3 | number << 8 | u64::from(random) << 32,
            backlog as u64,
            self.now.0,
            0,
        ]);
        Some((event, (enters, blocking)))
    }

    /// Returns whether the share of a class equals its target, except for rounding.
    fn is_tied(&self) -> bool {
        let (present, shares) = (&self.queue.present, &self.queue.shares);
        let targets = self.queue.controller.targets_among(present);
        let lengths = self.queue.counters.iter().map(QueueCounters::length);
        let (total, occupancy) = (lengths.sum::<u64>() as f64, self.queue.area.target);
        targets
            .zip(shares)
            .any(|(target, share)| match self.algorithm {
                SharingAlgorithm::Corrected | SharingAlgorithm::Printed => {
                    (target - share).abs() < TIE
                }
                SharingAlgorithm::Partition => (target * occupancy - share * total).abs() < APART,
                SharingAlgorithm::Regulated => false,
            })
    }
}

/// Returns random traces, with the expected output of the C code for each arrival.
fn traces(first: u32) -> (Vec<Event>, Vec<Option<Answer>>) {
    let mut stream = Streams::new(1, first).stream("sharing");
    let (mut events, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..AT_ONCE {
        let mut trace = Trace::draw(&mut stream, &mut events);
        answers.resize(events.len(), None);
        for _ in 0..stream.up_to(LONGEST) {
            trace.pass(&mut stream);
            let before = trace.integrals();
            let Some((event, answer)) = trace.arrive(&mut stream) else {
                break;
            };
            // the C code starts each step from the engine's state; if it kept its own state,
            // rounding errors would accumulate
            events.push(before);
            answers.push(None);
            events.push(event);
            answers.push(Some(answer));
        }
    }
    (events, answers)
}

#[test]
fn the_kernels_queue_blocks_as_this_one() {
    let compiled = Compiled::new("sharing_user_space.c", "sharing.h");
    let (mut arrivals, mut between, mut lost) = (0_u32, 0_u32, 0_u32);
    let mut largest = 0.0_f64;
    for first in (0..TRACES).step_by(AT_ONCE as usize) {
        let (events, expected) = traces(first);
        let input = events.iter().flat_map(|event| event.0);
        let input = input.flat_map(u64::to_ne_bytes).collect();
        let outputs = compiled.answers(input);
        let (outputs, _) = outputs.as_chunks::<{ 1 + MOST }>();
        assert_eq!(outputs.len(), expected.len());
        for (k, (outputs, expected)) in outputs.iter().zip(&expected).enumerate() {
            let Some((enters, blocking)) = expected else {
                continue;
            };
            arrivals += 1;
            between += u32::from(blocking.iter().any(|p| *p > 0.0 && *p < 1.0));
            lost += u32::from(!enters);
            let apart = (outputs[1..].iter().zip(blocking))
                .map(|(&output, expected)| (output as f64 / ONE - expected).abs())
                .fold(0.0, f64::max);
            largest = largest.max(apart);
            if apart > APART || (outputs[0] == 1) != *enters {
                let begin = (events[..=k].iter().rposition(|event| event.0[0] & 255 == 0)).unwrap();
                panic!(
                    "{outputs:?} instead of {enters}, {blocking:?} after {:?}",
                    &events[begin..=k]
                );
            }
        }
    }
    println!(
        "{arrivals} arrivals, {lost} lost, {between} between 0 and 1, up to {largest:.1e} apart"
    );
    assert!(lost > TRACES && between > TRACES);
}
