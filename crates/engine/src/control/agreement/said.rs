//! Pings that are under way, what stations are heard by, and what they say.

use crate::kernel::time::{Span, Time};

/// Who has not been active for so long does not count, and nor does what was said before.
pub(super) const ACTIVE_FOR: Span = Span(2_000_000_000);
/// Different stations whose last answers decide.
pub(super) const DECIDE: usize = 5;
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

/// A segment that has passed, and the ACK that covers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// The station it was for.
    pub station: u32,
    /// When it left the bottleneck.
    pub sent: Time,
    /// From then until the ACK came to the bottleneck.
    pub rtt: Span,
    /// What had left the bottleneck when it left, since the beginning.
    pub passed_bytes: u64,
}

/// What a station is heard by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Answers to pings.
    Pings,
    /// Acknowledgements of segments that pass, since it answers no pings.
    Flows,
}

impl Heard {
    /// Its name in status.
    pub fn name(self) -> &'static str {
        match self {
            Heard::Pings => "pings",
            Heard::Flows => "flows",
        }
    }
}

/// A ping, or a segment that passed, which is number 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Asked {
    pub ask: Ask,
    pub sent: Time,
    /// What had left the bottleneck then, since the beginning.
    pub passed_bytes: u64,
}

/// A queueing delay, and what tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Said {
    pub delay: Span,
    pub asked: Asked,
    pub by: Heard,
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

/// The middle one, of an even number the larger of two: who is against it has at least half against them.
pub(super) fn upper_median(delays: impl Iterator<Item = Span>) -> Option<Span> {
    let mut delays: Vec<Span> = delays.collect();
    delays.sort_unstable();
    delays.get(delays.len() / 2).copied()
}
