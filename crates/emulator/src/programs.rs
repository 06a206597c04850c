//! Programs: packets that are of no flow of the scenario travel between a place and what it talks to on
//! flows of their own, two for each connection, and are counted by connection.

use std::collections::HashMap;

use lasthop_engine::packet::{Direction, PacketKind};
use lasthop_engine::scenario::{Ends, Flow, Scenario, TcpSettings, Transport, UdpSettings};

use crate::ip::{self, Header};

/// A place where programs run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it is called in the result.
    pub name: String,
    /// Where it is.
    pub at: At,
}

/// Where a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// A station, which talks to the servers.
    Station(u32),
    /// The source of a flow between wired nodes, which talks to its sink.
    Flow(u32),
}

/// Connections that a place has at once, over TCP and over anything else; more share flows.
const CONNECTIONS: u32 = 64;

/// Both ends of a connection: protocol, address and port at the place, and of what it talks to.
type Key = (u8, (u32, u16), (u32, u16));

/// What a connection has carried one way since counting began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets sent, lost, arrived.
    pub sent: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// Payload of TCP, UDP or what else there is, that has arrived. [bytes]
    pub payload_bytes: u64,
}

/// A connection of a program.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Number of its place.
    pub place: u32,
    /// Its protocol and ends.
    pub key: Key,
    /// The flow on which its packets from the place go, and the one towards it.
    flows: [u32; 2],
    /// What went from the place, and what came to it.
    pub counts: [Counts; 2],
}

/// Who is told of a packet's fate: a connection, whether it came from the place, and its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    connection: u32,
    from_place: bool,
    payload_bytes: u16,
}

/// All programs' connections.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    places: Vec<Place>,
    /// The first flow of each place.
    first: Vec<u32>,
    /// How many connections each place has had, over TCP and over anything else.
    begun: Vec<[u32; 2]>,
    by_key: HashMap<Key, u32>,
    connections: Vec<Connection>,
}
