//! The wireless capacity estimator (WCE): paper 002, section 4.2.1 and appendix IV.
//!
//! A virtual shared bottleneck of rate C stands in front of a WLAN. Pings pass beside it; their
//! round-trip time tells whether a queue grows behind it, and C goes down or up by a step:
//!
//! | round-trip time | step |
//! |---|---|
//! | up to 5 ms | C times `speed_up`, at least plus `increase` |
//! | up to 40 ms | C plus `increase` |
//! | up to 200 ms | C less `decrease` |
//! | above | C times `back_off`, at least less `decrease`, once for each round trip |
//! | no answer, or one that says nothing of the present | C holds |
//!
//! C stays between `min` and `max`. Where the base round-trip time is above the lowest threshold (greedy
//! uplink UDP makes every access to the channel slow), all three thresholds move up by the
//! difference.
//!
//! # A standing queue moves no threshold
//! A base that no answer has come near for 64 samples ([`BaseRtt`]) is in doubt, and the way to tell a
//! longer path from a queue is to let the queue drain. In doubt C falls by `decrease` up to the second
//! threshold too, until one of two things happens:
//!
//! - An answer comes near the base. The queue has drained; C, just below the capacity, goes on as above.
//! - C has been at `min` for twice the longest round-trip time of the doubt, and 8 answers after that still
//!   are not near. A WLAN of at least twice `min` has drained any queue by then, so that this is the path:
//!   the least of the 8 becomes the base, and C returns to where it was when the old base was last
//!   confirmed.
//!
//! Near is a quarter of the way from the first threshold to the second (9 ms), which is as far as a queue
//! may stand without question. A rise of the base is believed after 64 samples, (`max` - `min`) /
//! `decrease` more, the draining, and 8: with the defaults at most 6.4 s + 14.5 s + 0.8 s and two round
//! trips. For the last 15 s of it C is low; in return the bottleneck never loses its queue for good.
//!
//! Differs from the paper in: the amounts of the steps, which it does not give (see [`WceSettings`]);
//! `decrease` above `increase`, which halves the overshoot; one `back_off` for each round trip, since a
//! ping that left before C fell says nothing of the fall; the base of [`BaseRtt`], and the doubt.
//!
//! # Stability margin
//! The WLAN integrates C less its capacity K, and the estimator integrates the sign of threshold less
//! round-trip time: a relay on two integrators, which swings whatever its steps. [`WceSettings::cycle`]
//! gives the swing of a fluid queue that is empty when C passes K. With increases and decreases of
//! a and d [bit/s per s], threshold h, and a feedback delay g (half an interval for sampling and a
//! round trip of h),
//!
//! ```text
//! C passes K; the queue reaches h after t = sqrt(2 K h / a); C turns back at K + a (t + g)
//! longest queue = a (t + g)^2 (1 + a/d) / 2
//! margin        = high threshold / (longest queue / K)
//! ```
//!
//! With a margin above 1 the swing never reaches the exponential steps, and so cannot grow. The
//! defaults have 3.7 at 5.4 Mbit/s and 3.3 at 1 Mbit/s.

use std::mem;

use thiserror::Error;

use super::base_rtt::{BaseRtt, Evidence};
use super::step::Step;
use super::wce_settings::WceRule;
use crate::kernel::time::{Span, Time};

/// Bounds, thresholds and steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WceSettings {
    /// What makes C of round-trip times: the steps of this file, or [`super::agreement`].
    pub rule: WceRule,
    /// Largest C; the first one too. [bit/s]
    pub max_bps: u64,
    /// Least C. [bit/s]
    pub min_bps: u64,
    /// Time between pings.
    pub interval: Span,
    /// Round-trip times at which the step changes, with a base round-trip time below the first.
    pub thresholds: Thresholds,
    /// Linear step up. [bit/s]
    pub increase_bps: u64,
    /// Linear step down. [bit/s]
    pub decrease_bps: u64,
    /// Factor of an exponential step up, above 1.
    pub speed_up: f64,
    /// Factor of an exponential step down, below 1.
    pub back_off: f64,
    /// A longer round-trip time counts as no answer.
    pub timeout: Span,
    /// Whether the thresholds move with the base round-trip time (appendix IV).
    pub follows_base: bool,
}

/// Round-trip times at which the step changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Up to here C grows exponentially.
    pub low: Span,
    /// Up to here C grows linearly; above it falls.
    pub threshold: Span,
    /// Above it falls exponentially.
    pub high: Span,
}

impl WceSettings {
    /// The paper's cap. [bit/s]
    pub const MAX_BPS: u64 = 6_000_000;
    /// Time between pings unless said otherwise.
    pub const INTERVAL: Span = Span(100_000_000);

    /// The settings, if they make sense together.
    ///
    /// # Errors
    /// The first rule that they break.
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

    /// The swing around a WLAN of `capacity_bps` whose linear steps alone act.
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

/// The swing of C around the capacity of a WLAN, if nothing but linear steps acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// How far C goes beyond the capacity. [bit/s]
    pub overshoot_bps: f64,
    /// Longest queueing delay in the WLAN. [s]
    pub queueing_s: f64,
    /// High threshold over that delay: above 1 the swing cannot grow. [-]
    pub margin: f64,
}

impl Cycle {
    /// The swing around a capacity [bit/s] with growth and fall of these slopes [bit/s per s].
    pub(super) fn of(
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

/// Settings that make no estimator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WceSettingsError {
    /// A rate of zero never grows again.
    #[error("min_bps: the least rate must be positive")]
    Minimum,
    /// Bounds in the wrong order.
    #[error("max_bps: the largest rate must not be below the least, min_bps")]
    Maximum,
    /// No time between pings.
    #[error("interval_s: the time between pings must be positive")]
    Interval,
    /// Thresholds in the wrong order.
    #[error("threshold_s: thresholds must ascend, low_s < threshold_s < high_s")]
    Thresholds,
    /// No sample could be above the high threshold.
    #[error("timeout_s: it must be longer than the high threshold, high_s")]
    Timeout,
    /// Linear steps.
    #[error("decrease_bps: linear steps must be positive, and decrease_bps not below increase_bps")]
    Steps,
    /// Exponential step up.
    #[error("speed_up: the factor must be above 1 and at most 2")]
    SpeedUp,
    /// Exponential step down.
    #[error("back_off: the factor must be above 0 and below 1")]
    BackOff,
}

/// What became of a ping. There is to be one every interval at least, without a round-trip time
/// if nothing new is known: that says that the prober is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// When it is known. Times come in order.
    pub at: Time,
    /// Its round-trip time; `None` if there was no answer, or nobody to ask.
    pub rtt: Option<Span>,
}

/// The estimator: [`Wce::step`] takes it from observation to observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Wce {
    settings: WceSettings,
    capacity_bps: u64,
    base: BaseRtt,
    /// The last observation.
    observed: Option<Time>,
    /// End of the prober's last stall: pings sent before it say nothing.
    resumed: Option<Time>,
    /// The last exponential step down.
    backed_off: Option<Time>,
    /// Since when C has been at its minimum.
    at_min: Option<Time>,
    /// C when the base was last confirmed. [bit/s]
    confirmed_bps: u64,
    /// Whether the base has just risen, so that C returns to where it was.
    returns: bool,
}

impl Wce {
    /// Intervals without an observation that are taken for a stall of the prober.
    const STALL: u64 = 5;
    /// A sample confirms the base up to one part in this many of the way between the first two thresholds.
    const NEAR: u64 = 4;

    /// An estimator that has seen nothing: C is at its cap.
    ///
    /// # Errors
    /// If `settings` make no estimator.
    pub fn new(settings: WceSettings) -> Result<Wce, WceSettingsError> {
        let settings = settings.checked()?;
        let Thresholds { low, threshold, .. } = settings.thresholds;
        Ok(Wce {
            settings,
            capacity_bps: settings.max_bps,
            base: BaseRtt::new(low, Span((threshold - low).0 / Wce::NEAR)),
            observed: None,
            resumed: None,
            backed_off: None,
            at_min: None,
            confirmed_bps: settings.max_bps,
            returns: false,
        })
    }

    /// Bounds, thresholds and steps.
    pub fn settings(&self) -> &WceSettings {
        &self.settings
    }

    /// C. [bit/s]
    pub fn capacity_bps(&self) -> u64 {
        self.capacity_bps
    }

    /// The base round-trip time, once it is known.
    pub fn base_rtt(&self) -> Option<Span> {
        self.base.estimate()
    }

    /// The thresholds for the present base round-trip time.
    pub fn thresholds(&self) -> Thresholds {
        let usual = self.settings.thresholds;
        let above = self.base_rtt().map_or(Span::ZERO, |base| base - usual.low);
        Thresholds {
            low: usual.low + above,
            threshold: usual.threshold + above,
            high: usual.high + above,
        }
    }

    /// Adapts C to `observation`. It depends on the observations so far and on nothing else. An exponential step is
    /// never smaller than a linear one, however small C is.
    pub fn step(&mut self, observation: Observation) -> Step {
        let step = self.decide(observation);
        let bps = self.capacity_bps;
        let higher = bps.saturating_add(self.settings.increase_bps);
        let lower = bps.saturating_sub(self.settings.decrease_bps);
        let wanted = match step {
            Step::Hold | Step::Measure => bps, // this rule measures nothing
            Step::SpeedUp => higher.max((bps as f64 * self.settings.speed_up) as u64),
            Step::Increase => higher,
            Step::Decrease => lower,
            Step::BackOff => lower.min((bps as f64 * self.settings.back_off) as u64),
            Step::Return => bps.max(self.confirmed_bps),
        };
        self.capacity_bps = wanted.clamp(self.settings.min_bps, self.settings.max_bps);
        if self.capacity_bps > self.settings.min_bps {
            self.at_min = None;
        } else {
            self.at_min.get_or_insert(observation.at);
        }
        step
    }

    fn decide(&mut self, Observation { at, rtt }: Observation) -> Step {
        let patience = self.settings.interval * Wce::STALL;
        if self.observed.is_some_and(|last| at.since(last) > patience) {
            self.resumed = Some(at);
        }
        self.observed = Some(at);
        // after a stall nobody knows how long the answer lay unread
        let left_before = |then: Option<Time>, rtt| then.is_some_and(|then| at.since(then) < rtt);
        let rtt = match rtt {
            Some(rtt) if rtt <= self.settings.timeout && !left_before(self.resumed, rtt) => rtt,
            _ => return Step::Hold,
        };
        if mem::take(&mut self.returns) {
            return Step::Return;
        }
        if self.settings.follows_base {
            self.watch_base(at, rtt);
        }
        let now = self.thresholds();
        if rtt <= now.low {
            Step::SpeedUp
        } else if rtt <= now.threshold && !self.base.is_doubtful() {
            Step::Increase
        } else if rtt <= now.high || left_before(self.backed_off, rtt) {
            Step::Decrease // once more for a ping that left before C fell would be once too often
        } else {
            self.backed_off = Some(at);
            Step::BackOff
        }
    }

    /// Whether an answer shows the base, or what it has become.
    fn watch_base(&mut self, at: Time, rtt: Span) {
        let drained = self.at_min.map(|since| since + self.base.longest() * 2);
        let without_queue = drained.is_some_and(|drained| drained + rtt <= at);
        match self.base.add(rtt, without_queue) {
            Evidence::Confirmed => self.confirmed_bps = self.capacity_bps,
            Evidence::Unconfirmed => {}
            Evidence::Risen => self.returns = true,
        }
    }
}

#[cfg(test)]
mod tests;
