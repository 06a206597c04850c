//! The player of an adaptive video stream: when it requests chunks, at which bitrate, and when the
//! video plays.
//!
//! ```text
//! Waiting --room in the buffer--> Asking --request arrived--> Serving --delay--> Fetching
//!    ^                                                                              |
//!    +------------------- the chunk has arrived completely ------------------------+
//! ```
//!
//! References:
//! - X. Yin, A. Jindal, V. Sekar, B. Sinopoli, "A control-theoretic approach for dynamic adaptive
//!   video streaming over HTTP", ACM SIGCOMM 2015, section 7.1: harmonic mean of the throughput of
//!   the last five chunks (RB). The factor 0.9 is the safety factor of dash.js.
//! - T.-Y. Huang, R. Johari, N. McKeown, M. Trunnell, M. Watson, "A buffer-based approach to rate
//!   adaptation: evidence from a large video streaming service", ACM SIGCOMM 2014, algorithm 1
//!   (BBA-0). Reservoir and cushion are the same fractions of the buffer as in that paper: 90 s and
//!   126 s of 240 s. If `buffer` is shorter than ten chunks, both are shorter in proportion, so that
//!   the cushion ends at `buffer` minus a chunk. This is the largest buffer at a request; without
//!   the change, the player would never request the highest bitrate.
//!
//! Differs from players in use: all chunks of a bitrate have the same length, the player never
//! abandons a chunk, and a single connection carries one chunk at a time.

mod buffer;

use std::collections::VecDeque;

use self::buffer::Buffer;
use super::{Adaptation, StreamSettings};
use crate::app::writes::Write;
use crate::kernel::time::{Span, Time};

/// Number of chunks whose throughput determines the next bitrate.
const RECENT: usize = 5;

/// Fraction of the measured throughput that the next bitrate may use. [-]
const SAFETY: f64 = 0.9;

/// Buffer from which BBA-0 requests the highest bitrate, at the end of the cushion, as a fraction of
/// the largest buffer. [-]
const FULL: (u64, u64) = (216, 240);

/// Buffer up to which BBA-0 requests the lowest bitrate, as a fraction of the end of the cushion. [-]
const RESERVOIR: (u64, u64) = (90, 216);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The next chunk is requested at this time; `Time::NEVER` before the start and after the stop.
    Waiting { until: Time },
    /// The request is being transferred.
    Asking,
    /// The server responds at this time.
    Serving { until: Time },
    /// The chunk is being transferred.
    Fetching,
}

/// A chunk that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Chunk {
    /// Time of the request.
    pub requested: Time,
    /// Time at which the last byte arrived.
    pub arrived: Time,
    /// Bitrate of the video in the chunk. [bit/s]
    pub bitrate_bps: u64,
}

/// The chunks and the playback of a period.
#[derive(Clone, Debug, Default)]
pub struct StreamTally {
    /// Sum of the bitrates of the chunks that arrived in the period. [bit/s]
    pub bitrates_bps: u64,
    /// Number of these chunks whose bitrate differs from that of the chunk before.
    pub switches: u64,
    /// Times from the requests of these chunks to their arrival, in ascending order.
    pub times: Vec<Span>,
    /// Number of stalls that began in the period.
    pub stalls: u64,
    /// Time for which the video stalled.
    pub stalled: Span,
    /// Time since the video began to play, within the period.
    pub watched: Span,
}

/// The state of the player of one stream.
#[derive(Clone, Debug)]
pub struct Player {
    settings: StreamSettings,
    /// Number of the flow that carries the requests; `None` before the start.
    pub requests: Option<u32>,
    stage: Stage,
    started: Time,
    is_closed: bool,
    /// Index of the bitrate of the present chunk, or of the last chunk.
    level: usize,
    requested: Time,
    /// Transfer times of the last chunks, divided by their lengths. [s/bit]
    recent: VecDeque<f64>,
    buffer: Buffer,
    chunks: Vec<Chunk>,
}

impl Player {
    /// Returns a player that has not started.
    pub fn new(settings: &StreamSettings) -> Player {
        Player {
            settings: settings.clone(),
            requests: None,
            stage: Stage::Waiting { until: Time::NEVER },
            started: Time::NEVER,
            is_closed: false,
            level: 0,
            requested: Time::NEVER,
            recent: VecDeque::new(),
            buffer: Buffer::new(settings.startup),
            chunks: Vec::new(),
        }
    }

    /// Starts the player. It requests the first chunk immediately.
    pub fn open(&mut self, now: Time) {
        self.started = now;
        self.stage = Stage::Waiting { until: now };
    }

    /// Stops the player: it requests no further chunks.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Returns the time of the next call of [`act`](Player::act); [`Time::NEVER`] if the player
    /// waits for a packet.
    pub fn deadline(&self) -> Time {
        match self.stage {
            Stage::Waiting { until } | Stage::Serving { until } if !self.is_closed => until,
            _ => Time::NEVER,
        }
    }

    /// Performs the action that is due at [`deadline`](Player::deadline): a request, or the
    /// response of the server.
    pub fn act(&mut self, now: Time) -> Write {
        match self.stage {
            Stage::Waiting { .. } => {
                self.level = self.next_level(now);
                self.requested = now;
                self.stage = Stage::Asking;
                Write::Request(self.settings.request_bytes)
            }
            Stage::Serving { .. } => {
                self.stage = Stage::Fetching;
                Write::Chunk(self.settings.chunk_bytes(self.level))
            }
            Stage::Asking | Stage::Fetching => Write::Nothing,
        }
    }

    /// Records that the request has arrived at the server. Other calls have no effect.
    pub fn request_arrived(&mut self, now: Time) {
        if self.stage == Stage::Asking {
            let until = now + self.settings.server_delay;
            self.stage = Stage::Serving { until };
        }
    }

    /// Records that the present chunk has arrived completely. Returns the length of the chunk;
    /// `None` if no chunk is being transferred. [bytes]
    pub fn chunk_arrived(&mut self, now: Time) -> Option<u64> {
        if self.stage != Stage::Fetching {
            return None;
        }
        let bytes = self.settings.chunk_bytes(self.level);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        let transfer_s = now.since(self.requested).seconds();
        self.recent.push_back(transfer_s / (8.0 * bytes as f64));
        self.chunks.push(Chunk {
            requested: self.requested,
            arrived: now,
            bitrate_bps: self.settings.bitrates_bps[self.level],
        });
        let chunk = self.settings.chunk;
        self.buffer.add(now, chunk);
        let wait = match self.buffer.is_playing() {
            true => (self.buffer.level(now) + chunk).0,
            false => 0,
        };
        let wait = Span(wait.saturating_sub(self.settings.buffer.0));
        self.stage = Stage::Waiting { until: now + wait };
        Some(bytes)
    }

    /// Returns the index of the bitrate of the next chunk.
    fn next_level(&self, now: Time) -> usize {
        if self.chunks.is_empty() {
            return 0;
        }
        match self.settings.adaptation {
            Adaptation::Throughput => {
                let mean = self.recent.iter().sum::<f64>() / self.recent.len() as f64;
                self.highest(|bitrate_bps| bitrate_bps <= SAFETY / mean)
            }
            Adaptation::Buffer => self.level_by_buffer(now),
        }
    }

    /// Returns the index of the highest bitrate for which `fits` returns true, else 0.
    fn highest(&self, fits: impl Fn(f64) -> bool) -> usize {
        let bitrates = self.settings.bitrates_bps.iter();
        bitrates.take_while(|&&bps| fits(bps as f64)).count().max(1) - 1
    }

    /// Returns the index of the next bitrate by BBA-0, algorithm 1.
    fn level_by_buffer(&self, now: Time) -> usize {
        let bitrates = &self.settings.bitrates_bps;
        let last = bitrates.len() - 1;
        let level = self.buffer.level(now).0;
        let StreamSettings { buffer, chunk, .. } = self.settings;
        let full = (buffer.0 * FULL.0 / FULL.1).min(buffer.0 - chunk.0);
        let reservoir = full * RESERVOIR.0 / RESERVOIR.1;
        if level <= reservoir {
            return 0;
        }
        if level >= full {
            return last;
        }
        let [least, most] = [bitrates[0], bitrates[last]].map(|bps| bps as f64);
        let part = (level - reservoir) as f64 / (full - reservoir) as f64;
        let mapped = least + (most - least) * part;
        let above = bitrates[(self.level + 1).min(last)] as f64;
        let below = bitrates[self.level.saturating_sub(1)] as f64;
        if mapped >= above {
            self.highest(|bitrate_bps| bitrate_bps < mapped)
        } else if mapped <= below {
            (self.highest(|bitrate_bps| bitrate_bps <= mapped) + 1).min(last)
        } else {
            self.level
        }
    }

    /// Returns the playing time of the video that has arrived and is not played at `now`.
    pub fn buffered(&self, now: Time) -> Span {
        self.buffer.level(now)
    }

    /// Returns the chunks that have arrived, in order.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Returns the time from the start of the stream to the start of the video; `None` if the video
    /// has not started.
    pub fn startup(&self) -> Option<Span> {
        Some(self.buffer.first_played()?.since(self.started))
    }

    /// Returns whether the stream has started before `until`, and its video has not begun to play.
    pub fn waits_at(&self, until: Time) -> bool {
        let plays = self.buffer.first_played();
        self.started < until && plays.is_none_or(|first| first >= until)
    }

    /// Returns the chunks and the playback between `from` and `to`.
    pub fn tally(&self, from: Time, to: Time) -> StreamTally {
        let mut tally = StreamTally::default();
        let mut before = None;
        for chunk in &self.chunks {
            if from < chunk.arrived && chunk.arrived <= to {
                tally.bitrates_bps += chunk.bitrate_bps;
                let is_switch = before.is_some_and(|before| before != chunk.bitrate_bps);
                tally.switches += u64::from(is_switch);
                tally.times.push(chunk.arrived.since(chunk.requested));
            }
            before = Some(chunk.bitrate_bps);
        }
        tally.times.sort_unstable();
        if let Some(first) = self.buffer.first_played() {
            let from = from.max(first);
            tally.watched = to.max(from).since(from);
            for (began, ended) in self.buffer.stalls(to) {
                let (began_in, ended) = (began.max(from), ended.min(to));
                tally.stalls += u64::from(from <= began && began < to);
                tally.stalled.0 += ended.max(began_in).since(began_in).0;
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests;
