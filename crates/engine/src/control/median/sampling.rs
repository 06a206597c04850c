//! Choice of the stations that are pinged or overheard, and list of the pings without a reply.

use std::collections::VecDeque;

use super::sample::{Probe, RoundTrip, WINDOW};
use super::station::Stations;
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// A poll is a round of samples that is started by one station with a long delay. This constant is
/// the maximum number of stations that a poll pings (including the station that started the poll),
/// and also the maximum number of stations whose flows a poll listens to.
const MAX_POLLED: usize = 32;
/// Number of intervals without a call of [`Sampler::begin_interval`] after which the caller is
/// considered stalled.
const STALL: u64 = 5;
/// Mean number of intervals between two pings to stations whose samples are ignored (doubted
/// stations), or which do not reply to pings.
const RARELY: u32 = 10;

/// A ping without a reply.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outstanding {
    probe: Probe,
    sent: Time,
    passed_bytes: u64,
}

/// Sampler, which chooses the stations to sample and matches replies to pings.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    draws: Stream,
    interval: Span,
    timeout: Span,
    last_tick: Option<Time>,
    /// End of the last stall of the caller. Pings and segments that departed earlier are ignored.
    resumed: Option<Time>,
    /// Stations that have not been sampled in the current round. In a round, each station is
    /// sampled once.
    round: Vec<u32>,
    outstanding: VecDeque<Outstanding>,
    last_number: u32,
    /// Stations whose segments are currently timed, because they do not reply to pings.
    listening: Vec<u32>,
}

impl Sampler {
    pub fn new(draws: Stream, interval: Span, timeout: Span) -> Sampler {
        Sampler {
            draws,
            interval,
            timeout,
            last_tick: None,
            resumed: None,
            round: Vec::new(),
            outstanding: VecDeque::new(),
            last_number: 0,
            listening: Vec::new(),
        }
    }

    /// Begins an interval. Detects a stall of the caller, and removes pings that are older than the
    /// timeout.
    pub fn begin_interval(&mut self, now: Time) {
        let patience = self.interval * STALL;
        if self
            .last_tick
            .is_some_and(|last| now.since(last) > patience)
        {
            self.resumed = Some(now);
        }
        self.last_tick = Some(now);
        let timeout = self.timeout;
        let is_old = |ping: &Outstanding| now.since(ping.sent) > timeout;
        while self.outstanding.front().is_some_and(is_old) {
            self.outstanding.pop_front();
        }
    }

    /// Returns the beginning of the current interval.
    pub fn last_tick(&self) -> Option<Time> {
        self.last_tick
    }

    /// Returns the regular pings of an interval. If a station is to be sampled that does not reply
    /// to pings, the sampler begins to listen to its flows instead.
    ///
    /// Stations that are not doubted are sampled in rounds: in each round, each of these stations
    /// is sampled once, in random order. One station is sampled per interval. While the queue is
    /// long (`is_congested`), `WINDOW` stations are sampled, because the median uses this many.
    pub fn regular(
        &mut self,
        now: Time,
        stations: &mut Stations,
        is_congested: bool,
        passed_bytes: u64,
    ) -> Vec<Probe> {
        let counting: Vec<u32> = stations
            .active()
            .filter(|&station| stations.counts(station, now))
            .collect();
        let doubted_or_silent: Vec<u32> = stations
            .active()
            .filter(|&station| !stations.counts(station, now) || stations.is_silent(station, now))
            .collect();
        // this choice is random, so that a doubted station cannot predict when it will be pinged
        let is_rare = self.draws.up_to(RARELY - 1) == 0;
        let mut pinged = Vec::new();
        if is_rare && !counting.is_empty() && !doubted_or_silent.is_empty() {
            let drawn = self.draws.up_to(doubted_or_silent.len() as u32 - 1) as usize;
            pinged.push(doubted_or_silent[drawn]);
        }
        let candidates = match counting.is_empty() {
            true => &doubted_or_silent,
            false => &counting,
        };
        let samples = match is_congested {
            true => WINDOW.min(candidates.len()),
            false => 1,
        };
        for _ in 0..samples {
            match self.next_in_round(candidates) {
                Some(station) if !counting.is_empty() && stations.is_silent(station, now) => {
                    self.listen_to(now, station, stations);
                }
                next => pinged.extend(next),
            }
        }
        pinged
            .into_iter()
            .map(|station| {
                if stations.is_silent(station, now) {
                    self.listen_to(now, station, stations);
                }
                self.ping(now, station, stations, passed_bytes)
            })
            .collect()
    }

    fn next_in_round(&mut self, candidates: &[u32]) -> Option<u32> {
        self.round.retain(|station| candidates.contains(station));
        if self.round.is_empty() {
            self.round.extend(candidates);
        }
        let last = self.round.len().checked_sub(1)?;
        let drawn = self.draws.up_to(last as u32) as usize;
        Some(self.round.swap_remove(drawn))
    }

    /// Returns the stations that a poll pings and the stations that it listens to. The station
    /// `cause`, which started the poll, is excluded.
    pub fn polled(&mut self, now: Time, cause: u32, stations: &Stations) -> (Vec<u32>, Vec<u32>) {
        let others = stations
            .active()
            .filter(|&station| station != cause && stations.counts(station, now));
        let (mut silent, mut pinged): (Vec<u32>, Vec<u32>) =
            others.partition(|&station| stations.is_silent(station, now));
        for group in [&mut pinged, &mut silent] {
            while group.len() >= MAX_POLLED {
                let drawn = self.draws.up_to(group.len() as u32 - 1) as usize;
                group.swap_remove(drawn);
            }
        }
        (pinged, silent)
    }

    /// Returns a new ping to a station, and records the ping as outstanding.
    pub fn ping(
        &mut self,
        now: Time,
        station: u32,
        stations: &mut Stations,
        passed_bytes: u64,
    ) -> Probe {
        self.last_number = self.last_number.wrapping_add(1);
        let number = self.last_number;
        let probe = Probe { station, number };
        stations.entry(station).reachability.on_ping(now);
        self.outstanding.push_back(Outstanding {
            probe,
            sent: now,
            passed_bytes,
        });
        probe
    }

    /// Begins to time segments of the flows of a station (to listen to the station).
    pub fn listen_to(&mut self, now: Time, station: u32, stations: &mut Stations) {
        if !self.listening.contains(&station) {
            self.listening.push(station);
            stations.entry(station).reachability.on_listen(now);
        }
    }

    /// Returns the stations whose segments are currently timed.
    pub fn listening(&self) -> &[u32] {
        &self.listening
    }

    /// Stops timing the segments of all stations.
    pub fn end_listening(&mut self) {
        self.listening.clear();
    }

    /// Stops timing the segments of one station.
    pub fn end_listening_to(&mut self, station: u32) {
        self.listening.retain(|&other| other != station);
    }

    /// Returns the round trip of an outstanding ping, which ends at `now`. If `rtt` is `None`, the
    /// round-trip time is the time since the ping was sent. `number` contains the lowest 16 bits of
    /// the number of the ping.
    pub fn reply(&mut self, now: Time, number: u16, rtt: Option<Span>) -> Option<RoundTrip> {
        let mut outstanding = self.outstanding.iter();
        let place = outstanding.rposition(|ping| ping.probe.number as u16 == number)?;
        let Outstanding {
            probe,
            sent,
            passed_bytes,
        } = self.outstanding.remove(place)?;
        Some(RoundTrip {
            station: probe.station,
            sent,
            rtt: rtt.unwrap_or(now.since(sent)),
            passed_bytes,
        })
    }

    /// Returns whether a round trip that ends at `now` is valid: it is not longer than the timeout,
    /// and did not begin before a stall.
    pub fn is_current(&self, now: Time, rtt: Span) -> bool {
        let left_before = self.resumed.is_some_and(|resumed| now.since(resumed) < rtt);
        rtt <= self.timeout && !left_before
    }

    /// Deletes the state of a station.
    pub fn forget(&mut self, station: u32) {
        self.end_listening_to(station);
        self.outstanding
            .retain(|ping| ping.probe.station != station);
    }
}
