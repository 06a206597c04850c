//! Counters of a tin.

use crate::kernel::time::Time;
use crate::queue::QueueCounters;

/// The state of a flow queue in the round robin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Set {
    #[default]
    None,
    Sparse,
    /// In the bulk rotation because of a negative deficit, but counted as sparse.
    SparseWait,
    Bulk,
    Decaying,
}

/// Counters of a tin since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct TinCounters {
    /// Name of the tin.
    pub name: &'static str,
    /// Number of waiting packets, without a packet in service.
    pub waiting: u64,
    /// Counters of the packets. ACKs that the filter dropped count as not offered.
    pub packets: QueueCounters,
    /// Number of ACKs that the filter dropped.
    pub filtered: u64,
    /// Number of sparse flows, and number of bulk flows.
    pub flows: [u32; 2],
    /// Number of flows that BLUE drops packets of.
    pub unresponsive: u32,
    /// Time integrals of `flows` up to the time `since`. [flows ns]
    pub(super) areas: [u64; 2],
    pub(super) since: Time,
}

impl TinCounters {
    /// Counts an ACK that the filter drops at `now`, after it had entered.
    pub(super) fn filter(&mut self, now: Time) {
        self.filtered += 1;
        self.packets.withdraw(now);
        self.packets.offered -= 1;
        self.packets.dropped -= 1;
    }

    /// Counts a change of the state of a flow from `before` to `after`.
    pub(super) fn count_flow(&mut self, now: Time, before: Option<Set>, after: Option<Set>) {
        self.areas = self.areas(now);
        self.since = now;
        if let Some(kind) = before.and_then(kind) {
            self.flows[kind] -= 1;
        }
        if let Some(kind) = after.and_then(kind) {
            self.flows[kind] += 1;
        }
    }

    /// Returns the time integrals of the numbers of sparse flows and bulk flows. [flows ns]
    pub fn areas(&self, now: Time) -> [u64; 2] {
        let time = now.since(self.since).0;
        let [sparse, bulk] = self.flows.map(|flows| u64::from(flows) * time);
        [self.areas[0] + sparse, self.areas[1] + bulk]
    }
}

/// Returns the index in `TinCounters::flows` of the flows in this state.
fn kind(set: Set) -> Option<usize> {
    match set {
        Set::Sparse | Set::SparseWait => Some(0),
        Set::Bulk => Some(1),
        Set::None | Set::Decaying => None,
    }
}
