//! The virtual shared bottleneck.

use super::{Default, Kind, MS, S, Table, US, count, duration, key, number, own, size};

/// `[vsb]`.
pub(super) const VSB: Table = Table {
    name: "vsb",
    doc: "A virtual shared bottleneck between the wire and the access point: TCP of both directions and downlink UDP share its rate fairly; uplink UDP and pings pass beside it.",
    parts: &[own(&[
        key(
            "fairness",
            Kind::Choice(&["station", "airtime", "rate", "flow", "direction"]),
            Default::Text("station"),
            "What is shared equally: the bytes of stations; their time on the air; their bytes over their data rate; the bytes of flows; those of all uploads and of all downloads. ACKs count with their flow.",
        ),
        key(
            "queue",
            count(1, 100_000),
            Default::Count(200),
            "Most packets of each leaf, the one in service included.",
        ),
        key(
            "rate",
            Kind::Rate {
                word: Some("estimated"),
            },
            Default::Text("estimated"),
            "Its rate C; \"estimated\": just under the capacity of the WLAN, from the round-trip times of pings.",
        ),
        key(
            "start",
            duration(0, 1_000_000 * S),
            Default::Text("0 s"),
            "Packets pass freely until then.",
        ),
        key(
            "max_rate",
            Kind::Rate { word: None },
            Default::Depends("6/11 of the preset's data rate"),
            "Largest rate of the estimator, where it begins.",
        ),
        key(
            "min_rate",
            Kind::Rate { word: None },
            Default::Depends("a thirtieth of max_rate"),
            "Least rate of the estimator.",
        ),
        key(
            "increase",
            Kind::Rate { word: None },
            Default::Depends("a sixtieth of max_rate in a second"),
            "Linear step up, each ping.",
        ),
        key(
            "decrease",
            Kind::Rate { word: None },
            Default::Depends("a fifteenth of max_rate in a second"),
            "Linear step down, each ping.",
        ),
        key(
            "speed_up",
            number(1.0, 2.0),
            Default::Number(1.02),
            "Factor of an exponential step up.",
        ),
        key(
            "back_off",
            number(0.0, 1.0),
            Default::Number(0.8),
            "Factor of an exponential step down.",
        ),
        key(
            "low",
            duration(0, 10 * S),
            Default::Text("5 ms"),
            "Round-trip time up to which the rate grows exponentially.",
        ),
        key(
            "threshold",
            duration(0, 10 * S),
            Default::Text("40 ms"),
            "Round-trip time above which the rate falls.",
        ),
        key(
            "high",
            duration(0, 10 * S),
            Default::Text("200 ms"),
            "Round-trip time above which it falls exponentially.",
        ),
        key(
            "timeout",
            duration(MS, 100 * S),
            Default::Text("3 s"),
            "A longer round-trip time counts as no answer, and the rate holds.",
        ),
        key(
            "ping_interval",
            duration(100 * US, 100 * S),
            Default::Text("100 ms"),
            "Time between pings, each to a station drawn at random.",
        ),
        key(
            "ping",
            size(28, 1500),
            Default::Text("84 B"),
            "IP length of a ping and of its answer.",
        ),
        key(
            "udp_aware",
            Kind::Flag,
            Default::Flag(true),
            "Stations that send UDP are not pinged, and the thresholds follow the base round-trip time.",
        ),
    ])],
};
