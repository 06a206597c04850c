//! State of each station: activity, reachability, baselines and lateness.

use std::collections::BTreeMap;

use super::baseline::{Baseline, NearBase};
use super::lateness::Lateness;
use super::reachability::Reachability;
use super::sample::{DelaySample, FRESH_FOR, RoundTrip, SampleSource, upper_median};
use crate::kernel::time::{Span, Time};

/// State of one station, as the estimator sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StationState {
    pub reachability: Reachability,
    pub lateness: Lateness,
    /// Baseline of the pings of the station. `flow_baseline` is the baseline of its flows, in which
    /// ACKs may be delayed by up to 500 ms (RFC 9293, section 3.8.6.3).
    ping_baseline: Baseline,
    flow_baseline: Baseline,
    /// Departure and queueing delay of the last sample of the station.
    last: Option<(Time, Span)>,
}

impl StationState {
    /// Adds a round trip of the station and returns its queueing delay. `near` and `rise_after` are
    /// passed to [`Baseline::add`].
    pub fn add(
        &mut self,
        trip: RoundTrip,
        source: SampleSource,
        near: NearBase,
        rise_after: Option<u32>,
    ) -> DelaySample {
        self.reachability.on_sample(source);
        let baseline = match source {
            SampleSource::Pings => &mut self.ping_baseline,
            SampleSource::Flows => &mut self.flow_baseline,
        };
        let delay = baseline.add(trip.rtt, near, rise_after);
        self.last = Some((trip.sent, delay));
        DelaySample {
            station: trip.station,
            source,
            delay,
            sent: trip.sent,
            passed_bytes: trip.passed_bytes,
        }
    }

    /// Returns the baseline (the round-trip time without a queue) of the present source of samples.
    pub fn base_rtt(&self, now: Time) -> Option<Span> {
        match self.reachability.is_silent(now) {
            true => self.flow_baseline.rtt(),
            false => self.ping_baseline.rtt(),
        }
    }
}

/// State of all stations.
#[derive(Clone, Debug, Default)]
pub(super) struct Stations {
    states: BTreeMap<u32, StationState>,
    /// Time of the last activity of each active station.
    active: BTreeMap<u32, Time>,
}

impl Stations {
    /// Marks `stations` as active at `now`, and removes the activity of stations that have been
    /// inactive for too long.
    pub fn mark_active(&mut self, now: Time, stations: &[u32]) {
        self.active
            .extend(stations.iter().map(|&station| (station, now)));
        self.active.retain(|_, &mut at| now.since(at) < FRESH_FOR);
    }

    /// Returns the active stations in ascending order.
    pub fn active(&self) -> impl Iterator<Item = u32> {
        self.active.keys().copied()
    }

    /// Returns whether a station is active.
    pub fn is_active(&self, station: u32) -> bool {
        self.active.contains_key(&station)
    }

    /// Returns the state of a station; `None` if the station has not been sampled.
    pub fn get(&self, station: u32) -> Option<&StationState> {
        self.states.get(&station)
    }

    /// Returns the state of a station, as a mutable reference; `None` if the station has not been
    /// sampled.
    pub fn get_mut(&mut self, station: u32) -> Option<&mut StationState> {
        self.states.get_mut(&station)
    }

    /// Returns the state of a station. Creates the state if the station has none.
    pub fn entry(&mut self, station: u32) -> &mut StationState {
        self.states.entry(station).or_default()
    }

    /// Returns whether the samples of a station are used: the station is neither doubted nor
    /// unreachable.
    pub fn counts(&self, station: u32, now: Time) -> bool {
        let state = self.get(station);
        state.is_none_or(|state| {
            !state.lateness.is_doubted() && !state.reachability.is_unreachable(now)
        })
    }

    /// Returns whether a station does not reply to pings.
    pub fn is_silent(&self, station: u32, now: Time) -> bool {
        let state = self.get(station);
        state.is_some_and(|state| state.reachability.is_silent(now))
    }

    /// Returns whether a station is doubted (its samples are ignored).
    pub fn is_doubted(&self, station: u32) -> bool {
        let state = self.get(station);
        state.is_some_and(|state| state.lateness.is_doubted())
    }

    /// Resets the lateness of all stations if more than half of the active stations are doubted, so
    /// that no station is doubted.
    pub fn limit_doubted(&mut self) {
        let doubted = self.active().filter(|&station| self.is_doubted(station));
        let count = doubted.count();
        if self.active.len() > 1 && 2 * count > self.active.len() {
            for state in self.states.values_mut() {
                state.lateness = Lateness::default();
            }
        }
    }

    /// Returns the active stations that are doubted (their samples are ignored), each with its mean
    /// lateness.
    pub fn doubted(&self) -> impl Iterator<Item = (u32, Span)> {
        self.active().filter_map(|station| {
            let lateness = &self.get(station)?.lateness;
            lateness.is_doubted().then(|| (station, lateness.mean()))
        })
    }

    /// Returns the upper median of the last delays of all stations, without `station` and without
    /// doubted stations.
    pub fn median_of_others(&self, now: Time, station: u32) -> Option<Span> {
        let others = self
            .states
            .iter()
            .filter(|&(&other, state)| other != station && !state.lateness.is_doubted());
        let last = others.filter_map(|(_, state)| state.last);
        let fresh = last.filter(|&(sent, _)| now.since(sent) < FRESH_FOR);
        upper_median(fresh.map(|(_, delay)| delay))
    }

    /// Deletes the state of a station.
    pub fn forget(&mut self, station: u32) {
        self.states.remove(&station);
        self.active.remove(&station);
    }
}
