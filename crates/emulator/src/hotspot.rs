//! The hot-spot of a scenario with packets that have bytes: queues, cell, wire and bottleneck as in
//! the engine, told of packets and of time.

use lasthop_engine::kernel::calendar::Calendar;
use lasthop_engine::kernel::streams::Streams;
use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::link::shared::{self, Leaves, is_redirected};
use lasthop_engine::link::{Fate, Link};
use lasthop_engine::mac::dcf::{AP, Content, Dcf, Frame, Outcome};
use lasthop_engine::packet::{Ecn, Packet, PacketKind};
use lasthop_engine::queue::{HeadQueue, Outlet};
use lasthop_engine::scenario::{Category, Direction, Ends, LinkSettings, Scenario, Wire};

use crate::ip::{self, Kind, STATIONS};
use crate::pings::Pings;

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

/// Where packets wait for a contender of the cell.
pub(crate) struct Port {
    pub(crate) node: u32,
    pub(crate) queue: HeadQueue,
}

/// What happens next.
enum Next {
    Medium,
    Arrival,
    Departure(usize),
    Ping,
}

/// All nodes and queues of a scenario.
pub struct Hotspot<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) cell: Dcf,
    pub(crate) ports: Vec<Port>,
    /// The wire down, the wire up and the bottleneck, as far as there are any.
    pub(crate) links: Vec<Link>,
    /// Packets on links, by their arrival at the far ends.
    carried: Calendar<Packet>,
    down: Vec<usize>,
    up: Vec<usize>,
    pub(crate) shared: Option<usize>,
    pub(crate) pings: Option<Pings>,
    /// Bytes of the packets inside, by number; places that are free.
    bytes: Vec<Vec<u8>>,
    free: Vec<u32>,
    deliveries: Vec<Delivery>,
    /// Packets lost in queues and on the air, since the start.
    pub(crate) lost: u64,
    /// Packets that belong to no flow.
    pub(crate) foreign: u64,
}

impl<'a> Hotspot<'a> {
    /// The nodes of `scenario`, at rest.
    pub fn new(scenario: &'a Scenario) -> Hotspot<'a> {
        let streams = Streams::new(scenario.seed, 0);
        let cell = Dcf::new(scenario, &streams);
        let port = |contender| {
            let node = cell.node(contender);
            let (settings, rate_bps) = match node {
                AP => {
                    let rates = scenario.stations.iter().map(|s| s.downlink_rate_bps);
                    (&scenario.cell.ap, rates.max().unwrap_or(0))
                }
                station => {
                    let station = &scenario.stations[station as usize - 1];
                    (&station.node, station.rate_bps)
                }
            };
            let outlet = Outlet {
                rate_bps,
                is_fixed: false,
                delay: Span::ZERO,
            };
            let draws = streams.stream(&format!("{contender}/queue"));
            Port {
                node,
                queue: HeadQueue::new(&settings.queue, outlet, draws),
            }
        };
        let ports = (0..cell.contenders() as u32).map(port).collect();
        let mut links = Vec::new();
        let (mut down, mut up) = (Vec::new(), Vec::new());
        if scenario.wire.rate_bps.is_some() || scenario.wire.delay > Span::ZERO {
            for (name, way) in [("wire/down", &mut down), ("wire/up", &mut up)] {
                way.push(links.len());
                let measured = Time::ZERO..Time::ZERO;
                let settings = wire(&scenario.wire, name);
                links.push(Link::new(&settings, &streams, measured, None));
            }
        }
        let mut shared = None;
        if let Some(vsb) = &scenario.vsb {
            shared = Some(links.len());
            down.push(links.len());
            up.insert(0, links.len());
            links.push(shared::link_of(vsb, scenario, &streams, BIN));
        }
        let pings = scenario.vsb.as_ref();
        let pings = pings.map(|vsb| Pings::new(vsb, scenario, &streams));
        Hotspot {
            scenario,
            cell,
            ports,
            carried: Calendar::new(scenario.wire.delay),
            links,
            down,
            up,
            shared,
            pings,
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
        match &self.pings {
            Some(pings) if pings.next < first.0 => (pings.next, Next::Ping),
            _ => first,
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
        packet.number = self.keep(bytes.to_vec());
        if from == AP {
            self.forward(now, packet);
        } else {
            self.offer(now, self.contender(from, &packet), packet);
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
            number: 0,
            stamp: now,
            queued: now,
            bytes: u16::try_from(bytes.len()).ok()?,
            hop: 0,
            kind: match is_data {
                true => PacketKind::Segment,
                false => PacketKind::Ack,
            },
            ecn: Ecn::NotCapable,
            echo: false,
            sack: 0,
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

    /// Number of the station of a packet's flow.
    fn station(&self, packet: &Packet) -> u32 {
        let index = packet.flow as usize;
        match self.scenario.flows.get(index) {
            Some(flow) => flow.station().map_or(0, |station| station as u32 + 1),
            None => (index - self.scenario.flows.len()) as u32 + 1,
        }
    }

    /// Whether a packet goes from its station to the servers.
    fn is_up(&self, packet: &Packet) -> bool {
        let flow = self.scenario.flows.get(packet.flow as usize);
        let data_goes_up = flow.is_some_and(|flow| flow.direction() == Some(Direction::Up));
        data_goes_up == packet.is_data()
    }

    fn contender(&self, node: u32, packet: &Packet) -> u32 {
        let flow = self.scenario.flows.get(packet.flow as usize);
        let category = flow.map_or(Category::BestEffort, |flow| flow.category);
        self.cell.contender(node, category)
    }

    /// A packet takes the next link of its way, or has taken all of them.
    fn forward(&mut self, now: Time, mut packet: Packet) {
        let up = self.is_up(&packet);
        let flow = self.scenario.flows.get(packet.flow as usize);
        let shared = self.shared.filter(|_| !flow.is_some_and(is_redirected));
        if shared.is_some() && up && packet.hop == 0 {
            let node = self.station(&packet);
            if let Some(pings) = &mut self.pings {
                pings.note_udp(now, node);
            }
        }
        loop {
            let way = if up { &self.up } else { &self.down };
            let Some(&index) = way.get(usize::from(packet.hop)) else {
                return self.reach(now, up, packet);
            };
            packet.hop += 1;
            if shared == Some(index) {
                continue; // it passes beside the bottleneck
            }
            match self.links[index].enter(now, now, &mut packet) {
                Fate::Arrives(at) if at == now => {}
                Fate::Arrives(at) => return self.carried.push(at, index, packet),
                Fate::Kept => return self.settle(index, now),
                Fate::Refused | Fate::Lost => return self.lose(&packet),
            }
        }
    }

    fn settle(&mut self, index: usize, now: Time) {
        while let Some(packet) = self.links[index].settle(now) {
            self.lose(&packet);
        }
    }

    fn reach(&mut self, now: Time, up: bool, packet: Packet) {
        if up {
            self.deliver(now, AP, &packet);
        } else {
            self.offer(now, self.contender(AP, &packet), packet);
        }
    }

    fn deliver(&mut self, due: Time, node: u32, packet: &Packet) {
        let bytes = self.take(packet);
        self.deliveries.push(Delivery { due, node, bytes });
    }

    fn frame(&self, node: u32, packet: &Packet) -> Frame {
        let to = match node {
            AP => self.station(packet),
            _ => AP,
        };
        Frame {
            to,
            ip_bytes: u32::from(packet.bytes),
            content: match packet.is_data() {
                true => Content::Data,
                false => Content::Ack,
            },
        }
    }

    /// A packet enters the queue of `contender`, or is lost there.
    fn offer(&mut self, now: Time, contender: u32, packet: Packet) {
        let port = &mut self.ports[contender as usize];
        let was_empty = port.queue.head().is_none();
        if !port.queue.offer(now, packet) {
            self.lose(&packet);
        } else if was_empty && let Some(head) = port.queue.head().copied() {
            let node = port.node;
            let frame = self.frame(node, &head);
            self.cell.backlog(now, contender, frame);
        }
        self.lose_dropped(contender);
    }

    fn lose_dropped(&mut self, contender: u32) {
        while let Some(packet) = self.ports[contender as usize].queue.take_dropped() {
            self.lose(&packet);
        }
    }

    /// The exchange under way ends.
    fn medium(&mut self, now: Time) {
        let outcome = self.cell.advance();
        for index in 0..self.cell.discarded().len() {
            let contender = self.cell.discarded()[index];
            if let Some(packet) = self.take_head(contender, now) {
                self.lose(&packet);
            }
        }
        if let Outcome::Delivered { from, done } = outcome
            && let Some(packet) = self.take_head(from, done)
        {
            if self.ports[from as usize].node == AP {
                let station = self.station(&packet);
                self.deliver(now, station, &packet);
            } else if packet.flow as usize >= self.scenario.flows.len() {
                self.answered(now, &packet);
            } else {
                self.forward(now, packet);
            }
        }
    }

    fn take_head(&mut self, contender: u32, done: Time) -> Option<Packet> {
        let port = &mut self.ports[contender as usize];
        let node = port.node;
        let packet = port.queue.pop(done);
        let next = port.queue.head().copied();
        let next = next.map(|next| self.frame(node, &next));
        self.cell.proceed(contender, next);
        self.lose_dropped(contender);
        packet
    }

    /// The bottleneck begins, or the next ping is due.
    fn ping(&mut self, now: Time) {
        let (Some(vsb), Some(pings)) = (&self.scenario.vsb, &mut self.pings) else {
            return;
        };
        let first_bps = vsb.rate_bps.unwrap_or(vsb.wce.max_bps);
        let (rate_bps, asked) = pings.due(now, first_bps);
        if let Some(shared) = self.shared {
            self.links[shared].set_rate(rate_bps);
        }
        let Some((node, number)) = asked else {
            return;
        };
        let bytes = ip::ping(node, number, vsb.ping_bytes as usize);
        let packet = Packet {
            flow: self.scenario.flows.len() as u32 + node - 1,
            number: self.keep(bytes),
            stamp: now,
            queued: now,
            bytes: vsb.ping_bytes as u16,
            hop: 0,
            kind: PacketKind::Segment,
            ecn: Ecn::NotCapable,
            echo: false,
            sack: 0,
        };
        self.offer(now, self.contender(AP, &packet), packet);
    }

    /// The answer to a ping has come back to the bottleneck.
    fn answered(&mut self, now: Time, packet: &Packet) {
        let bytes = self.take(packet);
        let Some(Kind::Answer(number)) = ip::parse(&bytes, false).map(|parsed| parsed.kind) else {
            return;
        };
        let rate_bps = self
            .pings
            .as_mut()
            .and_then(|pings| pings.answered(now, number));
        if let (Some(shared), Some(bps)) = (self.shared, rate_bps) {
            self.links[shared].set_rate(bps);
        }
    }

    /// Leaves of the bottleneck that results show.
    pub(crate) fn leaves(&self) -> Vec<(u32, String)> {
        let vsb = self.scenario.vsb.as_ref();
        vsb.map_or_else(Vec::new, |vsb| {
            Leaves::new(vsb.fairness, self.scenario).shown(self.scenario)
        })
    }
}

fn wire(wire: &Wire, name: &str) -> LinkSettings {
    LinkSettings {
        name: name.to_owned(),
        from: String::new(),
        to: String::new(),
        rate_bps: wire.rate_bps,
        delay: wire.delay,
        jitter: Span::ZERO,
        queue: wire.queue,
        loss: wire.loss,
        of_host: false,
    }
}

#[cfg(test)]
mod tests;
