//! Applications that write to a TCP connection at their own times. This file determines when data
//! is written, and records when chunks have arrived.
//!
//! ```text
//! rate             a segment is written when the rate has produced its last byte
//! every            a chunk per period; with a rate its segments follow each other at this rate
//! on, off          the production stops in an off period, and continues after it
//! ```
//!
//! Times of writes are computed from the number of bytes since the start of a period. Therefore the
//! rate has no error of rounding, and a shorter last segment is written after a shorter interval.
//! The application has no buffer: without a rate, data that TCP has not sent by the end of an on
//! period is written in the next on period.

use super::tally::Interval;
use super::{Gaps, Periods, WriteSettings};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// An action of the application on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// No data is written.
    Nothing,
    /// This number of segments is written.
    Segments(u32),
    /// Permission for TCP to send all remaining data.
    Resume,
    /// End of this permission: TCP sends no new data.
    Pause,
    /// The player of a stream sends a request of this length. [bytes]
    Request(u32),
    /// The server of a stream writes a chunk of this length. [bytes]
    Chunk(u64),
    /// The sender of an adaptive video sends a datagram of this length, headers included. [bytes]
    Datagram(u16),
    /// The receiver of an adaptive video sends a feedback packet.
    Feedback {
        /// Number of the feedback packet.
        number: u32,
        /// Length of the packet, headers included. [bytes]
        bytes: u16,
    },
}

/// A chunk: the time at which the application began to write it, and the time at which its last
/// byte arrived in order (`None` before this time).
type Chunk = (Time, Option<Time>);

/// The state of an application that writes to one connection.
#[derive(Clone, Debug)]
pub struct Writes {
    settings: WriteSettings,
    stream: Stream,
    is_open: bool,
    /// Start of the present on period, or of the production of the present chunk.
    since: Time,
    /// Time of the next change between on and off, or of the next chunk.
    until: Time,
    is_on: bool,
    /// Length of the on periods before `since`.
    before: Span,
    /// Number of segments written of the present chunk, or of all data.
    written: u64,
    /// Index of the chunk that is being written.
    present: usize,
    chunks: Vec<Chunk>,
    /// Number of segments that have arrived in order.
    arrived: u64,
}

/// The chunks of an interval.
#[derive(Clone, Debug, Default)]
pub struct ChunkTally {
    /// Number of chunks that arrived, or after which another chunk began, whichever was first.
    pub made: u64,
    /// Number of these chunks that had not arrived when the next chunk began.
    pub late: u64,
    /// Times from the beginning of a chunk to the arrival of its last byte, in ascending order. The
    /// chunks arrived in the interval.
    pub times: Vec<Span>,
}

impl Writes {
    /// Returns an application that has not started.
    pub fn new(settings: &WriteSettings, stream: Stream) -> Writes {
        Writes {
            settings: *settings,
            stream,
            is_open: false,
            since: Time::NEVER,
            until: Time::NEVER,
            is_on: false,
            before: Span::ZERO,
            written: 0,
            present: 0,
            chunks: Vec::new(),
            arrived: 0,
        }
    }

    /// Starts the application.
    pub fn open(&mut self, now: Time) {
        self.is_open = true;
        self.until = now;
    }

    /// Stops the application.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Returns the settings.
    pub fn settings(&self) -> &WriteSettings {
        &self.settings
    }

    /// Returns the time of the next call of [`act`](Writes::act); [`Time::NEVER`] if there is no
    /// call.
    pub fn deadline(&self) -> Time {
        match self.is_open {
            true => self.next_write().min(self.until),
            false => Time::NEVER,
        }
    }

    /// Returns the time at which the next segment is written; [`Time::NEVER`] if no segment is
    /// being produced.
    fn next_write(&self) -> Time {
        let Some(rate_bps) = self.settings.rate_bps.filter(|_| self.is_on) else {
            return Time::NEVER;
        };
        let bytes = (self.written + 1) * u64::from(self.settings.mss_bytes);
        let bytes = match self.settings.segments() {
            Some(all) if self.written >= all => return Time::NEVER,
            _ => self
                .settings
                .size_bytes
                .map_or(bytes, |size| bytes.min(size)),
        };
        self.since + Span(production_ns(bytes, rate_bps).saturating_sub(self.before.0))
    }

    /// Performs the action that is due at [`deadline`](Writes::deadline).
    pub fn act(&mut self, now: Time) -> Write {
        if self.next_write() <= now {
            self.written += 1;
            self.end_chunk(now);
            return Write::Segments(1);
        }
        match self.settings.periods {
            Periods::Always => {
                self.until = Time::NEVER;
                self.begin(now)
            }
            Periods::Chunks(every) => {
                self.until = now + self.length(every);
                self.chunks.push((now, None));
                match (self.settings.rate_bps, self.settings.segments()) {
                    (None, Some(segments)) => Write::Segments(segments as u32), // checked: at most 4,000,000,000
                    _ => {
                        if !self.is_on {
                            self.begin(now);
                        }
                        Write::Nothing
                    }
                }
            }
            Periods::OnOff(_, off) if self.is_on => {
                self.until = now + self.length(off);
                self.is_on = false;
                self.before = Span(self.before.0 + now.since(self.since).0);
                match self.settings.rate_bps {
                    Some(_) => Write::Nothing,
                    None => Write::Pause,
                }
            }
            Periods::OnOff(on, _) => {
                self.until = now + self.length(on);
                self.begin(now)
            }
        }
    }

    /// Begins an on period, or the production of a chunk.
    fn begin(&mut self, now: Time) -> Write {
        self.is_on = true;
        self.since = now;
        match self.settings.rate_bps {
            Some(_) => Write::Nothing,
            None => Write::Resume,
        }
    }

    /// Continues with the next chunk if the present chunk has been written completely.
    fn end_chunk(&mut self, now: Time) {
        let Periods::Chunks(_) = self.settings.periods else {
            return;
        };
        if Some(self.written) == self.settings.segments() {
            self.written = 0;
            self.present += 1;
            self.since = now;
            self.is_on = self.present < self.chunks.len();
        }
    }

    /// Returns the length of the next period, whose mean is `mean`.
    fn length(&mut self, mean: Span) -> Span {
        match self.settings.arrivals {
            Gaps::Constant => mean,
            Gaps::Poisson => {
                let ns = self.stream.exponential() * mean.0 as f64;
                Span((ns.round() as u64).max(1))
            }
        }
    }

    /// Returns whether segment `number` is the last segment of a chunk or of all data.
    pub fn is_last(&self, number: u32) -> bool {
        let each = self.settings.segments();
        each.is_some_and(|each| (u64::from(number) + 1).is_multiple_of(each))
    }

    /// Records the arrival of the next `count` segments, in order.
    pub fn arrive_in_order(&mut self, now: Time, count: u32) {
        let (Periods::Chunks(_), Some(each)) = (self.settings.periods, self.settings.segments())
        else {
            return;
        };
        let before = self.arrived / each;
        self.arrived += u64::from(count);
        for chunk in before..self.arrived / each {
            self.chunks[chunk as usize].1 = Some(now);
        }
    }

    /// Returns the chunks of an interval; `None` if the application writes no chunks.
    pub fn tally(&self, interval: &Interval) -> Option<ChunkTally> {
        let Periods::Chunks(_) = self.settings.periods else {
            return None;
        };
        let mut tally = ChunkTally::default();
        for (index, &(began, arrived)) in self.chunks.iter().enumerate() {
            let next = self.chunks.get(index + 1).map(|&(next, _)| next);
            let [arrived, next] = [arrived, next].map(|at| at.unwrap_or(Time::NEVER));
            if interval.has(began, arrived) {
                tally.times.push(arrived.since(began));
            }
            if interval.has(began, arrived.min(next)) {
                tally.made += 1;
                tally.late += u64::from(next < arrived);
            }
        }
        tally.times.sort_unstable();
        Some(tally)
    }
}

/// Returns the time in which the rate `rate_bps` produces `bytes` bytes, rounded up. [ns]
fn production_ns(bytes: u64, rate_bps: u64) -> u64 {
    let ns = (u128::from(bytes) * 8_000_000_000).div_ceil(u128::from(rate_bps.max(1)));
    u64::try_from(ns).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests;
