//! What an emulation's hosts ask of the engine: connections of web sources, numbers of connections of users.

use lasthop_engine::control::multi_connection::{self, Falls, Seen};
use lasthop_engine::live;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::scenario::Scenario;

/// The connections that a web source asks for, in order, as in the first replication of a simulation: instant at
/// which each begins [s], length of the request [bytes], time from its arrival to the response [s], length of the
/// response [bytes]. `flow` is the source's index; ValueError if it is none.
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

/// How many TCP connections a user of a conflict graph keeps open (paper 001, section 5). `flow` is the user's
/// index; ValueError if there is none.
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

    /// The number from now on, by the mean round-trip time since the last step [s], if one was seen, and by what the
    /// connections delivered together [packets/s].
    #[pyo3(signature = (rtt_s, rate_pps))]
    fn step(&mut self, rtt_s: Option<f64>, rate_pps: f64) -> u32 {
        self.0.step(Seen {
            rtt_s,
            rate_pps,
            falls: Falls::default(),
        })
    }
}
