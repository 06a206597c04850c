//! The hot-spot of a scenario with packets that have bytes: the engine's cell, wire and bottleneck, told
//! of packets and of time.
//!
//! Queues, medium, pings and random streams are the engine's own ([`Cell`], [`Bottleneck`]). What is here
//! is the bytes: which flow they are of, where they are kept, which node they reach.

use std::collections::BTreeMap;

use lasthop_engine::bottleneck::{self, Bottleneck, BottleneckSettings, Passed};
use lasthop_engine::cell::{Cell, OffAir};
use lasthop_engine::control::Ask;
use lasthop_engine::echo::Responder;
use lasthop_engine::kernel::calendar::Calendar;
use lasthop_engine::kernel::streams::Streams;
use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::link::{self, Link, Transit};
use lasthop_engine::mac::dcf::AP;
use lasthop_engine::packet::{Packet, PacketKind};
use lasthop_engine::queue::QueueCounters;
use lasthop_engine::scenario::{Category, Direction, Ends, Scenario};

use crate::ip::{self, Kind, STATIONS};

/// Width of the bins of the bottleneck's least utilisation, which nobody reads here.
const BIN: Span = Span(100_000_000);

/// A packet that has reached a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it is due there.
    pub due: Time,
    /// 0: the servers; i + 1: station i.
    pub node: u32,
    /// The packet.
    pub bytes: Vec<u8>,
}

/// What happens next.
enum Next {
    Medium,
    Arrival,
    Departure(usize),
    Ping,
    Answer,
}

/// All nodes and queues of a scenario.
pub struct Hotspot<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) cell: Cell,
    /// The wire down, the wire up and the bottleneck, as far as there are any.
    links: Vec<Link>,
    /// Packets on links, by their arrival at the far ends.
    carried: Calendar<Packet>,
    down: Vec<usize>,
    up: Vec<usize>,
    shared: Option<usize>,
    pub(crate) bottleneck: Option<Bottleneck>,
    /// How each station answers pings, if there is a bottleneck.
    responders: Vec<Responder>,
    /// Answers that stations are late with, by the instant they are sent and their number.
    late: BTreeMap<(Time, u32), Packet>,
    /// Datagrams that each station has sent past the bottleneck.
    datagrams: Vec<u64>,
    /// Bytes of the packets inside, by number; places that are free.
    bytes: Vec<Vec<u8>>,
    free: Vec<u32>,
    deliveries: Vec<Delivery>,
    /// Packets lost in queues, on wires and on the air, since the start.
    pub(crate) lost: u64,
    /// Packets that belong to no flow.
    pub(crate) foreign: u64,
}

impl<'a> Hotspot<'a> {
    /// The nodes of `scenario`, at rest.
    pub fn new(scenario: &'a Scenario) -> Hotspot<'a> {
        let streams = Streams::new(scenario.seed, 0);
        let mut links = Vec::new();
        let (mut down, mut up) = (Vec::new(), Vec::new());
        let wire = &scenario.wire;
        if wire.rate_bps.is_some() || wire.delay > Span::ZERO || wire.loss.share() > 0.0 {
            let (there, back) = (["servers", "ap"], ["ap", "servers"]);
            for (name, ends, way) in [("wire/down", there, &mut down), ("wire/up", back, &mut up)] {
                way.push(links.len());
                let measured = Time::ZERO..Time::ZERO;
                let settings = link::of_wire(wire, name, ends);
                links.push(Link::new(&settings, &streams, measured, None));
            }
        }
        let mut shared = None;
        if let Some(bottleneck) = &scenario.bottleneck {
            shared = Some(links.len());
            down.push(links.len());
            up.insert(0, links.len());
            let (cell, measured) = (scenario.hotspot(), scenario.measured());
            links.push(bottleneck::link_of(
                bottleneck, cell, &streams, measured, BIN,
            ));
        }
        let settings = scenario.bottleneck.as_ref();
        Hotspot {
            scenario,
            cell: Cell::new(scenario.hotspot(), scenario.bottleneck.is_some(), &streams),
            bottleneck: settings.map(|own| Bottleneck::new(own, scenario.hotspot(), &streams)),
            responders: match settings {
                Some(_) => scenario.responders(&streams).collect(),
                None => Vec::new(),
            },
            late: BTreeMap::new(),
            datagrams: vec![0; scenario.stations.len()],
            carried: Calendar::new(scenario.wire.delay),
            links,
            down,
            up,
            shared,
            bytes: Vec::new(),
            free: Vec::new(),
            deliveries: Vec::new(),
            lost: 0,
            foreign: 0,
        }
    }

    /// When [`Hotspot::advance`] is due.
    pub fn deadline(&mut self) -> Time {
        self.next().0
    }

    fn next(&mut self) -> (Time, Next) {
        let mut first = (self.cell.deadline(), Next::Medium);
        for (index, link) in self.links.iter().enumerate() {
            if link.deadline() < first.0 {
                first = (link.deadline(), Next::Departure(index));
            }
        }
        let (arrives, _) = self.carried.first();
        if arrives < first.0 {
            first = (arrives, Next::Arrival);
        }
        if let Some((&(at, _), _)) = self.late.first_key_value()
            && at < first.0
        {
            first = (at, Next::Answer);
        }
        match &self.bottleneck {
            Some(one) if one.deadline() < first.0 => (one.deadline(), Next::Ping),
            Some(_) | None => first,
        }
    }

    /// Lets the next thing happen, at its deadline.
    pub fn advance(&mut self) {
        let (now, next) = self.next();
        match next {
            Next::Medium => self.medium(now),
            Next::Departure(index) => {
                if let Some((at, packet)) = self.links[index].depart(now) {
                    self.carried.push(at, index, packet);
                }
                self.settle(index, now);
            }
            Next::Arrival => {
                if let Some(packet) = self.carried.pop() {
                    self.forward(now, packet);
                }
            }
            Next::Ping => self.ping(now),
            Next::Answer => {
                if let Some((_, answer)) = self.late.pop_first() {
                    self.offer(now, self.cell.station_of(&answer), answer);
                }
            }
        }
    }

    /// What has reached a node since this was asked last.
    pub fn deliveries(&mut self) -> std::vec::Drain<'_, Delivery> {
        self.deliveries.drain(..)
    }

    /// Node `from` sends `bytes` at `now`, which is not before what has happened.
    pub fn send(&mut self, now: Time, from: u32, bytes: &[u8]) {
        let Some(mut packet) = self.packet(now, from, bytes) else {
            self.foreign += 1;
            return;
        };
        let is_answer = packet.flow as usize >= self.scenario.flows.len();
        let delay = match self.responders.get_mut(from.wrapping_sub(1) as usize) {
            Some(station) if is_answer => station.answers_after(now),
            Some(_) | None => Some(Span::ZERO),
        };
        let Some(delay) = delay else {
            return; // as if the station had not answered
        };
        packet.number = self.keep(bytes.to_vec());
        if from == AP {
            self.forward(now, packet);
        } else if delay > Span::ZERO {
            self.late.insert((now + delay, packet.number), packet);
        } else {
            self.offer(now, from, packet);
        }
    }

    /// Measuring begins at `now`.
    pub(crate) fn begin_to_measure(&mut self, now: Time) {
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.begin_to_measure(now);
        }
    }

    /// The packet that stands for `bytes`, not yet numbered; `None` for what belongs to no flow.
    fn packet(&self, now: Time, from: u32, bytes: &[u8]) -> Option<Packet> {
        let parsed = ip::parse(bytes, from == AP)?;
        let (flow, is_data) = match parsed.kind {
            Kind::Flow(index) => {
                let Ends::Station { station, direction } = self.scenario.flows.get(index)?.ends
                else {
                    return None;
                };
                let node = station as u32 + 1;
                let right = match from {
                    AP => parsed.to == STATIONS + node,
                    sender => sender == node,
                };
                right.then_some((index, (direction == Direction::Up) == (from != AP)))?
            }
            Kind::Answer(_) => (
                self.scenario.flows.len() + from.checked_sub(1)? as usize,
                false,
            ),
        };
        Some(Packet {
            flow: flow as u32,
            stamp: now,
            queued: now,
            bytes: u16::try_from(bytes.len()).ok()?,
            kind: match is_data {
                true => PacketKind::Segment,
                false => PacketKind::Ack,
            },
            ..Packet::BLANK
        })
    }

    fn keep(&mut self, bytes: Vec<u8>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.bytes[place as usize] = bytes;
            return place;
        }
        self.bytes.push(bytes);
        self.bytes.len() as u32 - 1
    }

    fn take(&mut self, packet: &Packet) -> Vec<u8> {
        self.free.push(packet.number);
        std::mem::take(&mut self.bytes[packet.number as usize])
    }

    fn lose(&mut self, packet: &Packet) {
        self.lost += 1;
        self.take(packet);
    }

    /// Whether a packet goes from its station to the servers.
    fn is_up(&self, packet: &Packet) -> bool {
        let flow = self.scenario.flows.get(packet.flow as usize);
        let data_goes_up = flow.is_some_and(|flow| flow.direction() == Some(Direction::Up));
        data_goes_up == packet.is_data()
    }

    /// A packet takes the next link of its way, or has taken all of them.
    fn forward(&mut self, now: Time, mut packet: Packet) {
        let up = self.is_up(&packet);
        let flow = self.scenario.flows.get(packet.flow as usize);
        let passes = |own: &BottleneckSettings| flow.is_some_and(|flow| own.redirects(flow));
        let passes = self.scenario.bottleneck.as_ref().is_some_and(passes);
        let shared = self.shared.filter(|_| !passes);
        if shared.is_some() && up && packet.hop == 0 {
            let station = self.cell.station_of(&packet) as usize - 1;
            self.datagrams[station] += 1;
        }
        loop {
            let way = if up { &self.up } else { &self.down };
            let Some(&index) = way.get(usize::from(packet.hop)) else {
                return match up {
                    true => self.deliver(now, AP, &packet),
                    false => self.offer(now, AP, packet),
                };
            };
            packet.hop += 1;
            if shared == Some(index) {
                continue; // it passes beside the bottleneck
            }
            match self.links[index].enter(now, now, &mut packet) {
                Transit::Arrives(at) if at == now => {}
                Transit::Arrives(at) => return self.carried.push(at, index, packet),
                Transit::Kept => return self.settle(index, now),
                Transit::Refused | Transit::Lost => return self.lose(&packet),
            }
        }
    }

    fn settle(&mut self, index: usize, now: Time) {
        while let Some(packet) = self.links[index].settle(now) {
            self.lose(&packet);
        }
    }

    fn deliver(&mut self, due: Time, node: u32, packet: &Packet) {
        let bytes = self.take(packet);
        self.deliveries.push(Delivery { due, node, bytes });
    }

    /// A packet enters the queue of `node`, or is lost there.
    fn offer(&mut self, now: Time, node: u32, packet: Packet) {
        let flow = self.scenario.flows.get(packet.flow as usize);
        let category = flow.map_or(Category::BestEffort, |flow| flow.category);
        let queue = self.cell.medium().contender(node, category);
        if node == AP && self.listens() {
            self.time(now, &packet);
        }
        if !self.cell.offer(now, queue, &packet) {
            self.lose(&packet);
        }
        self.lose_dropped();
    }

    /// Accounts for what the cell has lost.
    fn lose_dropped(&mut self) {
        while let Some(packet) = self.cell.take_lost() {
            self.lose(&packet);
        }
    }

    /// The exchange under way ends, or it is time for a beacon.
    fn medium(&mut self, now: Time) {
        if self.cell.beacon(now) {
            return self.lose_dropped();
        }
        let outcome = self.cell.end_exchange();
        let mut packet = Packet::BLANK;
        let off = self.cell.clear(now, outcome, &mut (), &mut packet);
        self.lose_dropped();
        let is_ping = packet.flow as usize >= self.scenario.flows.len();
        match off {
            OffAir::Nothing => {}
            OffAir::AtStation => self.deliver(now, self.cell.station_of(&packet), &packet),
            OffAir::AtAccessPoint if is_ping => self.answered(now, &packet),
            OffAir::AtAccessPoint => {
                if self.listens() {
                    self.overhear(now, &packet);
                }
                self.forward(now, packet);
            }
        }
    }

    /// The bottleneck begins, or the next ping is due.
    fn ping(&mut self, now: Time) {
        let passed = self.passed();
        let Some(bottleneck) = &mut self.bottleneck else {
            return;
        };
        let datagrams = &self.datagrams;
        let asks = bottleneck.advance(now, |station| datagrams[station], &passed);
        self.set_rate();
        self.send_pings(now, &asks);
    }

    /// Sends pings from the access point.
    fn send_pings(&mut self, now: Time, asks: &[Ask]) {
        let Some(settings) = &self.scenario.bottleneck else {
            return;
        };
        for &Ask { station, number } in asks {
            let bytes = ip::ping(station + 1, number as u16, settings.ping_bytes as u16);
            let packet = Packet {
                flow: self.scenario.flows.len() as u32 + station,
                number: self.keep(bytes),
                stamp: now,
                queued: now,
                bytes: settings.ping_bytes as u16,
                kind: PacketKind::Segment,
                ..Packet::BLANK
            };
            self.offer(now, AP, packet);
        }
    }

    /// What has passed the bottleneck.
    fn passed(&self) -> Passed {
        Passed {
            leaves: self.leaves(),
            bytes: self.passed_bytes(),
        }
    }

    fn passed_bytes(&self) -> u64 {
        let shared = self.shared.map(|index| &self.links[index]);
        shared.map_or(0, Link::sent_bytes)
    }

    /// The answer to a ping has come back to the bottleneck.
    fn answered(&mut self, now: Time, packet: &Packet) {
        let bytes = self.take(packet);
        let passed_bytes = self.passed().bytes;
        if let Some(Kind::Answer(number)) = ip::parse(&bytes, false).map(|parsed| parsed.kind)
            && let Some(bottleneck) = &mut self.bottleneck
        {
            let asks = bottleneck.answered(now, number, passed_bytes);
            self.set_rate();
            self.send_pings(now, &asks.unwrap_or_default());
        }
    }

    /// Whether the bottleneck wants to know of segments and ACKs that pass.
    fn listens(&self) -> bool {
        self.bottleneck.as_ref().is_some_and(Bottleneck::listens)
    }

    /// A packet leaves for the air.
    fn time(&mut self, now: Time, packet: &Packet) {
        let passed_bytes = self.passed_bytes();
        if let Some(segment) = ip::segment(&self.bytes[packet.number as usize])
            && let Some(end) = segment.end
            && let Some(station) = self.cell.station_of(packet).checked_sub(1)
            && let Some(bottleneck) = &mut self.bottleneck
        {
            bottleneck.leaves(now, (station, packet.flow, end), passed_bytes);
        }
    }

    /// A packet has come off the air.
    fn overhear(&mut self, now: Time, packet: &Packet) {
        let passed_bytes = self.passed_bytes();
        if let Some(segment) = ip::segment(&self.bytes[packet.number as usize])
            && let Some(ack) = segment.ack
            && let Some(station) = self.cell.station_of(packet).checked_sub(1)
            && let Some(bottleneck) = &mut self.bottleneck
        {
            let asks = bottleneck.acknowledged(now, (station, packet.flow, ack), passed_bytes);
            self.set_rate();
            self.send_pings(now, &asks);
        }
    }

    /// Gives the bottleneck's link the rate that is known now.
    fn set_rate(&mut self) {
        let rate_bps = self.bottleneck.as_ref().and_then(Bottleneck::rate_bps);
        if let (Some(shared), Some(rate_bps)) = (self.shared, rate_bps) {
            self.links[shared].set_rate(rate_bps);
        }
    }

    /// Totals of each leaf of the bottleneck.
    pub(crate) fn leaves(&self) -> Vec<QueueCounters> {
        let shared = self.shared.map(|index| self.links[index].leaves());
        shared.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
