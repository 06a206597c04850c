//! Counters of a queue, for averages and for checks that no packet is lost without being counted.

use super::Waits;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// Counters of a queue since the start of the run. Differences between two snapshots give averages.
///
/// The time integral of the queue length needs no update per event. A packet that entered at e and
/// left at l contributes l - e; a packet that is still in the queue contributes now - e. Therefore
/// the integral is the sum of leaving times, plus the queue length times now, minus the sum of
/// entering times (modulo 2^64).
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueCounters {
    /// Number of packets offered.
    pub offered: u64,
    /// Number of packets that were refused at arrival, or dropped later.
    pub dropped: u64,
    /// Number of packets that were marked.
    pub marked: u64,
    /// Number of packets that left the queue at its head and were not dropped there.
    pub left: u64,
    /// Sum of the sojourn times of the packets that left. [ns]
    pub sojourn_ns: u64,
    entered_sum: u64,
    left_sum: u64,
}

/// Counters of a queue that computes the departure time of each packet at its arrival. The counters
/// include future departures.
///
/// No two of the counters that every packet changes are adjacent. The compiler would change two
/// adjacent counters with one vector addition, which takes more instructions than two additions.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Passage {
    entered_sum: u64,
    /// Number of packets that were marked.
    pub marked: u64,
    left_sum: u64,
    /// Number of packets that were refused at arrival.
    pub refused: u64,
}

impl Passage {
    /// Counts a packet that arrives at `entered` and leaves at `departs`.
    #[inline(always)]
    pub fn add(&mut self, entered: Time, departs: Time) {
        self.entered_sum = self.entered_sum.wrapping_add(entered.0);
        self.left_sum = self.left_sum.wrapping_add(departs.0);
    }

    /// Returns the counters after the departure of all packets, if `packets` packets have entered
    /// the queue.
    pub fn totals(self, packets: u64) -> QueueCounters {
        QueueCounters {
            offered: packets + self.refused,
            dropped: self.refused,
            marked: self.marked,
            left: packets,
            sojourn_ns: self.left_sum.wrapping_sub(self.entered_sum),
            entered_sum: self.entered_sum,
            left_sum: self.left_sum,
        }
    }
}

impl QueueCounters {
    /// Returns the number of packets in the queue.
    #[inline]
    pub fn length(&self) -> u64 {
        self.offered - self.dropped - self.left
    }

    /// Counts a packet that enters at `at`.
    #[inline]
    pub fn enter(&mut self, at: Time) {
        self.offered += 1;
        self.entered_sum = self.entered_sum.wrapping_add(at.0);
    }

    /// Counts a packet that is refused.
    #[inline]
    pub fn refuse(&mut self) {
        self.offered += 1;
        self.dropped += 1;
    }

    /// Counts a packet that is dropped at `at`, after it had entered the queue.
    pub fn withdraw(&mut self, at: Time) {
        self.dropped += 1;
        self.left_sum = self.left_sum.wrapping_add(at.0);
    }

    /// Counts a packet that entered at `entered` and leaves at `at`.
    #[inline]
    pub fn leave(&mut self, entered: Time, at: Time) {
        self.left += 1;
        self.left_sum = self.left_sum.wrapping_add(at.0);
        self.sojourn_ns += at.since(entered).0;
    }

    /// Counts `packets` packets that leave at `at`. `entered_sum` is the sum of the times at which
    /// they entered, modulo 2^64.
    #[inline]
    pub fn leave_together(&mut self, packets: u64, entered_sum: u64, at: Time) {
        let left_sum = packets.wrapping_mul(at.0);
        self.left += packets;
        self.left_sum = self.left_sum.wrapping_add(left_sum);
        self.sojourn_ns += left_sum.wrapping_sub(entered_sum);
    }

    /// Undoes [`QueueCounters::leave`], so that the counters are those of a time before the
    /// departure.
    pub fn take_back_leave(&mut self, entered: Time, at: Time) {
        self.left -= 1;
        self.left_sum = self.left_sum.wrapping_sub(at.0);
        self.sojourn_ns -= at.since(entered).0;
    }

    /// Undoes [`QueueCounters::enter`] and the counting of a mark, so that the counters are those
    /// of a time before the arrival.
    pub fn take_back_enter(&mut self, at: Time, marked: bool) {
        self.offered -= 1;
        self.entered_sum = self.entered_sum.wrapping_sub(at.0);
        self.marked -= u64::from(marked);
    }

    /// Returns the time integral of the queue length from the start of the run to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        let inside = self.length().wrapping_mul(now.0);
        self.left_sum
            .wrapping_add(inside)
            .wrapping_sub(self.entered_sum)
    }
}

/// The counters of a queue, and the sojourn times of its datagrams.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub(super) counters: QueueCounters,
    pub(super) waits: Waits,
}

impl Counts {
    /// Counts `packet`, which leaves at `at`.
    #[inline(always)]
    pub(super) fn leave(&mut self, packet: &Packet, at: Time) {
        self.counters.leave(packet.queued, at);
        self.waits
            .leave(packet.flow, packet.kind, packet.queued, at);
    }

    /// Returns the time integral of the queue length up to `now`. The last `packets` departures are
    /// already counted, but these packets are part of the queue until `released`. [packets ns]
    pub(super) fn occupancy_ns(&self, now: Time, packets: u64, released: Time) -> u64 {
        // the integral includes the packets until `released`, which may be in the future
        let early = packets * released.since(now).0;
        self.counters.occupancy_ns(now).wrapping_sub(early)
    }
}
