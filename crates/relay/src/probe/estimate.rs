//! Estimate of the round-trip time T from the probes that were answered in an interval.

use std::time::Duration;

/// Probes are considered unanswered after this time without an answer, but not before this number of round-trip times.
/// The values were chosen in emulations of paper 001. With 5 s instead of 20 s, probes that were only delayed by a busy
/// wireless medium were considered unanswered during 40 % of the time.
const SILENCE: (Duration, u32) = (Duration::from_secs(20), 3);

/// Mean round-trip time of the probes since the last step, and the time at which this estimate
/// expires.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    sum: Duration,
    count: u32,
    /// Mean round-trip time in the last interval with an answered probe; `None` before such an interval.
    mean: Option<Duration>,
    until: Duration,
}

impl Estimate {
    /// Adds the round-trip time of a probe.
    pub(crate) fn add(&mut self, rtt: Duration, now: Duration) {
        self.sum += rtt;
        self.count += 1;
        self.until = now + SILENCE.0.max(rtt * SILENCE.1);
    }

    /// Ends an interval. Returns the mean round-trip time of the probes answered in the interval,
    /// if any.
    pub(crate) fn step(&mut self) -> Option<Duration> {
        let mean = (self.count > 0).then(|| self.sum / self.count);
        self.mean = mean.or(self.mean);
        (self.sum, self.count) = (Duration::ZERO, 0);
        mean
    }

    /// Returns whether probes are considered answered at `now`.
    pub(crate) fn is_valid(&self, now: Duration) -> bool {
        now < self.until
    }

    /// Returns the newest mean round-trip time, or `None` if probes are considered unanswered at
    /// `now`.
    pub(crate) fn rtt(&self, now: Duration) -> Option<Duration> {
        let so_far = (self.count > 0).then(|| self.sum / self.count);
        self.mean.or(so_far).filter(|_| self.is_valid(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn it_is_the_mean_of_an_interval() {
        let mut estimate = Estimate::default();
        assert_eq!(estimate.step(), None);
        for rtt in [100, 200, 600] {
            estimate.add(MS(rtt), MS(900));
        }
        assert_eq!(estimate.rtt(MS(900)), Some(MS(300)));
        assert_eq!(estimate.step(), Some(MS(300)));
        assert_eq!(estimate.step(), None, "no probe was answered since");
        assert_eq!(estimate.rtt(MS(2_000)), Some(MS(300)));
    }

    #[test]
    fn it_ends_twenty_seconds_or_three_round_trips_after_the_last_answer() {
        let mut estimate = Estimate::default();
        assert!(!estimate.is_valid(MS(0)));
        estimate.add(MS(100), MS(1_000));
        assert!(estimate.is_valid(MS(20_999)));
        assert!(!estimate.is_valid(MS(21_000)));
        assert_eq!(estimate.rtt(MS(21_000)), None);
        estimate.add(MS(8_000), MS(22_000));
        assert!(estimate.is_valid(MS(45_999)));
        assert!(!estimate.is_valid(MS(46_000)));
    }
}
