//! Transactions of the users of a web source. The transactions are those of a simulation of the
//! scenario.

use crate::app::web::{Transaction, WebSource};
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::scenario::{Scenario, Transport};
use crate::world::start_of;

/// Connections of a web source in order of time, each with its start time. The random numbers are
/// those of the first replication.
#[derive(Clone, Debug)]
pub struct Transactions {
    source: WebSource,
    /// End of the run, or the time at which the web source stops. No connection begins at or after
    /// this time.
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
