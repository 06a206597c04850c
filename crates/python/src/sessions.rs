//! Sessions of one scenario that run side by side, for a vector environment: in each round every session makes a step or
//! begins again, and all values are returned in one array.
//!
//! A separate thread owns the sessions, because they refer to the scenario on its stack. It divides each round among the
//! threads of a pool.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use lasthop_engine::kernel::time::Time;
use lasthop_engine::measure::{Item, Measures};
use lasthop_engine::{Detail, EngineError, Session as Stepped, has_interval, scenario};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use rayon::prelude::*;

use crate::scenario::Scenario;
use crate::session::{looked, nanoseconds, refused, wait};
use crate::simulate::{panic_message, python};

/// Values of one quantity of all items of a list.
#[derive(FromPyObject)]
struct Column {
    #[pyo3(item(0))]
    list: String,
    #[pyo3(item(1))]
    quantity: String,
    /// Whether current values are read, instead of values of the last interval.
    #[pyo3(item(2))]
    now: bool,
}

/// Longest simulated time after which the names of items are read. [ns]
const SHORT_NS: u64 = 100_000_000;

/// Sessions in progress. Their threads end when this object is dropped.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Sessions {
    work: Mutex<Option<Work>>,
    /// Names of the items of each column.
    names: Vec<Vec<String>>,
    stop: Arc<AtomicBool>,
}

/// The thread that owns the sessions.
struct Work {
    rounds: Sender<Round>,
    thread: Option<JoinHandle<()>>,
    /// Id of the process that runs the thread. A forked process does not run the thread.
    process: u32,
}

/// Orders to all sessions, one per session, and the recipient of the values.
struct Round {
    orders: Vec<Order>,
    reply: Sender<Result<Vec<f64>, Failure>>,
}

/// Order to one session.
#[derive(Clone, Copy)]
enum Order {
    /// Begin again with this seed, and run to the end of the warm-up.
    Begin(u64),
    /// Apply the choice with this index, and run for an interval.
    Step(usize),
    /// Do nothing, and return no values.
    Skip,
}

/// The parts that all sessions share.
struct Plan {
    scenario: Arc<scenario::Scenario>,
    /// The scenario with each of the choices.
    choices: Vec<scenario::Scenario>,
    begin: Time,
    interval_ns: u64,
    columns: Vec<Column>,
    /// Number of items of each column.
    items: Vec<usize>,
}

enum Failure {
    Interrupted,
    /// Message for the user, such as a duration that is too long.
    Refused(String),
    Engine(String),
}

#[pymethods]
impl Sessions {
    /// Prepares `count` sessions on `jobs` threads. Each choice is a value of the key path `path`. A session begins at
    /// `begin_s`, and a step takes `interval_s`. `columns` are list, quantity, and whether the current value is read.
    #[new]
    #[allow(clippy::too_many_arguments)] // called from one place, with names
    #[pyo3(signature = (scenario, count, jobs, *, path, choices, begin_s, interval_s, columns))]
    fn new(
        py: Python<'_>,
        scenario: &Bound<'_, Scenario>,
        count: usize,
        jobs: usize,
        path: &str,
        choices: Vec<String>,
        begin_s: f64,
        interval_s: f64,
        columns: Vec<Column>,
    ) -> PyResult<Sessions> {
        let own = scenario.get();
        let choices = choices
            .into_iter()
            .map(|choice| own.read_with(&[(path.to_owned(), choice)]));
        let choices: Vec<scenario::Scenario> =
            choices.map(|read| Ok(read?.0)).collect::<PyResult<_>>()?;
        let mut plan = Plan {
            scenario: own.parsed(),
            choices,
            begin: Time(nanoseconds(begin_s)),
            interval_ns: nanoseconds(interval_s),
            columns,
            items: Vec::new(),
        };
        let stop = Arc::<AtomicBool>::default();
        let (rounds, asked) = channel();
        let (ready, begun) = channel();
        let flag = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("sessions".to_owned())
            .spawn(move || {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
                let pool = pool.map_err(|error| Failure::Refused(format!("sessions: {error}")));
                match pool.and_then(|pool| Ok((pool, caught(|| plan.names(&flag))?))) {
                    Ok((pool, names)) => {
                        plan.items = names.iter().map(Vec::len).collect();
                        drop(ready.send(Ok(names)));
                        serve(&plan, &pool, count, &asked, &flag);
                    }
                    Err(failure) => drop(ready.send(Err(failure))),
                }
            })
            .map_err(|error| refused(format!("sessions: no thread for them: {error}")))?;
        let work = Work {
            rounds,
            thread: Some(thread),
            process: process::id(),
        };
        let names = answer(wait(py, begun, &stop)?)?;
        Ok(Sessions {
            work: Mutex::new(Some(work)),
            names,
            stop,
        })
    }

    /// Names of the items of each column, in the order of the values.
    #[getter]
    fn names(&self) -> Vec<Vec<String>> {
        self.names.clone()
    }

    /// Lets session i begin again with seed `seeds[i]` if this is not 0, and otherwise make a step with choice
    /// `choices[i]`, or nothing if this is negative. Returns one row of numbers per session: the time, and the values of
    /// all columns; NaN for a missing value.
    fn advance<'py>(
        &self,
        py: Python<'py>,
        choices: Vec<i64>,
        seeds: Vec<u64>,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let orders = choices
            .iter()
            .zip(&seeds)
            .map(|(choice, seed)| match (*choice, *seed) {
                (choice, 0) => usize::try_from(choice).map_or(Order::Skip, Order::Step),
                (_, seed) => Order::Begin(seed),
            });
        let work = self.work.try_lock();
        let mut work =
            work.map_err(|_| refused("sessions: another thread is using them".to_owned()))?;
        let work = work
            .as_mut()
            .ok_or_else(|| refused("sessions: they are closed".to_owned()))?;
        if work.process != process::id() {
            return Err(refused(
                "sessions: they belong to another process".to_owned(),
            ));
        }
        let (reply, values) = channel();
        self.stop.store(false, Ordering::Relaxed);
        let orders = orders.collect();
        // an error of `send` is ignored: the thread has ended, and `wait` notices that it sends no result
        drop(work.rounds.send(Round { orders, reply }));
        let values = answer(wait(py, values, &self.stop)?)?;
        PyByteArray::new_with(py, size_of_val(values.as_slice()), |bytes| {
            for (cell, value) in bytes.chunks_exact_mut(size_of::<f64>()).zip(values) {
                cell.copy_from_slice(&value.to_ne_bytes());
            }
            Ok(())
        })
    }

    /// Ends all sessions.
    fn close(&self) {
        self.stop.store(true, Ordering::Relaxed);
        drop(
            self.work
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.rounds = channel().0; // the thread ends, because its sender of rounds is dropped
        let thread = self.thread.take();
        if let Some(thread) = thread.filter(|_| self.process == process::id()) {
            drop(thread.join()); // panics of sessions were reported before
        }
    }
}

/// Runs rounds until the sender of rounds is dropped.
fn serve(
    plan: &Plan,
    pool: &rayon::ThreadPool,
    count: usize,
    asked: &Receiver<Round>,
    stop: &AtomicBool,
) {
    let mut sessions: Vec<Option<Stepped<'_>>> = (0..count).map(|_| None).collect();
    while let Ok(Round { orders, reply }) = asked.recv() {
        let rows = pool.install(|| {
            let each = sessions.par_iter_mut().zip(orders);
            let rows = each.map(|(session, order)| caught(|| plan.obey(session, order, stop)));
            rows.collect::<Vec<Result<Vec<f64>, Failure>>>()
        });
        let rows: Result<Vec<Vec<f64>>, Failure> = rows.into_iter().collect();
        if rows.is_err() {
            // the sessions are at different times
            sessions.fill_with(|| None);
        }
        drop(reply.send(rows.map(|rows| rows.concat())));
    }
}

impl Plan {
    /// Executes an order. Returns the time and the values of all columns.
    fn obey<'a>(
        &'a self,
        session: &mut Option<Stepped<'a>>,
        order: Order,
        stop: &AtomicBool,
    ) -> Result<Vec<f64>, Failure> {
        let look = &mut |_| looked(stop);
        let to = match (order, &mut *session) {
            (Order::Skip, _) => return Ok(vec![f64::NAN; self.width()]),
            (Order::Begin(seed), session) => {
                *session = Some(Stepped::with_seed(&self.scenario, seed, 0, Detail::Means)?);
                self.begin
            }
            (Order::Step(choice), Some(session)) => {
                let to = self.choices[choice].clone();
                // not reached: every choice was tried in a session before
                session
                    .change(to)
                    .map_err(|_| Failure::Refused("a choice is fixed".to_owned()))?;
                let end = Time(self.scenario.duration.0);
                Time(session.now().0.saturating_add(self.interval_ns)).min(end)
            }
            (Order::Step(_), None) => {
                return Err(Failure::Refused(
                    "sessions: a session has not begun".to_owned(),
                ));
            }
        };
        let Some(session) = session else {
            return Ok(vec![f64::NAN; self.width()]); // not reached: a session has begun
        };
        session.run_until(to, look)?;
        let (_, measures) = session.measure();
        let mut values = Vec::with_capacity(self.width());
        values.push(session.now().seconds());
        for (column, count) in self.columns.iter().zip(&self.items) {
            let end = values.len() + count;
            column.read(session, measures.as_ref(), &mut |_, value| {
                values.push(value)
            });
            values.resize(end, f64::NAN); // nothing was measured if no time has passed
        }
        Ok(values)
    }

    /// Returns the number of values of a session.
    fn width(&self) -> usize {
        1 + self.items.iter().sum::<usize>()
    }

    /// Returns the names of the items of each column. For this, it runs a session for a short time. The list is empty
    /// if no item has the quantity, or if the quantity has no value for an interval.
    fn names(&self, stop: &AtomicBool) -> Result<Vec<Vec<String>>, Failure> {
        let mut session = Stepped::new(&self.scenario, 0, Detail::Means)?;
        let end = Time(self.scenario.duration.0);
        let short = Time(self.interval_ns.min(SHORT_NS)).min(end);
        session.run_until(short, &mut |_| looked(stop))?;
        let (_, measures) = session.measure();
        let of = |column: &Column| {
            let mut names = Vec::new();
            if column.exists(measures.as_ref()) {
                column.read(&session, measures.as_ref(), &mut |name, _| {
                    names.push(name.to_owned())
                });
            }
            names
        };
        Ok(self.columns.iter().map(of).collect())
    }
}

impl Column {
    /// Calls `add` with the name and the value of each item; NaN for a missing value. `measures` are the values of the
    /// last interval.
    fn read(
        &self,
        session: &Stepped<'_>,
        measures: Option<&Measures>,
        add: &mut dyn FnMut(&str, f64),
    ) {
        if self.now {
            let present = session.present();
            present
                .filter(|(list, _, quantity, _)| *list == self.list && *quantity == self.quantity)
                .for_each(|(_, name, _, value)| add(name, value));
            return;
        }
        for item in self.items(measures) {
            let own = item.values.iter().find(|(name, _)| *name == self.quantity);
            add(
                &item.name,
                own.and_then(|(_, value)| *value).unwrap_or(f64::NAN),
            );
        }
    }

    fn items<'m>(&self, measures: Option<&'m Measures>) -> &'m [Item] {
        let lists = measures.map_or(&[][..], |measures| &measures.lists);
        let own = lists.iter().find(|(list, _)| *list == self.list);
        own.map_or(&[][..], |(_, items)| items)
    }

    /// Returns whether any item has this quantity.
    fn exists(&self, measures: Option<&Measures>) -> bool {
        let mut values = self.items(measures).iter().flat_map(|item| &item.values);
        self.now || has_interval(&self.quantity) && values.any(|(name, _)| *name == self.quantity)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        match error {
            EngineError::Interrupted => Failure::Interrupted,
            EngineError::TooLong { .. } => Failure::Refused(error.to_string()),
            EngineError::Conservation(_) => Failure::Engine(error.to_string()),
        }
    }
}

/// Returns the result of `work`; a panic is returned as an error.
fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.unwrap_or_else(|panic| Err(Failure::Engine(panic_message(&*panic))))
}

/// Returns the answer of the thread, or its error as an exception.
fn answer<T>(answer: Option<Result<T, Failure>>) -> PyResult<T> {
    match answer {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(Failure::Refused(message))) => Err(refused(message)),
        Some(Err(Failure::Engine(message))) => Err(python::EngineError::new_err(message)),
        Some(Err(Failure::Interrupted)) => Err(refused("sessions: they were closed".to_owned())),
        None => Err(python::EngineError::new_err(
            "the thread of the sessions is gone",
        )),
    }
}
