//! A station whose answers are evidence: its base round-trip time, its lateness, its silence.

use crate::kernel::time::{Span, Time};

/// Answers in a row without a queue whose least raises the base.
const IDLE: u32 = 8;
/// Weight of an answer in the running lateness: one part in so many.
const WEIGHT: f64 = 4.0;
/// Answers after which the running lateness means something.
const KNOWN: u32 = 3;
/// A station that is doubted stays so for this long at least.
const DOUBTED_FOR: Span = Span(10_000_000_000);
/// Pings without an answer, the first of them so long ago, after which a station is silent.
const SILENT_PINGS: u32 = 5;
const SILENT_AFTER: Span = Span(2_000_000_000);

/// What is known of a station.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Voter {
    /// Its round-trip time without a queue, once it has been seen.
    base: Option<Span>,
    /// The base before it was raised.
    before: Option<Span>,
    /// Number and least of the latest answers in a row that were above the base though no queue stood.
    idle: Option<(u32, Span)>,
    /// Its last answer: when its ping left, and the queueing delay that it says.
    pub last: Option<(Time, Span)>,
    /// Answers that could be compared with those of others.
    compared: u32,
    /// Running mean of its delay less that of the others. [s]
    late_s: f64,
    doubted: Option<Time>,
    /// Pings since its last answer, and when the first of them left.
    unanswered: Option<(u32, Time)>,
}

impl Voter {
    /// Notes that it is pinged.
    pub fn ask(&mut self, now: Time) {
        let (pings, first) = self.unanswered.unwrap_or((0, now));
        self.unanswered = Some((pings + 1, first));
    }

    /// Takes the answer to a ping that left at `sent`; returns the queueing delay that it says, as if the base were
    /// at most `least`. What exceeds the base by up to `slack` is near it. Where it is known that there is no
    /// queue, `idle` answers in a row that are not near the base raise it.
    pub fn answer(
        &mut self,
        sent: Time,
        rtt: Span,
        (least, slack): (Span, Span),
        idle: Option<u32>,
    ) -> Span {
        self.unanswered = None;
        if self.base.is_some_and(|base| rtt + slack < base) {
            // the path is what it was before, and a queue may stand on it
            self.base = self.before.take().or(self.base);
        }
        let base = self.base.unwrap_or(least);
        if rtt < base || rtt <= least {
            self.base = Some(base.min(rtt));
        }
        match idle {
            Some(enough) if rtt > base.max(least) + slack => {
                let (count, seen) = self.idle.unwrap_or((0, rtt));
                let (count, seen) = (count + 1, seen.min(rtt));
                self.idle = Some((count, seen));
                if count >= enough.min(IDLE) {
                    self.before = Some(self.before.unwrap_or(base));
                    self.base = Some(seen);
                    self.idle = None;
                }
            }
            _ => self.idle = None,
        }
        let delay = rtt - (self.base.unwrap_or(least) - least);
        self.last = Some((sent, delay));
        delay
    }

    /// Compares its delay with that of the others; it is doubted while it is late by more than `slack`.
    pub fn compare(&mut self, now: Time, delay: Span, others: Span, slack: Span) {
        let by_s = delay.seconds() - others.seconds();
        self.compared += 1;
        self.late_s += (by_s - self.late_s) / f64::from(self.compared).min(WEIGHT);
        self.judge(now, slack);
    }

    /// It was late by this much when all were asked at once.
    pub fn convict(&mut self, now: Time, by: Span, slack: Span) {
        self.compared = self.compared.max(KNOWN);
        self.late_s = self.late_s.max(by.seconds());
        self.judge(now, slack);
    }

    fn judge(&mut self, now: Time, slack: Span) {
        let is_late = self.compared >= KNOWN && self.late_s > slack.seconds();
        let is_over = |since| now.since(since) >= DOUBTED_FOR;
        if is_late {
            self.doubted = Some(now);
        } else if self.late_s < slack.seconds() / 2.0 && self.doubted.is_some_and(is_over) {
            self.doubted = None;
        }
    }

    /// It counts as the others again.
    pub fn acquit(&mut self) {
        (self.doubted, self.compared, self.late_s) = (None, 0, 0.0);
    }

    /// Whether it is known to be later than the others.
    pub fn is_doubted(&self) -> bool {
        self.doubted.is_some()
    }

    /// By how much it is later than the others.
    pub fn late(&self) -> Span {
        Span::from_seconds(self.late_s.max(0.0))
    }

    /// Its round-trip time without a queue, once it has been seen.
    pub fn base(&self) -> Option<Span> {
        self.base
    }

    /// Since when it has not answered, if it has been asked since its last answer.
    pub fn waits_since(&self) -> Option<Time> {
        self.unanswered.map(|(_, first)| first)
    }

    /// Whether it does not answer.
    pub fn is_silent(&self, now: Time) -> bool {
        let silent =
            |(pings, first): (u32, Time)| pings >= SILENT_PINGS && now.since(first) >= SILENT_AFTER;
        self.unanswered.is_some_and(silent)
    }
}
