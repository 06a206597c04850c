//! Controllers of the engine for whoever measures and sets on a live network.

use lasthop_engine::control::{
    self, Capacity, Observation, Probe, RoundTrip, SampleSource, Step, Thresholds, WceRule,
    WceSettings,
};
use lasthop_engine::kernel::streams::Streams;
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
        let given = Given {
            max_bps,
            min_bps,
            interval_s,
            low_s,
            threshold_s,
            high_s,
            increase_bps,
            decrease_bps,
            speed_up,
            back_off,
            timeout_s,
        };
        let settings = given.settings(WceRule::Paper)?;
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
        self.last_step.map(Step::name)
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

/// Keywords of an estimator.
struct Given {
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
}

impl Given {
    /// The settings of a rule with these, and its defaults for the rest.
    fn settings(&self, rule: WceRule) -> PyResult<WceSettings> {
        let interval = span("interval_s", self.interval_s)?;
        let usual = WceSettings::new(rule, self.max_bps, interval);
        let span_or = |name, given: Option<f64>, usual| {
            given.map_or(Ok(usual), |seconds| span(name, seconds))
        };
        let thresholds = Thresholds {
            low: span_or("low_s", self.low_s, usual.thresholds.low)?,
            threshold: span_or("threshold_s", self.threshold_s, usual.thresholds.threshold)?,
            high: span_or("high_s", self.high_s, usual.thresholds.high)?,
        };
        Ok(WceSettings {
            min_bps: self.min_bps.unwrap_or(usual.min_bps),
            thresholds,
            increase_bps: self.increase_bps.unwrap_or(usual.increase_bps),
            decrease_bps: self.decrease_bps.unwrap_or(usual.decrease_bps),
            speed_up: self.speed_up.unwrap_or(usual.speed_up),
            back_off: self.back_off.unwrap_or(usual.back_off),
            timeout: span_or("timeout_s", self.timeout_s, usual.timeout)?,
            ..usual
        })
    }
}

/// The rate C just under the capacity of a WLAN, from round-trip times to its stations: whom to ping, and what
/// answers make of C.
///
/// Stations are numbers from 0. Call `tick` every `interval_s`; send the pings that `tick` and `answer` return.
/// With rule "agreement" C follows what stations with traffic agree on; with "paper" every answer, as
/// paper 002, section 4.2.1. Times are on one clock that never goes back. Settings that make no sense
/// raise ValueError.
#[pyclass(module = "lasthop._core")]
pub struct CapacityEstimator {
    capacity: Capacity,
    last: Time,
    last_step: Option<&'static str>,
}

#[pymethods]
impl CapacityEstimator {
    #[new]
    #[pyo3(signature = (
        *,
        seed = 1,
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
    #[allow(clippy::too_many_arguments)] // keywords in Python
    fn new(
        seed: u64,
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
    ) -> PyResult<CapacityEstimator> {
        let given = Given {
            max_bps,
            min_bps,
            interval_s,
            low_s,
            threshold_s,
            high_s,
            increase_bps,
            decrease_bps,
            speed_up,
            back_off,
            timeout_s,
        };
        let Some(rule) = WceRule::ALL.into_iter().find(|one| one.name() == rule) else {
            let message =
                format!("rule: {rule:?} is unknown; expected one of \"agreement\", \"paper\"");
            return Err(PyValueError::new_err(message));
        };
        let draws = Streams::new(seed, 0).stream("pings");
        let capacity = Capacity::new(given.settings(rule)?, draws);
        Ok(CapacityEstimator {
            capacity: capacity.map_err(|error| PyValueError::new_err(error.to_string()))?,
            last: Time::ZERO,
            last_step: None,
        })
    }

    /// Whom to ping at `now_s`, as station and number, where these `stations` have traffic and so many bytes have
    /// left the bottleneck since the beginning.
    fn tick(
        &mut self,
        now_s: f64,
        stations: Vec<u32>,
        passed_bytes: u64,
    ) -> PyResult<Vec<(u32, u32)>> {
        let now = self.at(now_s)?;
        let asks = self.capacity.tick(now, &stations, passed_bytes);
        self.last_step = self.capacity.last_step();
        Ok(pairs(&asks))
    }

    /// Takes the answer to a ping; whom else to ping, None if there is no such ping or it has been answered.
    fn answer(
        &mut self,
        now_s: f64,
        number: u32,
        rtt_s: f64,
        passed_bytes: u64,
    ) -> PyResult<Option<Vec<(u32, u32)>>> {
        let now = self.at(now_s)?;
        let rtt = span("rtt_s", rtt_s)?;
        let answered = self
            .capacity
            .answer(now, number as u16, Some(rtt), passed_bytes);
        self.last_step = self.capacity.last_step();
        Ok(answered.map(|(_, asks)| pairs(&asks)))
    }

    /// Stations that answer no pings and whose segments are to be timed until the next tick, those that leave the
    /// bottleneck from now on.
    fn listening(&self) -> Vec<u32> {
        self.capacity.listening().to_vec()
    }

    /// Takes the round-trip time of a segment to a station, from the bottleneck at `sent_s` to the ACK that covers it;
    /// so many bytes had left the bottleneck then, and have by now. Whom to ping now.
    fn overhear(
        &mut self,
        now_s: f64,
        station: u32,
        sent_s: f64,
        rtt_s: f64,
        passed_then_bytes: u64,
        passed_bytes: u64,
    ) -> PyResult<Vec<(u32, u32)>> {
        let now = self.at(now_s)?;
        let trip = RoundTrip {
            station,
            sent: Time::ZERO + span("sent_s", sent_s)?,
            rtt: span("rtt_s", rtt_s)?,
            passed_bytes: passed_then_bytes,
        };
        let asks = self.capacity.overhear(now, trip, passed_bytes);
        self.last_step = self.capacity.last_step();
        Ok(pairs(&asks))
    }

    /// What a station is heard by, "pings" or "flows"; None if it is not, or has not been asked.
    fn heard(&self, station: u32) -> Option<&'static str> {
        match &self.capacity {
            Capacity::Agreement(one) => one.heard(station).map(SampleSource::name),
            Capacity::Paper(_) => None,
        }
    }

    /// Forgets a station that has left.
    fn forget(&mut self, station: u32) {
        if let Capacity::Agreement(one) = &mut self.capacity {
            one.forget(station);
        }
    }

    /// C. [bit/s]
    #[getter]
    fn capacity_bps(&self) -> u64 {
        self.capacity.bps()
    }

    /// What the last answer did, such as "hold", "increase" or "measure".
    #[getter]
    fn last_step(&self) -> Option<&'static str> {
        self.last_step
    }

    /// Stations with traffic whose answers do not count, and by how much they are later than the others. [s]
    fn doubted(&self) -> Vec<(u32, f64)> {
        match &self.capacity {
            Capacity::Agreement(one) => one
                .doubted()
                .map(|(station, late)| (station, late.seconds()))
                .collect(),
            Capacity::Paper(_) => Vec::new(),
        }
    }

    /// The station that alone holds C down, and the queueing delay that it says [s], if that is so.
    fn holds_down(&self) -> Option<(u32, f64)> {
        match &self.capacity {
            Capacity::Agreement(one) => one
                .holds_down()
                .map(|(station, delay)| (station, delay.seconds())),
            Capacity::Paper(_) => None,
        }
    }

    /// The base round-trip time: a station's own, with rule "paper" that of all. [s]
    fn base_rtt_s(&self, station: u32) -> Option<f64> {
        match &self.capacity {
            Capacity::Agreement(one) => one.base_rtt(station),
            Capacity::Paper(one) => one.wce().base_rtt(),
        }
        .map(Span::seconds)
    }
}

impl CapacityEstimator {
    fn at(&mut self, now_s: f64) -> PyResult<Time> {
        let at = Time::ZERO + span("now_s", now_s)?;
        if at < self.last {
            let last = self.last.seconds();
            let message = format!("now_s: {now_s} is before the last step, {last}");
            return Err(PyValueError::new_err(message));
        }
        self.last = at;
        Ok(at)
    }
}

fn pairs(asks: &[Probe]) -> Vec<(u32, u32)> {
    asks.iter().map(|ask| (ask.station, ask.number)).collect()
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
