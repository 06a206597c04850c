//! The gateway: what `lasthop gateway` does on Linux.

use std::borrow::Cow;

use super::super::forms::{
    ADDRESSES, AGENT, COMMUNITY, FILE, INTERFACE, LOOPBACK, MAC, OID, SUBNETS,
};
use super::wce::{ACCESS_POINT_WCE, WCE};
use super::{Default, Key, Kind, MS, S, Table, count, duration, inherited, key, own};

/// The gateway.
pub(super) static GATEWAY: Table = Table {
    name: "gateway",
    doc: "A virtual shared bottleneck between the Internet and access points, on a Linux machine that routes or bridges their traffic.",
    parts: Cow::Borrowed(&[own(GATEWAY_KEYS), own(BOTTLENECK_KEYS)]),
};

const GATEWAY_KEYS: &[Key] = &[
    key(
        "wan",
        Kind::Formed(&INTERFACE),
        Default::Required,
        "Network interface towards the Internet.",
    ),
    key(
        "lan",
        Kind::Formed(&INTERFACE),
        Default::Required,
        "Network interface towards the access points.",
    ),
    key(
        "queue",
        count(2, 10_000),
        Default::Count(200),
        "Packets that each leaf holds.",
    ),
    key(
        "discipline",
        Kind::Choice(&["pfifo", "fq_codel", "sfq"]),
        Default::Text("pfifo"),
        "Queue in each leaf: first in, first out, or one of the kernel's fair queues, where it has them.",
    ),
    key(
        "flow_leaves",
        count(2, 4_096),
        Default::Count(256),
        "With fairness \"flow\": leaves of an access point into which its flows are hashed.",
    ),
    key(
        "udp_uplink",
        Kind::Rate { word: None },
        Default::Text("200 kbps"),
        "A station that sends more UDP than this is not pinged: its answers wait behind its own datagrams.",
    ),
    key(
        "metrics",
        Kind::Formed(&LOOPBACK),
        Default::Text("127.0.0.1:9464"),
        "Where Prometheus finds the metrics.",
    ),
    key(
        "wce",
        Kind::Table(|| &WCE),
        Default::Depends("the defaults of its keys"),
        "The wireless capacity estimator.",
    ),
    key(
        "discover",
        Kind::Table(|| &DISCOVER),
        Default::Depends("the neighbour table if no station is listed"),
        "How stations are found that are not listed.",
    ),
    key(
        "ap",
        Kind::Named(|| &ACCESS_POINT),
        Default::Depends("one access point, wlan"),
        "Access points by name; each has a bottleneck of its own.",
    ),
    key(
        "station",
        Kind::Named(|| &STATION),
        Default::Absent("none is listed"),
        "Stations that are known beforehand, by name.",
    ),
];

/// What an access point may have of its own.
const BOTTLENECK_KEYS: &[Key] = &[
    key(
        "fairness",
        Kind::Choice(&["station", "rate", "flow", "direction"]),
        Default::Text("station"),
        "What is shared equally: the bytes of stations; their bytes over their data rate, about the same as their time on the air; the bytes of flows; those of both directions.",
    ),
    key(
        "rate",
        Kind::Rate {
            word: Some("estimated"),
        },
        Default::Text("estimated"),
        "Rate of the bottleneck: \"estimated\" from pings, or a fixed one.",
    ),
];

static DISCOVER: Table = Table {
    name: "discover",
    doc: "Where stations are looked for.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "neighbours",
            Kind::Flag,
            Default::Depends("true if no station is listed and there is no other source"),
            "The kernel's table of neighbours at the interface towards the access points (ARP, NDP).",
        ),
        key(
            "leases",
            Kind::Formed(&FILE),
            Default::Absent("none"),
            "Leases file of dnsmasq or ISC dhcpd.",
        ),
        key(
            "ignore",
            Kind::Formed(&ADDRESSES),
            Default::Absent("none"),
            "Addresses of what is no station: access points, machines on a cable.",
        ),
        key(
            "interval",
            duration(100 * MS, 3_600 * S),
            Default::Text("5 s"),
            "Time between two looks.",
        ),
        key(
            "absence",
            duration(S, 86_400 * S),
            Default::Text("300 s"),
            "A station leaves when no source has named it for so long.",
        ),
    ])]),
};

static ACCESS_POINT: Table = Table {
    name: "gateway.ap",
    doc: "An access point and its bottleneck.",
    parts: Cow::Borrowed(&[
        own(&[
            key(
                "interface",
                Kind::Formed(&INTERFACE),
                Default::Depends("gateway.lan"),
                "Interface towards this access point, if it has one of its own.",
            ),
            key(
                "subnets",
                Kind::Formed(&SUBNETS),
                Default::Absent("none"),
                "Stations found with an address in these are this access point's.",
            ),
            key(
                "wce",
                Kind::Table(|| &ACCESS_POINT_WCE),
                Default::Depends("gateway.wce"),
                "The wireless capacity estimator of this access point.",
            ),
            key(
                "snmp",
                Kind::Table(|| &SNMP),
                Default::Absent("not asked"),
                "The access point's own table of associated stations.",
            ),
        ]),
        inherited(BOTTLENECK_KEYS, "gateway"),
    ]),
};

static SNMP: Table = Table {
    name: "snmp",
    doc: "How an access point is asked for its stations (SNMP version 2c).",
    parts: Cow::Borrowed(&[own(&[
        key(
            "agent",
            Kind::Formed(&AGENT),
            Default::Required,
            "Address of the access point.",
        ),
        key(
            "community",
            Kind::Formed(&COMMUNITY),
            Default::Text("public"),
            "Community that may read.",
        ),
        key(
            "table",
            Kind::Formed(&OID),
            Default::Text("1.3.6.1.4.1.9.9.273.1.2.1.1.16"),
            "Column of addresses whose index ends in the station's MAC address; the default is cDot11ClientIpAddress of CISCO-DOT11-ASSOCIATION-MIB.",
        ),
    ])]),
};

static STATION: Table = Table {
    name: "gateway.station",
    doc: "A station that is known beforehand.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "address",
            Kind::Formed(&ADDRESSES),
            Default::Depends("found by mac"),
            "Its addresses.",
        ),
        key(
            "mac",
            Kind::Formed(&MAC),
            Default::Absent("unknown"),
            "Its MAC address; addresses found with it are added.",
        ),
        key(
            "ap",
            Kind::Name,
            Default::Depends("the only access point, or the one that it is found at"),
            "Its access point.",
        ),
        key(
            "rate",
            Kind::Rate { word: None },
            Default::Depends(
                "the rate of the scenario's station of this name, else the highest of all",
            ),
            "Rate of its frames, for fairness = \"rate\".",
        ),
    ])]),
};
