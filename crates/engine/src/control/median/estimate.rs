//! The estimate of the queueing delay: the lower median of the last samples of several stations.

use std::collections::VecDeque;

use super::sample::{DelaySample, FRESH_FOR, SampleSource, TOLERANCE, WINDOW, lower_median};
use super::station::Stations;
use crate::kernel::time::{Span, Time};

/// Last sample of each recently sampled station, oldest sample first.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleWindow(VecDeque<DelaySample>);

impl SampleWindow {
    /// Adds a sample, which replaces the previous sample of the same station.
    pub fn push(&mut self, now: Time, sample: DelaySample) {
        self.0
            .retain(|other| other.station != sample.station && now.since(other.sent) < FRESH_FOR);
        self.0.push_back(sample);
        if self.0.len() > WINDOW {
            self.0.pop_front();
        }
    }

    /// Removes the sample of a station.
    pub fn remove(&mut self, station: u32) {
        self.0.retain(|sample| sample.station != station);
    }

    /// Returns the estimate after the `newest` sample: the sample with the median delay. C follows
    /// this sample.
    ///
    /// For a station with an outstanding ping, the delay is at least the time since this ping was
    /// sent. If the median is such a time, no sample has the median delay. The newest sample is
    /// then returned; `None` if the delay of the newest sample is shorter than the median.
    pub fn median(
        &self,
        now: Time,
        newest: DelaySample,
        stations: &Stations,
    ) -> Option<DelaySample> {
        let least_delay = |sample: &DelaySample| {
            let reachability = stations
                .get(sample.station)
                .map(|state| &state.reachability);
            let unanswered = match sample.source {
                SampleSource::Pings => reachability.and_then(|pings| pings.unanswered_since()),
                SampleSource::Flows => None,
            };
            let waiting = unanswered.map_or(Span::ZERO, |since| now.since(since));
            sample.delay.max(waiting)
        };
        let median = lower_median(self.0.iter().map(least_delay))?;
        if newest.delay.max(median) - newest.delay.min(median) <= TOLERANCE {
            return Some(newest);
        }
        let exact = self.0.iter().rfind(|sample| sample.delay == median);
        exact
            .copied()
            .or((newest.delay >= median).then_some(newest))
    }

    /// Returns the sample of the only station in the window; `None` if the window has several
    /// stations.
    pub fn single(&self) -> Option<&DelaySample> {
        self.0.front().filter(|_| self.0.len() == 1)
    }
}
