//! The smallest utilisation of a link over all time bins, which have equal widths.

use std::ops::Range;

use crate::kernel::time::{Span, Time};

/// Busy time of a link in bins of equal width. The first bin begins at the start of the run. Only
/// the smallest busy time of all bins is stored.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    width_ns: u64,
    /// Numbers of the bins that are completely in the measured period.
    counted: Range<u64>,
    /// Number of the bin in which the last busy time was recorded.
    current: u64,
    /// End of the current bin. [ns]
    border: u64,
    /// Total busy time of the link before the current bin. [ns]
    before_ns: u64,
    least_ns: u64,
}

impl Bins {
    pub(super) fn new(width: Span, measured: &Range<Time>) -> Bins {
        let width_ns = width.0;
        Bins {
            width_ns,
            counted: measured.start.0.div_ceil(width_ns)..measured.end.0 / width_ns,
            current: 0,
            border: width_ns,
            before_ns: 0,
            least_ns: width_ns,
        }
    }

    /// Records that the link is busy from `begins` to `ends`, after a total busy time of `busy_ns`.
    /// The caller adds busy times in order. Only the end of a bin requires a computation, because
    /// the caller sums the busy times.
    #[inline(always)]
    pub(super) fn add(&mut self, begins: Time, ends: Time, busy_ns: u64) {
        if ends.0 > self.border {
            self.cross(begins.0, ends.0, busy_ns);
        }
    }

    /// Performs [`Bins::add`] if the current bin ends before `ends`.
    #[inline(never)]
    fn cross(&mut self, mut begins: u64, ends: u64, mut busy_ns: u64) {
        while ends > self.border {
            if begins < self.border {
                busy_ns += self.border - begins;
                begins = self.border;
            }
            self.turn(begins / self.width_ns, busy_ns);
        }
    }

    /// Ends the current bin and all bins before bin number `next`, after a total busy time of
    /// `busy_ns`. The link was idle in the bins between the current bin and bin `next`.
    fn turn(&mut self, next: u64, busy_ns: u64) {
        self.least_ns = self.least_with_current(next, busy_ns);
        self.current = next;
        self.border = (next + 1) * self.width_ns;
        self.before_ns = busy_ns;
    }

    /// Returns the smallest busy time in the bins before bin number `next`. `busy_ns` is the total
    /// busy time up to the end of the current bin. [ns]
    fn least_with_current(&self, next: u64, busy_ns: u64) -> u64 {
        let mut least = self.least_ns;
        if self.counted.contains(&self.current) {
            least = least.min(busy_ns - self.before_ns);
        }
        let idle = (self.current + 1).max(self.counted.start)..next.min(self.counted.end);
        if idle.is_empty() { least } else { 0 }
    }

    /// Returns the smallest utilisation of the bins in the measured period; `None` if there is no
    /// such bin. `busy_ns` is the total busy time of the link. [-]
    pub(super) fn least(&self, busy_ns: u64) -> Option<f64> {
        let next = self.counted.end.max(self.current);
        let least = self.least_with_current(next, busy_ns) as f64 / self.width_ns as f64;
        (!self.counted.is_empty()).then_some(least)
    }
}
