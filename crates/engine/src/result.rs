//! The combined result of all replications, in the form that `--json` prints: means with confidence
//! intervals.

use serde_json::{Map, Value, json};

use crate::estimate::estimate;
use crate::measure::{Distribution, Goodputs, Item, Measures, distributions_json};
use crate::record::{FrameRecord, Series};
use crate::replication::Replication;
use crate::scenario::{FORMAT, Scenario};

/// Version of the engine, which is part of every result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The combined result of all replications of a scenario.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// JSON object that `--json` prints: means, and half widths of 95 % confidence intervals.
    pub summary: Value,
    /// Values of all finished replications: list -> item -> quantity -> one value per replication
    /// (null if missing).
    pub samples: Value,
    /// Goodputs in the two halves of the measured time, for each finished replication; empty if
    /// nothing is measured.
    pub halves: Vec<[Goodputs; 2]>,
    /// Time series of replication 0, if they were recorded.
    pub series: Option<Series>,
    /// Frames on the air of replication 0, if they were recorded.
    pub frames: Vec<FrameRecord>,
    /// Whether frames are missing because the maximum number of recorded frames was reached.
    pub frames_full: bool,
    /// Distributions over all finished replications, if they were requested.
    pub distributions: Vec<Distribution>,
    /// Whether the run was stopped before all replications finished.
    pub interrupted: bool,
}

impl RunResult {
    /// Combines the finished `replications`. The list is in order of the replication numbers, and
    /// contains at least one replication.
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

    /// Returns `halves` as JSON: for each direction and half, the mean with its confidence
    /// interval, or `null` if there are no values. [bit/s]
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

    /// Returns `series` as JSON; `null` if there are no time series.
    pub fn series_json(&self) -> String {
        json!(self.series).to_string()
    }
}

/// Returns two objects for all result lists: the means with confidence intervals, and the values of
/// each run. The lists of all runs have the same order.
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

/// Returns two objects for one item: the means with confidence intervals, and the values of each
/// replication. The quantities of all replications have the same order. If a value is missing in
/// any replication, the quantity has no mean.
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
