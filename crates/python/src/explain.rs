//! Explanations of results, as JSON.

use lasthop_explain::NotJson;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Explains a result: where packets wait, what limits each flow, and the causes that may apply.
///
/// `scenario` is the JSON of a normalised scenario, and `answer` is the result object of `--json`.
/// Ctrl-C stops the explanation.
#[pyfunction]
pub fn explain(py: Python<'_>, scenario: &str, answer: &str) -> PyResult<String> {
    let explanation = lasthop_explain::explain(scenario, answer, &mut || {
        py.check_signals().map_err(Stopped::Signal)
    });
    match explanation {
        Ok(explanation) => Ok(explanation.to_string()),
        Err(Stopped::Signal(error)) => Err(error),
        Err(Stopped::NotJson(error)) => Err(PyValueError::new_err(error.to_string())),
    }
}

/// Reason for which an explanation stopped.
enum Stopped {
    Signal(PyErr),
    NotJson(NotJson),
}

impl From<NotJson> for Stopped {
    fn from(error: NotJson) -> Stopped {
        Stopped::NotJson(error)
    }
}

/// Returns the table of causes, as JSON.
#[pyfunction]
pub fn explain_rules() -> String {
    lasthop_explain::rules().to_string()
}
