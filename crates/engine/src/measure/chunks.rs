//! Measures of the chunks that applications write.

use super::item::{Value, mean_s, quantile};
use super::period::Period;
use crate::app::writes::{ChunkTally, Writes};
use crate::kernel::time::Span;
use crate::quantities::*;
use crate::world::Application;

impl Period<'_> {
    /// Returns the measures of the chunks of these flows; an empty list if no flow has chunks.
    pub(super) fn chunks(&self, flows: impl Iterator<Item = usize>) -> Vec<Value> {
        let interval = self.interval();
        let tally = |flow: usize| {
            let application = self.world.flows().states()[flow].application();
            let writes: &Writes = application.and_then(Application::writes)?;
            writes.tally(&interval)
        };
        let tallies: Vec<ChunkTally> = flows.filter_map(tally).collect();
        if tallies.is_empty() {
            return Vec::new();
        }
        let mut times: Vec<Span> = tallies
            .iter()
            .flat_map(|tally| &tally.times)
            .copied()
            .collect();
        times.sort_unstable();
        let sum_ns = times.iter().map(|time| time.0).sum();
        let made: u64 = tallies.iter().map(|tally| tally.made).sum();
        let late: u64 = tallies.iter().map(|tally| tally.late).sum();
        vec![
            CHUNKS.of(made as f64),
            LATE_CHUNKS.of(late as f64),
            CHUNK_COMPLETION.of(mean_s(sum_ns, times.len() as u64)),
            CHUNK_COMPLETION_P95.of(quantile(&times, 0.95).map(Span::seconds)),
        ]
    }
}
