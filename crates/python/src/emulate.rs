//! Runs the emulator without holding the GIL.

use lasthop_emulator::{Descriptors, EmulatorError, Timing, run};
use lasthop_engine::live::{At, Place};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;

use crate::scenario::Scenario;

/// Emulates a scenario in real time, or in `simulated_time` in a kernel that has it, between descriptors of this
/// process, one for each node: the servers, the stations, sources and sinks of flows between wired nodes, then both
/// hosts of each flow in `flows`; one IP packet a write, one a read or several of TCP, behind a `virtio_net_hdr` each;
/// if it `merges`, segments that are due at once are written as one. Programs run at stations and at hosts of flows,
/// each given by its name and index. With `beside`, the nodes beside it, there is a way to the outside, which is the
/// last node. When `stop` becomes readable the run ends there if there is a byte, else KeyboardInterrupt is raised. A
/// capture of the air with `record.frames` frames at most goes into the file `capture`. Returns lists of items as
/// JSON, and of the capture its `frames` and `error`.
#[pyfunction]
#[pyo3(signature = (scenario, nodes, stop, stations, flows, beside = None, capture = None, merges = false, simulated_time = false))]
#[allow(clippy::too_many_arguments, reason = "they are Python's")]
pub fn emulate(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    nodes: Vec<i32>,
    stop: i32,
    stations: Vec<(String, usize)>,
    flows: Vec<(String, usize)>,
    beside: Option<Vec<u32>>,
    capture: Option<i32>,
    merges: bool,
    simulated_time: bool,
) -> PyResult<String> {
    let scenario = scenario.get().parsed();
    let stations = stations.into_iter();
    let stations = stations.map(|(name, index)| (name, At::Station(index)));
    let flows = flows
        .into_iter()
        .map(|(name, index)| (name, At::Source(index)));
    let places: Vec<Place> = stations
        .chain(flows)
        .map(|(name, at)| Place { name, at })
        .collect();
    let timing = if simulated_time {
        Timing::Simulated
    } else {
        Timing::Real
    };
    let measured = py.detach(|| {
        run(
            &scenario,
            &places,
            beside.as_deref(),
            Descriptors::of_this_process(&nodes, stop, capture)?,
            merges,
            timing,
        )
    });
    match measured {
        Ok(lists) => Ok(lists.to_string()),
        Err(error @ EmulatorError::Stopped) => Err(PyKeyboardInterrupt::new_err(error.to_string())),
        Err(error) => Err(PyOSError::new_err(error.to_string())),
    }
}
