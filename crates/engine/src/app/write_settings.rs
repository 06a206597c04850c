//! The times at which an application writes the data of its TCP connection: settings of a file.

use super::Gaps;
use crate::kernel::time::Span;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, Json, S, Setting, US, duration, rate, size, word};
use crate::table;

/// Largest amount of data that an application writes. [bytes]
const MAX_BYTES: u64 = 1_000_000_000_000;

table! {
    /// Times at which an application writes the data of its TCP connections. Without these keys TCP always has data to send.
    pub struct WriteKeys: Copy in "writes" {
        /// Rate at which the application writes payload. It writes a segment as soon as the rate has produced the bytes of the segment.
        rate: Option<u64> = rate().depends("as fast as TCP can send");
        /// Amount of data. With every, the application writes this amount (a chunk) per period. Otherwise it is the total amount of each connection.
        size_bytes as "size": Option<u64> = size(1..=MAX_BYTES).depends("no limit");
        /// Time from the start of one chunk to the start of the next. The first chunk starts with the flow. A chunk begins on time even if an earlier chunk has not arrived; its data is then sent after that of the earlier chunk.
        every: Option<Span> = duration(100 * US..=1_000_000 * S).depends("no chunks");
        /// Duration of an on period, in which the application writes. An off period follows. The first on period starts with the flow.
        on: Option<Span> = duration(100 * US..=1_000_000 * S).depends("always on");
        /// Duration of an off period, in which the application writes nothing.
        off: Option<Span> = duration(100 * US..=1_000_000 * S).depends("no pauses");
        /// Distribution of the values of every, on and off: equal ("constant") or exponential with this mean ("poisson").
        arrivals: Gaps = word(), fallback Gaps::Constant;
    }
}

/// Periods in which an application writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Periods {
    /// One period from the start to the end of the flow.
    Always,
    /// One chunk per period of this mean length.
    Chunks(Span),
    /// On periods, in which the application writes, and off periods, with these mean lengths.
    OnOff(Span, Span),
}

/// The times at which an application writes the data of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteSettings {
    /// Payload of a full segment. [bytes]
    pub mss_bytes: u32,
    /// Rate at which the application writes; `None` if it writes without delay. [bit/s]
    pub rate_bps: Option<u64>,
    /// Length of a chunk, or of all data without chunks; `None` without a limit. [bytes]
    pub size_bytes: Option<u64>,
    /// Periods in which the application writes.
    pub periods: Periods,
    /// Lengths of the periods: equal or exponential.
    pub arrivals: Gaps,
}

impl WriteSettings {
    /// Returns the settings of the nearest table; `None` if the application writes all data at the
    /// start without a limit.
    pub(crate) fn read(layers: &Layers, mss_bytes: u32) -> Result<Option<Box<Self>>, Refused> {
        let keys = WriteKeys::read(layers)?;
        let periods = match (keys.every, keys.on, keys.off) {
            (Some(every), ..) => Periods::Chunks(every),
            (None, Some(on), Some(off)) => Periods::OnOff(on, off),
            _ => Periods::Always,
        };
        let settings = WriteSettings {
            mss_bytes,
            rate_bps: keys.rate,
            size_bytes: keys.size_bytes,
            periods,
            arrivals: keys.arrivals,
        };
        let is_plain =
            periods == Periods::Always && keys.rate.is_none() && keys.size_bytes.is_none();
        Ok((!is_plain).then(|| settings.into()))
    }

    /// Returns whether the application limits the data that TCP may send.
    pub fn limits_data(&self) -> bool {
        self.rate_bps.is_some() || self.periods != Periods::Always
    }

    /// Returns the number of segments of a chunk, or of all data without chunks. The last segment
    /// may be shorter than the others.
    pub fn segments(&self) -> Option<u64> {
        Some(self.size_bytes?.div_ceil(u64::from(self.mss_bytes)))
    }

    /// Returns the number of segments that each connection sends; `None` without a limit.
    pub fn total_segments(&self) -> Option<u64> {
        self.segments()
            .filter(|_| !matches!(self.periods, Periods::Chunks(_)))
    }

    /// Returns the bytes by which the last segment of a chunk, or of all data, is shorter than a
    /// full segment. [bytes]
    pub fn missing_bytes(&self) -> u64 {
        let full_bytes = self.segments().unwrap_or(0) * u64::from(self.mss_bytes);
        full_bytes - self.size_bytes.unwrap_or(0)
    }

    /// Returns the bytes by which the first `segments` segments are shorter than full segments.
    /// [bytes]
    pub fn missing_of(&self, segments: u64) -> u64 {
        match self.segments() {
            Some(each) => segments / each * self.missing_bytes(),
            None => 0,
        }
    }

    /// Returns the mean rate at which the application writes; `None` if only TCP limits the rate.
    /// [bit/s]
    pub fn mean_bps(&self) -> Option<f64> {
        let rate_bps = self.rate_bps.map(|bps| bps as f64);
        match self.periods {
            Periods::Always => rate_bps,
            Periods::Chunks(every) => Some(self.size_bytes? as f64 * 8.0 / every.seconds()),
            Periods::OnOff(on, off) => {
                Some(rate_bps? * on.seconds() / (on.seconds() + off.seconds()))
            }
        }
    }

    /// Returns the mean length of packets divided by their mean payload, if each segment has this
    /// header. [-]
    pub fn longer_by_headers(&self, header_bytes: u32) -> f64 {
        let (segments, bytes) = match (self.segments(), self.size_bytes) {
            (Some(segments), Some(bytes)) => (segments as f64, bytes as f64),
            _ => (1.0, f64::from(self.mss_bytes)),
        };
        1.0 + segments * f64::from(header_bytes) / bytes
    }

    /// Returns these settings as JSON, for the normalised scenario.
    pub(crate) fn json(&self) -> Json {
        let (mut every, mut on, mut off) = (None, None, None);
        match self.periods {
            Periods::Always => {}
            Periods::Chunks(mean) => every = Some(mean.seconds()),
            Periods::OnOff(mean_on, mean_off) => {
                (on, off) = (Some(mean_on.seconds()), Some(mean_off.seconds()));
            }
        }
        serde_json::json!({
            "rate_bps": self.rate_bps,
            "size_bytes": self.size_bytes,
            "every_s": every,
            "on_s": on,
            "off_s": off,
            "arrivals": self.arrivals.json(),
        })
    }
}
