//! The checked gateway: all defaults are filled in, and all values are in range.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use lasthop_engine::control::WceSettings;
use lasthop_engine::kernel::time::Span;
use lasthop_engine::notation::setting::Setting;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::settings::{Fairness, LeafQueue, ShapedUdp};
use crate::forms::{RateSource, Which, overlap};

/// An address and port at which a program listens.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Endpoint {
    /// Address of the host.
    pub host: IpAddr,
    /// Port.
    pub port: u16,
}

impl From<SocketAddr> for Endpoint {
    fn from(at: SocketAddr) -> Endpoint {
        Endpoint {
            host: at.ip(),
            port: at.port(),
        }
    }
}

/// A virtual shared bottleneck in front of access points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gateway {
    /// Title of the scenario file.
    pub name: String,
    /// Interface towards the Internet.
    pub wan: String,
    /// Interface towards the access points.
    pub lan: String,
    /// Maximum number of packets in a leaf.
    pub queue_packets: u64,
    /// Queue discipline of each leaf.
    #[serde(serialize_with = "setting")]
    pub discipline: LeafQueue,
    /// Number of leaves into which the flows of an access point are hashed.
    pub flow_leaves: u64,
    /// Rate of uplink UDP above which a station is not pinged. [bit/s]
    pub udp_uplink_bps: u64,
    /// Address and port at which metrics are served.
    pub metrics: Option<Endpoint>,
    /// Sources by which stations are discovered.
    pub discovery: Discovery,
    /// Access points, at least one.
    pub aps: Vec<AccessPoint>,
    /// Stations that the file lists.
    pub stations: Vec<GatewayStation>,
    /// Groups of stations, each with one share.
    pub groups: Vec<Group>,
}

/// A group of stations with one share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Unique name; `unlisted` has the stations that the file does not name.
    pub name: String,
    /// Share of the group, relative to other groups.
    pub share: f64,
    /// Maximum rate of the group at an access point. [bit/s]
    pub max_bps: Option<u64>,
    /// MAC addresses of the group's stations.
    pub macs: Vec<String>,
    /// Subnets of the group's stations.
    pub subnets: Vec<IpNet>,
}

/// The sources by which stations are discovered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Discovery {
    /// Whether stations are looked up in the kernel's table of neighbours.
    pub neighbours: bool,
    /// Leases file in which stations are looked up.
    pub leases: Option<String>,
    /// Addresses that do not belong to stations.
    pub ignore: Vec<IpAddr>,
    /// Time between two look-ups.
    #[serde(rename = "interval_s", serialize_with = "seconds")]
    pub interval: Span,
    /// Time without a sign of a discovered station after which the station has left.
    #[serde(rename = "absence_s", serialize_with = "seconds")]
    pub absence: Span,
    /// Time that a new MAC address waits before it gets a separate leaf.
    #[serde(rename = "quarantine_s", serialize_with = "seconds")]
    pub quarantine: Span,
    /// Maximum number of new MAC addresses that get a leaf within one minute.
    pub new_per_minute: u64,
}

/// An access point and its bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccessPoint {
    /// Unique name.
    pub name: String,
    /// Interface towards the access point.
    pub interface: String,
    /// Subnets of the access point's stations.
    pub subnets: Vec<IpNet>,
    /// Entities that get equal shares.
    #[serde(serialize_with = "setting")]
    pub fairness: Fairness,
    /// Directions of UDP that are shaped.
    #[serde(serialize_with = "setting")]
    pub udp: ShapedUdp,
    /// Fixed rate; `None` if the rate is estimated. [bit/s]
    pub rate_bps: Option<u64>,
    /// Settings of the estimator.
    #[serde(serialize_with = "wce")]
    pub wce: WceSettings,
    /// Whether the estimator's largest rate is the paper's default, because the file sets none.
    pub max_by_default: bool,
    /// SNMP access to the access point's table of stations.
    pub snmp: Option<Snmp>,
    /// Sources of the rates of the access point's stations.
    pub station_rates: Vec<RateSource>,
}

/// SNMP settings for reading an access point's table of stations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snmp {
    /// Address and port of the SNMP agent.
    #[serde(flatten)]
    pub agent: Endpoint,
    /// Community with read access.
    pub community: String,
    /// Column of addresses.
    pub table: String,
    /// Column of data rates.
    pub rates: Option<String>,
    /// Data rate that the value 1 represents. [bit/s]
    pub rates_unit_bps: u64,
}

/// A station that the file lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GatewayStation {
    /// Unique name.
    pub name: String,
    /// Access point of the station; `None`: the access point at which the station is found.
    pub ap: Option<String>,
    /// Addresses of the station.
    pub addresses: Vec<IpAddr>,
    /// Subnets of the station.
    pub subnets: Vec<IpNet>,
    /// MAC address of the station, in lower case with colons.
    pub mac: Option<String>,
    /// Data rate of the station's frames. [bit/s]
    pub rate_bps: Option<u64>,
    /// Group of the station.
    pub group: Option<String>,
}

impl Gateway {
    /// Returns the gateway as a JSON object, whose keys contain the units.
    pub fn to_json(&self) -> Value {
        json!(self)
    }
}

impl GatewayStation {
    /// Returns whether a reference means this station.
    pub(crate) fn is(&self, which: &Which) -> bool {
        match which {
            Which::Mac(mac) => self.mac.as_ref() == Some(mac),
            Which::Name(name) => self.name == *name,
            Which::Subnet(subnet) => {
                let addresses = self.addresses.iter().copied().map(IpNet::from);
                let mut own = addresses.chain(self.subnets.iter().copied());
                own.any(|own| overlap(own, *subnet))
            }
        }
    }
}

fn seconds<S: Serializer>(time: &Span, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.seconds())
}

fn setting<T: Setting, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    value.json().serialize(to)
}

fn wce<S: Serializer>(settings: &WceSettings, to: S) -> Result<S::Ok, S::Error> {
    settings.json().serialize(to)
}
