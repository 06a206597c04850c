//! What contenders of a cell that aggregates send, and what becomes of it.
//!
//! ```text
//!  queue (lanes) --an exchange begins--> form: retries, then new MPDUs --> PPDU on the air
//!                                                                              |
//!      settled: acknowledged or given up <-- window (mac::block_ack) <--losses-+
//!      received in order: handed up  <---------- reordering <--+
//! ```
//!
//! A contender's exchange goes to the receiver of its oldest packet. It is formed when it begins; packets
//! that come in that instant are too late. A BlockAckReq that is due goes before all else.

mod air;
mod filling;
mod forming;
mod link;
mod settling;
mod sorting;
mod taking;

use std::sync::Arc;

use link::{Link, access_of, receiver};
pub(super) use sorting::Received;

use super::Hotspot;
use crate::channel::Channel;
use crate::kernel::time::{Span, Time};
use crate::mac::block_ack::Window;
use crate::mac::dcf::{AP, AggregateCounters, Dcf, DownCounters, NodeCounters};
use crate::mac::ppdu::Modulation;
use crate::mac::way::Way;
use crate::mac::{self, Station};
use crate::packet::Packet;

/// All contenders of a cell.
#[derive(Clone, Debug)]
pub(super) struct Aggregates {
    cell: mac::Cell,
    stations: Vec<Station>,
    senders: Vec<Sender>,
    /// Ways that hold something back for an MPDU that is missing: contender, lane.
    reordering: Vec<(u32, u32)>,
    /// When the first of them gives up waiting.
    pub(super) deadline: Time,
    /// Packets that receivers have handed up.
    pub(super) received: Received,
    /// Packets given up on the air, and those that came too late.
    pub(super) lost: Vec<Packet>,
    /// MPDUs to each station.
    down: Vec<DownCounters>,
    /// Time in which a PPDU for each station collided with one from it. [ns]
    overlaps_ns: Vec<u64>,
    /// Which MPDUs of the exchange that ended last were received, if there was a single transmitter.
    judged: Vec<bool>,
}

/// One contender.
#[derive(Clone, Debug)]
struct Sender {
    node: u32,
    links: Vec<Link>,
    /// What is on the air, or was last.
    sending: Sending,
    /// The lane whose receiver is to be told of the window's start, and attempts made so far.
    bar: Option<(u32, u32)>,
    /// Air time of the PPDU of the exchange that ended last, none if it had no data; whose lane it was.
    last: (u32, Span),
    /// Packets acknowledged, and given up.
    delivered: u64,
    discarded: u64,
}

/// What a contender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    /// Nothing.
    Nothing,
    /// MPDUs of a lane.
    Data(u32),
    /// A BlockAckReq to the receiver of a lane.
    Bar(u32),
}

impl Aggregates {
    /// Nothing has been sent; `None` if the cell has no aggregates.
    pub(super) fn new(hotspot: Hotspot, medium: &Dcf) -> Option<Box<Aggregates>> {
        hotspot.cell.ppdus?;
        let Hotspot { cell, stations, .. } = hotspot;
        let sender = |contender: u32| {
            let node = medium.node(contender);
            let receivers = match node {
                AP => 1..=stations.len() as u32,
                _ => AP..=AP,
            };
            let link = |to| Link::new(cell, stations, medium, contender, to);
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
        Some(Box::new(Aggregates {
            cell: cell.clone(),
            stations: stations.to_vec(),
            senders: (0..medium.contenders() as u32).map(sender).collect(),
            reordering: Vec::new(),
            deadline: Time::NEVER,
            received: Received::new(),
            lost: Vec::new(),
            down: vec![DownCounters::default(); stations.len()],
            overlaps_ns: vec![0; stations.len()],
            judged: Vec::new(),
        }))
    }

    /// Lanes of a contender's queue, and that of each flow.
    pub(super) fn lanes(hotspot: Hotspot, node: u32, stations: &[u32]) -> (usize, Arc<[u32]>) {
        match node {
            AP => {
                let lanes = stations.iter().map(|&station| station.saturating_sub(1));
                (hotspot.stations.len(), lanes.collect())
            }
            _ => (1, Arc::from([])),
        }
    }

    /// Which MPDUs of the exchange that ended last were received, if there was a single transmitter that
    /// sent some.
    pub(super) fn judged(&self) -> &[bool] {
        &self.judged
    }

    /// Station number `station`, counted from 0, has this `channel` from now on.
    pub(super) fn change_channel(&mut self, station: usize, channel: &Channel, medium: &Dcf) {
        let node = station as u32 + 1;
        for (contender, sender) in (0..).zip(&mut self.senders) {
            let lane = match sender.node {
                AP => station,
                own if own == node => 0,
                _ => continue,
            };
            let ends = (sender.node, receiver(sender.node, lane as u32));
            let link = &mut sender.links[lane];
            let limit = access_of(&self.cell, &self.stations, medium, contender).txop_limit;
            link.way = Way::new(
                &self.cell,
                &self.stations,
                ends,
                &link.terms,
                limit,
                channel,
            );
        }
    }

    /// What `contender` has sent, in packets where they are acknowledged or given up.
    pub(super) fn counters(&self, contender: u32, medium: NodeCounters) -> NodeCounters {
        let sender = &self.senders[contender as usize];
        NodeCounters {
            delivered: sender.delivered,
            discarded: sender.discarded,
            ..medium
        }
    }

    /// MPDUs from the access point to a station.
    pub(super) fn down(&self, station: usize) -> DownCounters {
        self.down[station]
    }

    /// What `contender` has sent.
    pub(super) fn sent(&self, contender: u32) -> AggregateCounters {
        let links = self.senders[contender as usize].links.iter();
        let sum = AggregateCounters::default();
        links.fold(sum, |sum, link| sum.with(link.counters))
    }

    /// What the access point has sent to a station.
    pub(super) fn sent_to(&self, station: usize) -> AggregateCounters {
        let of_ap = self.senders.iter().filter(|sender| sender.node == AP);
        let sum = AggregateCounters::default();
        of_ap.fold(sum, |sum, sender| sum.with(sender.links[station].counters))
    }

    /// What `contender` has on the air.
    pub(super) fn on_air(&self, contender: u32) -> Option<OnAir<'_>> {
        let sender = &self.senders[contender as usize];
        let (lane, is_bar) = match sender.sending {
            Sending::Nothing => return None,
            Sending::Bar(lane) => (lane, true),
            Sending::Data(lane) => (lane, false),
        };
        let Link {
            way, window, terms, ..
        } = &sender.links[lane as usize];
        Some(OnAir {
            to: receiver(sender.node, lane),
            mpdus: (!is_bar).then_some(window),
            window,
            modulation: way.modulation(),
            block_ack_bytes: terms.block_ack_bytes(),
            bar_attempts: sender.bar.map_or(0, |(_, attempts)| attempts),
        })
    }

    /// Packets in service, and those that receivers hold.
    pub(super) fn inside(&self) -> impl Iterator<Item = &Packet> {
        let links = self.senders.iter().flat_map(|sender| &sender.links);
        links.flat_map(|link| link.window.inside())
    }

    /// Whether `contender` has packets of `lane` in service.
    pub(super) fn is_serving(&self, contender: u32, lane: u32) -> bool {
        let sender = &self.senders[contender as usize];
        sender.links[lane as usize].window.waits()
    }

    /// Packets in service of a contender.
    pub(super) fn in_service(&self, contender: u32) -> impl Iterator<Item = &Packet> {
        let links = self.senders[contender as usize].links.iter();
        links.flat_map(|link| link.window.unsettled())
    }
}

/// What a contender has on the air.
#[derive(Clone, Copy, Debug)]
pub struct OnAir<'a> {
    /// Receiving node.
    pub to: u32,
    /// The window with the MPDUs, [`Window::ppdu`]; `None`: a BlockAckReq.
    pub mpdus: Option<&'a Window>,
    /// The window of the way to the receiver.
    pub window: &'a Window,
    /// How data on that way are modulated; `None`: as frames of 802.11a, b or g.
    pub modulation: Option<Modulation>,
    /// Length of a BlockAck in answer. [bytes]
    pub block_ack_bytes: u32,
    /// Attempts made before at the BlockAckReq that is due.
    pub bar_attempts: u32,
}
