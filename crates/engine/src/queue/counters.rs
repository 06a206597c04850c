//! What a queue counts, for averages and for the conservation law.

use crate::kernel::time::Time;

/// Totals since the start of the run. Differences between two snapshots give averages.
///
/// The time integral of the queue length needs no update per event: a packet that entered at
/// e and left at l contributed l - e, one still inside contributes now - e, so the integral is
/// the sum of leaving times, plus length times now, minus the sum of entering times (modulo 2^64).
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueCounters {
    /// Packets offered.
    pub offered: u64,
    /// Packets lost here: refused, or dropped after they had waited.
    pub dropped: u64,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that left at the head.
    pub left: u64,
    /// Sum of sojourn times of those that left. [ns]
    pub sojourn_ns: u64,
    entered_sum: u64,
    left_sum: u64,
}

/// What a queue counts if packets leave at instants that are known when they enter; departures to come are
/// included.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    packets: u64,
    entered_sum: u64,
    left_sum: u64,
}

impl Passage {
    /// A packet enters at `entered` and leaves at `departs`.
    #[inline(always)]
    pub fn add(&mut self, entered: Time, departs: Time) {
        self.packets += 1;
        self.entered_sum = self.entered_sum.wrapping_add(entered.0);
        self.left_sum = self.left_sum.wrapping_add(departs.0);
    }

    /// Totals once all packets have left, if `marked` of them were marked and `refused` others did not
    /// enter.
    pub fn totals(self, marked: u64, refused: u64) -> QueueCounters {
        QueueCounters {
            offered: self.packets + refused,
            dropped: refused,
            marked,
            left: self.packets,
            sojourn_ns: self.left_sum.wrapping_sub(self.entered_sum),
            entered_sum: self.entered_sum,
            left_sum: self.left_sum,
        }
    }
}

impl QueueCounters {
    /// Packets inside.
    #[inline]
    pub fn length(&self) -> u64 {
        self.offered - self.dropped - self.left
    }

    /// A packet entered at `at`.
    #[inline]
    pub fn enter(&mut self, at: Time) {
        self.offered += 1;
        self.entered_sum = self.entered_sum.wrapping_add(at.0);
    }

    /// A packet was refused.
    #[inline]
    pub fn refuse(&mut self) {
        self.offered += 1;
        self.dropped += 1;
    }

    /// A packet that had entered is dropped at `at`.
    pub fn withdraw(&mut self, at: Time) {
        self.dropped += 1;
        self.left_sum = self.left_sum.wrapping_add(at.0);
    }

    /// A packet that enters is marked.
    #[inline]
    pub fn mark(&mut self) {
        self.marked += 1;
    }

    /// A packet that entered at `entered` left at `at`.
    #[inline]
    pub fn leave(&mut self, entered: Time, at: Time) {
        self.left += 1;
        self.left_sum = self.left_sum.wrapping_add(at.0);
        self.sojourn_ns += at.since(entered).0;
    }

    /// So many packets, the sum of whose entering times is `entered_sum` modulo 2^64, left at `at`.
    #[inline]
    pub fn leave_together(&mut self, packets: u64, entered_sum: u64, at: Time) {
        let left_sum = packets.wrapping_mul(at.0);
        self.left += packets;
        self.left_sum = self.left_sum.wrapping_add(left_sum);
        self.sojourn_ns += left_sum.wrapping_sub(entered_sum);
    }

    /// Undoes [`QueueCounters::leave`], for a time before it.
    pub fn take_back_leave(&mut self, entered: Time, at: Time) {
        self.left -= 1;
        self.left_sum = self.left_sum.wrapping_sub(at.0);
        self.sojourn_ns -= at.since(entered).0;
    }

    /// Undoes [`QueueCounters::enter`] and the mark with it, for a time before it.
    pub fn take_back_enter(&mut self, at: Time, marked: bool) {
        self.offered -= 1;
        self.entered_sum = self.entered_sum.wrapping_sub(at.0);
        self.marked -= u64::from(marked);
    }

    /// Time integral of the queue length from the start of the run to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        let inside = self.length().wrapping_mul(now.0);
        self.left_sum
            .wrapping_add(inside)
            .wrapping_sub(self.entered_sum)
    }
}
