//! Settings of adaptive video streams.

use serde_json::json;

use crate::kernel::time::Span;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{
    FileTable, Json, MS, S, Setting, count, duration, rates, size, word,
};
use crate::{table, words};

/// Default bitrates: those of Netflix before its encodings depended on the title (A. Aaron, Z. Li,
/// M. Manohara, J. De Cock, D. Ronca, "Per-title encode optimization", Netflix technology blog,
/// December 2015). [bit/s]
const BITRATES: [u64; 10] = [
    235_000, 375_000, 560_000, 750_000, 1_050_000, 1_750_000, 2_350_000, 3_000_000, 4_300_000,
    5_800_000,
];

words! {
    /// Rule by which a player chooses the bitrate of the next chunk.
    pub enum Adaptation {
        /// The highest bitrate that is at most 0.9 times the harmonic mean of the throughput of the last five chunks.
        Throughput = "throughput",
        /// A bitrate that depends on the buffer only (BBA-0).
        Buffer = "buffer",
    }
}

table! {
    /// Adaptive video streams.
    pub struct VideoKeys in "stream" {
        /// Number of streams. Each stream has its own TCP connection and player.
        streams: u32 = count(1..=100).default(1);
        /// Bitrates of the video in ascending order, at most 32. A single bitrate means that the player does not adapt. A chunk has at most 4,000,000,000 segments.
        bitrates: Option<Vec<u64>> = rates().depends("235, 375, 560, 750, 1050, 1750, 2350, 3000, 4300 and 5800 kbps");
        /// Playing time of a chunk. The player fetches one chunk after another.
        chunk: Span = duration(100 * MS..=100 * S).default("4 s");
        /// Largest buffer: playing time of the video that has arrived and is not played. The player requests the next chunk when the buffer has room for it. A buffer that is shorter than a chunk is refused.
        buffer: Span = duration(100 * MS..=10_000 * S).default("30 s");
        /// Buffer with which the video starts to play, at the beginning and after a stall. A value above buffer is refused.
        startup: Option<Span> = duration(0..=10_000 * S).depends("the playing time of a chunk");
        /// Rule for the bitrate of the next chunk. With "throughput" it is the highest bitrate that is at most 0.9 times the harmonic mean of the throughput of the last five chunks. With "buffer" it depends on the buffer only (BBA-0).
        adaptation: Adaptation = word().default(Adaptation::Throughput);
        /// Length of a request.
        request_bytes as "request": u32 = size(1..=1_000_000).default("400 B");
        /// Time from the arrival of a request to its response.
        server_delay: Span = duration(0..=1_000 * S).default("0 s");
    }
}

/// Returns the length of a chunk with the playing time `chunk` at a bitrate. [bytes]
pub(crate) fn chunk_bytes(bitrate_bps: u64, chunk: Span) -> u64 {
    let bit_ns = u128::from(bitrate_bps) * u128::from(chunk.0);
    bit_ns.div_ceil(8_000_000_000).max(1) as u64 // at most 100 Gb/s for 100 s
}

/// Settings of one adaptive video stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSettings {
    /// Bitrates of the video in ascending order, at least one. [bit/s]
    pub bitrates_bps: Vec<u64>,
    /// Playing time of a chunk, above zero.
    pub chunk: Span,
    /// Largest buffer, at least a chunk. [playing time]
    pub buffer: Span,
    /// Buffer with which the video starts to play, at most `buffer`. [playing time]
    pub startup: Span,
    /// Rule for the bitrate of the next chunk.
    pub adaptation: Adaptation,
    /// Length of a request, at least 1. [bytes]
    pub request_bytes: u32,
    /// Time from the arrival of a request to its response.
    pub server_delay: Span,
}

impl StreamSettings {
    /// Returns the number of streams of a table, and the settings of each of them.
    pub(crate) fn read(layers: &Layers) -> Result<(u32, Box<StreamSettings>), Refused> {
        let keys = VideoKeys::read(layers)?;
        let settings = StreamSettings {
            bitrates_bps: keys.bitrates.unwrap_or_else(|| BITRATES.to_vec()),
            chunk: keys.chunk,
            buffer: keys.buffer,
            startup: keys.startup.unwrap_or(keys.chunk),
            adaptation: keys.adaptation,
            request_bytes: keys.request_bytes,
            server_delay: keys.server_delay,
        };
        Ok((keys.streams, settings.into()))
    }

    /// Returns the length of a chunk at bitrate number `level`. [bytes]
    pub fn chunk_bytes(&self, level: usize) -> u64 {
        chunk_bytes(self.bitrates_bps[level], self.chunk)
    }

    /// Returns these settings as JSON, for the normalised scenario.
    pub(crate) fn json(&self) -> Json {
        json!({
            "bitrates_bps": self.bitrates_bps,
            "chunk_s": self.chunk.seconds(),
            "buffer_s": self.buffer.seconds(),
            "startup_s": self.startup.seconds(),
            "adaptation": self.adaptation.json(),
            "request_bytes": self.request_bytes,
            "server_delay_s": self.server_delay.seconds(),
        })
    }
}
