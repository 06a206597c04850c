//! The source of a station's samples: replies to pings, ACKs of its flows, or neither.
//!
//! ```text
//! Pinged -----5 pings in 2 s or more without a reply-----------------> Overheard
//! Overheard --listened to 5 times in 2 s or more without a segment---> Unreachable
//! Overheard, Unreachable --reply to a ping---------------------------> Pinged
//! Unreachable --segment and its ACK----------------------------------> Overheard
//! ```
//!
//! | state | samples | sampled by | used for C |
//! |---|---|---|---|
//! | Pinged | replies to pings | a ping | yes |
//! | Overheard | ACKs of segments to the station | listening, and rarely a ping | yes |
//! | Unreachable | none | rarely a ping and listening | no |

use super::sample::SampleSource;
use crate::kernel::time::{Span, Time};

/// Number of consecutive failed attempts to sample a station after which a source of samples (pings
/// or flows) is no longer used for this station. The attempts must also extend over at least
/// `MIN_FAILING_FOR`.
const MIN_FAILURES: u32 = 5;
const MIN_FAILING_FOR: Span = Span(2_000_000_000);

/// Number of failed attempts since the last success, and the time of the first of these attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct FailureCount(Option<(u32, Time)>);

impl FailureCount {
    fn attempt(&mut self, now: Time) {
        let (attempts, first) = self.0.unwrap_or((0, now));
        self.0 = Some((attempts.saturating_add(1), first));
    }

    fn has_failed(self, now: Time) -> bool {
        self.0.is_some_and(|(attempts, first)| {
            attempts >= MIN_FAILURES && now.since(first) >= MIN_FAILING_FOR
        })
    }
}

/// Whether a station replies to pings, and whether the flows of the station can be overheard.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reachability {
    pings: FailureCount,
    has_replied: bool,
    flows: FailureCount,
    was_overheard: bool,
}

impl Reachability {
    /// Records that a ping was sent to the station.
    pub fn on_ping(&mut self, now: Time) {
        self.pings.attempt(now);
    }

    /// Records that the estimator begins to listen to the flows of the station.
    pub fn on_listen(&mut self, now: Time) {
        self.flows.attempt(now);
    }

    /// Records a sample of the station.
    pub fn on_sample(&mut self, source: SampleSource) {
        match source {
            SampleSource::Pings => (self.pings, self.has_replied) = (FailureCount::default(), true),
            SampleSource::Flows => {
                (self.flows, self.was_overheard) = (FailureCount::default(), true);
            }
        }
    }

    /// Returns whether the estimator listens to the flows of the station, but has not received a
    /// sample of these flows yet.
    pub fn is_listened_to(&self) -> bool {
        self.flows != FailureCount::default()
    }

    /// Returns the time since which pings to the station have had no reply; `None` if no ping was
    /// sent after the last reply.
    pub fn unanswered_since(&self) -> Option<Time> {
        self.pings.0.map(|(_, first)| first)
    }

    /// Returns whether the station does not reply to pings (state Overheard or Unreachable).
    pub fn is_silent(&self, now: Time) -> bool {
        self.pings.has_failed(now)
    }

    /// Returns whether the station is in state Unreachable: it does not reply to pings, and its
    /// flows cannot be overheard.
    pub fn is_unreachable(&self, now: Time) -> bool {
        self.is_silent(now) && self.flows.has_failed(now)
    }

    /// Returns the source of the samples of the station (pings or flows); `None` in state
    /// Unreachable.
    pub fn source(&self, now: Time) -> Option<SampleSource> {
        if !self.is_silent(now) {
            self.has_replied.then_some(SampleSource::Pings)
        } else if self.was_overheard && !self.is_unreachable(now) {
            Some(SampleSource::Flows)
        } else {
            None
        }
    }
}
