//! The file as a whole, the cell, the wire and what to record.

use std::borrow::Cow;

use super::super::presets::{DATA_RATE, PHY_NAMES, per_preset};
use super::access::ACCESS_KEYS;
use super::csma::CSMA;
use super::flows::{TCP, UDP};
use super::gateway::GATEWAY;
use super::network::{DUMBBELL, FLOW, LINK, PARKING_LOT};
use super::queue::{ap_queue, queue};
use super::station::STATION;
use super::vsb::VSB;
use super::{Default, Key, Kind, MS, S, Table, US, count, duration, inherited, key, own, size};
use crate::kernel::time::Span;
use crate::notation::units;

pub(super) fn rate(bps: u64) -> String {
    units::show_rates(&[bps])
}

fn time(span: Span) -> String {
    units::show(span.0, units::TIME)
}

/// The whole file.
pub(in super::super) static ROOT: Table = Table {
    name: "scenario",
    doc: "A WiFi hot-spot (one access point, its stations, their flows to servers behind a wire), a network of wired links with its flows, or both.",
    parts: Cow::Borrowed(&[
        own(&[NAME]),
        own(&[simulated_time(Default::Required)]),
        own(ROOT_KEYS),
    ]),
};

/// The same file for a gateway, which need not say what to simulate.
pub(in super::super) static GATEWAY_ROOT: Table = Table {
    name: "scenario",
    doc: "A gateway, with or without a scenario.",
    parts: Cow::Borrowed(&[
        own(&[NAME]),
        own(&[simulated_time(Default::Absent("nothing is simulated"))]),
        own(ROOT_KEYS),
    ]),
};

const NAME: Key = key(
    "name",
    Kind::Title,
    Default::Depends("the file's name without its ending"),
    "Title shown in results.",
);

const fn simulated_time(default: Default) -> Key {
    key(
        "duration",
        duration(MS, 1_000_000 * S),
        default,
        "Simulated time of each replication, warm-up included.",
    )
}

const ROOT_KEYS: &[Key] = &[
    key(
        "warmup",
        duration(0, 1_000_000 * S),
        Default::Depends("a tenth of the duration, at most 20 s"),
        "Time cut from the start of each replication before anything is measured.",
    ),
    key(
        "replications",
        count(1, 10_000),
        Default::Count(5),
        "Number of independent replications; intervals are taken over them.",
    ),
    key(
        "seed",
        count(0, (1 << 53) - 1),
        Default::Count(1),
        "Seed of all random streams.",
    ),
    key(
        "stagger",
        duration(0, 1_000 * S),
        Default::Text("0 s"),
        "The k-th flow of the file (k = 0, 1, ...) starts k times this later.",
    ),
    key(
        "cell",
        Kind::Table(|| &CELL),
        Default::Absent("no cell; needed with stations"),
        "The WLAN cell: physical layer, and medium access of all nodes.",
    ),
    key(
        "wire",
        Kind::Table(|| &WIRE),
        Default::Depends("an ideal wire"),
        "The wired link between the access point and the servers, same both ways.",
    ),
    key(
        "vsb",
        Kind::Table(|| &VSB),
        Default::Absent("none"),
        "A virtual shared bottleneck in front of the access point.",
    ),
    key(
        "tcp",
        Kind::Table(|| &TCP),
        Default::Depends("the defaults of its keys"),
        "Settings of all TCP connections.",
    ),
    key(
        "udp",
        Kind::Table(|| &UDP),
        Default::Depends("the defaults of its keys"),
        "Settings of all UDP sources.",
    ),
    key(
        "station",
        Kind::Named(|| &STATION),
        Default::Absent("no stations"),
        "Stations by name: ASCII letters, digits, `-` and `_`, at most 64, first a letter or digit; not `ap`.",
    ),
    key(
        "link",
        Kind::Named(|| &LINK),
        Default::Absent("no links"),
        "Wired links by name; names as for stations.",
    ),
    key(
        "dumbbell",
        Kind::Table(|| &DUMBBELL),
        Default::Absent("none"),
        "Two routers with one bottleneck.",
    ),
    key(
        "parking_lot",
        Kind::Table(|| &PARKING_LOT),
        Default::Absent("none"),
        "Routers in a row with a bottleneck between each two.",
    ),
    key(
        "csma",
        Kind::Table(|| &CSMA),
        Default::Absent("none"),
        "Wireless links of which each hears only some others: a network by its conflict graph.",
    ),
    key(
        "queue",
        queue(),
        Default::Count(1_000),
        "The queue in front of the bottlenecks of a dumbbell or parking_lot, on the way of the data.",
    ),
    key(
        "flow",
        Kind::Named(|| &FLOW),
        Default::Absent("no such flows"),
        "Flows between wired nodes by name; names as for stations.",
    ),
    key(
        "record",
        Kind::Table(|| &RECORD),
        Default::Depends("means only"),
        "What to record beside the means.",
    ),
    key(
        "gateway",
        Kind::Table(|| &GATEWAY),
        Default::Absent("no gateway"),
        "How `lasthop gateway` enforces fairness on Linux; simulations do not read it.",
    ),
];

pub(in super::super) static CELL: Table = Table {
    name: "cell",
    doc: "The WLAN cell. Access keys set here hold for all nodes.",
    parts: Cow::Borrowed(&[own(CELL_KEYS), own(ACCESS_KEYS)]),
};

const CELL_KEYS: &[Key] = &[
    key(
        "phy",
        Kind::Choice(PHY_NAMES),
        Default::Required,
        "Preset of timing, rates and contention windows.",
    ),
    key(
        "rate",
        Kind::Listed(&DATA_RATE),
        Default::Told(|| per_preset(|preset| rate(preset.rate_bps))),
        "Rate of data frames, both ways.",
    ),
    key(
        "rate_control",
        Kind::Choice(&["fixed", "arf"]),
        Default::Text("fixed"),
        "\"arf\": automatic rate fallback, link by link, among the rates up to the given one: two frames lost in a row lower the rate, ten received raise it.",
    ),
    key(
        "slot",
        duration(1, MS),
        Default::Told(|| per_preset(|preset| time(preset.slot))),
        "Slot time.",
    ),
    key(
        "sifs",
        duration(0, MS),
        Default::Told(|| per_preset(|preset| time(preset.sifs))),
        "Short interframe space.",
    ),
    key(
        "preamble",
        duration(0, 10 * MS),
        Default::Told(|| per_preset(|preset| time(preset.preamble))),
        "Preamble and PLCP header in front of every frame.",
    ),
    key(
        "eifs_rate",
        Kind::Rate { word: None },
        Default::Told(|| per_preset(|preset| rate(preset.eifs_rate_bps))),
        "Rate of the MAC ACK whose duration EIFS contains.",
    ),
    key(
        "mac_header",
        size(0, 256),
        Default::Text("28 B"),
        "MAC header and frame check sequence of a data frame.",
    ),
    key(
        "llc",
        size(0, 256),
        Default::Text("8 B"),
        "LLC/SNAP header of a data frame.",
    ),
    key(
        "rts_threshold",
        Kind::Size {
            least: 0,
            most: 65_535,
            word: Some("never"),
        },
        Default::Text("never"),
        "MAC frames longer than this are preceded by RTS/CTS.",
    ),
    key(
        "ack_timeout",
        Kind::Duration {
            least: US,
            most: 10 * MS,
            word: Some("eifs"),
        },
        Default::Text("eifs"),
        "How long a sender waits for the MAC ACK or CTS; \"eifs\": until the others' EIFS leaves only AIFS, so that all nodes resume together.",
    ),
    key(
        "countdown",
        Kind::Choice(&["dcf", "edca"]),
        Default::Text("dcf"),
        "When a backoff counter falls. \"dcf\": at the end of each idle slot; \"edca\": at the beginning of each slot, so that the slot in which another node begins to send counts too.",
    ),
    key(
        "cf_end",
        Kind::Flag,
        Default::Flag(false),
        "Who has nothing more for a transmission opportunity with txop_limit ends it with a CF-End frame, SIFS after its last MAC ACK, if time is left for it.",
    ),
    key(
        "ap_queue",
        ap_queue(),
        Default::Count(100),
        "Queue of the access point, a short form of ap.queue.",
    ),
    key(
        "queue",
        queue(),
        Default::Count(1_000),
        "Queue of each station.",
    ),
    key(
        "node",
        Kind::Name,
        Default::Depends("a node of its own"),
        "Node of the wired network at which the cell's wire ends.",
    ),
    key(
        "ap",
        Kind::Table(|| &AP),
        Default::Depends("the cell's values"),
        "The access point where it differs from the cell.",
    ),
];

static AP: Table = Table {
    name: "ap",
    doc: "The access point.",
    parts: Cow::Borrowed(&[
        own(&[
            key(
                "rate",
                Kind::Listed(&DATA_RATE),
                Default::Depends("each station's own rate"),
                "Rate of data frames to every station.",
            ),
            key(
                "queue",
                ap_queue(),
                Default::Depends("cell.ap_queue"),
                "Queue of each category: its limit, or a table with limit and discipline.",
            ),
            key(
                "queue_order",
                Kind::Choice(&["fifo", "mixed"]),
                Default::Text("fifo"),
                "\"fifo\": first in, first out; \"mixed\": next goes the first packet of the flow of a packet drawn at random, as models with a randomly mixed queue assume.",
            ),
        ]),
        inherited(ACCESS_KEYS, "cell"),
    ]),
};

static WIRE: Table = Table {
    name: "wire",
    doc: "The wired link between the access point and the servers.",
    parts: Cow::Borrowed(&[own(&[
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
            "The queue at each end, used only with a rate.",
        ),
        key(
            "loss",
            Kind::Probability,
            Default::Probability(0.0),
            "Probability that a TCP segment or datagram is lost on the wire; ACKs are spared.",
        ),
    ])]),
};

static RECORD: Table = Table {
    name: "record",
    doc: "What to record beside the means, of the first replication.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "series_interval",
            Kind::Duration {
                least: US,
                most: 1_000_000 * S,
                word: Some("never"),
            },
            Default::Text("never"),
            "Sampling interval of the time series of queues, windows and goodputs.",
        ),
        key(
            "utilisation_bin",
            duration(US, 1_000_000 * S),
            Default::Text("100 ms"),
            "Width of the bins over which the least utilisation of a link is taken.",
        ),
        key(
            "frames",
            count(0, 10_000_000),
            Default::Count(0),
            "Keep a log of at most this many frames on the air; 0: none.",
        ),
    ])]),
};
