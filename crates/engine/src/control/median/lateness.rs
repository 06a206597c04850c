//! The outlier rule: a station whose delays exceed the delays of the other stations is doubted, that is, its samples
//! are ignored.
//!
//! ```text
//! Trusted --mean lateness above 25 ms after 3 comparisons, or late in a poll--> Doubted
//! Doubted --mean lateness below 12.5 ms, and 10 s since it was last late------> Trusted
//! Doubted --more than half of the active stations are doubted-----------------> Trusted, without history
//! ```

use super::sample::TOLERANCE;
use crate::kernel::time::{Span, Time};

/// Number of comparisons over which the running mean of the lateness is taken.
const MEAN_OVER: f64 = 4.0;
/// Minimum number of comparisons for which the running mean is used.
const MIN_COMPARISONS: u32 = 3;
/// Time for which a station remains in state Doubted after it was last late.
const DOUBTED_FOR: Span = Span(10_000_000_000);

/// Lateness of one station: how much later than the other stations it is on average.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lateness {
    comparisons: u32,
    /// Running mean of the difference between the delay of the station and the delay of the other
    /// stations. [s]
    mean_s: f64,
    /// Time at which the station was last late; `None` if the station is not in state Doubted.
    doubted: Option<Time>,
}

impl Lateness {
    /// Updates the running mean with a delay of the station, and the simultaneous delay of the
    /// other stations (`others`).
    pub fn compare(&mut self, now: Time, delay: Span, others: Span) {
        let late_s = delay.seconds() - others.seconds();
        self.comparisons += 1;
        self.mean_s += (late_s - self.mean_s) / f64::from(self.comparisons).min(MEAN_OVER);
        self.update(now);
    }

    /// Raises the mean to the lateness of the station in a poll. The new mean is used immediately.
    pub fn exceed_poll(&mut self, now: Time, late_by: Span) {
        self.comparisons = self.comparisons.max(MIN_COMPARISONS);
        self.mean_s = self.mean_s.max(late_by.seconds());
        self.update(now);
    }

    fn update(&mut self, now: Time) {
        let tolerance_s = TOLERANCE.seconds();
        let is_late = self.comparisons >= MIN_COMPARISONS && self.mean_s > tolerance_s;
        let is_over = |since| now.since(since) >= DOUBTED_FOR;
        if is_late {
            self.doubted = Some(now);
        } else if self.mean_s < tolerance_s / 2.0 && self.doubted.is_some_and(is_over) {
            self.doubted = None;
        }
    }

    /// Returns whether the station is in state Doubted, so that its samples are ignored.
    pub fn is_doubted(&self) -> bool {
        self.doubted.is_some()
    }

    /// Returns how much later than the other stations the station is on average; zero if it is not
    /// later.
    pub fn mean(&self) -> Span {
        Span::from_seconds(self.mean_s.max(0.0))
    }
}
