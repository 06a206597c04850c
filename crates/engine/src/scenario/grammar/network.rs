//! Wired links, flows between wired nodes, and networks of a known shape.

use std::borrow::Cow;

use super::csma::{MARGINAL_UTILITY, MARGINALS};
use super::flows::{TCP_KEYS, UDP_KEYS};
use super::queue::queue;
use super::{Default, Key, Kind, S, Table, count, duration, inherited, key, number, own};

/// A wired link.
pub(super) static LINK: Table = Table {
    name: "link",
    doc: "A wired link between two nodes, both ways. Nodes are what links name; `servers` is the far end of a cell's wire.",
    parts: Cow::Borrowed(&[own(&[
        key("from", Kind::Name, Default::Required, "Node at one end."),
        key(
            "to",
            Kind::Name,
            Default::Required,
            "Node at the other end.",
        ),
        key(
            "rate",
            Kind::Rate {
                word: Some("unlimited"),
            },
            Default::Text("unlimited"),
            "Rate; \"unlimited\": no serialisation time.",
        ),
        key(
            "delay",
            duration(0, 100 * S),
            Default::Text("0 ms"),
            "Propagation time, one way.",
        ),
        key(
            "queue",
            queue(),
            Default::Count(1_000),
            "The queue in front of the link, from `from` to `to`; used only with a rate.",
        ),
        key(
            "back_queue",
            queue(),
            Default::Count(1_000),
            "The queue of the other direction.",
        ),
        key(
            "loss",
            Kind::Probability,
            Default::Probability(0.0),
            "Probability that a TCP segment or datagram is lost on the link; ACKs are spared.",
        ),
    ])]),
};

/// Flows between wired nodes.
pub(in super::super) static FLOW: Table = Table {
    name: "flow",
    doc: "A class of equal flows between two wired nodes, each with a host of its own at both ends: TCP connections, with udp datagram sources, with web connections that come and go.",
    parts: Cow::Borrowed(&[
        own(&[
            key(
                "from",
                Kind::Name,
                Default::Depends("the left or first node of a dumbbell or parking_lot"),
                "Node that the sources are attached to.",
            ),
            key(
                "to",
                Kind::Name,
                Default::Depends("the right or last node of a dumbbell or parking_lot"),
                "Node that the sinks are attached to.",
            ),
            key(
                "count",
                count(1, 100_000),
                Default::Depends("one flow with the table's own name"),
                "Makes flows NAME-1 to NAME-count.",
            ),
            key(
                "route",
                Kind::Names,
                Default::Absent("no such route; needed beside csma"),
                "Links of csma, and wired links, that the flow passes in this order, each from its `from` to its `to`, where the next begins; in the place of from and to.",
            ),
            key(
                "weight",
                number(1e-6, 1e6),
                Default::Depends("1"),
                "Weight of the flow's utility; only with a route and csma.connections = \"utility\".",
            ),
            key(
                "marginal_utility",
                Kind::Points(&MARGINAL_UTILITY),
                Default::Absent("that of csma"),
                MARGINALS,
            ),
        ]),
        inherited(HOST_KEYS, "the dumbbell or parking_lot"),
        own(&[
            key(
                "udp",
                Kind::Shorthand {
                    table: || &SOURCE,
                    main: "rate",
                },
                Default::Depends("TCP"),
                "The flows are datagram sources of this rate each.",
            ),
            key(
                "web",
                Kind::Shorthand {
                    table: || &WEB,
                    main: "connections",
                },
                Default::Depends("bulk TCP"),
                "The flow is web traffic: TCP connections that come and go, this many a second.",
            ),
            key(
                "start",
                duration(0, 1_000_000 * S),
                Default::Text("0 s"),
                "Earliest time of the first packet; start_spread comes on top.",
            ),
            key(
                "stop",
                duration(0, 1_000_000 * S),
                Default::Depends("the end of the run"),
                "No new data from then on.",
            ),
            key(
                "segments",
                count(1, 4_000_000_000),
                Default::Depends("without end"),
                "Segments each TCP connection sends.",
            ),
        ]),
        inherited(TCP_KEYS, "tcp"),
    ]),
};

/// A datagram source between wired nodes.
static SOURCE: Table = Table {
    name: "source",
    doc: "A UDP source. A bare value is its rate.",
    parts: Cow::Borrowed(&[
        own(&[
            key(
                "rate",
                Kind::Rate {
                    word: Some("greedy"),
                },
                Default::Depends("needed"),
                "Mean rate of payload; \"greedy\", on a route that begins with a wireless link without aqm: as much as its queue takes.",
            ),
            key(
                "arrivals",
                Kind::Choice(&["constant", "poisson"]),
                Default::Text("constant"),
                "Equal or exponential gaps.",
            ),
        ]),
        inherited(UDP_KEYS, "udp"),
    ]),
};

/// Web traffic between wired nodes.
static WEB: Table = Table {
    name: "web",
    doc: "Web traffic: connections with a request from `to` (the clients) to `from` (the servers) and a response back, by default as PackMime-HTTP has them. A bare number is the rate of connections.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "connections",
            number(0.1, 10_000.0),
            Default::Depends("needed"),
            "Mean number of new connections a second; at most 10000 are open at a time.",
        ),
        key(
            "arrivals",
            Kind::Choice(&["packmime", "poisson", "constant"]),
            Default::Text("packmime"),
            "Gaps between the starts of connections: Weibull with long memory, exponential, or equal.",
        ),
        key(
            "request",
            message(),
            Default::Text("packmime"),
            "Length of requests.",
        ),
        key(
            "response",
            message(),
            Default::Text("packmime"),
            "Length of responses.",
        ),
        key(
            "server_delay",
            Kind::Duration {
                least: 0,
                most: 1_000 * S,
                word: Some("packmime"),
            },
            Default::Text("packmime"),
            "Time from the arrival of a request to its response.",
        ),
    ])]),
};

/// A length of messages.
const fn message() -> Kind {
    Kind::Size {
        least: 1,
        most: 1_000_000_000,
        word: Some("packmime"),
    }
}

/// How the hosts of a flow are attached.
const HOST_KEYS: &[Key] = &[
    key(
        "access",
        Kind::Rate {
            word: Some("unlimited"),
        },
        Default::Text("unlimited"),
        "Rate of the link between a source's host and its node; its queue is never full.",
    ),
    key(
        "access_spread",
        Kind::Probability,
        Default::Probability(0.0),
        "The rates of a class's access links lie evenly over this part of the rate, around it.",
    ),
    key(
        "jitter",
        Kind::Duration {
            least: 0,
            most: S,
            word: Some("packet"),
        },
        Default::Text("0 ms"),
        "Each source takes two random times up to this over each packet it sends, one drawn for the packet and one for a second; packets keep their order. \"packet\": the time of a full TCP segment on the slowest link of the route.",
    ),
    key(
        "rtt",
        duration(0, 100 * S),
        Default::Depends("what the links of the route have"),
        "Round-trip propagation time of a flow: what the links lack is in its hosts' own links, a quarter each.",
    ),
    key(
        "rtt_spread",
        duration(0, 100 * S),
        Default::Text("0 ms"),
        "The round-trip propagation times of a class's flows lie evenly from its rtt to this much more.",
    ),
    key(
        "start_spread",
        duration(0, 1_000_000 * S),
        Default::Text("1 s"),
        "Each flow starts this much later at most, at random in each replication; 1 s without a dumbbell or parking_lot too. One that would start after its stop never does.",
    ),
];

/// Two routers.
pub(super) static DUMBBELL: Table = Table {
    name: "dumbbell",
    doc: "Nodes `left` and `right` with a link `bottleneck` from one to the other, and flows across it.",
    parts: Cow::Borrowed(&[
        own(BOTTLENECK_KEYS),
        own(&[key(
            "flows",
            count(0, 100_000),
            Default::Count(0),
            "TCP flows from left to right, a class called `flow`.",
        )]),
        own(HOST_KEYS),
    ]),
};

/// Bottlenecks in a row.
pub(super) static PARKING_LOT: Table = Table {
    name: "parking_lot",
    doc: "Nodes `r0`, `r1`, ... in a row with links `bottleneck-1`, ... from each to the next, flows through all of them and flows across each.",
    parts: Cow::Borrowed(&[
        own(&[key(
            "hops",
            count(1, 64),
            Default::Count(2),
            "Number of bottlenecks.",
        )]),
        own(BOTTLENECK_KEYS),
        own(&[
            key(
                "flows",
                count(0, 100_000),
                Default::Count(0),
                "TCP flows through all bottlenecks, a class called `through`.",
            ),
            key(
                "cross",
                count(0, 100_000),
                Default::Count(0),
                "TCP flows across each bottleneck alone, classes called `cross-1`, ...",
            ),
        ]),
        own(HOST_KEYS),
    ]),
};

const BOTTLENECK_KEYS: &[Key] = &[
    key(
        "bottleneck",
        Kind::Rate { word: None },
        Default::Required,
        "Rate of a bottleneck, both ways.",
    ),
    key(
        "delay",
        duration(0, 100 * S),
        Default::Text("0 ms"),
        "Propagation time of a bottleneck, one way.",
    ),
];
