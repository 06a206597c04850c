//! C by agreement: what stations with traffic say together of the queue that they share.
//!
//! Paper 002's estimator believes each answer to a ping. One station that answers late, since it sleeps or
//! lies, so takes the rate of all others down. Here
//!
//! - a station's **delay** is its round-trip time above its own base, so that a long path is no queue;
//! - what counts is what stations **agree** on: the word of one if there is but one, else the lower median of
//!   the last five different stations, with two the lesser of both. The queue that counts is the one that
//!   all share; a delay that is one station's own, since it sleeps, or since the access point has a queue for
//!   each, is not of it;
//! - an answer that says a long queue where the last ones said none calls a **jury**: all others, up to 32, are
//!   asked at once, and the lower median of all is what counts. It is known as soon as half have answered,
//!   so whoever is later need not be waited for;
//! - who was late when the jury was not, or is late on average, is **doubted**: it does not count until it has
//!   been no later than the others for 10 s. At most half of all can be doubted.
//!
//! So up to (m - 1)/2 late, sleeping or silent stations of m leave C to the others. An answer to a ping
//! cannot be early, since the requests hold what cannot be guessed; but who has had its base raised, or acknowledges
//! segments early, can say that there is no queue, and such stations are not found out. Medians of what others say
//! are therefore upper ones: one of two does not make the third late, nor its queue a longer path. Who decides are
//! five at most, so where stations are many, three who agree to be early may happen to be asked one after another.
//!
//! # Who does not answer pings
//! Who has not answered five pings is **overheard**: in its turn, instead of a ping, segments are timed that pass on
//! their way to it, from the bottleneck to the ACK that covers them. What it says so counts as what others answer, by
//! the same rules, except that
//!
//! - it has a base apart from that of its pings, since an ACK may be delayed;
//! - it is not waited for: nobody knows whether a segment will pass, or its ACK be delayed;
//! - it is on a jury once a segment that left after the call has come back. What it said before would say nothing of
//!   the queue that the jury is asked about;
//! - it is still pinged, seldom, and from its first answer on heard by pings again.
//!
//! An ACK of data that has not yet come ("optimistic") is early. The first lowers the base, so that honest ones are
//! late from then on. Who always sends them says that there is no queue: a minority of such stations moves
//! nothing, one with traffic alone keeps C up, to the harm of itself.
//!
//! What C becomes of a delay that is agreed on is in [`law`].
//!
//! # One station
//! One station alone is believed. If it is found out later, C returns to what it was before it followed that
//! station alone.
//!
//! # A standing queue is no base
//! A queue that never runs empty and a longer path look alike. If nobody has been near the base for 64 answers, C
//! is taken down by measurement until somebody is: then it was a queue. If nobody is though C has been at its
//! minimum for twice the longest delay, it is the path: bases rise to what is seen, and C returns. A single
//! station's base rises without that, to the least of 8 answers during which the others saw no queue.

mod comparison;
mod jury;
mod law;
mod said;
mod standing;
mod voter;

use std::collections::{BTreeMap, VecDeque};

use self::comparison::Comparison;
use self::jury::{Jury, Outcome, Testimony, Verdict};
use self::law::{Law, Sight};
use self::said::{ACTIVE_FOR, Asked, DECIDE, SLACK, Said, lower_median, upper_median};
pub use self::said::{Ask, Heard, RoundTrip};
use self::standing::Standing;
use self::voter::Voter;
use super::step::Step;
use super::wce::{Cycle, Thresholds, WceSettings};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// Most stations that are asked at once.
const JURY: usize = 32;
/// What C was before it followed one station alone is good for so long.
const ALONE_FOR: Span = Span(600_000_000_000);
/// Intervals without a tick that are taken for a stall of whoever asks.
const STALL: u64 = 5;
/// Doubted and silent stations are asked in one interval of so many.
const SELDOM: u32 = 10;

/// The estimator.
#[derive(Clone, Debug)]
pub struct Agreement {
    settings: WceSettings,
    law: Law,
    draws: Stream,
    voters: BTreeMap<u32, Voter>,
    /// When each station was last active.
    active: BTreeMap<u32, Time>,
    /// Stations that are still to be asked before all are asked again.
    turn: Vec<u32>,
    ticked: Option<Time>,
    /// End of the last stall: what left before says nothing.
    resumed: Option<Time>,
    under_way: VecDeque<Asked>,
    numbers: u32,
    /// Stations whose flows are listened to now.
    listening: Vec<u32>,
    /// Last answers of different stations that count, oldest first.
    recent: VecDeque<Said>,
    comparison: Comparison,
    jury: Option<Jury>,
    standing: Standing,
    /// The station that C has followed alone, since when, and C then. [bit/s]
    alone: Option<(u32, Time, u64)>,
    last_step: Step,
    /// Whether a long queue stands.
    alarmed: bool,
}

impl Agreement {
    /// An estimator that has seen nothing: C is at its cap.
    pub fn new(settings: WceSettings, draws: Stream) -> Agreement {
        let WceSettings {
            thresholds,
            interval,
            min_bps,
            max_bps,
            ..
        } = settings;
        Agreement {
            settings,
            law: Law::new(thresholds, interval, min_bps, max_bps),
            draws,
            voters: BTreeMap::new(),
            active: BTreeMap::new(),
            turn: Vec::new(),
            ticked: None,
            resumed: None,
            under_way: VecDeque::new(),
            numbers: 0,
            listening: Vec::new(),
            recent: VecDeque::new(),
            comparison: Comparison::default(),
            jury: None,
            standing: Standing::new(max_bps),
            alone: None,
            last_step: Step::Hold,
            alarmed: false,
        }
    }

    /// C. [bit/s]
    pub fn capacity_bps(&self) -> u64 {
        self.law.rate_bps()
    }

    /// What the last answer that counted did.
    pub fn last_step(&self) -> Step {
        self.last_step
    }

    /// Once an interval: `active` stations have had traffic lately, and so many bytes have left the
    /// bottleneck since the beginning. Returns whom to ping now.
    pub fn tick(&mut self, now: Time, active: &[u32], passed_bytes: u64) -> Vec<Ask> {
        let patience = self.settings.interval * STALL;
        if self.ticked.is_some_and(|last| now.since(last) > patience) {
            self.resumed = Some(now);
        }
        self.ticked = Some(now);
        self.active
            .extend(active.iter().map(|&station| (station, now)));
        self.active.retain(|_, &mut at| now.since(at) < ACTIVE_FOR);
        let timeout = self.settings.timeout;
        while self
            .under_way
            .front()
            .is_some_and(|one| now.since(one.sent) > timeout)
        {
            self.under_way.pop_front();
        }
        self.limit_doubt();
        self.agree(now);
        let all: Vec<u32> = self.active.keys().copied().collect();
        let one_of =
            |is: &dyn Fn(u32) -> bool| all.iter().copied().filter(|&one| is(one)).collect();
        let able: Vec<u32> = one_of(&|one| self.counts(one, now));
        let aside: Vec<u32> = one_of(&|one| !self.counts(one, now) || self.is_silent(one, now));
        if !self.jury.as_ref().is_some_and(Jury::is_out) {
            self.listening.clear();
        }
        // drawn, so that nobody can be prompt just then
        let seldom = self.draws.up_to(SELDOM - 1) == 0;
        let mut asked = Vec::new();
        if seldom && !able.is_empty() && !aside.is_empty() {
            let drawn = self.draws.up_to(aside.len() as u32 - 1) as usize;
            asked.push(aside[drawn]);
        }
        let whose_turn = if able.is_empty() { &aside } else { &able };
        // while a long queue stands, as many as decide
        let times = if self.alarmed {
            DECIDE.min(whose_turn.len())
        } else {
            1
        };
        for _ in 0..times {
            match self.next_of(whose_turn) {
                Some(one) if !able.is_empty() && self.is_silent(one, now) => {
                    self.listen_to(now, one)
                }
                next => asked.extend(next),
            }
        }
        asked
            .into_iter()
            .map(|station| {
                if self.is_silent(station, now) {
                    self.listen_to(now, station);
                }
                self.ask(now, station, passed_bytes)
            })
            .collect()
    }

    /// Stations whose segments are to be timed until the next tick: those that leave the bottleneck from now on, for
    /// [`Agreement::overhear`].
    pub fn listening(&self) -> &[u32] {
        &self.listening
    }

    fn listen_to(&mut self, now: Time, station: u32) {
        if !self.listening.contains(&station) {
            self.listening.push(station);
            self.voters.entry(station).or_default().listen(now);
        }
    }

    /// Whether a station's word counts.
    fn counts(&self, station: u32, now: Time) -> bool {
        let voter = self.voters.get(&station);
        voter.is_none_or(|voter| !voter.is_doubted() && !voter.is_mute(now))
    }

    /// Whether a station does not answer pings.
    fn is_silent(&self, station: u32, now: Time) -> bool {
        let voter = self.voters.get(&station);
        voter.is_some_and(|voter| voter.is_silent(now))
    }

    /// One of these, each before any is asked again, in an order that is drawn.
    fn next_of(&mut self, able: &[u32]) -> Option<u32> {
        self.turn.retain(|station| able.contains(station));
        if self.turn.is_empty() {
            self.turn.extend(able);
        }
        let last = self.turn.len().checked_sub(1)?;
        let drawn = self.draws.up_to(last as u32) as usize;
        Some(self.turn.swap_remove(drawn))
    }

    fn ask(&mut self, now: Time, station: u32, passed_bytes: u64) -> Ask {
        self.numbers = self.numbers.wrapping_add(1);
        let ask = Ask {
            station,
            number: self.numbers,
        };
        self.voters.entry(station).or_default().ask(now);
        self.under_way.push_back(Asked {
            ask,
            sent: now,
            passed_bytes,
        });
        ask
    }

    /// The majority cannot be doubted: if it is, nobody is.
    fn limit_doubt(&mut self) {
        let doubted = |station: &&u32| self.voters.get(station).is_some_and(Voter::is_doubted);
        let wrong = self.active.keys().filter(doubted).count();
        if self.active.len() > 1 && 2 * wrong > self.active.len() {
            self.voters.values_mut().for_each(Voter::acquit);
        }
    }

    /// Takes the answer to a ping of which the lowest 16 bits of the number are known; `rtt` if it is known better
    /// than from `now`. `passed_bytes` as in [`Agreement::tick`]. Returns the round-trip time and whom else to ping
    /// now; `None` if there is no such ping.
    pub fn answer(
        &mut self,
        now: Time,
        number: u16,
        rtt: Option<Span>,
        passed_bytes: u64,
    ) -> Option<(Span, Vec<Ask>)> {
        let mut under_way = self.under_way.iter();
        let place = under_way.rposition(|one| one.ask.number as u16 == number)?;
        let asked = self.under_way.remove(place)?;
        let rtt = rtt.unwrap_or(now.since(asked.sent));
        if !self.is_of_now(now, rtt) {
            self.last_step = Step::Hold;
            return Some((rtt, Vec::new()));
        }
        let asks = self.hear(now, Heard::Pings, asked, rtt, passed_bytes);
        Some((rtt, asks))
    }

    /// Takes the round-trip time of a segment that has passed on its way to a station. It counts where the station
    /// does not answer pings, once for each time that it is listened to. `passed_bytes` as in [`Agreement::tick`]. Returns whom to ping now.
    pub fn overhear(&mut self, now: Time, trip: RoundTrip, passed_bytes: u64) -> Vec<Ask> {
        let RoundTrip {
            station, sent, rtt, ..
        } = trip;
        let voter = self.voters.get(&station);
        let counts = self.active.contains_key(&station)
            && voter.is_some_and(|voter| voter.is_silent(now) && voter.is_listened_to());
        if !counts || !self.is_of_now(now, rtt) {
            return Vec::new();
        }
        self.listening.retain(|&one| one != station);
        let asked = Asked {
            ask: Ask { station, number: 0 },
            sent,
            passed_bytes: trip.passed_bytes,
        };
        self.hear(now, Heard::Flows, asked, rtt, passed_bytes)
    }

    /// Whether a round trip that ends now says something of the present.
    fn is_of_now(&self, now: Time, rtt: Span) -> bool {
        let left_before = self.resumed.is_some_and(|then| now.since(then) < rtt);
        rtt <= self.settings.timeout && !left_before
    }

    fn hear(
        &mut self,
        now: Time,
        by: Heard,
        asked: Asked,
        rtt: Span,
        passed_bytes: u64,
    ) -> Vec<Ask> {
        let station = asked.ask.station;
        let idle = self.idle_answers(now, station, asked.sent);
        let near = (self.settings.thresholds.low, self.near());
        let voter = self.voters.entry(station).or_default();
        let delay = voter.hear(by, (asked.sent, rtt), near, idle);
        let said = Said { delay, asked, by };
        self.compare(now, said);
        if self.is_doubted(station) {
            self.last_step = Step::Hold;
            return Vec::new();
        }
        if self.testify(now, said) {
            return Vec::new();
        }
        self.keep(now, said);
        let Some(agreed) = self.agreed_on(now, said) else {
            return Vec::new();
        };
        let high = self.settings.thresholds.high;
        let waits = self.jury.as_ref().is_some_and(Jury::is_out);
        if delay > high && agreed.delay <= high && !waits {
            let asks = self.call_jury(now, said, passed_bytes);
            if let Some(asks) = asks {
                return asks;
            }
        }
        self.decide(now, agreed);
        Vec::new()
    }

    fn is_doubted(&self, station: u32) -> bool {
        self.voters.get(&station).is_some_and(Voter::is_doubted)
    }

    /// Notes an answer that counts.
    fn keep(&mut self, now: Time, said: Said) {
        let fresh = |one: &Said| now.since(one.asked.sent) < ACTIVE_FOR;
        self.recent
            .retain(|one| one.station() != said.station() && fresh(one));
        self.recent.push_back(said);
        if self.recent.len() > DECIDE {
            self.recent.pop_front();
        }
    }

    /// What the last different stations agree on, now that one of them has said this. Who has been asked and has not
    /// answered is late by the time that has passed, unless it is heard by its flows; if that decides, the answer that has just come is what is known.
    fn agreed_on(&self, now: Time, said: Said) -> Option<Said> {
        let late = |one: &Said| {
            let voter = self.voters.get(&one.station());
            let waits = match one.by {
                Heard::Pings => voter.and_then(Voter::waits_since),
                Heard::Flows => None,
            };
            one.delay
                .max(waits.map_or(Span::ZERO, |since| now.since(since)))
        };
        let delay = lower_median(self.recent.iter().map(late))?;
        if said.delay.max(delay) - said.delay.min(delay) <= SLACK {
            return Some(said); // the newest, where it agrees
        }
        let same = self.recent.iter().rfind(|one| one.delay == delay);
        same.copied().or((said.delay >= delay).then_some(said))
    }

    /// Compares answers with those of others, and doubts who is late on average.
    fn compare(&mut self, now: Time, said: Said) {
        self.comparison.add(said);
        let others = self
            .active
            .keys()
            .filter(|&&one| one != said.station() && self.counts(one, now));
        let enough = others.count().min(2);
        if enough == 0 {
            return;
        }
        let mut from = 0;
        loop {
            let voters = &self.voters;
            let counts = |other: u32| !voters.get(&other).is_some_and(Voter::is_doubted);
            let Some(one) = self.comparison.next(now, &mut from, enough, counts) else {
                return;
            };
            let Some(voter) = self.voters.get_mut(&one.station) else {
                continue;
            };
            let was_doubted = voter.is_doubted();
            voter.compare(now, one.delay, one.others, SLACK);
            if voter.is_doubted() && !was_doubted {
                self.found_out(now, one.station);
            }
        }
    }

    /// What is near the base, above the first threshold.
    fn near(&self) -> Span {
        let Thresholds { low, threshold, .. } = self.settings.thresholds;
        Span((threshold - low).0 / 4)
    }

    /// How many answers raise a base now, if it is known that no queue stands.
    fn idle_answers(&self, now: Time, station: u32, sent: Time) -> Option<u32> {
        if !self.settings.follows_base {
            return None;
        }
        let calm = self.settings.thresholds.low + self.near();
        if self
            .median_of_others(now, station)
            .is_some_and(|delay| delay <= calm)
        {
            return Some(u32::MAX);
        }
        let stations = self.active.len().max(1) as u32;
        let is_path = self.standing.is_path(now, sent);
        is_path.then(|| (8 / stations).max(2))
    }

    /// Upper median of what the others said last.
    fn median_of_others(&self, now: Time, station: u32) -> Option<Span> {
        let others = self
            .voters
            .iter()
            .filter(|&(&one, voter)| one != station && !voter.is_doubted());
        let fresh = others.filter_map(|(_, voter)| voter.last);
        let said = fresh.filter(|&(sent, _)| now.since(sent) < ACTIVE_FOR);
        upper_median(said.map(|(_, delay)| delay))
    }

    /// A station says a long queue where there was none: asks the others, and listens to those who do not answer. None
    /// if there are no others.
    fn call_jury(&mut self, now: Time, said: Said, passed_bytes: u64) -> Option<Vec<Ask>> {
        let able = |&one: &u32| one != said.station() && self.counts(one, now);
        let others = self.active.keys().copied().filter(able);
        let (mut silent, mut others): (Vec<u32>, Vec<u32>) =
            others.partition(|&one| self.is_silent(one, now));
        if others.is_empty() && silent.is_empty() {
            return None;
        }
        while others.len() >= JURY {
            let drawn = self.draws.up_to(others.len() as u32 - 1) as usize;
            others.swap_remove(drawn);
        }
        while silent.len() >= JURY {
            let drawn = self.draws.up_to(silent.len() as u32 - 1) as usize;
            silent.swap_remove(drawn);
        }
        self.jury = Some(Jury::call(now, said, others.len(), silent.len()));
        silent.into_iter().for_each(|one| self.listen_to(now, one));
        let others = others.into_iter();
        Some(others.map(|one| self.ask(now, one, passed_bytes)).collect())
    }

    /// Hears a member of the jury, or somebody else while the jury is out; whether nothing else is to be done
    /// with this answer.
    fn testify(&mut self, now: Time, said: Said) -> bool {
        let Some(jury) = &mut self.jury else {
            return false;
        };
        match jury.hear(said) {
            Testimony::Stranger { is_out } => is_out,
            Testimony::Late(verdict) => self.convict(now, said, verdict),
            Testimony::Taken => {
                self.agree(now);
                true
            }
        }
    }

    /// C follows the jury, once it agrees.
    fn agree(&mut self, now: Time) {
        let Some(jury) = &mut self.jury else {
            return;
        };
        let Verdict {
            delay,
            members,
            told_by,
        } = match jury.agree(now) {
            Outcome::Nothing => return,
            Outcome::Dismissed => {
                self.jury = None;
                return;
            }
            Outcome::Verdict(verdict) => verdict,
        };
        for member in members {
            if !self.convict(now, member, delay) {
                self.keep(now, member);
            }
        }
        self.decide(now, told_by);
    }

    /// Whether somebody was later than the jury, and so is doubted.
    fn convict(&mut self, now: Time, said: Said, verdict: Span) -> bool {
        let is_late = said.delay > verdict + SLACK;
        if is_late && let Some(voter) = self.voters.get_mut(&said.station()) {
            voter.convict(now, said.delay - verdict, SLACK);
            self.found_out(now, said.station());
        }
        is_late
    }

    /// A station is doubted from now on; if C had followed it alone, C returns.
    fn found_out(&mut self, now: Time, station: u32) {
        self.recent.retain(|one| one.station() != station);
        let alone = self.alone.take_if(|(one, ..)| *one == station);
        if let Some((_, since, bps)) = alone
            && now.since(since) < ALONE_FOR
            && bps > self.law.rate_bps()
        {
            self.law.go_back_to(now, bps);
        }
    }

    /// Notes when C begins to follow one station alone.
    fn note_who_is_alone(&mut self, now: Time) {
        let [only] = self.recent.make_contiguous() else {
            return;
        };
        let station = only.station();
        if self.alone.is_none_or(|(one, ..)| one != station) {
            self.alone = Some((station, now, self.law.rate_bps()));
        }
    }

    /// C follows a delay that was agreed on.
    fn decide(&mut self, now: Time, Said { delay, asked, .. }: Said) {
        let sight = Sight {
            sent: asked.sent,
            delay,
            passed_bytes: asked.passed_bytes,
        };
        if delay > self.settings.thresholds.low + self.near() {
            self.standing.is_far(delay);
        } else if let Some(bps) = self.standing.is_near(self.law.rate_bps()) {
            self.law.go_back_to(now, bps);
        }
        let in_doubt = self.settings.follows_base && self.standing.is_in_doubt();
        self.note_who_is_alone(now);
        self.last_step = self.law.step(now, sight, in_doubt);
        self.alarmed = delay > self.settings.thresholds.high;
        let is_least = self.law.rate_bps() <= self.settings.min_bps;
        self.standing.is_at_least(now, is_least);
    }

    /// Active stations whose word does not count, and by how much they are later than the others.
    pub fn doubted(&self) -> impl Iterator<Item = (u32, Span)> {
        let active = self
            .active
            .keys()
            .filter_map(|station| Some((*station, self.voters.get(station)?)));
        active
            .filter(|(_, voter)| voter.is_doubted())
            .map(|(station, voter)| (station, voter.late()))
    }

    /// The station that alone holds C down, and the queueing delay that it says, if that is so: C follows it
    /// alone, has fallen since it does, and still would.
    pub fn holds_down(&self) -> Option<(u32, Span)> {
        let (station, _, before_bps) = self.alone?;
        let only = self.recent.front().filter(|_| self.recent.len() == 1)?;
        let is_late = only.delay > self.settings.thresholds.threshold;
        let has_fallen = self.law.rate_bps() < before_bps / 4 * 3;
        (only.station() == station && is_late && has_fallen).then_some((station, only.delay))
    }

    /// A station's round-trip time without a queue, once it has been seen.
    pub fn base_rtt(&self, station: u32) -> Option<Span> {
        self.voters.get(&station)?.base(self.ticked?)
    }

    /// What a station is heard by; None if it is not, or has not been asked.
    pub fn heard(&self, station: u32) -> Option<Heard> {
        self.voters.get(&station)?.heard(self.ticked?)
    }

    /// Forgets a station.
    pub fn forget(&mut self, station: u32) {
        self.voters.remove(&station);
        self.active.remove(&station);
        self.recent.retain(|one| one.station() != station);
        self.listening.retain(|&one| one != station);
        self.under_way.retain(|one| one.ask.station != station);
        self.alone.take_if(|(one, ..)| *one == station);
        self.comparison.forget(station);
    }

    /// The swing around a WLAN of this capacity. [bit/s]
    pub fn cycle(&self, capacity_bps: u64) -> Cycle {
        law::swing(
            self.settings.thresholds,
            self.settings.interval,
            capacity_bps,
        )
    }
}

#[cfg(test)]
mod tests;
