//! Settings of data that are recorded in addition to mean values.

use crate::kernel::time::Span;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{S, US, count, duration};
use crate::table;

table! {
    /// Data of the first replication to record in addition to mean values.
    pub struct Record: Copy in "record" {
        /// Sampling interval of the time series of queues, windows and goodputs.
        series_interval: Option<Span> = duration(US..=1_000_000 * S).or("never").default("never");
        /// Width of the time bins over which the smallest utilisation of a link is taken.
        utilisation_bin: Option<Span> = duration(US..=1_000_000 * S).default("100 ms");
        /// Largest number of frames on the air in the log; each MPDU of an aggregate counts as one frame. With 0 there is no log.
        frames: Option<u64> = count(0..=10_000_000).default(0), by frames;
        /// Time at which the series and the log of frames begin.
        from: Span = duration(0..=1_000_000 * S).default("0 s");
    }
}

/// The default records only mean values.
impl Default for Record {
    fn default() -> Record {
        Record {
            series_interval: None,
            utilisation_bin: None,
            frames: None,
            from: Span::ZERO,
        }
    }
}

impl Record {
    /// Returns the number of samples per time series in a run of `duration`.
    pub fn samples(&self, duration: Span) -> u64 {
        let Some(interval) = self.series_interval else {
            return 0;
        };
        let before = self.from.0.saturating_sub(1) / interval.0;
        (duration.0 / interval.0).saturating_sub(before)
    }
}

fn frames(layers: &Layers) -> Result<Option<u64>, Refused> {
    Ok(layers.need(Record::frames)?.filter(|most| *most > 0))
}
