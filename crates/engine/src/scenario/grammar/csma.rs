//! Wireless links of which each hears only some others.

use super::{Default, Key, Kind, Table, key, length, number, number_or, own};

/// Largest coordinate and range. [mm]
const FARTHEST: u64 = 100_000_000;

/// A network of CSMA links.
pub(super) const CSMA: Table = Table {
    name: "csma",
    doc: "Wireless links that sense only some of each other, by their conflict graph: two links in conflict are never active at a time, any two others may be. The flows are tables [flow.NAME] with a route. Such a network is predicted, not simulated.",
    parts: &[own(CSMA_KEYS)],
};

const CSMA_KEYS: &[Key] = &[
    key(
        "link",
        Kind::Named(&LINK),
        Default::Required,
        "Wireless links by name; names as for stations.",
    ),
    key(
        "node",
        Kind::Named(&NODE),
        Default::Absent("no nodes; conflicts are listed"),
        "Nodes by name with their positions, from which the conflicts follow.",
    ),
    key(
        "transmission_range",
        length(1, FARTHEST),
        Default::Text("250 m"),
        "How far a frame can be received; links from node to node are not longer.",
    ),
    key(
        "sensing_range",
        length(1, FARTHEST),
        Default::Text("800 m"),
        "Carrier-sensing range: links from node to node conflict if their transmitters are no farther apart, or share a node.",
    ),
    key(
        "connected",
        Kind::Flag,
        Default::Flag(false),
        "Whether the conflict graph is meant to be in one piece; one that is not is refused.",
    ),
    key(
        "access",
        Kind::Choice(&["adaptive", "legacy"]),
        Default::Text("adaptive"),
        "Adaptive: a link's mean backoff is exp(-beta r) of a transmission, r following its queue. Legacy: all links count down alike.",
    ),
    key(
        "service_rate",
        number(1e-3, 1e7),
        Default::Number(600.0),
        "Packets that a link sends in a second while it is active, the same for all links.",
    ),
    key(
        "access_intensity",
        number(1e-6, 1e6),
        Default::Number(2.24),
        "Mean transmission over mean backoff time of every link with legacy access.",
    ),
    key(
        "beta",
        number(1e-6, 1e9),
        Default::Number(200.0),
        "Factor of the aggressiveness r in the exponent of the backoff, inverse weight of the entropy.",
    ),
    key(
        "r_per_packet",
        number(1e-12, 1.0),
        Default::Number(3e-5),
        "Aggressiveness r of a link for each packet in its queue.",
    ),
    key(
        "r_max",
        number_or("unlimited", 1e-12, 1e6),
        Default::Text("unlimited"),
        "Largest aggressiveness r; needed without aqm, where r grows up to it.",
    ),
    key(
        "aqm",
        Kind::Flag,
        Default::Flag(true),
        "Whether a link drops arriving packets with probability r.",
    ),
    key(
        "connections",
        Kind::Choice(&["rtt", "utility", "one"]),
        Default::Text("rtt"),
        "TCP connections of each flow: k times the round-trip time, or as many as realise the utility, or one.",
    ),
    key(
        "k",
        number(1e-6, 1e6),
        Default::Number(10.0),
        "Connections for each second of round-trip time.",
    ),
    key(
        "fairness",
        number(-1000.0, 1000.0),
        Default::Depends("2"),
        "Utility x^(1 - fairness) / (1 - fairness) of a rate x, only with connections = \"utility\"; above 0, so that it is concave. 1: proportional fairness.",
    ),
];

const LINK: Table = Table {
    name: "csma.link",
    doc: "A wireless link: its conflicts, or the nodes at its ends.",
    parts: &[own(&[
        key(
            "conflicts",
            Kind::Names,
            Default::Absent("none of its own; that of another link holds for both"),
            "Links that this one senses, and that sense it.",
        ),
        key(
            "from",
            Kind::Name,
            Default::Absent("no node; conflicts are listed"),
            "Transmitter.",
        ),
        key(
            "to",
            Kind::Name,
            Default::Absent("no node; conflicts are listed"),
            "Receiver.",
        ),
    ])],
};

const NODE: Table = Table {
    name: "csma.node",
    doc: "Where a node stands.",
    parts: &[own(&[
        key(
            "x",
            length(0, FARTHEST),
            Default::Text("0 mm"),
            "Position to the east.",
        ),
        key(
            "y",
            length(0, FARTHEST),
            Default::Text("0 mm"),
            "Position to the north.",
        ),
    ])],
};
