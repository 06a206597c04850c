//! The network of a scenario between real hosts. This network is the simulated network of the engine, with the bytes of
//! each packet.
//!
//! Queues, links, media, pings and random streams are those of the engine ([`Live`]). This module adds the bytes: the
//! flow of a packet, its storage, and its destination node.

use std::collections::{BTreeMap, HashMap};

use lasthop_engine::EngineError;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::live::{CONNECTIONS, Carrier, Live, Place, Sent, flow_of, flows, web_sources};
use lasthop_engine::measure::Measures;
use lasthop_engine::packet::{Ecn, Packet, PacketKind};
use lasthop_engine::pcapng::Capture;
use lasthop_engine::scenario::Scenario;
use serde_json::Value;

use crate::ip::{self, Header};
use crate::places::{Of, Places};
use crate::programs::{Programs, Tag};
use crate::tcp_header::tcp_header;

/// A packet to deliver to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Time at which the packet is due at the node.
    pub due: Time,
    /// Number of the destination node.
    pub node: u32,
    /// The packet.
    pub bytes: Vec<u8>,
}

/// The network: all nodes, queues and links of a scenario.
pub struct Network<'a> {
    /// The scenario without the flows of programs.
    scenario: &'a Scenario,
    live: Live<'a>,
    /// Time up to which the network has run.
    now: Time,
    places: Places,
    programs: Programs,
    /// Index of each web source, keyed by the index of its flow. The index is that in the list of all hosts with
    /// additional flows: first the hosts where programs run, then the web sources.
    webs: HashMap<u32, usize>,
    /// Packets in the network; the index is the number of the packet.
    inside: Vec<Inside>,
    free: Vec<u32>,
    /// Packets whose arrival time is known, sorted by due time and then by the order of events.
    deliveries: BTreeMap<(Time, u64), (u32, Vec<u8>)>,
    arrived: u64,
    /// Number of packets lost in queues, on links and on the air, since the start.
    lost: u64,
    /// Number of packets that belong to no flow.
    foreign: u64,
    air: Option<Air>,
}

/// A running capture of the frames on the air.
struct Air {
    capture: Capture,
    /// Bytes that are not written yet.
    pending: Vec<u8>,
    frames: u64,
}

/// A packet in the network.
#[derive(Clone, Debug, Default)]
struct Inside {
    /// Number of the destination node.
    to: u32,
    bytes: Vec<u8>,
    /// Connection and direction of the packet, if a program sent it.
    tag: Option<Tag>,
}

impl<'a> Network<'a> {
    /// Returns the network of `scenario` without packets. Programs run at the hosts `places`, and `opened` is the
    /// scenario with the flows of these programs ([`open`]).
    ///
    /// [`open`]: lasthop_engine::live::open
    ///
    /// # Errors
    /// Returns the errors of [`Live::new`].
    pub fn new(
        scenario: &'a Scenario,
        opened: &'a Scenario,
        places: &[Place],
    ) -> Result<Network<'a>, EngineError> {
        let of_programs = places.iter().map(|place| {
            let (own, other) = Places::of_programs(place);
            (place.clone(), own, other)
        });
        let webs: HashMap<u32, usize> = web_sources(scenario)
            .map(|index| index as u32)
            .zip(places.len()..)
            .collect();
        let mut live = Live::new(opened)?;
        for (&flow, &web) in &webs {
            let responses = 0..CONNECTIONS;
            let responses =
                responses.map(|number| flow_of(scenario, web, Carrier::Tcp, number, true));
            live.answer_by(flow as usize, responses);
        }
        Ok(Network {
            scenario,
            live,
            now: Time::ZERO,
            webs,
            places: Places::new(scenario, places),
            programs: Programs::new(of_programs.collect()),
            inside: Vec::new(),
            free: Vec::new(),
            deliveries: BTreeMap::new(),
            arrived: 0,
            lost: 0,
            foreign: 0,
            air: None,
        })
    }

    /// Starts a capture of at most `limit` frames on the air.
    pub fn record(&mut self, limit: u64) {
        self.live.record(limit);
        let mut pending = Vec::new();
        let capture = Capture::begin(self.live.scenario(), &mut pending);
        self.air = Some(Air {
            capture,
            pending,
            frames: 0,
        });
    }

    /// Returns the captured bytes (pcapng) that are not written to the file yet.
    pub fn captured(&mut self) -> Option<&mut Vec<u8>> {
        self.air.as_mut().map(|air| &mut air.pending)
    }

    /// Returns the number of captured frames. Each MPDU of an A-MPDU counts as one frame.
    pub(crate) fn frames(&self) -> u64 {
        self.air.as_ref().map_or(0, |air| air.frames)
    }

    /// Returns whether the capture has reached its limit of frames.
    pub(crate) fn frames_full(&self) -> bool {
        self.live.frames_full()
    }

    /// Adds one more node, called the outside, which stands for the Internet.
    ///
    /// The outside has every address that no other node has. Packets between the outside and a host
    /// where programs run cross the simulated network, in both directions. Packets between the
    /// outside and the nodes `neighbours` are delivered immediately, without the network.
    pub fn open_outside(&mut self, neighbours: &[u32]) {
        self.places.open_outside(neighbours);
    }

    /// Returns the number of nodes, including the outside.
    pub fn nodes(&self) -> u32 {
        self.places.count()
    }

    /// Returns the time of the next event or delivery, whichever is first.
    pub fn due(&mut self) -> Time {
        let arrives = self.deliveries.first_key_value();
        let arrives = arrives.map_or(Time::NEVER, |(&(at, _), _)| at);
        arrives.min(self.live.due())
    }

    /// Processes the events before `now`. `now` must not decrease between calls.
    pub fn run_until(&mut self, now: Time) -> Result<(), EngineError> {
        self.live.run_until(now)?;
        self.now = now;
        self.look();
        Ok(())
    }

    /// Returns the next packet to deliver to a node, if its due time is at most `now`.
    pub fn next_delivery(&mut self, now: Time) -> Option<Delivery> {
        let first = self.deliveries.first_entry()?;
        let due = first.key().0;
        if due > now {
            return None;
        }
        let (node, bytes) = first.remove();
        Some(Delivery { due, node, bytes })
    }

    /// Sends the packet `bytes` from node `from` at the present time of the network.
    pub fn send(&mut self, from: u32, bytes: &[u8]) {
        if let Some(to) = self.neighbour(from, bytes) {
            self.arrived += 1;
            self.deliveries
                .insert((self.now, self.arrived), (to, bytes.to_vec()));
            return;
        }
        let Some((sent, to, tag)) = self.read(from, bytes) else {
            self.foreign += 1;
            return;
        };
        if let Some(tag) = tag {
            self.programs.sent(tag);
        }
        let header = match self.live.filters_acks() {
            true => tcp_header(bytes),
            false => None,
        };
        let bytes = bytes.to_vec();
        let number = self.keep(Inside { to, bytes, tag });
        if self.live.filters_acks() {
            self.live.set_header(number, header);
        }
        self.live.send(&Sent { number, ..sent });
        self.look();
    }

    /// Returns the destination node of a packet if the packet bypasses the network.
    fn neighbour(&self, from: u32, bytes: &[u8]) -> Option<u32> {
        let header = Header::of(bytes)?;
        let to = self.places.node_of(header.to)?;
        let is_there = self.places.node_of(header.from) == Some(from);
        (is_there && self.places.are_beside(from, to)).then_some(to)
    }

    /// Returns the packet in the engine's representation, its destination node, and its connection if a program sent
    /// it. Returns `None` for a packet that belongs to no flow.
    fn read(&mut self, from: u32, bytes: &[u8]) -> Option<(Sent, u32, Option<Tag>)> {
        let header = Header::of(bytes)?;
        if self.places.node_of(header.from)? != from {
            return None;
        }
        let to = self.places.node_of(header.to)?;
        let (flow, kind, tag) = match self.places.of(&header) {
            Some(Of { flow, is_data }) if self.webs.contains_key(&flow) => {
                let web = self.webs[&flow];
                // the client's port identifies the web connection, since a client uses another port for each connection
                let (from_port, to_port) = header.ports?;
                let client = if is_data { to_port } else { from_port };
                let is_ack = ip::is_pure_ack(bytes);
                let kind = if is_ack {
                    PacketKind::Ack
                } else {
                    PacketKind::Segment
                };
                let leaves = is_data != is_ack;
                let number = usize::from(client);
                let flow = flow_of(self.scenario, web, Carrier::Tcp, number, leaves);
                (flow, kind, None)
            }
            Some(Of { flow, is_data }) => {
                let kind = match (is_data, header.protocol) {
                    (true, ip::TCP) => PacketKind::Segment,
                    (true, _) => PacketKind::Datagram,
                    (false, ip::ICMP) => PacketKind::EchoReply,
                    (false, _) => PacketKind::Ack,
                };
                (flow, kind, None)
            }
            None => {
                let is_outside = |address| self.places.is_outside(address);
                let of = self
                    .programs
                    .of(self.scenario, is_outside, &header, bytes)?;
                (of.flow, of.kind, Some(of.tag))
            }
        };
        let segment = ip::segment(bytes);
        let sequence = segment.and_then(|segment| {
            if kind.is_data() {
                segment.end
            } else {
                segment.ack
            }
        });
        let sent = Sent {
            flow,
            number: 0,
            bytes: u16::try_from(bytes.len()).ok()?,
            kind,
            ecn: header.ecn,
            sequence: sequence.unwrap_or_default(),
        };
        Some((sent, to, tag))
    }

    /// Processes the packets that have arrived or were lost in the simulated network of the engine.
    fn look(&mut self) {
        self.capture();
        for arrival in self.live.arrivals() {
            self.free.push(arrival.number);
            let place = &mut self.inside[arrival.number as usize];
            let Inside { to, mut bytes, tag } = std::mem::take(place);
            if let Some(tag) = tag {
                self.programs.arrived(tag);
            }
            if arrival.is_marked {
                ip::mark(&mut bytes);
            }
            self.arrived += 1;
            self.deliveries
                .insert((arrival.due, self.arrived), (to, bytes));
        }
        for number in self.live.losses() {
            self.free.push(number);
            let lost = std::mem::take(&mut self.inside[number as usize]);
            if let Some(tag) = lost.tag {
                self.programs.lost(tag);
            }
            self.lost += 1;
        }
    }

    /// Captures the new frames. Must be called before their packets are removed from `inside`.
    fn capture(&mut self) {
        let Some(air) = &mut self.air else {
            return;
        };
        for frame in self.live.frames() {
            let sent = |packet: &Packet| {
                if self.live.is_of_world(packet) {
                    return None;
                }
                let mut bytes = self.inside[packet.number as usize].bytes.clone();
                if packet.ecn == Ecn::Experienced {
                    ip::mark(&mut bytes);
                }
                Some(bytes)
            };
            air.capture.frame(&mut air.pending, &frame, sent);
            air.frames += frame.count() as u64;
        }
    }

    fn keep(&mut self, packet: Inside) -> u32 {
        if let Some(place) = self.free.pop() {
            self.inside[place as usize] = packet;
            return place;
        }
        self.inside.push(packet);
        self.inside.len() as u32 - 1
    }

    /// Begins the measurements at the end of the warm-up.
    pub(crate) fn begin_to_measure(&mut self) {
        self.live.begin_to_measure();
        self.programs.begin_to_measure();
    }

    /// Returns the number of flows that are items of the result. Web sources are not flows of the result; each class of
    /// web traffic is one item.
    pub(crate) fn flows_told(&self) -> usize {
        flows(self.scenario).len() - self.webs.len()
    }

    /// Returns one row of counters per connection of programs.
    pub(crate) fn of_programs(&self) -> Vec<Value> {
        self.programs.rows()
    }

    /// Returns the measurements of the engine's simulated network.
    pub(crate) fn measures(&self) -> Result<Measures, EngineError> {
        self.live.measures()
    }

    /// Returns the number of packets delivered or lost since the start. Packets that are due but not yet delivered are
    /// included.
    pub(crate) fn carried(&self) -> u64 {
        self.arrived + self.lost
    }

    /// Returns the number of packets that belong to no flow.
    pub(crate) fn foreign(&self) -> u64 {
        self.foreign
    }
}

#[cfg(test)]
mod tests;
