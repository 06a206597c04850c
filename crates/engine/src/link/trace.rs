//! Opportunities to send, which follow a trace.
//!
//! The format is that of mahimahi (R. Netravali et al., "Mahimahi: accurate record-and-replay for
//! HTTP", USENIX ATC 2015), as the program `mm-link` reads it. Each time in a trace is an
//! opportunity to send 1,504 bytes. The trace repeats after its last time. A packet uses its length
//! and 4 bytes for the header of the TUN device of mahimahi.

use std::sync::Arc;

use serde_json::json;

use crate::kernel::streams::fnv1a;
use crate::kernel::time::Time;
use crate::notation::setting::{Json, MS, Setting};
use crate::notation::value::Value;

/// Number of bytes that can be sent at one opportunity. [bytes]
pub(super) const OPPORTUNITY_BYTES: u64 = 1504;

/// Number of bytes that each packet uses in addition to its length. [bytes]
pub(super) const HEADER_BYTES: u64 = 4;

/// Opportunities to send, which repeat in rounds. Opportunity n of round k is `ms[n]` after the end
/// of round k - 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Times of the opportunities of a round, in order. The last time is above 0, and is the length
    /// of a round. [ms]
    ms: Arc<[u32]>,
}

impl Trace {
    /// Returns a trace with opportunities at the times `ms`. The times are in order, and the last
    /// time is above 0. [ms]
    pub fn new(ms: impl Into<Arc<[u32]>>) -> Trace {
        Trace { ms: ms.into() }
    }

    /// Returns the length of a round. [ns]
    fn round_ns(&self) -> u64 {
        self.ms.last().map_or(0, |&ms| u64::from(ms)) * MS
    }

    /// Returns the time of opportunity `number`, counted from 0.
    pub(super) fn time(&self, number: u64) -> Time {
        let count = self.ms.len() as u64;
        let in_round = u64::from(self.ms[(number % count) as usize]) * MS;
        Time(number / count * self.round_ns() + in_round)
    }

    /// Returns the number of the first opportunity after `now`. Opportunities are counted from 0,
    /// so this is also the number of opportunities up to `now`.
    pub(super) fn first_after(&self, now: Time) -> u64 {
        let round = now.0 / self.round_ns();
        let since = now.0 % self.round_ns();
        let passed = self.ms.partition_point(|&ms| u64::from(ms) * MS <= since);
        round * self.ms.len() as u64 + passed as u64
    }

    /// Returns the mean rate of full packets of 1,500 bytes. [bit/s]
    pub(super) fn mean_bps(&self) -> u64 {
        let bytes = (OPPORTUNITY_BYTES - HEADER_BYTES) * self.ms.len() as u64;
        let bits_ns = u128::from(8 * bytes) * 1_000_000_000;
        (bits_ns / u128::from(self.round_ns())).max(1) as u64
    }
}

impl Setting for Trace {
    fn of(value: &Value) -> Option<Trace> {
        let Value::Times(ms) = value else {
            return None;
        };
        Some(Trace::new(Arc::clone(ms)))
    }

    /// Returns a short description of the trace as JSON: the number of opportunities, the length of
    /// a round, and a hash of the times, which differs between traces.
    fn json(&self) -> Json {
        let bytes = self.ms.iter().flat_map(|ms| ms.to_le_bytes());
        json!({
            "opportunities": self.ms.len(),
            "period_s": self.round_ns() as f64 / 1e9,
            "fnv1a": format!("{:016x}", fnv1a(bytes)),
        })
    }
}
