//! Delays and losses of small packets with a deadline: reports of sensors, and pings. The interval
//! of a run to which a report, a ping or a chunk belongs.

use crate::kernel::time::{Span, Time};

/// An interval of a run: the measured period, or the time between two readings of a session.
///
/// A report, a ping or a chunk belongs to the interval in which its outcome is known: the time of
/// its arrival, of its deadline, or of the next chunk. The sum over successive intervals is
/// therefore the value of the whole period, even if an interval is shorter than a deadline.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Time before which nothing counts: the end of the warm-up, or the start of the run if the
    /// interval begins in the warm-up.
    origin: Time,
    from: Time,
    /// First time after the interval.
    before: Time,
    /// End of the run. Deadlines after it do not count.
    end: Time,
}

impl Interval {
    /// Returns the interval from `from` to `to` of a run that ends at `end` and whose warm-up ends
    /// at `warm`. Events at `to` belong to the interval only if `to` is the end.
    pub fn new(from: Time, to: Time, warm: Time, end: Time) -> Interval {
        let is_last = to >= end;
        Interval {
            origin: if from >= warm { warm } else { Time::ZERO },
            from,
            before: if is_last { to + Span(1) } else { to },
            end: end.max(to),
        }
    }

    /// Returns whether an event with this start belongs to the interval. `known` is the time at
    /// which its outcome is known.
    pub fn has(&self, start: Time, known: Time) -> bool {
        self.origin <= start && self.from <= known && known < self.before
    }
}

/// The delays and losses of the reports or pings of a period.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of reports or pings whose deadline is not after the end of the run.
    pub made: u64,
    /// Delays of the reports or pings that arrived by their deadline, in ascending order: one-way
    /// delays of reports, and round-trip times of pings.
    pub delays: Vec<Span>,
}

impl Tally {
    /// Adds a report or ping that was sent at `sent`, and that arrived after `delay` (`None`: not
    /// yet), if it belongs to `interval`. The delays are not sorted.
    pub fn add(&mut self, interval: &Interval, sent: Time, delay: Option<Span>, deadline: Span) {
        let delay = delay.filter(|delay| *delay <= deadline);
        let known = sent + delay.unwrap_or(deadline);
        if sent + deadline <= interval.end && interval.has(sent, known) {
            self.made += 1;
            self.delays.extend(delay);
        }
    }

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
