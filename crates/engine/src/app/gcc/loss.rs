//! Rate control by losses (draft-ietf-rmcat-gcc-02, section 6; `send_side_bandwidth_estimation.cc`
//! without `LossBasedBweV2`).
//!
//! | fraction of lost packets | target rate |
//! |---|---|
//! | up to 2 % | 1.08 times the lowest target of the last second, and 1 kb/s |
//! | up to 10 % | constant |
//! | above 10 % | multiplied by 1 - loss / 2, at most once per 300 ms and round-trip time |
//!
//! The target rate never exceeds the estimate by delays. In the first two seconds without loss, the
//! target rate is that estimate.

use std::collections::VecDeque;

use crate::kernel::time::{Span, Time};

/// Losses up to which the rate grows, and above which it falls. [-]
const LOW_LOSS: f64 = 0.02;
const HIGH_LOSS: f64 = 0.1;
/// Time in which the lowest target is found (`kBweIncreaseInterval`).
const INCREASE_INTERVAL: Span = Span(1_000_000_000);
/// Time between two decreases, in addition to the round-trip time (`kBweDecreaseInterval`).
const DECREASE_INTERVAL: Span = Span(300_000_000);
/// Time after the first report in which the estimate by delays is trusted (`kStartPhase`).
const START: Span = Span(2_000_000_000);
/// Least number of packets in a fraction of losses (`kLimitNumPackets`).
const LEAST_PACKETS: u64 = 20;
/// Time between two fractions of losses (`kLossUpdateInterval`).
const REPORT_INTERVAL: Span = Span(1_000_000_000);
/// Time for which a fraction of losses is valid: 1.2 `kMaxRtcpFeedbackInterval`.
const VALID: Span = Span(6_000_000_000);

/// Rate control by losses.
#[derive(Clone, Debug)]
pub(super) struct LossControl {
    target_bps: f64,
    min_bps: f64,
    delay_limit_bps: f64,
    rtt: Span,
    lost: u64,
    expected: u64,
    first_report: Option<Time>,
    next_report: Time,
    last_report: Option<Time>,
    loss: f64,
    has_decreased: bool,
    decreased: Option<Time>,
    /// Lowest targets of the last second, with their times.
    lowest: VecDeque<(Time, f64)>,
}

impl LossControl {
    pub(super) fn new(start_bps: f64, min_bps: f64) -> LossControl {
        LossControl {
            target_bps: start_bps,
            min_bps,
            delay_limit_bps: f64::INFINITY,
            rtt: Span::ZERO,
            lost: 0,
            expected: 0,
            first_report: None,
            next_report: Time::ZERO,
            last_report: None,
            loss: 0.0,
            has_decreased: false,
            decreased: None,
            lowest: VecDeque::new(),
        }
    }

    /// Returns the target rate. [bit/s]
    pub(super) fn target_bps(&self) -> f64 {
        self.target_bps
    }

    /// Returns whether losses keep the target below the estimate by delays.
    pub(super) fn is_limiting(&self) -> bool {
        self.loss > LOW_LOSS && self.target_bps < self.delay_limit_bps
    }

    /// Returns the round-trip time.
    pub(super) fn rtt(&self) -> Span {
        self.rtt
    }

    /// Sets the round-trip time.
    pub(super) fn on_rtt(&mut self, rtt: Span) {
        self.rtt = rtt;
    }

    /// Sets the target rate to the result of a probe. [bit/s]
    pub(super) fn set_target(&mut self, target_bps: f64) {
        self.delay_limit_bps = f64::INFINITY;
        self.set(target_bps);
        self.lowest.clear();
    }

    /// Sets the estimate by delays, which limits the target rate. [bit/s]
    pub(super) fn set_delay_limit(&mut self, limit_bps: f64) {
        self.delay_limit_bps = limit_bps;
        self.set(self.target_bps);
    }

    fn set(&mut self, target_bps: f64) {
        self.target_bps = target_bps.min(self.delay_limit_bps).max(self.min_bps);
    }

    /// Adds the packets of a report. Once per second, a new fraction of losses changes the target.
    pub(super) fn on_packets(&mut self, now: Time, lost: u64, expected: u64) {
        self.lost += lost;
        self.expected += expected;
        if now <= self.next_report {
            return;
        }
        self.next_report = now + REPORT_INTERVAL;
        self.first_report.get_or_insert(now);
        if self.expected < LEAST_PACKETS {
            return;
        }
        self.loss = self.lost as f64 / self.expected as f64;
        (self.lost, self.expected) = (0, 0);
        self.has_decreased = false;
        self.last_report = Some(now);
        self.update(now);
    }

    /// Changes the target rate by the last fraction of losses.
    pub(super) fn update(&mut self, now: Time) {
        let first = self.first_report;
        if self.loss == 0.0 && first.is_none_or(|first| now.since(first) < START) {
            let limit = self.delay_limit_bps;
            if limit.is_finite() && limit > self.target_bps {
                self.lowest.clear();
                self.lowest.push_back((now, self.target_bps));
                self.set(limit);
                return;
            }
        }
        self.update_lowest(now);
        let is_valid = |at: Time| now.since(at) < VALID;
        if !self.last_report.is_some_and(is_valid) {
            return;
        }
        if self.loss <= LOW_LOSS {
            if let Some(&(_, lowest)) = self.lowest.front() {
                self.set(lowest * 1.08 + 1_000.0);
            }
            return;
        }
        let is_due = |at: Time| now.since(at) >= DECREASE_INTERVAL + self.rtt;
        if self.loss > HIGH_LOSS && !self.has_decreased && self.decreased.is_none_or(is_due) {
            self.decreased = Some(now);
            self.has_decreased = true;
            self.set(self.target_bps * (1.0 - 0.5 * self.loss));
        }
    }

    fn update_lowest(&mut self, now: Time) {
        let millisecond = Span(1_000_000);
        while (self.lowest.front())
            .is_some_and(|&(at, _)| now.since(at) + millisecond > INCREASE_INTERVAL)
        {
            self.lowest.pop_front();
        }
        while (self.lowest.back()).is_some_and(|&(_, target)| self.target_bps <= target) {
            self.lowest.pop_back();
        }
        self.lowest.push_back((now, self.target_bps));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Returns a control with a target of 1 Mb/s, after its start and without a limit by delays.
    fn running() -> LossControl {
        LossControl {
            first_report: Some(Time::ZERO),
            ..LossControl::new(1e6, 3e4)
        }
    }

    #[test]
    fn ten_percent_divide_constant_from_falling() {
        for (lost, target) in [(0, 1_081_000.0), (1, 1_081_000.0), (5, 1e6), (20, 9e5)] {
            let mut control = running();
            control.on_packets(after(3000), lost, 100);
            assert_eq!(control.target_bps(), target, "{lost}");
        }
    }

    #[test]
    fn fewer_than_20_packets_wait_for_the_next_report() {
        let mut control = running();
        control.on_packets(after(3000), 10, 19);
        assert_eq!(control.target_bps(), 1e6);
        control.on_packets(after(4001), 10, 61); // 20 of 80 packets
        assert_eq!(control.target_bps(), 875_000.0);
        // a report decreases once
        control.update(after(4900));
        assert_eq!(control.target_bps(), 875_000.0);
    }

    #[test]
    fn the_increase_begins_at_the_lowest_target_of_the_last_second() {
        let mut control = running();
        control.on_packets(after(3000), 0, 100);
        control.update(after(3500));
        assert_eq!(control.target_bps(), 1_081_000.0);
        control.update(after(4000)); // the value of 3.0 s has expired: the lowest is 1.081 Mb/s
        assert!((control.target_bps() - 1_168_480.0).abs() < 1e-6);
        control.set_delay_limit(5e5);
        assert_eq!(control.target_bps(), 5e5);
    }

    #[test]
    fn without_loss_the_start_follows_the_delays() {
        let mut control = LossControl::new(3e5, 3e4);
        control.on_packets(after(100), 0, 30);
        control.set_delay_limit(9e5);
        control.update(after(200));
        assert_eq!(control.target_bps(), 9e5);
    }
}
