//! Tables of the gateway: what `lasthop gateway` does on Linux.

use lasthop_engine::control::WceKeys;
use lasthop_engine::kernel::time::Span;
use lasthop_engine::notation::setting::{
    MS, S, count, duration, flag, formed, inner, name, number, rate, tables, word,
};
use lasthop_engine::{table, words};

use crate::forms::{
    ADDRESSES, AGENT, COMMUNITY, FILE, INTERFACE, LOOPBACK, MAC, MEMBERS, OID, RATE_SOURCES,
    RATES_OID, STATIONS, SUBNETS,
};

/// The access point of a gateway that lists none.
pub(crate) const ONLY: &str = "wlan";

/// The group of the stations that the file does not name.
pub(crate) const UNLISTED: &str = "unlisted";

words! {
    /// Queue in each leaf.
    pub enum LeafQueue {
        /// The best of fq_codel, codel and pfifo that the kernel has.
        Best = "best",
        /// First in, first out.
        Pfifo = "pfifo",
        /// Fair queueing of flows with CoDel.
        FqCodel = "fq_codel",
        /// First in, first out, held short by CoDel.
        Codel = "codel",
        /// Stochastic fair queueing of flows.
        Sfq = "sfq",
    }
}

words! {
    /// UDP that passes through the leaf of its station.
    pub enum ShapedUdp {
        /// What goes to the station.
        Down = "down",
        /// What comes from it too.
        Both = "both",
    }
}

words! {
    /// Who gets equal shares of a bottleneck.
    pub enum Fairness {
        /// Stations, of the rate.
        Station = "station",
        /// Stations, of their bytes over their data rate.
        Rate = "rate",
        /// Flows.
        Flow = "flow",
        /// Uplink and downlink as wholes.
        Direction = "direction",
    }
}

table! {
    /// A virtual shared bottleneck between the Internet and access points, on a Linux machine that routes or bridges their traffic.
    pub struct GatewayTable in "gateway" {
        /// Network interface towards the Internet.
        wan: String = formed(&INTERFACE).required();
        /// Network interface towards the access points.
        lan: String = formed(&INTERFACE).required();
        /// Packets that each leaf holds.
        queue_packets as "queue": u64 = count(2..=10_000).default(200);
        /// Queue in each leaf: "best" is the first of fq_codel, codel and pfifo that the kernel has; the others are refused where it lacks them.
        discipline: LeafQueue = word().default(LeafQueue::Best);
        /// With fairness "flow": leaves of an access point into which its flows are hashed.
        flow_leaves: u64 = count(2..=4_096).default(256);
        /// A station whose uplink UDP is not shaped and is more than this is not pinged: its answers wait behind its own datagrams.
        udp_uplink_bps as "udp_uplink": u64 = rate().default("200 kbps");
        /// Where Prometheus finds the metrics.
        metrics: String = formed(&LOOPBACK).default("127.0.0.1:9464");
        /// The wireless capacity estimator.
        key wce: GatewayWce = inner().depends("the defaults of its keys");
        /// How stations are found that are not listed.
        key discover: DiscoverTable = inner().depends("the neighbour table if no station is listed");
        /// Access points by name; each has a bottleneck of its own.
        key ap: AccessPointTable = tables().depends("one access point, wlan");
        /// Stations that are known beforehand, by name.
        key station: GatewayStationTable = tables().absent("none is listed");
        /// Groups of stations, by name. The stations of a group have one share together. The group `unlisted` has all stations that the file does not name.
        key group: GroupTable = tables().absent("each station has a share of its own");
        all_of BottleneckKeys;
    }
}

table! {
    /// What an access point may have of its own.
    pub struct BottleneckKeys: Copy in "gateway bottleneck" {
        /// What is shared equally: the bytes of stations; their bytes over their data rate, about the same as their time on the air; the bytes of flows; those of both directions.
        fairness: Fairness = word().default(Fairness::Station);
        /// UDP that counts towards a station's share: "down", what goes to it; "both", what comes from it too, such as uploads over QUIC.
        udp: ShapedUdp = word().default(ShapedUdp::Both);
        /// Rate of the bottleneck: "estimated" from pings, or a fixed one.
        rate_bps as "rate": Option<u64> = rate().or("estimated").default("estimated");
    }
}

table! {
    /// The wireless capacity estimator: it pings stations and takes the bottleneck's rate up or down by their round-trip times.
    pub struct GatewayWce in "wce" {
        /// Largest rate, and the first one: somewhat above what the WLAN can carry.
        max: Option<u64> = rate().depends("6 Mbps, the cap of paper 002");
        all_of WceKeys;
    }
}

table! {
    /// The wireless capacity estimator of one access point.
    pub struct AccessPointWce in "gateway.ap.wce" {
        all_of GatewayWce, inherits "gateway.wce";
    }
}

table! {
    /// Where stations are looked for.
    pub struct DiscoverTable in "discover" {
        /// The kernel's table of neighbours at the interface towards the access points (ARP, NDP).
        neighbours: Option<bool> =
            flag().depends("true if no station is listed and there is no other source");
        /// Leases file of dnsmasq or ISC dhcpd.
        leases: Option<String> = formed(&FILE).absent("none");
        /// Addresses of what is no station: access points, machines on a cable.
        ignore: Option<String> = formed(&ADDRESSES).absent("none");
        /// Time between two looks.
        interval: Span = duration(100 * MS..=3_600 * S).default("5 s");
        /// A station leaves when no source has named it for so long.
        absence: Span = duration(S..=86_400 * S).default("300 s");
        /// Time for which a new MAC address shares the leaf for unclassified packets, before it gets a leaf of its own. Stations of the file and of the last run do not wait.
        quarantine: Span = duration(0..=3_600 * S).default("10 s");
        /// Largest number of new MAC addresses that get a leaf of their own within one minute.
        new_per_minute: u64 = count(1..=10_000).default(30);
    }
}

table! {
    /// An access point and its bottleneck.
    pub struct AccessPointTable in "gateway.ap" {
        /// Interface towards this access point, if it has one of its own.
        interface: Option<String> = formed(&INTERFACE).depends("gateway.lan");
        /// Stations found with an address in these are this access point's.
        subnets: Option<String> = formed(&SUBNETS).absent("none");
        /// The wireless capacity estimator of this access point.
        key wce: AccessPointWce = inner().depends("gateway.wce");
        /// The access point's own table of associated stations.
        key snmp: SnmpTable = inner().absent("not asked");
        /// Where the data rates of its stations are read, for fairness = "rate": "iw:" with an interface of this machine, "hostapd:" with the control socket of hostapd.
        station_rates: Option<String> = formed(&RATE_SOURCES).absent("not read: the rates of the file");
        all_of BottleneckKeys, inherits "gateway";
    }
}

table! {
    /// How an access point is asked for its stations (SNMP version 2c).
    pub struct SnmpTable in "snmp" {
        /// Address of the access point.
        agent: String = formed(&AGENT).required();
        /// Community that may read.
        community: String = formed(&COMMUNITY).default("public");
        /// Column of addresses whose index ends in the station's MAC address; the default is cDot11ClientIpAddress of CISCO-DOT11-ASSOCIATION-MIB.
        column as "table": String = formed(&OID).default("1.3.6.1.4.1.9.9.273.1.2.1.1.16");
        /// Column of data rates whose index ends in the station's MAC address, for fairness = "rate", such as 1.3.6.1.4.1.9.9.273.1.3.1.1.1, cDot11ClientCurrentTxRateSet of the same MIB.
        rates: Option<String> = formed(&RATES_OID).absent("not read: the rates of the file");
        /// Data rate that the value 1 stands for in `rates`.
        rates_unit_bps as "rates_unit": u64 = rate().default("500 kbps");
    }
}

table! {
    /// A station that is known beforehand.
    pub struct GatewayStationTable in "gateway.station" {
        /// Its IP addresses, and the subnets behind it, such as a delegated prefix.
        address: Option<String> = formed(&MEMBERS).depends("found by mac");
        /// Its MAC address; addresses found with it are added.
        mac: Option<String> = formed(&MAC).absent("unknown");
        /// Its access point.
        ap: Option<String> = name().depends("the only access point, or the one that it is found at");
        /// Its group.
        group: Option<String> = name().absent("the group that lists it, or none");
        /// Rate of its frames, for fairness = "rate", while none is read from the access point.
        rate_bps as "rate": Option<u64> =
            rate().depends("the rate of the scenario's station of this name, else the highest of all");
    }
}

table! {
    /// Stations that have one share of the bottleneck together, such as the devices of one person. Inside a group, stations share equally.
    pub struct GroupTable in "gateway.group" {
        /// Stations of the group: MAC addresses, IP addresses, subnets, names of listed stations.
        stations: Option<String> = formed(&STATIONS).absent("those that name the group");
        /// Share of the group, relative to other groups. A station without a group has a share of 1.
        share: f64 = number(0.01..=100.0).default(1.0);
        /// Largest rate of the group at each access point.
        max_bps as "max": Option<u64> = rate().absent("none");
    }
}
