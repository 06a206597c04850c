//! Delays and losses of small packets with a deadline: reports of sensors, and pings.

use crate::kernel::time::Span;

/// The delays and losses of the reports or pings of a period.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of reports or pings that were sent in the period and whose deadline is in the period.
    pub made: u64,
    /// Delays of those that arrived by their deadline, in ascending order: one-way delays of reports,
    /// and round-trip times of pings.
    pub delays: Vec<Span>,
}

impl Tally {
    /// Returns the fraction that arrived by the deadline; `None` if nothing was sent. [-]
    pub fn delivery(&self) -> Option<f64> {
        (self.made > 0).then(|| self.delays.len() as f64 / self.made as f64)
    }

    /// Returns the mean delay; `None` if nothing arrived by the deadline. [s]
    pub fn mean_s(&self) -> Option<f64> {
        let sum: u64 = self.delays.iter().map(|delay| delay.0).sum();
        (!self.delays.is_empty()).then(|| sum as f64 / self.delays.len() as f64 / 1e9)
    }

    /// Returns the quantile `part` of the delays; for example, 0.99 gives the 99th percentile. The
    /// result is one of the delays, without interpolation. `None`: nothing arrived by the deadline.
    /// [s]
    pub fn quantile_s(&self, part: f64) -> Option<f64> {
        let rank = (part * self.delays.len() as f64).ceil() as usize;
        self.delays
            .get(rank.saturating_sub(1))
            .map(|delay| delay.seconds())
    }
}
