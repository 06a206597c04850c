//! Counters of a cell that depend on the contents of its exchanges.

use super::aggregates::Aggregating;
use crate::mac::dcf::{DownCounters, NodeCounters, SingleFrame};

/// Counters that depend on the contents of exchanges.
pub trait ExchangeCounters {
    /// Returns the counters of queue `number`, given those of the medium.
    fn frames(&self, _number: u32, of_medium: NodeCounters) -> NodeCounters {
        of_medium
    }

    /// Returns the counters of the access point's frames, or MPDUs, to station number `station`,
    /// counted from 0.
    fn down_counters(&self, station: usize) -> DownCounters;

    /// Returns the aggregates, if exchanges carry them.
    fn aggregates(&self) -> Option<&Aggregating> {
        None
    }
}

impl ExchangeCounters for SingleFrame {
    fn down_counters(&self, station: usize) -> DownCounters {
        self.down(station)
    }
}

impl ExchangeCounters for Aggregating {
    fn frames(&self, number: u32, of_medium: NodeCounters) -> NodeCounters {
        self.senders.counters(number, of_medium)
    }

    fn down_counters(&self, station: usize) -> DownCounters {
        self.senders.down(station)
    }

    fn aggregates(&self) -> Option<&Aggregating> {
        Some(self)
    }
}
