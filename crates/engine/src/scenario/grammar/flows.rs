//! Flows and their transport.

use std::borrow::Cow;

use super::{Default, Key, Kind, S, Table, US, count, duration, inherited, key, number, own, size};

/// The scenario's TCP settings.
pub(super) static TCP: Table = Table {
    name: "tcp",
    doc: "Settings of TCP connections.",
    parts: Cow::Borrowed(&[own(TCP_KEYS)]),
};

pub(super) const TCP_KEYS: &[Key] = &[
    key(
        "congestion",
        Kind::Choice(CONGESTION_CONTROLS),
        Default::Text("newreno"),
        "Congestion control of the sender.",
    ),
    key(
        "compound",
        Kind::Table(|| &COMPOUND),
        Default::Depends("the published values"),
        "Parameters of Compound TCP.",
    ),
    key(
        "hystart",
        Kind::Flag,
        Default::Flag(false),
        "HyStart++: the first slow start ends when the round-trip time rises, not with a loss.",
    ),
    key(
        "ecn",
        Kind::Flag,
        Default::Flag(false),
        "Explicit congestion notification (RFC 3168): queues that can mark do so in place of drops.",
    ),
    key(
        "sack",
        Kind::Flag,
        Default::Flag(false),
        "Selective acknowledgements and recovery by them (RFC 6675); not with congestion \"tahoe\".",
    ),
    key(
        "prr",
        Kind::Flag,
        Default::Flag(false),
        "Proportional rate reduction in recovery (RFC 9937); needs sack.",
    ),
    key(
        "window",
        count(1, 65_535),
        Default::Count(42),
        "Receive window in packets.",
    ),
    key(
        "initial_window",
        count(1, 65_535),
        Default::Count(2),
        "Initial congestion window in packets.",
    ),
    key(
        "delayed_ack",
        Kind::Flag,
        Default::Flag(true),
        "Acknowledge every second segment or after ack_delay; otherwise every segment.",
    ),
    key(
        "ack_delay",
        duration(0, 10 * S),
        Default::Text("100 ms"),
        "Delayed-ACK timer.",
    ),
    key(
        "ack_processing",
        duration(0, 10 * S),
        Default::Text("0 s"),
        "Time the receiver takes to make an ACK.",
    ),
    key(
        "mss",
        size(1, 2_304),
        Default::Text("1460 B"),
        "Payload of a full segment.",
    ),
    key(
        "header",
        size(1, 256),
        Default::Text("40 B"),
        "TCP/IP header of a segment, and size of an ACK.",
    ),
    key(
        "min_rto",
        duration(US, 60 * S),
        Default::Text("200 ms"),
        "Least retransmission timeout.",
    ),
    key(
        "initial_rto",
        duration(US, 60 * S),
        Default::Text("1 s"),
        "Retransmission timeout before the first round-trip sample.",
    ),
];

/// Names of the congestion controls.
const CONGESTION_CONTROLS: &[&str] = &[
    "tahoe", "reno", "newreno", "compound", "cubic", "illinois", "africa",
];

/// Parameters of Compound TCP. Absent ones are looked up further out, then published.
static COMPOUND: Table = Table {
    name: "compound",
    doc: "Parameters of Compound TCP (congestion = \"compound\").",
    parts: Cow::Borrowed(&[own(&[
        key(
            "alpha",
            number(0.0, 100.0),
            Default::Depends("0.125"),
            "Growth of the window in a round trip without queue is alpha win^k packets.",
        ),
        key(
            "beta",
            Kind::Probability,
            Default::Depends("0.5"),
            "Part of the window that a loss takes.",
        ),
        key(
            "k",
            number(0.0, 1.0),
            Default::Depends("0.75"),
            "Exponent of that growth.",
        ),
        key(
            "gamma",
            number(0.0, 1_000_000.0),
            Default::Depends("30"),
            "Packets of the flow in the queue from which the delay window shrinks.",
        ),
        key(
            "zeta",
            number(0.0, 1_000.0),
            Default::Depends("0.5"),
            "Packets that the delay window gives up in a round trip for each one in the queue.",
        ),
    ])]),
};

/// The scenario's UDP settings.
pub(super) static UDP: Table = Table {
    name: "udp",
    doc: "Settings of UDP sources.",
    parts: Cow::Borrowed(&[own(UDP_KEYS)]),
};

pub(super) const UDP_KEYS: &[Key] = &[
    key(
        "packet",
        size(1, 2_304),
        Default::Text("1472 B"),
        "Payload of a datagram.",
    ),
    key(
        "header",
        size(0, 256),
        Default::Text("28 B"),
        "UDP/IP header of a datagram.",
    ),
];

/// A station's TCP settings.
pub(super) static STATION_TCP: Table = Table {
    name: "station_tcp",
    doc: "Settings of one station's TCP connections.",
    parts: Cow::Borrowed(&[inherited(TCP_KEYS, "tcp")]),
};

/// Names of the access categories, the default first.
const CATEGORIES: &[&str] = &["best-effort", "background", "video", "voice"];

const FLOW_KEYS: &[Key] = &[
    key(
        "start",
        duration(0, 1_000_000 * S),
        Default::Text("0 s"),
        "Time of the first packet, stagger not counted.",
    ),
    key(
        "stop",
        duration(0, 1_000_000 * S),
        Default::Depends("the end of the run"),
        "No new data from then on.",
    ),
    key(
        "server",
        Kind::Name,
        Default::Depends("cell.node"),
        "Node of the wired network that the server is attached to.",
    ),
    key(
        "category",
        Kind::Choice(CATEGORIES),
        Default::Text("best-effort"),
        "Access category of its packets, TCP ACKs included.",
    ),
];

/// TCP flows of a station, one way.
pub(super) static CONNECTIONS: Table = Table {
    name: "connections",
    doc: "TCP connections of a station, one way. A bare number is the number of connections.",
    parts: Cow::Borrowed(&[
        own(&[key(
            "connections",
            count(0, 100_000),
            Default::Count(1),
            "Number of connections.",
        )]),
        own(FLOW_KEYS),
        own(&[key(
            "segments",
            count(1, 4_000_000_000),
            Default::Depends("without end"),
            "Segments each connection sends.",
        )]),
        inherited(TCP_KEYS, "the station's tcp"),
    ]),
};

/// A UDP flow of a station.
pub(super) static DATAGRAMS: Table = Table {
    name: "datagrams",
    doc: "A UDP source. A bare value is its rate.",
    parts: Cow::Borrowed(&[
        own(&[
            key(
                "rate",
                Kind::Rate {
                    word: Some("greedy"),
                },
                Default::Depends("needed unless arrivals is \"greedy\""),
                "Mean rate of payload; \"greedy\": the same as arrivals = \"greedy\".",
            ),
            key(
                "arrivals",
                Kind::Choice(&["constant", "poisson", "greedy"]),
                Default::Depends("\"constant\", with rate = \"greedy\" \"greedy\""),
                "Equal gaps, exponential gaps, or a datagram whenever the first queue has room.",
            ),
        ]),
        own(FLOW_KEYS),
        inherited(UDP_KEYS, "udp"),
    ]),
};

/// The reports of a sensor.
pub(super) static REPORTS: Table = Table {
    name: "reports",
    doc: "Small reports, each one segment or datagram. A bare value is the time between them.",
    parts: Cow::Borrowed(&[
        own(&[
            key(
                "every",
                duration(100 * US, 1_000_000 * S),
                Default::Depends("none: it must be given"),
                "Mean time between reports.",
            ),
            key(
                "transport",
                Kind::Choice(&["udp", "tcp"]),
                Default::Text("udp"),
                "A datagram each, or a segment each on one TCP connection that is open from the start.",
            ),
            key(
                "size",
                size(1, 2_304),
                Default::Text("100 B"),
                "Payload of a report.",
            ),
            key(
                "arrivals",
                Kind::Choice(&["poisson", "constant"]),
                Default::Text("poisson"),
                "Exponential or equal gaps.",
            ),
            key(
                "deadline",
                duration(100 * US, 1_000_000 * S),
                Default::Depends("a tenth of the duration, at most 10 s"),
                "A report that takes longer counts as lost.",
            ),
        ]),
        own(FLOW_KEYS),
    ]),
};
