//! The combined result of all replications, in the form that `--json` prints: means with confidence
//! intervals.

use std::sync::OnceLock;

use serde::Serialize;
use serde_json::{Value, json};

use crate::estimate::estimate;
use crate::measure::{Distribution, Goodputs, Measures, ReplicationTable, distributions_json};
use crate::record::{FrameRecord, Series};
use crate::replication::Replication;
use crate::scenario::{FORMAT, Scenario};

/// Version of the engine, which is part of every result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The combined result of all replications of a scenario.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Entries of the summary before its lists.
    head: Head,
    /// Values of all finished replications.
    pub measured: ReplicationTable,
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
    /// Trees of `summary` and `samples`, which are made when they are first used.
    trees: [OnceLock<Value>; 2],
}

/// Entries of the summary before its lists.
#[derive(Clone, Debug, Serialize)]
struct Head {
    kind: &'static str,
    scenario: String,
    seed: u64,
    replications: usize,
    version: &'static str,
    format: u32,
    duration_s: f64,
    warmup_s: f64,
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
        let head = Head {
            kind: "simulation",
            scenario: scenario.name.clone(),
            seed: scenario.seed,
            replications: runs.len(),
            version: VERSION,
            format: FORMAT,
            duration_s: scenario.duration.seconds(),
            warmup_s: scenario.warmup.seconds(),
        };
        let measured = ReplicationTable::from_replications(&runs);
        let halves = replications.iter().filter_map(|run| run.halves).collect();
        let each = replications.iter_mut();
        let distributions = each.map(|run| std::mem::take(&mut run.distributions));
        let distributions = distributions.reduce(Distribution::merged);
        let first = &mut replications[0];
        RunResult {
            head,
            measured,
            halves,
            series: first.series.take(),
            frames: std::mem::take(&mut first.frames),
            frames_full: first.frames_full,
            distributions: distributions.unwrap_or_default(),
            interrupted,
            trees: Default::default(),
        }
    }

    /// Returns the JSON object that `--json` prints: means, and half widths of 95 % confidence
    /// intervals. The texts and `measured` need less memory.
    pub fn summary(&self) -> &Value {
        self.trees[0].get_or_init(|| json!(self.view()))
    }

    /// Returns the values of all finished replications: list -> item -> quantity -> one value per
    /// replication (null if missing).
    pub fn samples(&self) -> &Value {
        self.trees[1].get_or_init(|| json!(self.measured.samples()))
    }

    /// Returns the summary as indented JSON with a final newline.
    pub fn summary_json(&self) -> String {
        // all keys are texts, so that serialisation cannot fail
        serde_json::to_string_pretty(&self.view()).unwrap_or_default() + "\n"
    }

    /// Returns the summary as JSON in one line.
    pub fn summary_line(&self) -> String {
        serde_json::to_string(&self.view()).unwrap_or_default()
    }

    /// Returns the entries of the summary before its lists, as JSON.
    pub fn head_json(&self) -> String {
        json!(self.head).to_string()
    }

    /// Returns the values of all finished replications as JSON.
    pub fn samples_json(&self) -> String {
        serde_json::to_string(&self.measured.samples()).unwrap_or_default()
    }

    fn view(&self) -> Summary<'_> {
        Summary {
            head: &self.head,
            lists: &self.measured,
        }
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

/// The result object of `--json`.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    head: &'a Head,
    #[serde(flatten)]
    lists: &'a ReplicationTable,
}
