//! Parameters of the estimators of the capacity C, and the limit cycle that results from the
//! parameters.

use thiserror::Error;

use crate::kernel::time::Span;
use crate::words;

words! {
    /// Algorithm that sets C from round-trip times.
    pub enum WceRule {
        /// C follows the median delay of the stations with traffic. A minority of late, sleeping or
        /// silent stations is ignored.
        Agreement = "agreement",
        /// Each reply changes C by a step of paper 002.
        Paper = "paper",
    }
}

/// Settings of an estimator: bounds, thresholds and steps of the capacity C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WceSettings {
    /// Rule that sets C from round-trip times. [`super::Wce`] and [`crate::control::median`]
    /// implement the rules.
    pub rule: WceRule,
    /// Largest C, and its initial value. [bit/s]
    pub max_bps: u64,
    /// Smallest C. [bit/s]
    pub min_bps: u64,
    /// Time between pings.
    pub interval: Span,
    /// Round-trip times at which the step changes, if the base round-trip time is below the lowest
    /// threshold.
    pub thresholds: Thresholds,
    /// Increase of C per linear step. [bit/s]
    pub increase_bps: u64,
    /// Decrease of C per linear step. [bit/s]
    pub decrease_bps: u64,
    /// Factor by which C is multiplied in an exponential increase, above 1.
    pub speed_up: f64,
    /// Factor by which C is multiplied in an exponential decrease, below 1.
    pub back_off: f64,
    /// Round-trip time above which a reply is ignored.
    pub timeout: Span,
    /// Whether the thresholds increase with the base round-trip time (paper 002, appendix IV).
    pub follows_base: bool,
}

/// Thresholds of the round-trip time, at which the step of C changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Round-trip time up to which C increases exponentially.
    pub low: Span,
    /// Round-trip time up to which C increases linearly, and above which C decreases.
    pub threshold: Span,
    /// Round-trip time above which C decreases exponentially.
    pub high: Span,
}

impl Thresholds {
    /// Returns the tolerance of the baseline. A round-trip time confirms the baseline if it exceeds
    /// the baseline by at most this tolerance. The tolerance is a quarter of the difference between
    /// the second and the first threshold.
    pub fn near_base(self) -> Span {
        Span((self.threshold - self.low).0 / 4)
    }
}

impl WceSettings {
    /// Maximum C in paper 002. [bit/s]
    pub const MAX_BPS: u64 = 6_000_000;
    /// Default time between pings.
    pub const INTERVAL: Span = Span(100_000_000);

    /// Returns these settings if they are consistent.
    ///
    /// # Errors
    /// The first inconsistency that is found.
    pub fn checked(self) -> Result<WceSettings, WceSettingsError> {
        use WceSettingsError as Fault;
        let times = self.thresholds;
        let ascend = times.low < times.threshold && times.threshold < times.high;
        let steps = self.increase_bps >= 1 && self.decrease_bps >= self.increase_bps;
        let speeds_up = self.speed_up > 1.0 && self.speed_up <= 2.0;
        let backs_off = self.back_off > 0.0 && self.back_off < 1.0;
        let rules = [
            (self.min_bps >= 1, Fault::Minimum),
            (self.max_bps >= self.min_bps, Fault::Maximum),
            (self.interval > Span::ZERO, Fault::Interval),
            (ascend, Fault::Thresholds),
            (times.high < self.timeout, Fault::Timeout),
            (steps, Fault::Steps),
            (speeds_up, Fault::SpeedUp),
            (backs_off, Fault::BackOff),
        ];
        let broken = rules.into_iter().find(|&(holds, _)| !holds);
        broken.map_or(Ok(self), |(_, error)| Err(error))
    }

    /// Returns the limit cycle of C around a WLAN of `capacity_bps`, with linear steps only.
    pub fn cycle(&self, capacity_bps: u64) -> Cycle {
        let interval = self.interval.seconds();
        let up = self.increase_bps as f64 / interval;
        let down = self.decrease_bps as f64 / interval;
        Cycle::of(
            self.thresholds,
            self.interval,
            capacity_bps as f64,
            [up, down],
        )
    }
}

/// Limit cycle of C around the capacity of a WLAN, with linear steps of C only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// Largest difference of C from the capacity. [bit/s]
    pub overshoot_bps: f64,
    /// Longest queueing delay in the WLAN. [s]
    pub queueing_s: f64,
    /// Stability margin: the high threshold divided by the longest queueing delay. With a margin
    /// above 1, the oscillation cannot grow. [-]
    pub margin: f64,
}

impl Cycle {
    /// Returns the limit cycle of C around a capacity [bit/s], for the given slopes of the increase
    /// and the decrease [bit/s per s].
    pub(in crate::control) fn of(
        times: Thresholds,
        interval: Span,
        capacity: f64,
        [up, down]: [f64; 2],
    ) -> Cycle {
        let threshold = times.threshold.seconds();
        let delay = interval.seconds() / 2.0 + threshold;
        let reached = (2.0 * capacity * threshold / up).sqrt();
        let turned = reached + delay;
        let longest = up * turned * turned * (1.0 + up / down) / 2.0 / capacity;
        Cycle {
            overshoot_bps: up * turned,
            queueing_s: longest,
            margin: times.high.seconds() / longest,
        }
    }
}

/// Inconsistent settings of an estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WceSettingsError {
    /// The smallest C is zero, from which C would never increase.
    #[error("min_bps: the least rate must be positive")]
    Minimum,
    /// The largest C is below the smallest C.
    #[error("max_bps: the largest rate must not be below the least, min_bps")]
    Maximum,
    /// The time between pings is zero.
    #[error("interval_s: the time between pings must be positive")]
    Interval,
    /// The thresholds are in the wrong order.
    #[error("threshold_s: thresholds must ascend, low_s < threshold_s < high_s")]
    Thresholds,
    /// The timeout is not above the high threshold, so that no sample could exceed the threshold.
    #[error("timeout_s: it must be longer than the high threshold, high_s")]
    Timeout,
    /// A linear step is zero, or the increase is larger than the decrease.
    #[error("decrease_bps: linear steps must be positive, and decrease_bps not below increase_bps")]
    Steps,
    /// The factor of the exponential increase is outside its range.
    #[error("speed_up: the factor must be above 1 and at most 2")]
    SpeedUp,
    /// The factor of the exponential decrease is outside its range.
    #[error("back_off: the factor must be above 0 and below 1")]
    BackOff,
}
