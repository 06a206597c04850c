//! Addresses of a scenario's hosts, and the flow of a packet between two hosts.

use lasthop_engine::live::{At, Place, flows};
use lasthop_engine::scenario::{Direction, Ends, Flow, Scenario, Transport};

use crate::ip::Header;

/// Base address 10.0.0.0 of the stations: station k has this address plus k. All places are in
/// 10.0.0.0/8.
pub const STATIONS: u32 = 0x0A00_0000;
/// Base address 10.64.0.0 of the sources between wired nodes: the source of flow k has this address
/// plus k + 1.
pub const SOURCES: u32 = 0x0A40_0000;
/// Base address 10.128.0.0 of the sinks between wired nodes: the sink of flow k has this address
/// plus k + 1.
pub const SINKS: u32 = 0x0A80_0000;
/// Address 10.255.0.1 of the servers.
pub const SERVER: u32 = 0x0AFF_0001;
/// Port of flow 0. Flow k has this port plus k, at its server or sink, or at its source for web
/// traffic.
pub const FIRST_PORT: u16 = 20_000;

/// The nodes that have a descriptor: the servers and the stations. Flows between wired nodes add
/// one node for all sources and one for all sinks. Programs add their hosts, and the outside is the
/// last node, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// Address of the data's source, address of its destination, and whether the flow's port is at
    /// the source, by flow.
    ends: Vec<(u32, u32, bool)>,
    stations: u32,
    has_wired: bool,
    /// Flows between wired nodes whose two hosts are separate nodes, because programs run there.
    apart: Vec<u32>,
    /// Neighbours of the outside, if there is an outside.
    neighbours: Option<Vec<u32>>,
}

/// The flow of a packet, and the packet's direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Of {
    pub(crate) flow: u32,
    /// Whether the packet travels in the direction of the flow's data.
    pub(crate) is_data: bool,
}

impl Places {
    /// Returns the places of a scenario, with programs at `places`.
    pub(crate) fn new(scenario: &Scenario, places: &[Place]) -> Places {
        let ends = |(index, flow): (usize, &Flow)| match flow.ends {
            Ends::Station { station, direction } => {
                let address = STATIONS + station as u32 + 1;
                match direction {
                    Direction::Up => (address, SERVER, false),
                    Direction::Down => (SERVER, address, true),
                }
            }
            Ends::Wired => {
                // web clients are sinks: they connect to the sources
                let is_web = matches!(flow.transport, Transport::Web(_));
                (SOURCES + index as u32 + 1, SINKS + index as u32 + 1, is_web)
            }
        };
        let flows = flows(scenario);
        Places {
            ends: flows.iter().enumerate().map(ends).collect(),
            stations: scenario.stations.len() as u32,
            has_wired: flows.iter().any(|flow| flow.ends == Ends::Wired),
            apart: places.iter().filter_map(apart).collect(),
            neighbours: None,
        }
    }

    /// Adds the outside: a node with every address that belongs to no place. Packets between it and
    /// its `neighbours` bypass the network.
    pub(crate) fn open_outside(&mut self, neighbours: &[u32]) {
        self.neighbours = Some(neighbours.to_vec());
    }

    /// Returns whether two nodes are the outside and one of its neighbours.
    pub(crate) fn are_beside(&self, from: u32, to: u32) -> bool {
        let Some(neighbours) = &self.neighbours else {
            return false;
        };
        let outside = self.outside();
        from == outside && neighbours.contains(&to) || to == outside && neighbours.contains(&from)
    }

    /// Returns whether an address belongs to the outside.
    pub(crate) fn is_outside(&self, address: u32) -> bool {
        self.neighbours.is_some() && self.node_of(address) == Some(self.outside())
    }

    /// Returns the address of a place of programs, and the address of its peer.
    pub(crate) fn of_programs(place: &Place) -> (u32, u32) {
        match place.at {
            At::Station(station) => (STATIONS + station as u32 + 1, SERVER),
            At::Source(flow) => (SOURCES + flow as u32 + 1, SINKS + flow as u32 + 1),
        }
    }

    /// Returns the number of nodes.
    pub(crate) fn count(&self) -> u32 {
        self.outside() + u32::from(self.neighbours.is_some())
    }

    /// Returns the number that the outside has, or would have.
    fn outside(&self) -> u32 {
        self.first_apart() + 2 * self.apart.len() as u32
    }

    fn first_apart(&self) -> u32 {
        1 + self.stations + if self.has_wired { 2 } else { 0 }
    }

    /// Returns the node with an address.
    pub(crate) fn node_of(&self, address: u32) -> Option<u32> {
        let leads_out = || self.neighbours.is_some() && is_of_a_host(address);
        let place = self.place_of(address);
        place.or_else(|| leads_out().then(|| self.outside()))
    }

    /// Returns the node of the place with this address.
    fn place_of(&self, address: u32) -> Option<u32> {
        let (sources, sinks) = (self.stations + 1, self.stations + 2);
        let flows = 1..=self.ends.len() as u32;
        let is_apart = |base: u32| {
            let flow = address.checked_sub(base + 1)?;
            let place = self.apart.iter().position(|&other| other == flow)?;
            Some(self.first_apart() + 2 * place as u32)
        };
        if let Some(source) = is_apart(SOURCES) {
            return Some(source);
        }
        if let Some(source) = is_apart(SINKS) {
            return Some(source + 1);
        }
        match address {
            SERVER => Some(0),
            _ if self.has_wired && flows.contains(&address.wrapping_sub(SINKS)) => Some(sinks),
            _ if self.has_wired && flows.contains(&address.wrapping_sub(SOURCES)) => Some(sources),
            _ => {
                let station = address.checked_sub(STATIONS)?;
                (1..=self.stations).contains(&station).then_some(station)
            }
        }
    }

    /// Returns the flow of a packet, if it has one.
    pub(crate) fn of(&self, packet: &Header) -> Option<Of> {
        let (from_port, to_port) = packet.ports?;
        let flow = |port: u16| port.checked_sub(FIRST_PORT).map(u32::from);
        let fits = |flow: u32, is_data: bool| {
            let &(source, destination, at_source) = self.ends.get(flow as usize)?;
            let ends = match is_data {
                true => (source, destination),
                false => (destination, source),
            };
            let port = if at_source == is_data {
                from_port
            } else {
                to_port
            };
            let is_its = ends == (packet.from, packet.to) && port == FIRST_PORT + flow as u16;
            is_its.then_some(Of { flow, is_data })
        };
        [from_port, to_port]
            .into_iter()
            .filter_map(flow)
            .flat_map(|flow| [(flow, true), (flow, false)])
            .find_map(|(flow, is_data)| fits(flow, is_data))
    }
}

/// Returns whether an address may belong to a single host on the Internet. It is not in 0.0.0.0/8,
/// and neither loopback, multicast nor reserved (RFC 6890).
fn is_of_a_host(address: u32) -> bool {
    !matches!(address >> 24, 0 | 127 | 224..)
}

/// Returns the flow whose hosts must be separate nodes for the programs of a place.
fn apart(place: &Place) -> Option<u32> {
    match place.at {
        At::Station(_) => None,
        At::Source(flow) => Some(flow as u32),
    }
}
