//! A replication that a caller controls step by step. The caller runs it to a given time, reads
//! values, changes settings, and continues.
//!
//! ```text
//!   Session::new --run_until--> halted --run_until--> halted ... --finish--> Replication
//!                               | read: an interval, and now
//!                               | change: C, windows, limits, thresholds
//! ```
//!
//! Readings do not affect the run. A session without changes has exactly the results of
//! [`crate::run_replication`]. A change applies to events after the halt: to packets that enter a
//! queue later, and to backoffs that are drawn later. A new rate applies from the next packet on.
//! If a new limit is below the current length of a queue, no waiting packet is dropped. A change at
//! time 0 has the same effect as a change of the scenario file.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use crate::error::EngineError;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::measure::{self, Item, Measures, Snapshot};
use crate::quantities::*;
use crate::record::Present;
use crate::replication::{Detail, Replication, Running};
use crate::scenario::Scenario;
use crate::world::World;

/// Quantities that readings omit, because they have no value for an interval. Some of these
/// quantities are recorded only after the end of the warm-up. The number of events (`EVENTS`)
/// covers the whole run.
const OF_NO_INTERVAL: &[Quantity] = &[
    RTT_P95,
    RTT_P99,
    ONE_WAY_DELAY_P99,
    CWND_MAX,
    UTILISATION_MIN,
    OCCUPANCY_MAX,
    OCCUPANCY_SD,
    SYNCHRONISATION,
    CAPACITY,
    PING_RTT,
    PING_RTT_P95,
    PING_LOSS_PROBABILITY,
    SETTLING,
    WAIT,
    COMPLETION_P95,
    CONNECTIONS_FINISHED,
    CONNECTIONS_REFUSED,
    EVENTS,
];

/// Returns whether a quantity can be measured in an interval of a run. Readings omit other
/// quantities.
pub fn has_interval(quantity: &str) -> bool {
    OF_NO_INTERVAL.iter().all(|other| other.name != quantity)
}

/// The error for a change of a setting that is fixed during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed;

/// A replication that a caller controls step by step.
pub struct Session<'a> {
    run: Running<'a>,
    /// The current scenario, with all changes.
    scenario: Scenario,
    /// Counters at the previous reading.
    since: Snapshot,
    present: Present,
    /// Time to which an interrupted run must continue before the next reading or change; `None` if
    /// the run was not interrupted.
    towards: Option<Time>,
}

impl<'a> Session<'a> {
    /// Returns replication number `replication` at time 0. In replication 0, time series and frames
    /// are recorded if the scenario requests them.
    ///
    /// # Errors
    /// `TooLong` if the duration exceeds the maximum for this number of flows.
    pub fn new(
        scenario: &'a Scenario,
        replication: u32,
        detail: Detail,
    ) -> Result<Session<'a>, EngineError> {
        Session::with_seed(scenario, scenario.seed, replication, detail)
    }

    /// Returns a session as [`Session::new`] does for a scenario with the seed `seed`. Sessions with
    /// different seeds can thus share one scenario.
    ///
    /// # Errors
    /// The errors of [`Session::new`].
    pub fn with_seed(
        scenario: &'a Scenario,
        seed: u64,
        replication: u32,
        detail: Detail,
    ) -> Result<Session<'a>, EngineError> {
        let world = World::with_streams(scenario, &Streams::new(seed, replication))?;
        let run = Running::of(world, true, detail).gated();
        Ok(Session {
            since: Snapshot::take(run.world()),
            present: Present::new(run.world()),
            scenario: scenario.clone(),
            towards: None,
            run,
        })
    }

    /// Returns the simulated time.
    pub fn now(&self) -> Time {
        self.run.now()
    }

    /// Returns the time to which an interrupted run must continue; [`Time::NEVER`] means the end.
    /// Until then, the session cannot be read or changed.
    pub fn towards(&self) -> Option<Time> {
        self.towards
    }

    /// Returns the current scenario, with all changes.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Runs to the time `to` and halts there. `to` must not be before the current time or after the
    /// end.
    ///
    /// # Errors
    /// `Interrupted` if `look` returns `Break`; see [`Session::towards`].
    pub fn run_until(
        &mut self,
        to: Time,
        look: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.towards = Some(to);
        self.run.advance_until(to, look)?;
        self.towards = None;
        Ok(())
    }

    /// Returns the measured values since the previous reading or the start, and the current values.
    /// The object contains `time_s`, `interval_s`, `now`, and the lists of results. In these lists,
    /// values are numbers without confidence intervals. `now` contains lists of the same form with
    /// the current values of quantities in time series. Quantities without a value are omitted. If
    /// the previous reading was at the same time, all lists except those in `now` are omitted.
    pub fn read(&mut self) -> Value {
        let (length, measures) = self.measure();
        let mut reading = Map::new();
        reading.insert("time_s".into(), json!(self.now().seconds()));
        reading.insert("interval_s".into(), json!(length.seconds()));
        for (list, items) in measures.into_iter().flat_map(|measures| measures.lists) {
            let items: Value = items.iter().map(plain).collect();
            reading.insert(list.to_owned(), items);
        }
        let mut now = Map::new();
        for (list, name, quantity, value) in self.present() {
            if !value.is_nan() {
                add(&mut now, (list, name), quantity, value);
            }
        }
        reading.insert("now".into(), Value::Object(now));
        Value::Object(reading)
    }

    /// Returns the time since the previous reading or the start, and the values measured in this
    /// time; `None` if no time has passed. Quantities for which [`has_interval`] returns false have
    /// no meaning in these values.
    pub fn measure(&mut self) -> (Span, Option<Measures>) {
        let world = self.run.world();
        let after = Snapshot::take(world);
        let length = after.since(&self.since);
        let measures = (length.0 > 0).then(|| measure::between(&self.since, world));
        self.since = after;
        (length, measures)
    }

    /// Returns the current values of quantities in time series. Each has the name of the list, the
    /// name of the item, the name of the quantity, and the value; NaN if there is no value.
    pub fn present(&self) -> impl Iterator<Item = (&'static str, &str, &'static str, f64)> {
        self.present.read(self.run.world())
    }

    /// Applies the settings of `to` from now on: see [`Scenario::moved_to`].
    ///
    /// # Errors
    /// `Fixed` if `to` differs in a setting that is fixed during a run. In this case nothing is
    /// changed.
    pub fn change(&mut self, to: Scenario) -> Result<(), Fixed> {
        if self.scenario.moved_to(&to) != to {
            return Err(Fixed);
        }
        self.run.world_mut().change([&self.scenario, &to]);
        self.scenario = to;
        Ok(())
    }

    /// Runs to the end. Events at the end are also processed.
    ///
    /// # Errors
    /// `Interrupted` if `look` returns `Break`. After this error, only this method may be called
    /// again.
    pub fn run_to_end(
        &mut self,
        look: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.towards = Some(Time::NEVER);
        self.run.advance(look)
    }

    /// Returns the results of the replication.
    ///
    /// # Errors
    /// `Interrupted` if the session has not run to the end, and `Conservation` if a conservation
    /// law is violated.
    pub fn finish(self) -> Result<Replication, EngineError> {
        self.run.finish()
    }
}

/// Returns an item as JSON, with numbers instead of means with confidence intervals.
fn plain(item: &Item) -> Value {
    let mut own = Map::new();
    own.insert("name".into(), json!(item.name));
    for (label, text) in &item.labels {
        own.insert((*label).to_owned(), json!(text));
    }
    for (quantity, value) in &item.values {
        if let (Some(value), true) = (value, has_interval(quantity)) {
            own.insert((*quantity).to_owned(), json!(value));
        }
    }
    Value::Object(own)
}

/// Adds a value to the item `name` of a list. If the item exists, it must be the last item of the
/// list.
fn add(lists: &mut Map<String, Value>, (list, name): (&str, &str), quantity: &str, value: f64) {
    let items = lists.entry(list).or_insert_with(|| json!([]));
    let Value::Array(items) = items else {
        return; // not reached: all lists are arrays
    };
    if items.last().is_none_or(|item| item["name"] != name) {
        items.push(json!({ "name": name }));
    }
    if let Some(item) = items.last_mut() {
        item[quantity] = json!(value);
    }
}

#[cfg(test)]
mod tests;
