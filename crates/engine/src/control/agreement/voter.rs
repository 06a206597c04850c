//! A station whose round-trip times are evidence: its base, its lateness, its silence.

use super::said::Heard;
use crate::kernel::time::{Span, Time};

/// Answers in a row without a queue whose least raises the base.
const IDLE: u32 = 8;
/// Weight of an answer in the running lateness: one part in so many.
const WEIGHT: f64 = 4.0;
/// Answers after which the running lateness means something.
const KNOWN: u32 = 3;
/// A station that is doubted stays so for this long at least.
const DOUBTED_FOR: Span = Span(10_000_000_000);
/// Pings without an answer, the first of them so long ago, after which a station is silent; as many times that it was
/// listened to in vain, for as long, after which no flow of its can be overheard.
const IN_VAIN: u32 = 5;
const IN_VAIN_FOR: Span = Span(2_000_000_000);

/// A round-trip time without a queue.
#[derive(Clone, Debug, Default, PartialEq)]
struct Base {
    /// What it is, once it has been seen.
    rtt: Option<Span>,
    /// What it was before it was raised.
    before: Option<Span>,
    /// Number and least of the latest answers in a row that were above it though no queue stood.
    idle: Option<(u32, Span)>,
}

/// How often something was tried since it succeeded, and when first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Vain(Option<(u32, Time)>);

impl Vain {
    fn again(&mut self, now: Time) {
        let (times, first) = self.0.unwrap_or((0, now));
        self.0 = Some((times.saturating_add(1), first));
    }

    fn is_hopeless(self, now: Time) -> bool {
        self.0
            .is_some_and(|(times, first)| times >= IN_VAIN && now.since(first) >= IN_VAIN_FOR)
    }
}

/// What is known of a station.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Voter {
    /// Its base where it answers pings, and where its flows are overheard: an ACK may be delayed by up to 500 ms
    /// (RFC 9293, section 3.8.6.3).
    pings: Base,
    flows: Base,
    /// Its last answer: when its ping left, and the queueing delay that it says.
    pub last: Option<(Time, Span)>,
    /// Answers that could be compared with those of others.
    compared: u32,
    /// Running mean of its delay less that of the others. [s]
    late_s: f64,
    doubted: Option<Time>,
    /// Pings since its last answer.
    unanswered: Vain,
    has_answered: bool,
    /// Times that it was listened to since it was overheard, and whether it ever was.
    unheard: Vain,
    is_overheard: bool,
}

impl Base {
    /// The queueing delay that a round-trip time says; the rest is as for [`Voter::hear`].
    fn delay(&mut self, rtt: Span, (least, slack): (Span, Span), idle: Option<u32>) -> Span {
        if self.rtt.is_some_and(|base| rtt + slack < base) {
            // the path is what it was before, and a queue may stand on it
            self.rtt = self.before.take().or(self.rtt);
        }
        let base = self.rtt.unwrap_or(least);
        if rtt < base || rtt <= least {
            self.rtt = Some(base.min(rtt));
        }
        match idle {
            Some(enough) if rtt > base.max(least) + slack => {
                let (count, seen) = self.idle.unwrap_or((0, rtt));
                let (count, seen) = (count + 1, seen.min(rtt));
                self.idle = Some((count, seen));
                if count >= enough.min(IDLE) {
                    self.before = Some(self.before.unwrap_or(base));
                    self.rtt = Some(seen);
                    self.idle = None;
                }
            }
            _ => self.idle = None,
        }
        rtt - (self.rtt.unwrap_or(least) - least)
    }
}

impl Voter {
    /// Notes that it is pinged.
    pub fn ask(&mut self, now: Time) {
        self.unanswered.again(now);
    }

    /// Notes that it is listened to.
    pub fn listen(&mut self, now: Time) {
        self.unheard.again(now);
    }

    /// Whether it has not been overheard since it was listened to.
    pub fn is_listened_to(&self) -> bool {
        self.unheard != Vain::default()
    }

    /// Takes the round-trip time of what left at `sent`; returns the queueing delay that it says, as if the base were
    /// at most `least`. What exceeds the base by up to `slack` is near it. Where it is known that there is no
    /// queue, `idle` answers in a row that are not near the base raise it.
    pub fn hear(
        &mut self,
        by: Heard,
        (sent, rtt): (Time, Span),
        near: (Span, Span),
        idle: Option<u32>,
    ) -> Span {
        let base = match by {
            Heard::Pings => {
                (self.unanswered, self.has_answered) = (Vain::default(), true);
                &mut self.pings
            }
            Heard::Flows => {
                (self.unheard, self.is_overheard) = (Vain::default(), true);
                &mut self.flows
            }
        };
        let delay = base.delay(rtt, near, idle);
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

    /// Its round-trip time without a queue, once it has been seen, by what it is heard by now.
    pub fn base(&self, now: Time) -> Option<Span> {
        match self.is_silent(now) {
            true => self.flows.rtt,
            false => self.pings.rtt,
        }
    }

    /// What it is heard by.
    pub fn heard(&self, now: Time) -> Option<Heard> {
        if !self.is_silent(now) {
            self.has_answered.then_some(Heard::Pings)
        } else if self.is_overheard && !self.is_mute(now) {
            Some(Heard::Flows)
        } else {
            None
        }
    }

    /// Since when it has not answered, if it has been asked since its last answer.
    pub fn waits_since(&self) -> Option<Time> {
        self.unanswered.0.map(|(_, first)| first)
    }

    /// Whether it neither answers pings nor has flows that can be overheard.
    pub fn is_mute(&self, now: Time) -> bool {
        self.is_silent(now) && self.unheard.is_hopeless(now)
    }

    /// Whether it does not answer pings.
    pub fn is_silent(&self, now: Time) -> bool {
        self.unanswered.is_hopeless(now)
    }
}
