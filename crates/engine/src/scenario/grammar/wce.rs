//! The wireless capacity estimator, of `[vsb]` and of `[gateway]`.

use std::borrow::Cow;

use super::{Default, Key, Kind, MS, S, Table, duration, inherited, key, number, own};

/// `vsb.wce`.
pub(super) static VSB_WCE: Table = Table {
    name: "vsb.wce",
    doc: DOC,
    parts: Cow::Borrowed(&[
        own(&[key(
            "max",
            Kind::Rate { word: None },
            Default::Depends("6/11 of the preset's data rate"),
            MAX,
        )]),
        own(KEYS),
    ]),
};

/// `gateway.wce`.
pub(super) static WCE: Table = Table {
    name: "wce",
    doc: DOC,
    parts: Cow::Borrowed(&[own(GATEWAY_MAX), own(KEYS)]),
};

/// `gateway.ap.NAME.wce`.
pub(super) static ACCESS_POINT_WCE: Table = Table {
    name: "gateway.ap.wce",
    doc: "The wireless capacity estimator of one access point.",
    parts: Cow::Borrowed(&[
        inherited(GATEWAY_MAX, "gateway.wce"),
        inherited(KEYS, "gateway.wce"),
    ]),
};

const DOC: &str = "The wireless capacity estimator: it pings stations and takes the bottleneck's rate up or down by their round-trip times.";
const MAX: &str = "Largest rate, and the first one: somewhat above what the WLAN can carry.";

const GATEWAY_MAX: &[Key] = &[key(
    "max",
    Kind::Rate { word: None },
    Default::Depends("6 Mbps, the cap of paper 002"),
    MAX,
)];

const KEYS: &[Key] = &[
    key(
        "min",
        Kind::Rate { word: None },
        Default::Depends("a thirtieth of max"),
        "Least rate.",
    ),
    key(
        "interval",
        duration(MS, 10 * S),
        Default::Text("100 ms"),
        "Time between pings, each to a station drawn at random.",
    ),
    key(
        "low",
        duration(1, 10 * S),
        Default::Text("5 ms"),
        "Up to this round-trip time the rate grows exponentially.",
    ),
    key(
        "threshold",
        duration(1, 10 * S),
        Default::Text("40 ms"),
        "Up to this round-trip time the rate grows linearly, above it falls.",
    ),
    key(
        "high",
        duration(1, 10 * S),
        Default::Text("200 ms"),
        "Above this round-trip time the rate falls exponentially.",
    ),
    key(
        "increase",
        Kind::Rate { word: None },
        Default::Depends("a sixtieth of max in each second"),
        "Linear step up, each interval.",
    ),
    key(
        "decrease",
        Kind::Rate { word: None },
        Default::Depends("four times increase"),
        "Linear step down, each interval.",
    ),
    key(
        "speed_up",
        number(1.001, 2.0),
        Default::Number(1.02),
        "Factor of an exponential step up.",
    ),
    key(
        "back_off",
        number(0.01, 0.99),
        Default::Number(0.8),
        "Factor of an exponential step down.",
    ),
    key(
        "timeout",
        duration(MS, 100 * S),
        Default::Text("3 s"),
        "A longer round-trip time counts as no answer, and the rate holds.",
    ),
];
