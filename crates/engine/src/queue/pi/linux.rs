//! Compares PI for Linux, `crates/bpf/pi.h`, with the controller of the engine. The C code for BPF
//! is compiled for this machine, and processes random traces of arrivals.

use super::*;
use crate::in_c::Compiled;
use crate::kernel::streams::Streams;

/// Number of traces. The number is smaller in debug builds; `make test-long PART=rust` runs all
/// traces.
const TRACES: u32 = if cfg!(debug_assertions) {
    5_000
} else {
    20_000
};
const LONGEST: u32 = 150;
/// Maximum number of overdue controller steps that the C code performs at an arrival
/// (`MAX_STEPS`).
const MAX_STEPS: u64 = 64;
/// Maximum difference between the probabilities of the C code and of the engine after a trace. The
/// C code rounds weights to multiples of 2^-48. [-]
const APART: f64 = 1e-8;

#[test]
fn the_kernels_probabilities_are_those_here() {
    let compiled = Compiled::new("pi_user_space.c", "pi.h");
    let mut stream = Streams::new(1, 0).stream("pi");
    let (mut input, mut expected): (Vec<u64>, Vec<Option<f64>>) = (Vec::new(), Vec::new());
    for _ in 0..TRACES {
        let b = stream.unit() * 1e-3;
        let setting = PiSetting {
            target: 1 + stream.up_to(300),
            a: b + stream.unit() * 1e-4,
            b,
            update: Span(u64::from(1_000_000 + stream.up_to(10_000_000))),
            ecn: false,
        };
        let fixed = |weight: f64| (weight * 281_474_976_710_656.0).round() as u64;
        let limit = 1_000 + stream.up_to(1_000);
        let targets = u64::from(setting.target) | u64::from(limit) << 32;
        input.extend([0, fixed(setting.a), fixed(setting.b), targets]);
        input.extend([1, setting.update.0, 0, 0]);
        expected.extend([None, None]);
        let mut queue = Pi::new(setting, limit, Streams::new(1, 0).stream("not used"));
        let mut now = Time(1 + u64::from(stream.up_to(1_000_000)));
        queue.next_update = now + setting.update;
        let mut packets = 0_u32;
        for _ in 0..stream.up_to(LONGEST) {
            queue.advance(now, |_| packets);
            input.extend([2, u64::from(packets), now.0, 0]);
            expected.push(Some(queue.probability));
            let most = (setting.update.0 * (MAX_STEPS - 2)) as u32;
            let most = if stream.up_to(9) == 0 {
                most
            } else {
                most / 50
            };
            now += Span(u64::from(stream.up_to(most)));
            packets = match stream.up_to(3) {
                0 => stream.up_to(2 * setting.target),
                1 => packets.saturating_sub(stream.up_to(20)),
                _ => packets + stream.up_to(20),
            };
        }
    }
    let output = compiled.answers(input.into_iter().flat_map(u64::to_ne_bytes).collect());
    assert_eq!(output.len(), expected.len());
    let (mut largest, mut between) = (0.0_f64, 0_u32);
    for (output, expected) in output.iter().zip(expected) {
        let Some(expected) = expected else { continue };
        let output = *output as f64 / 281_474_976_710_656.0;
        largest = largest.max((output - expected).abs());
        between += u32::from(expected > 0.0 && expected < 1.0);
    }
    println!("{between} between 0 and 1, up to {largest:.1e} apart");
    assert!(largest < APART && between > TRACES);
}
