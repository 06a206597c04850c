//! Checks the points of a sweep on several threads.

use std::fmt::Write;
use std::sync::OnceLock;

use pyo3::prelude::*;
use sha2::{Digest, Sha256};

use crate::many::{Watch, on_threads};
use crate::scenario::{Scenario, Setting};
use crate::tables::to_json_text;

/// Facts about a point: fingerprint of its normalised scenario, number of replications, simulated time of all
/// replications [s], and number of values in its time series.
type Facts = (String, u32, f64, u64);

/// Checks a scenario with each of several lists of settings, on `jobs` threads. Returns facts about each, in order: the
/// fingerprint, the number of replications, their simulated time, and the number of values in time series. The list ends
/// before the first point that is refused.
#[pyfunction]
pub fn check_points(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    points: Vec<Vec<Setting>>,
    jobs: usize,
) -> PyResult<Vec<Facts>> {
    let base = scenario.get();
    let facts: Vec<OnceLock<Option<Facts>>> = points.iter().map(|_| OnceLock::new()).collect();
    let watch = Watch::default();
    let stopped = on_threads(py, jobs, points.len(), &watch, None, &|number| {
        let own = of_point(base, &points[number]);
        if own.is_none() {
            watch.drain();
        }
        drop(facts[number].set(own));
    });
    let facts = facts.into_iter().map(|own| own.into_inner().flatten());
    stopped.map_or_else(|| Ok(facts.map_while(|own| own).collect()), Err)
}

/// Returns the facts about a point; `None` if the point is refused.
fn of_point(base: &Scenario, settings: &[Setting]) -> Option<Facts> {
    let (parsed, tables) = base.parse_with(settings).ok()?;
    let digest = Sha256::digest(to_json_text(&parsed, &tables));
    let mut key = String::new();
    for byte in digest {
        write!(key, "{byte:02x}").ok()?;
    }
    let (series, samples) = lasthop_engine::sampled(&parsed).ok()?;
    let length_s = parsed.duration.seconds() * f64::from(parsed.replications);
    Some((key, parsed.replications, length_s, series as u64 * samples))
}
