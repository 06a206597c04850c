//! The network of a scenario with packets that have bytes: the engine's world between hosts, told of packets
//! and of time.
//!
//! Queues, links, media, pings and random streams are the engine's own ([`Live`]). What is here is the
//! bytes: which flow they are of, where they are kept, which node they reach.

use std::collections::BTreeMap;

use lasthop_engine::EngineError;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::live::{Live, Sent};
use lasthop_engine::measure::Measures;
use lasthop_engine::packet::PacketKind;
use lasthop_engine::scenario::Scenario;

use crate::ip::{self, Header};
use crate::places::{Of, Places};

/// A packet that reaches a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// When it is due there.
    pub due: Time,
    /// Number of the node.
    pub node: u32,
    /// The packet.
    pub bytes: Vec<u8>,
}

/// All nodes, queues and links of a scenario.
pub struct Network<'a> {
    live: Live<'a>,
    places: Places,
    /// Packets inside, by number, and the node each is for; numbers that are free.
    inside: Vec<(u32, Vec<u8>)>,
    free: Vec<u32>,
    /// Packets whose arrival is known, by when it is due, in order of events.
    deliveries: BTreeMap<(Time, u64), (u32, Vec<u8>)>,
    arrived: u64,
    /// Packets lost in queues, on links and on the air, since the start.
    lost: u64,
    /// Packets that belong to no flow.
    foreign: u64,
}

impl<'a> Network<'a> {
    /// The network of `scenario`, at rest.
    ///
    /// # Errors
    /// As [`Live::new`].
    pub fn new(scenario: &'a Scenario) -> Result<Network<'a>, EngineError> {
        Ok(Network {
            live: Live::new(scenario)?,
            places: Places::new(scenario),
            inside: Vec::new(),
            free: Vec::new(),
            deliveries: BTreeMap::new(),
            arrived: 0,
            lost: 0,
            foreign: 0,
        })
    }

    /// How many nodes send and receive packets.
    pub fn nodes(&self) -> u32 {
        self.places.count()
    }

    /// When something happens next, or a packet is due at a node.
    pub fn due(&mut self) -> Time {
        let arrives = self.deliveries.first_key_value();
        let arrives = arrives.map_or(Time::NEVER, |(&(at, _), _)| at);
        arrives.min(self.live.due())
    }

    /// Lets happen what is due before `now`, which never goes back.
    ///
    /// # Errors
    /// As [`Live::run_until`].
    pub fn run_until(&mut self, now: Time) -> Result<(), EngineError> {
        self.live.run_until(now)?;
        self.look();
        Ok(())
    }

    /// The next packet that is due at a node by `now`.
    pub fn next_delivery(&mut self, now: Time) -> Option<Delivery> {
        let first = self.deliveries.first_entry()?;
        let due = first.key().0;
        if due > now {
            return None;
        }
        let (node, bytes) = first.remove();
        Some(Delivery { due, node, bytes })
    }

    /// Node `from` sends `bytes`, at the instant up to which it has run.
    pub fn send(&mut self, from: u32, bytes: &[u8]) {
        let Some((sent, to)) = self.read(from, bytes) else {
            self.foreign += 1;
            return;
        };
        let number = self.keep(to, bytes.to_vec());
        self.live.send(&Sent { number, ..sent });
        self.look();
    }

    /// What a packet is to the engine, and the node it is for; `None` for what belongs to no flow.
    fn read(&self, from: u32, bytes: &[u8]) -> Option<(Sent, u32)> {
        let header = Header::of(bytes)?;
        let Of { flow, is_data } = self.places.of(from, &header)?;
        let segment = ip::segment(bytes);
        let sequence = match is_data {
            true => segment.and_then(|one| one.end),
            false => segment.and_then(|one| one.ack),
        };
        let sent = Sent {
            flow,
            number: 0,
            bytes: u16::try_from(bytes.len()).ok()?,
            kind: match (is_data, header.is_tcp) {
                (true, true) => PacketKind::Segment,
                (true, false) => PacketKind::Datagram,
                (false, _) => PacketKind::Ack,
            },
            ecn: header.ecn,
            sequence: sequence.unwrap_or_default(),
        };
        Some((sent, self.places.node_of(header.to)?))
    }

    /// Takes over what the world has handed out.
    fn look(&mut self) {
        for arrival in self.live.arrivals() {
            self.free.push(arrival.number);
            let (node, mut bytes) = std::mem::take(&mut self.inside[arrival.number as usize]);
            if arrival.is_marked {
                ip::mark(&mut bytes);
            }
            self.arrived += 1;
            self.deliveries
                .insert((arrival.due, self.arrived), (node, bytes));
        }
        for number in self.live.losses() {
            self.free.push(number);
            self.inside[number as usize] = Default::default();
            self.lost += 1;
        }
    }

    fn keep(&mut self, to: u32, bytes: Vec<u8>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.inside[place as usize] = (to, bytes);
            return place;
        }
        self.inside.push((to, bytes));
        self.inside.len() as u32 - 1
    }

    /// What is measured is measured from now on.
    pub(crate) fn begin_to_measure(&mut self) {
        self.live.begin_to_measure();
    }

    /// What the world has measured.
    pub(crate) fn measures(&self) -> Result<Measures, EngineError> {
        self.live.measures()
    }

    /// Packets that belonged to no flow.
    pub(crate) fn foreign(&self) -> u64 {
        self.foreign
    }
}

#[cfg(test)]
mod tests;
