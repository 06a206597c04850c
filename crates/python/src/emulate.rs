//! Runs the emulator without holding the GIL.

use lasthop_emulator::{Descriptors, EmulatorError, Timing, run};
use lasthop_engine::live::{At, Place};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;

use crate::scenario::Scenario;

/// Emulates a scenario in real time, or in `simulated_time` in a kernel that supports it.
///
/// `nodes` are descriptors of this process, one per node: the servers, the stations, sources and
/// sinks of flows between wired nodes, then both hosts of each flow in `flows`. A write to a descriptor transfers one
/// IP packet. A read from it transfers one packet or several TCP segments. A `virtio_net_hdr` precedes each packet.
/// With `merges`, segments that are due at the same instant are written as one packet. `stations` and `flows` are the
/// stations and the flows with programs, each as a pair of name and index. The programs of a flow run at its two hosts.
/// With `neighbours`, a list of node indices, the last node is the world outside the emulated network. Packets between
/// this node and the nodes in the list bypass the network. When `stop` becomes readable with a
/// byte after the warm-up, the run ends with a result. Before the end of the warm-up, or at the end of file,
/// KeyboardInterrupt is raised. A capture of the air with at most `record.frames` frames is written
/// to the file with the descriptor `capture`. Returns lists of items as JSON, and the `frames` and `error` of the
/// capture.
#[pyfunction]
#[pyo3(signature = (scenario, nodes, stop, stations, flows, neighbours = None, capture = None, merges = false, simulated_time = false))]
#[allow(clippy::too_many_arguments, reason = "they are Python's")]
pub fn emulate(
    py: Python<'_>,
    scenario: &Bound<'_, Scenario>,
    nodes: Vec<i32>,
    stop: i32,
    stations: Vec<(String, usize)>,
    flows: Vec<(String, usize)>,
    neighbours: Option<Vec<u32>>,
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
            neighbours.as_deref(),
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
