//! Contenders of a cell that aggregates, with their block acknowledgements.
//!
//! ```text
//!  queue (txqs) --an exchange begins--> form: retries, then new MPDUs --> PPDU on the air
//!                                                                              |
//!      sender:  acknowledged or given up <-- window (mac::block_ack) <--losses-+
//!      receiver: handed up in order  <---------- reordering <--+
//! ```
//!
//! A contender sends to the receiver of its oldest packet. The contents of an exchange are chosen
//! when the exchange begins. Packets that arrive at this instant are not included. A BlockAckReq
//! that is due is sent before data.

mod air;
mod filling;
mod forming;
mod link;
mod settling;
mod sorting;
mod taking;

use std::sync::Arc;

pub(super) use link::Link;

use super::{Hotspot, ReceivedPackets};
use crate::channel::Channel;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::mac;
use crate::mac::block_ack::BlockAckWindow;
use crate::mac::bss::{NodeId, Roles};
use crate::mac::dcf::{AggregateCounters, Dcf, DownCounters, NodeCounters};
use crate::mac::ppdu::Modulation;
use crate::packet::Packet;

/// State of all contenders of a cell.
#[derive(Clone, Debug)]
pub(super) struct Senders {
    cell: mac::Cell,
    /// Node number of the access point.
    ap: NodeId,
    roles: Roles,
    senders: Vec<Sender>,
    /// Whether the rate control may change the rates.
    pub(super) adapts: bool,
    /// Random numbers of the rate control.
    stream: Stream,
    /// Links whose receiver stores packets until a missing MPDU arrives. Each link is identified by
    /// its contender and its transmit queue.
    reordering: Vec<(u32, u32)>,
    /// Earliest time at which a receiver of a link in `reordering` stops waiting.
    pub(super) deadline: Time,
    /// Packets that receivers have handed up.
    pub(super) received: ReceivedPackets,
    /// Packets that were given up on the air, and packets that arrived after the receiver had
    /// stopped waiting for them.
    pub(super) lost: Vec<Packet>,
    /// Counters of MPDUs to each station.
    pub(super) down: Vec<DownCounters>,
    /// For each station: time for which PPDUs to the station collided with PPDUs from the station.
    /// [ns]
    overlaps_ns: Vec<u64>,
    /// For each MPDU of the exchange that ended last, whether it was received. The list is empty if
    /// there were several transmitters.
    pub(super) judged: Vec<bool>,
}

/// State of one contender, as a sender of aggregates.
#[derive(Clone, Debug)]
struct Sender {
    node: NodeId,
    /// Link of each transmit queue to its receiver.
    links: Vec<Link>,
    /// Contents of the exchange that the contender has on the air.
    sending: Sending,
    /// Transmit queue for which a BlockAckReq is due, and the number of attempts at the BlockAckReq
    /// so far.
    bar: Option<(u32, u32)>,
    /// Transmit queue of the exchange that began last, and air time of the PPDU with data in this
    /// exchange.
    last: (u32, Span),
    /// Number of packets that were acknowledged. `discarded` is the number of packets that were
    /// given up.
    delivered: u64,
    discarded: u64,
}

/// Contents of the exchange of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    /// No exchange is on the air.
    Nothing,
    /// MPDUs of a transmit queue, given by its number.
    Data(u32),
    /// A BlockAckReq to the receiver of a transmit queue, given by its number.
    Bar(u32),
}

impl Senders {
    /// Returns the state of the contenders of a cell at the start of a run.
    pub(super) fn new(hotspot: Hotspot, medium: &Dcf, streams: &Streams) -> Senders {
        let Hotspot { bss, stations, .. } = hotspot;
        let cell = &bss.cell;
        let mut stream = streams.stream("cell/rate-control");
        let sender = |contender: u32| {
            let node = medium.node(contender);
            let receivers = match node == bss.ap {
                true => &bss.stations[..],
                false => std::slice::from_ref(&bss.ap),
            };
            let receivers = receivers.iter().copied();
            let link = |to| Link::new(hotspot, medium, contender, to, &mut stream);
            Sender {
                node,
                links: receivers.map(link).collect(),
                sending: Sending::Nothing,
                bar: None,
                last: (0, Span::ZERO),
                delivered: 0,
                discarded: 0,
            }
        };
        Senders {
            cell: cell.clone(),
            ap: bss.ap,
            roles: bss.roles,
            senders: (0..medium.contenders() as u32).map(sender).collect(),
            adapts: cell.rate_control.adapts(),
            stream,
            reordering: Vec::new(),
            deadline: Time::NEVER,
            received: ReceivedPackets::default(),
            lost: Vec::new(),
            down: vec![DownCounters::default(); stations.len()],
            overlaps_ns: vec![0; stations.len()],
            judged: Vec::new(),
        }
    }

    /// Returns how many transmit queues a contender of `node` has, and, for each flow, the index of
    /// its transmit queue.
    pub(super) fn txqs(hotspot: Hotspot, node: NodeId, stations: &[NodeId]) -> (usize, Arc<[u32]>) {
        let bss = hotspot.bss;
        if node != bss.ap {
            return (1, Arc::from([]));
        }
        let txq = |&node: &NodeId| bss.roles.station_of(node).unwrap_or(0) as u32;
        (bss.stations.len(), stations.iter().map(txq).collect())
    }

    /// Sets the channel of the station with index `station`, counted from 0.
    pub(super) fn set_channel(&mut self, station: usize, channel: &Channel) {
        let node = self.roles.node_of(station);
        for sender in &mut self.senders {
            let (txq, down) = match sender.node {
                own if own == self.ap => (station, true),
                own if own == node => (0, false),
                _ => continue,
            };
            let rates = &mut sender.links[txq].rates;
            rates.set_channel(channel, down, &mut self.stream);
        }
    }

    /// Returns the counters of `contender`. Acknowledgements and discards are counted in packets,
    /// not in MPDUs.
    pub(super) fn counters(&self, contender: u32, medium: NodeCounters) -> NodeCounters {
        let sender = &self.senders[contender as usize];
        NodeCounters {
            delivered: sender.delivered,
            discarded: sender.discarded,
            ..medium
        }
    }

    /// Returns the counters of the aggregates of `contender`.
    pub(super) fn sent(&self, contender: u32) -> AggregateCounters {
        let links = self.senders[contender as usize].links.iter();
        let sum = AggregateCounters::default();
        links.fold(sum, |sum, link| sum.with(link.counters))
    }

    /// Returns the counters of the aggregates from the access point to a station.
    pub(super) fn sent_to(&self, station: usize) -> AggregateCounters {
        let of_ap = self.senders.iter().filter(|sender| sender.node == self.ap);
        let sum = AggregateCounters::default();
        of_ap.fold(sum, |sum, sender| sum.with(sender.links[station].counters))
    }

    /// Returns the exchange of `contender` on the air.
    pub(super) fn on_air(&self, contender: u32) -> Option<OnAir<'_>> {
        let sender = &self.senders[contender as usize];
        let (txq, is_bar) = match sender.sending {
            Sending::Nothing => return None,
            Sending::Bar(txq) => (txq, true),
            Sending::Data(txq) => (txq, false),
        };
        let Link {
            to,
            rates,
            window,
            aggregation,
            ..
        } = &sender.links[txq as usize];
        Some(OnAir {
            to: *to,
            mpdus: (!is_bar).then_some(window),
            window,
            modulation: rates.timing().modulation(),
            block_ack_bytes: aggregation.block_ack_bytes(),
            bar_attempts: sender.bar.map_or(0, |(_, attempts)| attempts),
        })
    }

    /// Returns the packets in service, and the packets that receivers store until earlier packets
    /// arrive.
    pub(super) fn inside(&self) -> impl Iterator<Item = &Packet> {
        let links = self.senders.iter().flat_map(|sender| &sender.links);
        links.flat_map(|link| link.window.inside())
    }

    /// Returns whether packets of the transmit queue `txq` of `contender` are in service.
    pub(super) fn is_serving(&self, contender: u32, txq: u32) -> bool {
        let sender = &self.senders[contender as usize];
        sender.links[txq as usize].window.waits()
    }

    /// Returns the packets in service of `contender`.
    pub(super) fn in_service(&self, contender: u32) -> impl Iterator<Item = &Packet> {
        let links = self.senders[contender as usize].links.iter();
        links.flat_map(|link| link.window.unsettled())
    }
}

/// Exchange of a contender that is on the air.
#[derive(Clone, Copy, Debug)]
pub struct OnAir<'a> {
    /// Node to which the exchange is sent.
    pub to: NodeId,
    /// Window with the MPDUs that are on the air ([`BlockAckWindow::ppdu`]); `None`: a BlockAckReq
    /// is on the air.
    pub mpdus: Option<&'a BlockAckWindow>,
    /// Block acknowledgement window of the link to the receiver.
    pub window: &'a BlockAckWindow,
    /// Modulation of data on the link; `None`: data are sent in frames of 802.11a, b or g.
    pub modulation: Option<Modulation>,
    /// Length of the BlockAck in response. [bytes]
    pub block_ack_bytes: u32,
    /// Number of earlier attempts at the BlockAckReq that is due; 0 if no BlockAckReq is due.
    pub bar_attempts: u32,
}
