//! The virtual shared bottleneck.

use std::borrow::Cow;

use super::wce::VSB_WCE;
use super::{Default, Kind, S, Table, count, duration, key, own, size};

/// `[vsb]`.
pub(super) static VSB: Table = Table {
    name: "vsb",
    doc: "A virtual shared bottleneck between the wire and the access point: TCP of both directions and downlink UDP share its rate fairly; uplink UDP and pings pass beside it.",
    parts: Cow::Borrowed(&[own(&[
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
            "wce",
            Kind::Table(|| &VSB_WCE),
            Default::Depends("the defaults of its keys"),
            "The wireless capacity estimator, which sets the rate.",
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
    ])]),
};
