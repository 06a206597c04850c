//! A replication: one simulation run ([`World`]), during which time series, frames and results are
//! recorded.
//!
//! ```text
//!  World::new --run_until--> end of the warm-up --run_until--> ... --run_to_end--> end
//!                 |                 |                |                   |
//!               sample       snapshot; begin    sample; goodputs   conservation laws,
//!                             to measure        at half the time   measures from snapshot to end
//! ```
//!
//! The simulation does not depend on this module: recording and measuring only call read methods of
//! [`World`].

use std::iter::Peekable;
use std::ops::ControlFlow;

use crate::cell::Cell;
use crate::error::EngineError;
use crate::kernel::time::{Span, Time};
use crate::measure::tails::{Seconds, WINDOW, Waits};
use crate::measure::{self, Distribution, Goodputs, Measures, Snapshot, distributions};
use crate::record::{FrameLog, FrameRecord, Series};
use crate::scenario::Scenario;
use crate::world::{Watch, World};

/// Results of a replication.
#[derive(Clone, Debug)]
pub struct Replication {
    /// Values of all measured quantities.
    pub measures: Measures,
    /// Goodputs in the first and in the second half of the measured time; `None` if nothing is
    /// measured.
    pub halves: Option<[Goodputs; 2]>,
    /// Time series; `None` unless the scenario requests them.
    pub series: Option<Series>,
    /// Frames on the air; an empty list unless the scenario requests them.
    pub frames: Vec<FrameRecord>,
    /// Whether frames are missing because the maximum number of recorded frames was reached.
    pub frames_full: bool,
    /// Distributions of round-trip times, delays and waiting times; an empty list unless
    /// [`Detail::Tails`] is selected.
    pub distributions: Vec<Distribution>,
}

/// The amount of detail in the measured results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Means only.
    Means,
    /// Means, the fairness in each second, 99th percentiles of waiting times in the queues of a
    /// cell, and percentiles of round-trip times. Time series also contain the delays of flows.
    Tails,
}

/// Runs replication number `replication`. In replication 0, time series and frames are recorded if
/// the scenario requests them. `look` is called regularly with the simulated time, and may stop the
/// run.
///
/// # Errors
/// `Interrupted` if `look` returns `Break`, `Conservation` if a conservation law is violated, and
/// `TooLong` if the duration exceeds the maximum for this number of flows.
pub fn run_replication(
    scenario: &Scenario,
    replication: u32,
    detail: Detail,
    look: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Replication, EngineError> {
    let mut run = Running::new(scenario, replication, detail)?;
    run.advance(look)?;
    run.finish()
}

/// Returns the number of time series of a replication, and the number of samples of each.
///
/// # Errors
/// The errors of [`Running::new`].
pub fn sampled(scenario: &Scenario) -> Result<(usize, u64), EngineError> {
    let samples = scenario.record.samples(scenario.duration);
    if samples == 0 {
        return Ok((0, 0));
    }
    let run = Running::new(scenario, 0, Detail::Means)?;
    let tracks = run.series.map_or(0, |series| series.tracks.len());
    Ok((tracks, samples))
}

/// A replication that is running or has ended.
pub struct Running<'a> {
    world: World<'a>,
    /// Remaining halts of the simulation, in order of time.
    halts: Peekable<Box<dyn Iterator<Item = (Time, Halt)> + Send>>,
    ended: bool,
    series: Option<Series>,
    log: Option<FrameLog>,
    waits: Option<Waits>,
    detail: Detail,
    start: Option<Snapshot>,
    seconds: Option<Seconds>,
    first_half: Option<Goodputs>,
}

impl<'a> Running<'a> {
    /// Returns replication number `replication` at time 0. In replication 0, time series and frames
    /// are recorded if the scenario requests them.
    ///
    /// # Errors
    /// `TooLong` if the duration exceeds the maximum for this number of flows.
    pub fn new(
        scenario: &'a Scenario,
        replication: u32,
        detail: Detail,
    ) -> Result<Running<'a>, EngineError> {
        let world = World::new(scenario, replication)?;
        Ok(Running::of(world, replication == 0, detail))
    }

    /// Returns a replication of `world` at time 0. If `records` is true, time series and frames are
    /// recorded if the scenario requests them.
    pub(crate) fn of(mut world: World<'a>, records: bool, detail: Detail) -> Running<'a> {
        let scenario = world.scenario();
        let interval = scenario.record.series_interval.filter(|_| records);
        let series = interval.map(|interval| match detail {
            Detail::Tails => Series::with_delays(&world, interval),
            Detail::Means => Series::new(&world, interval),
        });
        let frames = scenario.record.frames.filter(|_| records);
        let from = Time::ZERO + scenario.record.from;
        let log = frames.map(|limit| FrameLog::new(limit, from));
        if log.is_some() {
            world.record_transmissions();
        }
        let seconds = detail == Detail::Tails && !scenario.stations.is_empty();
        let halts: Box<dyn Iterator<Item = (Time, Halt)> + Send> =
            Box::new(halts(scenario, interval, seconds));
        Running {
            waits: seconds.then(|| Waits::new(scenario)),
            world,
            halts: halts.peekable(),
            ended: false,
            series,
            log,
            detail,
            start: None,
            seconds: None,
            first_half: None,
        }
    }

    /// Returns the simulated time.
    pub fn now(&self) -> Time {
        self.world.now()
    }

    /// Allows changes of settings at halts: see [`crate::session`].
    pub(crate) fn gated(mut self) -> Running<'a> {
        self.world.gate();
        self
    }

    /// Returns the state of the simulation at the current halt.
    pub(crate) fn world(&self) -> &World<'a> {
        &self.world
    }

    /// Returns the state of the simulation for modification.
    pub(crate) fn world_mut(&mut self) -> &mut World<'a> {
        &mut self.world
    }

    /// Returns whether the replication has ended.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Runs to the end. `look` is called regularly with the simulated time. If `look` returns
    /// `Break`, the run pauses, and a second call continues it. The result does not depend on
    /// pauses.
    ///
    /// # Errors
    /// `Interrupted` if `look` returns `Break`.
    pub fn advance(
        &mut self,
        look: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.go(None, look)
    }

    /// Runs to the time `to`, but not beyond the end, and halts there. Of the events at `to`, only
    /// those of the radio channel and of links have been processed. The result does not depend on
    /// halts.
    ///
    /// # Errors
    /// `Interrupted` if `look` returns `Break`. The run then pauses before `to`, and the next call
    /// must run at least to `to`.
    pub fn advance_until(
        &mut self,
        to: Time,
        look: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.go(Some(to), look)
    }

    /// Runs to a given time, or to the end.
    fn go(
        &mut self,
        to: Option<Time>,
        look: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        let scenario = self.world.scenario();
        let (log, waits) = (&mut self.log, &mut self.waits);
        let watches = log.is_some() || waits.is_some();
        let mut exchange = |cell: &Cell, outcome| {
            if let Some(log) = log {
                log.exchange(scenario.hotspot(), cell, outcome);
            }
            if let Some(waits) = waits {
                waits.exchange(cell, outcome);
            }
        };
        let mut watch = Watch {
            look,
            exchange: watches.then_some(&mut exchange),
        };
        let world = &mut self.world;
        while let Some(&(at, halt)) = self.halts.peek()
            && to.is_none_or(|to| at <= to)
        {
            world.run_until(at, &mut watch)?;
            self.halts.next();
            match halt {
                Halt::WarmupEnds => {
                    world.begin_to_measure();
                    self.start = Some(Snapshot::take(world));
                    if self.detail == Detail::Tails {
                        world.record_rtts();
                        let has_cell = !scenario.stations.is_empty();
                        self.seconds = has_cell.then(|| Seconds::new(world));
                    }
                }
                Halt::WindowEnds => {
                    if let Some(seconds) = &mut self.seconds {
                        seconds.close(world);
                    }
                }
                Halt::HalfIsMeasured => {
                    if let Some(start) = &self.start {
                        self.first_half = Some(Goodputs::of(&measure::between(start, world)));
                    }
                }
                Halt::Sample => {
                    if let Some(series) = &mut self.series {
                        series.sample(world);
                    }
                }
            }
        }
        match to {
            Some(to) => world.run_until(to, &mut watch),
            None => {
                world.run_to_end(&mut watch)?;
                self.ended = true;
                Ok(())
            }
        }
    }

    /// Returns the results of the replication.
    ///
    /// # Errors
    /// `Interrupted` if the replication has not ended, and `Conservation` if a conservation law is
    /// violated.
    pub fn finish(self) -> Result<Replication, EngineError> {
        if !self.ended {
            return Err(EngineError::Interrupted);
        }
        let world = self.world;
        measure::check_conservation(&world)?;
        let start = self.start.unwrap_or_else(|| Snapshot::take(&world));
        let mut measures = measure::between(&start, &world);
        measure::check_fractions(&measures)?;
        let halves = (self.first_half).map(|first| {
            let second = Goodputs::of(&measures).second_half(first);
            [first, second]
        });
        if let Some(seconds) = self.seconds {
            seconds.add_to(&start, &world, &mut measures);
        }
        if let (Some(waits), Some(cell)) = (&self.waits, world.radio().cell()) {
            waits.add_to(cell, &mut measures);
        }
        let distributions = match self.detail {
            Detail::Tails => distributions::of(&world, self.waits.as_ref()),
            Detail::Means => Vec::new(),
        };
        Ok(Replication {
            distributions,
            halves,
            measures,
            series: self.series,
            frames_full: self.log.as_ref().is_some_and(FrameLog::is_full),
            frames: self.log.map_or_else(Vec::new, FrameLog::into_records),
        })
    }
}

/// The reasons for halts of the simulation. Halts at the same time are processed in the order of
/// this list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Halt {
    WarmupEnds,
    HalfIsMeasured,
    WindowEnds,
    Sample,
}

/// Returns the halts of the simulation in order of time. There are halts at the end of the warm-up,
/// in the middle of the measured time, and at each sample. If `windows` is true, there is also a
/// halt at the end of each second after the warm-up.
fn halts(
    scenario: &Scenario,
    interval: Option<Span>,
    windows: bool,
) -> impl Iterator<Item = (Time, Halt)> + use<> {
    let warmup = Time::ZERO + scenario.warmup;
    let half = Time::ZERO + Span(scenario.warmup.0.midpoint(scenario.duration.0));
    let is_measured = scenario.warmup <= scenario.duration;
    let once = [(warmup, Halt::WarmupEnds), (half, Halt::HalfIsMeasured)];
    let once = is_measured.then_some(once).into_iter().flatten();
    let measured = scenario.duration.0.saturating_sub(scenario.warmup.0);
    let windows = if windows { measured / WINDOW.0 } else { 0 };
    let windows = (1..=windows).map(move |k| (warmup + WINDOW * k, Halt::WindowEnds));
    let count = interval.map_or(0, |interval| scenario.duration.0 / interval.0);
    let interval = interval.unwrap_or(Span::ZERO);
    // start one sample before the first recorded sample, because some values are differences
    // between two samples
    let first = (scenario.record.from.0.div_ceil(interval.0.max(1))).saturating_sub(1);
    let samples = (first.max(1)..=count).map(move |k| (Time::ZERO + interval * k, Halt::Sample));
    merged(merged(once, windows), samples)
}

/// Merges two sorted sequences into one sorted sequence.
fn merged<T: Ord>(
    a: impl Iterator<Item = T>,
    b: impl Iterator<Item = T>,
) -> impl Iterator<Item = T> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(first), Some(second)) if second < first => b.next(),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    })
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
        let times = |interval| -> Vec<(u64, bool)> {
            halts(&scenario, interval, false)
                .map(|(at, halt)| (at.0 / 1_000_000, matches!(halt, Halt::Sample)))
                .collect()
        };
        assert_eq!(times(None), [(500, false), (750, false)]);
        let quarter = Some(Span(250_000_000));
        let expected = [
            (250, true),
            (500, false),
            (500, true),
            (750, false),
            (750, true),
            (1000, true),
        ];
        assert_eq!(times(quarter), expected);
    }

    #[test]
    fn a_run_that_rests_now_and_then_yields_the_same() {
        let text = "duration = \"400 s\"\nwarmup = \"1 s\"\nrecord.series_interval = \"0.3 s\"\n\
                    record.frames = 50\ncell = { phy = \"802.11b\" }\n\
                    station.a = { count = 4, download = 1 }";
        let Ok(scenario) = parse(text, Format::Toml, "test.toml", &[]) else {
            panic!("a cell");
        };
        let Ok(mut run) = Running::new(&scenario, 0, Detail::Tails) else {
            panic!("a run");
        };
        let early = Running::new(&scenario, 0, Detail::Means).and_then(Running::finish);
        assert!(matches!(early, Err(EngineError::Interrupted)));
        let (mut rests, mut seen) = (0, Time::ZERO);
        while run.advance(&mut |_| ControlFlow::Break(())).is_err() {
            assert!(run.now() > seen && !run.has_ended());
            seen = run.now();
            rests += 1;
        }
        assert!(rests > 3 && run.has_ended());
        let unbroken = run_replication(&scenario, 0, Detail::Tails, &mut |_| {
            ControlFlow::Continue(())
        });
        let text = |run: Result<Replication, EngineError>| format!("{run:?}");
        assert_eq!(text(run.finish()), text(unbroken));
    }

    #[test]
    fn what_is_recorded_from_an_instant_on_is_the_rest_of_what_would_have_been() {
        let text = "duration = \"3 s\"\nwarmup = \"1 s\"\nrecord.series_interval = \"0.1 s\"\n\
                    record.frames = 100_000\ncell = { phy = \"802.11b\" }\n\
                    station.a = { count = 4, download = 1 }\nstation.b = { upload = 1, error = 0.2 }";
        let recorded = |from: &str| {
            let from = [("record.from".to_owned(), from.to_owned())];
            let Ok(scenario) = parse(text, Format::Toml, "test.toml", &from) else {
                panic!("a cell");
            };
            let run = run_replication(&scenario, 0, Detail::Means, &mut |_| {
                ControlFlow::Continue(())
            });
            let Ok(run) = run else {
                panic!("a run");
            };
            let frames: Vec<String> = (run.frames.iter())
                .filter(|frame| frame.at >= Time(1_234_000_000))
                .map(|frame| format!("{frame:?}"))
                .collect();
            let series = run.series.expect("asked for");
            let late = series.time_s.iter().filter(|at| **at >= 1.234).count();
            let tracks: Vec<String> = (series.tracks.iter())
                .map(|track| format!("{:?}", &track.values[series.time_s.len() - late..]))
                .collect();
            let size = sampled(&scenario).expect("a short run");
            (
                run.frames.len(),
                frames,
                series.time_s.len(),
                late,
                tracks,
                size,
            )
        };
        let (complete, late) = (recorded("0 s"), recorded("1.234 s"));
        assert!(
            late.0 == late.1.len() && late.0 < complete.0,
            "frames before"
        );
        assert!(late.2 == late.3 && late.2 == 18 && complete.2 == 30);
        assert_eq!((late.4.len(), late.5), (late.5.0, (late.5.0, 18)));
        assert_eq!(complete.5, (late.5.0, 30));
        assert_eq!(
            (late.1, late.3, late.4),
            (complete.1, complete.3, complete.4)
        );
    }

    #[test]
    fn windows_of_a_second_end_between_the_samples() {
        let text = "duration = \"2.9 s\"\nwarmup = \"0.5 s\"\n\
                    cell = { phy = \"802.11b\" }\nstation.a.download = 1";
        let Ok(scenario) = parse(text, Format::Toml, "test.toml", &[]) else {
            panic!("a cell");
        };
        let halts: Vec<(u64, char)> = halts(&scenario, Some(Span(500_000_000)), true)
            .map(|(at, halt)| {
                let sort = match halt {
                    Halt::WarmupEnds => 'e',
                    Halt::HalfIsMeasured => 'h',
                    Halt::WindowEnds => 'w',
                    Halt::Sample => 's',
                };
                (at.0 / 1_000_000, sort)
            })
            .collect();
        let expected = [
            (500, 'e'),
            (500, 's'),
            (1000, 's'),
            (1500, 'w'),
            (1500, 's'),
            (1700, 'h'),
            (2000, 's'),
            (2500, 'w'),
            (2500, 's'),
        ];
        assert_eq!(halts, expected);
    }
}
