//! The rate C as a function of the estimated queueing delay.
//!
//! | queueing delay downstream of the bottleneck | C |
//! |---|---|
//! | up to 5 ms, twice in a row | increases by 2 % per interval, if the traffic uses C |
//! | up to 40 ms | increases by 2 % per second, if the traffic uses C |
//! | up to 100 ms | decreases by 8 % per second |
//! | above 200 ms, or above 100 ms for 0.2 s | is set by measurement |
//!
//! # The measurement
//! The capacity K is the rate at which a FIFO downstream of the bottleneck is served. If this FIFO never runs empty,
//! the bytes that it delivers between two replies are the bytes that entered between the two requests. The requests
//! leave the bottleneck at times s1 and s2, and have the delays d1 and d2. Between the requests, bytes leave the
//! bottleneck at rate R. The capacity is
//!
//! ```text
//! K = R (s2 - s1) / ((s2 + d2) - (s1 + d1)) = R / (1 + (d2 - d1) / (s2 - s1))
//! ```
//!
//! Two samples therefore measure K while there is a queue, however far C is above K. For example, the first sample
//! after K falls from 20 to 6 Mbit/s sets C to 6 Mbit/s. If a buffer overflows, the delay is constant, and the measured
//! K equals R. A constant delay therefore shows only that C is not below K. C is then reduced by a factor until the
//! delay falls. While the delay rises or falls, C becomes K multiplied by
//!
//! ```text
//! 1 - (d - 40 ms) / 1 s (d: the delay), but at least 0.8, or 0.7 before the delay falls
//! ```
//!
//! With this factor, C drains the queue in about a second. The first request of the next
//! measurement must be sent after the previous measurement has changed C. After a measurement C
//! follows this formula until the delay is at the threshold, where C equals K.
//!
//! # The fall of a queue
//! K cannot be measured while a queue neither rises nor falls. C is then cut, usually by too much. After the cut the
//! queue falls, and K is measured. When the queue is short, C is set to K, but not above its value before the cut.
//! Without this rule, C would increase by only 2 % per second.
//!
//! # Growth is taken back
//! C may have increased since the request of a late sample left. C then returns to its value at the departure of this
//! request, because the queue has grown since that time.
//!
//! # Stability margin with one station
//! Between 5 and 100 ms the WLAN integrates C minus its capacity K. This algorithm integrates the sign of the threshold
//! minus the delay, as [`Wce`](crate::control::Wce) does. [`limit_cycle`] computes the limit cycle with a fluid queue
//! and steps in proportion to C. The margin is 100 ms divided by the longest queueing delay of the cycle. This margin
//! is 1.8 for any K. Above 100 ms, C is `K (1 - (d - h) / T)`, where K is measured, d is the queueing delay, h is the
//! threshold of 40 ms and T = 1 s. This is a loop of first order. With a feedback delay g the loop is stable if `g <
//! pi/2 T = 1.6 s`. The feedback delay is the sum of d and the time between two requests. The delay d is at most the
//! length of the buffer.

use std::collections::VecDeque;

use super::super::step::Step;
use super::super::wce::{Cycle, Thresholds, WceSettings};
use super::sample::DelaySample;
use crate::kernel::time::{Span, Time};

/// Relative increase of C per interval while there is no queue.
const FAST_INCREASE: f64 = 0.02;
/// Number of consecutive samples without a queue that must precede the fast increase. A single
/// sample without a queue may be chance.
const SLOW_STEPS: u32 = 1;
/// Relative increase of C while the queue is short. [1/s]
const INCREASE: f64 = 0.02;
/// Relative decrease of C while the queueing delay is above the threshold. [1/s]
const DECREASE: f64 = 0.08;
/// Time in which C drains a queue after a measurement. [s]
const DRAIN_TIME_S: f64 = 1.0;
/// Smallest ratio of C to the measured capacity. The first constant applies while the delay falls,
/// and the second constant at all other times.
const MIN_PART_FALLING: f64 = 0.8;
const MIN_PART_CONSTANT: f64 = 0.7;
/// Slope of the delay above which two samples are enough to measure the capacity. [s/s]
const RISING: f64 = 0.4;
/// Slope of the delay above which a queue is considered long immediately. At this slope the
/// capacity has halved. [s/s]
const RISING_FAST: f64 = 1.0;
/// Slope of the delay below which the queue is considered to fall. [s/s]
const FALLING: f64 = -0.03;
/// Minimum time between two samples for the measurement of a slope that is not above [`RISING`].
const SLOPE_TIME: Span = Span(150_000_000);
/// Maximum time between two requests whose samples are compared.
const HISTORY: Span = Span(600_000_000);
/// Time for which a measured capacity is valid.
const CAPACITY_VALID_FOR: Span = Span(1_000_000_000);
/// Time for which delays must be above `high` until the queue is considered long. A delay above
/// twice `high` is considered long immediately.
const LONG_AFTER: Span = Span(200_000_000);
/// Fraction of C that the traffic must use so that C may increase. [-]
const MIN_UTILISATION: f64 = 0.75;
/// Minimum number of consecutive increases of C after which a sample with a delay above the low
/// threshold undoes the increases. C then returns to its value when the request of the sample left.
const TAKEN_BACK_AFTER: u32 = 3;

/// A reduction of C that was made while the queue neither rose nor fell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    /// C before the cut. [bit/s]
    before_bps: f64,
    /// Capacity measured by the fall of the queue after the cut. [bit/s]
    capacity_bps: Option<f64>,
}

/// Control of the rate C, with its recent history.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RateControl {
    thresholds: Thresholds,
    interval_s: f64,
    min_bps: f64,
    max_bps: f64,
    rate_bps: f64,
    /// Values of C during the last second, each with its start time, oldest first.
    rates: VecDeque<(Time, f64)>,
    /// Estimates of the queueing delay during the last second, oldest first.
    samples: VecDeque<DelaySample>,
    /// Time at which a measurement last set C. Samples whose request left later show the effect of
    /// the measurement.
    measured_at: Option<Time>,
    /// Time and result [bit/s] of the last measurement of the capacity; `None` if the queue has
    /// drained since the measurement.
    measured: Option<(Time, f64)>,
    /// Number of consecutive increases of C.
    increases: u32,
    cut: Option<Cut>,
    /// Time since which delays have been above the threshold `high`.
    long_since: Option<Time>,
}

impl RateControl {
    /// Returns the state before the first sample, in which C is at its maximum.
    pub fn new(settings: &WceSettings) -> RateControl {
        let max_bps = settings.max_bps as f64;
        RateControl {
            thresholds: settings.thresholds,
            interval_s: settings.interval.seconds(),
            min_bps: settings.min_bps as f64,
            max_bps,
            rate_bps: max_bps,
            rates: VecDeque::from([(Time::ZERO, max_bps)]),
            samples: VecDeque::new(),
            measured_at: None,
            measured: None,
            increases: 0,
            cut: None,
            long_since: None,
        }
    }

    /// Returns C. [bit/s]
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps as u64
    }

    /// Sets C to `rate_bps`, an earlier value. [bit/s]
    pub fn restore(&mut self, now: Time, rate_bps: u64) {
        self.measured = None;
        self.cut = None;
        self.measured_at = Some(now);
        self.set(now, rate_bps as f64);
    }

    /// Adapts C to a sample that arrives at `now`. If the baseline is in doubt (`in_doubt`), C is
    /// lowered until any queue must have drained.
    pub fn step(&mut self, now: Time, sample: DelaySample, in_doubt: bool) -> Step {
        self.forget(sample.sent);
        let is_used = self.is_used(sample);
        let Thresholds {
            low,
            threshold,
            high,
        } = self.thresholds;
        let is_long = self.is_long(sample, high);
        let increases = self.increases;
        self.increases = 0;
        self.watch_fall(now, sample);
        let step = if sample.delay <= low {
            self.increases = increases + 1;
            self.measured = None;
            if increases < SLOW_STEPS {
                self.increase(now, is_used, INCREASE * self.interval_s, Step::Increase)
            } else {
                self.increase(now, is_used, FAST_INCREASE, Step::SpeedUp)
            }
        } else if is_long || in_doubt {
            self.measure(now, sample)
        } else if let Some(capacity_bps) = self.valid_capacity(now) {
            self.follow(now, sample.delay, capacity_bps)
        } else if sample.delay > threshold {
            self.set(now, self.rate_bps * (1.0 - DECREASE * self.interval_s));
            Step::Decrease
        } else if increases >= TAKEN_BACK_AFTER {
            self.set(now, self.rate_bps.min(self.rate_at(sample.sent)));
            Step::Return
        } else {
            self.increase(now, is_used, INCREASE * self.interval_s, Step::Increase)
        };
        self.samples.push_back(sample);
        step
    }

    /// Returns whether the queue is considered long, and records the time since which delays have
    /// been above `high`.
    fn is_long(&mut self, sample: DelaySample, high: Span) -> bool {
        if sample.delay <= high {
            self.long_since = None;
            return false;
        }
        let since = *self.long_since.get_or_insert(sample.sent);
        let earlier = self
            .samples
            .iter()
            .rfind(|&earlier| self.is_apart(*earlier, sample));
        let rises = earlier.is_some_and(|earlier| rate_and_slope(*earlier, sample).1 > RISING_FAST);
        rises || sample.delay > Span(2 * high.0) || sample.sent.since(since) >= LONG_AFTER
    }

    fn increase(&mut self, now: Time, is_used: bool, part: f64, step: Step) -> Step {
        if !is_used {
            return Step::Hold;
        }
        self.set(now, self.rate_bps * (1.0 + part));
        step
    }

    /// Measures the capacity from `sample` and an earlier sample, and sets C to this capacity,
    /// reduced so that the queue drains. Does nothing if no earlier sample is suitable. The request
    /// of a suitable sample left after the previous measurement had changed C, and long enough
    /// before the request of `sample`.
    fn measure(&mut self, now: Time, sample: DelaySample) -> Step {
        let since_measured = self.since_measured();
        let apart = since_measured
            .clone()
            .rfind(|&earlier| self.is_apart(*earlier, sample))
            .map(|earlier| rate_and_slope(*earlier, sample));
        let longer = first_for_slope(since_measured, sample);
        let Some((rate_bps, slope)) = apart.filter(|&(_, slope)| slope > RISING).or(longer) else {
            return Step::Hold;
        };
        let excess_s = (sample.delay - self.thresholds.threshold).seconds();
        let draining = |min: f64, in_s: f64| (1.0 - excess_s / in_s).max(min);
        let (capacity_bps, part) = if slope > RISING {
            // noise may cause a slope of up to `RISING`; half of this slope is subtracted
            let slope = slope - RISING / 2.0;
            (
                rate_bps / (1.0 + slope),
                draining(MIN_PART_CONSTANT, DRAIN_TIME_S),
            )
        } else if slope < FALLING {
            (
                rate_bps / (1.0 + slope.max(-0.5)),
                draining(MIN_PART_FALLING, DRAIN_TIME_S),
            )
        } else {
            // a station may reply late without a queue; such a reply must not reduce C much in one
            // step
            let capacity_bps = rate_bps.clamp(MIN_PART_CONSTANT * self.rate_bps, self.rate_bps);
            (
                capacity_bps,
                draining(MIN_PART_CONSTANT, DRAIN_TIME_S / 2.0),
            )
        };
        self.measured_at = Some(now);
        let is_constant = (FALLING..=RISING).contains(&slope);
        self.measured = (!is_constant).then_some((now, capacity_bps));
        self.cut = is_constant.then(|| {
            self.cut.unwrap_or(Cut {
                before_bps: self.rate_bps,
                capacity_bps: None,
            })
        });
        self.set(now, (capacity_bps * part).max(self.rate_bps / 4.0));
        Step::Measure
    }

    /// Measures the capacity while the queue falls after a cut of C. When the queue is short, C is set to this
    /// capacity, but not above its value before the cut.
    fn watch_fall(&mut self, now: Time, sample: DelaySample) {
        let Some(cut) = self.cut else {
            return;
        };
        let fall = first_for_slope(self.since_measured(), sample);
        let fall = fall.filter(|&(_, slope)| slope < FALLING);
        let measured_bps = fall.map(|(rate_bps, slope)| rate_bps / (1.0 + slope.max(-0.5)));
        let capacity_bps = measured_bps.or(cut.capacity_bps);
        self.cut = Some(Cut {
            capacity_bps,
            ..cut
        });
        if sample.delay <= self.thresholds.threshold {
            let restored_bps =
                capacity_bps.map_or(self.rate_bps, |capacity| capacity.min(cut.before_bps));
            self.cut = None;
            if restored_bps > self.rate_bps {
                self.set(now, restored_bps);
            }
        }
    }

    /// Returns the samples whose requests left after the last measurement changed C.
    fn since_measured(&self) -> impl DoubleEndedIterator<Item = &DelaySample> + Clone {
        let measured_at = self.measured_at.unwrap_or(Time::ZERO);
        self.samples
            .iter()
            .filter(move |sample| sample.sent >= measured_at)
    }

    /// Returns whether the requests of two samples left at least half an interval apart.
    fn is_apart(&self, earlier: DelaySample, later: DelaySample) -> bool {
        later.sent.since(earlier.sent).seconds() >= self.interval_s / 2.0
    }

    fn valid_capacity(&self, now: Time) -> Option<f64> {
        let (at, capacity_bps) = self.measured?;
        (now.since(at) <= CAPACITY_VALID_FOR).then_some(capacity_bps)
    }

    /// Sets C to a fraction of the measured capacity, so that the queue drains.
    fn follow(&mut self, now: Time, delay: Span, capacity_bps: f64) -> Step {
        let threshold = self.thresholds.threshold;
        if delay <= threshold {
            self.measured = None;
        }
        let excess_s = (delay - threshold).seconds();
        let part = (1.0 - excess_s / DRAIN_TIME_S).max(MIN_PART_FALLING);
        self.set(now, capacity_bps * part);
        Step::Measure
    }

    fn set(&mut self, now: Time, rate_bps: f64) {
        self.rate_bps = rate_bps.clamp(self.min_bps, self.max_bps);
        self.rates.push_back((now, self.rate_bps));
    }

    /// Returns the value of C when a request left.
    fn rate_at(&self, sent: Time) -> f64 {
        let before = self.rates.iter().rev().find(|&&(since, _)| since <= sent);
        before
            .or(self.rates.front())
            .map_or(self.rate_bps, |&(_, rate_bps)| rate_bps)
    }

    /// Returns whether the traffic has used most of C, so that C may increase.
    fn is_used(&self, sample: DelaySample) -> bool {
        let Some(&first) = self.samples.front() else {
            return false;
        };
        let passed = sample.passed_bytes.saturating_sub(first.passed_bytes) as f64;
        let possible = self.rate_at(first.sent).min(self.rate_bps)
            * sample.sent.since(first.sent).seconds()
            / 8.0;
        possible > 0.0 && passed >= MIN_UTILISATION * possible
    }

    fn forget(&mut self, sent: Time) {
        while self
            .samples
            .front()
            .is_some_and(|sample| sent.since(sample.sent) > HISTORY)
        {
            self.samples.pop_front();
        }
        while self.rates.len() > 1 && sent.since(self.rates[1].0) > Span::ZERO {
            self.rates.pop_front();
        }
    }
}

/// Returns the rate at which bytes left the bottleneck between two requests [bit/s], and the slope of the delay [s/s].
fn rate_and_slope(earlier: DelaySample, later: DelaySample) -> (f64, f64) {
    let between_s = later.sent.since(earlier.sent).seconds().max(1e-6);
    let passed = later.passed_bytes.saturating_sub(earlier.passed_bytes) as f64 * 8.0;
    let growth_s = later.delay.seconds() - earlier.delay.seconds();
    (passed / between_s, growth_s / between_s)
}

/// Returns the rate and the slope between two samples: `later`, and the first of `samples` whose
/// request left long enough before the request of `later`.
fn first_for_slope<'a>(
    mut samples: impl Iterator<Item = &'a DelaySample>,
    later: DelaySample,
) -> Option<(f64, f64)> {
    let first = samples.find(|earlier| later.sent.since(earlier.sent) >= SLOPE_TIME);
    first.map(|earlier| rate_and_slope(*earlier, later))
}

/// Returns the limit cycle of C around a WLAN of `capacity_bps`. Only the steps just below and
/// above the threshold are considered, and increases are not taken back.
pub(super) fn limit_cycle(thresholds: Thresholds, interval: Span, capacity_bps: u64) -> Cycle {
    let capacity = capacity_bps as f64;
    let (up, down) = (INCREASE * capacity, DECREASE * capacity);
    Cycle::of(thresholds, interval, capacity, [up, down])
}
