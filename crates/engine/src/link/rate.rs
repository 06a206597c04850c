//! How fast a link sends: at a constant rate, or as a trace has it.

use serde_json::json;

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

/// How fast a link sends.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkRate {
    /// In no time.
    Unlimited,
    /// At a constant rate. [bit/s]
    Constant(u64),
    /// When there is an opportunity.
    Trace(Trace),
}

impl LinkRate {
    /// The rate, of a trace its mean for full packets; `None` without one. [bit/s]
    pub fn bps(&self) -> Option<u64> {
        match self {
            LinkRate::Unlimited => None,
            LinkRate::Constant(bps) => Some(*bps),
            LinkRate::Trace(trace) => Some(trace.mean_bps()),
        }
    }

    /// The trace that it follows.
    pub fn trace(&self) -> Option<&Trace> {
        match self {
            LinkRate::Unlimited | LinkRate::Constant(_) => None,
            LinkRate::Trace(trace) => Some(trace),
        }
    }

    /// What the nearest table says under `key`, as a table or a bare rate; `None` if none says anything.
    ///
    /// # Errors
    /// It has been refused.
    pub(crate) fn nearest(
        layers: &Layers,
        key: KeyOf<LinkRate>,
    ) -> Result<Option<LinkRate>, Refused> {
        for table in layers.0 {
            if let Some(own) = table.inside(key) {
                return LinkRate::read(&Layers(&[own])).map(Some);
            }
        }
        layers.value(key)
    }

    /// Checks what `table` says under `key`, if it says something.
    pub(crate) fn check(table: &Section, key: KeyOf<LinkRate>, problems: &mut Problems) {
        let Some(own) = table.inside(key) else {
            return;
        };
        let keys = RateTable::table().names();
        let said: Vec<_> = keys
            .filter_map(|key| Some((key, own.given(key)?)))
            .collect();
        let names = "constant, trace, trace_file";
        match said[..] {
            [] if !problems.concern(&own.path) && !problems.concern_inside(&own.path) => {
                let message = format!("the table is empty; expected one of {names}");
                problems.add(own.origin, &own.path, message);
            }
            [(first, _), (_, second), ..] => {
                let message = format!(
                    "a second rate in addition to {first}; expected one of \
                                       {names}"
                );
                problems.add(second.origin, &second.path, message);
            }
            [] | [_] => {}
        }
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
