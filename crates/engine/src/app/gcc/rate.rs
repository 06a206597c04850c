//! Additive increase and multiplicative decrease of the rate, by the signal of the overuse detector
//! (`aimd_rate_control.cc`, `link_capacity_estimator.cc`).
//!
//! ```text
//! signal   Hold       Increase    Decrease
//! over     Decrease   Decrease    Decrease
//! normal   Increase   Increase    Decrease
//! under    Hold       Hold        Hold
//! ```
//!
//! A decrease leads to Hold immediately. The capacity of the link is the mean of the throughput at
//! decreases. If it is known, the increase is additive, and otherwise it is 8 % per second.

use super::trend::Usage;
use crate::kernel::time::{Span, Time};

/// Factor between the throughput and the rate after a decrease (`kDefaultBackoffFactor`). [-]
const BETA: f64 = 0.85;
/// Reduction of the rate after a decrease, in addition to the factor. [bit/s]
const FURTHER_BPS: f64 = 5_000.0;
/// Growth of the rate in a second far from the capacity. [-]
const GROWTH: f64 = 1.08;
/// Least growth of the rate per update far from the capacity. [bit/s]
const LEAST_STEP_BPS: f64 = 1_000.0;
/// Least growth of the rate near the capacity. [bit/s per s]
const LEAST_SLOPE: f64 = 4_000.0;
/// Time that the overuse detector needs.
const DETECTION: Span = Span(100_000_000);
/// Round-trip time before the first feedback (`kDefaultRtt`).
const FIRST_RTT: Span = Span(200_000_000);
/// Length of a packet in the additive increase. [bit]
const PACKET_BITS: f64 = 1200.0 * 8.0;

/// The mean throughput at decreases of the rate, and its deviation.
#[derive(Clone, Copy, Debug, Default)]
struct Capacity {
    /// Mean, and variance divided by the mean. [kb/s]
    estimate: Option<(f64, f64)>,
}

impl Capacity {
    /// Weight of a sample (`OnOveruseDetected`). [-]
    const WEIGHT: f64 = 0.05;
    /// First normalised variance, and its bounds. [kb/s]
    const VARIANCES: [f64; 2] = [0.4, 2.5];

    /// Adds the throughput at a decrease. [bit/s]
    fn add(&mut self, throughput_bps: f64) {
        let sample = throughput_bps / 1e3;
        let [least, most] = Capacity::VARIANCES;
        let (mean, variance) = self.estimate.map_or((sample, least), |(mean, variance)| {
            let weight = Capacity::WEIGHT;
            ((1.0 - weight) * mean + weight * sample, variance)
        });
        let error = mean - sample;
        let weight = Capacity::WEIGHT;
        let variance = (1.0 - weight) * variance + weight * error * error / mean.max(1.0);
        self.estimate = Some((mean, variance.clamp(least, most)));
    }

    /// Returns the mean, and three standard deviations below and above. [bit/s]
    fn bounds_bps(&self) -> Option<[f64; 3]> {
        let (mean, variance) = self.estimate?;
        let margin = 3.0 * (variance * mean).sqrt();
        Some([(mean - margin).max(0.0), mean, mean + margin].map(|kbps| kbps * 1e3))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Hold,
    Increase,
    Decrease,
}

/// The rate by the delays of packets.
#[derive(Clone, Debug)]
pub(super) struct RateControl {
    state: State,
    rate_bps: f64,
    min_bps: f64,
    /// Last known throughput. [bit/s]
    throughput_bps: f64,
    rtt: Span,
    capacity: Capacity,
    /// Time of the last change of the rate, or of the last increase that was not possible.
    changed: Option<Time>,
}

impl RateControl {
    /// Returns a control that begins at `start_bps`. [bit/s]
    pub(super) fn new(start_bps: f64, min_bps: f64) -> RateControl {
        RateControl {
            state: State::Hold,
            rate_bps: start_bps,
            min_bps,
            throughput_bps: start_bps,
            rtt: FIRST_RTT,
            capacity: Capacity::default(),
            changed: None,
        }
    }

    /// Returns the rate. [bit/s]
    pub(super) fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    /// Sets the round-trip time.
    pub(super) fn set_rtt(&mut self, rtt: Span) {
        self.rtt = rtt;
    }

    /// Sets the rate, for example to the result of a probe. [bit/s]
    pub(super) fn set_rate(&mut self, now: Time, rate_bps: f64) {
        self.rate_bps = rate_bps.max(self.min_bps);
        self.changed = Some(now);
    }

    /// Returns whether the rate may be reduced again: after a round-trip time, which counts as 10
    /// to 200 ms, or if the throughput is less than half the rate.
    pub(super) fn may_reduce(&self, now: Time, throughput_bps: f64) -> bool {
        let interval = self.rtt.clamp(Span(10_000_000), Span(200_000_000));
        let is_due = self.changed.is_none_or(|at| now.since(at) >= interval);
        is_due || throughput_bps < 0.5 * self.rate_bps
    }

    /// Changes the rate. Without a throughput the last one is used.
    pub(super) fn update(&mut self, now: Time, usage: Usage, throughput_bps: Option<f64>) {
        self.throughput_bps = throughput_bps.unwrap_or(self.throughput_bps);
        self.state = match (self.state, usage) {
            (_, Usage::Over) => State::Decrease,
            (_, Usage::Under) => State::Hold,
            (State::Hold, Usage::Normal) => {
                self.changed = Some(now);
                State::Increase
            }
            (state, Usage::Normal) => state,
        };
        match self.state {
            State::Hold => {}
            State::Increase => self.increase(now),
            State::Decrease => self.decrease(now),
        }
    }

    fn increase(&mut self, now: Time) {
        let bounds = self.capacity.bounds_bps();
        if bounds.is_some_and(|[_, _, most]| self.throughput_bps > most) {
            self.capacity = Capacity::default();
        }
        let limit = 1.5 * self.throughput_bps + 10_000.0;
        if self.rate_bps < limit {
            let passed_s = self.changed.map(|at| now.since(at).seconds());
            let step = match self.capacity.estimate {
                Some(_) => self.slope() * passed_s.unwrap_or(0.0),
                None => {
                    let growth = libm::pow(GROWTH, passed_s.unwrap_or(1.0).min(1.0));
                    (self.rate_bps * (growth - 1.0)).max(LEAST_STEP_BPS)
                }
            };
            self.rate_bps = (self.rate_bps + step).min(limit).max(self.min_bps);
        }
        self.changed = Some(now);
    }

    /// Returns the growth near the capacity: half a packet per response time, which is the
    /// round-trip time and the time of the detector. [bit/s per s]
    fn slope(&self) -> f64 {
        let frame = self.rate_bps / 30.0;
        let packet = frame / (frame / PACKET_BITS).ceil();
        let response_s = 2.0 * (self.rtt + DETECTION).seconds();
        (packet / response_s).max(LEAST_SLOPE)
    }

    fn decrease(&mut self, now: Time) {
        let mut reduced = self.throughput_bps * BETA;
        if reduced > FURTHER_BPS {
            reduced -= FURTHER_BPS;
        }
        let bounds = self.capacity.bounds_bps();
        if reduced > self.rate_bps
            && let Some([_, capacity, _]) = bounds
        {
            reduced = BETA * capacity;
        }
        self.rate_bps = self.rate_bps.min(reduced).max(self.min_bps);
        if bounds.is_some_and(|[least, _, _]| self.throughput_bps < least) {
            self.capacity = Capacity::default();
        }
        self.capacity.add(self.throughput_bps);
        self.state = State::Hold;
        self.changed = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn without_a_capacity_the_rate_grows_by_8_percent_per_second() {
        let mut control = RateControl::new(1e6, 3e4);
        control.update(Time::ZERO, Usage::Normal, Some(1e6)); // Hold -> Increase at this time
        assert_eq!(control.rate_bps(), 1_001_000.0); // at least 1 kb/s per update
        control.update(Time(SECOND), Usage::Normal, Some(1e6));
        assert!((control.rate_bps() - 1_001_000.0 * 1.08).abs() < 1e-6);
        control.update(Time(2 * SECOND), Usage::Under, Some(1e6));
        assert!((control.rate_bps() - 1_001_000.0 * 1.08).abs() < 1e-6);
        // at most 1.5 times the throughput and 10 kb/s
        control.update(Time(2 * SECOND), Usage::Normal, Some(740_000.0));
        control.update(Time(3 * SECOND), Usage::Normal, Some(740_000.0));
        assert_eq!(control.rate_bps(), 1_120_000.0);
    }

    #[test]
    fn overuse_reduces_to_0_85_of_the_throughput_and_then_the_growth_is_additive() {
        let mut control = RateControl::new(2e6, 3e4);
        control.set_rtt(Span(100_000_000));
        control.update(Time(SECOND), Usage::Over, Some(1e6));
        assert_eq!(control.rate_bps(), 845_000.0);
        control.update(Time(2 * SECOND), Usage::Normal, Some(1e6));
        assert_eq!(control.rate_bps(), 845_000.0); // Hold -> Increase
        control.update(Time(3 * SECOND), Usage::Normal, Some(1e6));
        // frames of 28,167 bits are 3 packets of 9,389 bits; half a packet per 200 ms
        let slope = 845_000.0 / 30.0 / 3.0 / 0.4;
        assert!((control.rate_bps() - 845_000.0 - slope).abs() < 1e-6);
        // three standard deviations of the capacity are 3 sqrt(0.4 * 1000) = 60 kb/s: a higher
        // throughput means another capacity
        control.update(Time(4 * SECOND), Usage::Normal, Some(1.061e6));
        assert!(control.capacity.estimate.is_none());
    }

    #[test]
    fn a_second_decrease_waits_for_a_round_trip_time_or_half_the_throughput() {
        let mut control = RateControl::new(1e6, 3e4);
        control.set_rtt(Span(400_000_000));
        control.set_rate(Time(SECOND), 1e6);
        let after = |ms: u64| Time(SECOND + ms * 1_000_000);
        assert!(!control.may_reduce(after(199), 6e5));
        assert!(control.may_reduce(after(199), 4.9e5));
        assert!(control.may_reduce(after(200), 6e5));
    }

    #[test]
    fn the_capacity_is_a_mean_with_weight_one_in_twenty() {
        let mut capacity = Capacity::default();
        capacity.add(1e6);
        assert_eq!(capacity.estimate, Some((1000.0, 0.4)));
        capacity.add(9e5);
        // mean 995; variance 0.95 * 0.4 + 0.05 * 95^2 / 995 = 0.8335
        let (mean, variance) = capacity.estimate.unwrap();
        assert!((mean - 995.0).abs() < 1e-9 && (variance - 0.833_517_587).abs() < 1e-9);
    }
}
