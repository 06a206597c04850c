//! Wireless links of which each hears only some others.

use std::borrow::Cow;

use crate::control::utility::{MOST_POINTS, Marginals};
use crate::notation::table::Curve;

use super::{
    Default, Key, Kind, S, Table, US, count, duration, key, length, number, number_or, own,
};

/// A falling curve of marginal utilities.
pub(super) static MARGINAL_UTILITY: Curve = Curve {
    most: MOST_POINTS,
    allowed: "are 2 to 1000 points [rate in packets/s, marginal utility] above 0, rates rising and marginal utilities falling, such as [[10, 1], [100, 0.01]]",
    fault: |points| Marginals::new(points.to_vec()).err(),
};

/// Largest coordinate and range. [mm]
const FARTHEST: u64 = 100_000_000;

/// A network of CSMA links.
pub(super) static CSMA: Table = Table {
    name: "csma",
    doc: "Wireless links that sense only some of each other, by their conflict graph: two links in conflict are never active at a time, any two others may be. The flows are tables [flow.NAME] with a route.",
    parts: Cow::Borrowed(&[own(CSMA_KEYS)]),
};

/// Distributions of a positive time.
const SPREAD: Kind = Kind::Choice(&["exponential", "uniform", "constant"]);

const CSMA_KEYS: &[Key] = &[
    key(
        "link",
        Kind::Named(|| &LINK),
        Default::Required,
        "Wireless links by name; names as for stations.",
    ),
    key(
        "node",
        Kind::Named(|| &NODE),
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
        "Carrier-sensing range, no less than transmission_range: links from node to node conflict if their transmitters are no farther apart, or share a node.",
    ),
    key(
        "interference_range",
        length(0, FARTHEST),
        Default::Text("0 mm"),
        "How far from its transmitter a frame destroys those of links that do not conflict with it, at their receivers: hidden nodes. 0 m: there are none.",
    ),
    key(
        "connected",
        Kind::Flag,
        Default::Flag(false),
        "Whether the conflict graph is meant to be in one piece; one that is not is refused.",
    ),
    key(
        "access",
        Kind::Choice(&["adaptive", "legacy", "dcf"]),
        Default::Text("adaptive"),
        "Adaptive: a link's mean backoff is exp(-beta r) of a transmission, r following its queue. Legacy: all links count down alike, in continuous time. Dcf: they count slots, with windows that double after a collision (IEEE 802.11). With legacy and dcf there are no prices: one connection a flow, no aqm. Settings that an access or connections have no use for are refused, but those of the file where --set chose the access or connections.",
    ),
    key(
        "service_rate",
        number(1e-3, 1e7),
        Default::Number(600.0),
        "Packets that a link sends in a second while it is active, the same for all links; shorter ones than the longest of any flow take less time.",
    ),
    key(
        "overhead",
        duration(0, 10 * S),
        Default::Text("0 s"),
        "Part of a transmission that does not depend on the packet's length: preambles, headers, MAC ACK.",
    ),
    key(
        "transmission",
        SPREAD,
        Default::Text("constant"),
        "Distribution of the time a packet takes on the air, with the mean that its length gives; uniform: from 0 to twice the mean.",
    ),
    key(
        "backoff",
        SPREAD,
        Default::Text("exponential"),
        "Distribution of the backoff time with adaptive and legacy access.",
    ),
    key(
        "attempts",
        count(1, 255),
        Default::Count(7),
        "Attempts for each packet, the first one included.",
    ),
    key(
        "slot",
        duration(US, S),
        Default::Text("20 us"),
        "Slot time of the dcf.",
    ),
    key(
        "difs",
        duration(0, S),
        Default::Text("50 us"),
        "Silence before a link of the dcf counts slots.",
    ),
    key(
        "eifs",
        duration(0, S),
        Default::Depends("difs"),
        "The same after frames that a link of the dcf senses but cannot read: 364 us in 802.11b. It reads its own way back and, where nodes have positions, what is sent to or from a node in transmission_range of its transmitter.",
    ),
    key(
        "cwmin",
        count(0, 32_767),
        Default::Count(31),
        "Smallest contention window of the dcf.",
    ),
    key(
        "cwmax",
        count(0, 32_767),
        Default::Count(1023),
        "Largest contention window of the dcf.",
    ),
    key(
        "queue",
        count(1, 1_000_000),
        Default::Count(1_000),
        "Most packets in the queue of a link, the one in service included.",
    ),
    key(
        "dummy",
        Kind::Flag,
        Default::Flag(false),
        "Whether a link without packets sends dummy packets, each as long as the longest of any flow.",
    ),
    key(
        "acks",
        Kind::Choice(&["priority", "contend"]),
        Default::Text("priority"),
        "TCP ACKs over wireless links. Priority: they go back at once and take no time of their own on the air (h-ACK). Contend: each link has one back that conflicts with it and with what it conflicts with, and ACKs are packets there like others (n-ACK).",
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
        "queue_unit",
        Kind::Choice(&["packets", "bytes"]),
        Default::Text("packets"),
        "What the queue is counted in for r; a packet of the longest of any flow counts as one.",
    ),
    key(
        "r_interval",
        duration(US, 1_000 * S),
        Default::Text("1 s"),
        "Time between two looks at the queue, at which r is set.",
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
        "Whether a link drops arriving packets with probability r; it marks them where they are ECN-capable.",
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
        "connections_interval",
        duration(US, 1_000 * S),
        Default::Text("5 s"),
        "Time between two changes of a flow's number of connections; the round-trip time is its mean since the last one.",
    ),
    key(
        "rounding",
        Kind::Choice(&["down", "nearest"]),
        Default::Text("down"),
        "How the number of connections becomes whole; there is always one.",
    ),
    key(
        "smoothing",
        Kind::Probability,
        Default::Probability(0.0),
        "Weight of the number before in the next one, before rounding: 0.5 takes the mean of the two.",
    ),
    key(
        "fairness",
        number(-1000.0, 1000.0),
        Default::Depends("2"),
        "Utility x^(1 - fairness) / (1 - fairness) of a rate x in packets/s, only with connections = \"utility\"; above 0, so that it is concave. 1: proportional fairness.",
    ),
    key(
        "marginal_utility",
        Kind::Points(&MARGINAL_UTILITY),
        Default::Absent("a power of the rate, by fairness"),
        MARGINALS,
    ),
];

/// Of the network and of a flow.
pub(super) const MARGINALS: &str = "Any concave utility, in the place of fairness and only with connections = \"utility\", by its derivative: points [rate in packets/s, marginal utility]. Between two points, and beyond the first and the last, it is a power of the rate.";

static LINK: Table = Table {
    name: "csma.link",
    doc: "A wireless link: its conflicts, or the nodes at its ends.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "conflicts",
            Kind::Names,
            Default::Absent("none of its own; that of another link holds for both"),
            "Links that this one senses, and that sense it.",
        ),
        key(
            "disturbs",
            Kind::Names,
            Default::Absent("none"),
            "Links whose frames are destroyed by this one's though their transmitters do not sense it: hidden nodes.",
        ),
        key(
            "r",
            number(0.0, 1e6),
            Default::Absent("it follows the queue"),
            "Aggressiveness of this link, whatever its queue.",
        ),
        key(
            "error",
            Kind::Probability,
            Default::Probability(0.0),
            "Probability that a frame is lost to channel errors, per attempt.",
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
    ])]),
};

static NODE: Table = Table {
    name: "csma.node",
    doc: "Where a node stands.",
    parts: Cow::Borrowed(&[own(&[
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
    ])]),
};
