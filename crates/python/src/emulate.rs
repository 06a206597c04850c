//! Runs the emulator without holding the GIL.

use lasthop_emulator::{Descriptors, EmulatorError, run};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;

use crate::scenario::Scenario;

/// Emulates a scenario in real time between descriptors of this process: that of the servers and those
/// of the stations, one IP packet a read or write; stops when `stop` becomes readable, and raises
/// KeyboardInterrupt then. Returns lists of items as JSON.
#[pyfunction]
pub fn emulate(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    nodes: Vec<i32>,
    stop: i32,
) -> PyResult<String> {
    let scenario = scenario.get().parsed();
    let measured = py.detach(|| run(&scenario, &Descriptors::of_this_process(&nodes, stop)?));
    match measured {
        Ok(lists) => Ok(lists.to_string()),
        Err(error @ EmulatorError::Stopped) => Err(PyKeyboardInterrupt::new_err(error.to_string())),
        Err(error) => Err(PyOSError::new_err(error.to_string())),
    }
}
