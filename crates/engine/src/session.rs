//! A replication that is driven from outside: step to a time, read, change a value, go on.
//!
//! ```text
//!   Session::new --run_until--> halted --run_until--> halted ... --finish--> Replication
//!                               | read: an interval, and now
//!                               | change: C, windows, limits, thresholds
//! ```
//!
//! What is read costs the run nothing, and what is not changed is as if nobody had looked: a session without
//! changes yields what [`crate::run_replication`] does, to the last bit. A change holds for what happens after the
//! halt: packets that come to a queue later, backoffs that are drawn later, the next packet at a new rate. A limit
//! below what a queue holds drops nothing that waits. A change before the first event is as if the scenario had
//! said so.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use crate::error::EngineError;
use crate::kernel::time::Time;
use crate::measure::{self, Item, Snapshot};
use crate::quantities::*;
use crate::record::Present;
use crate::replication::{Beside, Replication, Running};
use crate::scenario::Scenario;
use crate::world::World;

/// What is kept since the end of the warm-up alone, so that an interval has no part of it, and the events, which
/// are of the run.
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

/// A value that may not change in motion differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed;

/// A replication under way.
pub struct Session<'a> {
    run: Running<'a>,
    /// The scenario as it is now.
    scenario: Scenario,
    /// The reading before.
    since: Snapshot,
    present: Present,
    /// Where it was to halt when it was interrupted.
    towards: Option<Time>,
}

impl<'a> Session<'a> {
    /// Replication number `replication` before its first event, recorded as the scenario asks.
    ///
    /// # Errors
    /// `TooLong` if the agenda cannot hold the scenario's duration.
    pub fn new(
        scenario: &'a Scenario,
        replication: u32,
        beside: Beside,
    ) -> Result<Session<'a>, EngineError> {
        let world = World::new(scenario, replication)?;
        let run = Running::of(world, true, beside).gated();
        Ok(Session {
            since: Snapshot::take(run.world()),
            present: Present::new(run.world()),
            scenario: scenario.clone(),
            towards: None,
            run,
        })
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.run.now()
    }

    /// Where it was to halt when it was interrupted, [`Time::NEVER`]: at the end. It has to go on to there before
    /// it is read or changed.
    pub fn towards(&self) -> Option<Time> {
        self.towards
    }

    /// The scenario as it is now, with what has been changed.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Runs on to `to`, neither after the end nor before now, and halts there.
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

    /// What was measured since the last reading, or the start, and what there is now: `time_s`, `interval_s`,
    /// the lists of results with plain numbers for estimates, and `now`, lists of the same shape with what a time
    /// series has of an instant. What has no value is absent, and so are the lists without an interval.
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

    /// From now on the scenario is `to`, as far as it may change in motion: see [`Scenario::moved_to`].
    ///
    /// # Errors
    /// Something else of it differs; nothing has been changed.
    pub fn change(&mut self, to: Scenario) -> Result<(), Fixed> {
        if self.scenario.moved_to(&to) != to {
            return Err(Fixed);
        }
        self.run.world_mut().change([&self.scenario, &to]);
        self.scenario = to;
        Ok(())
    }

    /// Runs to the end, everything at its instant included.
    ///
    /// # Errors
    /// `Interrupted` if `look` breaks: then it can only go on to the end.
    pub fn run_to_end(
        &mut self,
        look: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(), EngineError> {
        self.towards = Some(Time::NEVER);
        self.run.advance(look)
    }

    /// What it has yielded.
    ///
    /// # Errors
    /// `Interrupted` if it has not run to the end, `Conservation` if a conservation law is violated.
    pub fn finish(self) -> Result<Replication, EngineError> {
        self.run.finish()
    }
}

/// An item with plain numbers.
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

/// Adds a value to the item of this name in a list, which is the last if there is one.
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
