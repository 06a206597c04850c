//! How links count down: two countdowns behind one medium.
//!
//! | | in continuous time | in slots |
//! |---|---|---|
//! | a backoff | around its mean | uniform on \[0, CW\] slots |
//! | before it runs | no silence | DIFS, EIFS after what could not be read |
//! | what counts of the time before a neighbour sends | all | whole slots |
//! | a packet that comes to an idle channel | draws a backoff | goes at once |
//! | links whose backoffs end in the same instant | one of them, drawn by lot, is the first | collide |

use super::Spread;
use super::draw;
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// How all links count down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Counting {
    /// In continuous time, with this distribution of backoffs.
    Continuous(Spread),
    /// In slots.
    Slotted(Slotted),
}

/// A countdown in slots.
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
    /// A backoff, of a link with contention window `cw`; `mean_ns` is its mean in continuous time, `None`
    /// if the link has nothing to send. `None`: it draws none.
    #[inline(always)]
    pub(super) fn backoff(
        &self,
        mean_ns: Option<f64>,
        cw: u32,
        draws: &mut Stream,
    ) -> Option<Span> {
        match self {
            Counting::Continuous(spread) => Some(Span(draw(*spread, mean_ns?, draws))),
            Counting::Slotted(slots) => Some(slots.slot * u64::from(draws.up_to(cw))),
        }
    }

    /// Silence before a backoff runs, after a transmission that was `unread` or not.
    #[inline(always)]
    pub(super) fn space(&self, unread: bool) -> Span {
        match self {
            Counting::Continuous(_) => Span::ZERO,
            Counting::Slotted(slots) if unread => slots.eifs,
            Counting::Slotted(slots) => slots.difs,
        }
    }

    /// A backoff falls only by multiples of this.
    #[inline(always)]
    pub(super) fn quantum(&self) -> Span {
        match self {
            Counting::Continuous(_) => Span(1),
            Counting::Slotted(slots) => slots.slot,
        }
    }

    /// A packet that comes to a channel idle since `idle_since` may go without backoff from this instant
    /// on; `None`: never.
    #[inline(always)]
    pub(super) fn without_backoff(&self, idle_since: Time, unread: bool) -> Option<Time> {
        match self {
            Counting::Continuous(_) => None,
            Counting::Slotted(_) => Some(idle_since + self.space(unread)),
        }
    }

    /// Whether neighbours whose backoffs end in the same instant send and collide; if not, one of them is
    /// the first.
    #[inline(always)]
    pub(super) fn collides(&self) -> bool {
        matches!(self, Counting::Slotted(_))
    }

    /// First window.
    #[inline(always)]
    pub(super) fn first_window(&self) -> u32 {
        match self {
            Counting::Continuous(_) => 0,
            Counting::Slotted(slots) => slots.cwmin,
        }
    }

    /// The window after a failure with `cw`.
    #[inline(always)]
    pub(super) fn next_window(&self, cw: u32) -> u32 {
        match self {
            Counting::Continuous(_) => 0,
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
        let continuous = Counting::Continuous(Spread::Constant);
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
}
