//! The acknowledged bitrate: the rate at which packets arrive at the receiver.
//!
//! A Bayesian filter of the rates of windows of 150 ms (`bitrate_estimator.cc`). The first window
//! has 500 ms. Each window has the uncertainty 10 |estimate - sample| / estimate, so that a sample
//! far from the estimate changes it less.

use crate::kernel::time::{Span, Time};

/// Lengths of the first window and of the others (`kInitialRateWindowMs`, `kRateWindowMs`).
const FIRST_WINDOW: Span = Span(500_000_000);
const WINDOW: Span = Span(150_000_000);
/// Uncertainty of a sample (`scale`). [-]
const UNCERTAINTY: f64 = 10.0;
/// Initial variance of the estimate, and its growth per window. [-]
const FIRST_VARIANCE: f64 = 50.0;
const GROWTH: f64 = 5.0;
/// Growth of the variance when the application stops limiting the rate. [-]
const CHANGE: f64 = 200.0;

/// The acknowledged bitrate of a sender.
#[derive(Clone, Debug)]
pub(super) struct Throughput {
    bytes: u64,
    passed: Span,
    last: Option<Time>,
    estimate_kbps: Option<f64>,
    variance: f64,
}

impl Default for Throughput {
    fn default() -> Throughput {
        Throughput {
            bytes: 0,
            passed: Span::ZERO,
            last: None,
            estimate_kbps: None,
            variance: FIRST_VARIANCE,
        }
    }
}

impl Throughput {
    /// Returns the estimate; `None` before the end of the first window. [bit/s]
    pub(super) fn bps(&self) -> Option<f64> {
        self.estimate_kbps.map(|kbps| kbps * 1e3)
    }

    /// Increases the weight of the next samples.
    pub(super) fn expect_change(&mut self) {
        self.variance += CHANGE;
    }

    /// Adds a packet of `bytes` bytes that arrived at `now`. Packets are added in the order of
    /// arrival.
    pub(super) fn on_arrival(&mut self, now: Time, bytes: u32) {
        let window = match self.estimate_kbps {
            None => FIRST_WINDOW,
            Some(_) => WINDOW,
        };
        if self.last.is_some_and(|last| now < last) {
            self.bytes = 0;
            self.passed = Span::ZERO;
        } else if let Some(last) = self.last {
            let gap = now.since(last);
            self.passed = self.passed + gap;
            if gap > window {
                // no packets for a whole window
                self.bytes = 0;
                self.passed = Span(self.passed.0 % window.0);
            }
        }
        self.last = Some(now);
        let mut sample = None;
        if self.passed >= window {
            sample = Some(8.0 * self.bytes as f64 / (window.nanoseconds() / 1e6));
            self.passed = self.passed - window;
            self.bytes = 0;
        }
        self.bytes += u64::from(bytes);
        if let Some(kbps) = sample {
            self.add(kbps);
        }
    }

    /// Adds the rate of a window.
    fn add(&mut self, sample_kbps: f64) {
        let Some(estimate) = self.estimate_kbps else {
            self.estimate_kbps = Some(sample_kbps);
            return;
        };
        let uncertainty = UNCERTAINTY * (estimate - sample_kbps).abs() / estimate;
        let sample_variance = uncertainty * uncertainty;
        let predicted = self.variance + GROWTH;
        let sum = sample_variance + predicted;
        self.estimate_kbps = Some((sample_variance * estimate + predicted * sample_kbps) / sum);
        self.variance = sample_variance * predicted / sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_window_has_500_ms_and_each_sample_is_weighted() {
        let mut throughput = Throughput::default();
        // 1,000 bytes each 10 ms are 800 kb/s
        for k in 0..50 {
            throughput.on_arrival(Time(k * 10_000_000), 1000);
            assert_eq!(throughput.bps(), None);
        }
        throughput.on_arrival(Time(500_000_000), 1000);
        assert_eq!(throughput.bps(), Some(800_000.0));
        // the next window has 15 packets of 500 bytes after the packet at 500 ms: 14 * 500 + 1000
        // bytes in 150 ms are 426.7 kb/s
        for k in 51..=65 {
            throughput.on_arrival(Time(k * 10_000_000), 500);
        }
        let sample: f64 = 8.0 * 8000.0 / 150.0;
        let uncertainty = 10.0 * (800.0 - sample) / 800.0;
        let variance = uncertainty * uncertainty;
        let expected = (variance * 800.0 + 55.0 * sample) / (variance + 55.0);
        let estimate = throughput.bps().unwrap() / 1e3;
        assert!((estimate - expected).abs() < 1e-9, "{estimate} {expected}");
    }

    #[test]
    fn a_pause_begins_a_new_window() {
        let mut throughput = Throughput::default();
        for k in 0..=50 {
            throughput.on_arrival(Time(k * 10_000_000), 1000);
        }
        throughput.on_arrival(Time(5_000_000_000), 1000);
        // after the pause the window of (5000 - 500) mod 150 = 0 ms has just begun
        assert_eq!((throughput.bytes, throughput.passed), (1000, Span::ZERO));
        assert_eq!(throughput.bps(), Some(800_000.0));
    }
}
