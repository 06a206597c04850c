//! Number of stations that have a frame to send, over time.

use crate::kernel::time::Time;

/// Number of stations that have a frame to send, over time. `sum` is the sum of the ends of all
/// backlogged periods, less the sum of the beginnings.
#[derive(Clone, Debug)]
pub(super) struct Activity {
    sum: u64,
    stations: u64,
    backlogs: Vec<Backlog>,
}

/// Backlog of one station, in all its queues.
#[derive(Clone, Debug, Default)]
struct Backlog {
    /// Number of queues of the station that hold a frame.
    queues: u32,
    /// End of the last backlogged period. It is the end of a MAC ACK, which may be in the future.
    until: Time,
}

impl Activity {
    pub(super) fn new(stations: usize) -> Activity {
        Activity {
            sum: 0,
            stations: 0,
            backlogs: vec![Backlog::default(); stations],
        }
    }

    /// Records that a queue of `station` (`None`: the access point) holds a frame from `at` on.
    pub(super) fn begin(&mut self, station: Option<usize>, at: Time) {
        if let Some(station) = station {
            let backlog = &mut self.backlogs[station];
            backlog.queues += 1;
            if backlog.queues == 1 {
                self.stations += 1;
                self.sum = self.sum.wrapping_sub(at.max(backlog.until).0);
            }
        }
    }

    /// Records that a queue of `station` (`None`: the access point) is empty from `at` on.
    pub(super) fn end(&mut self, station: Option<usize>, at: Time) {
        if let Some(station) = station {
            let backlog = &mut self.backlogs[station];
            backlog.queues -= 1;
            if backlog.queues == 0 {
                backlog.until = at;
                self.stations -= 1;
                self.sum = self.sum.wrapping_add(at.0);
            }
        }
    }

    /// Returns the time integral of the number of stations that have a frame to send. [ns]
    pub(super) fn integral_ns(&self, now: Time) -> u64 {
        self.sum.wrapping_add(self.stations * now.0)
    }
}
