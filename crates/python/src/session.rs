//! A simulation that a Python program runs step by step. The simulation has a separate thread, which runs tasks. During
//! a task the Python thread waits and checks for Ctrl-C.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};

use lasthop_engine::kernel::time::Time;
use lasthop_engine::scenario;
use lasthop_engine::{Detail, EngineError, Fixed, RunResult, Session as Stepped};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::scenario::{Scenario, Setting};
use crate::simulate::{SimulationOutput, TICK, panic_message, python};

/// A task that the thread of a session runs.
type Task = Box<dyn FnOnce(&mut Option<Stepped<'_>>) + Send>;

/// A simulation in progress. Its thread ends when the session is dropped.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Session {
    scenario: Py<Scenario>,
    /// Thread and changed settings of the session, or `None` after the session has ended.
    work: Mutex<Option<Work>>,
}

/// The thread of a session, and the settings that were changed.
struct Work {
    tasks: Sender<Task>,
    /// Flag that interrupts the task in progress.
    stop: Arc<AtomicBool>,
    panic: Arc<Mutex<Option<String>>>,
    thread: Option<JoinHandle<()>>,
    /// Id of the process that runs the thread. A forked process does not run the thread.
    process: u32,
    settings: Vec<Setting>,
}

#[pymethods]
impl Session {
    /// Creates a session of replication number `replication` before its first event.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: Py<Scenario>,
        replication: u32,
        tails: bool,
    ) -> PyResult<Session> {
        let detail = if tails { Detail::Tails } else { Detail::Means };
        let work = Work::begin(py, scenario.get().parsed(), replication, detail)?;
        Ok(Session {
            scenario,
            work: Mutex::new(Some(work)),
        })
    }

    /// Simulated time. [s]
    #[getter]
    fn now_s(&self, py: Python<'_>) -> PyResult<f64> {
        self.with(|work| work.ask(py, |session| session.now().seconds()))
    }

    /// Runs for `seconds`, at most to the end. [s]
    fn step(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        if !(seconds > 0.0 && seconds.is_finite()) {
            return Err(refused(format!(
                "step({seconds}): expected a time above 0, in seconds"
            )));
        }
        self.with(|work| {
            work.run(py, move |session| {
                let end = Time(session.scenario().duration.0);
                let to = Time(session.now().0.saturating_add(nanoseconds(seconds))).min(end);
                Ok(session.towards().unwrap_or(to).max(to).min(end))
            })
        })
    }

    /// Runs until `time_s`. [s]
    fn run_until(&self, py: Python<'_>, time_s: f64) -> PyResult<()> {
        self.with(|work| {
            work.run(py, move |session| {
                let end = Time(session.scenario().duration.0);
                let least = session.towards().unwrap_or(session.now()).min(end);
                let to = Time(nanoseconds(time_s));
                if time_s.is_nan() || time_s < 0.0 || to < least || to > end {
                    let (least_s, end_s) = (least.seconds(), end.seconds());
                    return Err(format!(
                        "run_until({time_s}): expected a time from {least_s} s, where the session is, to \
                         {end_s} s, its end"
                    ));
                }
                Ok(to)
            })
        })
    }

    /// Returns the measurements since the last reading and the present values, as JSON.
    fn read(&self, py: Python<'_>) -> PyResult<String> {
        self.with(|work| work.ask_halted(py, |session| session.read().to_string()))
    }

    /// Changes the value of a key path of the scenario. Returns false, without a change, if the
    /// value is fixed.
    fn set(&self, py: Python<'_>, path: String, value: String) -> PyResult<bool> {
        self.with(|work| {
            let mut settings = work.settings.clone();
            settings.retain(|(known, _)| *known != path);
            settings.push((path, value));
            let scenario = self.scenario.get();
            let read = py.detach(|| scenario.read_with(&settings))?;
            if scenario.differs_beside(&read) {
                return Ok(false);
            }
            let changed = work.ask_halted(py, move |session| session.change(read.0))?;
            match changed {
                Ok(()) => work.settings = settings,
                Err(Fixed) => return Ok(false),
            }
            Ok(true)
        })
    }

    /// Returns the values that may change, as JSON: path, value as a number and as text, unit, smallest and largest value.
    fn changeable(&self, py: Python<'_>) -> PyResult<String> {
        self.with(|work| {
            let now = work.ask(py, |session| session.scenario().clone())?;
            let own = self.scenario.get();
            let (settings, now) = (&work.settings, &now);
            let values = py.detach(|| {
                now.changeable(&|more| {
                    let read = own.read_with(&[settings, more].concat());
                    read.ok().map(|(scenario, _)| scenario)
                })
            });
            let rows = values.into_iter().map(|value| {
                json!({
                    "path": value.path,
                    "value": value.now.number,
                    "text": value.now.text,
                    "unit": value.now.unit,
                    "least": value.range[0],
                    "greatest": value.range[1],
                })
            });
            Ok(rows.collect::<Value>().to_string())
        })
    }

    /// Runs to the end, and ends the session.
    fn finish(&self, py: Python<'_>) -> PyResult<SimulationOutput> {
        self.with(|work| {
            let stop = Arc::clone(&work.stop);
            work.ask(py, move |session| {
                session.run_to_end(&mut |_| looked(&stop))
            })?
            .map_err(failed)
        })?;
        let scenario = self.scenario.get().parsed();
        let mut work = self.lock()?.take().ok_or_else(over)?;
        let replication = work.ask_for(py, |slot| slot.take().map(Stepped::finish))?;
        let replication = replication.ok_or_else(over)?.map_err(failed)?;
        let result = RunResult::assemble(&scenario, vec![replication], false);
        Ok(SimulationOutput::new(scenario, result))
    }

    /// Ends the session without a result.
    fn close(&self) -> PyResult<()> {
        drop(self.lock()?.take());
        Ok(())
    }
}

impl Session {
    /// Locks the thread for the caller.
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<Work>>> {
        let work = match self.work.try_lock() {
            Ok(work) => work,
            Err(TryLockError::Poisoned(work)) => work.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(refused("session: another thread is using it".to_owned()));
            }
        };
        if work.as_ref().is_some_and(Work::is_elsewhere) {
            let message = "session: it is of the process that has begun it, not of a fork";
            return Err(refused(message.to_owned()));
        }
        Ok(work)
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Work) -> PyResult<T>) -> PyResult<T> {
        ask(self.lock()?.as_mut().ok_or_else(over)?)
    }
}

impl Work {
    /// Starts the thread of a session.
    fn begin(
        py: Python<'_>,
        scenario: Arc<scenario::Scenario>,
        replication: u32,
        detail: Detail,
    ) -> PyResult<Work> {
        let (tasks, asked) = channel();
        let (ready, begun) = channel();
        let panic = Arc::new(Mutex::new(None));
        let panic_slot = Arc::clone(&panic);
        let thread = thread::Builder::new()
            .name("session".to_owned())
            .spawn(move || match Stepped::new(&scenario, replication, detail) {
                Ok(session) => {
                    drop(ready.send(Ok(())));
                    serve(session, &asked, &panic_slot);
                }
                Err(error) => drop(ready.send(Err(error))),
            })
            .map_err(|error| refused(format!("session: no thread for it: {error}")))?;
        let mut work = Work {
            tasks,
            stop: Arc::default(),
            panic,
            thread: Some(thread),
            process: process::id(),
            settings: Vec::new(),
        };
        work.wait(py, begun)?.map_err(failed)?;
        Ok(work)
    }

    /// Returns whether the thread runs in the process from which this process was forked.
    fn is_elsewhere(&self) -> bool {
        self.process != process::id()
    }

    /// Runs a task on the thread and returns its result.
    fn ask<T: Send + 'static>(
        &mut self,
        py: Python<'_>,
        task: impl FnOnce(&mut Stepped<'_>) -> T + Send + 'static,
    ) -> PyResult<T> {
        let answer = self.ask_for(py, |slot| slot.as_mut().map(task))?;
        answer.ok_or_else(over)
    }

    /// Runs a task on the thread, unless a step of the session was interrupted.
    fn ask_halted<T: Send + 'static>(
        &mut self,
        py: Python<'_>,
        task: impl FnOnce(&mut Stepped<'_>) -> T + Send + 'static,
    ) -> PyResult<T> {
        let answer = self.ask(py, |session| match session.towards() {
            None => Ok(task(session)),
            Some(to) => Err(to.min(Time(session.scenario().duration.0)).seconds()),
        })?;
        answer.map_err(|to_s| {
            refused(format!(
                "session: it was interrupted on its way to {to_s} s; run_until({to_s}) continues"
            ))
        })
    }

    /// Runs the simulation to the time that `to` returns.
    fn run(
        &mut self,
        py: Python<'_>,
        to: impl FnOnce(&Stepped<'_>) -> Result<Time, String> + Send + 'static,
    ) -> PyResult<()> {
        let stop = Arc::clone(&self.stop);
        let ran = self.ask(py, move |session| {
            let to = to(session)?;
            Ok(session.run_until(to, &mut |_| looked(&stop)))
        })?;
        ran.map_err(refused)?.map_err(failed)
    }

    fn ask_for<T: Send + 'static>(
        &mut self,
        py: Python<'_>,
        task: impl FnOnce(&mut Option<Stepped<'_>>) -> T + Send + 'static,
    ) -> PyResult<T> {
        let (reply, answer) = channel();
        self.stop.store(false, Ordering::Relaxed);
        let task: Task = Box::new(move |slot| drop(reply.send(task(slot))));
        // an error of `send` is ignored: the thread has panicked, and `wait` notices that it sends no result
        drop(self.tasks.send(task));
        self.wait(py, answer)
    }

    /// Waits for the result of a task. A panic of the thread is an error.
    fn wait<T: Send>(&mut self, py: Python<'_>, answer: Receiver<T>) -> PyResult<T> {
        wait(py, answer, &self.stop)?.ok_or_else(|| {
            let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            let message = panic.as_deref().unwrap_or("the engine's thread is gone");
            python::EngineError::new_err(message.to_owned())
        })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.tasks = channel().0; // the thread ends, because its sender of tasks is dropped
        let thread = self.thread.take();
        if let Some(thread) = thread.filter(|_| !self.is_elsewhere()) {
            drop(thread.join()); // the panic of the thread was reported before
        }
    }
}

/// Waits for the answer of a thread without holding the GIL; None if the thread has ended. Ctrl-C sets `stop`, which
/// interrupts the thread, and drops its answer.
pub fn wait<T: Send>(
    py: Python<'_>,
    answer: Receiver<T>,
    stop: &AtomicBool,
) -> PyResult<Option<T>> {
    let (answer, stopped) = py.detach(move || {
        let mut stopped = None;
        loop {
            match answer.recv_timeout(TICK) {
                Ok(answer) => return (Some(answer), stopped),
                Err(RecvTimeoutError::Disconnected) => return (None, stopped),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                stop.store(true, Ordering::Relaxed);
                stopped.get_or_insert(error);
            }
        }
    });
    stopped.map_or(Ok(answer), Err)
}

/// Runs tasks on `session` until the sender of tasks is dropped.
fn serve(session: Stepped<'_>, asked: &Receiver<Task>, panic_slot: &Mutex<Option<String>>) {
    let mut slot = Some(session);
    while let Ok(task) = asked.recv() {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| task(&mut slot))) {
            *panic_slot.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(panic_message(&*panic));
            return;
        }
    }
}

/// Returns `Break` if the flag `stop` is set, so that the simulation stops, and `Continue` otherwise.
pub fn looked(stop: &AtomicBool) -> ControlFlow<()> {
    match stop.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// Converts seconds to the nearest whole number of nanoseconds. [ns]
pub fn nanoseconds(seconds: f64) -> u64 {
    // a float conversion saturates at the limits of the integer
    (seconds * 1e9).round() as u64
}

pub fn refused(message: String) -> PyErr {
    python::UserError::new_err(message)
}

fn over() -> PyErr {
    refused("session: it is over, and has nothing more to say".to_owned())
}

fn failed(error: EngineError) -> PyErr {
    match error {
        EngineError::TooLong { .. } => refused(error.to_string()),
        // callers handle `Interrupted` before they call this function
        EngineError::Interrupted | EngineError::Conservation(_) => {
            python::EngineError::new_err(error.to_string())
        }
    }
}
