//! IP addresses of a scenario's hosts, and the flow of a packet between two hosts.

use lasthop_engine::live::{At, Place, flows};
use lasthop_engine::scenario::{Direction, Ends, Flow, Scenario, Transport};

use crate::ip::Header;

/// Base address 10.0.0.0 of the stations: station k has this address plus k. All hosts of the
/// scenario are in 10.0.0.0/8.
pub const STATIONS: u32 = 0x0A00_0000;
/// Base address 10.64.0.0 of the sources between wired nodes. The source of flow k has this address
/// plus k + 1.
pub const SOURCES: u32 = 0x0A40_0000;
/// Base address 10.128.0.0 of the sinks between wired nodes. The sink of flow k has this address
/// plus k + 1.
pub const SINKS: u32 = 0x0A80_0000;
/// Address 10.255.0.1, which all servers of the cell share.
pub const SERVER: u32 = 0x0AFF_0001;
/// Port number of flow 0. Flow k uses this number plus k, pings as the identifier of their packets. The flow's server or sink uses the port;
/// for web traffic, the flow's source uses it.
pub const FIRST_PORT: u16 = 20_000;

/// Nodes with a file descriptor, and their addresses. The first node represents all servers, and
/// each station is a node. Flows between wired nodes add one node for all sources and one for all
/// sinks. Hosts of programs are further nodes. The outside is the last node, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// For each flow: address of the source, address of the destination, and whether the flow's
    /// port is at the source.
    ends: Vec<(u32, u32, bool)>,
    /// For each flow, whether it consists of pings.
    pings: Vec<bool>,
    stations: u32,
    has_wired: bool,
    /// Indices of the flows between wired nodes whose hosts run programs. The source and the sink of
    /// such a flow are two nodes of their own, instead of the nodes for all sources and all sinks.
    apart: Vec<u32>,
    /// Nodes that exchange packets with the outside directly, or `None` if there is no outside.
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
    /// Returns the nodes and addresses of a scenario. `places` are the hosts where programs run.
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
                // a web client is a sink and connects to its source, so that the source has the
                // port
                let is_web = matches!(flow.transport, Transport::Web(_));
                (SOURCES + index as u32 + 1, SINKS + index as u32 + 1, is_web)
            }
        };
        let flows = flows(scenario);
        Places {
            ends: flows.iter().enumerate().map(ends).collect(),
            pings: flows.iter().map(is_ping).collect(),
            stations: scenario.stations.len() as u32,
            has_wired: flows.iter().any(|flow| flow.ends == Ends::Wired),
            apart: places.iter().filter_map(apart).collect(),
            neighbours: None,
        }
    }

    /// Adds the outside: a node with every address that no other node has. Packets between the
    /// outside and its `neighbours` bypass the network.
    pub(crate) fn open_outside(&mut self, neighbours: &[u32]) {
        self.neighbours = Some(neighbours.to_vec());
    }

    /// Returns whether one of two nodes is the outside and the other is its neighbour.
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

    /// Returns the address of a host where programs run, and the address of its peer in the
    /// scenario.
    pub(crate) fn of_programs(place: &Place) -> (u32, u32) {
        match place.at {
            At::Station(station) => (STATIONS + station as u32 + 1, SERVER),
            At::Source(flow) => (SOURCES + flow as u32 + 1, SINKS + flow as u32 + 1),
        }
    }

    /// Returns the number of nodes, including the outside.
    pub(crate) fn count(&self) -> u32 {
        self.outside() + u32::from(self.neighbours.is_some())
    }

    /// Returns the node number of the outside, even if there is no outside yet.
    fn outside(&self) -> u32 {
        self.first_apart() + 2 * self.apart.len() as u32
    }

    fn first_apart(&self) -> u32 {
        1 + self.stations + if self.has_wired { 2 } else { 0 }
    }

    /// Returns the node with an address. Unknown addresses belong to the outside, if there is one.
    pub(crate) fn node_of(&self, address: u32) -> Option<u32> {
        let leads_out = || self.neighbours.is_some() && is_of_a_host(address);
        let place = self.place_of(address);
        place.or_else(|| leads_out().then(|| self.outside()))
    }

    /// Returns the node with this address, or `None` for an address that only the outside may have.
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

    /// Returns the flow of an ICMP echo packet with this identifier, which is the flow's port. The
    /// packet may also be of a program, and then belongs to no flow.
    fn of_pings(&self, packet: &Header, identifier: u16) -> Option<Of> {
        let flow = identifier.checked_sub(FIRST_PORT)?;
        let &(source, destination, _) = self.ends.get(usize::from(flow))?;
        let is_data = match (packet.from, packet.to) {
            ends if ends == (source, destination) => true,
            ends if ends == (destination, source) => false,
            _ => return None,
        };
        let flow = u32::from(flow);
        self.pings[flow as usize].then_some(Of { flow, is_data })
    }

    /// Returns the flow of a packet and its direction, or `None` if the packet belongs to no flow.
    pub(crate) fn of(&self, packet: &Header) -> Option<Of> {
        if let Some(identifier) = packet.echo {
            return self.of_pings(packet, identifier);
        }
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

/// Returns whether an address may belong to a single host on the Internet: it is not in 0.0.0.0/8,
/// and neither loopback, multicast nor reserved (RFC 6890).
fn is_of_a_host(address: u32) -> bool {
    !matches!(address >> 24, 0 | 127 | 224..)
}

fn is_ping(flow: &Flow) -> bool {
    matches!(flow.transport, Transport::Ping(_))
}

/// Returns the flow whose source and sink must be separate nodes because programs run at `place`.
fn apart(place: &Place) -> Option<u32> {
    match place.at {
        At::Station(_) => None,
        At::Source(flow) => Some(flow as u32),
    }
}
