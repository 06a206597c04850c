//! The combined result of all replications: means with intervals, in the form of the command line's
//! `--json`.

use serde_json::{Map, Value, json};

use crate::estimate::estimate;
use crate::measure::{Distribution, Goodputs, Item, Measures, distributions_json};
use crate::record::{FrameRecord, Series};
use crate::replication::Replication;
use crate::scenario::{FORMAT, Scenario};

/// Version of the engine, which is part of every result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The result of a scenario, from all its replications.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Object that `--json` prints: means and half widths of 95 % intervals.
    pub summary: Value,
    /// Values of the finished replications, one per replication: list -> item -> quantity -> values
    /// (null if missing).
    pub samples: Value,
    /// Goodputs in the two halves of the measured time, for each finished replication that has
    /// them.
    pub halves: Vec<[Goodputs; 2]>,
    /// Time series of replication 0, if recorded.
    pub series: Option<Series>,
    /// Frames on the air of replication 0, if recorded.
    pub frames: Vec<FrameRecord>,
    /// Whether the limit of recorded frames was reached.
    pub frames_full: bool,
    /// Distributions of all finished replications, if requested.
    pub distributions: Vec<Distribution>,
    /// Whether the run was stopped before all replications finished.
    pub interrupted: bool,
}

impl RunResult {
    /// Combines the finished `replications`, of which there is at least one, in order.
    pub fn assemble(
        scenario: &Scenario,
        mut replications: Vec<Replication>,
        interrupted: bool,
    ) -> RunResult {
        let runs: Vec<&Measures> = replications.iter().map(|run| &run.measures).collect();
        let mut summary = Map::new();
        summary.insert("kind".into(), json!("simulation"));
        summary.insert("scenario".into(), json!(scenario.name));
        summary.insert("seed".into(), json!(scenario.seed));
        summary.insert("replications".into(), json!(runs.len()));
        summary.insert("version".into(), json!(VERSION));
        summary.insert("format".into(), json!(FORMAT));
        summary.insert("duration_s".into(), json!(scenario.duration.seconds()));
        summary.insert("warmup_s".into(), json!(scenario.warmup.seconds()));
        let (estimates, samples) = put_together(&runs);
        summary.extend(estimates);
        let halves = replications.iter().filter_map(|run| run.halves).collect();
        let each = replications.iter_mut();
        let distributions = each.map(|run| std::mem::take(&mut run.distributions));
        let distributions = distributions.reduce(Distribution::merged);
        let first = &mut replications[0];
        RunResult {
            summary: Value::Object(summary),
            samples: Value::Object(samples),
            halves,
            series: first.series.take(),
            frames: std::mem::take(&mut first.frames),
            frames_full: first.frames_full,
            distributions: distributions.unwrap_or_default(),
            interrupted,
        }
    }

    /// Returns `summary` as indented JSON with a final newline.
    pub fn summary_json(&self) -> String {
        format!("{:#}\n", self.summary)
    }

    /// Returns `summary` as JSON in one line.
    pub fn summary_line(&self) -> String {
        self.summary.to_string()
    }

    /// Returns `samples` as JSON.
    pub fn samples_json(&self) -> String {
        self.samples.to_string()
    }

    /// Returns `halves` as JSON: for each direction and half, the mean with its interval, or
    /// `null`. [bit/s]
    pub fn halves_json(&self) -> String {
        if self.halves.is_empty() {
            return Value::Null.to_string();
        }
        let over = |half: usize, of: fn(&Goodputs) -> f64| {
            let values: Vec<f64> = self.halves.iter().map(|run| of(&run[half])).collect();
            estimate(&values)
        };
        json!({
            "up": [over(0, |half| half.up), over(1, |half| half.up)],
            "down": [over(0, |half| half.down), over(1, |half| half.down)],
            "other": [over(0, |half| half.other), over(1, |half| half.other)],
        })
        .to_string()
    }

    /// Returns `distributions` as JSON.
    pub fn distributions_json(&self) -> String {
        distributions_json(&self.distributions)
    }

    /// Returns `series` as JSON; `null` without time series.
    pub fn series_json(&self) -> String {
        json!(self.series).to_string()
    }
}

/// Returns the estimates and the values of all lists. Every run has the same lists in the same
/// order.
pub fn put_together(runs: &[&Measures]) -> (Map<String, Value>, Map<String, Value>) {
    let (mut estimates, mut samples) = (Map::new(), Map::new());
    for (position, (list, items)) in runs[0].lists.iter().enumerate() {
        let mut own_estimates = Vec::with_capacity(items.len());
        let mut by_name = Map::new();
        for (index, item) in items.iter().enumerate() {
            let same = runs.iter().map(|run| &run.lists[position].1[index]);
            let (estimates, values) = across_replications(&same.collect::<Vec<_>>());
            own_estimates.push(Value::Object(estimates));
            by_name.insert(item.name.clone(), Value::Object(values));
        }
        estimates.insert((*list).to_owned(), Value::Array(own_estimates));
        samples.insert((*list).to_owned(), Value::Object(by_name));
    }
    (estimates, samples)
}

/// Returns the estimates and the values of one item. Every replication has the same quantities in
/// the same order. A quantity that is missing in some replication has no estimate.
fn across_replications(same: &[&Item]) -> (Map<String, Value>, Map<String, Value>) {
    let mut estimates = Map::new();
    estimates.insert("name".into(), json!(same[0].name));
    for (label, text) in &same[0].labels {
        estimates.insert((*label).to_owned(), json!(text));
    }
    let mut values = Map::new();
    for (position, &(quantity, _)) in same[0].values.iter().enumerate() {
        let each: Vec<Option<f64>> = same.iter().map(|item| item.values[position].1).collect();
        let known: Vec<f64> = each.iter().flatten().copied().collect();
        if known.len() == each.len() {
            estimates.insert(quantity.to_owned(), json!(estimate(&known)));
        }
        values.insert(quantity.to_owned(), json!(each));
    }
    (estimates, values)
}
