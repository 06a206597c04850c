//! One replication: a world is run, watched and measured from outside.
//!
//! ```text
//!  World::new --run_until--> end of the warm-up --run_until--> ... --run_to_end--> end
//!                 |                 |                |                   |
//!               sample       snapshot; begin    sample; goodputs   conservation laws,
//!                             to measure        at half the time   what lies between snapshot and end
//! ```
//!
//! The world steps and knows of none of this; what records and measures reads it by its methods.

use std::ops::ControlFlow;

use crate::cell::Cell;
use crate::error::EngineError;
use crate::kernel::time::{Span, Time};
use crate::measure::{self, Goodputs, Measures, Snapshot};
use crate::record::{FrameLog, FrameRecord, Series};
use crate::scenario::Scenario;
use crate::world::{Watch, World};

/// What one replication yields.
#[derive(Clone, Debug)]
pub struct Replication {
    /// Every measured quantity.
    pub measures: Measures,
    /// Goodputs in the first and in the second half of the measured time, if it is measured.
    pub halves: Option<[Goodputs; 2]>,
    /// Time series, if asked for.
    pub series: Option<Series>,
    /// Frames on the air, if asked for.
    pub frames: Vec<FrameRecord>,
}

/// Runs replication number `replication`; the first one is recorded as the scenario asks. `look` is told
/// the simulated time now and then and may stop the run.
///
/// # Errors
/// `Interrupted` if `look` breaks, `Conservation` if a conservation law is violated, `TooLong` if
/// the agenda cannot hold the scenario's duration.
pub fn run_replication(
    scenario: &Scenario,
    replication: u32,
    look: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Replication, EngineError> {
    observe(World::new(scenario, replication)?, replication == 0, look)
}

/// Runs `world` from its start to its end, recorded if `records`.
pub(crate) fn observe(
    mut world: World<'_>,
    records: bool,
    look: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Replication, EngineError> {
    let scenario = world.scenario();
    let interval = scenario.record.series_interval.filter(|_| records);
    let mut series = interval.map(|interval| Series::new(&world, interval));
    let mut log = scenario
        .record
        .frames
        .filter(|_| records)
        .map(FrameLog::new);
    let mut exchange = |cell: &Cell, outcome| {
        if let Some(log) = &mut log {
            log.exchange(scenario, cell, outcome);
        }
    };
    let logs = scenario.record.frames.is_some() && records;
    let mut watch = Watch {
        look,
        exchange: logs.then_some(&mut exchange),
    };
    let mut start = None;
    let mut first_half = None;
    for (at, halt) in halts(scenario, interval) {
        world.run_until(at, &mut watch)?;
        match halt {
            Halt::WarmupEnds => {
                world.begin_to_measure();
                start = Some(Snapshot::take(&world));
            }
            Halt::HalfIsMeasured => {
                if let Some(start) = &start {
                    first_half = Some(Goodputs::of(&measure::between(start, &world)));
                }
            }
            Halt::Sample => {
                if let Some(series) = &mut series {
                    series.sample(&world);
                }
            }
        }
    }
    world.run_to_end(&mut watch)?;
    measure::check_conservation(&world)?;
    let start = start.unwrap_or_else(|| Snapshot::take(&world));
    let measures = measure::between(&start, &world);
    Ok(Replication {
        halves: first_half.map(|first| [first, Goodputs::of(&measures).second_half(first)]),
        measures,
        series,
        frames: log.map_or_else(Vec::new, FrameLog::into_records),
    })
}

/// What is done when the world halts.
enum Halt {
    WarmupEnds,
    HalfIsMeasured,
    Sample,
}

/// Where the world halts, in order; the end of the warm-up and half of what is measured come before a
/// sample of the same instant.
fn halts(scenario: &Scenario, interval: Option<Span>) -> impl Iterator<Item = (Time, Halt)> {
    let warmup = Time::ZERO + scenario.warmup;
    let half = Time::ZERO + Span(scenario.warmup.0.midpoint(scenario.duration.0));
    let count = interval.map_or(0, |interval| scenario.duration.0 / interval.0);
    let interval = interval.unwrap_or(Span::ZERO);
    let samples = (1..=count).map(move |k| Time::ZERO + interval * k);
    let before = samples.clone().take_while(move |&at| at < warmup);
    let after = samples.skip_while(move |&at| at < warmup);
    let late = after.clone().skip_while(move |&at| at < half);
    let early = after.take_while(move |&at| at < half);
    let is_measured = scenario.warmup <= scenario.duration;
    let sample = |at| (at, Halt::Sample);
    let before = before.map(sample);
    let begins = is_measured.then_some((warmup, Halt::WarmupEnds));
    let halves = is_measured.then_some((half, Halt::HalfIsMeasured));
    let first = before.chain(begins).chain(early.map(sample));
    first.chain(halves).chain(late.map(sample))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Format, parse};

    #[test]
    fn warm_up_and_half_end_before_a_sample_of_the_same_instant() {
        let text = "duration = \"1 s\"\nwarmup = \"0.5 s\"\n\
                    cell = { phy = \"802.11b\" }\nstation.a.download = 1";
        let Ok(scenario) = parse(text, Format::Toml, "test.toml", &[]) else {
            panic!("a cell");
        };
        let told = |interval| -> Vec<(u64, bool)> {
            halts(&scenario, interval)
                .map(|(at, halt)| (at.0 / 1_000_000, matches!(halt, Halt::Sample)))
                .collect()
        };
        assert_eq!(told(None), [(500, false), (750, false)]);
        let quarter = Some(Span(250_000_000));
        let expected = [
            (250, true),
            (500, false),
            (500, true),
            (750, false),
            (750, true),
            (1000, true),
        ];
        assert_eq!(told(quarter), expected);
    }
}
