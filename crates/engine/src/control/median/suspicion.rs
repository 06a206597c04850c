//! The stations that may be outliers: delays compared with those of other stations, and a single station that C follows.
//!
//! A sample is compared with samples of other stations that left shortly before and shortly after it. So a queue that
//! grows or drains makes no station late.

use std::collections::VecDeque;

use super::sample::{DelaySample, FRESH_FOR, upper_median};
use super::station::Stations;
use crate::kernel::time::{Span, Time};

/// Difference of departures up to which two samples are compared.
const COMPARED_WITHIN: Span = Span(600_000_000);
/// Most other stations on either side that a sample is compared with.
const MAX_NEIGHBOURS: usize = 5;
/// Other stations on either side that are required, if there are as many.
const MIN_NEIGHBOURS: usize = 2;
/// Most samples in the history.
const MAX_HISTORY: usize = 64;
/// Time for which C from before a single-station period stays valid.
const SINGLE_STATION_FOR: Span = Span(600_000_000_000);

/// A period in which C follows the samples of one station only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SingleStation {
    pub station: u32,
    since: Time,
    /// C at the beginning. [bit/s]
    pub before_bps: u64,
}

/// The samples that are compared, and the single-station period.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspicion {
    /// Samples by departure, each with a mark whether it has been compared.
    history: VecDeque<(DelaySample, bool)>,
    single: Option<SingleStation>,
}

impl Suspicion {
    /// Adds a sample and updates the lateness of stations. Returns the stations that are doubted from now on.
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

    /// Returns the delay that others had simultaneously: the larger of the upper medians before and after a sample.
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

    /// Returns the present single-station period, or the last one.
    pub fn single(&self) -> Option<SingleStation> {
        self.single
    }

    /// Notes that C, now `bps`, follows the samples of one station only. [bit/s]
    pub fn on_single(&mut self, now: Time, station: u32, bps: u64) {
        if self.single.is_none_or(|single| single.station != station) {
            self.single = Some(SingleStation {
                station,
                since: now,
                before_bps: bps,
            });
        }
    }

    /// Ends a single-station period of a station that is doubted. Returns C from before it, if it is valid. [bit/s]
    pub fn end_single(&mut self, now: Time, station: u32) -> Option<u64> {
        let single = self.single.take_if(|single| single.station == station)?;
        (now.since(single.since) < SINGLE_STATION_FOR).then_some(single.before_bps)
    }

    /// Forgets a station.
    pub fn forget(&mut self, station: u32) {
        self.single.take_if(|single| single.station == station);
        self.history.retain(|(sample, _)| sample.station != station);
    }
}

/// Returns the first sample of each station, up to the limit of neighbours.
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
