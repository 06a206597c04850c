//! Explanations of results, as JSON.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

/// Explains a result: where packets wait, what limits each flow, and the causes that may apply.
///
/// `scenario` is the JSON of a normalised scenario, and `answer` is the result object of `--json`.
#[pyfunction]
pub fn explain(scenario: &str, answer: &str) -> PyResult<String> {
    let [scenario, answer] = [("scenario", scenario), ("answer", answer)].map(|(name, text)| {
        serde_json::from_str::<Value>(text)
            .map_err(|error| PyValueError::new_err(format!("{name}: not JSON: {error}")))
    });
    Ok(lasthop_explain::explain(&scenario?, &answer?).to_string())
}

/// Returns the table of causes, as JSON.
#[pyfunction]
pub fn explain_rules() -> String {
    lasthop_explain::rules().to_string()
}
