//! The virtual shared bottleneck: a link in front of the access point that both directions of a
//! station's flows enter, and the pings beside it from which its rate is estimated (paper 002, section
//! 4.2).
//!
//! ```text
//!               +--------------------- rate ----------------------+
//!               |                                                 |
//!   servers <--link, a leaf for each party--> access point     estimator <-- round-trip times
//!                                                | ping   ^                        |
//!                                                v        | answer ----------------+
//!                                               a station, drawn
//! ```
//!
//! Packets of stations pass it up and down, except uplink UDP: to delay that would not keep it off the
//! air (appendix IV). A ping is an echo request in the access point's queue, and its answer in the
//! station's; neither passes the bottleneck. Who carries packets, the simulator's world or the emulator,
//! asks here what the rate is, whom to ping and when.
//!
//! | question | place |
//! |---|---|
//! | which flow passes it, through which leaf | `bottleneck/leaves.rs` |
//! | whom to ping, what an answer says, what was measured | here |
//! | round-trip times to a rate | [`crate::control::wce`] |

mod leaves;
mod settings;

use std::collections::VecDeque;

use self::leaves::Leaves;
pub use self::leaves::{is_redirected, link_of};
pub use self::settings::{BottleneckFairness, BottleneckSettings};
use crate::app::{Ends, Flow};
use crate::cell::Hotspot;
use crate::control::{Observation, Wce};
use crate::histogram::Histogram;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};

/// For how long after its last uplink datagram a station is not pinged. [ns]
const UDP_MEMORY: Span = Span(5_000_000_000);

/// Pings that may be under way: as many as have different numbers.
const MOST_PINGS: usize = 1 << 16;

/// The bottleneck's rate and its pings.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    settings: BottleneckSettings,
    /// The estimator, unless the rate is given.
    estimator: Option<Wce>,
    /// Draws the station to ping.
    draws: Stream,
    /// When the bottleneck begins, then when the next ping is due.
    next: Time,
    /// Pings sent so far: the number of the last one.
    sent: u32,
    /// Pings that have not been answered, with the instants they were sent.
    under_way: VecDeque<(u32, Time)>,
    /// Whether a ping has been answered since the last one was sent.
    heard: bool,
    /// Uplink datagrams of each station.
    datagrams: Vec<Datagrams>,
    rate_bps: u64,
    rate_since: Time,
    /// Time integral of the rate. [bit/s ns]
    rate_sum: f64,
    rtts: Histogram,
    last_rtt: Option<Span>,
    measured_since: Time,
    /// Sum of the rate, and pings sent, up to `measured_since`.
    warm_sum: f64,
    warm_sent: u32,
}

/// Uplink datagrams of a station: how many there were at the last ping, and the last ping before which
/// there were some.
#[derive(Clone, Copy, Debug, Default)]
struct Datagrams {
    seen: u64,
    at: Option<Time>,
}

/// An echo request to be sent by the access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// The station it is for, counted from 0.
    pub station: usize,
    /// Its number, from 1.
    pub number: u32,
}

impl Bottleneck {
    /// The bottleneck in front of so many `stations`, at rest.
    pub fn new(settings: &BottleneckSettings, stations: usize, streams: &Streams) -> Bottleneck {
        Bottleneck {
            settings: *settings,
            // the checks have seen to it that the settings make one
            estimator: match settings.rate_bps {
                None => Wce::new(settings.wce).ok(),
                Some(_) => None,
            },
            draws: streams.stream("vsb/pings"),
            next: Time::ZERO + settings.start,
            sent: 0,
            under_way: VecDeque::new(),
            heard: true,
            datagrams: vec![Datagrams::default(); stations],
            rate_bps: 0,
            rate_since: Time::ZERO + settings.start,
            rate_sum: 0.0,
            rtts: Histogram::EMPTY,
            last_rtt: None,
            measured_since: Time::ZERO,
            warm_sum: 0.0,
            warm_sent: 0,
        }
    }

    /// When [`Bottleneck::advance`] is due.
    pub fn deadline(&self) -> Time {
        self.next
    }

    /// The bottleneck begins, or the next ping is due at `now`; returns the ping, if a station is to be
    /// pinged. `datagrams` says how many datagrams a station has sent up so far. The rate may have changed.
    pub fn advance(&mut self, now: Time, datagrams: impl Fn(usize) -> u64) -> Option<Ping> {
        if self.rate_bps == 0 {
            self.rate_since = now;
            self.rate_bps = self.settings.rate_bps.unwrap_or(self.settings.wce.max_bps);
        } else if !self.heard
            && let Some(estimator) = &mut self.estimator
        {
            let (at, rtt) = (now, None);
            estimator.step(Observation { at, rtt });
        }
        if self.estimator.is_none() {
            self.next = Time::NEVER;
            return None;
        }
        self.heard = false;
        self.next = now + self.settings.wce.interval;
        let station = self.station_to_ping(now, datagrams)?;
        self.sent += 1;
        if self.under_way.len() == MOST_PINGS {
            self.under_way.pop_front();
        }
        self.under_way.push_back((self.sent, now));
        Some(Ping {
            station,
            number: self.sent,
        })
    }

    /// Draws the station to ping: any, or one that has sent no UDP lately if those that have are spared.
    fn station_to_ping(&mut self, now: Time, datagrams: impl Fn(usize) -> u64) -> Option<usize> {
        for (station, own) in self.datagrams.iter_mut().enumerate() {
            let sent = datagrams(station);
            if sent != own.seen {
                (own.seen, own.at) = (sent, Some(now));
            }
        }
        let spares = self.settings.spares_udp;
        let sends = |own: &Datagrams| own.at.is_some_and(|at| now.since(at) < UDP_MEMORY);
        let all = self.datagrams.iter().enumerate();
        let others = all.filter(|(_, own)| !(spares && sends(own)));
        let last = others.clone().count().checked_sub(1)?;
        let drawn = self.draws.up_to(last as u32) as usize;
        others.map(|(station, _)| station).nth(drawn)
    }

    /// The answer to a ping has come back, of whose number the lowest 16 bits are known; false if there is
    /// no such ping, or it has been answered before. The rate may have changed.
    pub fn answered(&mut self, now: Time, number: u16) -> bool {
        let mut under_way = self.under_way.iter();
        let place = under_way.rposition(|&(one, _)| one as u16 == number);
        let Some((_, sent_at)) = place.and_then(|place| self.under_way.remove(place)) else {
            return false;
        };
        let rtt = now.since(sent_at);
        self.heard = true;
        self.rtts.add(rtt);
        self.last_rtt = Some(rtt);
        if let Some(estimator) = &mut self.estimator {
            let (at, rtt) = (now, Some(rtt));
            estimator.step(Observation { at, rtt });
            let rate_bps = estimator.capacity_bps();
            self.integrate(now);
            self.rate_bps = rate_bps;
        }
        true
    }

    /// The present rate, once it has begun. [bit/s]
    pub fn rate_bps(&self) -> Option<u64> {
        (self.rate_bps > 0).then_some(self.rate_bps)
    }

    /// Measuring begins at `now`.
    pub fn begin_to_measure(&mut self, now: Time) {
        self.integrate(now);
        self.measured_since = now;
        self.warm_sum = self.rate_sum;
        self.warm_sent = self.sent;
        self.rtts = Histogram::EMPTY;
    }

    fn integrate(&mut self, now: Time) {
        self.rate_sum += self.rate_bps as f64 * now.since(self.rate_since).0 as f64;
        self.rate_since = self.rate_since.max(now);
    }

    /// Mean rate up to `now`, since measuring began or, if that was later, the bottleneck. [bit/s]
    pub fn mean_rate_bps(&self, now: Time) -> Option<f64> {
        let rest = self.rate_bps as f64 * now.since(self.rate_since).0 as f64;
        let begun = self.measured_since.max(Time::ZERO + self.settings.start);
        let length = now.since(begun);
        let sum = self.rate_sum + rest - self.warm_sum;
        (length > Span::ZERO).then(|| sum / length.0 as f64)
    }

    /// Pings that were not answered over those sent, since measuring began.
    pub fn ping_loss(&self) -> Option<f64> {
        let sent = u64::from(self.sent - self.warm_sent);
        // an answer to a ping of the warm-up may make up for a loss
        let lost = sent.saturating_sub(self.rtts.count());
        (sent > 0).then(|| lost as f64 / sent as f64)
    }

    /// Round-trip times since measuring began.
    pub fn rtts(&self) -> &Histogram {
        &self.rtts
    }

    /// The last round-trip time.
    pub fn last_rtt(&self) -> Option<Span> {
        self.last_rtt
    }
}

/// Leaves of a bottleneck that packets can come to: number, and name in results; none without one.
pub fn shown_leaves(
    settings: Option<&BottleneckSettings>,
    hotspot: Hotspot,
) -> impl Iterator<Item = (usize, String)> + use<> {
    let leaves = settings.map(|own| Leaves::new(own.fairness, hotspot).shown(hotspot.flows));
    leaves.into_iter().flatten()
}

/// Uplink UDP flows, which pass beside it: index and station.
pub fn beside(flows: &[Flow]) -> impl Iterator<Item = (usize, usize)> {
    let flows = flows.iter().enumerate();
    flows.filter_map(|(index, flow): (usize, &Flow)| match flow.ends {
        Ends::Station { station, .. } if !is_redirected(flow) => Some((index, station)),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
