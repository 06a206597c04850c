//! Tables of a scenario file for `lasthop gateway`, which runs on Linux.

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

/// Name of the only access point if the gateway lists none.
pub(crate) const ONLY: &str = "wlan";

/// Name of the group that contains all stations not named in the file.
pub(crate) const UNLISTED: &str = "unlisted";

words! {
    /// Queueing discipline of each leaf.
    pub enum LeafQueue {
        /// The first of fq_codel, codel and pfifo that the kernel supports.
        Best = "best",
        /// First in, first out.
        Pfifo = "pfifo",
        /// Fair queueing of flows with CoDel.
        FqCodel = "fq_codel",
        /// First in, first out, kept short by CoDel.
        Codel = "codel",
        /// Stochastic fair queueing of flows.
        Sfq = "sfq",
        /// CAKE without shaper and with one tin. It shares the leaf among flows.
        Cake = "cake",
    }
}

words! {
    /// UDP that passes through the leaf of its station.
    pub enum ShapedUdp {
        /// UDP to the station.
        Down = "down",
        /// UDP to and from the station.
        Both = "both",
    }
}

words! {
    /// Quantity that a bottleneck shares equally.
    pub enum Fairness {
        /// Bytes of each station.
        Station = "station",
        /// Bytes of each station divided by the station's data rate, which is about the air
        /// time of the station.
        Rate = "rate",
        /// Bytes of each flow.
        Flow = "flow",
        /// Bytes of the whole uplink and of the whole downlink.
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
        /// Largest number of packets in each leaf queue.
        queue_packets as "queue": u64 = count(2..=10_000).default(200);
        /// Queueing discipline of each leaf. "best" is the first of fq_codel, codel and pfifo that the kernel supports. The other values are refused if the kernel lacks them.
        discipline: LeafQueue = word().default(LeafQueue::Best);
        /// Number of leaves of an access point into which its flows are hashed, with fairness "flow".
        flow_leaves: u64 = count(2..=4_096).default(256);
        /// Uplink UDP rate above which a station is not pinged, because its replies wait in the queue of its own datagrams. It applies to stations whose uplink UDP is not shaped.
        udp_uplink_bps as "udp_uplink": u64 = rate().default("200 kbps");
        /// Address at which Prometheus finds the metrics.
        metrics: String = formed(&LOOPBACK).default("127.0.0.1:9464");
        /// Settings of the wireless capacity estimator, which sets the rate of the bottleneck.
        key wce: GatewayWce = inner().depends("the defaults of the table's keys");
        /// Sources from which stations that are not listed are discovered.
        key discover: DiscoverTable = inner().depends("the neighbour table if no station is listed");
        /// Access points by name. Each access point has a bottleneck of its own.
        key ap: AccessPointTable = tables().depends("one access point called wlan");
        /// Stations that are known in advance, by name.
        key station: GatewayStationTable = tables().absent("none");
        /// Groups of stations, by name. The stations of a group have one common share. The group `unlisted` contains all stations that the file does not name.
        key group: GroupTable = tables().absent("each station has a share of its own");
        all_of BottleneckKeys;
    }
}

table! {
    /// Settings of a bottleneck, which each access point can override.
    pub struct BottleneckKeys: Copy in "gateway bottleneck" {
        /// Quantity that is shared equally. "station": bytes of each station. "rate": bytes of each station divided by its data rate, which is about its air time. "flow": bytes of each flow. "direction": bytes of each direction.
        fairness: Fairness = word().default(Fairness::Station);
        /// UDP traffic that counts towards a station's share. "down": UDP to the station. "both": UDP to and from the station, such as uploads over QUIC.
        udp: ShapedUdp = word().default(ShapedUdp::Both);
        /// Rate of the bottleneck: a fixed value, or "estimated" from the round-trip times of pings.
        rate_bps as "rate": Option<u64> = rate().or("estimated").default("estimated");
    }
}

table! {
    /// The wireless capacity estimator. It pings stations and raises or lowers the rate of the bottleneck according to their round-trip times.
    pub struct GatewayWce in "wce" {
        /// Largest rate of the bottleneck, and its initial rate. It should be somewhat above the capacity of the WLAN.
        max: Option<u64> = rate().depends("6 Mbps, the largest rate in paper 002");
        all_of WceKeys;
    }
}

table! {
    /// The wireless capacity estimator of one access point.
    pub struct AccessPointWce in "gateway.ap.wce" {
        all_of GatewayWce, inherits "[gateway.wce]";
    }
}

table! {
    /// Sources from which stations are discovered.
    pub struct DiscoverTable in "discover" {
        /// If true, stations are discovered in the kernel's neighbour table (ARP, NDP) of the interface towards the access points.
        neighbours: Option<bool> =
            flag().depends("true if no station is listed and there is no other source");
        /// Lease file of dnsmasq or ISC dhcpd from which stations are discovered.
        leases: Option<String> = formed(&FILE).absent("none");
        /// Addresses of devices that are not stations, such as access points and wired machines.
        ignore: Option<String> = formed(&ADDRESSES).absent("none");
        /// Time after which the sources of stations are read again.
        interval: Span = duration(100 * MS..=3_600 * S).default("5 s");
        /// Time after which a station is removed if no source has listed it.
        absence: Span = duration(S..=86_400 * S).default("300 s");
        /// Time for which a new MAC address shares the leaf for unclassified packets, before it gets a leaf of its own. Stations of the file and of the previous run do not wait.
        quarantine: Span = duration(0..=3_600 * S).default("10 s");
        /// Largest number of new MAC addresses that get a leaf of their own within one minute.
        new_per_minute: u64 = count(1..=10_000).default(30);
    }
}

table! {
    /// An access point and its bottleneck.
    pub struct AccessPointTable in "gateway.ap" {
        /// Network interface towards this access point, if it has an interface of its own.
        interface: Option<String> = formed(&INTERFACE).depends("gateway.lan");
        /// Subnets of this access point. A station that is discovered with an address in one of these subnets belongs to this access point.
        subnets: Option<String> = formed(&SUBNETS).absent("none");
        /// Settings of the wireless capacity estimator of this access point.
        key wce: AccessPointWce = inner().depends("gateway.wce");
        /// SNMP query for the access point's table of associated stations.
        key snmp: SnmpTable = inner().absent("no query");
        /// Sources of the data rates of the access point's stations, for fairness = "rate". A source is "iw:" with an interface of this machine, or "hostapd:" with the control socket of hostapd.
        station_rates: Option<String> = formed(&RATE_SOURCES).absent("rates are not read, and the rates in the file are used");
        all_of BottleneckKeys, inherits "[gateway]";
    }
}

table! {
    /// SNMP query (version 2c) for the stations of an access point.
    pub struct SnmpTable in "snmp" {
        /// Address of the access point.
        agent: String = formed(&AGENT).required();
        /// SNMP community with read access.
        community: String = formed(&COMMUNITY).default("public");
        /// Column of IP addresses. Its index ends in the station's MAC address. The default is cDot11ClientIpAddress of CISCO-DOT11-ASSOCIATION-MIB.
        column as "table": String = formed(&OID).default("1.3.6.1.4.1.9.9.273.1.2.1.1.16");
        /// Column of data rates, for fairness = "rate". Its index ends in the station's MAC address. An example is 1.3.6.1.4.1.9.9.273.1.3.1.1.1, cDot11ClientCurrentTxRateSet of CISCO-DOT11-ASSOCIATION-MIB.
        rates: Option<String> = formed(&RATES_OID).absent("rates are not read, and the rates in the file are used");
        /// Data rate that the value 1 means in the column `rates`.
        rates_unit_bps as "rates_unit": u64 = rate().default("500 kbps");
    }
}

table! {
    /// A station that is known in advance.
    pub struct GatewayStationTable in "gateway.station" {
        /// IP addresses of the station, and subnets that it routes, such as a delegated prefix.
        address: Option<String> = formed(&MEMBERS).depends("the addresses that are discovered with mac");
        /// MAC address of the station. IP addresses that are discovered with it are added to `address`.
        mac: Option<String> = formed(&MAC).absent("unknown");
        /// Access point of the station.
        ap: Option<String> = name().depends("the only access point, or the access point at which the station is discovered");
        /// Group of the station.
        group: Option<String> = name().absent("the group that lists the station, or no group");
        /// Data rate of the station's frames, for fairness = "rate". This value is used while no rate is read from the access point.
        rate_bps as "rate": Option<u64> =
            rate().depends("the rate of the scenario's station of this name, else the highest rate of all stations");
    }
}

table! {
    /// Stations that have one common share of the bottleneck, such as the devices of one person. Within a group, stations share equally.
    pub struct GroupTable in "gateway.group" {
        /// Stations of the group, as MAC addresses, IP addresses, subnets or names of listed stations.
        stations: Option<String> = formed(&STATIONS).absent("the stations whose `group` names this group");
        /// Share of the group, relative to other groups. A station without a group has a share of 1.
        share: f64 = number(0.01..=100.0).default(1.0);
        /// Largest rate of the group at each access point.
        max_bps as "max": Option<u64> = rate().absent("none");
    }
}
