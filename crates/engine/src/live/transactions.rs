//! Transactions of the users of a web source, identical to those of a simulation.

use crate::app::web::{Transaction, WebSource};
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::scenario::{Scenario, Transport};
use crate::world::start_of;

/// The connections of a web source in order, each with its start time. They are those of the first
/// replication.
#[derive(Clone, Debug)]
pub struct Transactions {
    source: WebSource,
    /// End of the run or of the source. No connection begins at or after this time.
    until: Time,
}

impl Transactions {
    /// Returns the connections of flow `index`; `None` if the flow is not a web source.
    pub fn new(scenario: &Scenario, index: usize) -> Option<Transactions> {
        let flow = scenario.flows.get(index)?;
        let Transport::Web(settings) = &flow.transport else {
            return None;
        };
        let streams = Streams::new(scenario.seed, 0);
        let mut source = WebSource::new(settings, &flow.name, &streams);
        source.open(start_of(flow, &streams));
        let end = flow.stop.unwrap_or(scenario.duration);
        Some(Transactions {
            source,
            until: Time::ZERO + end.min(scenario.duration),
        })
    }
}

impl Iterator for Transactions {
    type Item = (Time, Transaction);

    fn next(&mut self) -> Option<(Time, Transaction)> {
        let at = self.source.deadline();
        (at < self.until).then(|| (at, self.source.connect()))
    }
}
