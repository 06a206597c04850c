//! The baseline of a station: its round-trip time without a queue.
//!
//! | sample | new baseline |
//! |---|---|
//! | below the baseline by more than the tolerance, after the baseline has risen | the baseline before the rise |
//! | below the baseline in any other case | the sample |
//! | above the baseline by more than the tolerance, with an empty queue, several times in a row | the smallest of these samples |
//! | any other sample | unchanged |

use crate::kernel::time::Span;

/// Largest number of consecutive samples with an empty queue that are required before the baseline
/// rises. The caller may require fewer samples.
const RISE_AFTER: u32 = 8;

/// Limits of a round-trip time below which the queue is considered empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NearBase {
    /// Round-trip time up to which the queue is considered empty whatever the baseline is.
    pub floor: Span,
    /// Difference from the baseline that is attributed to noise.
    pub tolerance: Span,
}

/// The baseline of a station: its round-trip time without a queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Baseline {
    rtt: Option<Span>,
    /// Value of the baseline before its last rise; `None` if the baseline has not risen.
    before_rise: Option<Span>,
    /// Number and minimum of the latest consecutive samples that were above the baseline with an
    /// empty queue. This minimum may become the baseline.
    candidate: Option<(u32, Span)>,
}

impl Baseline {
    /// Returns the round-trip time without a queue; `None` if it is not known yet.
    pub fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// Adds a round-trip time and returns its queueing delay: the round-trip time, minus the amount
    /// by which the baseline exceeds `floor`.
    ///
    /// `rise_after` is the number of consecutive samples above the baseline after which the
    /// baseline rises; `None`: the queue is possibly not empty, and the baseline does not rise.
    pub fn add(&mut self, rtt: Span, near: NearBase, rise_after: Option<u32>) -> Span {
        let NearBase { floor, tolerance } = near;
        if self.rtt.is_some_and(|base| rtt + tolerance < base) {
            // the path is again as short as before the rise, and the earlier baseline is restored;
            // this sample may include a queueing delay
            self.rtt = self.before_rise.take().or(self.rtt);
        }
        let base = self.rtt.unwrap_or(floor);
        if rtt < base || rtt <= floor {
            self.rtt = Some(base.min(rtt));
        }
        match rise_after {
            Some(samples) if rtt > base.max(floor) + tolerance => {
                let (count, minimum) = self.candidate.unwrap_or((0, rtt));
                let (count, minimum) = (count + 1, minimum.min(rtt));
                self.candidate = Some((count, minimum));
                if count >= samples.min(RISE_AFTER) {
                    self.before_rise = Some(self.before_rise.unwrap_or(base));
                    self.rtt = Some(minimum);
                    self.candidate = None;
                }
            }
            Some(_) | None => self.candidate = None,
        }
        rtt - (self.rtt.unwrap_or(floor) - floor)
    }
}
