//! Who is later than the others: answers beside those of others whose pings left just before and just after, so that
//! a queue that grows or drains is no lateness.

use std::collections::VecDeque;

use super::said::{ACTIVE_FOR, Said, upper_median};
use crate::kernel::time::{Span, Time};

/// Pings that left within this time of one another may be compared.
const BESIDE: Span = Span(600_000_000);
/// Others on either side that an answer is compared with, at most.
const BESIDE_IT: usize = 5;
/// Answers of all that are kept.
const KEPT: usize = 64;

/// Answers of all, by when their pings left, and whether each has been compared; the latest are still to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison(VecDeque<(Said, bool)>);

/// An answer, and what others say beside it.
pub(super) struct Compared {
    pub station: u32,
    pub delay: Span,
    /// The larger of two upper medians, of those before and of those after.
    pub others: Span,
}

impl Comparison {
    /// Takes an answer.
    pub fn add(&mut self, said: Said) {
        let place = self
            .0
            .partition_point(|(one, _)| one.asked.sent <= said.asked.sent);
        self.0.insert(place, (said, false));
        while self.0.len() > KEPT {
            self.0.pop_front();
        }
    }

    /// The next answer from number `from` on that has `enough` others on either side whose word counts; `from` is
    /// behind it then.
    pub fn next(
        &mut self,
        now: Time,
        from: &mut usize,
        enough: usize,
        counts: impl Fn(u32) -> bool,
    ) -> Option<Compared> {
        while *from < self.0.len() {
            let place = *from;
            *from += 1;
            let (one, is_compared) = self.0[place];
            if is_compared || now.since(one.asked.sent) > ACTIVE_FOR {
                continue;
            }
            let near = |(other, _): &&(Said, bool)| {
                let (sent, compared) = (other.asked.sent, one.asked.sent);
                other.station() != one.station()
                    && counts(other.station())
                    && sent.since(compared).max(compared.since(sent)) < BESIDE
            };
            let before = of_different(self.0.iter().take(place).rev().filter(near));
            let after = of_different(self.0.iter().skip(place + 1).filter(near));
            if before.len() < enough || after.len() < enough {
                continue;
            }
            let delay = |said: &Said| said.delay;
            let others = upper_median(before.iter().map(delay))
                .max(upper_median(after.iter().map(delay)))?;
            self.0[place].1 = true;
            return Some(Compared {
                station: one.station(),
                delay: one.delay,
                others,
            });
        }
        None
    }

    /// Forgets a station.
    pub fn forget(&mut self, station: u32) {
        self.0.retain(|(one, _)| one.station() != station);
    }
}

/// The first answers of different stations.
fn of_different<'a>(said: impl Iterator<Item = &'a (Said, bool)>) -> Vec<Said> {
    let mut kept: Vec<Said> = Vec::new();
    for (one, _) in said {
        if kept.len() < BESIDE_IT && kept.iter().all(|other| other.station() != one.station()) {
            kept.push(*one);
        }
    }
    kept
}
