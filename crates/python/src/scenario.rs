//! Scenarios parsed and checked from the text of a file.

use std::borrow::Cow;
use std::sync::Arc;

use lasthop_engine::app::Transport;
use lasthop_engine::scenario::{self, Files, Format, LongList, Problem, WHOLE_FILE};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::tables::{EXTENSION, Tables, head_to_json, to_json_text};

pyo3::import_exception!(lasthop.errors, ScenarioError);

/// A key path, and the value that replaces the value in the file.
pub type Setting = (String, String);

/// A parsed scenario, and the tables `[gateway]` and `[interface]` of its file.
pub type Read = (scenario::Scenario, Tables);

/// A file to which the scenario refers: its name, its content if the file can be read, and otherwise the reason why
/// not.
pub type Named = (String, Option<Vec<u8>>, String);

/// Arguments of a scenario: text, format, name in messages, overrides, and the files to which the text refers.
type Origin<'a> = (Cow<'a, [u8]>, &'a str, &'a str, &'a [Setting], Vec<Named>);

/// A checked scenario: the text, overrides and files, and the scenario parsed from them.
///
/// A pickle contains the text and the files. When the pickle is loaded, the text and the files are checked again.
#[pyclass(frozen, module = "lasthop._core")]
pub struct Scenario {
    content: Vec<u8>,
    format: String,
    source: String,
    settings: Vec<Setting>,
    files: Files,
    parsed: Arc<scenario::Scenario>,
    tables: Tables,
}

impl Scenario {
    /// Returns the parsed scenario for use in a thread without the GIL.
    pub fn parsed(&self) -> Arc<scenario::Scenario> {
        Arc::clone(&self.parsed)
    }

    /// Parses the text again with additional overrides.
    ///
    /// # Errors
    /// Returns a `ScenarioError` with all problems of the text.
    pub fn read_with(&self, more: &[Setting]) -> PyResult<Read> {
        self.parse_with(more).map_err(refused)
    }

    /// Parses the text again with additional overrides, as `read_with` does.
    ///
    /// # Errors
    /// Returns all problems of the text.
    pub fn parse_with(&self, more: &[Setting]) -> Result<Read, Vec<Problem>> {
        // the constructor has accepted the format
        let format = known_format(&self.format).unwrap_or(Format::Toml);
        let settings = [&self.settings[..], more].concat();
        EXTENSION.parse_with_scenario(&self.content, format, &self.source, &settings, &self.files)
    }

    /// Returns whether `read` differs from this scenario in the tables that simulations do not use.
    pub fn differs_beside(&self, read: &Read) -> bool {
        self.tables != read.1
    }
}

#[pymethods]
impl Scenario {
    #[new]
    fn new(
        py: Python<'_>,
        content: Vec<u8>,
        format: String,
        source: String,
        settings: Vec<Setting>,
        files: Vec<Named>,
    ) -> PyResult<Scenario> {
        let kind = format_named(&format)?;
        let files = known(files);
        let (parsed, tables) = py
            .detach(|| EXTENSION.parse_with_scenario(&content, kind, &source, &settings, &files))
            .map_err(refused)?;
        Ok(Scenario {
            content,
            format,
            source,
            settings,
            files,
            parsed: Arc::new(parsed),
            tables,
        })
    }

    /// Text without `settings`.
    #[getter]
    fn content(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.content)
    }

    /// Format: `toml` or `json`.
    #[getter]
    fn format(&self) -> &str {
        &self.format
    }

    /// Name of the file, or another name for messages.
    #[getter]
    fn source(&self) -> &str {
        &self.source
    }

    /// Files to which the text or an override refers. Each has its content, or the reason why the file cannot be read.
    #[getter]
    fn files(&self) -> Vec<Named> {
        let each = self.files.iter();
        each.map(|(name, file)| match file {
            Ok(bytes) => (name.clone(), Some(bytes.clone()), String::new()),
            Err(why) => (name.clone(), None, why.clone()),
        })
        .collect()
    }

    /// Overrides, which replace values of the text, in order.
    #[getter]
    fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Returns the normalised scenario with all defaults, and the tables that Linux enforces.
    fn to_json(&self) -> String {
        to_json_text(&self.parsed, &self.tables)
    }

    /// Returns the normalised scenario, with null in place of its lists of stations, links and
    /// flows.
    fn head_to_json(&self) -> String {
        head_to_json(&self.parsed, &self.tables).to_string()
    }

    /// Returns the names of the lists that `head_to_json` leaves out, each with its number of rows.
    fn long_lists(&self) -> Vec<(&'static str, usize)> {
        let lists = LongList::ALL.into_iter();
        lists
            .map(|list| (list.name(), self.parsed.count_of(list)))
            .collect()
    }

    /// Returns the rows from `first` up to, but not including, `last` of a long list, as a JSON object. Its key `rows`
    /// has the rows, with an index in place of each inner table. Its key `shared` has the inner tables, as one list per
    /// key.
    fn rows_to_json(
        &self,
        py: Python<'_>,
        list: &str,
        first: usize,
        last: usize,
    ) -> PyResult<String> {
        let known = LongList::ALL.into_iter().find(|other| other.name() == list);
        let list = known.ok_or_else(|| PyValueError::new_err(format!("no long list {list:?}")))?;
        let last = last.min(self.parsed.count_of(list));
        let stretch = first.min(last)..last;
        Ok(py.detach(|| self.parsed.rows_to_json(list, stretch).to_string()))
    }

    /// Number of independent replications.
    #[getter]
    fn replications(&self) -> u32 {
        self.parsed.replications
    }

    /// Simulated time of all replications. [s]
    #[getter]
    fn length_s(&self) -> f64 {
        self.parsed.duration.seconds() * f64::from(self.parsed.replications)
    }

    /// Returns the number of time series of the first replication, and the number of samples of each.
    fn sampled(&self, py: Python<'_>) -> PyResult<(usize, u64)> {
        py.detach(|| lasthop_engine::sampled(&self.parsed))
            .map_err(|error| crate::simulate::python::UserError::new_err(error.to_string()))
    }

    /// Returns the web flows, each with its number of new connections per second.
    fn web(&self) -> Vec<(String, f64)> {
        let flows = self.parsed.flows.iter();
        flows
            .filter_map(|flow| match &flow.transport {
                Transport::Web(web) => Some((flow.name.clone(), web.connections_per_s)),
                _ => None,
            })
            .collect()
    }

    /// Returns the kind of network, and the TCP defaults that depend on this kind, as pairs of key and value.
    fn tcp_defaults(&self) -> (&'static str, Vec<(&'static str, String)>) {
        let defaults = &self.parsed.tcp_defaults;
        (defaults.network, defaults.values.clone())
    }

    /// Returns the flows over a conflict graph as a JSON list without their routes.
    fn users_to_json(&self) -> String {
        self.parsed.users_to_json().to_string()
    }

    /// Returns the arguments with which a pickle creates the scenario.
    fn __getnewargs__(&self) -> Origin<'_> {
        let content = Cow::Borrowed(self.content.as_slice());
        (
            content,
            &self.format,
            &self.source,
            &self.settings,
            self.files(),
        )
    }
}

/// Returns the units of values. Each unit has a name, the suffix of its SI unit in the names of keys, and its size in
/// this SI unit as a numerator and a denominator.
#[pyfunction]
pub fn units() -> Vec<(&'static str, &'static str, u64, u64)> {
    scenario::units()
}

/// Returns the names of the files to which a scenario refers. The overrides `settings` replace values of its text.
#[pyfunction]
pub fn files_named(content: &[u8], format: &str, settings: Vec<Setting>) -> PyResult<Vec<String>> {
    let format = format_named(format)?;
    Ok(scenario::files_named(content, format, &settings))
}

/// Returns the JSON Schema of scenario files.
#[pyfunction]
pub fn schema() -> String {
    EXTENSION.schema().to_string()
}

pub fn known(files: Vec<Named>) -> Files {
    let each = files.into_iter();
    each.map(|(name, content, why)| (name, content.ok_or(why)))
        .collect()
}

pub fn format_named(name: &str) -> PyResult<Format> {
    let message = || PyValueError::new_err(format!("format {name:?} is not toml or json"));
    known_format(name).ok_or_else(message)
}

fn known_format(name: &str) -> Option<Format> {
    match name {
        "toml" => Some(Format::Toml),
        "json" => Some(Format::Json),
        _ => None,
    }
}

/// Returns a `ScenarioError` that contains all problems.
pub fn refused(problems: Vec<Problem>) -> PyErr {
    let rows: Vec<_> = problems
        .into_iter()
        .map(|p| {
            let path = if p.path == WHOLE_FILE {
                String::new()
            } else {
                p.path
            };
            (p.source, p.line, path, p.message, p.hint, p.setting)
        })
        .collect();
    ScenarioError::new_err((rows,))
}
