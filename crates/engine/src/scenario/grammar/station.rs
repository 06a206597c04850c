//! Stations.

use std::borrow::Cow;

use super::super::presets::DATA_RATE;
use super::access::ACCESS_KEYS;
use super::flows::{CONNECTIONS, DATAGRAMS, REPORTS, STATION_TCP};
use super::queue::queue;
use super::{Default, Key, Kind, S, Table, count, duration, inherited, key, own};

/// A station, or a group of them.
pub(super) static STATION: Table = Table {
    name: "station",
    doc: "A station, or with count a group of equal stations.",
    parts: Cow::Borrowed(&[own(STATION_KEYS), inherited(ACCESS_KEYS, "cell")]),
};

const STATION_KEYS: &[Key] = &[
    key(
        "count",
        count(1, 10_000),
        Default::Depends("one station with the table's own name"),
        "Makes stations NAME-1 to NAME-count.",
    ),
    key(
        "rate",
        Kind::Listed(&DATA_RATE),
        Default::Depends("cell.rate"),
        "Rate of data frames from the station, and to it unless downlink_rate or cell.ap.rate says otherwise.",
    ),
    key(
        "downlink_rate",
        Kind::Listed(&DATA_RATE),
        Default::Depends("cell.ap.rate, else the station's rate"),
        "Rate of data frames to the station.",
    ),
    key(
        "queue",
        queue(),
        Default::Depends("cell.queue"),
        "Queue of each category: its limit, or a table with limit and discipline.",
    ),
    key(
        "error",
        Kind::Probability,
        Default::Probability(0.0),
        "Probability that a data frame is lost to channel errors, per attempt, both ways.",
    ),
    key(
        "error_up",
        Kind::Probability,
        Default::Depends("error"),
        "The same for frames from the station.",
    ),
    key(
        "error_down",
        Kind::Probability,
        Default::Depends("error"),
        "The same for frames to the station.",
    ),
    key(
        "ack_error",
        Kind::Probability,
        Default::Depends("that of frames with data, each way"),
        "The same for frames that carry a TCP ACK alone, both ways.",
    ),
    key(
        "ack_error_up",
        Kind::Probability,
        Default::Depends("ack_error"),
        "The same for TCP ACKs from the station.",
    ),
    key(
        "ack_error_down",
        Kind::Probability,
        Default::Depends("ack_error"),
        "The same for TCP ACKs to the station.",
    ),
    key(
        "snr",
        SNR,
        Default::Absent("none"),
        "Signal-to-noise ratio, both ways, in place of these probabilities: every frame is lost as often as its rate and length make it.",
    ),
    key(
        "channel",
        Kind::Named(|| &CHANNEL),
        Default::Absent("none"),
        "Changes of the channel during the run, by name: from `at` on it is as that table says.",
    ),
    key(
        "tcp",
        Kind::Table(|| &STATION_TCP),
        Default::Depends("the scenario's tcp"),
        "Settings of the station's TCP connections.",
    ),
    key(
        "upload",
        Kind::Shorthand {
            table: || &CONNECTIONS,
            main: "connections",
        },
        Default::Depends("none"),
        "TCP connections from the station to its server.",
    ),
    key(
        "download",
        Kind::Shorthand {
            table: || &CONNECTIONS,
            main: "connections",
        },
        Default::Depends("none"),
        "TCP connections from the server to the station.",
    ),
    key(
        "udp_up",
        Kind::Shorthand {
            table: || &DATAGRAMS,
            main: "rate",
        },
        Default::Depends("none"),
        "A UDP source at the station.",
    ),
    key(
        "udp_down",
        Kind::Shorthand {
            table: || &DATAGRAMS,
            main: "rate",
        },
        Default::Depends("none"),
        "A UDP source at the server.",
    ),
    key(
        "sensor_up",
        Kind::Shorthand {
            table: || &REPORTS,
            main: "every",
        },
        Default::Depends("none"),
        "A sensor at the station: small reports to the server, now and then.",
    ),
    key(
        "sensor_down",
        Kind::Shorthand {
            table: || &REPORTS,
            main: "every",
        },
        Default::Depends("none"),
        "Small reports, such as commands, from the server to the station.",
    ),
];

/// A change of a station's channel.
static CHANNEL: Table = Table {
    name: "channel",
    doc: "What a station's channel is from some time on, until its next change. What is not said is as in the station's table.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "at",
            duration(1, 1_000_000 * S),
            Default::Required,
            "When the change comes, after the start of the run.",
        ),
        key(
            "error",
            Kind::Probability,
            Default::Absent("the station's"),
            "Probability that a data frame is lost to channel errors, per attempt, both ways.",
        ),
        key(
            "error_up",
            Kind::Probability,
            Default::Absent("the station's"),
            "The same for frames from the station.",
        ),
        key(
            "error_down",
            Kind::Probability,
            Default::Absent("the station's"),
            "The same for frames to the station.",
        ),
        key(
            "ack_error",
            Kind::Probability,
            Default::Absent("the station's"),
            "The same for frames that carry a TCP ACK alone, both ways.",
        ),
        key(
            "ack_error_up",
            Kind::Probability,
            Default::Absent("the station's"),
            "The same for TCP ACKs from the station.",
        ),
        key(
            "ack_error_down",
            Kind::Probability,
            Default::Absent("the station's"),
            "The same for TCP ACKs to the station.",
        ),
        key(
            "snr",
            SNR,
            Default::Absent("none: probabilities count"),
            "Signal-to-noise ratio, both ways, in place of these probabilities.",
        ),
    ])]),
};

/// A signal-to-noise ratio.
const SNR: Kind = Kind::Level {
    least: -20.0,
    most: 60.0,
};
