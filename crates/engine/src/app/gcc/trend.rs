//! Packet groups, the trend of their delays, and the overuse detector.
//!
//! `inter_arrival_delta.cc` forms groups of packets that were sent within 5 ms, or that arrived as
//! a burst. `trendline_estimator.cc` fits a line to the smoothed delays of the last 20 groups:
//!
//! ```text
//! d(i)        = (arrival(i) - arrival(i-1)) - (sent(i) - sent(i-1))     last packets of groups
//! smoothed(i) = 0.9 smoothed(i-1) + 0.1 (d(1) + ... + d(i))
//! trend       = slope of smoothed over arrival time, least squares
//! m           = min(groups, 60) * trend * 4
//! overuse     : m > threshold for more than 10 ms and 2 groups, and the trend does not fall
//! threshold  += k * (|m| - threshold) * min(time, 100 ms)    k = 0.039 below, 0.0087 above
//! ```

use std::collections::VecDeque;

use crate::kernel::time::{Span, Time};

/// Longest time between the first and the last departure of a group (`kSendTimeGroupLength`).
const GROUP: Span = Span(5_000_000);
/// Longest gap between arrivals of a burst (`kBurstDeltaThreshold`).
const BURST_GAP: Span = Span(5_000_000);
/// Longest burst (`kMaxBurstDuration`).
const BURST: Span = Span(100_000_000);
/// Number of consecutive groups in the wrong order that resets the groups
/// (`kReorderedResetThreshold`).
const REORDERED: u32 = 3;

/// Number of groups in the regression (`kDefaultTrendlineWindowSize`).
const WINDOW: usize = 20;
/// Weight of the previous smoothed delay (`kDefaultTrendlineSmoothingCoeff`). [-]
const SMOOTHING: f64 = 0.9;
/// Factor of the trend (`kDefaultTrendlineThresholdGain`). [-]
const GAIN: f64 = 4.0;
/// Largest number of groups in the factor of the trend (`kMinNumDeltas`).
const MOST_GROUPS: u32 = 60;
/// Time of overuse before it is signalled (`kOverUsingTimeThreshold`). [ms]
const OVERUSE_MS: f64 = 10.0;
/// Rates at which the threshold rises and falls (`k_up_`, `k_down_`). [1/ms]
const UP: f64 = 0.0087;
const DOWN: f64 = 0.039;
/// Distance from the threshold above which a spike does not change it (`kMaxAdaptOffsetMs`). [ms]
const SPIKE_MS: f64 = 15.0;
/// Initial threshold, and its bounds. [ms]
const FIRST_THRESHOLD_MS: f64 = 12.5;
const THRESHOLD_MS: [f64; 2] = [6.0, 600.0];
/// Longest time over which the threshold adapts (`kMaxTimeDeltaMs`). [ms]
const ADAPT_MS: f64 = 100.0;

/// State of the path, as the overuse detector sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    /// The delay grows.
    Over,
    /// The delay is constant.
    Normal,
    /// The delay falls, because a queue drains.
    Under,
}

/// Packets that were sent together.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Time,
    sent: Time,
    first_arrived: Time,
    arrived: Time,
}

/// Differences between two consecutive groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Deltas {
    /// Time between the last departures. [ms]
    pub(super) sent_ms: f64,
    /// Time between the last arrivals. [ms]
    pub(super) arrived_ms: f64,
}

/// Forms groups of packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    current: Option<Group>,
    previous: Option<Group>,
    reordered: u32,
}

impl Groups {
    /// Adds a packet. Packets are added in the order of arrival. Returns the differences between
    /// the two groups before the packet's own group, if the packet begins a group.
    pub(super) fn add(&mut self, sent: Time, arrived: Time) -> Option<Deltas> {
        let sent = to_millisecond(sent);
        let begun = Group {
            first_sent: sent,
            sent,
            first_arrived: arrived,
            arrived,
        };
        let Some(current) = &mut self.current else {
            self.current = Some(begun);
            return None;
        };
        if sent < current.first_sent {
            return None;
        }
        if !current.ends_before(sent, arrived) {
            current.sent = current.sent.max(sent);
            current.arrived = arrived;
            return None;
        }
        let ended = *current;
        let mut deltas = None;
        if let Some(previous) = self.previous {
            if ended.arrived < previous.arrived {
                self.reordered += 1;
                if self.reordered >= REORDERED {
                    *self = Groups::default();
                }
                return None;
            }
            self.reordered = 0;
            deltas = Some(Deltas {
                sent_ms: milliseconds(previous.sent, ended.sent),
                arrived_ms: milliseconds(previous.arrived, ended.arrived),
            });
        }
        self.previous = Some(ended);
        self.current = Some(begun);
        deltas
    }
}

impl Group {
    /// Returns whether a packet begins the next group.
    fn ends_before(&self, sent: Time, arrived: Time) -> bool {
        !self.bursts_with(sent, arrived) && sent.since(self.first_sent) > GROUP
    }

    /// Returns whether a packet belongs to the same burst: its delay is less than that of the
    /// packet before.
    fn bursts_with(&self, sent: Time, arrived: Time) -> bool {
        let (sent_gap, gap) = (
            milliseconds(self.sent, sent),
            milliseconds(self.arrived, arrived),
        );
        sent_gap == 0.0
            || (gap < sent_gap
                && arrived.since(self.arrived) <= BURST_GAP
                && arrived.since(self.first_arrived) < BURST)
    }
}

/// Returns the time from `from` to `to`, which may be negative. [ms]
fn milliseconds(from: Time, to: Time) -> f64 {
    (to.since(from).nanoseconds() - from.since(to).nanoseconds()) / 1e6
}

/// Returns the time rounded to a millisecond, the resolution of send times in libwebrtc.
fn to_millisecond(time: Time) -> Time {
    Time((time.0 + 500_000) / 1_000_000 * 1_000_000)
}

/// The trend of the delays, and the overuse detector.
#[derive(Clone, Debug)]
pub(super) struct Trend {
    groups: u32,
    first_arrival: Option<Time>,
    delay_ms: f64,
    smoothed_ms: f64,
    /// Arrival time and smoothed delay of the last groups. [ms]
    window: VecDeque<(f64, f64)>,
    last_trend: f64,
    threshold_ms: f64,
    adapted: Option<Time>,
    overuse_ms: Option<f64>,
    overuses: u32,
    usage: Usage,
}

impl Default for Trend {
    fn default() -> Trend {
        Trend {
            groups: 0,
            first_arrival: None,
            delay_ms: 0.0,
            smoothed_ms: 0.0,
            window: VecDeque::with_capacity(WINDOW + 1),
            last_trend: 0.0,
            threshold_ms: FIRST_THRESHOLD_MS,
            adapted: None,
            overuse_ms: None,
            overuses: 0,
            usage: Usage::Normal,
        }
    }
}

impl Trend {
    /// Returns the state of the path.
    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// Adds the differences between two groups. `arrived` is the arrival time of the packet that
    /// ended the later group.
    pub(super) fn add(&mut self, deltas: Deltas, arrived: Time) {
        self.groups = (self.groups + 1).min(1000);
        let first = *self.first_arrival.get_or_insert(arrived);
        self.delay_ms += deltas.arrived_ms - deltas.sent_ms;
        self.smoothed_ms = SMOOTHING * self.smoothed_ms + (1.0 - SMOOTHING) * self.delay_ms;
        self.window
            .push_back((milliseconds(first, arrived), self.smoothed_ms));
        if self.window.len() > WINDOW {
            self.window.pop_front();
        }
        let trend = match self.window.len() == WINDOW {
            true => slope(&self.window).unwrap_or(self.last_trend),
            false => self.last_trend,
        };
        self.detect(trend, deltas.sent_ms, arrived);
    }

    fn detect(&mut self, trend: f64, sent_ms: f64, now: Time) {
        if self.groups < 2 {
            return;
        }
        let scaled_ms = f64::from(self.groups.min(MOST_GROUPS)) * trend * GAIN;
        if scaled_ms > self.threshold_ms {
            // the first group counts by half: overuse began at some time since the group before
            let overuse_ms = self
                .overuse_ms
                .map_or(sent_ms / 2.0, |before| before + sent_ms);
            self.overuse_ms = Some(overuse_ms);
            self.overuses += 1;
            if overuse_ms > OVERUSE_MS && self.overuses > 1 && trend >= self.last_trend {
                self.overuse_ms = Some(0.0);
                self.overuses = 0;
                self.usage = Usage::Over;
            }
        } else {
            self.overuse_ms = None;
            self.overuses = 0;
            self.usage = match scaled_ms < -self.threshold_ms {
                true => Usage::Under,
                false => Usage::Normal,
            };
        }
        self.last_trend = trend;
        self.adapt(scaled_ms.abs(), now);
    }

    /// Moves the threshold towards the absolute value of the scaled trend.
    fn adapt(&mut self, scaled_ms: f64, now: Time) {
        let last = self.adapted.replace(now).unwrap_or(now);
        if scaled_ms > self.threshold_ms + SPIKE_MS {
            return;
        }
        let k = match scaled_ms < self.threshold_ms {
            true => DOWN,
            false => UP,
        };
        let passed_ms = milliseconds(last, now).min(ADAPT_MS);
        self.threshold_ms += k * (scaled_ms - self.threshold_ms) * passed_ms;
        let [least, most] = THRESHOLD_MS;
        self.threshold_ms = self.threshold_ms.clamp(least, most);
    }
}

/// Returns the slope of the least-squares line through points (x, y); `None` if all x are equal.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let products = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y));
    let squares = points.iter().map(|(x, _)| (x - mean_x) * (x - mean_x));
    let (above, below) = (products.sum::<f64>(), squares.sum::<f64>());
    (below != 0.0).then_some(above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: f64) -> Time {
        Time((ms * 1e6) as u64)
    }

    #[test]
    fn packets_within_5_ms_are_one_group() {
        let mut groups = Groups::default();
        // groups: sent at 0 to 5, 10 to 11, and 20 ms; the last arrivals of the first two groups
        // are at 57 and 66 ms
        let packets = [(0.0, 50.0), (5.0, 57.0), (10.0, 65.0), (11.0, 66.0)];
        let deltas = packets.map(|(sent, arrived)| groups.add(ms(sent), ms(arrived)));
        assert_eq!(deltas, [None; 4]);
        let deltas = groups.add(ms(20.0), ms(77.0));
        let expected = Deltas {
            sent_ms: 6.0,
            arrived_ms: 9.0,
        };
        assert_eq!(deltas, Some(expected));
    }

    #[test]
    fn packets_that_arrive_in_a_burst_are_one_group() {
        let mut groups = Groups::default();
        groups.add(ms(0.0), ms(50.0));
        groups.add(ms(20.0), ms(90.0));
        // sent 20 ms later, arrived 1 ms later: the packets waited together
        assert_eq!(groups.add(ms(40.0), ms(91.0)), None);
        let deltas = groups.add(ms(60.0), ms(111.0)).unwrap();
        assert_eq!((deltas.sent_ms, deltas.arrived_ms), (40.0, 41.0));
        // a packet that was sent before the group is ignored
        assert_eq!(groups.add(ms(50.0), ms(112.0)), None);
    }

    /// The delay grows by 1 ms per group of 10 ms from the beginning. The smoothed delay
    /// converges to a line with slope 1 / 11, but is curved at first. The scaled trend exceeds the
    /// lower bound of the threshold from group 23 on: 5.73 ms at group 22, 6.23 ms at group 23.
    #[test]
    fn a_growing_delay_is_overuse_once_the_window_is_full() {
        let mut trend = Trend::default();
        let growing = Deltas {
            sent_ms: 10.0,
            arrived_ms: 11.0,
        };
        let at = |group: u32| ms(11.0 * f64::from(group));
        for group in 1..20 {
            trend.add(growing, at(group));
            assert_eq!((trend.usage(), trend.last_trend), (Usage::Normal, 0.0));
        }
        for group in 20..=24 {
            trend.add(growing, at(group));
            let expected = match group {
                23 => (Usage::Normal, Some(5.0)),
                24 => (Usage::Over, Some(0.0)),
                _ => (Usage::Normal, None),
            };
            assert_eq!((trend.usage(), trend.overuse_ms), expected, "{group}");
        }
        // after n groups the smoothed delay is n - 9 (1 - 0.9^n)
        let smoothed = 24.0 - 9.0 * (1.0 - 0.079_766_443_076_872_5);
        assert!((trend.smoothed_ms - smoothed).abs() < 1e-9);
        // a second computation of the regression gives 0.070053 and a threshold of 6.0894
        assert!((trend.last_trend - 0.070_053).abs() < 1e-6);
        assert!((trend.threshold_ms - 6.0894).abs() < 1e-4);
    }

    #[test]
    fn a_falling_delay_is_underuse_and_a_constant_delay_is_normal() {
        for (arrived_ms, usage) in [(9.0, Usage::Under), (10.0, Usage::Normal)] {
            let mut trend = Trend::default();
            for group in 1..=25 {
                let deltas = Deltas {
                    sent_ms: 10.0,
                    arrived_ms,
                };
                trend.add(deltas, ms(arrived_ms * f64::from(group)));
            }
            assert_eq!(trend.usage(), usage, "{arrived_ms}");
        }
    }

    #[test]
    fn the_threshold_follows_the_trend_but_not_spikes() {
        let mut trend = Trend::default();
        trend.adapt(0.0, ms(0.0));
        trend.adapt(2.5, ms(1.0)); // 12.5 - 0.039 * 10
        assert!((trend.threshold_ms - 12.11).abs() < 1e-12);
        trend.adapt(22.11, ms(11.0)); // 12.11 + 0.0087 * 10 * 10
        assert!((trend.threshold_ms - 12.98).abs() < 1e-12);
        trend.adapt(28.0, ms(21.0)); // more than 15 ms above: a spike
        assert!((trend.threshold_ms - 12.98).abs() < 1e-12);
        trend.adapt(0.0, ms(1000.0)); // at most 100 ms count; the lower bound is 6 ms
        assert_eq!(trend.threshold_ms, 6.0);
    }
}
