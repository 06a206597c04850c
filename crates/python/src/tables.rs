//! Tables of a scenario file that describe what Linux enforces: `[gateway]` and `[interface]`.

#[cfg(feature = "enforce")]
pub use lasthop_enforce::{Tables, head_to_json, parse_scenario, schema, to_json_text};
#[cfg(feature = "enforce")]
use pyo3::prelude::*;

#[cfg(not(feature = "enforce"))]
pub use crate::absent::enforce::{
    Tables, check_gateway, check_interface, head_to_json, parse_scenario, schema, to_json_text,
};
#[cfg(feature = "enforce")]
use crate::scenario::{Named, Setting, format_named, known, refused};

/// Checks the gateway of a scenario file and returns it, as JSON.
#[cfg(feature = "enforce")]
#[pyfunction]
pub fn check_gateway(
    py: Python<'_>,
    content: &[u8],
    format: &str,
    source: &str,
    settings: Vec<Setting>,
    files: Vec<Named>,
) -> PyResult<String> {
    let format = format_named(format)?;
    let files = known(files);
    let gateway = py
        .detach(|| lasthop_enforce::parse_gateway(content, format, source, &settings, &files))
        .map_err(refused)?;
    Ok(gateway.to_json().to_string())
}

/// Checks the interface of a scenario file and returns it, as JSON.
#[cfg(feature = "enforce")]
#[pyfunction]
pub fn check_interface(
    py: Python<'_>,
    content: &[u8],
    format: &str,
    source: &str,
    settings: Vec<Setting>,
    files: Vec<Named>,
) -> PyResult<String> {
    let format = format_named(format)?;
    let files = known(files);
    let interface = py
        .detach(|| lasthop_enforce::parse_interface(content, format, source, &settings, &files))
        .map_err(refused)?;
    Ok(interface.to_json().to_string())
}
