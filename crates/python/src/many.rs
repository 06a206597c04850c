//! Simulates many scenarios on several threads, and keeps only the requested quantities.
//!
//! ```text
//!  bases, settings, seeds --check--> distinct scenarios --run--> rows --names, values--> arrays
//! ```
//!
//! Threads take the scenarios in order. A thread parses a scenario, runs its replications, keeps one number per item and
//! requested quantity, and drops everything else. Nothing is done in Python for each scenario.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use lasthop_engine::estimate::estimate;
use lasthop_engine::kernel::time::Span;
use lasthop_engine::measure::Measures;
use lasthop_engine::quantities::RTT;
use lasthop_engine::scenario::Transport;
use lasthop_engine::{Detail, EngineError, run_replication, scenario};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};

use crate::scenario::{Scenario, Setting};
use crate::simulate::{TICK, panic_message, python};

/// Size of one number in an array. [bytes]
const NUMBER: usize = size_of::<f64>();

/// Maximum total size of the parsed scenarios that are kept between the check and the simulation, as a number of
/// flows, stations and links. Other scenarios are parsed a second time.
const MAX_KEPT: usize = 50_000;

/// Scenarios to simulate, and the results of those that are finished.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Many {
    bases: Vec<Py<Scenario>>,
    /// Settings of each scenario; empty if there are no settings.
    settings: Vec<Vec<Setting>>,
    /// Seed of each scenario; empty if the scenarios have their own seeds.
    seeds: Vec<u64>,
    /// Names of list and quantity.
    quantities: Vec<(String, String)>,
    detail: Detail,
    /// Distinct scenarios apart from their seeds: the first index of each.
    firsts: Vec<usize>,
    /// Position in `firsts` for each scenario.
    distinct: Vec<usize>,
    /// Parsed distinct scenarios, as far as `MAX_KEPT` permits.
    parsed: Vec<OnceLock<Arc<scenario::Scenario>>>,
    kept: AtomicUsize,
    rows: Vec<OnceLock<Row>>,
}

/// Results of one scenario.
struct Row {
    /// Names of the items of each requested quantity.
    layout: Arc<Layout>,
    /// Values of all items of all requested quantities, in order; NaN for a missing value.
    values: Box<[f64]>,
    warmup: Span,
    /// Longest mean round-trip time of a TCP flow that begins during the warm-up and never ends; 0 without such a
    /// flow. [s]
    longest_rtt_s: f64,
}

/// Names of the items of each requested quantity. Most scenarios of a batch have the same names and share them.
#[derive(PartialEq)]
struct Layout(Vec<Vec<String>>);

/// State of a run that several threads share.
#[derive(Default)]
pub struct Watch {
    /// Whether no further scenario is begun.
    drains: AtomicBool,
    /// Whether running simulations end.
    stops: AtomicBool,
    /// Number of scenarios that the threads have taken.
    taken: AtomicUsize,
    done: AtomicUsize,
    /// Error of the scenario with the smallest index among the scenarios with errors.
    failed: Mutex<Option<(usize, Failure)>>,
}

enum Failure {
    TooLong(String),
    Engine(String),
}

#[pymethods]
impl Many {
    /// Takes `bases` (one scenario, or one for each index), the settings and the seed of each index (or nothing), and
    /// the requested quantities as pairs of list and name.
    #[new]
    fn new(
        bases: Vec<Py<Scenario>>,
        settings: Vec<Vec<Setting>>,
        seeds: Vec<u64>,
        quantities: Vec<(String, String)>,
        tails: bool,
    ) -> PyResult<Many> {
        let counts = [bases.len(), settings.len(), seeds.len()];
        let count = counts.into_iter().max().unwrap_or_default();
        if bases.is_empty() || counts.iter().any(|own| *own > 1 && *own != count) {
            return Err(PyValueError::new_err("lists of different lengths"));
        }
        let (mut firsts, mut distinct, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for index in 0..count {
            let base = one_of(&bases, index).as_ptr() as usize;
            let own = one_of_or(&settings, index, &[]);
            let number = *known.entry((base, own)).or_insert(firsts.len());
            if number == firsts.len() {
                firsts.push(index);
            }
            distinct.push(number);
        }
        drop(known);
        Ok(Many {
            parsed: firsts.iter().map(|_| OnceLock::new()).collect(),
            kept: AtomicUsize::new(0),
            rows: (0..count).map(|_| OnceLock::new()).collect(),
            detail: if tails { Detail::Tails } else { Detail::Means },
            bases,
            settings,
            seeds,
            quantities,
            firsts,
            distinct,
        })
    }

    /// Checks all scenarios on `jobs` threads. Returns the smallest index of a refused scenario, or None.
    fn check(&self, py: Python<'_>, jobs: usize) -> PyResult<Option<usize>> {
        let refused = AtomicUsize::new(usize::MAX);
        let watch = Watch::default();
        let stopped = on_threads(py, jobs, self.firsts.len(), &watch, None, &|number| {
            let index = self.firsts[number];
            match self.parse(index) {
                Some(parsed) => self.keep(number, parsed),
                None => {
                    refused.fetch_min(index, Ordering::Relaxed);
                    watch.drain();
                }
            }
        });
        match stopped {
            Some(error) => Err(error),
            None => Ok(Some(refused.into_inner()).filter(|index| *index < usize::MAX)),
        }
    }

    /// Simulates all scenarios on `jobs` threads without holding the GIL. Returns "done", "interrupted" after Ctrl-C,
    /// or "stopped" after `progress` returned False.
    ///
    /// `progress` is called about every 50 ms from the calling thread with `runs_done` and `runs`. After the first
    /// Ctrl-C, running scenarios are finished. After the second Ctrl-C, they end.
    #[pyo3(signature = (jobs, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        jobs: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<&'static str> {
        let watch = Watch::default();
        let count = self.rows.len();
        let stopped = on_threads(py, jobs, count, &watch, progress.as_ref(), &|index| {
            if self.rows[index].get().is_some() {
                return;
            }
            let outcome = catch_unwind(AssertUnwindSafe(|| self.simulate(index, &watch.stops)));
            let failure = match outcome {
                Ok(Ok(row)) => {
                    drop(self.rows[index].set(row));
                    watch.done.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                Ok(Err(EngineError::Interrupted)) => return,
                Ok(Err(error @ EngineError::TooLong { .. })) => Failure::TooLong(error.to_string()),
                Ok(Err(error @ EngineError::Conservation(_))) => Failure::Engine(error.to_string()),
                Err(panic) => Failure::Engine(panic_message(&*panic)),
            };
            watch.fail(index, failure);
        });
        let failed = watch
            .failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some((index, failure)) = failed {
            return Err(match failure {
                Failure::TooLong(message) => {
                    python::UserError::new_err(format!("scenario {index}: {message}"))
                }
                Failure::Engine(message) => {
                    python::EngineError::new_err(format!("scenario {index}: {message}"))
                }
            });
        }
        match stopped {
            Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok("interrupted"),
            Some(error) => Err(error),
            None if watch.drains.load(Ordering::Relaxed) => Ok("stopped"),
            None => Ok("done"),
        }
    }

    /// Returns for each scenario one byte, which is 1 if the scenario is finished.
    fn finished<'py>(&self, py: Python<'py>) -> Bound<'py, PyByteArray> {
        let each: Vec<u8> = (self.rows.iter())
            .map(|row| u8::from(row.get().is_some()))
            .collect();
        PyByteArray::new(py, &each)
    }

    /// Returns an item for each warm-up that is shorter than `round_trips` round trips in some finished scenario: the
    /// warm-up [s], the number of these scenarios, and their longest round-trip time [s].
    fn short_warmups(&self, round_trips: f64) -> Vec<(f64, usize, f64)> {
        let mut short: BTreeMap<Span, (usize, f64)> = BTreeMap::new();
        for row in self.rows.iter().filter_map(OnceLock::get) {
            if round_trips * row.longest_rtt_s > row.warmup.seconds() {
                let (count, longest_s) = short.entry(row.warmup).or_default();
                *count += 1;
                *longest_s = longest_s.max(row.longest_rtt_s);
            }
        }
        let short = short.into_iter();
        short
            .map(|(warmup, (count, longest_s))| (warmup.seconds(), count, longest_s))
            .collect()
    }

    /// Returns for each requested quantity the names of its items, in the order of their first appearance, and the
    /// values as numbers of 8 bytes: one row of values per scenario, with NaN for a missing value.
    fn columns<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Vec<String>, Bound<'py, PyByteArray>)>> {
        let layouts = self.layouts();
        (0..self.quantities.len())
            .map(|quantity| {
                let names = union(&layouts, quantity);
                let size = self.rows.len() * names.len() * NUMBER;
                let values = PyByteArray::new_with(py, size, |bytes| {
                    self.write(&layouts, quantity, &names, bytes);
                    Ok(())
                })?;
                Ok((names.into_iter().map(str::to_owned).collect(), values))
            })
            .collect()
    }
}

impl Many {
    /// Parses the scenario at `index`, without its seed; None if the scenario is refused.
    fn parse(&self, index: usize) -> Option<Arc<scenario::Scenario>> {
        let base = one_of(&self.bases, index).get();
        match one_of_or(&self.settings, index, &[]) {
            [] => Some(base.parsed()),
            settings => base
                .parse_with(settings)
                .ok()
                .map(|(parsed, _)| Arc::new(parsed)),
        }
    }

    /// Keeps a parsed scenario if there is room.
    fn keep(&self, number: usize, parsed: Arc<scenario::Scenario>) {
        let size = 1 + parsed.flows.len() + parsed.stations.len() + parsed.links.len();
        if self.kept.fetch_add(size, Ordering::Relaxed) < MAX_KEPT {
            drop(self.parsed[number].set(parsed));
        }
    }

    /// Simulates the scenario at `index`.
    fn simulate(&self, index: usize, stops: &AtomicBool) -> Result<Row, EngineError> {
        let number = self.distinct[index];
        let parsed = self.parsed[number]
            .get()
            .cloned()
            .or_else(|| self.parse(index));
        // not reached: `check` has parsed every scenario
        let parsed = parsed.ok_or(EngineError::Interrupted)?;
        let mut own = (*parsed).clone();
        drop(parsed);
        if let [_, ..] = self.seeds[..] {
            own.seed = *one_of(&self.seeds, index);
        }
        // series and frames are not returned
        own.record.series_interval = None;
        own.record.frames = None;
        let look = &mut |_| match stops.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let runs = (0..own.replications)
            .map(|replication| Ok(run_replication(&own, replication, self.detail, look)?.measures));
        let runs: Vec<Measures> = runs.collect::<Result<_, EngineError>>()?;
        Ok(self.row(&own, &runs))
    }

    /// Returns the requested quantities of the replications of a scenario.
    fn row(&self, scenario: &scenario::Scenario, runs: &[Measures]) -> Row {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (list, quantity) in &self.quantities {
            let at = runs[0].lists.iter().position(|(name, _)| name == list);
            let items = at.map_or(&[][..], |at| &runs[0].lists[at].1);
            names.push(items.iter().map(|item| item.name.clone()).collect());
            values.extend(items.iter().enumerate().map(|(index, item)| {
                let place = item.values.iter().position(|(name, _)| name == quantity);
                let of = |run: &Measures| run.lists[at?].1[index].values[place?].1;
                mean(runs.iter().map(of)).unwrap_or(f64::NAN)
            }));
        }
        Row {
            layout: self.shared(Layout(names)),
            values: values.into(),
            warmup: scenario.warmup,
            longest_rtt_s: longest_rtt_s(scenario, runs),
        }
    }

    /// Returns the layout of another finished scenario if it is equal to `own`, so that the names are stored once.
    fn shared(&self, own: Layout) -> Arc<Layout> {
        let other = self.rows[0].get().filter(|row| *row.layout == own);
        other.map_or_else(|| Arc::new(own), |row| Arc::clone(&row.layout))
    }

    /// Returns the different layouts of the finished scenarios, in order.
    fn layouts(&self) -> Vec<&Layout> {
        let mut layouts: Vec<&Layout> = Vec::new();
        for row in self.rows.iter().filter_map(OnceLock::get) {
            let own: &Layout = &row.layout;
            if !layouts.iter().any(|known| is_same(known, own)) {
                layouts.push(own);
            }
        }
        layouts
    }

    /// Writes the values of a quantity into an array with one row per scenario and one column per name.
    fn write(&self, layouts: &[&Layout], quantity: usize, names: &[&str], bytes: &mut [u8]) {
        for cell in bytes.chunks_exact_mut(NUMBER) {
            cell.copy_from_slice(&f64::NAN.to_ne_bytes());
        }
        let at: HashMap<&str, usize> = names
            .iter()
            .enumerate()
            .map(|(at, name)| (*name, at))
            .collect();
        let places: Vec<Vec<usize>> = (layouts.iter())
            .map(|layout| {
                layout.0[quantity]
                    .iter()
                    .map(|name| at[name.as_str()])
                    .collect()
            })
            .collect();
        for (row, cells) in self
            .rows
            .iter()
            .zip(bytes.chunks_exact_mut((names.len() * NUMBER).max(1)))
        {
            let Some(row) = row.get() else { continue };
            let Some(number) = layouts.iter().position(|known| is_same(known, &row.layout)) else {
                continue; // not reached: `layouts` contains the layout of every row
            };
            let before: usize = row.layout.0[..quantity].iter().map(Vec::len).sum();
            for (place, value) in places[number].iter().zip(&row.values[before..]) {
                cells[place * NUMBER..][..NUMBER].copy_from_slice(&value.to_ne_bytes());
            }
        }
    }
}

/// Calls `work` with the numbers below `count` in order, on at most `jobs` threads. Meanwhile this thread reports
/// progress and checks for Ctrl-C. Returns the exception that stopped the threads.
pub fn on_threads(
    py: Python<'_>,
    jobs: usize,
    count: usize,
    watch: &Watch,
    progress: Option<&Py<PyAny>>,
    work: &(dyn Fn(usize) + Sync),
) -> Option<PyErr> {
    py.detach(|| {
        thread::scope(|scope| {
            let (sender, ended) = channel::<()>();
            for _ in 0..jobs.min(count).max(1) {
                let sender = sender.clone();
                scope.spawn(move || {
                    while !watch.drains.load(Ordering::Relaxed) {
                        let number = watch.taken.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            break;
                        }
                        work(number);
                    }
                    drop(sender);
                });
            }
            drop(sender);
            let mut stopped = None;
            // no thread sends anything: the channel is disconnected when all threads have ended
            while ended.recv_timeout(TICK) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let asked = Python::attach(|py| {
                    py.check_signals()?;
                    progress.map_or(Ok(ControlFlow::Continue(())), |callback| {
                        watch.tell(py, callback, count)
                    })
                });
                match asked {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => watch.stop(),
                    Err(error) => {
                        let is_second = watch.drains.swap(true, Ordering::Relaxed);
                        let is_ctrl_c =
                            Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py));
                        if is_second || !is_ctrl_c {
                            watch.stop();
                        }
                        stopped.get_or_insert(error);
                    }
                }
            }
            stopped
        })
    })
}

impl Watch {
    /// Lets the threads finish their numbers, and begin no further one.
    pub fn drain(&self) {
        self.drains.store(true, Ordering::Relaxed);
    }

    /// Ends running simulations, too.
    fn stop(&self) {
        self.drains.store(true, Ordering::Relaxed);
        self.stops.store(true, Ordering::Relaxed);
    }

    /// Records the error of a scenario. Scenarios with a smaller index have been taken, and may still fail.
    fn fail(&self, index: usize, failure: Failure) {
        self.drains.store(true, Ordering::Relaxed);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.as_ref().is_none_or(|(other, _)| index < *other) {
            *failed = Some((index, failure));
        }
    }

    fn tell(&self, py: Python<'_>, callback: &Py<PyAny>, runs: usize) -> PyResult<ControlFlow<()>> {
        let seen = PyDict::new(py);
        seen.set_item("runs_done", self.done.load(Ordering::Relaxed))?;
        seen.set_item("runs", runs)?;
        let answer = callback.bind(py).call1((seen,))?;
        Ok(match answer.is_none() || answer.is_truthy()? {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })
    }
}

/// Returns the mean of the values of the replications. There is none if a value is missing in any replication.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let each: Option<Vec<f64>> = values.collect();
    Some(estimate(&each?)?.mean)
}

/// Returns the longest mean round-trip time of a TCP flow that begins during the warm-up and never ends, or 0. [s]
fn longest_rtt_s(scenario: &scenario::Scenario, runs: &[Measures]) -> f64 {
    let lasts = |flow: &&scenario::Flow| match &flow.transport {
        Transport::Tcp(tcp) => {
            tcp.segments.is_none() && flow.reports.is_none() && flow.start <= scenario.warmup
        }
        _ => false,
    };
    let lasting = scenario.flows.iter().filter(lasts);
    let lasting: HashSet<&str> = lasting.map(|flow| flow.name.as_str()).collect();
    let lists = runs[0].lists.iter();
    let Some(at) = lists
        .map(|(name, _)| name)
        .position(|name| *name == "flows")
    else {
        return 0.0;
    };
    let items = runs[0].lists[at].1.iter().enumerate();
    // users of a CSMA network have a round-trip time only if they use TCP
    let items =
        items.filter(|(_, item)| scenario.csma.is_some() || lasting.contains(item.name.as_str()));
    let rtts_s = items.filter_map(|(index, item)| {
        let place = item.values.iter().position(|(name, _)| *name == RTT.name)?;
        mean(
            runs.iter()
                .map(|run| run.lists[at].1[index].values[place].1),
        )
    });
    rtts_s.fold(0.0, f64::max)
}

/// Returns the element at `index` of a list with one element for all scenarios, or with one element for each.
fn one_of<T>(list: &[T], index: usize) -> &T {
    if list.len() == 1 {
        &list[0]
    } else {
        &list[index]
    }
}

/// Returns the element at `index` as `one_of` does, or `default` if the list is empty.
fn one_of_or<'a>(list: &'a [Vec<Setting>], index: usize, default: &'a [Setting]) -> &'a [Setting] {
    if list.is_empty() {
        default
    } else {
        one_of::<Vec<_>>(list, index)
    }
}

/// Returns whether two layouts are equal. Most layouts are shared, so that no names are compared.
fn is_same(a: &Layout, b: &Layout) -> bool {
    std::ptr::eq(a, b) || a == b
}

/// Returns the names of the items of a quantity in all layouts, in the order of their first appearance.
fn union<'a>(layouts: &[&'a Layout], quantity: usize) -> Vec<&'a str> {
    let mut seen = std::collections::HashSet::new();
    let names = layouts.iter().flat_map(|layout| &layout.0[quantity]);
    names
        .map(String::as_str)
        .filter(|name| seen.insert(*name))
        .collect()
}
