//! Pings that are under way, and what their answers say.

use crate::kernel::time::{Span, Time};

/// Who has not been active for so long does not count, and nor does what was said before.
pub(super) const ACTIVE_FOR: Span = Span(2_000_000_000);
/// Different stations whose last answers decide.
pub(super) const DECIDE: usize = 3;
/// Lateness that is no noise.
pub(super) const SLACK: Span = Span(25_000_000);

/// A ping to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The station it is for.
    pub station: u32,
    /// Its number, from 1.
    pub number: u32,
}

/// A ping that is under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Asked {
    pub ask: Ask,
    pub sent: Time,
    /// What had left the bottleneck then, since the beginning.
    pub passed_bytes: u64,
}

/// A queueing delay, and the ping that tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Said {
    pub delay: Span,
    pub asked: Asked,
}

impl Said {
    pub fn station(&self) -> u32 {
        self.asked.ask.station
    }
}

/// The middle one, of an even number the lesser of two.
pub(super) fn lower_median(delays: impl Iterator<Item = Span>) -> Option<Span> {
    let mut delays: Vec<Span> = delays.collect();
    delays.sort_unstable();
    delays.get(delays.len().checked_sub(1)? / 2).copied()
}
