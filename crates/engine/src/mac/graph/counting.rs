//! How links count down: two countdowns behind one medium.
//!
//! | | in continuous time | in slots |
//! |---|---|---|
//! | a backoff | around its mean | uniform on \[0, CW\] slots |
//! | before it runs | no silence | DIFS, EIFS after what could not be read |
//! | of the time before a neighbour sent counts | all | whole slots |
//! | a packet that comes to an idle channel | draws a backoff | goes at once |
//! | who end in the same instant | one of them, by lot, is the first | collide |

use super::Spread;
use super::draw;
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// How all links count down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Counting {
    /// In continuous time.
    Continuous(Continuous),
    /// In slots.
    Slotted(Slotted),
}

/// A countdown in continuous time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Continuous {
    /// Distribution of backoffs.
    pub spread: Spread,
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
    /// First window.
    pub cwmin: u32,
    /// Largest window, at least `cwmin`.
    pub cwmax: u32,
}

/// What a countdown is asked.
pub(super) trait Countdown {
    /// A backoff, of a link with contention window `cw`; `mean_ns` is its mean in continuous time, `None`
    /// if the link has nothing to send. `None`: it draws none.
    fn backoff(&self, mean_ns: Option<f64>, cw: u32, draws: &mut Stream) -> Option<Span>;

    /// Silence before a backoff runs, after a transmission that was `unread` or not.
    fn space(&self, unread: bool) -> Span;

    /// Only multiples of this count down.
    fn quantum(&self) -> Span;

    /// From when on a packet may go without backoff that comes to a channel that has been idle since
    /// then; `None`: it may not.
    fn without_backoff(&self, idle_since: Time, unread: bool) -> Option<Time>;

    /// Neighbours whose backoffs end in the same instant send and collide; if not, one is the first.
    fn collides(&self) -> bool;

    /// First window.
    fn first_window(&self) -> u32;

    /// The window after a failure with `cw`.
    fn next_window(&self, cw: u32) -> u32;
}

impl Countdown for Continuous {
    #[inline(always)]
    fn backoff(&self, mean_ns: Option<f64>, _: u32, draws: &mut Stream) -> Option<Span> {
        Some(Span(draw(self.spread, mean_ns?, draws)))
    }

    fn space(&self, _: bool) -> Span {
        Span::ZERO
    }

    fn quantum(&self) -> Span {
        Span(1)
    }

    fn without_backoff(&self, _: Time, _: bool) -> Option<Time> {
        None
    }

    fn collides(&self) -> bool {
        false
    }

    fn first_window(&self) -> u32 {
        0
    }

    fn next_window(&self, _: u32) -> u32 {
        0
    }
}

impl Countdown for Slotted {
    #[inline(always)]
    fn backoff(&self, _: Option<f64>, cw: u32, draws: &mut Stream) -> Option<Span> {
        Some(self.slot * u64::from(draws.up_to(cw)))
    }

    fn space(&self, unread: bool) -> Span {
        if unread { self.eifs } else { self.difs }
    }

    fn quantum(&self) -> Span {
        self.slot
    }

    fn without_backoff(&self, idle_since: Time, unread: bool) -> Option<Time> {
        Some(idle_since + self.space(unread))
    }

    fn collides(&self) -> bool {
        true
    }

    fn first_window(&self) -> u32 {
        self.cwmin
    }

    fn next_window(&self, cw: u32) -> u32 {
        (2 * cw + 1).min(self.cwmax)
    }
}

/// Asks the countdown that there is.
macro_rules! ask {
    ($counting:expr, $one:ident => $answer:expr) => {
        match $counting {
            Counting::Continuous($one) => $answer,
            Counting::Slotted($one) => $answer,
        }
    };
}

impl Countdown for Counting {
    #[inline(always)]
    fn backoff(&self, mean_ns: Option<f64>, cw: u32, draws: &mut Stream) -> Option<Span> {
        ask!(self, one => one.backoff(mean_ns, cw, draws))
    }

    #[inline(always)]
    fn space(&self, unread: bool) -> Span {
        ask!(self, one => one.space(unread))
    }

    #[inline(always)]
    fn quantum(&self) -> Span {
        ask!(self, one => one.quantum())
    }

    #[inline(always)]
    fn without_backoff(&self, idle_since: Time, unread: bool) -> Option<Time> {
        ask!(self, one => one.without_backoff(idle_since, unread))
    }

    #[inline(always)]
    fn collides(&self) -> bool {
        ask!(self, one => one.collides())
    }

    #[inline(always)]
    fn first_window(&self) -> u32 {
        ask!(self, one => one.first_window())
    }

    #[inline(always)]
    fn next_window(&self, cw: u32) -> u32 {
        ask!(self, one => one.next_window(cw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;

    const SLOTTED: Slotted = Slotted {
        slot: Span(20_000),
        difs: Span(50_000),
        eifs: Span(364_000),
        cwmin: 31,
        cwmax: 100,
    };

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
        let continuous = Continuous {
            spread: Spread::Constant,
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
}
