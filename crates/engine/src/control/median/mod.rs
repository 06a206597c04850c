//! The estimator of the capacity C by a median. C follows the queueing delay that the active stations have in common.
//!
//! The estimator of paper 002 follows each reply to a ping. Therefore a single station that replies
//! late, because it sleeps or lies, lowers the rate of all stations. The estimator of this module
//! follows a median and rejects outliers:
//!
//! - **Sample** ([`sampling`], [`baseline`]). The queueing delay of a station is its round-trip
//!   time minus the baseline of the station, so that a long path is not mistaken for a queue.
//! - **Estimate** ([`estimate`]). The estimate is the lower median of the last samples of five different stations. With
//!   one station the estimate is the sample of this station, and with two stations it is the smaller sample. A single
//!   station may be late because it sleeps, or because it has a separate queue at the access point. The median ignores
//!   such a delay.
//! - **Poll** ([`poll`]). If one sample shows a long queue and the median does not, all other
//!   stations are sampled simultaneously, at most 31 by pings. The result is the lower median of
//!   all samples.
//! - **Outlier rule** ([`lateness`], [`suspicion`]). A station that is late in a poll, or late on average, is doubted:
//!   its samples are ignored until the station has been as fast as the others for 10 s. At most half of the stations
//!   can be doubted.
//!
//! [`rate`] describes how C follows the estimate.
//!
//! # The events of a sample
//!
//! | sample of | no poll, or poll is decided | poll is open |
//! |---|---|---|
//! | a doubted station | compared with samples of others | compared with samples of others |
//! | a member of the poll, late by more than 25 ms | the station is doubted from now on | added to the poll |
//! | another station; the median delay is long, or the delay of the sample is short | C follows the median | added to the poll if the station is a member |
//! | another station; the delay of the sample is above `high`, and the median delay is not | a poll starts | added to the poll if the station is a member |
//!
//! # Limits
//! If there are m stations, up to (m - 1)/2 late, sleeping or silent stations do not affect C. A
//! reply to a ping cannot be early, because requests contain data that cannot be guessed. A station
//! whose baseline was raised, or that acknowledges segments early, can pretend that there is no
//! queue. Such a station is not detected. Therefore the delay of a station is compared with the
//! upper median of the delays of other stations. One of two stations can then neither make a third
//! station appear late nor make the queue of the third station appear to be a longer path. The
//! samples of at most five stations determine the median. If there are many stations, three early
//! stations may happen to be sampled in a row, and then determine the median.
//!
//! # Stations that do not reply to pings
//! A station that has not replied to five pings is **overheard** ([`reachability`]). When this station is to be
//! sampled, the estimator measures the time from the departure of a segment at the bottleneck to the ACK of the
//! segment. These samples are processed like replies, with four exceptions:
//!
//! - These samples have a separate baseline, because an ACK may be delayed.
//! - No poll waits for these samples, because the next segment may pass the bottleneck late, and
//!   its ACK may be delayed.
//! - Such a sample is added to a poll only if the segment left after the start of the poll.
//! - The station is still pinged, rarely, and is sampled by pings again after its first reply.
//!
//! An ACK of data that has not arrived yet ("optimistic") is early. The first such ACK lowers the baseline, so that
//! later honest ACKs appear late. A station that always sends optimistic ACKs pretends that there is no queue. A
//! minority of such stations changes nothing, and a single active station harms only itself.
//!
//! # A single station
//! C follows the samples of a single station. If this station is later found to be late in comparison with other
//! stations, C returns to its value before it followed that station.
//!
//! # A standing queue does not raise a baseline
//! A queue that never drains looks like a longer path ([`standing_queue`]). After 64 consecutive samples above the
//! baseline, C is reduced by measurement (see [`rate`]) until a sample is near the baseline. If no sample is near the
//! baseline, although C has been at its minimum for twice the longest delay, the path is longer. Baselines then rise to
//! the samples, and C returns to its earlier value. If only one station is affected, its baseline rises without this
//! test. It rises to the minimum of 8 samples during which the other stations had no queue.

mod baseline;
mod estimate;
mod lateness;
mod poll;
mod rate;
mod reachability;
mod sample;
mod sampling;
mod standing_queue;
mod station;
mod suspicion;

use self::baseline::NearBase;
use self::estimate::SampleWindow;
use self::poll::{Poll, PollMedian, PollResult, Reply};
use self::rate::RateControl;
use self::sample::{DelaySample, TOLERANCE};
pub use self::sample::{Probe, RoundTrip, SampleSource};
use self::sampling::Sampler;
use self::standing_queue::StandingQueue;
use self::station::Stations;
use self::suspicion::Suspicion;
use super::step::Step;
use super::wce::{Cycle, WceSettings};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// Estimator of the capacity C that follows the median of the queueing delays of the stations.
#[derive(Clone, Debug)]
pub struct MedianEstimator {
    settings: WceSettings,
    stations: Stations,
    sampler: Sampler,
    window: SampleWindow,
    poll: Option<Poll>,
    suspicion: Suspicion,
    standing_queue: StandingQueue,
    rate: RateControl,
    last_step: Step,
    /// Whether the last estimate of the queueing delay was above the threshold `high`.
    is_congested: bool,
}

impl MedianEstimator {
    /// Returns an estimator without samples; C is at its maximum.
    pub fn new(settings: WceSettings, draws: Stream) -> MedianEstimator {
        MedianEstimator {
            settings,
            stations: Stations::default(),
            sampler: Sampler::new(draws, settings.interval, settings.timeout),
            window: SampleWindow::default(),
            poll: None,
            suspicion: Suspicion::default(),
            standing_queue: StandingQueue::new(settings.max_bps),
            rate: RateControl::new(&settings),
            last_step: Step::Hold,
            is_congested: false,
        }
    }

    /// Returns the capacity C. [bit/s]
    pub fn capacity_bps(&self) -> u64 {
        self.rate.rate_bps()
    }

    /// Returns the last step of C.
    pub fn last_step(&self) -> Step {
        self.last_step
    }

    /// Returns the pings to be sent in an interval. The caller calls this method once per interval.
    ///
    /// `active` are the stations that have had traffic recently. `passed_bytes` is the total number
    /// of bytes that have left the bottleneck.
    pub fn tick(&mut self, now: Time, active: &[u32], passed_bytes: u64) -> Vec<Probe> {
        self.sampler.begin_interval(now);
        self.stations.mark_active(now, active);
        self.stations.limit_doubted();
        self.decide_poll(now);
        if !self.has_open_poll() {
            self.sampler.end_listening();
        }
        self.sampler
            .regular(now, &mut self.stations, self.is_congested, passed_bytes)
    }

    /// Returns the stations to listen to: until the next tick, the caller measures the round trips of segments to these
    /// stations and calls [`MedianEstimator::overhear`].
    pub fn listening(&self) -> &[u32] {
        self.sampler.listening()
    }

    /// Processes the reply to a ping. `number` contains the lowest 16 bits of the number of the
    /// ping.
    ///
    /// `rtt` is the round-trip time, if the caller has measured it. If not, the round-trip time
    /// ends at `now`. `passed_bytes` is the total number of bytes that have left the bottleneck.
    /// Returns the round-trip time and further pings to be sent; `None` if no ping with this number
    /// waits for a reply.
    pub fn answer(
        &mut self,
        now: Time,
        number: u16,
        rtt: Option<Span>,
        passed_bytes: u64,
    ) -> Option<(Span, Vec<Probe>)> {
        let trip = self.sampler.reply(now, number, rtt)?;
        if !self.sampler.is_current(now, trip.rtt) {
            self.last_step = Step::Hold;
            return Some((trip.rtt, Vec::new()));
        }
        let probes = self.add(now, trip, SampleSource::Pings, passed_bytes);
        Some((trip.rtt, probes))
    }

    /// Processes the round trip of a TCP segment, and returns further pings to be sent.
    /// `passed_bytes` is the total number of bytes that have left the bottleneck.
    ///
    /// The sample is used only if the station does not reply to pings. Each time the estimator
    /// listens to the flows of a station, it uses one sample.
    pub fn overhear(&mut self, now: Time, trip: RoundTrip, passed_bytes: u64) -> Vec<Probe> {
        let state = self.stations.get(trip.station);
        let is_expected = state.is_some_and(|state| {
            state.reachability.is_silent(now) && state.reachability.is_listened_to()
        });
        let counts = is_expected && self.stations.is_active(trip.station);
        if !counts || !self.sampler.is_current(now, trip.rtt) {
            return Vec::new();
        }
        self.sampler.end_listening_to(trip.station);
        self.add(now, trip, SampleSource::Flows, passed_bytes)
    }

    fn add(
        &mut self,
        now: Time,
        trip: RoundTrip,
        source: SampleSource,
        passed_bytes: u64,
    ) -> Vec<Probe> {
        let rise_after = self.samples_for_rise(now, trip);
        let near = NearBase {
            floor: self.settings.thresholds.low,
            tolerance: self.settings.thresholds.near_base(),
        };
        let state = self.stations.entry(trip.station);
        let sample = state.add(trip, source, near, rise_after);
        for station in self.suspicion.add(now, sample, &mut self.stations) {
            self.reject(now, station);
        }
        if self.stations.is_doubted(sample.station) {
            self.last_step = Step::Hold;
            return Vec::new();
        }
        if self.add_to_poll(now, sample) {
            return Vec::new();
        }
        self.window.push(now, sample);
        let Some(median) = self.window.median(now, sample, &self.stations) else {
            return Vec::new();
        };
        let high = self.settings.thresholds.high;
        if sample.delay > high && median.delay <= high && !self.has_open_poll() {
            let probes = self.start_poll(now, sample, passed_bytes);
            if let Some(probes) = probes {
                return probes;
            }
        }
        self.follow(now, median);
        Vec::new()
    }

    /// Returns the number of consecutive samples with an empty queue after which the baseline of
    /// the station of `trip` rises. `None`: the baseline does not rise, because the queue is
    /// possibly not empty, or because baselines are fixed.
    fn samples_for_rise(&self, now: Time, trip: RoundTrip) -> Option<u32> {
        if !self.settings.follows_base {
            return None;
        }
        let others = self.stations.median_of_others(now, trip.station);
        if others.is_some_and(|delay| delay <= self.longest_near_base()) {
            return Some(u32::MAX);
        }
        let active = self.stations.active().count().max(1) as u32;
        let is_longer_path = self.standing_queue.is_longer_path(now, trip.sent);
        is_longer_path.then(|| (8 / active).max(2))
    }

    /// Returns the longest queueing delay for which the queue is considered empty.
    fn longest_near_base(&self) -> Span {
        let thresholds = self.settings.thresholds;
        thresholds.low + thresholds.near_base()
    }

    fn has_open_poll(&self) -> bool {
        self.poll.as_ref().is_some_and(Poll::is_open)
    }

    /// Starts a poll of all stations except the station of the sample `cause`. Returns the pings of
    /// the poll; `None` if there are no other stations.
    fn start_poll(
        &mut self,
        now: Time,
        cause: DelaySample,
        passed_bytes: u64,
    ) -> Option<Vec<Probe>> {
        let (pinged, overheard) = self.sampler.polled(now, cause.station, &self.stations);
        if pinged.is_empty() && overheard.is_empty() {
            return None;
        }
        self.poll = Some(Poll::start(now, cause, pinged.len(), overheard.len()));
        for station in overheard {
            self.sampler.listen_to(now, station, &mut self.stations);
        }
        let stations = &mut self.stations;
        let ping = |station| self.sampler.ping(now, station, stations, passed_bytes);
        Some(pinged.into_iter().map(ping).collect())
    }

    /// Adds a sample to the poll, if there is a poll to which it belongs. Returns whether the
    /// sample needs no further processing.
    fn add_to_poll(&mut self, now: Time, sample: DelaySample) -> bool {
        let Some(poll) = &mut self.poll else {
            return false;
        };
        match poll.add(sample) {
            Reply::Unrelated { is_open } => is_open,
            Reply::Late(median) => self.reject_if_late(now, sample, median),
            Reply::Counted => {
                self.decide_poll(now);
                true
            }
        }
    }

    /// Decides the poll, if enough stations have replied or its time is over. C then follows the
    /// median of the poll, and stations that are late in the poll are doubted.
    fn decide_poll(&mut self, now: Time) {
        let Some(poll) = &mut self.poll else {
            return;
        };
        let PollMedian {
            delay,
            samples,
            decisive,
        } = match poll.decide(now) {
            PollResult::Unchanged => return,
            PollResult::Failed => {
                self.poll = None;
                return;
            }
            PollResult::Decided(median) => median,
        };
        for sample in samples {
            if !self.reject_if_late(now, sample, delay) {
                self.window.push(now, sample);
            }
        }
        self.follow(now, decisive);
    }

    /// Doubts the station of a sample whose delay exceeds the median delay of a poll. Returns
    /// whether the delay exceeds the median.
    fn reject_if_late(&mut self, now: Time, sample: DelaySample, median: Span) -> bool {
        let is_late = sample.delay > median + TOLERANCE;
        if is_late && let Some(state) = self.stations.get_mut(sample.station) {
            state.lateness.exceed_poll(now, sample.delay - median);
            self.reject(now, sample.station);
        }
        is_late
    }

    /// Removes the effect of a station on C, because the station is doubted from now on.
    fn reject(&mut self, now: Time, station: u32) {
        self.window.remove(station);
        if let Some(bps) = self.suspicion.end_single(now, station)
            && bps > self.rate.rate_bps()
        {
            self.rate.restore(now, bps);
        }
    }

    /// Adapts C to an estimate of the queueing delay.
    fn follow(&mut self, now: Time, estimate: DelaySample) {
        if estimate.delay > self.longest_near_base() {
            self.standing_queue.on_late_sample(estimate.delay);
        } else if let Some(bps) = self.standing_queue.on_near_sample(self.rate.rate_bps()) {
            self.rate.restore(now, bps);
        }
        let in_doubt = self.settings.follows_base && self.standing_queue.is_in_doubt();
        if let Some(single) = self.window.single() {
            let station = single.station;
            self.suspicion.on_single(now, station, self.rate.rate_bps());
        }
        self.last_step = self.rate.step(now, estimate, in_doubt);
        self.is_congested = estimate.delay > self.settings.thresholds.high;
        let is_min = self.rate.rate_bps() <= self.settings.min_bps;
        self.standing_queue.on_rate(now, is_min);
    }

    /// Returns the active stations that are doubted (their samples are ignored), each with its mean
    /// lateness.
    pub fn doubted(&self) -> impl Iterator<Item = (u32, Span)> {
        self.stations.doubted()
    }

    /// If C follows a single station and this station keeps C low, returns the station and its
    /// queueing delay.
    ///
    /// The station keeps C low if C has fallen by more than a quarter since C began to follow this
    /// station, and if the delay of the station would reduce C further.
    pub fn holds_down(&self) -> Option<(u32, Span)> {
        let single = self.suspicion.single()?;
        let sample = self.window.single()?;
        let is_late = sample.delay > self.settings.thresholds.threshold;
        let has_fallen = self.rate.rate_bps() < single.before_bps / 4 * 3;
        let holds = sample.station == single.station && is_late && has_fallen;
        holds.then_some((single.station, sample.delay))
    }

    /// Returns the round-trip time of a station without a queue, or `None` if this time is not
    /// known yet.
    pub fn base_rtt(&self, station: u32) -> Option<Span> {
        let state = self.stations.get(station)?;
        state.base_rtt(self.sampler.last_tick()?)
    }

    /// Returns the source of the samples of a station (pings or flows); `None` if the station has
    /// not been sampled.
    pub fn heard(&self, station: u32) -> Option<SampleSource> {
        let state = self.stations.get(station)?;
        state.reachability.source(self.sampler.last_tick()?)
    }

    /// Deletes the state of a station.
    pub fn forget(&mut self, station: u32) {
        self.stations.forget(station);
        self.sampler.forget(station);
        self.window.remove(station);
        self.suspicion.forget(station);
    }

    /// Returns the limit cycle of C around the capacity of a WLAN, `capacity_bps`.
    pub fn cycle(&self, capacity_bps: u64) -> Cycle {
        rate::limit_cycle(
            self.settings.thresholds,
            self.settings.interval,
            capacity_bps,
        )
    }
}

#[cfg(test)]
mod tests;
