//! A relay that runs on a separate thread.

use std::sync::Mutex;
use std::time::Duration;

use lasthop_relay::{RelayError, new_key};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// A relay of the multi-connection layer, on its own thread.
///
/// `settings` are JSON. Invalid settings raise ValueError. If the relay cannot listen at an
/// address, OSError is raised.
#[pyclass(module = "lasthop._core")]
pub struct Relay(Mutex<lasthop_relay::Relay>);

#[pymethods]
impl Relay {
    #[new]
    fn new(settings: &str) -> PyResult<Relay> {
        let started = lasthop_relay::Relay::start(settings);
        let relay = started.map_err(|error| match error {
            RelayError::Settings(text) => PyValueError::new_err(text),
            other => PyOSError::new_err(other.to_string()),
        })?;
        Ok(Relay(Mutex::new(relay)))
    }

    /// Returns the addresses at which the relay listens: the address of a server, or a client's
    /// addresses for SOCKS, forwards and TPROXY.
    fn addresses(&self) -> PyResult<Vec<(String, u16)>> {
        let relay = self.held()?;
        let addresses = relay.addresses().iter();
        Ok(addresses
            .map(|at| (at.ip().to_string(), at.port()))
            .collect())
    }

    /// Returns the metrics of the relay as JSON; None after the relay has ended.
    fn metrics(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| Ok(self.held()?.metrics()))
    }

    /// Returns the next message of the relay, if there is one.
    fn note(&self) -> PyResult<Option<String>> {
        Ok(self.held()?.note(Duration::ZERO))
    }

    /// Returns whether the relay still runs.
    fn is_running(&self) -> PyResult<bool> {
        Ok(self.held()?.is_running())
    }

    /// Stops the relay and resets all streams.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            self.held()?.stop();
            Ok(())
        })
    }
}

impl Relay {
    fn held(&self) -> PyResult<std::sync::MutexGuard<'_, lasthop_relay::Relay>> {
        let held = self.0.lock();
        held.map_err(|_| PyOSError::new_err("the relay has failed"))
    }
}

/// Returns a new key for two relays: 32 random bytes in base 64.
#[pyfunction]
pub fn new_relay_key() -> PyResult<String> {
    new_key().map_err(|error| PyOSError::new_err(error.to_string()))
}
