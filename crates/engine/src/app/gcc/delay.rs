//! Rate control by delays: the overuse detector, and the reaction to it (`delay_based_bwe.cc`).

use std::collections::VecDeque;

use super::rate::RateControl;
use super::report::PacketReport;
use super::trend::{Groups, Trend, Usage};
use crate::kernel::time::{Span, Time};

/// Time without packets after which the detector begins again (`kStreamTimeOut`).
const SILENCE: Span = Span(2_000_000_000);
/// Number of reports whose round-trip times are averaged (`kMaxFeedbackRttWindow`).
const REPORTS: usize = 32;

/// Outcome of a feedback report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Whether the estimate may have changed.
    pub(super) updated: bool,
    /// Whether the estimate is the result of a probe.
    pub(super) by_probe: bool,
    /// Whether a queue that had grown is empty again.
    pub(super) recovered: bool,
}

/// Rate control by delays.
#[derive(Clone, Debug)]
pub(super) struct DelayControl {
    groups: Groups,
    trend: Trend,
    rate: RateControl,
    last_seen: Option<Time>,
    rtts: VecDeque<Span>,
}

impl DelayControl {
    pub(super) fn new(start_bps: f64, min_bps: f64) -> DelayControl {
        DelayControl {
            groups: Groups::default(),
            trend: Trend::default(),
            rate: RateControl::new(start_bps, min_bps),
            last_seen: None,
            rtts: VecDeque::new(),
        }
    }

    /// Returns the estimate of the available rate. [bit/s]
    pub(super) fn estimate_bps(&self) -> f64 {
        self.rate.rate_bps()
    }

    pub(super) fn is_overusing(&self) -> bool {
        self.trend.usage() == Usage::Over
    }

    /// Adds the longest round-trip time of a report.
    pub(super) fn on_rtt(&mut self, longest: Span) {
        self.rtts.push_back(longest);
        if self.rtts.len() > REPORTS {
            self.rtts.pop_front();
        }
        let sum: u64 = self.rtts.iter().map(|rtt| rtt.0).sum();
        self.rate.set_rtt(Span(sum / self.rtts.len() as u64));
    }

    /// Processes the packets of a report, in the order of arrival. `probed_bps` is the result of a
    /// probe.
    pub(super) fn update(
        &mut self,
        now: Time,
        arrived: &[(Time, &PacketReport)],
        throughput_bps: Option<f64>,
        probed_bps: Option<f64>,
    ) -> Outcome {
        let mut recovered = false;
        for &(at, packet) in arrived {
            let before = self.trend.usage();
            self.add(now, packet.sent, at);
            recovered |= before == Usage::Under && self.trend.usage() == Usage::Normal;
        }
        if arrived.is_empty() {
            return Outcome::default();
        }
        let (updated, by_probe) = self.react(now, throughput_bps, probed_bps);
        Outcome {
            updated,
            by_probe,
            recovered,
        }
    }

    fn add(&mut self, now: Time, sent: Time, arrived: Time) {
        let last = self.last_seen.replace(now);
        if last.is_none_or(|last| now.since(last) > SILENCE) {
            self.groups = Groups::default();
            self.trend = Trend::default();
        }
        if let Some(deltas) = self.groups.add(sent, arrived) {
            self.trend.add(deltas, arrived);
        }
    }

    /// Changes the rate. Returns whether the rate may have changed, and whether a probe set it.
    fn react(&mut self, now: Time, throughput: Option<f64>, probed: Option<f64>) -> (bool, bool) {
        if self.is_overusing() {
            let rate = self.rate.rate_bps();
            return match throughput {
                Some(bps) if self.rate.may_reduce(now, bps) => {
                    self.rate.update(now, Usage::Over, throughput);
                    (true, false)
                }
                // overuse before the first window of the throughput has ended
                None if self.rate.may_reduce(now, rate / 2.0 - 1.0) => {
                    self.rate.set_rate(now, rate / 2.0);
                    (true, false)
                }
                _ => (false, false),
            };
        }
        if let Some(probed) = probed {
            self.rate.set_rate(now, probed);
            return (true, true);
        }
        self.rate.update(now, self.trend.usage(), throughput);
        (true, false)
    }
}
