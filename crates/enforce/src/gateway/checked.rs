//! The checked gateway: every default filled in, every value in range.

use std::net::{IpAddr, SocketAddr};

use lasthop_engine::control::WceSettings;
use lasthop_engine::kernel::time::Span;
use serde_json::{Value, json};

use super::settings::{Fairness, LeafQueue, ShapedUdp};
use crate::forms::{Which, overlap, whole};

/// A virtual shared bottleneck in front of access points.
#[derive(Clone, Debug, PartialEq)]
pub struct Gateway {
    /// Title.
    pub name: String,
    /// Interface towards the Internet.
    pub wan: String,
    /// Interface towards the access points.
    pub lan: String,
    /// Packets that a leaf holds.
    pub queue_packets: u64,
    /// Queue in each leaf.
    pub discipline: LeafQueue,
    /// Leaves into which an access point's flows are hashed.
    pub flow_leaves: u64,
    /// Uplink UDP above which a station is not pinged. [bit/s]
    pub udp_uplink_bps: u64,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// How stations are found.
    pub discovery: Discovery,
    /// Access points, at least one.
    pub aps: Vec<AccessPoint>,
    /// Stations that are known beforehand.
    pub stations: Vec<GatewayStation>,
    /// Groups of stations, each of which has one share.
    pub groups: Vec<Group>,
}

/// A group of stations with one share.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Unique name; `unlisted` has the stations that the file does not name.
    pub name: String,
    /// Its share, relative to other groups.
    pub share: f64,
    /// Its largest rate at an access point. [bit/s]
    pub max_bps: Option<u64>,
    /// MAC addresses of its stations.
    pub macs: Vec<String>,
    /// Subnets of its stations.
    pub subnets: Vec<(IpAddr, u32)>,
}

/// Where stations are looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Discovery {
    /// Whether they are looked for in the kernel's table of neighbours.
    pub neighbours: bool,
    /// Leases file in which they are looked for.
    pub leases: Option<String>,
    /// Addresses that are no stations.
    pub ignore: Vec<IpAddr>,
    /// Time between two looks.
    pub interval: Span,
    /// Time after which a station has left that has not been named.
    pub absence: Span,
    /// Time that a new MAC address waits for a leaf of its own.
    pub quarantine: Span,
    /// Largest number of new MAC addresses that get a leaf within one minute.
    pub new_per_minute: u64,
}

/// An access point and its bottleneck.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPoint {
    /// Unique name.
    pub name: String,
    /// Interface towards it.
    pub interface: String,
    /// Stations with an address in these are its own.
    pub subnets: Vec<(IpAddr, u32)>,
    /// Who gets equal shares.
    pub fairness: Fairness,
    /// Which UDP is shaped.
    pub udp: ShapedUdp,
    /// Fixed rate; `None`: estimated. [bit/s]
    pub rate_bps: Option<u64>,
    /// The estimator.
    pub wce: WceSettings,
    /// Whether the estimator's largest rate is the paper's, since the file says none.
    pub max_by_default: bool,
    /// Its own table of stations.
    pub snmp: Option<Snmp>,
    /// Where the rates of its stations are read: what is asked, and the interface or the socket.
    pub station_rates: Vec<(String, String)>,
}

/// How an access point is asked for its stations.
#[derive(Clone, Debug, PartialEq)]
pub struct Snmp {
    /// Where it answers.
    pub agent: SocketAddr,
    /// Community that may read.
    pub community: String,
    /// Column of addresses.
    pub table: String,
    /// Column of data rates.
    pub rates: Option<String>,
    /// Data rate that the value 1 stands for. [bit/s]
    pub rates_unit_bps: u64,
}

/// A station that is known beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayStation {
    /// Unique name.
    pub name: String,
    /// Its access point; `None`: the one that it is found at.
    pub ap: Option<String>,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// Subnets that belong to it.
    pub subnets: Vec<(IpAddr, u32)>,
    /// Its MAC address, in lower case with colons.
    pub mac: Option<String>,
    /// Rate of its frames. [bit/s]
    pub rate_bps: Option<u64>,
    /// Its group.
    pub group: Option<String>,
}

impl Gateway {
    /// The gateway as a JSON object that says its units in its keys.
    pub fn to_json(&self) -> Value {
        let aps: Vec<Value> = self.aps.iter().map(AccessPoint::to_json).collect();
        let stations: Vec<Value> = self.stations.iter().map(GatewayStation::to_json).collect();
        let groups: Vec<Value> = self.groups.iter().map(Group::to_json).collect();
        json!({
            "name": self.name,
            "wan": self.wan,
            "lan": self.lan,
            "queue_packets": self.queue_packets,
            "discipline": self.discipline.name(),
            "flow_leaves": self.flow_leaves,
            "udp_uplink_bps": self.udp_uplink_bps,
            "metrics": self.metrics.map(|at| json!({"host": at.ip(), "port": at.port()})),
            "discovery": {
                "neighbours": self.discovery.neighbours,
                "leases": self.discovery.leases,
                "ignore": self.discovery.ignore,
                "interval_s": self.discovery.interval.seconds(),
                "absence_s": self.discovery.absence.seconds(),
                "quarantine_s": self.discovery.quarantine.seconds(),
                "new_per_minute": self.discovery.new_per_minute,
            },
            "aps": aps,
            "stations": stations,
            "groups": groups,
        })
    }
}

impl AccessPoint {
    fn to_json(&self) -> Value {
        let sources = self.station_rates.iter();
        let rates: Vec<Value> = sources
            .map(|(kind, at)| json!({"kind": kind, "at": at}))
            .collect();
        json!({
            "name": self.name,
            "interface": self.interface,
            "subnets": written(&self.subnets),
            "fairness": self.fairness.name(),
            "udp": self.udp.name(),
            "rate_bps": self.rate_bps,
            "wce": self.wce.json(),
            "max_by_default": self.max_by_default,
            "snmp": self.snmp.as_ref().map(|snmp| json!({
                "host": snmp.agent.ip(),
                "port": snmp.agent.port(),
                "community": snmp.community,
                "table": snmp.table,
                "rates": snmp.rates,
                "rates_unit_bps": snmp.rates_unit_bps,
            })),
            "station_rates": rates,
        })
    }
}

impl GatewayStation {
    /// Returns whether a reference means this station.
    pub(crate) fn is(&self, which: &Which) -> bool {
        match which {
            Which::Mac(mac) => self.mac.as_ref() == Some(mac),
            Which::Name(name) => self.name == *name,
            Which::Subnet(subnet) => {
                let addresses = self.addresses.iter().map(|&address| whole(address));
                let mut own = addresses.chain(self.subnets.iter().copied());
                own.any(|own| overlap(own, *subnet))
            }
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "ap": self.ap,
            "addresses": self.addresses,
            "subnets": written(&self.subnets),
            "mac": self.mac,
            "rate_bps": self.rate_bps,
            "group": self.group,
        })
    }
}

impl Group {
    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "share": self.share,
            "max_bps": self.max_bps,
            "macs": self.macs,
            "subnets": written(&self.subnets),
        })
    }
}

/// Returns subnets as text.
fn written(subnets: &[(IpAddr, u32)]) -> Vec<String> {
    let each = subnets.iter();
    each.map(|(address, length)| format!("{address}/{length}"))
        .collect()
}
