//! Backoffs of the links of a conflict graph: distribution and countdown.
//!
//! | | with a given mean, in continuous time | with a given mean, in slots | with a contention window |
//! |---|---|---|---|
//! | backoff | random with this mean | random with this mean, rounded to the nearest slot | uniform on \[0, CW\] slots |
//! | idle time before the countdown | DIFS, or EIFS after an unreadable frame | DIFS or EIFS | DIFS or EIFS |
//! | time that is counted until a neighbour sends | the whole time | whole slots | whole slots |
//! | packet that arrives at an idle channel | draws a backoff | draws a backoff | is sent immediately |
//! | backoffs of neighbours that end at the same time | a random link sends first | collision | collision |
//!
//! After a failure, a contention window is doubled, and a given mean stays the same.

use super::Spread;
use super::draw;
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// Rules for the backoffs of all links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counting {
    /// Slots and idle times.
    pub pace: Pace,
    /// Distribution of backoffs.
    pub backoff: BackoffRule,
}

/// Slot time, and idle times before a backoff counts down. The default is continuous time without
/// idle times, as in the theory of paper 001.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Slot time, above zero; `None`: time is continuous, and neighbours do not collide.
    pub slot: Option<Span>,
    /// Idle time before a backoff counts down.
    pub difs: Span,
    /// Idle time before a backoff counts down after a frame that the link has sensed but cannot read.
    /// The time is at least `difs`.
    pub eifs: Span,
}

/// Distribution of backoffs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BackoffRule {
    /// The backoff has a distribution with a given mean. The mean may differ from backoff to
    /// backoff.
    Mean(Spread),
    /// The backoff is uniform on [0, CW] slots. The contention window doubles after a failure. The
    /// rule requires slots.
    Slotted {
        /// Smallest contention window, which applies to the first attempt.
        cwmin: u32,
        /// Largest contention window, at least `cwmin`.
        cwmax: u32,
    },
}

impl Counting {
    /// Returns a random backoff of a link. The contention window of the link is `cw`, or its mean
    /// backoff is `mean_ns`, depending on the rule. `None`: the link draws no backoff, because the
    /// rule requires a mean and the link has nothing to send.
    #[inline(always)]
    pub(super) fn backoff(
        &self,
        mean_ns: Option<f64>,
        cw: u32,
        draws: &mut Stream,
    ) -> Option<Span> {
        let quantum = self.quantum();
        let quanta = match self.backoff {
            BackoffRule::Mean(spread) => {
                let backoff = draw(spread, mean_ns?, draws);
                match quantum.0 {
                    1 => backoff,
                    slot => (backoff + slot / 2) / slot,
                }
            }
            BackoffRule::Slotted { .. } => u64::from(draws.up_to(cw)),
        };
        Some(quantum * quanta)
    }

    /// Returns the idle time before a backoff counts down. The time is EIFS if the link could not
    /// read the last transmission (`unread`).
    #[inline(always)]
    pub(super) fn space(&self, unread: bool) -> Span {
        if unread {
            self.pace.eifs
        } else {
            self.pace.difs
        }
    }

    /// Returns the time unit in which backoffs decrease.
    #[inline(always)]
    pub(super) fn quantum(&self) -> Span {
        self.pace.slot.unwrap_or(Span(1))
    }

    /// Returns the earliest time at which a packet that arrives is sent without a backoff. The
    /// channel has been idle since `idle_since`. `None`: the rule requires a backoff for each
    /// packet.
    #[inline(always)]
    pub(super) fn without_backoff(&self, idle_since: Time, unread: bool) -> Option<Time> {
        match self.backoff {
            BackoffRule::Mean(_) => None,
            BackoffRule::Slotted { .. } => Some(idle_since + self.space(unread)),
        }
    }

    /// Returns whether neighbours collide if their backoffs end at the same time. If false, one of
    /// these neighbours, chosen at random, sends first.
    #[inline(always)]
    pub(super) fn collides(&self) -> bool {
        self.pace.slot.is_some()
    }

    /// Returns the contention window of the first attempt.
    #[inline(always)]
    pub(super) fn first_window(&self) -> u32 {
        match self.backoff {
            BackoffRule::Mean(_) => 0,
            BackoffRule::Slotted { cwmin, .. } => cwmin,
        }
    }

    /// Returns the contention window after a failure with contention window `cw`.
    #[inline(always)]
    pub(super) fn next_window(&self, cw: u32) -> u32 {
        match self.backoff {
            BackoffRule::Mean(_) => 0,
            BackoffRule::Slotted { cwmax, .. } => (2 * cw + 1).min(cwmax),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;

    const SLOTTED: Counting = Counting {
        pace: Pace {
            slot: Some(Span(20_000)),
            difs: Span(50_000),
            eifs: Span(364_000),
        },
        backoff: BackoffRule::Slotted {
            cwmin: 31,
            cwmax: 100,
        },
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
        let continuous = Counting {
            pace: Pace::default(),
            backoff: BackoffRule::Mean(Spread::Constant),
        };
        assert_eq!(continuous.backoff(None, 0, &mut draws), None);
        assert_eq!(
            continuous.backoff(Some(700.4), 0, &mut draws),
            Some(Span(700))
        );
        for _ in 0..100 {
            let backoff = SLOTTED.backoff(None, 31, &mut draws);
            assert!(backoff.is_some_and(|Span(ns)| ns % 20_000 == 0 && ns <= 31 * 20_000));
        }
    }

    #[test]
    fn slots_keep_a_mean() {
        let slot = Span(20_000);
        let pace = Pace {
            slot: Some(slot),
            ..Pace::default()
        };
        let counting = Counting {
            pace,
            backoff: BackoffRule::Mean(Spread::Exponential),
        };
        let mut draws = Streams::new(1, 0).stream("x");
        let (mean_ns, count) = (60_000.0, 100_000);
        let sum_ns: u64 = (0..count)
            .map(|_| counting.backoff(Some(mean_ns), 0, &mut draws).unwrap().0)
            .inspect(|backoff| assert_eq!(backoff % slot.0, 0))
            .sum();
        // with slot s = 20 us and mean backoff m = 60 us, the mean in slots is e^(-s/2m) / (1 -
        // e^(-s/m)), which differs from m/s = 3 by less than 0.5 %
        let q = libm::exp(-20.0 / 60.0);
        let expected_ns = 20_000.0 * q.sqrt() / (1.0 - q);
        let scatter_ns = 3.0 * mean_ns / f64::from(count).sqrt();
        assert!((sum_ns as f64 / f64::from(count) - expected_ns).abs() < scatter_ns);
        assert!((expected_ns / mean_ns - 1.0).abs() < 0.005);
        assert!(counting.collides());
    }
}
