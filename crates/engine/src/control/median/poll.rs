//! The poll: all stations are sampled simultaneously, because one sample shows a long queue and the
//! median does not.
//!
//! ```text
//! none, Decided --sample above `high`, median of the window is not--> Open
//! Open --the median of all members is known-------------------------> Decided
//! Open --time is over, 2 or more members have replied---------------> Decided, by these members
//! Open --time is over, 1 member has replied-------------------------> none
//! ```
//!
//! | sample of | poll is open | poll is decided |
//! |---|---|---|
//! | a pinged member | added | late: the station is an outlier if the sample exceeds the median |
//! | an overheard member, of a segment that left after the start | added once | unrelated |
//! | any other station | unrelated | unrelated |
//!
//! Members are the stations that take part in the poll. The delay of a member without a reply is
//! longer than the time since the start of the poll. Therefore the median is known as soon as half
//! of the members have replied and the middle delay is shorter than this time.

use super::sample::{DelaySample, SampleSource, TOLERANCE, WINDOW};
use crate::kernel::time::{Span, Time};

/// Minimum duration of a poll. If the delay of the sample that started the poll is longer, the poll
/// lasts for about this delay.
const MIN_WAIT: Span = Span(300_000_000);

/// A poll, in which several stations are sampled simultaneously.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Poll {
    started: Time,
    /// Number of members: the pinged stations, the station of the first sample, and the stations that have been
    /// overheard since the start.
    members: usize,
    /// Minimum number of samples with which the poll is decided before its time is over.
    quorum: usize,
    /// The sample that started the poll, then the samples of the members.
    samples: Vec<DelaySample>,
    /// The median of the samples, once the poll is decided.
    median: Option<Span>,
}

/// Relation of a sample to a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The sample is added to the poll.
    Counted,
    /// The sample is from a member of the poll, but arrived after the decision. The field is the
    /// median of the poll.
    Late(Span),
    /// The sample does not belong to the poll.
    Unrelated { is_open: bool },
}

/// Result of an attempt to decide a poll.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PollResult {
    /// The poll is still open, or was already decided.
    Unchanged,
    /// Too few members have replied in time.
    Failed,
    /// The poll is decided. The field contains its median.
    Decided(PollMedian),
}

/// Result of a decided poll: the median delay, and the samples.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PollMedian {
    pub delay: Span,
    /// All samples of the poll, in order of arrival.
    pub samples: Vec<DelaySample>,
    /// The sample that C follows.
    pub decisive: DelaySample,
}

impl Poll {
    /// Starts a poll because of the sample `first`. The poll pings `pinged` other stations and
    /// listens to the flows of `overheard` further stations.
    ///
    /// An overheard station becomes a member of the poll only when a sample of its flows arrives,
    /// because possibly no segment passes.
    pub fn start(now: Time, first: DelaySample, pinged: usize, overheard: usize) -> Poll {
        let quorum = match pinged {
            0 => WINDOW.min(1 + overheard),
            _ => 2,
        };
        Poll {
            started: now,
            members: pinged + 1,
            quorum,
            samples: vec![first],
            median: None,
        }
    }

    /// Returns whether the poll is undecided.
    pub fn is_open(&self) -> bool {
        self.median.is_none()
    }

    /// Adds a sample if it belongs to the poll.
    pub fn add(&mut self, sample: DelaySample) -> Reply {
        let is_open = self.is_open();
        let unrelated = Reply::Unrelated { is_open };
        let is_known = |other: &DelaySample| other.station == sample.station;
        match sample.source {
            SampleSource::Pings if self.started != sample.sent => return unrelated,
            SampleSource::Flows
                if !is_open || sample.sent < self.started || self.samples.iter().any(is_known) =>
            {
                return unrelated;
            }
            SampleSource::Pings => {}
            SampleSource::Flows => self.members += 1,
        }
        if let Some(median) = self.median {
            return Reply::Late(median);
        }
        self.samples.push(sample);
        Reply::Counted
    }

    /// Decides the poll if its median is known, or if the time of the poll is over.
    pub fn decide(&mut self, now: Time) -> PollResult {
        if !self.is_open() {
            return PollResult::Unchanged;
        }
        let elapsed = now.since(self.started);
        let first = self.samples[0];
        let patience = first.delay + Span(first.delay.0 / 4);
        let is_waiting = elapsed <= patience.max(MIN_WAIT);
        let (members, quorum) = match is_waiting {
            true => (self.members, self.quorum),
            false => (self.samples.len(), 2),
        };
        let mut delays: Vec<Span> = self.samples.iter().map(|sample| sample.delay).collect();
        delays.sort_unstable();
        let median = delays
            .get((members - 1) / 2)
            .filter(|&&delay| delay <= elapsed);
        let Some(&delay) = median.filter(|_| delays.len() >= quorum) else {
            return match is_waiting {
                true => PollResult::Unchanged,
                false => PollResult::Failed,
            };
        };
        self.median = Some(delay);
        let samples = std::mem::take(&mut self.samples);
        // If the sample that started the poll is not an outlier, C follows this sample, because its
        // ping met the queue before the pings of the other members.
        let decisive = match samples.last() {
            Some(&last) if first.delay > delay + TOLERANCE => DelaySample { delay, ..last },
            Some(_) | None => first,
        };
        PollResult::Decided(PollMedian {
            delay,
            samples,
            decisive,
        })
    }
}
