//! The virtual shared bottleneck (paper 002, section 4.2). The bottleneck is a simulated link
//! upstream of the access point, which the packets of both directions pass. Its rate is estimated
//! from the round-trip times of pings.
//!
//! ```text
//!               +--------------------- rate ----------------------+
//!               |                                                 |
//!   servers <--link, a leaf for each party--> access point     estimator <-- round-trip times
//!                                                | ping   ^                        |
//!                                                v        | reply -----------------+
//!                                               a random station
//! ```
//!
//! In the paper, uplink UDP bypasses the bottleneck, because a delay would not keep uplink UDP off
//! the air (appendix IV). The ping replies of a station wait after its UDP packets in the queue of
//! the station. Many current UDP senders, above all QUIC, slow down if their packets are delayed. A
//! bypass would give these senders an unfair advantage. Therefore uplink UDP passes the bottleneck
//! by default. With `udp = "down"` uplink UDP bypasses the bottleneck as in the paper. Pings and
//! their replies bypass the bottleneck: the echo request enters the queue of the access point, and
//! the reply enters the queue of the station. The simulator or the emulator forwards the packets.
//! This module computes the rate, and selects the stations to ping.
//!
//! | content | module |
//! |---|---|
//! | flows that pass the bottleneck, and their leaves | `bottleneck/leaves.rs` |
//! | groups of stations with a common share | `bottleneck/groups.rs` |
//! | stations to ping, replies, measured values | this module |
//! | round-trip times of flows, for stations that do not reply to pings | `bottleneck/timing.rs` |
//! | the rate, computed from round-trip times | [`crate::control::wce`] |

mod groups;
mod leaves;
mod settings;
mod timing;

pub use self::groups::BottleneckGroup;
use self::leaves::Leaves;
pub use self::leaves::link_of;
pub use self::settings::{BottleneckFairness, BottleneckSettings, BottleneckUdp};
use self::timing::Timing;
use crate::app::Flow;
use crate::cell::Hotspot;
use crate::control::{Capacity, Probe, WceRule};
use crate::histogram::Histogram;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::queue::QueueCounters;

/// Time for which a station is not pinged after its last uplink datagram. [ns]
const UDP_MEMORY: Span = Span(5_000_000_000);

/// The rate of the bottleneck, and its pings.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    settings: BottleneckSettings,
    /// Estimator of the rate; `None` if the scenario sets the rate.
    estimator: Option<Capacity>,
    /// Timed segments in flight to stations that do not reply to pings.
    timing: Timing,
    listens: bool,
    /// Start time of the bottleneck; after the start, the time of the next ping.
    next: Time,
    /// Traffic counters of each station at the last ping.
    stations: Vec<Known>,
    /// Leaves (queues) through which the packets of each station pass.
    leaves_of: Vec<Vec<u32>>,
    rate_bps: u64,
    rate_since: Time,
    /// Time integral of the rate up to the last change of the rate. [bit/s ns]
    rate_sum: f64,
    rtts: Histogram,
    last_rtt: Option<Span>,
    measured_since: Time,
    /// Time integral of the rate up to `measured_since`. [bit/s ns]
    warm_sum: f64,
}

/// Traffic counters of a station at the last ping. The field `sent_datagrams` is a time: that of the
/// last ping at which the counter `datagrams` had increased.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Number of uplink datagrams of the station that have bypassed the bottleneck.
    datagrams: u64,
    /// Number of packets that have left the leaves of the station.
    packets: u64,
    sent_datagrams: Option<Time>,
}

/// The numbers of packets and bytes that have passed a bottleneck so far.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Counters of each leaf.
    pub leaves: Vec<QueueCounters>,
    /// Total number of bytes that have left the leaves. [bytes]
    pub bytes: u64,
}

impl Bottleneck {
    /// Returns the bottleneck of a cell. The bottleneck has not yet started.
    pub fn new(settings: &BottleneckSettings, hotspot: Hotspot, streams: &Streams) -> Bottleneck {
        let leaves = Leaves::new(settings, hotspot);
        let stations = 0..hotspot.stations.len();
        Bottleneck {
            settings: settings.clone(),
            // if the rate is estimated, the check of the settings has ensured that the parameters
            // of the estimator exist
            estimator: match settings.rate_bps {
                None => Capacity::new(settings.wce, streams.stream("vsb/pings")).ok(),
                Some(_) => None,
            },
            timing: Timing::default(),
            listens: false,
            next: Time::ZERO + settings.start,
            stations: vec![Known::default(); stations.len()],
            leaves_of: stations
                .map(|station| leaves.of_station(station, hotspot.flows))
                .collect(),
            rate_bps: 0,
            rate_since: Time::ZERO + settings.start,
            rate_sum: 0.0,
            rtts: Histogram::EMPTY,
            last_rtt: None,
            measured_since: Time::ZERO,
            warm_sum: 0.0,
        }
    }

    /// Returns the time at which [`Bottleneck::advance`] must be called.
    pub fn deadline(&self) -> Time {
        self.next
    }

    /// Starts the bottleneck if it has not started yet. Later calls return the next pings to send.
    /// `datagrams` returns the number of datagrams of a station that have bypassed the bottleneck
    /// so far. The call may change the rate.
    pub fn advance(
        &mut self,
        now: Time,
        datagrams: impl Fn(usize) -> u64,
        passed: &Passed,
    ) -> Vec<Probe> {
        if self.rate_bps == 0 {
            self.rate_since = now;
            self.rate_bps = self.settings.rate_bps.unwrap_or(self.settings.wce.max_bps);
        }
        let Some(mut estimator) = self.estimator.take() else {
            self.next = Time::NEVER;
            return Vec::new();
        };
        self.next = now + self.settings.wce.interval;
        let stations = self.stations_to_ping(now, datagrams, passed);
        let probes = estimator.tick(now, &stations, passed.bytes);
        self.listens = !estimator.listening().is_empty() || !self.timing.is_empty();
        self.estimator = Some(estimator);
        probes
    }

    /// Sets the rate to the output of `estimator`, and stores `estimator`.
    fn follow(&mut self, now: Time, estimator: Capacity) {
        self.integrate(now);
        self.rate_bps = estimator.bps();
        self.listens = !estimator.listening().is_empty() || !self.timing.is_empty();
        self.estimator = Some(estimator);
    }

    /// Returns whether the caller must report segments with [`Bottleneck::leaves`] and ACKs with
    /// [`Bottleneck::acknowledged`].
    #[inline]
    pub fn listens(&self) -> bool {
        self.listens
    }

    /// Records that a segment of a flow to a station has left the bottleneck. `passed_bytes` is the
    /// number of bytes that had left the bottleneck before the segment. The segment is acknowledged
    /// by an ACK with the number `end` or a larger number.
    #[cold]
    pub fn leaves(&mut self, now: Time, (station, flow, end): (u32, u32, u32), passed_bytes: u64) {
        let listening = self.estimator.as_ref().map_or(&[][..], Capacity::listening);
        self.timing
            .leaves(now, (station, flow, end), passed_bytes, listening);
    }

    /// Processes an ACK of a flow from a station. Returns the pings to send. The call may change
    /// the rate.
    #[cold]
    pub fn acknowledged(
        &mut self,
        now: Time,
        (station, flow, ack): (u32, u32, u32),
        passed_bytes: u64,
    ) -> Vec<Probe> {
        let Some(trip) = self.timing.returns(now, (station, flow, ack)) else {
            return Vec::new();
        };
        let Some(mut estimator) = self.estimator.take() else {
            return Vec::new();
        };
        let probes = estimator.overhear(now, trip, passed_bytes);
        self.follow(now, estimator);
        probes
    }

    /// Returns the stations that may be pinged. With the rule of paper 002, all stations are
    /// returned. With other rules, only stations with traffic since the last ping are returned.
    /// With `udp_aware`, stations whose UDP has recently bypassed the bottleneck are excluded.
    fn stations_to_ping(
        &mut self,
        now: Time,
        datagrams: impl Fn(usize) -> u64,
        passed: &Passed,
    ) -> Vec<u32> {
        let is_any = self.settings.wce.rule == WceRule::Paper;
        let spares = self.settings.spares_udp;
        let known = self.stations.iter_mut().enumerate();
        let able = known.filter_map(|(station, known)| {
            let through = self.leaves_of[station]
                .iter()
                .map(|&leaf| passed.leaves[leaf as usize].left);
            let (packets, datagrams) = (through.sum(), datagrams(station));
            let is_active = packets != known.packets;
            if datagrams != known.datagrams {
                known.sent_datagrams = Some(now);
            }
            (known.packets, known.datagrams) = (packets, datagrams);
            let sends_udp = known
                .sent_datagrams
                .is_some_and(|at| now.since(at) < UDP_MEMORY);
            ((is_any || is_active) && !(spares && sends_udp)).then_some(station as u32)
        });
        able.collect()
    }

    /// Processes the reply to a ping. `number` is the lowest 16 bits of the ping's number. Returns
    /// further pings to send, or `None` if no reply to this ping is expected. The call may change
    /// the rate.
    pub fn answered(&mut self, now: Time, number: u16, passed_bytes: u64) -> Option<Vec<Probe>> {
        let mut estimator = self.estimator.take()?;
        let Some((rtt, probes)) = estimator.answer(now, number, None, passed_bytes) else {
            self.estimator = Some(estimator);
            return None;
        };
        self.rtts.add(rtt);
        self.last_rtt = Some(rtt);
        self.follow(now, estimator);
        Some(probes)
    }

    /// Returns the current rate, or `None` before the start. [bit/s]
    pub fn rate_bps(&self) -> Option<u64> {
        (self.rate_bps > 0).then_some(self.rate_bps)
    }

    /// Sets the rate of the bottleneck from `now` on. The call has no effect if the rate is
    /// estimated instead of configured. [bit/s]
    pub fn set_rate(&mut self, now: Time, rate_bps: u64) {
        if self.settings.rate_bps.is_none() {
            return;
        }
        self.settings.rate_bps = Some(rate_bps);
        if self.rate_bps > 0 {
            self.integrate(now);
            self.rate_bps = rate_bps;
        }
    }

    /// Starts the measurement of the rate and of round-trip times at `now`.
    pub fn begin_to_measure(&mut self, now: Time) {
        self.integrate(now);
        self.measured_since = now;
        self.warm_sum = self.rate_sum;
        self.rtts = Histogram::EMPTY;
    }

    fn integrate(&mut self, now: Time) {
        self.rate_sum += self.rate_bps as f64 * now.since(self.rate_since).0 as f64;
        self.rate_since = self.rate_since.max(now);
    }

    /// Returns the mean rate over the time up to `now`. This time begins when the measurement starts
    /// or when the bottleneck starts, whichever is later. [bit/s]
    pub fn mean_rate_bps(&self, now: Time) -> Option<f64> {
        let rest = self.rate_bps as f64 * now.since(self.rate_since).0 as f64;
        let begun = self.measured_since.max(Time::ZERO + self.settings.start);
        let length = now.since(begun);
        let sum = self.rate_sum + rest - self.warm_sum;
        (length > Span::ZERO).then(|| sum / length.0 as f64)
    }

    /// Returns the histogram of the round-trip times since the start of the measurement.
    pub fn rtts(&self) -> &Histogram {
        &self.rtts
    }

    /// Returns the round-trip time of the last ping.
    pub fn last_rtt(&self) -> Option<Span> {
        self.last_rtt
    }
}

/// Returns the leaves (queues) of a bottleneck that at least one flow uses. Each item is the index
/// of a leaf, and its name in results. The list is empty if there is no bottleneck.
pub fn shown_leaves(
    settings: Option<&BottleneckSettings>,
    hotspot: Hotspot,
) -> impl Iterator<Item = (usize, String)> + use<> {
    let leaves = settings.map(|own| Leaves::new(own, hotspot).shown(hotspot.flows));
    leaves.into_iter().flatten()
}

/// Returns the uplink UDP flows that bypass a bottleneck. Each item is the index of a flow, and the
/// index of its station. The list is empty if there is no bottleneck.
pub fn bypassing(
    settings: Option<&BottleneckSettings>,
    flows: &[Flow],
) -> impl Iterator<Item = (usize, usize)> {
    let flows = settings.into_iter().flat_map(|own| {
        let bypasses = move |(_, flow): &(usize, &Flow)| !own.redirects(flow);
        flows.iter().enumerate().filter(bypasses)
    });
    flows.filter_map(|(index, flow)| Some((index, flow.station()?)))
}

#[cfg(test)]
mod tests;
