//! The checked gateway settings, with all defaults filled in.

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
    /// Title in the scenario file.
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
    /// Number of leaves of an access point into which its flows are hashed.
    pub flow_leaves: u64,
    /// Rate of uplink UDP above which a station is not pinged. [bit/s]
    pub udp_uplink_bps: u64,
    /// Address and port at which metrics are served; `None` without metrics.
    pub metrics: Option<Endpoint>,
    /// Settings of the discovery of stations.
    pub discovery: Discovery,
    /// Access points, at least one.
    pub aps: Vec<AccessPoint>,
    /// Stations that the file lists.
    pub stations: Vec<GatewayStation>,
    /// Groups of stations, each with one common share.
    pub groups: Vec<Group>,
}

/// A group of stations with one common share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Unique name. The group `unlisted` contains the stations that the file does not name.
    pub name: String,
    /// Share of the group, relative to other groups.
    pub share: f64,
    /// Maximum rate of the group at an access point; `None` without a maximum. [bit/s]
    pub max_bps: Option<u64>,
    /// MAC addresses of the group's stations.
    pub macs: Vec<String>,
    /// Subnets of the group's stations.
    pub subnets: Vec<IpNet>,
}

/// Settings of the discovery of stations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Discovery {
    /// Whether stations are discovered in the kernel's neighbour table.
    pub neighbours: bool,
    /// Lease file from which stations are discovered; `None` without a file.
    pub leases: Option<String>,
    /// Addresses of devices that are not stations.
    pub ignore: Vec<IpAddr>,
    /// Time between two periodic searches for stations, for example in the neighbour table and in
    /// the lease file.
    #[serde(rename = "interval_s", serialize_with = "seconds")]
    pub interval: Span,
    /// Time after which a discovered station is removed if no source has listed it.
    #[serde(rename = "absence_s", serialize_with = "seconds")]
    pub absence: Span,
    /// Time for which a new MAC address shares the leaf for unclassified packets before it gets a
    /// leaf of its own.
    #[serde(rename = "quarantine_s", serialize_with = "seconds")]
    pub quarantine: Span,
    /// Maximum number of new MAC addresses that get a leaf of their own within one minute.
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
    /// Quantity that is shared equally: bytes per station, per station and rate, per flow, or per
    /// direction.
    #[serde(serialize_with = "setting")]
    pub fairness: Fairness,
    /// UDP traffic that is shaped: downlink only, or both directions.
    #[serde(serialize_with = "setting")]
    pub udp: ShapedUdp,
    /// Fixed rate of the bottleneck; `None` if the rate is estimated. [bit/s]
    pub rate_bps: Option<u64>,
    /// Settings of the wireless capacity estimator.
    #[serde(serialize_with = "wce")]
    pub wce: WceSettings,
    /// Whether the file does not set the estimator's largest rate, so that the default of the paper
    /// applies.
    pub max_by_default: bool,
    /// SNMP query for the access point's stations; `None` without a query.
    pub snmp: Option<Snmp>,
    /// Sources of the data rates of the access point's stations.
    pub station_rates: Vec<RateSource>,
}

/// SNMP settings for reading an access point's stations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snmp {
    /// Address and port of the SNMP agent.
    #[serde(flatten)]
    pub agent: Endpoint,
    /// SNMP community with read access.
    pub community: String,
    /// Object identifier of the SNMP column with the addresses of stations.
    pub table: String,
    /// Object identifier of the SNMP column with the data rates of stations; `None` if rates are not
    /// queried.
    pub rates: Option<String>,
    /// Data rate that the value 1 means in the column `rates`. [bit/s]
    pub rates_unit_bps: u64,
}

/// A station that the file lists.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GatewayStation {
    /// Unique name.
    pub name: String,
    /// Access point of the station, or `None` for the access point at which the station is
    /// discovered.
    pub ap: Option<String>,
    /// Addresses of the station.
    pub addresses: Vec<IpAddr>,
    /// Subnets of the station.
    pub subnets: Vec<IpNet>,
    /// MAC address of the station, in lower case with colons; `None` if unknown.
    pub mac: Option<String>,
    /// Data rate of the station's frames in the file; `None` if the file gives none. [bit/s]
    pub rate_bps: Option<u64>,
    /// Group of the station; `None` without a group.
    pub group: Option<String>,
}

impl Gateway {
    /// Returns the gateway as a JSON object. Its keys contain the units.
    pub fn to_json(&self) -> Value {
        json!(self)
    }
}

impl GatewayStation {
    /// Returns whether `which` refers to this station.
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
