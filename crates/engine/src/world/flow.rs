//! A flow at run time: its endpoints, where its packets contend, what it counts.

use super::network::{NETWORK, WIRE_DOWN, WIRE_UP};
use crate::app::udp::UdpSource;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::{AP, Dcf};
use crate::packet::{Ecn, Packet, PacketKind};
use crate::record::FlowCounters;
use crate::scenario::{Direction, Ends, Flow, Scenario, Transport};
use crate::tcp::{Receiver, Sender};

/// A source and its sink.
pub(crate) enum Endpoints {
    /// Bulk TCP.
    Tcp(Box<(Sender, Receiver)>),
    /// Datagrams.
    Udp(Box<UdpSource>),
}

/// No contender: a packet does not come off the air, or does not go on air.
pub(super) const WIRED: u32 = u32::MAX;

/// The way of a packet from end to end.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// The contender that sends it on air first, or [`WIRED`].
    pub(super) first: u32,
    /// Then the links, by number.
    pub(super) links: Box<[u32]>,
    /// Then the contender that sends it on air, or [`WIRED`].
    pub(super) last: u32,
}

/// One flow at run time.
pub(crate) struct FlowState {
    /// The station's node, if it has one.
    pub(super) station: u32,
    /// Ways of its ACKs and of its data.
    pub(super) routes: [Route; 2],
    pub(super) data_bytes: u16,
    pub(super) ack_bytes: u16,
    /// Time between a segment and the ACK it calls for.
    pub(super) ack_processing: Span,
    pub(crate) endpoints: Endpoints,
    pub(crate) counters: FlowCounters,
    /// cwnd since `cwnd_since`.
    pub(super) cwnd: f64,
    pub(super) cwnd_since: Time,
    pub(super) started_at: Time,
    pub(super) finished_at: Option<Time>,
}

impl FlowState {
    pub(super) fn new(
        flow: &Flow,
        scenario: &Scenario,
        cell: &Dcf,
        streams: &Streams,
    ) -> FlowState {
        let mut ack_processing = Span::ZERO;
        let (data_bytes, ack_bytes, endpoints) = match &flow.transport {
            Transport::Tcp(tcp) => {
                ack_processing = tcp.ack_processing;
                let endpoints = Endpoints::Tcp(Box::new((Sender::new(tcp), Receiver::new(tcp))));
                (
                    tcp.mss_bytes + tcp.header_bytes,
                    tcp.header_bytes,
                    endpoints,
                )
            }
            Transport::Udp(udp) => {
                let source = UdpSource::new(udp, streams.stream(&format!("{}/gaps", flow.name)));
                (
                    udp.payload_bytes + udp.header_bytes,
                    0,
                    Endpoints::Udp(Box::new(source)),
                )
            }
        };
        FlowState {
            station: flow.station().map_or(AP, |station| station as u32 + 1),
            routes: routes(flow, scenario, cell),
            ack_processing,
            data_bytes: data_bytes as u16, // at most 65535, by the checks
            ack_bytes: ack_bytes as u16,
            endpoints,
            counters: FlowCounters::default(),
            cwnd: 0.0,
            cwnd_since: Time::ZERO,
            started_at: Time::ZERO,
            finished_at: None,
        }
    }

    /// Time from the start of a finite flow to its last ACK, if it has come. [s]
    pub(crate) fn completion_s(&self) -> Option<f64> {
        let finished_at = self.finished_at?;
        Some(finished_at.seconds() - self.started_at.seconds())
    }

    #[inline]
    pub(super) fn route(&self, packet: &Packet) -> &Route {
        &self.routes[usize::from(packet.is_data())]
    }

    pub(super) fn integrate_cwnd(&mut self, now: Time) {
        self.counters.cwnd_ns += self.cwnd * now.since(self.cwnd_since).0 as f64;
        self.cwnd_since = now;
    }

    pub(super) fn datagram(&mut self, now: Time, index: u32, number: u32) -> Packet {
        self.counters.sent += 1;
        Packet {
            flow: index,
            number,
            stamp: now,
            queued: now,
            bytes: self.data_bytes,
            hop: 0,
            kind: PacketKind::Datagram,
            retransmission: false,
            ecn: Ecn::NotCapable,
            sack: 0,
        }
    }
}

/// Ways of the ACKs and of the data of `flow`. Links that take no time and lose nothing are left out.
fn routes(flow: &Flow, scenario: &Scenario, cell: &Dcf) -> [Route; 2] {
    let through = |wire: Option<u32>, links: &[u32]| {
        let matters = |link: &u32| {
            let (rate_bps, delay, loss) = match *link {
                WIRE_DOWN | WIRE_UP => {
                    let wire = &scenario.wire;
                    (wire.rate_bps, wire.delay, wire.loss)
                }
                other => {
                    let link = &scenario.links[(other - NETWORK) as usize];
                    (link.rate_bps, link.delay, link.loss)
                }
            };
            rate_bps.is_some() || delay > Span::ZERO || loss > 0.0
        };
        let network = links.iter().map(|link| link + NETWORK);
        let links = match wire {
            Some(WIRE_DOWN) => network.chain(wire).collect::<Vec<u32>>(),
            _ => wire.into_iter().chain(network).collect(),
        };
        links.into_iter().filter(matters).collect()
    };
    let Ends::Station { station, direction } = flow.ends else {
        let route = |links| Route {
            first: WIRED,
            links: through(None, links),
            last: WIRED,
        };
        return [route(&flow.back), route(&flow.forward)];
    };
    let up = |links| Route {
        first: cell.contender(station as u32 + 1, flow.category),
        links: through(Some(WIRE_UP), links),
        last: WIRED,
    };
    let down = |links| Route {
        first: WIRED,
        links: through(Some(WIRE_DOWN), links),
        last: cell.contender(AP, flow.category),
    };
    match direction {
        Direction::Up => [down(&flow.back), up(&flow.forward)],
        Direction::Down => [up(&flow.back), down(&flow.forward)],
    }
}
