//! Packets of programs, which belong to no flow of the scenario. The engine carries these packets
//! in additional flows between a host where programs run (called a place) and the host's peer in
//! the scenario. The packets are counted per connection, which is identified by protocol, addresses
//! and ports.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use lasthop_engine::live::{Carrier, Place, flow_of};
use lasthop_engine::packet::PacketKind;
use lasthop_engine::scenario::Scenario;
use serde_json::{Value, json};

use crate::ip::{self, Header, TCP, UDP};

/// Key of a connection: protocol, address and port of the host where the program runs, address and
/// port of the peer.
type Key = (u8, (u32, u16), (u32, u16));

/// Counters of one direction of a connection, since the end of the warm-up.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    arrived: u64,
    lost: u64,
    /// TCP, UDP or IP payload that has arrived, including retransmissions. [bytes]
    payload_bytes: u64,
}

#[derive(Clone, Debug)]
struct Connection {
    place: usize,
    key: Key,
    /// Index of the connection among the connections of its host with the same transport protocol.
    number: usize,
    /// Counters of the packets from the program's host, and counters of the packets to it.
    counts: [Counts; 2],
}

/// Connection and direction of a packet in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    connection: usize,
    leaves: bool,
    payload_bytes: usize,
}

/// A program's packet in the engine's representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Of {
    pub(crate) flow: u32,
    pub(crate) kind: PacketKind,
    pub(crate) tag: Tag,
}

/// Connections of all programs.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// Hosts where programs run: the host, its address, and the address of its peer.
    places: Vec<(Place, u32, u32)>,
    by_key: HashMap<Key, usize>,
    connections: Vec<Connection>,
    /// Number of connections begun so far by the programs of each host, for each transport
    /// protocol.
    begun: HashMap<(usize, Carrier), usize>,
}

impl Programs {
    pub(crate) fn new(places: Vec<(Place, u32, u32)>) -> Programs {
        Programs {
            places,
            ..Programs::default()
        }
    }

    /// Returns the engine's representation of a packet that a program sends or receives. `None`: no
    /// program's host is an end of the packet, or its other end is neither the host's peer nor the
    /// outside (all unknown addresses). The network carries a packet from or to the outside on the
    /// path between the host and its peer. Flows of programs are numbered after those of `scenario`.
    pub(crate) fn of(
        &mut self,
        scenario: &Scenario,
        is_outside: impl Fn(u32) -> bool,
        packet: &Header,
        bytes: &[u8],
    ) -> Option<Of> {
        let outside = (is_outside(packet.from), is_outside(packet.to));
        let mut places = self.places.iter().enumerate();
        let (place, leaves) = places.find_map(|(place, &(_, own, other))| {
            let is =
                |from, to| (packet.from == from || outside.0) && (packet.to == to || outside.1);
            match outside {
                (true, true) => None,
                _ if is(own, other) => Some((place, true)),
                _ if is(other, own) => Some((place, false)),
                _ => None,
            }
        })?;
        let (from_port, to_port) = packet.ports.unwrap_or_default();
        let ends = ((packet.from, from_port), (packet.to, to_port));
        let key = match leaves {
            true => (packet.protocol, ends.0, ends.1),
            false => (packet.protocol, ends.1, ends.0),
        };
        let carrier = match packet.protocol {
            TCP => Carrier::Tcp,
            _ => Carrier::Udp,
        };
        let connection = self.connection(place, carrier, key);
        let payload_bytes = ip::payload_bytes(bytes);
        // a pure ACK has the opposite direction of the data that it acknowledges
        let is_ack = packet.protocol == TCP && ip::is_pure_ack(bytes);
        let number = self.connections[connection].number;
        Some(Of {
            flow: flow_of(scenario, place, carrier, number, leaves != is_ack),
            kind: match (is_ack, carrier) {
                (true, _) => PacketKind::Ack,
                (false, Carrier::Tcp) => PacketKind::Segment,
                (false, Carrier::Udp) => PacketKind::Datagram,
            },
            tag: Tag {
                connection,
                leaves,
                payload_bytes,
            },
        })
    }

    fn connection(&mut self, place: usize, carrier: Carrier, key: Key) -> usize {
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let begun = self.begun.entry((place, carrier)).or_default();
        self.connections.push(Connection {
            place,
            key,
            number: *begun,
            counts: Default::default(),
        });
        *begun += 1;
        let index = self.connections.len() - 1;
        self.by_key.insert(key, index);
        index
    }

    fn counts(&mut self, tag: Tag) -> &mut Counts {
        &mut self.connections[tag.connection].counts[usize::from(!tag.leaves)]
    }

    pub(crate) fn sent(&mut self, tag: Tag) {
        self.counts(tag).sent += 1;
    }

    pub(crate) fn arrived(&mut self, tag: Tag) {
        let counts = self.counts(tag);
        counts.arrived += 1;
        counts.payload_bytes += tag.payload_bytes as u64;
    }

    pub(crate) fn lost(&mut self, tag: Tag) {
        self.counts(tag).lost += 1;
    }

    /// Resets all counters. Called at the end of the warm-up.
    pub(crate) fn begin_to_measure(&mut self) {
        for connection in &mut self.connections {
            connection.counts = Default::default();
        }
    }

    /// Returns the counters as rows: one row per connection and direction in which packets were
    /// sent.
    pub(crate) fn rows(&self) -> Vec<Value> {
        let address = |(address, port): (u32, u16), protocol: u8| {
            let address = Ipv4Addr::from(address);
            match protocol {
                TCP | UDP => format!("{address}:{port}"),
                _ => address.to_string(),
            }
        };
        let mut rows = Vec::new();
        for connection in &self.connections {
            let (protocol, own, other) = connection.key;
            for (counts, leaves) in connection.counts.iter().zip([true, false]) {
                if counts.sent + counts.arrived + counts.lost > 0 {
                    let protocol_name = match protocol {
                        TCP => "tcp".to_owned(),
                        UDP => "udp".to_owned(),
                        1 => "icmp".to_owned(),
                        other => other.to_string(),
                    };
                    rows.push(json!({
                        "place": self.places[connection.place].0.name,
                        "protocol": protocol_name,
                        "own": address(own, protocol),
                        "other": address(other, protocol),
                        "leaves": leaves,
                        "sent": counts.sent,
                        "arrived": counts.arrived,
                        "lost": counts.lost,
                        "payload_bytes": counts.payload_bytes,
                    }));
                }
            }
        }
        rows
    }
}
