//! Hashes of a result: of names, quantities, estimates and samples, of the series, of the frames.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::fmt::Write as _;
use std::ops::ControlFlow;

use lasthop_engine::scenario::Scenario;
use lasthop_engine::{EngineError, RunResult, pcapng};
use serde_json::Value;

use super::blocks;

/// Keys of a result beside its lists that count: all but the version.
const HEAD: [&str; 6] = [
    "kind",
    "scenario",
    "seed",
    "replications",
    "duration_s",
    "warmup_s",
];

/// Quantities that count, by list: those that results had when they were frozen, `totals.events`
/// excepted. One that came later moves no hash.
pub struct Counted(HashMap<String, HashSet<String>>);

impl Counted {
    /// Read from quantities.txt, which has a line for each list.
    pub fn read() -> Counted {
        let text = blocks::text("quantities.txt");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let words = lines.map(|line| line.split_whitespace().map(str::to_owned));
        Counted(
            words
                .filter_map(|mut words| Some((words.next()?, words.collect())))
                .collect(),
        )
    }
}

/// The scenario's result.
pub fn run(scenario: &Scenario, jobs: usize) -> Result<RunResult, EngineError> {
    lasthop_engine::run(scenario, jobs, &|_| ControlFlow::Continue(()))
}

/// All of a result as text, one value on each line.
pub fn whole(result: &RunResult) -> String {
    let series: Value = serde_json::from_str(&result.series_json()).expect("JSON");
    let (summary, samples) = (&result.summary(), &result.samples());
    format!("{summary:#}\n{samples:#}\n{series:#}\n")
}

/// One hash on each line: of the head, of each list, of the series, of the frames.
pub fn hashes(scenario: &Scenario, result: &RunResult, counted: &Counted) -> String {
    let mut lines = String::new();
    let mut line = |part: &str, bytes: &[u8]| {
        let _ = writeln!(lines, "{part} {:016x}", hash(bytes));
    };
    let head: Vec<String> = (HEAD.iter())
        .map(|key| format!("{key} {}", result.summary()[*key]))
        .collect();
    line("head", head.join("\n").as_bytes());
    let none = serde_json::Map::new();
    for (list, items) in result.summary().as_object().unwrap_or(&none) {
        let (Some(counts), Value::Array(items)) = (counted.0.get(list), items) else {
            continue;
        };
        let mut text = String::new();
        let values = result.samples()[list.as_str()].as_object().unwrap_or(&none);
        for object in items.iter().chain(values.values()) {
            let _ = writeln!(text, "-");
            for (key, value) in object.as_object().into_iter().flatten() {
                if counts.contains(key) {
                    let _ = writeln!(text, "{key} {value}");
                }
            }
        }
        for name in values.keys() {
            let _ = writeln!(text, "{name}");
        }
        line(list, text.as_bytes());
    }
    if let Some(series) = &result.series {
        let mut text = format!("{:?} {:?}\n", series.interval_s, series.time_s);
        for track in &series.tracks {
            let counts = counted.0.get(&format!("series.{}", track.list));
            if counts.is_some_and(|counts| counts.contains(track.quantity)) {
                let _ = write!(text, "{} {} ", track.list, track.name);
                let _ = writeln!(text, "{} {:?}", track.quantity, track.values);
            }
        }
        line("series", text.as_bytes());
    }
    if !result.frames.is_empty() {
        let mut capture = Vec::new();
        let mut add = |piece: &[u8]| {
            capture.extend_from_slice(piece);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = pcapng::write(scenario, &result.frames, &mut add);
        // the first block has the version; its length stands in its second word
        let length = u32::from_le_bytes([capture[4], capture[5], capture[6], capture[7]]);
        line("frames", &capture[length as usize..]);
    }
    lines
}

/// FNV-1a, which will be the same with every compiler.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
