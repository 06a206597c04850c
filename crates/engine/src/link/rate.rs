//! Rates of links: constant, or given by a trace of opportunities to send.

use serde_json::json;

use super::alternatives;
use super::trace::Trace;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{FileTable, Json, KeyOf, Setting, rate, times, times_file};
use crate::notation::table::Table;
use crate::notation::value::Value;
use crate::table;

table! {
    /// Trace of opportunities to send.
    pub struct TraceTable in "trace" {
        /// Times of opportunities to send 1,504 bytes each, in ms, such as [0, 8, 8, 20]. The trace repeats at its last time. A packet uses its length plus 4 B.
        trace: Option<Trace> = times().absent("none");
        /// Name of a file in the directory of the scenario, with the times of opportunities to send 1,504 bytes each. It has one time in ms per line, as in mahimahi.
        trace_file: Option<Trace> = times_file().absent("none");
    }
}

table! {
    /// Rate of a link, given by one of the three keys.
    pub struct RateTable in "rate" {
        /// Constant rate. "unlimited" means no serialisation time.
        constant: Option<u64> = rate().or("unlimited").absent("none");
        all_of TraceTable;
    }
}

table! {
    /// Rate of a bottleneck, given by one of the three keys.
    pub struct BottleneckRate in "bottleneck_rate" {
        /// Constant rate.
        constant: Option<u64> = rate().absent("none");
        all_of TraceTable;
    }
}

/// Rate of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkRate {
    /// The link has no serialisation time.
    Unlimited,
    /// A constant rate. [bit/s]
    Constant(u64),
    /// The link sends at the opportunities of a trace.
    Trace(Trace),
}

impl LinkRate {
    /// Returns the rate. For a trace, returns the mean rate of packets of 1,500 bytes. `None`: the
    /// rate is unlimited. [bit/s]
    pub fn bps(&self) -> Option<u64> {
        match self {
            LinkRate::Unlimited => None,
            LinkRate::Constant(bps) => Some(*bps),
            LinkRate::Trace(trace) => Some(trace.mean_bps()),
        }
    }

    /// Returns the trace that the link follows.
    pub fn trace(&self) -> Option<&Trace> {
        match self {
            LinkRate::Unlimited | LinkRate::Constant(_) => None,
            LinkRate::Trace(trace) => Some(trace),
        }
    }

    /// Returns the rate of `key`, which a file sets by a table or by a single value. The first
    /// section in `layers` that sets `key` determines the rate. `None`: no section sets `key`.
    ///
    /// # Errors
    /// The rate has been refused.
    pub(crate) fn nearest(
        layers: &Layers,
        key: KeyOf<LinkRate>,
    ) -> Result<Option<LinkRate>, Refused> {
        alternatives::nearest(layers, key)
    }

    /// Checks the rate under `key` of `table`.
    pub(crate) fn check(table: &Section, key: KeyOf<LinkRate>, problems: &mut Problems) {
        alternatives::check(table, key, "rate", problems);
    }
}

impl FileTable for LinkRate {
    fn table() -> &'static Table {
        RateTable::table()
    }

    fn read(layers: &Layers) -> Result<LinkRate, Refused> {
        let trace = layers.value(TraceTable::trace)?.flatten();
        if let Some(trace) = trace.or(layers.value(TraceTable::trace_file)?.flatten()) {
            return Ok(LinkRate::Trace(trace));
        }
        layers.need(RateTable::constant).map(LinkRate::from)
    }

    fn json(&self) -> Json {
        json!(self.bps())
    }
}

impl From<Option<u64>> for LinkRate {
    fn from(bps: Option<u64>) -> LinkRate {
        bps.map_or(LinkRate::Unlimited, LinkRate::Constant)
    }
}

impl Setting for LinkRate {
    const UNIT: &'static str = "_bps";

    fn of(value: &Value) -> Option<LinkRate> {
        Option::<u64>::of(value).map(LinkRate::from)
    }

    fn json(&self) -> Json {
        FileTable::json(self)
    }
}
