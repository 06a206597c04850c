//! Whether the application limits the rate, since it sends less than the estimate
//! (`alr_detector.cc`, `interval_budget.cc`).
//!
//! A budget grows at 65 % of the estimate and is used by packets. It is bounded by what 500 ms of
//! this rate hold. Above 80 % of the bound the application limits the rate, and below 50 % it does
//! not.

use crate::kernel::time::Time;

/// Fraction of the estimate at which the budget grows (`bandwidth_usage_ratio`). [-]
const USAGE: f64 = 0.65;
/// Time whose bytes bound the budget (`kWindowMs`). [s]
const WINDOW_S: f64 = 0.5;
/// Fractions of the bound at which the state begins and ends. [-]
const BEGIN: f64 = 0.8;
const END: f64 = 0.5;

/// Detector of an application that sends less than the estimate.
#[derive(Clone, Debug, Default)]
pub(super) struct LimitDetector {
    rate_bps: f64,
    /// Unused bits. Negative if more was sent than the budget allowed.
    budget: f64,
    last: Option<Time>,
    since: Option<Time>,
}

impl LimitDetector {
    /// Returns the time from which the application limits the rate; `None` if it does not.
    pub(super) fn since(&self) -> Option<Time> {
        self.since
    }

    /// Sets the estimate. [bit/s]
    pub(super) fn set_estimate(&mut self, estimate_bps: f64) {
        self.rate_bps = estimate_bps * USAGE;
        let bound = self.bound();
        self.budget = self.budget.clamp(-bound, bound);
    }

    fn bound(&self) -> f64 {
        self.rate_bps * WINDOW_S
    }

    /// Records that `bytes` bytes are sent at `now`.
    pub(super) fn on_sent(&mut self, now: Time, bytes: u32) {
        let Some(last) = self.last.replace(now) else {
            return;
        };
        let bound = self.bound();
        self.budget = (self.budget - 8.0 * f64::from(bytes)).max(-bound);
        self.budget = (self.budget + self.rate_bps * now.since(last).seconds()).min(bound);
        let part = self.budget / bound;
        if part > BEGIN {
            self.since.get_or_insert(now);
        } else if part < END {
            self.since = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_estimate_is_limited_by_the_application() {
        let mut detector = LimitDetector::default();
        detector.set_estimate(1e6);
        // 500 kb/s in packets of 1,250 bytes each 20 ms; the budget grows by 13,000 - 10,000 bits
        // per packet up to 0.8 * 325,000 = 260,000 bits, which 87 packets exceed
        let at = |k: u64| Time(k * 20_000_000);
        for k in 0..=86 {
            detector.on_sent(at(k), 1250);
            assert_eq!(detector.since(), None, "{k}");
        }
        detector.on_sent(at(87), 1250);
        assert_eq!(detector.since(), Some(at(87)));
        // at the estimate itself, 20,000 bits per packet: below 162,500 bits after 15 packets
        let mut ended = 0;
        for k in 88..150 {
            detector.on_sent(at(k), 2500);
            if detector.since().is_none() {
                ended = k;
                break;
            }
        }
        assert_eq!(ended, 87 + 15);
    }

    #[test]
    fn the_full_estimate_is_not_limited() {
        let mut detector = LimitDetector::default();
        detector.set_estimate(1e6);
        for k in 0..1000 {
            detector.on_sent(Time(k * 10_000_000), 1250);
        }
        assert_eq!(detector.since(), None);
    }
}
