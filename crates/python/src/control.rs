//! Controllers of the engine for whoever measures and sets on a live network.

use lasthop_engine::control::{self, Observation, Step, Thresholds, WceSettings};
use lasthop_engine::kernel::time::{Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

// the signature below must show its defaults as numbers
const _: () = assert!(WceSettings::MAX_BPS == 6_000_000 && WceSettings::INTERVAL.0 == 100_000_000);

/// The wireless capacity estimator of paper 002, section 4.2.1: from ping to ping a rate C just
/// under the capacity of a WLAN.
///
/// Call `step` at least once every `interval_s`, with the round-trip time of a ping that did not pass
/// the bottleneck, or with None when nothing new is known; silence holds C. Steps that are not given
/// follow from `max_bps` and `interval_s`. Settings that make no sense raise ValueError.
#[pyclass(module = "lasthop._core")]
pub struct Wce {
    wce: control::Wce,
    last: Time,
    last_step: Option<Step>,
}

#[pymethods]
impl Wce {
    #[new]
    #[pyo3(signature = (
        *,
        max_bps = 6_000_000,
        min_bps = None,
        interval_s = 0.1,
        low_s = None,
        threshold_s = None,
        high_s = None,
        increase_bps = None,
        decrease_bps = None,
        speed_up = None,
        back_off = None,
        timeout_s = None,
    ))]
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn new(
        max_bps: u64,
        min_bps: Option<u64>,
        interval_s: f64,
        low_s: Option<f64>,
        threshold_s: Option<f64>,
        high_s: Option<f64>,
        increase_bps: Option<u64>,
        decrease_bps: Option<u64>,
        speed_up: Option<f64>,
        back_off: Option<f64>,
        timeout_s: Option<f64>,
    ) -> PyResult<Wce> {
        let usual = WceSettings::new(max_bps, span("interval_s", interval_s)?);
        let span_or = |name, given: Option<f64>, usual| {
            given.map_or(Ok(usual), |seconds| span(name, seconds))
        };
        let thresholds = Thresholds {
            low: span_or("low_s", low_s, usual.thresholds.low)?,
            threshold: span_or("threshold_s", threshold_s, usual.thresholds.threshold)?,
            high: span_or("high_s", high_s, usual.thresholds.high)?,
        };
        let settings = WceSettings {
            min_bps: min_bps.unwrap_or(usual.min_bps),
            thresholds,
            increase_bps: increase_bps.unwrap_or(usual.increase_bps),
            decrease_bps: decrease_bps.unwrap_or(usual.decrease_bps),
            speed_up: speed_up.unwrap_or(usual.speed_up),
            back_off: back_off.unwrap_or(usual.back_off),
            timeout: span_or("timeout_s", timeout_s, usual.timeout)?,
            ..usual
        };
        let wce = control::Wce::new(settings);
        let wce = wce.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Wce {
            wce,
            last: Time::ZERO,
            last_step: None,
        })
    }

    /// Adapts C to what is known at `now_s` of a ping, and returns it. [bit/s]
    #[pyo3(signature = (now_s, rtt_s))]
    fn step(&mut self, now_s: f64, rtt_s: Option<f64>) -> PyResult<u64> {
        let at = Time::ZERO + span("now_s", now_s)?;
        if at < self.last {
            let last = self.last.seconds();
            let message = format!("now_s: {now_s} is before the last step, {last}");
            return Err(PyValueError::new_err(message));
        }
        let rtt = rtt_s.map(|seconds| span("rtt_s", seconds)).transpose()?;
        self.last = at;
        self.last_step = Some(self.wce.step(Observation { at, rtt }));
        Ok(self.wce.capacity_bps())
    }

    /// C. [bit/s]
    #[getter]
    fn capacity_bps(&self) -> u64 {
        self.wce.capacity_bps()
    }

    /// What the last step did: "hold", "speed up", "increase", "decrease", "back off" or "return".
    #[getter]
    fn last_step(&self) -> Option<&'static str> {
        self.last_step.map(|step| match step {
            Step::Hold => "hold",
            Step::SpeedUp => "speed up",
            Step::Increase => "increase",
            Step::Decrease => "decrease",
            Step::BackOff => "back off",
            Step::Return => "return",
        })
    }

    /// The base round-trip time, once it is known. [s]
    #[getter]
    fn base_rtt_s(&self) -> Option<f64> {
        self.wce.base_rtt().map(Span::seconds)
    }

    /// The three thresholds for the present base round-trip time. [s]
    #[getter]
    fn thresholds_s(&self) -> (f64, f64, f64) {
        let now = self.wce.thresholds();
        (
            now.low.seconds(),
            now.threshold.seconds(),
            now.high.seconds(),
        )
    }

    /// Overshoot [bit/s], longest queueing delay [s] and stability margin [-] of the swing around a
    /// WLAN of this capacity.
    fn cycle(&self, capacity_bps: u64) -> (f64, f64, f64) {
        let cycle = self.wce.settings().cycle(capacity_bps);
        (cycle.overshoot_bps, cycle.queueing_s, cycle.margin)
    }
}

/// Longest time that makes sense here, so that sums stay far from overflow. [s]
const LONGEST_S: f64 = 1e9;

fn span(name: &str, seconds: f64) -> PyResult<Span> {
    if (0.0..=LONGEST_S).contains(&seconds) {
        return Ok(Span::from_seconds(seconds));
    }
    let message = format!("{name}: {seconds} is not a time between 0 and {LONGEST_S:e} s");
    Err(PyValueError::new_err(message))
}
