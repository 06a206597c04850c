//! Runs simulations on a thread. The Python thread waits, checks for Ctrl-C and reports progress.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lasthop_engine::kernel::time::Time;
use lasthop_engine::quantities::QUANTITIES;
use lasthop_engine::record::{FrameRecord, frames_json};
use lasthop_engine::{
    Detail, EngineError, Progress, Replication, RunResult, pcapng, replications, scenario,
};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde_json::json;

use crate::scenario::Scenario;
use crate::summary::{self, Named};

pub mod python {
    pyo3::import_exception!(lasthop.errors, EngineError);
    pyo3::import_exception!(lasthop.errors, UserError);
}

/// Time between two checks for Ctrl-C and between two reports of progress.
pub const TICK: Duration = Duration::from_millis(50);

/// Approximate size of the parts in which a packet capture is written. [bytes]
const PIECE: usize = 1 << 20;

/// The finished replications, and whether the run was stopped before all of them finished.
type Finished = thread::Result<Result<(Vec<Replication>, bool), EngineError>>;

/// Output of a simulation. It is stored as arrays; properties whose names end with `json` make JSON
/// text.
#[pyclass(frozen, module = "lasthop._core")]
pub struct SimulationOutput {
    scenario: Arc<scenario::Scenario>,
    result: RunResult,
}

#[pymethods]
impl SimulationOutput {
    /// Result object of `--json`.
    #[getter]
    fn summary_json(&self) -> String {
        self.result.summary_json()
    }

    /// Result object of `--json` in one line.
    #[getter]
    fn summary_line(&self) -> String {
        self.result.summary_line()
    }

    /// Entries of the summary before its lists, as JSON.
    #[getter]
    fn head_json(&self) -> String {
        self.result.head_json()
    }

    /// Names of the lists of the summary.
    #[getter]
    fn lists(&self) -> Vec<&'static str> {
        self.result.measured.lists().collect()
    }

    /// Returns the items of a list of the summary, as new dictionaries.
    fn items<'py>(&self, py: Python<'py>, list_name: &str) -> PyResult<Bound<'py, PyList>> {
        summary::items(py, &self.result.measured, list_name)
    }

    /// Returns the name, mean and half width of a quantity of each item of a list. Items without a
    /// mean are omitted.
    fn estimates(&self, list_name: &str, quantity: &str) -> Vec<Named> {
        summary::estimates(&self.result.measured, list_name, quantity)
    }

    /// Value of each quantity in each finished replication.
    #[getter]
    fn samples_json(&self) -> String {
        self.result.samples_json()
    }

    /// Goodputs in the two halves of the measured time, by direction, with intervals.
    #[getter]
    fn halves_json(&self) -> String {
        self.result.halves_json()
    }

    /// Time series of the first replication.
    #[getter]
    fn series_json(&self) -> String {
        self.result.series_json()
    }

    /// Distributions of quantities over all finished replications.
    #[getter]
    fn distributions_json(&self) -> String {
        self.result.distributions_json()
    }

    /// Whether the simulation was stopped before all replications finished.
    #[getter]
    fn interrupted(&self) -> bool {
        self.result.interrupted
    }

    /// Number of recorded frames. An A-MPDU counts as its number of MPDUs.
    #[getter]
    fn frame_count(&self) -> usize {
        self.result.frames.iter().map(FrameRecord::count).sum()
    }

    /// Whether the limit of recorded frames was reached.
    #[getter]
    fn frames_full(&self) -> bool {
        self.result.frames_full
    }

    /// Returns the recorded frames that begin at or after `from_s` and before `to_s`, as JSON
    /// columns. [s]
    #[pyo3(signature = (from_s = 0.0, to_s = f64::INFINITY))]
    fn frames_json(&self, from_s: f64, to_s: f64) -> String {
        let [from, to] = [from_s, to_s].map(instant);
        frames_json(&self.scenario, &self.result.frames, from, to)
    }

    /// Calls `write` with the bytes of a packet capture of the recorded frames, in pieces.
    fn write_pcapng(&self, write: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = write.py();
        let mut pending = Vec::with_capacity(2 * PIECE);
        let flush = |pending: &mut Vec<u8>| -> PyResult<()> {
            write.call1((PyBytes::new(py, pending),))?;
            pending.clear();
            py.check_signals()
        };
        pcapng::write(
            &self.scenario,
            &self.result.frames,
            &mut |bytes: &[u8]| {
                pending.extend_from_slice(bytes);
                if pending.len() < PIECE {
                    Ok(())
                } else {
                    flush(&mut pending)
                }
            },
        )?;
        flush(&mut pending)
    }
}

impl SimulationOutput {
    /// Returns the output of a simulation of `scenario`.
    pub fn new(scenario: Arc<scenario::Scenario>, result: RunResult) -> SimulationOutput {
        SimulationOutput { scenario, result }
    }
}

/// Returns the time in nanoseconds, rounded up. Times beyond the range of `Time` are limited. [s]
fn instant(time_s: f64) -> Time {
    // a float conversion saturates at the limits of the integer
    Time((time_s * 1e9).ceil() as u64)
}

/// Simulates a scenario on `jobs` threads without holding the GIL.
///
/// `progress` is called about every 50 ms from the calling thread with `replications_done`,
/// `replications`, `simulated_s` and `total_s`. If it returns False, or at Ctrl-C, the run stops and
/// the finished replications are returned. If none has finished, KeyboardInterrupt is raised. With
/// `tails`, quantities that averages hide are measured too.
#[pyfunction]
#[pyo3(signature = (scenario, jobs, progress = None, tails = false))]
pub fn simulate(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    jobs: usize,
    progress: Option<Py<PyAny>>,
    tails: bool,
) -> PyResult<SimulationOutput> {
    let scenario = scenario.get().parsed();
    let detail = if tails { Detail::Tails } else { Detail::Means };
    let watch = Watch::default();
    let (finished, stopped) = py.detach(|| {
        thread::scope(|scope| {
            let (done, finished) = channel();
            let (scenario, watch) = (&*scenario, &watch);
            scope.spawn(move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| {
                    replications(scenario, jobs, detail, &|p| watch.report(p))
                }));
                // the receiver waits for this message, so that `send` cannot fail
                drop(done.send(outcome));
            });
            wait(&finished, watch, progress.as_ref())
        })
    });
    let (replications, interrupted) = match (finished, stopped) {
        (Err(panic), _) => return Err(python::EngineError::new_err(panic_message(&*panic))),
        (Ok(Ok(finished)), None) => finished,
        // after Ctrl-C the finished replications are returned; any other exception of `progress` is
        // passed to the caller
        (Ok(Ok(finished)), Some(error)) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            finished
        }
        (Ok(_), Some(error)) => return Err(error),
        (Ok(Err(EngineError::Interrupted)), None) => {
            return Err(PyKeyboardInterrupt::new_err(
                "stopped before a replication finished",
            ));
        }
        (Ok(Err(error @ EngineError::TooLong { .. })), None) => {
            return Err(python::UserError::new_err(error.to_string()));
        }
        (Ok(Err(error)), None) => return Err(python::EngineError::new_err(error.to_string())),
    };
    // only the calling thread allocates memory of the result, so that all memory of the other
    // threads is free and returns to the system
    let result = RunResult::assemble(&scenario, replications, interrupted);
    Ok(SimulationOutput { scenario, result })
}

/// Returns the registry of the measured quantities as JSON.
#[pyfunction]
pub fn quantities() -> String {
    json!(QUANTITIES).to_string()
}

/// Messages from the engine's threads to the waiting Python thread.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    latest: Mutex<Option<Progress>>,
}

impl Watch {
    fn report(&self, progress: Progress) -> ControlFlow<()> {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
        if self.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn take_latest(&self) -> Option<Progress> {
        self.latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// Waits for the engine. Returns the outcome of the run, and the Python exception that stopped the
/// run, if any.
fn wait(
    finished: &Receiver<Finished>,
    watch: &Watch,
    progress: Option<&Py<PyAny>>,
) -> (Finished, Option<PyErr>) {
    let mut stopped = None;
    loop {
        match finished.recv_timeout(TICK) {
            Ok(outcome) => return (outcome, stopped),
            Err(RecvTimeoutError::Disconnected) => unreachable!("the sender lives until it sends"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let asked = Python::attach(|py| {
            py.check_signals()?;
            match (progress, watch.take_latest()) {
                (Some(callback), Some(latest)) => call(py, callback, &latest),
                _ => Ok(ControlFlow::Continue(())),
            }
        });
        match asked {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => watch.stop.store(true, Ordering::Relaxed),
            Err(error) => {
                watch.stop.store(true, Ordering::Relaxed);
                stopped.get_or_insert(error);
            }
        }
    }
}

fn call(py: Python<'_>, callback: &Py<PyAny>, progress: &Progress) -> PyResult<ControlFlow<()>> {
    let seen = PyDict::new(py);
    seen.set_item("replications_done", progress.replications_done)?;
    seen.set_item("replications", progress.replications)?;
    seen.set_item("simulated_s", progress.simulated_s)?;
    seen.set_item("total_s", progress.total_s)?;
    let answer = callback.bind(py).call1((seen,))?;
    Ok(match answer.is_none() || answer.is_truthy()? {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    })
}

pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    let text = owned.or_else(|| panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or_default();
    format!("the engine panicked: {text}")
}
