//! The trace of a BBR v3 connection, for the comparison with an independent implementation.

use std::ops::ControlFlow;

use lasthop_engine::tcp::take_bbr3_trace;
use pyo3::prelude::*;

use crate::scenario::Scenario;
use crate::simulate::python::EngineError;

/// Simulates a scenario. Returns the lines of the trace of its first BBR v3 connection. Only one call
/// at a time is supported.
#[pyfunction]
pub fn trace_bbr3(py: Python<'_>, scenario: &Bound<'_, Scenario>) -> PyResult<Vec<String>> {
    let scenario = scenario.get().parsed();
    py.detach(|| {
        take_bbr3_trace();
        lasthop_engine::run(&scenario, 1, &|_| ControlFlow::Continue(()))?;
        Ok(take_bbr3_trace())
    })
    .map_err(|error: lasthop_engine::EngineError| EngineError::new_err(error.to_string()))
}
