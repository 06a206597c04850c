//! When the sender probes, and at which rates (`probe_controller.cc`).
//!
//! At the start there are two clusters with 3 and 6 times the start rate. As long as the estimate
//! exceeds 70 % of the last probed rate, the next cluster has twice the estimate. Each cluster waits
//! at most a second for its result. Later there is a cluster with twice the estimate every 5 s while
//! the application limits the rate, and one with 85 % of the former rate after a large drop.
//!
//! No cluster has more than twice the highest rate of the application, and there are no clusters
//! while the queue grows or losses limit the rate.

use std::collections::VecDeque;

use crate::kernel::time::{Span, Time};

/// Factors of the start rate in the initial clusters. [-]
const INITIAL: [f64; 2] = [3.0, 6.0];
/// Factor of the estimate in further clusters, and while the application limits the rate. [-]
const FURTHER: f64 = 2.0;
/// Fraction of the probed rate from which the sender probes further
/// (`further_probe_threshold`). [-]
const THRESHOLD: f64 = 0.7;
/// Factor of the highest rate of the application. [-]
const MOST: f64 = 2.0;
/// Longest wait for the result of a cluster (`kMaxWaitingTimeForProbingResult`).
const WAIT: Span = Span(1_000_000_000);
/// Time between two clusters while the application limits the rate (`alr_probing_interval`).
const PERIOD: Span = Span(5_000_000_000);
/// Fraction of the estimate below which a drop is large (`kBitrateDropThreshold`). [-]
const LARGE_DROP: f64 = 0.66;
/// Time after a large drop in which the sender probes (`kBitrateDropTimeout`).
const DROP_VALID: Span = Span(5_000_000_000);
/// Fraction of the rate before the drop, and the uncertainty of a probe. [-]
const AFTER_DROP: f64 = 0.85;
const UNCERTAINTY: f64 = 0.05;
/// Time after the end of the application's limit in which a drop is probed (`kAlrEndedTimeout`).
const LIMIT_ENDED: Span = Span(3_000_000_000);
/// Least number of packets of a cluster, and its least duration (`min_probe_packets_sent`,
/// `min_probe_duration`).
const PACKETS: u32 = 5;
const DURATION: Span = Span(15_000_000);
/// Half the time between two packets of padding in a cluster (`min_probe_delta`).
const GAP: Span = Span(2_000_000);

/// A cluster of packets that are sent at a rate above the target rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// Number of the cluster, from 0.
    pub number: u32,
    /// Rate at which the packets are sent. [bit/s]
    pub rate_bps: f64,
}

impl Cluster {
    /// Returns whether a cluster is complete after this number of packets and bytes.
    pub fn is_complete(&self, packets: u32, bytes: u64) -> bool {
        packets >= PACKETS && bytes as f64 >= self.least_bytes()
    }

    /// Returns the least number of packets of the cluster.
    pub(super) fn least_packets(&self) -> u32 {
        PACKETS
    }

    /// Returns the least number of bytes of the cluster.
    pub(super) fn least_bytes(&self) -> f64 {
        (self.rate_bps * DURATION.seconds() / 8.0).floor()
    }

    /// Returns the length of a packet of padding, if no other packet waits. [bytes]
    pub fn padding_bytes(&self) -> u32 {
        (2.0 * self.rate_bps * GAP.seconds() / 8.0) as u32
    }
}

/// Decides when the sender probes.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    due: VecDeque<Cluster>,
    clusters: u32,
    max_bps: f64,
    estimate_bps: f64,
    may_probe: bool,
    begun: Time,
    /// Estimate from which the sender probes further; `None` if it does not wait for a result.
    further_bps: Option<f64>,
    /// Time of the last large drop, and the rate before it. [bit/s]
    drop: Option<(Time, f64)>,
    drop_probed: Option<Time>,
    limit_ended: Option<Time>,
}

impl Probes {
    /// Returns the decisions of a sender that starts at `now`, with its initial clusters.
    pub(super) fn new(now: Time, start_bps: f64, max_bps: f64) -> Probes {
        let mut probes = Probes {
            due: VecDeque::new(),
            clusters: 0,
            max_bps,
            estimate_bps: start_bps,
            may_probe: true,
            begun: now,
            further_bps: None,
            drop: None,
            drop_probed: None,
            limit_ended: None,
        };
        probes.begin(now, &INITIAL.map(|factor| factor * start_bps), true);
        probes
    }

    /// Returns the next cluster that is due, and removes it.
    pub(super) fn next(&mut self) -> Option<Cluster> {
        self.due.pop_front()
    }

    /// Records that the application stops limiting the rate.
    pub(super) fn limit_ended(&mut self, now: Time) {
        self.limit_ended = Some(now);
    }

    /// Processes a new estimate. `may_probe` is false while the queue grows or losses limit the
    /// rate.
    pub(super) fn on_estimate(&mut self, now: Time, estimate_bps: f64, may_probe: bool) {
        self.may_probe = may_probe;
        if estimate_bps < LARGE_DROP * self.estimate_bps {
            self.drop = Some((now, self.estimate_bps));
        }
        self.estimate_bps = estimate_bps;
        if estimate_bps > MOST * self.max_bps {
            self.further_bps = self.further_bps.map(|_| f64::INFINITY);
        }
        if self.further_bps.is_some_and(|least| estimate_bps > least) {
            self.begin(now, &[FURTHER * estimate_bps], true);
        }
    }

    /// Processes the passing of time. `limited` is the time from which the application limits the
    /// rate.
    pub(super) fn on_interval(&mut self, now: Time, limited: Option<Time>) {
        if self.further_bps.is_some() && now.since(self.begun) > WAIT {
            self.further_bps = None;
        }
        let is_due = limited.is_some_and(|since| now >= since.max(self.begun) + PERIOD);
        if self.further_bps.is_none() && is_due {
            self.begin(now, &[FURTHER * self.estimate_bps], true);
        }
    }

    /// Probes the rate before a large drop, after the queue has drained.
    pub(super) fn request(&mut self, now: Time, limited: Option<Time>) {
        let recent = self
            .limit_ended
            .is_some_and(|at| now.since(at) < LIMIT_ENDED);
        let is_rare = self.drop_probed.is_none_or(|at| now.since(at) > PERIOD);
        let Some((at, before_bps)) = self.drop else {
            return;
        };
        let probed = AFTER_DROP * before_bps;
        if (limited.is_some() || recent)
            && self.further_bps.is_none()
            && (1.0 - UNCERTAINTY) * probed > self.estimate_bps
            && now.since(at) < DROP_VALID
            && is_rare
        {
            self.drop_probed = Some(now);
            self.begin(now, &[probed], false);
        }
    }

    fn begin(&mut self, now: Time, rates_bps: &[f64], mut further: bool) {
        if !self.may_probe {
            return;
        }
        let most = MOST * self.max_bps;
        let mut last = 0.0;
        for &rate in rates_bps {
            further &= rate < most;
            last = rate.min(most);
            self.due.push_back(Cluster {
                number: self.clusters,
                rate_bps: last,
            });
            self.clusters += 1;
        }
        self.begun = now;
        self.further_bps = further.then_some(THRESHOLD * last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn rates(probes: &mut Probes) -> Vec<f64> {
        std::iter::from_fn(|| probes.next())
            .map(|cluster| cluster.rate_bps)
            .collect()
    }

    #[test]
    fn probing_begins_at_3_and_6_times_the_start_and_doubles_while_it_succeeds() {
        let mut probes = Probes::new(Time::ZERO, 3e5, 2.5e6);
        assert_eq!(rates(&mut probes), [9e5, 1.8e6]);
        probes.on_estimate(Time(SECOND / 2), 1.2e6, true); // below 0.7 * 1.8 Mb/s
        assert!(rates(&mut probes).is_empty());
        probes.on_estimate(Time(SECOND / 2), 1.7e6, true);
        assert_eq!(rates(&mut probes), [3.4e6]);
        probes.on_estimate(Time(SECOND / 2), 3e6, true); // at most twice the highest rate
        assert_eq!(rates(&mut probes), [5e6]);
        probes.on_estimate(Time(SECOND / 2), 4.9e6, true);
        assert!(rates(&mut probes).is_empty());
    }

    #[test]
    fn a_result_that_comes_late_ends_probing() {
        let mut probes = Probes::new(Time::ZERO, 3e5, 2.5e6);
        rates(&mut probes);
        probes.on_interval(Time(SECOND + 1), None);
        probes.on_estimate(Time(SECOND + 2), 1.7e6, true);
        assert!(rates(&mut probes).is_empty());
    }

    #[test]
    fn a_limited_application_probes_every_5_s() {
        let mut probes = Probes::new(Time::ZERO, 3e5, 2.5e6);
        rates(&mut probes);
        probes.on_interval(Time(2 * SECOND), None);
        probes.on_interval(Time(4 * SECOND), Some(Time(SECOND)));
        assert!(rates(&mut probes).is_empty());
        probes.on_interval(Time(6 * SECOND), Some(Time(SECOND)));
        assert_eq!(rates(&mut probes), [6e5]);
        probes.may_probe = false;
        probes.on_interval(Time(12 * SECOND), Some(Time(SECOND)));
        assert!(rates(&mut probes).is_empty());
    }

    #[test]
    fn a_large_drop_of_a_limited_application_is_probed_once() {
        let mut probes = Probes::new(Time::ZERO, 3e5, 2.5e6);
        rates(&mut probes);
        probes.on_interval(Time(2 * SECOND), None);
        probes.on_estimate(Time(2 * SECOND), 2e6, true);
        probes.on_estimate(Time(3 * SECOND), 1e6, true);
        probes.request(Time(4 * SECOND), None); // the application does not limit the rate
        assert!(rates(&mut probes).is_empty());
        probes.request(Time(4 * SECOND), Some(Time(SECOND)));
        probes.request(Time(4 * SECOND), Some(Time(SECOND)));
        assert_eq!(rates(&mut probes), [1.7e6]);
    }

    #[test]
    fn a_cluster_has_at_least_5_packets_and_15_ms() {
        let cluster = Cluster {
            number: 0,
            rate_bps: 4e6,
        };
        assert!(!cluster.is_complete(4, 10_000));
        assert!(!cluster.is_complete(6, 7_499));
        assert!(cluster.is_complete(5, 7_500)); // 4 Mb/s for 15 ms
        assert_eq!(cluster.padding_bytes(), 2_000);
    }
}
