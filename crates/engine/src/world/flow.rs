//! A flow at run time: its endpoints, where its packets contend, what it counts.

use crate::app::udp::UdpSource;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::{AP, Dcf};
use crate::packet::{Ecn, Packet, PacketKind};
use crate::record::FlowCounters;
use crate::scenario::{Direction, Flow, Transport};
use crate::tcp::{Receiver, Sender};

/// A source and its sink.
pub(crate) enum Endpoints {
    /// Bulk TCP.
    Tcp(Box<(Sender, Receiver)>),
    /// Datagrams.
    Udp(Box<UdpSource>),
}

/// One flow at run time.
pub(crate) struct FlowState {
    /// The station's contender for the flow's category.
    pub(super) at_station: u32,
    /// The access point's contender for it.
    pub(super) at_ap: u32,
    /// The station's node.
    pub(super) station: u32,
    pub(super) direction: Direction,
    pub(super) data_bytes: u16,
    pub(super) ack_bytes: u16,
    /// Time between a segment and the ACK it calls for.
    pub(super) ack_processing: Span,
    pub(crate) endpoints: Endpoints,
    pub(crate) counters: FlowCounters,
    /// cwnd since `cwnd_since`.
    pub(super) cwnd: f64,
    pub(super) cwnd_since: Time,
    pub(crate) finished_at: Option<Time>,
}

impl FlowState {
    pub(super) fn new(flow: &Flow, cell: &Dcf, streams: &Streams) -> FlowState {
        let node = flow.station as u32 + 1;
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
            at_station: cell.contender(node, flow.category),
            at_ap: cell.contender(AP, flow.category),
            station: node,
            ack_processing,
            direction: flow.direction,
            data_bytes: data_bytes as u16, // at most the 2304 bytes of an MSDU, by the checks
            ack_bytes: ack_bytes as u16,
            endpoints,
            counters: FlowCounters::default(),
            cwnd: 0.0,
            cwnd_since: Time::ZERO,
            finished_at: None,
        }
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
            kind: PacketKind::Datagram,
            retransmission: false,
            ecn: Ecn::NotCapable,
            sack: 0,
        }
    }
}
