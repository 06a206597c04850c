//! Queues: one table for each place that has one.

use std::borrow::Cow;

use super::vbs::VBS_KEYS;
use super::{
    Default, Key, Kind, MS, S, Table, US, count, duration, key, number, number_or, own, size,
};

/// A queue; a bare number is its limit.
pub(super) const fn queue() -> Kind {
    Kind::Shorthand {
        table: || &QUEUE,
        main: "limit",
    }
}

/// The queue of the access point, which knows stations.
pub(super) const fn ap_queue() -> Kind {
    Kind::Shorthand {
        table: || &AP_QUEUE,
        main: "limit",
    }
}

/// Keys of queues that name a discipline, of which a queue has at most one.
pub(in super::super) const DISCIPLINES: &[&str] = &[
    "threshold",
    "red",
    "proportional",
    "codel",
    "pie",
    "fq_codel",
    "vbs",
];

static QUEUE: Table = Table {
    name: "queue",
    doc: "A queue: its limit and at most one discipline; without one it is drop-tail.",
    parts: Cow::Borrowed(&[own(QUEUE_KEYS)]),
};

static AP_QUEUE: Table = Table {
    name: "ap_queue",
    doc: "The queue of the access point: its limit and at most one discipline; without one it is drop-tail.",
    parts: Cow::Borrowed(&[own(QUEUE_KEYS), own(VBS_KEYS)]),
};

const QUEUE_KEYS: &[Key] = &[
    key(
        "limit",
        count(1, 1_000_000),
        Default::Depends("1000, with fq_codel 10240, with threshold that"),
        "Most packets: waiting plus the one in service.",
    ),
    key(
        "threshold",
        count(1, 1_000_000),
        Default::Absent("none"),
        "Threshold policy: a packet that finds this many is lost, which is a drop-tail queue of that limit.",
    ),
    key(
        "red",
        Kind::Table(|| &RED),
        Default::Absent("none"),
        "Random early detection.",
    ),
    key(
        "proportional",
        Kind::Table(|| &PROPORTIONAL),
        Default::Absent("none"),
        "Drops with a probability proportional to the backlog.",
    ),
    key(
        "codel",
        Kind::Shorthand {
            table: || &CODEL,
            main: "target",
        },
        Default::Absent("none"),
        "CoDel (RFC 8289).",
    ),
    key(
        "pie",
        Kind::Shorthand {
            table: || &PIE,
            main: "target",
        },
        Default::Absent("none"),
        "PIE (RFC 8033).",
    ),
    key(
        "fq_codel",
        Kind::Shorthand {
            table: || &FQ_CODEL,
            main: "target",
        },
        Default::Absent("none"),
        "FQ-CoDel (RFC 8290).",
    ),
];

const ECN: Kind = Kind::Flag;
const ECN_DOC: &str = "Marks packets that are ECN-capable instead of dropping them.";

static RED: Table = Table {
    name: "red",
    doc: "Random early detection, as ns-2 runs it or as published.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "form",
            Kind::Choice(&["ns-2", "published"]),
            Default::Text("ns-2"),
            "\"ns-2\": as ns-2.35 runs it; \"published\": as Floyd and Jacobson wrote it down in 1993.",
        ),
        key(
            "min_th",
            number(0.0, 1_000_000.0),
            Default::Required,
            "Average queue from which packets are dropped, in packets (of the mean length).",
        ),
        key(
            "max_th",
            number(0.0, 1_000_000.0),
            Default::Required,
            "Average queue at which the drop probability reaches max_p, in packets (of the mean length).",
        ),
        key(
            "max_p",
            number(0.000_001, 1.0),
            Default::Number(0.1),
            "Drop probability just below max_th.",
        ),
        key(
            "weight",
            number_or("auto", 0.0, 1.0),
            Default::Depends("\"auto\", as published 0.002"),
            "Weight of the queue now in its average; 1: no averaging; \"auto\": ns-2's q_weight -1, from rate and delay of the link; 0: ns-2's q_weight 0, from the rate alone.",
        ),
        key(
            "gentle",
            Kind::Flag,
            Default::Depends("true, as published false"),
            "Above max_th the drop probability rises to 1 at twice max_th; otherwise it is 1.",
        ),
        key(
            "wait",
            Kind::Flag,
            Default::Depends("true, as published false"),
            "Early drops are 1 to 2 times 1/p packets apart; otherwise up to 1/p.",
        ),
        key(
            "bytes",
            Kind::Flag,
            Default::Flag(false),
            "Counts the queue in bytes, and drops long packets more often than short ones.",
        ),
        key(
            "mean_packet",
            size(1, 65_535),
            Default::Text("500 B"),
            "Mean length of a packet, with which idle time, automatic weight and bytes reckon.",
        ),
        key("ecn", ECN, Default::Flag(false), ECN_DOC),
    ])]),
};

static PROPORTIONAL: Table = Table {
    name: "proportional",
    doc: "Drops with a probability proportional to the backlog.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "slope",
            number(0.000_000_001, 1.0),
            Default::Required,
            "Drop probability for each packet that an arriving one finds.",
        ),
        key("ecn", ECN, Default::Flag(false), ECN_DOC),
    ])]),
};

const TARGET: Kind = duration(0, 10 * S);
const INTERVAL: Kind = duration(US, 100 * S);
const TARGET_DOC: &str = "Time in the queue that is acceptable.";
const INTERVAL_DOC: &str = "For how long packets must be above target before one is dropped; of the order of a round trip.";

static CODEL: Table = Table {
    name: "codel",
    doc: "CoDel: drops at the head while packets wait for too long.",
    parts: Cow::Borrowed(&[own(&[
        key("target", TARGET, Default::Text("5 ms"), TARGET_DOC),
        key("interval", INTERVAL, Default::Text("100 ms"), INTERVAL_DOC),
        key("ecn", ECN, Default::Flag(false), ECN_DOC),
    ])]),
};

static PIE: Table = Table {
    name: "pie",
    doc: "PIE: a drop probability that holds the queueing delay near a target.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "target",
            TARGET,
            Default::Text("15 ms"),
            "Queueing delay aimed at.",
        ),
        key(
            "update",
            duration(MS, 10 * S),
            Default::Text("15 ms"),
            "Time between updates of the drop probability.",
        ),
        key(
            "alpha",
            number(0.0, 100.0),
            Default::Number(0.125),
            "Weight of the distance from the target, per second.",
        ),
        key(
            "beta",
            number(0.0, 100.0),
            Default::Number(1.25),
            "Weight of the change of the delay, per second.",
        ),
        key(
            "max_burst",
            duration(0, 100 * S),
            Default::Text("150 ms"),
            "Time for which a burst passes that follows a quiet time.",
        ),
        key("ecn", ECN, Default::Flag(false), ECN_DOC),
    ])]),
};

static FQ_CODEL: Table = Table {
    name: "fq_codel",
    doc: "FQ-CoDel: a CoDel queue for each flow, served in turn.",
    parts: Cow::Borrowed(&[own(&[
        key("target", TARGET, Default::Text("5 ms"), TARGET_DOC),
        key("interval", INTERVAL, Default::Text("100 ms"), INTERVAL_DOC),
        key(
            "quantum",
            size(1, 100_000),
            Default::Text("1514 B"),
            "What a queue may send in its turn.",
        ),
        key(
            "queues",
            count(1, 65_536),
            Default::Count(1_024),
            "Number of queues that flows are hashed to.",
        ),
        key("ecn", ECN, Default::Flag(true), ECN_DOC),
    ])]),
};
