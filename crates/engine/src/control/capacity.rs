//! The estimator of the capacity C, with either of the two rules "agreement" and "paper". The
//! simulator, the emulator and the gateway use this type.

use std::collections::VecDeque;

use super::median::{MedianEstimator, Probe, RoundTrip};
use super::step::Step;
use super::wce::{Observation, Wce, WceRule, WceSettings, WceSettingsError};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// Maximum number of stored pings without a reply. A reply contains only 16 bits of the ping number,
/// so more pings could not be distinguished. When a further ping is stored, the oldest is removed.
const MAX_OUTSTANDING: usize = 1 << 16;

/// An estimator of the capacity downstream of a bottleneck.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// Rule "agreement": C follows the median of the queueing delays of stations.
    Median(Box<MedianEstimator>),
    /// Rule "paper": the estimator of paper 002.
    Paper(Box<PaperEstimator>),
}

/// The estimator of paper 002. It pings a random station in each interval and processes every
/// reply.
#[derive(Clone, Debug)]
pub struct PaperEstimator {
    wce: Wce,
    draws: Stream,
    last_number: u32,
    /// Number and departure of each ping that has no reply yet.
    outstanding: VecDeque<(u32, Time)>,
    /// Whether a reply has arrived since the last ping was sent.
    has_reply: bool,
    last_step: Option<Step>,
}

impl Capacity {
    /// Returns an estimator without samples; C is at its maximum.
    ///
    /// # Errors
    /// Inconsistent `settings`.
    pub fn new(settings: WceSettings, draws: Stream) -> Result<Capacity, WceSettingsError> {
        let settings = settings.checked()?;
        Ok(match settings.rule {
            WceRule::Agreement => Capacity::Median(Box::new(MedianEstimator::new(settings, draws))),
            WceRule::Paper => Capacity::Paper(Box::new(PaperEstimator {
                wce: Wce::new(settings)?,
                draws,
                last_number: 0,
                outstanding: VecDeque::new(),
                has_reply: true,
                last_step: None,
            })),
        })
    }

    /// Returns the capacity C. [bit/s]
    pub fn bps(&self) -> u64 {
        match self {
            Capacity::Median(estimator) => estimator.capacity_bps(),
            Capacity::Paper(estimator) => estimator.wce.capacity_bps(),
        }
    }

    /// Returns the name of the last step of C; `None` before the first step.
    pub fn last_step(&self) -> Option<&'static str> {
        match self {
            Capacity::Median(estimator) => Some(estimator.last_step().name()),
            Capacity::Paper(estimator) => estimator.last_step.map(Step::name),
        }
    }

    /// Returns the pings to be sent in an interval. The caller calls this method once per interval.
    ///
    /// `stations` are the stations that may be pinged, in ascending order. `passed_bytes` is the
    /// total number of bytes that have left the bottleneck.
    pub fn tick(&mut self, now: Time, stations: &[u32], passed_bytes: u64) -> Vec<Probe> {
        match self {
            Capacity::Median(estimator) => estimator.tick(now, stations, passed_bytes),
            Capacity::Paper(estimator) => estimator.tick(now, stations).into_iter().collect(),
        }
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
        match self {
            Capacity::Median(estimator) => estimator.answer(now, number, rtt, passed_bytes),
            Capacity::Paper(estimator) => Some((estimator.answer(now, number, rtt)?, Vec::new())),
        }
    }

    /// Returns the stations to listen to: until the next tick, the caller measures the round trips of segments to these
    /// stations and calls [`Capacity::overhear`].
    pub fn listening(&self) -> &[u32] {
        match self {
            Capacity::Median(estimator) => estimator.listening(),
            Capacity::Paper(_) => &[],
        }
    }

    /// Processes the round trip of a TCP segment, and returns further pings to be sent.
    /// `passed_bytes` is the total number of bytes that have left the bottleneck.
    pub fn overhear(&mut self, now: Time, trip: RoundTrip, passed_bytes: u64) -> Vec<Probe> {
        match self {
            Capacity::Median(estimator) => estimator.overhear(now, trip, passed_bytes),
            Capacity::Paper(_) => Vec::new(),
        }
    }
}

impl PaperEstimator {
    fn tick(&mut self, now: Time, stations: &[u32]) -> Option<Probe> {
        if !self.has_reply {
            let (at, rtt) = (now, None);
            self.last_step = Some(self.wce.step(Observation { at, rtt }));
        }
        self.has_reply = false;
        let last = stations.len().checked_sub(1)?;
        let drawn = self.draws.up_to(last as u32) as usize;
        self.last_number += 1;
        if self.outstanding.len() == MAX_OUTSTANDING {
            self.outstanding.pop_front();
        }
        self.outstanding.push_back((self.last_number, now));
        Some(Probe {
            station: stations[drawn],
            number: self.last_number,
        })
    }

    fn answer(&mut self, now: Time, number: u16, rtt: Option<Span>) -> Option<Span> {
        let mut outstanding = self.outstanding.iter();
        let place = outstanding.rposition(|&(other, _)| other as u16 == number)?;
        let (_, sent_at) = self.outstanding.remove(place)?;
        let rtt = rtt.unwrap_or(now.since(sent_at));
        self.has_reply = true;
        let observation = Observation {
            at: now,
            rtt: Some(rtt),
        };
        self.last_step = Some(self.wce.step(observation));
        Some(rtt)
    }

    /// Returns the estimator that computes C from round-trip times. It sends no pings itself.
    pub fn wce(&self) -> &Wce {
        &self.wce
    }
}
