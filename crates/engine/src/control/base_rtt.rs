//! The base round-trip time of a path: what is left of the round-trip time when no queue stands on it.
//!
//! Paper 002, appendix IV: every 8 samples their minimum becomes the base. This rule alone mistakes a queue
//! that stands through 8 samples for a longer path, and a larger number of samples would not help: a small
//! buffer can be kept between half full and full for ever.
//!
//! Differs from the paper in: the base falls with the sample that shows it, and rises only to the minimum
//! of 8 samples that had no queue in front of them. The caller has to find out which samples these are;
//! this file says only when it is worth finding out: when no sample has come near the base lately, the base
//! is [doubtful].
//!
//! [doubtful]: BaseRtt::is_doubtful

use crate::kernel::time::Span;

/// Samples whose minimum becomes the base (N of appendix IV).
const SAMPLES: u32 = 8;

/// Running estimate of a base round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseRtt {
    /// Samples up to this long always confirm the base.
    least: Span,
    /// A sample that exceeds the base by no more than this confirms it.
    slack: Span,
    base: Option<Span>,
    /// Samples since the base was last confirmed, and the longest of them.
    unconfirmed: u32,
    longest: Span,
    /// Number and minimum of the latest of these samples, in a row, that met no queue.
    idle: u32,
    idle_least: Span,
}

impl BaseRtt {
    /// Samples in a row that are not near the base, after which it is in doubt.
    pub const MEMORY: u32 = 64;

    /// Nothing is known: the base is taken to be at most `least`. A sample up to `slack` above the base
    /// confirms it.
    pub fn new(least: Span, slack: Span) -> BaseRtt {
        BaseRtt {
            least,
            slack,
            base: None,
            unconfirmed: 0,
            longest: Span::ZERO,
            idle: 0,
            idle_least: Span(u64::MAX),
        }
    }

    /// The base; `None` until a sample has shown one.
    pub fn estimate(&self) -> Option<Span> {
        self.base
    }

    /// Whether no sample has come near the base for long: either it has risen, or a queue stands.
    pub fn is_doubtful(&self) -> bool {
        self.unconfirmed >= BaseRtt::MEMORY
    }

    /// The longest sample since the base was confirmed.
    pub fn longest(&self) -> Span {
        self.longest
    }

    /// Takes a sample; `without_queue` if it is known to have met no queue. Returns what it says of the
    /// base.
    pub fn add(&mut self, rtt: Span, without_queue: bool) -> Evidence {
        let base = self.base.unwrap_or(self.least);
        if rtt <= self.least || rtt < base {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        }
        if rtt <= base.max(self.least) + self.slack {
            self.confirm();
            return Evidence::Confirmed;
        }
        self.unconfirmed = self.unconfirmed.saturating_add(1);
        self.longest = self.longest.max(rtt);
        if without_queue {
            self.idle += 1;
            self.idle_least = self.idle_least.min(rtt);
        } else {
            self.idle = 0;
            self.idle_least = Span(u64::MAX);
        }
        if self.idle < SAMPLES || !self.is_doubtful() {
            return Evidence::Unconfirmed;
        }
        self.base = Some(self.idle_least);
        self.confirm();
        Evidence::Risen
    }

    fn confirm(&mut self) {
        self.unconfirmed = 0;
        self.longest = Span::ZERO;
        self.idle = 0;
        self.idle_least = Span(u64::MAX);
    }
}

/// What a sample says of the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It is near the base, or below it.
    Confirmed,
    /// It is above the base.
    Unconfirmed,
    /// It is the last of the samples that raise the base.
    Risen,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn bare() -> BaseRtt {
        BaseRtt::new(Span(5 * MS), Span(8 * MS))
    }

    fn feed(base: &mut BaseRtt, samples_ms: impl IntoIterator<Item = u64>, idle: bool) -> Evidence {
        let verdicts = samples_ms
            .into_iter()
            .map(|ms| base.add(Span(ms * MS), idle));
        verdicts.last().unwrap()
    }

    #[test]
    fn it_falls_with_the_first_smaller_sample() {
        let mut base = bare();
        feed(&mut base, [30; 72], true);
        assert_eq!(base.estimate(), Some(Span(30 * MS)));
        feed(&mut base, [20], false);
        assert_eq!(base.estimate(), Some(Span(20 * MS)));
        feed(&mut base, [3], false);
        assert_eq!(base.estimate(), Some(Span(3 * MS)));
    }

    #[test]
    fn it_never_rises_while_a_queue_may_stand() {
        let mut base = bare();
        assert_eq!(feed(&mut base, [30; 10_000], false), Evidence::Unconfirmed);
        assert!(base.is_doubtful());
        assert_eq!(base.estimate(), None);
        feed(&mut base, [4], false);
        assert!(!base.is_doubtful());
        feed(&mut base, [30; 10_000], false);
        assert_eq!(base.estimate(), Some(Span(4 * MS)));
    }

    #[test]
    fn it_rises_to_the_least_of_eight_samples_without_a_queue_once_in_doubt() {
        let mut base = bare();
        assert_eq!(feed(&mut base, [25; 63], true), Evidence::Unconfirmed);
        assert_eq!(base.estimate(), None);
        assert_eq!(feed(&mut base, [25], true), Evidence::Risen);
        assert_eq!(base.estimate(), Some(Span(25 * MS)));
        // seven and a queue in between are not enough
        feed(&mut base, [90; 64], false);
        feed(&mut base, [50; 7], true);
        feed(&mut base, [90], false);
        feed(&mut base, [50; 7], true);
        assert_eq!(base.estimate(), Some(Span(25 * MS)));
        assert_eq!(base.longest(), Span(90 * MS));
        assert_eq!(feed(&mut base, [48], true), Evidence::Risen);
        assert_eq!(base.estimate(), Some(Span(48 * MS)));
        assert!(!base.is_doubtful());
    }

    #[test]
    fn samples_near_it_confirm_it_and_leave_it() {
        let mut base = bare();
        feed(&mut base, [30; 64], true);
        assert_eq!(feed(&mut base, [38; 1000], true), Evidence::Confirmed);
        assert_eq!(base.estimate(), Some(Span(30 * MS)));
        assert_eq!(feed(&mut base, [39], true), Evidence::Unconfirmed);
    }
}
