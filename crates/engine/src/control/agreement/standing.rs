//! Whether delays that do not end are a queue that stands or a longer path.

use crate::kernel::time::{Span, Time};

/// Answers in a row that are not near the base, after which it is in doubt.
const MEMORY: u32 = 64;
/// C has to be at its least for so many times the longest delay until any queue has drained.
const DRAINS: u64 = 2;

/// How long nobody has been near the base, and what C was before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Answers since somebody was near the base, and the longest delay among them.
    far: u32,
    longest: Span,
    /// Since when C is at its least.
    at_least: Option<Time>,
    /// C when somebody was last near the base. [bit/s]
    confirmed_bps: u64,
}

impl Standing {
    /// Nobody has been heard, and C is this. [bit/s]
    pub fn new(bps: u64) -> Standing {
        Standing {
            far: 0,
            longest: Span::ZERO,
            at_least: None,
            confirmed_bps: bps,
        }
    }

    /// Whether the base is in doubt.
    pub fn is_in_doubt(&self) -> bool {
        self.far >= MEMORY
    }

    /// Somebody is not near the base.
    pub fn is_far(&mut self, delay: Span) {
        self.far = self.far.saturating_add(1);
        self.longest = self.longest.max(delay);
    }

    /// Somebody is near the base while C is this. Returns what C returns to, if it was taken to its least to find that
    /// out. [bit/s]
    pub fn is_near(&mut self, bps: u64) -> Option<u64> {
        let was_doubted = self.is_in_doubt() && self.at_least.is_some();
        let before = was_doubted.then(|| self.confirmed_bps.max(bps));
        (self.far, self.longest) = (0, Span::ZERO);
        self.confirmed_bps = before.unwrap_or(bps);
        before
    }

    /// C is at its least, or not.
    pub fn is_at_least(&mut self, now: Time, is: bool) {
        self.at_least = is.then(|| self.at_least.unwrap_or(now));
    }

    /// Whether any queue had drained when a ping left at `sent`, and answers are late all the same.
    pub fn is_path(&self, now: Time, sent: Time) -> bool {
        let drained = self.at_least.map(|since| since + self.longest * DRAINS);
        self.is_in_doubt() && sent <= now && drained.is_some_and(|drained| drained <= sent)
    }
}
