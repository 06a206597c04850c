//! Checks of scenarios, and the replications that a worker runs.

use std::ops::ControlFlow;

use lasthop_engine::kernel::time::Time;
use lasthop_engine::measure::distributions_json;
use lasthop_engine::record::frames_json;
use lasthop_engine::scenario::{Format, Problem, Scenario, parse_bytes};
use lasthop_engine::{Detail, EngineError, Replication, RunResult};
use lasthop_explain::{NotJson, explain};
use serde_json::{Value, json};

use crate::memory::Owned;

/// Tables whose settings apply to Linux machines and which simulations ignore.
const ENFORCED: [&str; 2] = ["gateway", "interface"];

/// Name of the scenario text in messages.
const SOURCE: &str = "scenario";

/// The text of a scenario, with overrides.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    /// Text of the file.
    pub text: &'a [u8],
    /// Format of the text.
    pub format: Format,
    /// Overrides of values in the text, one `key.path=value` per line.
    pub settings: &'a [u8],
}

/// A run of one replication.
enum Run {
    /// A run in progress.
    Running(Box<Owned>),
    /// A finished run.
    Over(Box<(Scenario, Replication)>),
}

/// The runs of a worker.
#[derive(Default)]
pub struct Bench {
    /// Runs by number; run 1 has index 0. An ended run is `None`.
    runs: Vec<Option<Run>>,
}

impl Bench {
    /// Returns the normalised scenario of a text as JSON.
    ///
    /// # Errors
    /// The problems of the text, as JSON.
    pub fn check(written: Written<'_>) -> Result<String, String> {
        Ok(parsed(written)?.to_json_text())
    }

    /// Begins replication number `replication` of a scenario, and measures the quantities that
    /// `detail` requests. Returns the number of the run.
    ///
    /// # Errors
    /// The problems of the text, or the reason why the run cannot begin, as JSON.
    pub fn begin(
        &mut self,
        written: Written<'_>,
        replication: u32,
        detail: Detail,
    ) -> Result<u32, String> {
        let scenario = parsed(written)?;
        let run = Owned::new(scenario, replication, detail).map_err(|error| failed(&error))?;
        self.runs.push(Some(Run::Running(Box::new(run))));
        Ok(self.runs.len() as u32)
    }

    /// Advances a run by a slice of some ten thousand events. Returns the simulated time. [s]
    ///
    /// # Errors
    /// There is no such run, or a conservation law was violated, as JSON.
    pub fn advance(&mut self, number: u32) -> Result<f64, String> {
        let run = self.take(number).ok_or_else(unknown)?;
        let Run::Running(mut owned) = run else {
            return self.keep(number, run);
        };
        let rests = owned.advance(&mut |_| ControlFlow::Break(()));
        match rests {
            Ok(()) => {
                let over = owned.finish().map_err(|error| failed(&error))?;
                self.keep(number, Run::Over(Box::new(over)))
            }
            Err(EngineError::Interrupted) => self.keep(number, Run::Running(owned)),
            Err(error) => Err(failed(&error)),
        }
    }

    fn keep(&mut self, number: u32, run: Run) -> Result<f64, String> {
        let now = match &run {
            Run::Running(owned) => owned.now(),
            Run::Over(over) => Time::ZERO + over.0.duration,
        };
        self.runs[number as usize - 1] = Some(run);
        Ok(now.seconds())
    }

    fn take(&mut self, number: u32) -> Option<Run> {
        let place = (number as usize).checked_sub(1)?;
        self.runs.get_mut(place)?.take()
    }

    fn run(&self, number: u32) -> Option<&Run> {
        self.runs.get((number as usize).checked_sub(1)?)?.as_ref()
    }

    /// Returns whether a run has finished.
    pub fn is_over(&self, number: u32) -> bool {
        matches!(self.run(number), Some(Run::Over(_)))
    }

    fn over(&self, number: u32) -> Result<&(Scenario, Replication), String> {
        match self.run(number) {
            Some(Run::Over(over)) => Ok(over),
            _ => Err(unknown()),
        }
    }

    /// Returns the measurements of a finished run, without names. A missing measurement is NaN.
    ///
    /// # Errors
    /// There is no such run, as JSON.
    pub fn values(&self, number: u32) -> Result<Vec<f64>, String> {
        let (_, replication) = self.over(number)?;
        Ok(replication.measures.values())
    }

    /// Returns the result object of `--json`. `values` are the measurements of all replications in
    /// order, and `number` is the number of any one of their runs.
    ///
    /// # Errors
    /// There is no such run, or the values belong to another scenario, as JSON.
    pub fn combine(&self, number: u32, values: &[f64]) -> Result<String, String> {
        let (scenario, replication) = self.over(number)?;
        let own = replication.measures.values().len();
        if own == 0 || values.is_empty() || !values.len().is_multiple_of(own) {
            return Err(failure("values of another scenario"));
        }
        let replications = values.chunks(own).map(|values| Replication {
            measures: replication.measures.with_values(values),
            halves: None,
            series: None,
            distributions: Vec::new(),
            frames: Vec::new(),
            frames_full: false,
        });
        Ok(RunResult::assemble(scenario, replications.collect(), false).summary_json())
    }

    /// Returns the explanation of a result: where packets wait, what limits each flow, and causes.
    ///
    /// # Errors
    /// The errors of [`Bench::combine`].
    pub fn explain(&self, number: u32, values: &[f64]) -> Result<String, String> {
        let answer = self.combine(number, values)?;
        let (scenario, _) = self.over(number)?;
        let scenario = scenario.to_json_text();
        let explanation = explain(&scenario, &answer, &mut || Ok::<_, NotJson>(()));
        let explanation = explanation.map_err(|error| failure(&error.to_string()))?;
        Ok(explanation.to_string())
    }

    /// Returns the time series of a finished run, or null.
    ///
    /// # Errors
    /// There is no such run, as JSON.
    pub fn series(&self, number: u32) -> Result<String, String> {
        let (_, replication) = self.over(number)?;
        Ok(json!(replication.series).to_string())
    }

    /// Returns the distributions of a finished run.
    ///
    /// # Errors
    /// There is no such run, as JSON.
    pub fn distributions(&self, number: u32) -> Result<String, String> {
        let (_, replication) = self.over(number)?;
        Ok(distributions_json(&replication.distributions))
    }

    /// Returns the frames that begin at or after `from_s` and before `to_s`, as JSON columns. [s]
    ///
    /// # Errors
    /// There is no such run, as JSON.
    pub fn frames(&self, number: u32, from_s: f64, to_s: f64) -> Result<String, String> {
        let (scenario, replication) = self.over(number)?;
        let [from, to] = [from_s, to_s].map(|at_s| Time((at_s.max(0.0) * 1e9) as u64));
        Ok(frames_json(scenario, &replication.frames, from, to))
    }

    /// Ends a run and frees its memory.
    pub fn end(&mut self, number: u32) {
        self.take(number);
    }
}

fn parsed(written: Written<'_>) -> Result<Scenario, String> {
    let Written { text, format, .. } = written;
    let settings = settings(written.settings)?;
    parse_bytes(text, format, SOURCE, &settings).map_err(|problems| {
        let problems: Vec<Value> = problems.iter().map(problem_json).collect();
        json!({ "problems": problems }).to_string()
    })
}

fn settings(lines: &[u8]) -> Result<Vec<(String, String)>, String> {
    let lines = str::from_utf8(lines).map_err(|_| failure("settings that are not UTF-8"))?;
    let pair = |line: &str| match line.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(failure(&format!(
            "a setting is `key.path=value`, not `{line}`"
        ))),
    };
    lines.lines().map(pair).collect()
}

fn problem_json(problem: &Problem) -> Value {
    if ENFORCED.contains(&problem.path.as_str()) {
        let message = "is enforced by `lasthop` on Linux, and not read here";
        return json!({ "line": problem.line, "path": problem.path, "message": message, "hint": "take it out" });
    }
    json!({
        "line": problem.line,
        "setting": problem.setting,
        "path": problem.path,
        "message": problem.message,
        "hint": problem.hint,
    })
}

fn failure(message: &str) -> String {
    json!({ "error": message }).to_string()
}

fn failed(error: &EngineError) -> String {
    failure(&error.to_string())
}

fn unknown() -> String {
    failure("no such run, or it is not over")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: &str = "duration = \"3 s\"\nwarmup = \"1 s\"\nreplications = 3\n\
                        record.series_interval = \"0.5 s\"\nrecord.frames = 1000\n\
                        cell = { phy = \"802.11b\" }\nstation.a = { count = 3, download = 1 }\n";

    fn written(text: &str) -> Written<'_> {
        Written {
            text: text.as_bytes(),
            format: Format::Toml,
            settings: &[],
        }
    }

    fn over(bench: &mut Bench, replication: u32) -> u32 {
        let run = bench
            .begin(written(CELL), replication, Detail::Means)
            .unwrap();
        while !bench.is_over(run) {
            bench.advance(run).unwrap();
        }
        run
    }

    #[test]
    fn runs_of_several_workers_are_put_together_as_a_native_one() {
        let (mut bench, mut other) = (Bench::default(), Bench::default());
        let first = over(&mut bench, 0);
        let runs = [over(&mut other, 1), over(&mut other, 2)];
        let mut values = bench.values(first).unwrap();
        for run in runs {
            values.extend(other.values(run).unwrap());
        }
        let scenario = parsed(written(CELL)).unwrap();
        let native = lasthop_engine::run(&scenario, 1, &|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(
            bench.combine(first, &values).unwrap(),
            native.summary_json()
        );
        assert_eq!(
            other.combine(runs[1], &values).unwrap(),
            native.summary_json()
        );
        assert_eq!(bench.series(first).unwrap(), native.series_json());
        let frames = frames_json(&scenario, &native.frames, Time::ZERO, Time::NEVER);
        assert_eq!(bench.frames(first, 0.0, f64::INFINITY).unwrap(), frames);
        assert!(bench.combine(first, &values[1..]).is_err());
        let explained: Value =
            serde_json::from_str(&bench.explain(first, &values).unwrap()).unwrap();
        assert!(explained["causes"].is_array() && explained["calls"] == json!([]));
        assert!(bench.explain(first, &values[1..]).is_err());
    }

    #[test]
    fn a_run_rests_after_each_slice_and_is_forgotten() {
        let long = CELL.replace("\"3 s\"", "\"500 s\"");
        let mut bench = Bench::default();
        let run = bench.begin(written(&long), 0, Detail::Tails).unwrap();
        let (first, second) = (bench.advance(run).unwrap(), bench.advance(run).unwrap());
        assert!(0.0 < first && first < second && second < 500.0);
        assert!(!bench.is_over(run) && bench.values(run).is_err());
        bench.end(run);
        assert!(bench.advance(run).is_err());
    }

    #[test]
    fn settings_replace_values_of_the_text() {
        let with = |settings: &'static str| {
            Bench::check(Written {
                settings: settings.as_bytes(),
                ..written(CELL)
            })
        };
        let answer: Value =
            serde_json::from_str(&with("seed=7\nreplications = 2").unwrap()).unwrap();
        assert_eq!(
            (&answer["seed"], &answer["replications"]),
            (&json!(7), &json!(2))
        );
        assert!(with("seed=x").unwrap_err().contains(r#""setting":"seed""#));
        assert!(with("seed").unwrap_err().contains("key.path=value"));
    }

    #[test]
    fn problems_say_line_and_key() {
        let wrong = CELL.replace("802.11b", "802.11z");
        let answer = Bench::check(written(&wrong)).unwrap_err();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["problems"][0]["line"], 6);
        assert_eq!(answer["problems"][0]["path"], "cell.phy");
        assert!(Bench::check(written(CELL)).is_ok());
        let enforced = format!("{CELL}[gateway]\nwan = \"eth0\"\n");
        let answer = Bench::check(written(&enforced)).unwrap_err();
        assert!(
            answer.contains(r#""path":"gateway","message":"is enforced"#),
            "{answer}"
        );
    }
}
