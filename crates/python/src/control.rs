//! Controllers of the engine, for programs that measure and control a live network.

use lasthop_engine::control::{
    self, Capacity, Observation, Probe, RoundTrip, SampleSource, Step, Thresholds, WceRule,
    WceSettings, WceSettingsError,
};
use lasthop_engine::kernel::streams::Streams;
use lasthop_engine::kernel::time::{Span, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

// the signatures that Python shows repeat these defaults as numbers, so that a changed default must be changed there
// too
const _: () = assert!(WceSettings::MAX_BPS == 6_000_000 && WceSettings::INTERVAL.0 == 100_000_000);

/// Settings of an estimator of C: bounds, thresholds and steps.
///
/// The defaults of thresholds and steps follow from `rule`, `max_bps` and `interval_s`. Inconsistent
/// settings raise ValueError.
#[pyclass(frozen, eq, module = "lasthop._core")]
#[derive(PartialEq)]
pub struct EstimatorSettings(WceSettings);

#[pymethods]
impl EstimatorSettings {
    #[new]
    #[pyo3(signature = (
        *,
        rule = "agreement",
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
    #[allow(clippy::too_many_arguments)] // each argument is a keyword in Python
    fn new(
        rule: &str,
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
    ) -> PyResult<EstimatorSettings> {
        let Some(rule) = WceRule::ALL.into_iter().find(|other| other.name() == rule) else {
            let message =
                format!("rule: {rule:?} is unknown; expected one of \"agreement\", \"paper\"");
            return Err(PyValueError::new_err(message));
        };
        let usual = WceSettings::new(rule, max_bps, span("interval_s", interval_s)?);
        let span_or = |name, seconds: Option<f64>, usual| {
            seconds.map_or(Ok(usual), |seconds| span(name, seconds))
        };
        let settings = WceSettings {
            min_bps: min_bps.unwrap_or(usual.min_bps),
            thresholds: Thresholds {
                low: span_or("low_s", low_s, usual.thresholds.low)?,
                threshold: span_or("threshold_s", threshold_s, usual.thresholds.threshold)?,
                high: span_or("high_s", high_s, usual.thresholds.high)?,
            },
            increase_bps: increase_bps.unwrap_or(usual.increase_bps),
            decrease_bps: decrease_bps.unwrap_or(usual.decrease_bps),
            speed_up: speed_up.unwrap_or(usual.speed_up),
            back_off: back_off.unwrap_or(usual.back_off),
            timeout: span_or("timeout_s", timeout_s, usual.timeout)?,
            ..usual
        };
        let checked = settings.checked().map_err(refused)?;
        Ok(EstimatorSettings(checked))
    }

    /// Algorithm that sets C: "agreement" or "paper".
    #[getter]
    fn rule(&self) -> &'static str {
        self.0.rule.name()
    }

    /// Largest C. [bit/s]
    #[getter]
    fn max_bps(&self) -> u64 {
        self.0.max_bps
    }

    /// Smallest C. [bit/s]
    #[getter]
    fn min_bps(&self) -> u64 {
        self.0.min_bps
    }

    /// Time between pings. [s]
    #[getter]
    fn interval_s(&self) -> f64 {
        self.0.interval.seconds()
    }

    /// Round-trip times at which the step of C changes, in ascending order. [s]
    #[getter]
    fn thresholds_s(&self) -> (f64, f64, f64) {
        seconds_of(self.0.thresholds)
    }

    /// Linear steps of C: step up, step down. [bit/s]
    #[getter]
    fn steps_bps(&self) -> (u64, u64) {
        (self.0.increase_bps, self.0.decrease_bps)
    }
}

impl EstimatorSettings {
    /// Returns the given settings, or settings made from `keywords`. `rule` is the default of the keyword `rule`.
    fn given(
        py: Python<'_>,
        settings: Option<&Bound<'_, EstimatorSettings>>,
        keywords: Option<&Bound<'_, PyDict>>,
        rule: WceRule,
    ) -> PyResult<WceSettings> {
        let given = PyDict::new(py);
        given.set_item("rule", rule.name())?;
        if let Some(keywords) = keywords {
            given.update(keywords.as_mapping())?;
        }
        match (settings, keywords) {
            (Some(settings), None) => Ok(settings.get().0),
            (Some(_), Some(_)) => Err(PyTypeError::new_err(
                "settings: expected no keywords in addition to settings",
            )),
            (None, _) => {
                let made = py.get_type::<EstimatorSettings>().call((), Some(&given))?;
                Ok(made.cast::<EstimatorSettings>()?.get().0)
            }
        }
    }
}

/// The wireless capacity estimator of paper 002, section 4.2.1. It adapts a rate C with each ping,
/// so that C stays just under the capacity of a WLAN.
///
/// Its settings are `EstimatorSettings` with rule "paper", or their keywords. Call `step` at least
/// once every `interval_s`. Pass the round-trip time of a ping that bypassed the bottleneck. If there is no new
/// round-trip time, pass None, which leaves C unchanged. Inconsistent settings raise ValueError.
#[pyclass(module = "lasthop._core")]
pub struct Wce {
    wce: control::Wce,
    clock: Clock,
    last_step: Option<Step>,
}

#[pymethods]
impl Wce {
    #[new]
    #[pyo3(signature = (settings = None, **keywords))]
    fn new(
        py: Python<'_>,
        settings: Option<&Bound<'_, EstimatorSettings>>,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Wce> {
        let settings = EstimatorSettings::given(py, settings, keywords, WceRule::Paper)?;
        if settings.rule != WceRule::Paper {
            let message = format!("rule: expected \"paper\", not {:?}", settings.rule.name());
            return Err(PyValueError::new_err(message));
        }
        Ok(Wce {
            wce: control::Wce::new(settings).map_err(refused)?,
            clock: Clock::default(),
            last_step: None,
        })
    }

    /// Adapts C to the newest round-trip time at `now_s`, and returns C. [bit/s]
    #[pyo3(signature = (now_s, rtt_s))]
    fn step(&mut self, now_s: f64, rtt_s: Option<f64>) -> PyResult<u64> {
        let at = self.clock.advance(now_s)?;
        let rtt = rtt_s.map(|seconds| span("rtt_s", seconds)).transpose()?;
        self.last_step = Some(self.wce.step(Observation { at, rtt }));
        Ok(self.wce.capacity_bps())
    }

    /// Present C. [bit/s]
    #[getter]
    fn capacity_bps(&self) -> u64 {
        self.wce.capacity_bps()
    }

    /// Kind of the last step of C: "hold", "speed up", "increase", "decrease", "back off" or "return".
    #[getter]
    fn last_step(&self) -> Option<&'static str> {
        self.last_step.map(Step::name)
    }

    /// Base round-trip time, once it is known. [s]
    #[getter]
    fn base_rtt_s(&self) -> Option<f64> {
        self.wce.base_rtt().map(Span::seconds)
    }

    /// Three thresholds for the present base round-trip time. [s]
    #[getter]
    fn thresholds_s(&self) -> (f64, f64, f64) {
        seconds_of(self.wce.thresholds())
    }

    /// Returns the overshoot [bit/s], longest queueing delay [s] and stability margin [-] of the oscillation of C
    /// around the capacity of a WLAN.
    fn cycle(&self, capacity_bps: u64) -> (f64, f64, f64) {
        let cycle = self.wce.settings().cycle(capacity_bps);
        (cycle.overshoot_bps, cycle.queueing_s, cycle.margin)
    }
}

/// Estimator of the rate C just under the capacity of a WLAN, from round-trip times to its
/// stations. It chooses the stations to ping, and adapts C to their replies.
///
/// Its settings are `EstimatorSettings`, or their keywords. Stations are numbers from 0. Call
/// `tick` every `interval_s`, and send the pings that `tick` and `answer` return. With rule
/// "agreement", C follows the median of the stations with traffic. With rule "paper", C follows
/// every reply, as in paper 002, section 4.2.1. All times are on one clock that never goes back.
/// Inconsistent settings raise ValueError.
#[pyclass(module = "lasthop._core")]
pub struct CapacityEstimator {
    capacity: Capacity,
    clock: Clock,
}

#[pymethods]
impl CapacityEstimator {
    #[new]
    #[pyo3(signature = (settings = None, *, seed = 1, **keywords))]
    fn new(
        py: Python<'_>,
        settings: Option<&Bound<'_, EstimatorSettings>>,
        seed: u64,
        keywords: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CapacityEstimator> {
        let settings = EstimatorSettings::given(py, settings, keywords, WceRule::Agreement)?;
        let draws = Streams::new(seed, 0).stream("pings");
        Ok(CapacityEstimator {
            capacity: Capacity::new(settings, draws).map_err(refused)?,
            clock: Clock::default(),
        })
    }

    /// Returns the pings to send at `now_s`, as pairs of station and number. `stations` have
    /// traffic, and `passed_bytes` have left the bottleneck since the beginning.
    fn tick(
        &mut self,
        now_s: f64,
        stations: Vec<u32>,
        passed_bytes: u64,
    ) -> PyResult<Vec<(u32, u32)>> {
        let now = self.clock.advance(now_s)?;
        Ok(pairs(&self.capacity.tick(now, &stations, passed_bytes)))
    }

    /// Processes the reply to a ping, and returns further pings. Returns None if the ping is
    /// unknown or was answered before.
    fn answer(
        &mut self,
        now_s: f64,
        number: u32,
        rtt_s: f64,
        passed_bytes: u64,
    ) -> PyResult<Option<Vec<(u32, u32)>>> {
        let now = self.clock.advance(now_s)?;
        let rtt = span("rtt_s", rtt_s)?;
        let reply = self
            .capacity
            .answer(now, number as u16, Some(rtt), passed_bytes);
        Ok(reply.map(|(_, probes)| pairs(&probes)))
    }

    /// Returns the stations that do not reply to pings. Measure the round-trip times of their segments
    /// that leave the bottleneck before the next tick.
    fn listening(&self) -> Vec<u32> {
        self.capacity.listening().to_vec()
    }

    /// Processes the round-trip time of a segment to a station: from `sent_s`, when the segment
    /// left the bottleneck, to the ACK that covers it. `passed_then_bytes` had left the bottleneck
    /// at `sent_s`, and `passed_bytes` have left it by now. Returns further pings.
    fn overhear(
        &mut self,
        now_s: f64,
        station: u32,
        sent_s: f64,
        rtt_s: f64,
        passed_then_bytes: u64,
        passed_bytes: u64,
    ) -> PyResult<Vec<(u32, u32)>> {
        let now = self.clock.advance(now_s)?;
        let trip = RoundTrip {
            station,
            sent: Time::ZERO + span("sent_s", sent_s)?,
            rtt: span("rtt_s", rtt_s)?,
            passed_bytes: passed_then_bytes,
        };
        Ok(pairs(&self.capacity.overhear(now, trip, passed_bytes)))
    }

    /// Returns the source of a station's samples, "pings" or "flows"; None without a source.
    fn heard(&self, station: u32) -> Option<&'static str> {
        match &self.capacity {
            Capacity::Median(median) => median.heard(station).map(SampleSource::name),
            Capacity::Paper(_) => None,
        }
    }

    /// Removes a station that has left.
    fn forget(&mut self, station: u32) {
        if let Capacity::Median(median) = &mut self.capacity {
            median.forget(station);
        }
    }

    /// Present C. [bit/s]
    #[getter]
    fn capacity_bps(&self) -> u64 {
        self.capacity.bps()
    }

    /// Kind of the last step of C, such as "hold", "increase" or "measure".
    #[getter]
    fn last_step(&self) -> Option<&'static str> {
        self.clock.0.and_then(|_| self.capacity.last_step())
    }

    /// Returns the stations with traffic whose replies are ignored, and how much later they reply than
    /// other stations. [s]
    fn doubted(&self) -> Vec<(u32, f64)> {
        match &self.capacity {
            Capacity::Median(median) => median.doubted().map(in_seconds).collect(),
            Capacity::Paper(_) => Vec::new(),
        }
    }

    /// Returns the only station that limits C, and its queueing delay [s]; None if there is no such
    /// station.
    fn holds_down(&self) -> Option<(u32, f64)> {
        match &self.capacity {
            Capacity::Median(median) => median.holds_down().map(in_seconds),
            Capacity::Paper(_) => None,
        }
    }

    /// Returns the base round-trip time of a station, or of all stations with rule "paper". [s]
    fn base_rtt_s(&self, station: u32) -> Option<f64> {
        match &self.capacity {
            Capacity::Median(median) => median.base_rtt(station),
            Capacity::Paper(paper) => paper.wce().base_rtt(),
        }
        .map(Span::seconds)
    }
}

/// Time of the last call, if there was one. Times must not decrease.
#[derive(Default)]
struct Clock(Option<Time>);

impl Clock {
    /// Returns the time of this call. A time before the previous call raises ValueError.
    fn advance(&mut self, now_s: f64) -> PyResult<Time> {
        let now = Time::ZERO + span("now_s", now_s)?;
        if let Some(last) = self.0.filter(|last| now < *last) {
            let message = format!("now_s: {now_s} is before the last step, {}", last.seconds());
            return Err(PyValueError::new_err(message));
        }
        self.0 = Some(now);
        Ok(now)
    }
}

fn pairs(probes: &[Probe]) -> Vec<(u32, u32)> {
    let pair = |probe: &Probe| (probe.station, probe.number);
    probes.iter().map(pair).collect()
}

fn in_seconds((station, delay): (u32, Span)) -> (u32, f64) {
    (station, delay.seconds())
}

fn seconds_of(times: Thresholds) -> (f64, f64, f64) {
    let [low, threshold, high] =
        [times.low, times.threshold, times.high].map(|time| time.seconds());
    (low, threshold, high)
}

fn refused(error: WceSettingsError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Longest accepted time, which keeps sums of times far from overflow. [s]
const LONGEST_S: f64 = 1e9;

fn span(name: &str, seconds: f64) -> PyResult<Span> {
    if (0.0..=LONGEST_S).contains(&seconds) {
        return Ok(Span::from_seconds(seconds));
    }
    let message = format!("{name}: {seconds} is not a time between 0 and {LONGEST_S:e} s");
    Err(PyValueError::new_err(message))
}
