//! A replication that a caller steps: the caller runs it to a time, reads values, changes values,
//! and continues.
//!
//! ```text
//!   Session::new --run_until--> halted --run_until--> halted ... --finish--> Replication
//!                               | read: an interval, and now
//!                               | change: C, windows, limits, thresholds
//! ```
//!
//! Readings do not affect the run. A session without changes has exactly the results of
//! [`crate::run_replication`]. A change applies to events after the halt: packets that enter a
//! queue later, backoffs that are drawn later, and the next packet at a new rate. A limit below the
//! present length of a queue drops no waiting packet. A change before the first event has the same
//! effect as a change of the scenario.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use crate::error::EngineError;
use crate::kernel::time::Time;
use crate::measure::{self, Item, Snapshot};
use crate::quantities::*;
use crate::record::Present;
use crate::replication::{Detail, Replication, Running};
use crate::scenario::Scenario;
use crate::world::World;

/// Quantities without a value for an interval: quantities that are recorded only after the end of
/// the warm-up, and the number of events of the run.
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

/// The error for a changed value that must not change during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed;

/// A replication that a caller steps.
pub struct Session<'a> {
    run: Running<'a>,
    /// The present scenario.
    scenario: Scenario,
    /// Snapshot at the previous reading.
    since: Snapshot,
    present: Present,
    /// Time of the halt to which an interrupted run must continue.
    towards: Option<Time>,
}

impl<'a> Session<'a> {
    /// Returns replication number `replication` before its first event, recorded as the scenario requests.
    ///
    /// # Errors
    /// `TooLong` if the agenda cannot hold the scenario's duration.
    pub fn new(
        scenario: &'a Scenario,
        replication: u32,
        detail: Detail,
    ) -> Result<Session<'a>, EngineError> {
        let world = World::new(scenario, replication)?;
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

    /// Returns the time of the halt to which an interrupted run must continue; [`Time::NEVER`] is
    /// the end. The session can be read or changed only after this time is reached.
    pub fn towards(&self) -> Option<Time> {
        self.towards
    }

    /// Returns the present scenario, with all changes.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Runs to `to` and halts there. `to` must be neither before the present time nor after the
    /// end.
    ///
    /// # Errors
    /// `Interrupted` if `look` breaks; see [`Session::towards`].
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

    /// Returns the measurements since the last reading or the start, and the present values. The
    /// object has `time_s`, `interval_s`, the lists of results with plain numbers in place of
    /// estimates, and `now`. `now` has lists of the same form, with the values that time series
    /// have at an instant. Quantities without a value are absent. Without an interval, the lists of
    /// measurements are absent too.
    pub fn read(&mut self) -> Value {
        let world = self.run.world();
        let after = Snapshot::take(world);
        let length = after.since(&self.since);
        let mut reading = Map::new();
        reading.insert("time_s".into(), json!(world.now().seconds()));
        reading.insert("interval_s".into(), json!(length.seconds()));
        if length.0 > 0 {
            for (list, items) in measure::between(&self.since, world).lists {
                let items: Value = items.iter().map(plain).collect();
                reading.insert(list.to_owned(), items);
            }
        }
        let mut now = Map::new();
        for (list, name, quantity, value) in self.present.read(world) {
            if !value.is_nan() {
                add(&mut now, (list, name), quantity, value);
            }
        }
        reading.insert("now".into(), Value::Object(now));
        self.since = after;
        Value::Object(reading)
    }

    /// Changes the scenario to `to` from now on: see [`Scenario::moved_to`].
    ///
    /// # Errors
    /// If a value differs that must not change. Then nothing has been changed.
    pub fn change(&mut self, to: Scenario) -> Result<(), Fixed> {
        if self.scenario.moved_to(&to) != to {
            return Err(Fixed);
        }
        self.run.world_mut().change([&self.scenario, &to]);
        self.scenario = to;
        Ok(())
    }

    /// Runs to the end, and processes all events at that time.
    ///
    /// # Errors
    /// `Interrupted` if `look` breaks. The session can then only continue to the end.
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

/// Returns an item with plain numbers.
fn plain(item: &Item) -> Value {
    let mut own = Map::new();
    own.insert("name".into(), json!(item.name));
    for (label, text) in &item.labels {
        own.insert((*label).to_owned(), json!(text));
    }
    let is_of_interval = |name: &&str| OF_NO_INTERVAL.iter().all(|quantity| quantity.name != *name);
    for (quantity, value) in &item.values {
        if let (Some(value), true) = (value, is_of_interval(quantity)) {
            own.insert((*quantity).to_owned(), json!(value));
        }
    }
    Value::Object(own)
}

/// Adds a value to the item of this name in a list. If the item exists, it must be the last one of
/// the list.
fn add(lists: &mut Map<String, Value>, (list, name): (&str, &str), quantity: &str, value: f64) {
    let items = lists.entry(list).or_insert_with(|| json!([]));
    let Value::Array(items) = items else {
        return; // lists are arrays
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
