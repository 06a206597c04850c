//! The checked gateway: every default filled in, every value in range.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use lasthop_engine::control::WceSettings;
use lasthop_engine::kernel::time::Span;
use lasthop_engine::notation::setting::Setting;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::settings::{Fairness, LeafQueue, ShapedUdp};
use crate::forms::{RateSource, Which, overlap};

/// A place at which a program listens.
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
    /// Title.
    pub name: String,
    /// Interface towards the Internet.
    pub wan: String,
    /// Interface towards the access points.
    pub lan: String,
    /// Packets that a leaf holds.
    pub queue_packets: u64,
    /// Queue in each leaf.
    #[serde(serialize_with = "setting")]
    pub discipline: LeafQueue,
    /// Leaves into which an access point's flows are hashed.
    pub flow_leaves: u64,
    /// Uplink UDP above which a station is not pinged. [bit/s]
    pub udp_uplink_bps: u64,
    /// Place at which metrics are served.
    pub metrics: Option<Endpoint>,
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
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    pub subnets: Vec<IpNet>,
}

/// Where stations are looked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Discovery {
    /// Whether they are looked for in the kernel's table of neighbours.
    pub neighbours: bool,
    /// Leases file in which they are looked for.
    pub leases: Option<String>,
    /// Addresses that are no stations.
    pub ignore: Vec<IpAddr>,
    /// Time between two looks.
    #[serde(rename = "interval_s", serialize_with = "seconds")]
    pub interval: Span,
    /// Time after which a station has left that has not been named.
    #[serde(rename = "absence_s", serialize_with = "seconds")]
    pub absence: Span,
    /// Time that a new MAC address waits for a leaf of its own.
    #[serde(rename = "quarantine_s", serialize_with = "seconds")]
    pub quarantine: Span,
    /// Largest number of new MAC addresses that get a leaf within one minute.
    pub new_per_minute: u64,
}

/// An access point and its bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AccessPoint {
    /// Unique name.
    pub name: String,
    /// Interface towards it.
    pub interface: String,
    /// Stations with an address in these are its own.
    pub subnets: Vec<IpNet>,
    /// Members that get equal shares.
    #[serde(serialize_with = "setting")]
    pub fairness: Fairness,
    /// UDP that is shaped.
    #[serde(serialize_with = "setting")]
    pub udp: ShapedUdp,
    /// Fixed rate; `None`: estimated. [bit/s]
    pub rate_bps: Option<u64>,
    /// Settings of the estimator.
    #[serde(serialize_with = "wce")]
    pub wce: WceSettings,
    /// Whether the estimator's largest rate is the paper's, since the file says none.
    pub max_by_default: bool,
    /// Its own table of stations.
    pub snmp: Option<Snmp>,
    /// Sources of the rates of its stations.
    pub station_rates: Vec<RateSource>,
}

/// Settings by which an access point is asked for its stations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snmp {
    /// Place at which it answers.
    #[serde(flatten)]
    pub agent: Endpoint,
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GatewayStation {
    /// Unique name.
    pub name: String,
    /// Its access point; `None`: the one that it is found at.
    pub ap: Option<String>,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// Subnets that belong to it.
    pub subnets: Vec<IpNet>,
    /// Its MAC address, in lower case with colons.
    pub mac: Option<String>,
    /// Rate of its frames. [bit/s]
    pub rate_bps: Option<u64>,
    /// Its group.
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
