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
//! Packets of stations pass it up and down. In the paper uplink UDP does not: to delay it would not keep it
//! off the air (appendix IV), and the answers of who sends it wait behind it. Today much of it slows down when
//! it is delayed, QUIC above all, so that passing beside is an advantage; `udp = "down"` is the paper's way. A
//! ping is an echo request in the access point's queue, and its answer in the station's; neither passes the
//! bottleneck. Who carries packets, the simulator's world or the emulator, probes here what the rate is, whom to
//! ping and when.
//!
//! | question | place |
//! |---|---|
//! | which flow passes it, through which leaf | `bottleneck/leaves.rs` |
//! | which stations have one share | `bottleneck/groups.rs` |
//! | whom to ping, what an answer says, what was measured | here |
//! | round-trip times of flows, for stations that do not answer pings | `bottleneck/timing.rs` |
//! | round-trip times to a rate | [`crate::control::wce`] |

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

/// For how long after its last uplink datagram a station is not pinged. [ns]
const UDP_MEMORY: Span = Span(5_000_000_000);

/// The bottleneck's rate and its pings.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    settings: BottleneckSettings,
    /// The estimator, unless the rate is given.
    estimator: Option<Capacity>,
    /// Segments of stations that do not answer pings, and whether there are any or are to be.
    timing: Timing,
    listens: bool,
    /// When the bottleneck begins, then when the next ping is due.
    next: Time,
    /// What was known of each station at the last ping.
    stations: Vec<Known>,
    /// Leaves by which a station's traffic is seen.
    leaves_of: Vec<Vec<u32>>,
    rate_bps: u64,
    rate_since: Time,
    /// Time integral of the rate. [bit/s ns]
    rate_sum: f64,
    rtts: Histogram,
    last_rtt: Option<Span>,
    measured_since: Time,
    /// Sum of the rate up to `measured_since`.
    warm_sum: f64,
}

/// What a station had sent at the last ping, and the last ping before which it had sent uplink datagrams.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Uplink datagrams, which pass beside the bottleneck.
    datagrams: u64,
    /// Packets that have left the leaves by which its traffic is seen.
    packets: u64,
    sent_datagrams: Option<Time>,
}

/// What has passed a bottleneck so far.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Through each leaf.
    pub leaves: Vec<QueueCounters>,
    /// Through all of them. [bytes]
    pub bytes: u64,
}

impl Bottleneck {
    /// The bottleneck in front of a cell, at rest.
    pub fn new(settings: &BottleneckSettings, hotspot: Hotspot, streams: &Streams) -> Bottleneck {
        let leaves = Leaves::new(settings, hotspot);
        let stations = 0..hotspot.stations.len();
        Bottleneck {
            settings: settings.clone(),
            // the checks have seen to it that the settings make one
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

    /// When [`Bottleneck::advance`] is due.
    pub fn deadline(&self) -> Time {
        self.next
    }

    /// The bottleneck begins, or the next ping is due at `now`; returns whom to ping. `datagrams` says how many
    /// datagrams a station has sent past it so far. The rate may have changed.
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

    /// The rate is the estimator's from now on.
    fn follow(&mut self, now: Time, estimator: Capacity) {
        self.integrate(now);
        self.rate_bps = estimator.bps();
        self.listens = !estimator.listening().is_empty() || !self.timing.is_empty();
        self.estimator = Some(estimator);
    }

    /// Whether [`Bottleneck::leaves`] and [`Bottleneck::acknowledged`] want to know of what passes.
    #[inline]
    pub fn listens(&self) -> bool {
        self.listens
    }

    /// A segment of a flow leaves for a station, after so many bytes; an ACK that covers it says `end` or more.
    #[cold]
    pub fn leaves(&mut self, now: Time, (station, flow, end): (u32, u32, u32), passed_bytes: u64) {
        let listening = self.estimator.as_ref().map_or(&[][..], Capacity::listening);
        self.timing
            .leaves(now, (station, flow, end), passed_bytes, listening);
    }

    /// An ACK of a flow has come back from a station. Returns whom to ping. The rate may have changed.
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

    /// Stations that may be pinged: in paper 002 any, else those with traffic; not those that have sent UDP past
    /// the bottleneck lately if they are spared.
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

    /// The answer to a ping has come back, of whose number the lowest 16 bits are known; `None` if there is
    /// no such ping, or it has been answered before. Returns whom else to ping. The rate may have changed.
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

    /// The present rate, once it has begun. [bit/s]
    pub fn rate_bps(&self) -> Option<u64> {
        (self.rate_bps > 0).then_some(self.rate_bps)
    }

    /// The rate that the settings give is this from `now` on; where it is estimated nothing changes. [bit/s]
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

    /// Measuring begins at `now`.
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

    /// Mean rate up to `now`, since measuring began or, if that was later, the bottleneck. [bit/s]
    pub fn mean_rate_bps(&self, now: Time) -> Option<f64> {
        let rest = self.rate_bps as f64 * now.since(self.rate_since).0 as f64;
        let begun = self.measured_since.max(Time::ZERO + self.settings.start);
        let length = now.since(begun);
        let sum = self.rate_sum + rest - self.warm_sum;
        (length > Span::ZERO).then(|| sum / length.0 as f64)
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
    let leaves = settings.map(|own| Leaves::new(own, hotspot).shown(hotspot.flows));
    leaves.into_iter().flatten()
}

/// Returns the flows of stations that bypass a bottleneck (uplink UDP): index and station. There are none
/// without a bottleneck.
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
