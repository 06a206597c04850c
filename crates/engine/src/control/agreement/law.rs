//! From queueing delays that stations agree on to C.
//!
//! | queueing delay behind the bottleneck | what C does |
//! |---|---|
//! | up to 5 ms, twice in a row | grows by 2 %, where it is used |
//! | up to 40 ms | grows by 2 % a second, where it is used |
//! | up to 100 ms | falls by 8 % a second |
//! | above 200 ms, or above 100 ms for 0.2 s | is set by measurement |
//!
//! # The measurement
//! A FIFO that never runs empty delivers between two answers what entered it between the two requests. Of
//! requests at s1 and s2, delays d1 and d2, and a rate R that has left the bottleneck in between, that is
//!
//! ```text
//! K = R (s2 - s1) / ((s2 + d2) - (s1 + d1)) = R / (1 + (d2 - d1) / (s2 - s1))
//! ```
//!
//! So K is known from two answers while a queue stands, however far C is above it: the first answer
//! after a fall of K from 20 to 6 Mbit/s takes C to 6. A buffer that overflows lets d stand still, and K
//! looks like R. So while the delay neither rises nor falls, nothing is known but that C is not below K; C then
//! falls by a part, until the delay falls. Otherwise C is K times
//!
//! ```text
//! 1 - (d - 40 ms) / 1 s, but at least 0.8, or 0.7 before the delay falls
//! ```
//!
//! which empties the queue in about a second. The next measurement begins with a request sent after this
//! one was carried out. Once a queue is measured, C follows K down to the threshold, and is K there.
//!
//! # What a fall shows
//! K cannot be measured while a queue neither rises nor falls. C is then cut, usually by too much.
//! The fall of the queue after the cut measures K. As soon as the queue is short, C is set to K,
//! but not above its value before the cut. Otherwise C would only return by 2 % per second.
//!
//! # What grew is taken back
//! The answer that ends a growth left when C was less. C returns to what it was then, since the queue has
//! grown since.
//!
//! # Stability margin, for one station
//! Between 5 and 100 ms the WLAN integrates C less its capacity K, and this integrates the sign of the
//! threshold less the delay, as [`Wce`](crate::control::Wce) does; [`swing`] is its fluid swing with steps in
//! proportion to C. The margin, 100 ms over the longest queueing delay of the swing, is 1.8 for any K. Above
//! 100 ms C is K (1 - (d - h) / T) with K measured, a loop of first order: with T = 1 s and a feedback
//! delay g it is stable as long as g < pi/2 T = 1.6 s, and g is d, at most the buffer's length, and the
//! time between two requests.

use std::collections::VecDeque;

use super::super::step::Step;
use super::super::wce::{Cycle, Thresholds};
use crate::kernel::time::{Span, Time};

/// Growth in each interval while no queue stands.
const SPEED_UP: f64 = 0.02;
/// Observations in a row without a queue before C grows fast, since one of them may be chance.
const SURE: u32 = 1;
/// Growth in a second while a short queue stands. [1/s]
const INCREASE: f64 = 0.02;
/// Fall in a second while a longer one stands. [1/s]
const DECREASE: f64 = 0.08;
/// Time in which the measured law empties a queue. [s]
const EMPTIES_IN_S: f64 = 1.0;
/// Least part of the measured capacity that C is set to while the delay falls, and while it does not.
const LEAST_FALLING: f64 = 0.8;
const LEAST_STANDING: f64 = 0.7;
/// Growth of the delay over time above which two answers are enough to measure. [s/s]
const RISING: f64 = 0.4;
/// Growth above which a delay counts as long immediately: the capacity has halved. [s/s]
const RISING_FAST: f64 = 1.0;
/// Growth below which the delay falls. [s/s]
const FALLING: f64 = -0.03;
/// Time that a slower growth, or a fall, is measured over.
const MEASURED_OVER: Span = Span(150_000_000);
/// Answers to requests that are further apart say nothing of the time between.
const REMEMBERED: Span = Span(600_000_000);
/// A measured capacity is good for so long.
const GOOD_FOR: Span = Span(1_000_000_000);
/// Time after which a delay between one and two times `high` counts as long.
const STANDS_FOR: Span = Span(200_000_000);
/// C may grow if this part of it has left the bottleneck.
const USED: f64 = 0.75;
/// Steps of growth after which what has grown is taken back.
const GROWN: u32 = 3;

/// What an answer has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sight {
    /// When the request left.
    pub sent: Time,
    /// Queueing delay behind the bottleneck.
    pub delay: Span,
    /// What had left the bottleneck when the request left, since the beginning. [bytes]
    pub passed_bytes: u64,
}

/// The rate C and what it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    thresholds: Thresholds,
    interval_s: f64,
    min_bps: f64,
    max_bps: f64,
    rate_bps: f64,
    /// Rates of the last second and since when, oldest first.
    rates: VecDeque<(Time, f64)>,
    /// Sights of the last second, oldest first.
    sights: VecDeque<Sight>,
    /// Requests that left later have met what the last measurement did.
    decided: Option<Time>,
    /// The capacity that was measured last, while its queue is being emptied. [bit/s]
    measured: Option<(Time, f64)>,
    /// Steps of growth in a row.
    grown: u32,
    /// C before it was cut for a standing queue, and the capacity that the fall of the queue has
    /// shown since. [bit/s]
    stood: Option<(f64, Option<f64>)>,
    /// Time since which delays have been long.
    long_since: Option<Time>,
}

impl Law {
    /// C at its cap, with nothing seen.
    pub fn new(thresholds: Thresholds, interval: Span, min_bps: u64, max_bps: u64) -> Law {
        Law {
            thresholds,
            interval_s: interval.seconds(),
            min_bps: min_bps as f64,
            max_bps: max_bps as f64,
            rate_bps: max_bps as f64,
            rates: VecDeque::from([(Time::ZERO, max_bps as f64)]),
            sights: VecDeque::new(),
            decided: None,
            measured: None,
            grown: 0,
            stood: None,
            long_since: None,
        }
    }

    /// C. [bit/s]
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps as u64
    }

    /// Sets C to a rate that it had before. [bit/s]
    pub fn go_back_to(&mut self, now: Time, rate_bps: u64) {
        self.measured = None;
        self.stood = None;
        self.decided = Some(now);
        self.set(now, rate_bps as f64);
    }

    /// Adapts C to a sight, known at `now`. Whether a queue stands may be in doubt: then it is drained.
    pub fn step(&mut self, now: Time, sight: Sight, in_doubt: bool) -> Step {
        self.forget(sight.sent);
        let is_used = self.is_used(sight);
        let Thresholds {
            low,
            threshold,
            high,
        } = self.thresholds;
        let is_long = self.is_long(sight, high);
        let grown = self.grown;
        self.grown = 0;
        self.watch_fall(now, sight);
        let step = if sight.delay <= low {
            self.grown = grown + 1;
            self.measured = None;
            if grown < SURE {
                self.grow(now, is_used, INCREASE * self.interval_s, Step::Increase)
            } else {
                self.grow(now, is_used, SPEED_UP, Step::SpeedUp)
            }
        } else if is_long || in_doubt {
            self.measure(now, sight)
        } else if let Some(capacity_bps) = self.known(now) {
            self.follow(now, sight.delay, capacity_bps)
        } else if sight.delay > threshold {
            self.set(now, self.rate_bps * (1.0 - DECREASE * self.interval_s));
            Step::Decrease
        } else if grown >= GROWN {
            self.set(now, self.rate_bps.min(self.rate_at(sight.sent)));
            Step::Return
        } else {
            self.grow(now, is_used, INCREASE * self.interval_s, Step::Increase)
        };
        self.sights.push_back(sight);
        step
    }

    /// Returns whether a delay counts as long, and notes since when.
    fn is_long(&mut self, sight: Sight, high: Span) -> bool {
        if sight.delay <= high {
            self.long_since = None;
            return false;
        }
        let since = *self.long_since.get_or_insert(sight.sent);
        let apart = |one: &&Sight| sight.sent.since(one.sent).seconds() >= self.interval_s / 2.0;
        let earlier = self.sights.iter().rfind(apart);
        let rises = earlier.is_some_and(|one| pace(*one, sight).1 > RISING_FAST);
        rises || sight.delay > Span(2 * high.0) || sight.sent.since(since) >= STANDS_FOR
    }

    fn grow(&mut self, now: Time, is_used: bool, part: f64, step: Step) -> Step {
        if !is_used {
            return Step::Hold;
        }
        self.set(now, self.rate_bps * (1.0 + part));
        step
    }

    /// C by the answer to a request that has met what was decided before.
    fn measure(&mut self, now: Time, sight: Sight) -> Step {
        let decided = self.decided.unwrap_or(Time::ZERO);
        let fresh = self.sights.iter().filter(|one| one.sent >= decided);
        let apart = |one: &&Sight| sight.sent.since(one.sent).seconds() >= self.interval_s / 2.0;
        let earlier = fresh.clone().rfind(apart).map(|one| pace(*one, sight));
        let since = fresh.filter(|one| sight.sent.since(one.sent) >= MEASURED_OVER);
        let long = since.clone().next().map(|one| pace(*one, sight));
        let Some((rate_bps, growth)) = earlier.filter(|&(_, growth)| growth > RISING).or(long)
        else {
            return Step::Hold;
        };
        let excess_s = (sight.delay - self.thresholds.threshold).seconds();
        let empties = |least: f64, in_s: f64| (1.0 - excess_s / in_s).max(least);
        let (capacity_bps, part) = if growth > RISING {
            // half of what may be the delay's own noise is taken off
            let growth = growth - RISING / 2.0;
            (
                rate_bps / (1.0 + growth),
                empties(LEAST_STANDING, EMPTIES_IN_S),
            )
        } else if growth < FALLING {
            (
                rate_bps / (1.0 + growth.max(-0.5)),
                empties(LEAST_FALLING, EMPTIES_IN_S),
            )
        } else {
            // whoever is late without a queue must not take C far down at once
            let capacity_bps = rate_bps.clamp(LEAST_STANDING * self.rate_bps, self.rate_bps);
            (capacity_bps, empties(LEAST_STANDING, EMPTIES_IN_S / 2.0))
        };
        self.decided = Some(now);
        let stands = (FALLING..=RISING).contains(&growth);
        self.measured = (!stands).then_some((now, capacity_bps));
        self.stood = match self.stood {
            _ if !stands => None,
            None => Some((self.rate_bps, None)),
            known => known,
        };
        self.set(now, (capacity_bps * part).max(self.rate_bps / 4.0));
        Step::Measure
    }

    /// Measures the capacity while a standing queue falls. Once it is short, C is set to this
    /// capacity, but not above its value before the cut.
    fn watch_fall(&mut self, now: Time, sight: Sight) {
        let Some((before_bps, seen_bps)) = self.stood else {
            return;
        };
        let decided = self.decided.unwrap_or(Time::ZERO);
        let mut fresh = self.sights.iter().filter(|one| one.sent >= decided);
        let first = fresh.find(|one| sight.sent.since(one.sent) >= MEASURED_OVER);
        let fall = first.map(|one| pace(*one, sight));
        let fall = fall.filter(|&(_, growth)| growth < FALLING);
        let capacity_bps = fall.map(|(rate_bps, growth)| rate_bps / (1.0 + growth.max(-0.5)));
        let seen_bps = capacity_bps.or(seen_bps);
        self.stood = Some((before_bps, seen_bps));
        if sight.delay <= self.thresholds.threshold {
            let back_bps =
                seen_bps.map_or(self.rate_bps, |capacity_bps| capacity_bps.min(before_bps));
            self.stood = None;
            if back_bps > self.rate_bps {
                self.set(now, back_bps);
            }
        }
    }

    fn known(&self, now: Time) -> Option<f64> {
        let (at, capacity_bps) = self.measured?;
        (now.since(at) <= GOOD_FOR).then_some(capacity_bps)
    }

    /// C while a queue is emptied whose server's capacity is known.
    fn follow(&mut self, now: Time, delay: Span, capacity_bps: f64) -> Step {
        let threshold = self.thresholds.threshold;
        if delay <= threshold {
            self.measured = None;
        }
        let excess_s = (delay - threshold).seconds();
        let part = (1.0 - excess_s / EMPTIES_IN_S).max(LEAST_FALLING);
        self.set(now, capacity_bps * part);
        Step::Measure
    }

    fn set(&mut self, now: Time, rate_bps: f64) {
        self.rate_bps = rate_bps.clamp(self.min_bps, self.max_bps);
        self.rates.push_back((now, self.rate_bps));
    }

    /// C when a request left.
    fn rate_at(&self, sent: Time) -> f64 {
        let before = self.rates.iter().rev().find(|&&(since, _)| since <= sent);
        before
            .or(self.rates.front())
            .map_or(self.rate_bps, |&(_, rate_bps)| rate_bps)
    }

    /// Whether C has been what held traffic back.
    fn is_used(&self, sight: Sight) -> bool {
        let Some(&first) = self.sights.front() else {
            return false;
        };
        let passed = sight.passed_bytes.saturating_sub(first.passed_bytes) as f64;
        let could = self.rate_at(first.sent).min(self.rate_bps)
            * sight.sent.since(first.sent).seconds()
            / 8.0;
        could > 0.0 && passed >= USED * could
    }

    fn forget(&mut self, sent: Time) {
        while self
            .sights
            .front()
            .is_some_and(|one| sent.since(one.sent) > REMEMBERED)
        {
            self.sights.pop_front();
        }
        while self.rates.len() > 1 && sent.since(self.rates[1].0) > Span::ZERO {
            self.rates.pop_front();
        }
    }
}

/// Rate that left the bottleneck between two requests [bit/s], and growth of the delay over that time [s/s].
fn pace(earlier: Sight, later: Sight) -> (f64, f64) {
    let between_s = later.sent.since(earlier.sent).seconds().max(1e-6);
    let passed = later.passed_bytes.saturating_sub(earlier.passed_bytes) as f64 * 8.0;
    let growth = later.delay.seconds() - earlier.delay.seconds();
    (passed / between_s, growth / between_s)
}

/// The swing around a WLAN of `capacity_bps`, if nothing but the steps around the threshold acts and nothing that
/// grew is taken back.
pub fn swing(thresholds: Thresholds, interval: Span, capacity_bps: u64) -> Cycle {
    let capacity = capacity_bps as f64;
    let (up, down) = (INCREASE * capacity, DECREASE * capacity);
    Cycle::of(thresholds, interval, capacity, [up, down])
}
