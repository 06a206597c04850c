//! Freezes of a video (`video_quality_observer2.cc`; freezeCount in "Identifiers for WebRTC's
//! statistics API", W3C).
//!
//! The gap between two displayed frames is a freeze if it is at least three times the mean gap, and
//! at least 150 ms longer than the mean gap. The mean is over the last 30 gaps, including the gap
//! itself, and there are at least 5 of them.

use std::collections::VecDeque;

use crate::kernel::time::{Span, Time};

/// Number of gaps in the mean (`kAvgInterframeDelaysWindowSizeFrames`).
const WINDOW: usize = 30;
/// Least number of gaps (`kMinFrameSamplesToDetectFreeze`).
const LEAST: usize = 5;
/// Excess over the mean (`kMinIncreaseForFreezeMs`).
const EXCESS: Span = Span(150_000_000);

/// The freezes of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FreezeTally {
    /// Number of freezes that ended in the period, and of a freeze that lasts at its end.
    pub(super) freezes: u64,
    /// Frozen time in the period.
    pub(super) frozen: Span,
    /// Time in the period since the first frame was displayed.
    pub(super) watched: Span,
}

/// The displayed frames and the freezes of a video.
#[derive(Clone, Debug, Default)]
pub(super) struct Freezes {
    first: Option<Time>,
    last: Option<Time>,
    gaps: VecDeque<Span>,
    /// First and last instant of each freeze.
    freezes: Vec<(Time, Time)>,
}

impl Freezes {
    /// Records that a frame is displayed at `now`.
    pub(super) fn display(&mut self, now: Time) {
        self.first.get_or_insert(now);
        let Some(last) = self.last.replace(now) else {
            return;
        };
        let gap = now.since(last);
        self.gaps.push_back(gap);
        if self.gaps.len() > WINDOW {
            self.gaps.pop_front();
        }
        if is_freeze(gap, self.gaps.iter()) {
            self.freezes.push((last, now));
        }
    }

    /// Returns the freezes from `from` to `to`. If the gap that lasts at `to` would be a freeze if
    /// it ended there, it counts.
    pub(super) fn tally(&self, from: Time, to: Time) -> FreezeTally {
        let mut tally = FreezeTally::default();
        let (Some(first), Some(last)) = (self.first, self.last) else {
            return tally;
        };
        tally.watched = to.since(from.max(first));
        let open = to.since(last);
        let skipped = (self.gaps.len() + 1).saturating_sub(WINDOW);
        let gaps = self.gaps.iter().skip(skipped).chain([&open]);
        let lasting = is_freeze(open, gaps).then_some((last, to));
        for &(begins, ends) in self.freezes.iter().chain(&lasting) {
            tally.frozen = tally.frozen + ends.min(to).since(begins.max(from));
            tally.freezes += u64::from(from < ends && ends <= to);
        }
        tally
    }
}

/// Returns whether a gap is a freeze. `gaps` are the last gaps, including the gap itself.
fn is_freeze<'a>(gap: Span, gaps: impl Iterator<Item = &'a Span>) -> bool {
    let (mut sum, mut count) = (0, 0);
    for gap in gaps {
        sum += gap.0;
        count += 1;
    }
    let mean = Span(sum / count.max(1));
    count as usize >= LEAST && gap >= (mean * 3).max(mean + EXCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Returns a video whose frames are displayed each 40 ms from 0 to 400 ms, and then at `times`.
    fn shown(times: &[u64]) -> Freezes {
        let mut freezes = Freezes::default();
        for k in 0..=10 {
            freezes.display(ms(40 * k));
        }
        times.iter().for_each(|&at| freezes.display(ms(at)));
        freezes
    }

    #[test]
    fn a_gap_is_a_freeze_from_the_mean_and_150_ms_on() {
        // a gap of g ms after ten gaps of 40 ms: mean (400 + g) / 11, which with 150 ms is g for
        // g = 205 ms
        assert_eq!(shown(&[604]).freezes, []);
        assert_eq!(shown(&[605]).freezes, [(ms(400), ms(605))]);
    }

    #[test]
    fn at_low_frame_rates_a_freeze_is_three_mean_gaps() {
        let mut freezes = Freezes::default();
        for k in 0..=29 {
            freezes.display(ms(200 * k));
        }
        // mean (29 * 200 + g) / 30; g is three times the mean for g = 644.4 ms
        let mut shorter = freezes.clone();
        shorter.display(ms(5800 + 644));
        freezes.display(ms(5800 + 645));
        assert_eq!((shorter.freezes.len(), freezes.freezes.len()), (0, 1));
    }

    #[test]
    fn the_first_four_gaps_are_no_freezes() {
        let mut freezes = Freezes::default();
        for at in [0, 40, 80, 120, 900] {
            freezes.display(ms(at));
        }
        assert_eq!(freezes.freezes, []);
    }

    #[test]
    fn a_period_has_a_part_of_a_freeze_and_the_freeze_at_its_end() {
        let freezes = shown(&[1000, 1040]);
        let tally = freezes.tally(ms(700), ms(2000));
        // 300 ms of the first freeze, and 960 ms until the end
        assert_eq!((tally.freezes, tally.frozen), (2, Span(1_260_000_000)));
        assert_eq!(tally.watched, Span(1_300_000_000));
        let before = freezes.tally(ms(0), ms(700));
        assert_eq!((before.freezes, before.frozen), (0, Span(300_000_000)));
    }
}
