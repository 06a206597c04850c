//! Probes, round trips, and the queueing delays that are computed from round trips.

use crate::kernel::time::{Span, Time};
use crate::words;

/// Maximum age of a sample that is used, and maximum time since the last traffic of an active
/// station.
pub(super) const FRESH_FOR: Span = Span(2_000_000_000);
/// Number of stations whose last samples form the median.
pub(super) const WINDOW: usize = 5;
/// Difference between two delays that is attributed to noise.
pub(super) const TOLERANCE: Span = Span(25_000_000);

/// A ping that the caller must send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Station to ping.
    pub station: u32,
    /// Number of the ping, counted from 1.
    pub number: u32,
}

/// The round trip of a ping or of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// Station to which the ping or segment was sent.
    pub station: u32,
    /// Departure of the ping, or departure of the segment from the bottleneck.
    pub sent: Time,
    /// Time from the departure to the reply; for a segment, to the ACK that covers the segment.
    pub rtt: Span,
    /// Total number of bytes that had left the bottleneck when the ping or segment departed.
    pub passed_bytes: u64,
}

words! {
    /// The source of a station's samples.
    pub enum SampleSource {
        /// Replies to pings.
        Pings = "pings",
        /// ACKs of segments that pass the bottleneck, for a station that does not reply to pings.
        Flows = "flows",
    }
}

/// A sample of the queueing delay downstream of the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DelaySample {
    pub station: u32,
    pub source: SampleSource,
    pub delay: Span,
    /// Departure of the ping or segment.
    pub sent: Time,
    /// Total number of bytes that had left the bottleneck when the ping or segment departed.
    pub passed_bytes: u64,
}

/// Returns the lower median: for an even number of delays, the smaller of the two middle delays.
pub(super) fn lower_median(delays: impl Iterator<Item = Span>) -> Option<Span> {
    let mut delays: Vec<Span> = delays.collect();
    delays.sort_unstable();
    delays.get(delays.len().checked_sub(1)? / 2).copied()
}

/// Returns the upper median: for an even number of delays, the larger of the two middle delays.
///
/// A station whose delay exceeds the upper median is later than at least half of the other
/// stations.
pub(super) fn upper_median(delays: impl Iterator<Item = Span>) -> Option<Span> {
    let mut delays: Vec<Span> = delays.collect();
    delays.sort_unstable();
    delays.get(delays.len() / 2).copied()
}
