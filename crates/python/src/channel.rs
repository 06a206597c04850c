//! Probability that noise destroys a frame.

use lasthop_engine::channel;
use lasthop_engine::mac;
use lasthop_engine::scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the probability that noise destroys a frame of `bytes`, which include the MAC header and
/// FCS. [-]
#[pyfunction]
pub fn frame_error(rate_bps: u64, bytes: u32, snr_db: f64) -> f64 {
    channel::frame_error(rate_bps, bytes, snr_db)
}

/// Returns the probability that noise destroys an MPDU of `bytes` with this MCS and number of
/// streams. All streams share the signal-to-noise ratio `snr_db`. [-]
#[pyfunction]
pub fn mcs_frame_error(mcs: u32, streams: u32, bytes: u32, snr_db: f64) -> PyResult<f64> {
    let unknown = || PyValueError::new_err(format!("no MCS {mcs}"));
    mac::mcs_frame_error(mcs, streams, bytes, snr_db).ok_or_else(unknown)
}

/// Returns the data rates of a physical layer, the slowest first. [bit/s]
#[pyfunction]
pub fn data_rates(phy: &str) -> PyResult<Vec<u64>> {
    let unknown = || PyValueError::new_err(format!("no physical layer \"{phy}\""));
    let rates = scenario::data_rates(phy).ok_or_else(unknown)?;
    Ok(rates.to_vec())
}
