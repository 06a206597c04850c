//! Runs all replications of a scenario, on several threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use rayon::prelude::*;

use crate::error::EngineError;
use crate::replication::{Detail, Replication, run_replication};
use crate::result::RunResult;
use crate::scenario::Scenario;

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Number of finished replications.
    pub replications_done: u32,
    /// Number of requested replications.
    pub replications: u32,
    /// Simulated time so far, summed over all replications. [s]
    pub simulated_s: f64,
    /// Simulated time at the end of the run, summed over all replications. [s]
    pub total_s: f64,
}

/// Maximum number of threads of a run: more threads would not make the run faster.
const MAX_THREADS: usize = 256;

/// Runs all replications of `scenario` on `jobs` threads. The number of threads is at most the
/// number of replications, and at most 256. The result does not depend on `jobs`. The threads call
/// `on_progress` regularly. If `on_progress` returns `Break`, the run stops, and the result
/// contains the finished replications.
///
/// # Errors
/// `Interrupted` if no replication has finished, and the errors of [`run_replication`].
pub fn run(
    scenario: &Scenario,
    jobs: usize,
    on_progress: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
) -> Result<RunResult, EngineError> {
    run_in_detail(scenario, jobs, Detail::Means, on_progress)
}

/// Runs all replications as [`run`] does, but measures the quantities that `detail` selects. The
/// means are equal to those of [`run`].
///
/// # Errors
/// The errors of [`run`].
pub fn run_in_detail(
    scenario: &Scenario,
    jobs: usize,
    detail: Detail,
    on_progress: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
) -> Result<RunResult, EngineError> {
    let (replications, interrupted) = replications(scenario, jobs, detail, on_progress)?;
    Ok(RunResult::assemble(scenario, replications, interrupted))
}

/// Runs all replications as [`run_in_detail`] does. Returns the finished replications for
/// [`RunResult::assemble`], and whether the run was stopped before all of them finished.
///
/// # Errors
/// The errors of [`run`].
pub fn replications(
    scenario: &Scenario,
    jobs: usize,
    detail: Detail,
    on_progress: &(dyn Fn(Progress) -> ControlFlow<()> + Sync),
) -> Result<(Vec<Replication>, bool), EngineError> {
    let stop = AtomicBool::new(false);
    let done = AtomicU32::new(0);
    let simulated_ns = AtomicU64::new(0);
    let report = || {
        let progress = Progress {
            replications_done: done.load(Ordering::Relaxed),
            replications: scenario.replications,
            simulated_s: simulated_ns.load(Ordering::Relaxed) as f64 / 1e9,
            total_s: scenario.duration.seconds() * f64::from(scenario.replications),
        };
        if on_progress(progress).is_break() {
            stop.store(true, Ordering::Relaxed);
        }
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let one = |replication: u32| -> Result<Replication, EngineError> {
        if stop.load(Ordering::Relaxed) {
            return Err(EngineError::Interrupted);
        }
        let mut seen = 0;
        let mut count = |now: u64| {
            simulated_ns.fetch_add(now - seen, Ordering::Relaxed);
            seen = now;
        };
        let finished = run_replication(scenario, replication, detail, &mut |now| {
            count(now.0);
            report()
        })
        .inspect_err(|_| stop.store(true, Ordering::Relaxed))?; // the other replications stop, too
        count(scenario.duration.0);
        done.fetch_add(1, Ordering::Relaxed);
        let _ = report();
        Ok(finished)
    };
    let numbers = 0..scenario.replications;
    let jobs = jobs.min(scenario.replications as usize).min(MAX_THREADS);
    let pool = (jobs > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(jobs).build());
    let outcomes: Vec<Result<Replication, EngineError>> = match pool {
        Some(Ok(pool)) => pool.install(|| numbers.into_par_iter().map(one).collect()),
        _ => numbers.map(one).collect(), // a single thread is requested, or the system has no threads
    };
    let mut replications = Vec::with_capacity(outcomes.len());
    let mut interrupted = false;
    for outcome in outcomes {
        match outcome {
            Ok(replication) => replications.push(replication),
            Err(EngineError::Interrupted) => interrupted = true,
            Err(error) => return Err(error),
        }
    }
    if replications.is_empty() {
        return Err(EngineError::Interrupted);
    }
    Ok((replications, interrupted))
}
