//! Number of stations that have a frame to send, over time.

use crate::kernel::time::Time;
use crate::mac::{Bss, NodeId};

/// Number of stations that have a frame to send, over time. A backlogged period of a station is a
/// time in which the station has a frame to send. `sum` is the sum of the end times of all
/// backlogged periods, minus the sum of their start times.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    sum: u64,
    stations: u64,
    /// Backlog of each node, at the index of its node number.
    backlogs: Vec<Backlog>,
}

/// Backlog of one node: whether any of its queues stores a frame.
#[derive(Clone, Debug, Default)]
struct Backlog {
    /// Number of queues that store a frame. For the access point, 1 is added, so that this field is
    /// never 0 and the access point is not counted as a station.
    queues: u32,
    /// End of the last backlogged period, which is the end of a MAC ACK. This time may be in the
    /// future.
    until: Time,
}

impl Activity {
    pub(super) fn new(bss: &Bss) -> Activity {
        let nodes = bss.nodes().map(|node| node.0 as usize + 1).max();
        let mut backlogs = vec![Backlog::default(); nodes.unwrap_or(0)];
        backlogs[bss.ap.0 as usize].queues = 1;
        Activity {
            sum: 0,
            stations: 0,
            backlogs,
        }
    }

    /// Records that a queue of `node`, which was empty, stores a frame from `at` on.
    #[inline(always)]
    pub(super) fn begin(&mut self, node: NodeId, at: Time) {
        let backlog = &mut self.backlogs[node.0 as usize];
        backlog.queues += 1;
        if backlog.queues == 1 {
            self.stations += 1;
            self.sum = self.sum.wrapping_sub(at.max(backlog.until).0);
        }
    }

    /// Records that a queue of `node` is empty from `at` on.
    #[inline(always)]
    pub(super) fn end(&mut self, node: NodeId, at: Time) {
        let backlog = &mut self.backlogs[node.0 as usize];
        backlog.queues -= 1;
        if backlog.queues == 0 {
            backlog.until = at;
            self.stations -= 1;
            self.sum = self.sum.wrapping_add(at.0);
        }
    }

    /// Returns the time integral of the number of stations that have a frame to send. [ns]
    pub(super) fn integral_ns(&self, now: Time) -> u64 {
        self.sum.wrapping_add(self.stations * now.0)
    }
}
