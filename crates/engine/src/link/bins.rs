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
    busy_ns: u64,
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
            busy_ns: 0,
            least_ns: width_ns,
        }
    }

    /// Records that the link is busy from `begins` to `ends`. The caller adds busy times in order.
    #[inline]
    pub(super) fn add(&mut self, begins: Time, ends: Time) {
        let mut begins = begins.0;
        loop {
            if begins >= self.border {
                self.turn(begins / self.width_ns);
            }
            if ends.0 <= self.border {
                self.busy_ns += ends.0 - begins;
                return;
            }
            self.busy_ns += self.border - begins;
            begins = self.border;
        }
    }

    /// Ends the current bin and all bins before bin number `next`. The link was idle in the bins
    /// between the current bin and bin `next`.
    #[cold]
    fn turn(&mut self, next: u64) {
        self.least_ns = self.least_with_current(next);
        self.current = next;
        self.border = (next + 1) * self.width_ns;
        self.busy_ns = 0;
    }

    /// Returns the smallest busy time in the bins before bin number `next`. [ns]
    fn least_with_current(&self, next: u64) -> u64 {
        let mut least = self.least_ns;
        if self.counted.contains(&self.current) {
            least = least.min(self.busy_ns);
        }
        let idle = (self.current + 1).max(self.counted.start)..next.min(self.counted.end);
        if idle.is_empty() { least } else { 0 }
    }

    pub(super) fn least(&self) -> Option<f64> {
        let next = self.counted.end.max(self.current);
        let least = self.least_with_current(next) as f64 / self.width_ns as f64;
        (!self.counted.is_empty()).then_some(least)
    }
}
