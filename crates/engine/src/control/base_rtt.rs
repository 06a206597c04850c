//! The base round-trip time of a path: the round-trip time without a queue.
//!
//! In paper 002, appendix IV, the minimum of every 8 samples becomes the base. This rule mistakes a
//! queue that lasts for 8 samples for a longer path. More samples would not help, because a small
//! buffer can remain between half full and full indefinitely.
//!
//! Differs from the paper in two points. The base falls to the first sample that is below the base.
//! It rises only to the minimum of 8 samples that met no queue; the caller decides which samples
//! met no queue. If no sample has been near the base for a long time, [`BaseRtt::is_doubtful`]
//! reports that the base is in doubt.

use crate::kernel::time::Span;

/// Number of samples whose minimum becomes the base (N of paper 002, appendix IV).
const SAMPLES: u32 = 8;

/// Running estimate of a base round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseRtt {
    /// Round-trip time up to which a sample always confirms the base.
    floor: Span,
    /// Tolerance: a sample up to this much above the base confirms the base. A base below `floor`
    /// counts as `floor`.
    tolerance: Span,
    base: Option<Span>,
    /// Number of samples since the base was last confirmed, and the longest of these samples.
    unconfirmed: u32,
    longest: Span,
    /// Number and minimum of the latest consecutive samples that met no queue.
    empty: u32,
    empty_min: Span,
}

impl BaseRtt {
    /// Number of consecutive samples that do not confirm the base, after which the base is in
    /// doubt.
    pub const MEMORY: u32 = 64;

    /// Returns the state without samples. Until the base is known, `floor` is used as the base. A
    /// sample confirms the base if the sample exceeds the larger of the base and `floor` by at most
    /// `tolerance`.
    pub fn new(floor: Span, tolerance: Span) -> BaseRtt {
        BaseRtt {
            floor,
            tolerance,
            base: None,
            unconfirmed: 0,
            longest: Span::ZERO,
            empty: 0,
            empty_min: Span(u64::MAX),
        }
    }

    /// Returns the base; `None` if it is not known yet.
    pub fn estimate(&self) -> Option<Span> {
        self.base
    }

    /// Returns whether the base is in doubt: no sample has been near the base for a long time.
    /// Either the path has become longer, or there is a queue.
    pub fn is_doubtful(&self) -> bool {
        self.unconfirmed >= BaseRtt::MEMORY
    }

    /// Returns the longest sample since the base was confirmed.
    pub fn longest(&self) -> Span {
        self.longest
    }

    /// Adds a sample of the round-trip time. `without_queue` is whether the sample met no queue.
    /// Returns how the sample relates to the base.
    pub fn add(&mut self, rtt: Span, without_queue: bool) -> Evidence {
        let base = self.base.unwrap_or(self.floor);
        if rtt <= self.floor || rtt < base {
            self.base = Some(self.base.map_or(rtt, |base| base.min(rtt)));
        }
        if rtt <= base.max(self.floor) + self.tolerance {
            self.confirm();
            return Evidence::Confirmed;
        }
        self.unconfirmed = self.unconfirmed.saturating_add(1);
        self.longest = self.longest.max(rtt);
        if without_queue {
            self.empty += 1;
            self.empty_min = self.empty_min.min(rtt);
        } else {
            self.empty = 0;
            self.empty_min = Span(u64::MAX);
        }
        if self.empty < SAMPLES || !self.is_doubtful() {
            return Evidence::Unconfirmed;
        }
        self.base = Some(self.empty_min);
        self.confirm();
        Evidence::Risen
    }

    fn confirm(&mut self) {
        self.unconfirmed = 0;
        self.longest = Span::ZERO;
        self.empty = 0;
        self.empty_min = Span(u64::MAX);
    }
}

/// Relation of a sample to the base round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The sample is near the base or below the base.
    Confirmed,
    /// The sample is above the base, and does not raise the base.
    Unconfirmed,
    /// The sample completes the series of samples that raises the base.
    Risen,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn empty() -> BaseRtt {
        BaseRtt::new(Span(5 * MS), Span(8 * MS))
    }

    fn feed(base: &mut BaseRtt, samples_ms: impl IntoIterator<Item = u64>, idle: bool) -> Evidence {
        let evidence = samples_ms
            .into_iter()
            .map(|ms| base.add(Span(ms * MS), idle));
        evidence.last().unwrap()
    }

    #[test]
    fn it_falls_with_the_first_smaller_sample() {
        let mut base = empty();
        feed(&mut base, [30; 72], true);
        assert_eq!(base.estimate(), Some(Span(30 * MS)));
        feed(&mut base, [20], false);
        assert_eq!(base.estimate(), Some(Span(20 * MS)));
        feed(&mut base, [3], false);
        assert_eq!(base.estimate(), Some(Span(3 * MS)));
    }

    #[test]
    fn it_does_not_rise_while_there_may_be_a_queue() {
        let mut base = empty();
        assert_eq!(feed(&mut base, [30; 10_000], false), Evidence::Unconfirmed);
        assert!(base.is_doubtful());
        assert_eq!(base.estimate(), None);
        feed(&mut base, [4], false);
        assert!(!base.is_doubtful());
        feed(&mut base, [30; 10_000], false);
        assert_eq!(base.estimate(), Some(Span(4 * MS)));
    }

    #[test]
    fn in_doubt_it_rises_to_the_minimum_of_eight_samples_without_a_queue() {
        let mut base = empty();
        assert_eq!(feed(&mut base, [25; 63], true), Evidence::Unconfirmed);
        assert_eq!(base.estimate(), None);
        assert_eq!(feed(&mut base, [25], true), Evidence::Risen);
        assert_eq!(base.estimate(), Some(Span(25 * MS)));
        // seven samples without a queue do not raise the base if a sample with a queue follows
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
    fn samples_near_it_confirm_it_without_changing_it() {
        let mut base = empty();
        feed(&mut base, [30; 64], true);
        assert_eq!(feed(&mut base, [38; 1000], true), Evidence::Confirmed);
        assert_eq!(base.estimate(), Some(Span(30 * MS)));
        assert_eq!(feed(&mut base, [39], true), Evidence::Unconfirmed);
    }
}
