//! The wireless capacity estimator (WCE): paper 002, section 4.2.1 and appendix IV.
//!
//! A virtual shared bottleneck of rate C is upstream of a WLAN. Pings bypass the bottleneck. The
//! round-trip time of the pings shows whether a queue grows in the WLAN, and determines the step by
//! which C changes:
//!
//! | round-trip time | step |
//! |---|---|
//! | up to 5 ms | C is multiplied by `speed_up`, and rises by at least `increase` |
//! | up to 40 ms | C rises by `increase` |
//! | up to 200 ms | C falls by `decrease` |
//! | above 200 ms | C is multiplied by `back_off`, and falls by at least `decrease`, once per round trip |
//! | no reply, or a reply to a ping from before a stall | C does not change |
//!
//! C stays between `min` and `max`. If the base round-trip time is above the lowest threshold (greedy
//! uplink UDP makes every access to the channel slow), all three thresholds move up by the
//! difference.
//!
//! # A standing queue does not move the thresholds
//! If no reply has been near the base for 64 samples ([`BaseRtt`]), the base is in doubt. To
//! distinguish a longer path from a queue, the estimator drains the queue. While the base is in
//! doubt, C decreases by `decrease` also below the second threshold, until one of two events:
//!
//! - A reply is near the base. The queue has drained, C is just below the capacity, and the steps
//!   in the table continue.
//! - C has been at `min` for twice the longest round-trip time since the doubt began, and 8 replies
//!   after that are still not near the base. A WLAN with a capacity of at least twice `min` has
//!   drained any queue by then, so that the path is longer. The minimum of the 8 replies becomes
//!   the base. C returns to its value at the last confirmation of the old base.
//!
//! A reply is near the base if its round-trip time is at most [`Thresholds::near_base`] (9 ms) above the base. A rise
//! of the base is accepted after 64 samples, (`max` - `min`) / `decrease` further samples, the draining, and 8 samples.
//! With the defaults this takes at most 6.4 s + 14.5 s + 0.8 s and two round trips. C is low during the last 15 s. The
//! advantage is that a queue cannot stay in the WLAN permanently: it returns to the virtual bottleneck.
//!
//! Differs from the paper in four points. The paper does not give the sizes of the steps (see
//! [`WceSettings`]). `decrease` is above `increase`, which halves the overshoot. There is at most
//! one `back_off` per round trip, because a ping that left before C fell does not show the fall.
//! The base is that of [`BaseRtt`], and it may be in doubt.
//!
//! # Stability margin
//! The WLAN integrates C minus its capacity K, and the estimator integrates the sign of the
//! threshold minus the round-trip time. This loop of a two-point (relay) controller and two
//! integrators oscillates with any size of the steps. [`WceSettings::cycle`] gives the limit cycle
//! of a fluid queue that is empty when C passes K. The rates of increase and decrease are a and d
//! [bit/s per s], the threshold is h, and the feedback delay is g (half an interval for sampling,
//! plus a round trip of h):
//!
//! ```text
//! C passes K; the queue reaches h after t = sqrt(2 K h / a); C turns back at K + a (t + g)
//! longest queue = a (t + g)^2 (1 + a/d) / 2
//! margin        = high threshold / (longest queue / K)
//! ```
//!
//! With a margin above 1 the oscillation never reaches the exponential steps, and therefore cannot
//! grow. The margin of the defaults is 3.7 at 5.4 Mbit/s and 3.3 at 1 Mbit/s.

use std::mem;

mod parameters;
mod settings;

pub use self::parameters::{Cycle, Thresholds, WceRule, WceSettings, WceSettingsError};
pub(crate) use self::settings::BottleneckWce;
pub use self::settings::WceKeys;
use super::base_rtt::{BaseRtt, Evidence};
use super::step::Step;
use crate::kernel::time::{Span, Time};

/// Result of a ping. The estimator requires at least one result per interval, even without a
/// round-trip time, because a result shows that the program that sends the pings has not stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Time at which the result is known. This time must not decrease from step to step.
    pub at: Time,
    /// Round-trip time, if there was a reply.
    pub rtt: Option<Span>,
}

/// The wireless capacity estimator (WCE). [`Wce::step`] updates the capacity C after each ping.
#[derive(Clone, Debug, PartialEq)]
pub struct Wce {
    settings: WceSettings,
    capacity_bps: u64,
    base: BaseRtt,
    /// Time of the last observation.
    observed: Option<Time>,
    /// End of the last stall of the program that sends the pings. Replies to earlier pings are
    /// ignored.
    resumed: Option<Time>,
    /// Time of the last exponential decrease of C.
    backed_off: Option<Time>,
    /// Time since which C has been at its minimum.
    at_min_since: Option<Time>,
    /// Value of C when a sample last confirmed the base round-trip time. [bit/s]
    confirmed_bps: u64,
    /// Whether the base round-trip time has just risen, so that C must return to its earlier value.
    returns: bool,
}

impl Wce {
    /// Number of intervals without an observation after which the program that sends the pings is
    /// considered stalled.
    const STALL: u64 = 5;

    /// Returns an estimator without observations; C is at its maximum.
    ///
    /// # Errors
    /// Inconsistent `settings`.
    pub fn new(settings: WceSettings) -> Result<Wce, WceSettingsError> {
        let settings = settings.checked()?;
        Ok(Wce {
            settings,
            capacity_bps: settings.max_bps,
            base: BaseRtt::new(settings.thresholds.low, settings.thresholds.near_base()),
            observed: None,
            resumed: None,
            backed_off: None,
            at_min_since: None,
            confirmed_bps: settings.max_bps,
            returns: false,
        })
    }

    /// Returns the settings: bounds, thresholds and steps.
    pub fn settings(&self) -> &WceSettings {
        &self.settings
    }

    /// Returns the capacity C. [bit/s]
    pub fn capacity_bps(&self) -> u64 {
        self.capacity_bps
    }

    /// Returns the base round-trip time (without a queue), or `None` if it is not known yet.
    pub fn base_rtt(&self) -> Option<Span> {
        self.base.estimate()
    }

    /// Returns the thresholds for the current base round-trip time.
    pub fn thresholds(&self) -> Thresholds {
        let usual = self.settings.thresholds;
        let above = self.base_rtt().map_or(Span::ZERO, |base| base - usual.low);
        Thresholds {
            low: usual.low + above,
            threshold: usual.threshold + above,
            high: usual.high + above,
        }
    }

    /// Adapts C to `observation`. The step depends only on this observation and earlier
    /// observations. An exponential step is never smaller than a linear step, even if C is small.
    pub fn step(&mut self, observation: Observation) -> Step {
        let step = self.decide(observation);
        let bps = self.capacity_bps;
        let higher = bps.saturating_add(self.settings.increase_bps);
        let lower = bps.saturating_sub(self.settings.decrease_bps);
        let wanted = match step {
            Step::Hold | Step::Measure => bps, // the step `Measure` does not occur in this algorithm
            Step::SpeedUp => higher.max((bps as f64 * self.settings.speed_up) as u64),
            Step::Increase => higher,
            Step::Decrease => lower,
            Step::BackOff => lower.min((bps as f64 * self.settings.back_off) as u64),
            Step::Return => bps.max(self.confirmed_bps),
        };
        self.capacity_bps = wanted.clamp(self.settings.min_bps, self.settings.max_bps);
        if self.capacity_bps > self.settings.min_bps {
            self.at_min_since = None;
        } else {
            self.at_min_since.get_or_insert(observation.at);
        }
        step
    }

    fn decide(&mut self, Observation { at, rtt }: Observation) -> Step {
        let patience = self.settings.interval * Wce::STALL;
        if self.observed.is_some_and(|last| at.since(last) > patience) {
            self.resumed = Some(at);
        }
        self.observed = Some(at);
        // replies to pings from before a stall are ignored, because they may have waited before
        // they were read
        let left_before = |then: Option<Time>, rtt| then.is_some_and(|then| at.since(then) < rtt);
        let rtt = match rtt {
            Some(rtt) if rtt <= self.settings.timeout && !left_before(self.resumed, rtt) => rtt,
            Some(_) | None => return Step::Hold,
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
            Step::Decrease // no second back-off: a ping that left before C fell does not show the fall
        } else {
            self.backed_off = Some(at);
            Step::BackOff
        }
    }

    /// Updates the base round-trip time with the round-trip time `rtt` of a ping. If the base
    /// rises, C must return to its earlier value.
    fn watch_base(&mut self, at: Time, rtt: Span) {
        let drained = self
            .at_min_since
            .map(|since| since + self.base.longest() * 2);
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
