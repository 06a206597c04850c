//! The jury: all who are asked at once, since one says a long queue where the last ones said none.

use super::said::{DECIDE, Heard, SLACK, Said};
use crate::kernel::time::{Span, Time};

/// A jury waits for so long, or a quarter longer than the first one's delay.
const WAITS: Span = Span(300_000_000);

/// Stations that were asked at once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Jury {
    called: Time,
    /// How many were asked, the one that was late included, and those who have been overheard since.
    members: usize,
    /// Fewest who can agree while it waits.
    least: usize,
    /// The one that was late, then answers so far.
    said: Vec<Said>,
    /// What was agreed on, once it is known, for those who come later.
    verdict: Option<Span>,
}

/// Who answers, as a jury sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Testimony {
    /// A member in time.
    Taken,
    /// A member after the verdict.
    Late(Span),
    /// No member; the jury may still be out.
    Stranger { is_out: bool },
}

/// What a jury has come to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// It is still out, or was back before.
    Nothing,
    /// Too few have answered in time.
    Dismissed,
    Verdict(Verdict),
}

/// What a jury agrees on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    pub delay: Span,
    /// Its members in the order of their answers, the one that was late first.
    pub members: Vec<Said>,
    /// The answer that tells it.
    pub told_by: Said,
}

impl Jury {
    /// The jury about what was `said`: so many others are `asked` at `now`, and so many are listened to. These are
    /// members once they are overheard, since nobody knows whether a segment passes them in time.
    pub fn call(now: Time, said: Said, asked: usize, listened_to: usize) -> Jury {
        let least = match asked {
            0 => DECIDE.min(1 + listened_to),
            _ => 2,
        };
        Jury {
            called: now,
            members: asked + 1,
            least,
            said: vec![said],
            verdict: None,
        }
    }

    /// Whether it has not agreed yet.
    pub fn is_out(&self) -> bool {
        self.verdict.is_none()
    }

    /// Takes what a member says.
    pub fn hear(&mut self, said: Said) -> Testimony {
        let is_out = self.is_out();
        let is_known = |one: &Said| one.station() == said.station();
        match said.by {
            Heard::Pings if self.called != said.asked.sent => {
                return Testimony::Stranger { is_out };
            }
            Heard::Flows
                if !is_out || said.asked.sent < self.called || self.said.iter().any(is_known) =>
            {
                return Testimony::Stranger { is_out };
            }
            Heard::Pings => {}
            Heard::Flows => self.members += 1,
        }
        if let Some(verdict) = self.verdict {
            return Testimony::Late(verdict);
        }
        self.said.push(said);
        Testimony::Taken
    }

    /// It agrees, if enough have answered: whoever has not is later than the time that has passed. If it waits for too
    /// long it goes by those who have, if they are two at least; else it is dismissed.
    pub fn agree(&mut self, now: Time) -> Outcome {
        if !self.is_out() {
            return Outcome::Nothing;
        }
        let elapsed = now.since(self.called);
        let first = self.said[0];
        let patience = first.delay + Span(first.delay.0 / 4);
        let waits_on = elapsed <= patience.max(WAITS);
        let members = if waits_on {
            self.members
        } else {
            self.said.len()
        };
        let mut delays: Vec<Span> = self.said.iter().map(|one| one.delay).collect();
        delays.sort_unstable();
        let middle = delays
            .get((members - 1) / 2)
            .filter(|&&delay| delay <= elapsed);
        let least = if waits_on { self.least } else { 2 };
        let Some(&delay) = middle.filter(|_| delays.len() >= least) else {
            return if waits_on {
                Outcome::Nothing
            } else {
                Outcome::Dismissed
            };
        };
        self.verdict = Some(delay);
        let members = std::mem::take(&mut self.said);
        // where the first was right, its ping met the queue before those of the others
        let told_by = match members.last() {
            Some(&last) if first.delay > delay + SLACK => Said { delay, ..last },
            _ => first,
        };
        Outcome::Verdict(Verdict {
            delay,
            members,
            told_by,
        })
    }
}
