//! Whom to ping and what answers make of C, by either rule: the one step that simulator, emulator and gateway call.

use std::collections::VecDeque;

use super::agreement::{Agreement, Ask, RoundTrip};
use super::step::Step;
use super::wce::{Observation, Wce, WceSettings, WceSettingsError};
use super::wce_settings::WceRule;
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// Pings that may be under way: as many as have different numbers.
const MOST_PINGS: usize = 1 << 16;

/// An estimator of the capacity behind a bottleneck.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// By what stations agree on.
    Agreement(Box<Agreement>),
    /// As in paper 002.
    Paper(Box<Alone>),
}

/// Paper 002's estimator: each interval it pings a station drawn at random, and believes every answer.
#[derive(Clone, Debug)]
pub struct Alone {
    wce: Wce,
    draws: Stream,
    /// Pings sent so far: the number of the last one.
    sent: u32,
    /// Pings that have not been answered, with the instants they were sent.
    under_way: VecDeque<(u32, Time)>,
    /// Whether a ping has been answered since the last one was sent.
    heard: bool,
    last: Option<Step>,
}

impl Capacity {
    /// An estimator that has seen nothing: C is at its cap.
    ///
    /// # Errors
    /// If `settings` make no estimator.
    pub fn new(settings: WceSettings, draws: Stream) -> Result<Capacity, WceSettingsError> {
        let settings = settings.checked()?;
        Ok(match settings.rule {
            WceRule::Agreement => Capacity::Agreement(Box::new(Agreement::new(settings, draws))),
            WceRule::Paper => Capacity::Paper(Box::new(Alone {
                wce: Wce::new(settings)?,
                draws,
                sent: 0,
                under_way: VecDeque::new(),
                heard: true,
                last: None,
            })),
        })
    }

    /// C. [bit/s]
    pub fn bps(&self) -> u64 {
        match self {
            Capacity::Agreement(one) => one.capacity_bps(),
            Capacity::Paper(one) => one.wce.capacity_bps(),
        }
    }

    /// What the last answer did, in a word; none before the first.
    pub fn last_step(&self) -> Option<&'static str> {
        match self {
            Capacity::Agreement(one) => Some(one.last_step().name()),
            Capacity::Paper(one) => one.last.map(Step::name),
        }
    }

    /// Once an interval: these stations may be pinged, in ascending order, and so many bytes have left the
    /// bottleneck since the beginning. Returns whom to ping now.
    pub fn tick(&mut self, now: Time, stations: &[u32], passed_bytes: u64) -> Vec<Ask> {
        match self {
            Capacity::Agreement(one) => one.tick(now, stations, passed_bytes),
            Capacity::Paper(one) => one.tick(now, stations).into_iter().collect(),
        }
    }

    /// The answer to a ping has come back, of whose number the lowest 16 bits are known; `rtt` if it is known
    /// better than from `now`. Returns its round-trip time and whom else to ping now; `None` if there is no such
    /// ping, or it has been answered before.
    pub fn answer(
        &mut self,
        now: Time,
        number: u16,
        rtt: Option<Span>,
        passed_bytes: u64,
    ) -> Option<(Span, Vec<Ask>)> {
        match self {
            Capacity::Agreement(one) => one.answer(now, number, rtt, passed_bytes),
            Capacity::Paper(one) => Some((one.answer(now, number, rtt)?, Vec::new())),
        }
    }

    /// Stations whose segments are to be timed until the next tick, those that leave the bottleneck from now on.
    pub fn listening(&self) -> &[u32] {
        match self {
            Capacity::Agreement(one) => one.listening(),
            Capacity::Paper(_) => &[],
        }
    }

    /// A segment that has passed on its way to a station has been acknowledged. `passed_bytes` is what has left the
    /// bottleneck by now. Returns whom to ping now.
    pub fn overhear(&mut self, now: Time, trip: RoundTrip, passed_bytes: u64) -> Vec<Ask> {
        match self {
            Capacity::Agreement(one) => one.overhear(now, trip, passed_bytes),
            Capacity::Paper(_) => Vec::new(),
        }
    }
}

impl Alone {
    fn tick(&mut self, now: Time, stations: &[u32]) -> Option<Ask> {
        if !self.heard {
            let (at, rtt) = (now, None);
            self.last = Some(self.wce.step(Observation { at, rtt }));
        }
        self.heard = false;
        let last = stations.len().checked_sub(1)?;
        let drawn = self.draws.up_to(last as u32) as usize;
        self.sent += 1;
        if self.under_way.len() == MOST_PINGS {
            self.under_way.pop_front();
        }
        self.under_way.push_back((self.sent, now));
        Some(Ask {
            station: stations[drawn],
            number: self.sent,
        })
    }

    fn answer(&mut self, now: Time, number: u16, rtt: Option<Span>) -> Option<Span> {
        let mut under_way = self.under_way.iter();
        let place = under_way.rposition(|&(one, _)| one as u16 == number)?;
        let (_, sent_at) = self.under_way.remove(place)?;
        let rtt = rtt.unwrap_or(now.since(sent_at));
        self.heard = true;
        let observed = Observation {
            at: now,
            rtt: Some(rtt),
        };
        self.last = Some(self.wce.step(observed));
        Some(rtt)
    }

    /// The steps.
    pub fn wce(&self) -> &Wce {
        &self.wce
    }
}
