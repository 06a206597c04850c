//! Traffic of the hosts in an emulation: the connections of web sources, and the number of connections of
//! multi-connection TCP.

use lasthop_engine::control::multi_connection::{self, Falls, Seen};
use lasthop_engine::live;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::scenario::Scenario;

/// Connections of a web source in order, as in the first replication of a simulation.
///
/// Each connection has its start [s], the length of the request [bytes], the time from the
/// request's arrival to the response [s], and the length of the response [bytes]. `flow` is the
/// index of the source. The index of another kind of flow raises ValueError.
#[pyclass(module = "lasthop._core")]
pub struct Transactions(live::Transactions);

#[pymethods]
impl Transactions {
    #[new]
    fn new(scenario: &Bound<'_, Scenario>, flow: usize) -> PyResult<Transactions> {
        let transactions = live::Transactions::new(&scenario.get().parsed(), flow);
        let message = || PyValueError::new_err(format!("flow: {flow} is no web source"));
        transactions.map(Transactions).ok_or_else(message)
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self) -> Option<(f64, u32, f64, u32)> {
        let (at, asked) = self.0.next()?;
        Some((
            at.seconds(),
            asked.request_bytes,
            asked.server_delay.seconds(),
            asked.response_bytes,
        ))
    }
}

/// Controller of the number of TCP connections that a user of a CSMA network keeps open (paper 001,
/// section 5). `flow` is the index of the user among the network's flows. An index without a user
/// raises ValueError.
#[pyclass(module = "lasthop._core")]
pub struct MultiConnection(multi_connection::MultiConnection);

#[pymethods]
impl MultiConnection {
    #[new]
    fn new(scenario: &Bound<'_, Scenario>, flow: usize) -> PyResult<MultiConnection> {
        let parsed = scenario.get().parsed();
        let rule = parsed.csma.as_ref().and_then(|csma| {
            let user = csma.flows.get(flow)?;
            Some(user.rule(csma))
        });
        let message = || PyValueError::new_err(format!("flow: {flow} is no user"));
        rule.map(MultiConnection).ok_or_else(message)
    }

    /// Returns the new number of connections. It depends on the mean round-trip time since the last
    /// step, if known [s], and on the total rate of the connections [packets/s].
    #[pyo3(signature = (rtt_s, rate_pps))]
    fn step(&mut self, rtt_s: Option<f64>, rate_pps: f64) -> u32 {
        self.0.step(Seen {
            rtt_s,
            rate_pps,
            falls: Falls::default(),
        })
    }
}
