//! The test that distinguishes a standing queue from a longer path. It lowers C until any queue
//! must have drained.
//!
//! ```text
//! Confirmed --64 samples in a row above the baseline-------------------------> In doubt: C falls
//! In doubt --a sample near the baseline--------------------------------------> Confirmed: it was a queue
//! In doubt --C at its minimum for twice the longest delay, samples still late--> the path is longer
//! ```

use crate::kernel::time::{Span, Time};

/// Number of consecutive samples above the baseline after which the baseline is in doubt.
const DOUBTED_AFTER: u32 = 64;
/// Multiple of the longest delay: after C has been at its minimum for this time, any queue must
/// have drained.
const DRAIN_DELAYS: u64 = 2;

/// State of the test for a standing queue: the samples since the last sample near the baseline, and
/// the value of C at that sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StandingQueue {
    /// Number of consecutive samples above the baseline. `longest` is the longest delay of these
    /// samples.
    late_samples: u32,
    longest: Span,
    /// Time since which C has been at its minimum; `None` if C is above its minimum.
    at_min_since: Option<Time>,
    /// Value of C at the last sample near the baseline. [bit/s]
    confirmed_bps: u64,
}

impl StandingQueue {
    /// Returns the state before the first sample. `bps` is the value of C. [bit/s]
    pub fn new(bps: u64) -> StandingQueue {
        StandingQueue {
            late_samples: 0,
            longest: Span::ZERO,
            at_min_since: None,
            confirmed_bps: bps,
        }
    }

    /// Returns whether the baseline is in doubt, because many consecutive samples were above it.
    pub fn is_in_doubt(&self) -> bool {
        self.late_samples >= DOUBTED_AFTER
    }

    /// Records a sample above the baseline.
    pub fn on_late_sample(&mut self, delay: Span) {
        self.late_samples = self.late_samples.saturating_add(1);
        self.longest = self.longest.max(delay);
    }

    /// Records a sample near the baseline. `bps` is the present value of C. [bit/s]
    ///
    /// If the test has lowered C to its minimum, returns the value to which C must return. [bit/s]
    pub fn on_near_sample(&mut self, bps: u64) -> Option<u64> {
        let was_tested = self.is_in_doubt() && self.at_min_since.is_some();
        let before = was_tested.then(|| self.confirmed_bps.max(bps));
        (self.late_samples, self.longest) = (0, Span::ZERO);
        self.confirmed_bps = before.unwrap_or(bps);
        before
    }

    /// Records whether C is at its minimum.
    pub fn on_rate(&mut self, now: Time, is_min: bool) {
        self.at_min_since = is_min.then(|| self.at_min_since.unwrap_or(now));
    }

    /// Returns whether the path has become longer, given a late sample whose ping left at `sent`.
    /// The path has become longer if any queue must have drained before the ping left.
    pub fn is_longer_path(&self, now: Time, sent: Time) -> bool {
        let drained = self
            .at_min_since
            .map(|since| since + self.longest * DRAIN_DELAYS);
        self.is_in_doubt() && sent <= now && drained.is_some_and(|drained| drained <= sent)
    }
}
