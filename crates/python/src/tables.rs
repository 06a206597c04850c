//! The tables `[gateway]` and `[interface]` of a scenario file, whose settings lasthop applies to
//! Linux.

#[cfg(feature = "enforce")]
pub use lasthop_enforce::{EXTENSION, Tables, head_to_json, to_json_text};
#[cfg(feature = "enforce")]
use lasthop_enforce::{NEEDS_GATEWAY, NEEDS_INTERFACE};
#[cfg(feature = "enforce")]
use lasthop_engine::scenario::Needed;
#[cfg(feature = "enforce")]
use pyo3::prelude::*;

#[cfg(not(feature = "enforce"))]
pub use crate::absent::enforce::{
    EXTENSION, Tables, check_gateway, check_interface, head_to_json, to_json_text,
};
#[cfg(feature = "enforce")]
use crate::scenario::{Named, Setting, format_named, known, refused};

/// Checks the gateway of a scenario file and returns it as JSON.
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
    check(
        py,
        NEEDS_GATEWAY,
        (content, format, source),
        &settings,
        files,
    )
}

/// Checks the interface of a scenario file and returns it as JSON.
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
    check(
        py,
        NEEDS_INTERFACE,
        (content, format, source),
        &settings,
        files,
    )
}

#[cfg(feature = "enforce")]
fn check(
    py: Python<'_>,
    needed: Needed,
    (content, format, source): (&[u8], &str, &str),
    settings: &[Setting],
    files: Vec<Named>,
) -> PyResult<String> {
    let format = format_named(format)?;
    let files = known(files);
    let tables = py
        .detach(|| EXTENSION.parse(needed, content, format, source, settings, &files))
        .map_err(refused)?;
    let mut tables = tables.to_json().filter(|(key, _)| *key == needed.key);
    Ok(tables
        .next()
        .map_or_else(String::new, |(_, table)| table.to_string()))
}
