//! Replacements for the names of the features that a build leaves out. Each raises `UserError`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::simulate::python::UserError;

type Arguments<'py> = Bound<'py, PyTuple>;

fn absent<T>(feature: &str) -> PyResult<T> {
    let message = format!("{feature}: not part of this build of lasthop");
    Err(UserError::new_err(message))
}

/// Emulation.
#[cfg(not(feature = "emulator"))]
pub mod emulate {
    use super::*;

    /// Raises `UserError`: this build has no such feature.
    #[pyfunction]
    #[pyo3(signature = (*_arguments, **_keywords))]
    pub fn emulate(
        _arguments: Arguments<'_>,
        _keywords: Option<Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        absent("emulation")
    }
}

/// The relay.
#[cfg(not(feature = "relay"))]
pub mod relay {
    use super::*;

    /// Raises `UserError`: this build has no such feature.
    #[pyfunction]
    #[pyo3(signature = (*_arguments, **_keywords))]
    pub fn new_relay_key(
        _arguments: Arguments<'_>,
        _keywords: Option<Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        absent("relay")
    }

    /// Raises `UserError`: this build has no relay.
    #[pyclass(module = "lasthop._core")]
    pub struct Relay;

    #[pymethods]
    impl Relay {
        #[new]
        fn new(_settings: &str) -> PyResult<Relay> {
            absent("relay")
        }
    }
}

/// Scenario files without the tables `[gateway]` and `[interface]`, which are refused.
#[cfg(not(feature = "enforce"))]
pub mod enforce {
    use lasthop_engine::notation::setting::Json;
    use lasthop_engine::scenario::{Companion, Files, Format, Problem, Scenario};

    use super::*;

    /// Raises `UserError`: this build has no such feature.
    #[pyfunction]
    #[pyo3(signature = (*_arguments, **_keywords))]
    pub fn check_gateway(
        _arguments: Arguments<'_>,
        _keywords: Option<Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        absent("gateway")
    }
    /// Raises `UserError`: this build has no such feature.
    #[pyfunction]
    #[pyo3(signature = (*_arguments, **_keywords))]
    pub fn check_interface(
        _arguments: Arguments<'_>,
        _keywords: Option<Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        absent("queue of an interface")
    }

    /// No table.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Tables;

    static NO_TABLES: Companion<Tables> = Companion::new(Vec::new, |_, _| {}, |_, _| Ok(Tables));

    /// Parses a scenario.
    ///
    /// # Errors
    /// All problems of the file.
    pub fn parse_scenario(
        bytes: &[u8],
        format: Format,
        source: &str,
        settings: &[(String, String)],
        files: &Files,
    ) -> Result<(Scenario, Tables), Vec<Problem>> {
        NO_TABLES.parse_beside(bytes, format, source, settings, files)
    }

    /// Returns the JSON Schema (2020-12) of scenario files.
    pub fn schema() -> Json {
        NO_TABLES.schema()
    }

    /// Returns the normalised scenario as JSON.
    pub fn to_json_text(scenario: &Scenario, _tables: &Tables) -> String {
        scenario.to_json_text()
    }

    /// Returns the normalised scenario with null instead of its long lists.
    pub fn head_to_json(scenario: &Scenario, _tables: &Tables) -> Json {
        scenario.head_to_json()
    }
}
