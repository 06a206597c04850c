//! How links count down: countdowns behind one medium.
//!
//! | | by a mean, in continuous time | by a mean, in slots | by windows |
//! |---|---|---|---|
//! | a backoff | around its mean | the same, to the nearest slot | uniform on \[0, CW\] slots |
//! | before it runs | DIFS, EIFS after what could not be read | the same | the same |
//! | what counts of the time before a neighbour sends | all | whole slots | whole slots |
//! | a packet that comes to an idle channel | draws a backoff | draws a backoff | goes at once |
//! | links whose backoffs end in the same instant | one of them, drawn by lot, is the first | collide | collide |
//!
//! A failure doubles windows; a mean stays as it is.

use super::Spread;
use super::draw;
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// How all links count down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Counting {
    /// By a mean for each backoff.
    ByMean {
        /// Distribution of backoffs.
        spread: Spread,
        /// In continuous time or in slots.
        pace: Pace,
    },
    /// In slots, by windows.
    Slotted(Slotted),
}

/// How time goes by for a backoff that has a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Slot time; `None`: time is continuous, and neighbours do not collide.
    pub slot: Option<Span>,
    /// Silence before a backoff runs.
    pub difs: Span,
    /// The same after a transmission that the link sensed and cannot read, at least `difs`.
    pub eifs: Span,
}

impl Pace {
    /// Continuous time without silences, as in the theory.
    pub const CONTINUOUS: Pace = Pace {
        slot: None,
        difs: Span::ZERO,
        eifs: Span::ZERO,
    };
}

/// A countdown in slots, by windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slotted {
    /// Slot time, above zero.
    pub slot: Span,
    /// Silence before slots count.
    pub difs: Span,
    /// The same after a transmission that the link sensed and cannot read, at least `difs`.
    pub eifs: Span,
    /// Smallest contention window, the first one; backoff is uniform on [0, CW].
    pub cwmin: u32,
    /// Largest contention window, at least `cwmin`.
    pub cwmax: u32,
}

impl Counting {
    /// A backoff, of a link with contention window `cw`; `mean_ns` is its mean if it has one, `None` if the
    /// link has nothing to send. `None`: it draws none.
    #[inline(always)]
    pub(super) fn backoff(
        &self,
        mean_ns: Option<f64>,
        cw: u32,
        draws: &mut Stream,
    ) -> Option<Span> {
        match self {
            Counting::ByMean { spread, pace } => {
                let backoff = Span(draw(*spread, mean_ns?, draws));
                Some(match pace.slot {
                    None => backoff,
                    Some(slot) => slot * ((backoff.0 + slot.0 / 2) / slot.0),
                })
            }
            Counting::Slotted(slots) => Some(slots.slot * u64::from(draws.up_to(cw))),
        }
    }

    /// Silence before a backoff runs, after a transmission that was `unread` or not.
    #[inline(always)]
    pub(super) fn space(&self, unread: bool) -> Span {
        let (difs, eifs) = match self {
            Counting::ByMean { pace, .. } => (pace.difs, pace.eifs),
            Counting::Slotted(slots) => (slots.difs, slots.eifs),
        };
        if unread { eifs } else { difs }
    }

    /// A backoff falls only by multiples of this.
    #[inline(always)]
    pub(super) fn quantum(&self) -> Span {
        match self {
            Counting::ByMean { pace, .. } => pace.slot.unwrap_or(Span(1)),
            Counting::Slotted(slots) => slots.slot,
        }
    }

    /// A packet that comes to a channel idle since `idle_since` may go without backoff from this instant
    /// on; `None`: never.
    #[inline(always)]
    pub(super) fn without_backoff(&self, idle_since: Time, unread: bool) -> Option<Time> {
        match self {
            Counting::ByMean { .. } => None,
            Counting::Slotted(_) => Some(idle_since + self.space(unread)),
        }
    }

    /// Whether neighbours whose backoffs end in the same instant send and collide; if not, one of them is
    /// the first.
    #[inline(always)]
    pub(super) fn collides(&self) -> bool {
        match self {
            Counting::ByMean { pace, .. } => pace.slot.is_some(),
            Counting::Slotted(_) => true,
        }
    }

    /// First window.
    #[inline(always)]
    pub(super) fn first_window(&self) -> u32 {
        match self {
            Counting::ByMean { .. } => 0,
            Counting::Slotted(slots) => slots.cwmin,
        }
    }

    /// The window after a failure with `cw`.
    #[inline(always)]
    pub(super) fn next_window(&self, cw: u32) -> u32 {
        match self {
            Counting::ByMean { .. } => 0,
            Counting::Slotted(slots) => (2 * cw + 1).min(slots.cwmax),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;

    const SLOTTED: Counting = Counting::Slotted(Slotted {
        slot: Span(20_000),
        difs: Span(50_000),
        eifs: Span(364_000),
        cwmin: 31,
        cwmax: 100,
    });

    #[test]
    fn windows_double_up_to_the_largest() {
        assert_eq!(SLOTTED.first_window(), 31);
        assert_eq!(
            [31, 63, 100].map(|cw| SLOTTED.next_window(cw)),
            [63, 100, 100]
        );
    }

    #[test]
    fn silence_is_longer_after_what_could_not_be_read() {
        assert_eq!(
            [false, true].map(|unread| SLOTTED.space(unread)),
            [Span(50_000), Span(364_000)]
        );
        let from = SLOTTED.without_backoff(Time(1_000), true);
        assert_eq!(from, Some(Time(365_000)));
    }

    #[test]
    fn slots_are_drawn_and_continuous_backoffs_need_something_to_send() {
        let mut draws = Streams::new(1, 0).stream("x");
        let continuous = Counting::ByMean {
            spread: Spread::Constant,
            pace: Pace::CONTINUOUS,
        };
        assert_eq!(continuous.backoff(None, 0, &mut draws), None);
        assert_eq!(
            continuous.backoff(Some(700.4), 0, &mut draws),
            Some(Span(700))
        );
        for _ in 0..100 {
            let backoff = SLOTTED.backoff(None, 31, &mut draws);
            assert!(backoff.is_some_and(|one| one.0 % 20_000 == 0 && one <= Span(31 * 20_000)));
        }
    }

    #[test]
    fn slots_keep_a_mean() {
        let slot = Span(20_000);
        let pace = Pace {
            slot: Some(slot),
            ..Pace::CONTINUOUS
        };
        let counting = Counting::ByMean {
            spread: Spread::Exponential,
            pace,
        };
        let mut draws = Streams::new(1, 0).stream("x");
        let (mean_ns, count) = (60_000.0, 100_000);
        let sum_ns: u64 = (0..count)
            .map(|_| counting.backoff(Some(mean_ns), 0, &mut draws).unwrap().0)
            .inspect(|backoff| assert_eq!(backoff % slot.0, 0))
            .sum();
        // e^(-s/2m) / (1 - e^(-s/m)) slots: 3 to half a per cent
        let q = libm::exp(-20.0 / 60.0);
        let expected_ns = 20_000.0 * q.sqrt() / (1.0 - q);
        let scatter_ns = 3.0 * mean_ns / f64::from(count).sqrt();
        assert!((sum_ns as f64 / f64::from(count) - expected_ns).abs() < scatter_ns);
        assert!((expected_ns / mean_ns - 1.0).abs() < 0.005);
        assert!(counting.collides());
    }
}
