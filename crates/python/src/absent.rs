//! Functions and classes that replace those of features that this build does not have. Each
//! replacement raises `UserError`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::simulate::python::UserError;

fn absent<T>(feature: &str) -> PyResult<T> {
    let message = format!("{feature}: not part of this build of lasthop");
    Err(UserError::new_err(message))
}

/// Defines functions that raise `UserError`. The error names the missing feature.
macro_rules! absent {
    ($($name:ident: $feature:literal),*) => {$(
        /// Raises `UserError`, because this build does not have the feature.
        #[pyfunction]
        #[pyo3(signature = (*_arguments, **_keywords))]
        pub fn $name(
            _arguments: Bound<'_, PyTuple>,
            _keywords: Option<Bound<'_, PyDict>>,
        ) -> PyResult<()> {
            absent($feature)
        }
    )*};
}

/// Replacement for the emulation.
#[cfg(not(feature = "emulator"))]
pub mod emulate {
    use super::*;

    absent! { emulate: "emulation" }
}

/// Replacement for the relay.
#[cfg(not(feature = "relay"))]
pub mod relay {
    use super::*;

    absent! { new_relay_key: "relay" }

    /// Raises `UserError`, because this build has no relay.
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

/// Replacement for the tables `[gateway]` and `[interface]`: a file with one of these tables is
/// refused.
#[cfg(not(feature = "enforce"))]
pub mod enforce {
    use lasthop_engine::notation::setting::Json;
    use lasthop_engine::scenario::{ExtensionTable, Scenario};

    use super::*;

    absent! { check_gateway: "gateway", check_interface: "queue of an interface" }

    /// The tables of a scenario file, of which this build supports none.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Tables;

    pub static EXTENSION: ExtensionTable<Tables> =
        ExtensionTable::new(Vec::new, |_, _| {}, |_, _| Ok(Tables));

    /// Returns the normalised scenario as JSON.
    pub fn to_json_text(scenario: &Scenario, _tables: &Tables) -> String {
        scenario.to_json_text()
    }

    /// Returns the normalised scenario as JSON, with null in place of its long lists.
    pub fn head_to_json(scenario: &Scenario, _tables: &Tables) -> Json {
        scenario.head_to_json()
    }
}
