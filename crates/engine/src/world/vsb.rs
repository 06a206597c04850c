//! The virtual shared bottleneck at work: a served link that both directions of a station's flows
//! pass, and the pings beside it from which its rate is estimated (paper 002, section 4.2).
//!
//! It stands next to the access point. Packets of stations pass it up and down, except uplink UDP: to
//! delay that would not keep it off the air (appendix IV). A ping is an echo request in the access
//! point's queue, and its answer in the station's; neither passes the bottleneck.

use super::World;
use super::flow::{Endpoints, FlowState};
use super::network::NETWORK;
use crate::control::{Observation, Wce};
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::link::shared::{Leaves, UDP_MEMORY, is_redirected};
use crate::packet::{Ecn, Packet, PacketKind};
use crate::record::Histogram;
use crate::scenario::{Ends, Flow, Scenario, VsbSettings};

/// Number of the bottleneck among the links, behind those of the scenario.
pub(super) fn number(scenario: &Scenario) -> u32 {
    NETWORK + scenario.links.len() as u32
}

/// The bottleneck's rate and its pings.
pub(crate) struct Vsb {
    settings: VsbSettings,
    /// Its number among the links.
    pub(crate) link: usize,
    /// Leaves that results show: number and name.
    pub(crate) leaves: Vec<(u32, String)>,
    /// The estimator, unless the rate is given.
    wce: Option<Wce>,
    /// Draws the station to ping.
    stream: Stream,
    /// Index of the flow that stands for the pings of the first station.
    pings: usize,
    sent: u32,
    /// A ping has been answered since the last one was sent.
    heard: bool,
    /// Of each uplink UDP flow: its index, its station, its datagrams when last looked at, and when
    /// they last grew.
    udp: Vec<(usize, usize, u64, Option<Time>)>,
    rate_bps: u64,
    rate_since: Time,
    /// Time integral of the rate. [bit/s ns]
    rate_sum: f64,
    /// Since the end of the warm-up.
    pub(crate) rtts: Histogram,
    pub(crate) last_rtt: Option<Span>,
    /// Sum of the rate up to the end of the warm-up.
    warm_sum: f64,
    warm_sent: u32,
}

impl Vsb {
    pub(super) fn new(settings: &VsbSettings, scenario: &Scenario, streams: &Streams) -> Vsb {
        let leaves = Leaves::new(settings.fairness, scenario);
        let uplink_udp = |(index, flow): (usize, &Flow)| match flow.ends {
            Ends::Station { station, .. } if !is_redirected(flow) => {
                Some((index, station, 0, None))
            }
            _ => None,
        };
        Vsb {
            settings: *settings,
            link: number(scenario) as usize,
            leaves: leaves.shown(scenario),
            // the checks have seen to it that the settings make one
            wce: match settings.rate_bps {
                None => Wce::new(settings.wce).ok(),
                Some(_) => None,
            },
            stream: streams.stream("vsb/pings"),
            pings: scenario.flows.len(),
            sent: 0,
            heard: true,
            udp: scenario
                .flows
                .iter()
                .enumerate()
                .filter_map(uplink_udp)
                .collect(),
            rate_bps: 0,
            rate_since: Time::ZERO + settings.start,
            rate_sum: 0.0,
            rtts: Histogram::EMPTY,
            last_rtt: None,
            warm_sum: 0.0,
            warm_sent: 0,
        }
    }

    /// The present rate, once it has begun. [bit/s]
    pub(crate) fn rate_bps(&self) -> Option<u64> {
        (self.rate_bps > 0).then_some(self.rate_bps)
    }

    /// What is measured is measured from now on.
    pub(super) fn begin_to_measure(&mut self, now: Time) {
        self.integrate(now);
        self.warm_sum = self.rate_sum;
        self.warm_sent = self.sent;
        self.rtts = Histogram::EMPTY;
    }

    fn integrate(&mut self, now: Time) {
        self.rate_sum += self.rate_bps as f64 * now.since(self.rate_since).0 as f64;
        self.rate_since = self.rate_since.max(now);
    }

    /// Mean rate from the end of the warm-up, or from its start, to `now`. [bit/s]
    pub(crate) fn mean_rate_bps(&self, now: Time, warmup: Span) -> Option<f64> {
        let rest = self.rate_bps as f64 * now.since(self.rate_since).0 as f64;
        let begun = Time::ZERO + warmup.max(self.settings.start);
        let length = now.since(begun);
        let sum = self.rate_sum + rest - self.warm_sum;
        (length > Span::ZERO).then(|| sum / length.0 as f64)
    }

    /// Pings that were not answered over those sent, since the end of the warm-up.
    pub(crate) fn ping_loss(&self) -> Option<f64> {
        let sent = u64::from(self.sent - self.warm_sent);
        // an answer to a ping of the warm-up may make up for a loss
        let lost = sent.saturating_sub(self.rtts.count());
        (sent > 0).then(|| lost as f64 / sent as f64)
    }

    /// Uplink UDP flows, which pass beside it: index and station.
    pub(crate) fn beside(&self) -> impl Iterator<Item = (usize, usize)> {
        self.udp.iter().map(|&(flow, station, ..)| (flow, station))
    }
}

impl FlowState {
    /// The pings of the station with number `node`.
    pub(super) fn pings(node: u32, bytes: u32) -> FlowState {
        FlowState {
            station: node,
            data_bytes: bytes as u16, // at most 1500, by the grammar
            ack_bytes: bytes as u16,
            endpoints: Endpoints::Ping,
            ..FlowState::bare()
        }
    }
}

impl World<'_> {
    /// The bottleneck begins, or the next ping is due; returns when that is.
    pub(super) fn vsb_event(&mut self, now: Time) -> Time {
        let Some(vsb) = &mut self.vsb else {
            return Time::NEVER;
        };
        if vsb.rate_bps == 0 {
            vsb.rate_since = now;
            vsb.rate_bps = vsb.settings.rate_bps.unwrap_or(vsb.settings.wce.max_bps);
        } else if !vsb.heard
            && let Some(wce) = &mut vsb.wce
        {
            let (at, rtt) = (now, None);
            wce.step(Observation { at, rtt });
        }
        self.links[vsb.link].link.set_rate(vsb.rate_bps);
        if vsb.wce.is_none() {
            return Time::NEVER;
        }
        vsb.heard = false;
        let next = now + vsb.settings.wce.interval;
        if let Some(index) = self.station_to_ping(now) {
            self.ping(now, index);
        }
        next
    }

    /// Draws a station among those that do not send UDP.
    fn station_to_ping(&mut self, now: Time) -> Option<usize> {
        let vsb = self.vsb.as_mut()?;
        let count = self.scenario.stations.len();
        for (flow, _, seen, grew) in &mut vsb.udp {
            let sent = self.flows[*flow].counters.arrived;
            if sent != *seen {
                (*seen, *grew) = (sent, Some(now));
            }
        }
        let spares = vsb.settings.spares_udp;
        let sends = |station: usize| {
            let recent = |grew: &Option<Time>| grew.is_some_and(|at| now.since(at) < UDP_MEMORY);
            let mut own = vsb.udp.iter().filter(|(_, of, ..)| *of == station);
            spares && own.any(|(.., grew)| recent(grew))
        };
        let others: usize = (0..count).filter(|&station| !sends(station)).count();
        let last = others.checked_sub(1)?;
        let drawn = vsb.stream.up_to(last as u32) as usize;
        (0..count).filter(|&station| !sends(station)).nth(drawn)
    }

    fn ping(&mut self, now: Time, station: usize) {
        let Some(vsb) = &mut self.vsb else {
            return;
        };
        let index = vsb.pings + station;
        vsb.sent += 1;
        let flow = &mut self.flows[index];
        let packet = flow.datagram(now, index as u32, vsb.sent);
        self.emit(now, packet);
    }

    /// A ping has reached its station, which answers, or its answer has come back.
    pub(super) fn pinged(&mut self, now: Time, packet: &Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        if packet.is_data() {
            flow.counters.arrived += 1;
            flow.counters.acks_sent += 1;
            let answer = Packet {
                queued: now,
                bytes: flow.ack_bytes,
                hop: 0,
                kind: PacketKind::Ack,
                ecn: Ecn::NotCapable,
                ..*packet
            };
            return self.emit(now, answer);
        }
        flow.counters.acks_arrived += 1;
        let Some(vsb) = &mut self.vsb else {
            return;
        };
        let rtt = now.since(packet.stamp);
        vsb.heard = true;
        vsb.rtts.add(rtt);
        vsb.last_rtt = Some(rtt);
        if let Some(wce) = &mut vsb.wce {
            wce.step(Observation {
                at: now,
                rtt: Some(rtt),
            });
            let rate_bps = wce.capacity_bps();
            vsb.integrate(now);
            vsb.rate_bps = rate_bps;
            self.links[vsb.link].link.set_rate(rate_bps);
        }
    }
}
