//! The detection of outliers: compares the delays of a station with those of other stations, and
//! records the period in which C follows a single station.
//!
//! A sample is compared with samples of other stations that left shortly before it and shortly
//! after it. Therefore a queue that grows or drains does not make any station appear late.

use std::collections::VecDeque;

use super::sample::{DelaySample, FRESH_FOR, upper_median};
use super::station::Stations;
use crate::kernel::time::{Span, Time};

/// Maximum time between the departures of two samples that are compared.
const COMPARED_WITHIN: Span = Span(600_000_000);
/// Maximum number of other stations with which a sample is compared, counted separately before and
/// after the sample.
const MAX_NEIGHBOURS: usize = 5;
/// Minimum number of other stations with samples that left before a sample, and also minimum number
/// with samples that left after it. If there are fewer other stations, all of them must have such
/// samples.
const MIN_NEIGHBOURS: usize = 2;
/// Maximum number of samples in the history.
const MAX_HISTORY: usize = 64;
/// Time for which the value of C at the beginning of a single-station period remains valid.
const SINGLE_STATION_FOR: Span = Span(600_000_000_000);

/// A period in which C follows the samples of one station only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SingleStation {
    pub station: u32,
    since: Time,
    /// C at the beginning of the period. [bit/s]
    pub before_bps: u64,
}

/// Detector of outliers: the history of samples to compare, and the single-station period.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspicion {
    /// Samples in order of departure. The flag of a sample is true if the sample has been compared.
    history: VecDeque<(DelaySample, bool)>,
    single: Option<SingleStation>,
}

impl Suspicion {
    /// Adds a sample and updates the lateness of stations. Returns the stations that are doubted from now on (their
    /// samples are ignored).
    pub fn add(&mut self, now: Time, sample: DelaySample, stations: &mut Stations) -> Vec<u32> {
        self.insert(sample);
        let others = stations
            .active()
            .filter(|&other| other != sample.station && stations.counts(other, now));
        let required = others.count().min(MIN_NEIGHBOURS);
        let mut doubted = Vec::new();
        if required == 0 {
            return doubted;
        }
        for place in 0..self.history.len() {
            let (sample, is_compared) = self.history[place];
            if is_compared || now.since(sample.sent) > FRESH_FOR {
                continue;
            }
            let Some(others) = self.neighbours(place, required, stations) else {
                continue;
            };
            self.history[place].1 = true;
            let Some(state) = stations.get_mut(sample.station) else {
                continue;
            };
            let was_doubted = state.lateness.is_doubted();
            state.lateness.compare(now, sample.delay, others);
            if state.lateness.is_doubted() && !was_doubted {
                doubted.push(sample.station);
            }
        }
        doubted
    }

    fn insert(&mut self, sample: DelaySample) {
        let place = self
            .history
            .partition_point(|(other, _)| other.sent <= sample.sent);
        self.history.insert(place, (sample, false));
        while self.history.len() > MAX_HISTORY {
            self.history.pop_front();
        }
    }

    /// Returns the delay of the other stations at the time of the sample with index `place` in
    /// `history`. The returned delay is the larger of two upper medians: one over samples that left
    /// before this sample, and one over samples that left after it. `None` if fewer than `required`
    /// stations have samples before this sample, or after it.
    fn neighbours(&self, place: usize, required: usize, stations: &Stations) -> Option<Span> {
        let (sample, _) = self.history[place];
        let is_neighbour = |(other, _): &&(DelaySample, bool)| {
            other.station != sample.station
                && !stations.is_doubted(other.station)
                && (other.sent.since(sample.sent)).max(sample.sent.since(other.sent))
                    < COMPARED_WITHIN
        };
        let before = self.history.iter().take(place).rev().filter(is_neighbour);
        let after = self.history.iter().skip(place + 1).filter(is_neighbour);
        let (before, after) = (by_station(before), by_station(after));
        if before.len() < required || after.len() < required {
            return None;
        }
        let delay = |sample: &DelaySample| sample.delay;
        upper_median(before.iter().map(delay)).max(upper_median(after.iter().map(delay)))
    }

    /// Returns the current single-station period; if there is none, the last such period.
    pub fn single(&self) -> Option<SingleStation> {
        self.single
    }

    /// Records that C follows the samples of one station only. `bps` is the present value of C.
    /// [bit/s]
    pub fn on_single(&mut self, now: Time, station: u32, bps: u64) {
        if self.single.is_none_or(|single| single.station != station) {
            self.single = Some(SingleStation {
                station,
                since: now,
                before_bps: bps,
            });
        }
    }

    /// Ends the single-station period, if it belongs to `station`, which is doubted. Returns the
    /// value of C before the period, if this value is still valid. [bit/s]
    pub fn end_single(&mut self, now: Time, station: u32) -> Option<u64> {
        let single = self.single.take_if(|single| single.station == station)?;
        (now.since(single.since) < SINGLE_STATION_FOR).then_some(single.before_bps)
    }

    /// Deletes the samples of a station.
    pub fn forget(&mut self, station: u32) {
        self.single.take_if(|single| single.station == station);
        self.history.retain(|(sample, _)| sample.station != station);
    }
}

/// Returns the first sample of each station in `samples`, for at most `MAX_NEIGHBOURS` stations.
fn by_station<'a>(samples: impl Iterator<Item = &'a (DelaySample, bool)>) -> Vec<DelaySample> {
    let mut first: Vec<DelaySample> = Vec::new();
    for (sample, _) in samples {
        if first.len() < MAX_NEIGHBOURS && first.iter().all(|other| other.station != sample.station)
        {
            first.push(*sample);
        }
    }
    first
}
