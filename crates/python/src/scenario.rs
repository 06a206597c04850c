//! Text in, checked scenario out.

use lasthop_engine::scenario::{self, Format, Problem, Scenario, WHOLE_FILE};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::import_exception!(lasthop.errors, ScenarioError);

/// Checks a scenario and returns it normalised, as JSON.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    content: &[u8],
    format: &str,
    source: &str,
    settings: Vec<(String, String)>,
) -> PyResult<String> {
    Ok(parse(py, content, format, source, &settings)?
        .to_json()
        .to_string())
}

/// Checks the gateway of a scenario file and returns it, as JSON.
#[pyfunction]
pub fn check_gateway(
    py: Python<'_>,
    content: &[u8],
    format: &str,
    source: &str,
    settings: Vec<(String, String)>,
) -> PyResult<String> {
    let format = format_named(format)?;
    let gateway = py
        .detach(|| scenario::parse_gateway(content, format, source, &settings))
        .map_err(refused)?;
    Ok(gateway.to_json().to_string())
}

/// The JSON Schema of scenario files, as JSON.
#[pyfunction]
pub fn schema() -> String {
    scenario::schema().to_string()
}

/// Parses with the GIL released; every problem found becomes one `ScenarioError`.
pub fn parse(
    py: Python<'_>,
    content: &[u8],
    format: &str,
    source: &str,
    settings: &[(String, String)],
) -> PyResult<Scenario> {
    let format = format_named(format)?;
    py.detach(|| scenario::parse_bytes(content, format, source, settings))
        .map_err(refused)
}

fn format_named(name: &str) -> PyResult<Format> {
    match name {
        "toml" => Ok(Format::Toml),
        "json" => Ok(Format::Json),
        other => Err(PyValueError::new_err(format!(
            "format {other:?} is not toml or json"
        ))),
    }
}

fn refused(problems: Vec<Problem>) -> PyErr {
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
