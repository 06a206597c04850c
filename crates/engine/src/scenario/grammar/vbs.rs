//! Virtual buffer sharing, for the queue of the access point.

use std::borrow::Cow;

use super::{Default, Key, Kind, S, Table, US, key, number, own};

/// What the access point's queue has beside other queues.
pub(super) const VBS_KEYS: &[Key] = &[key(
    "vbs",
    Kind::Table(|| &VBS),
    Default::Absent("none"),
    "Virtual buffer sharing: classes of flows with shares of the access point's queue.",
)];

static VBS: Table = Table {
    name: "vbs",
    doc: "Virtual buffer sharing, for the queue of the access point: it holds a part of its limit, and each class has its share.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "occupancy",
            number(0.0, 1.0),
            Default::Number(0.6),
            "Part c of the limit that the queue is to hold, between 0 and 1.",
        ),
        key(
            "share_of",
            Kind::Choice(&["queue", "service"]),
            Default::Text("queue"),
            "What shares are parts of. \"queue\": the packets in the queue; \"service\": the data segments that the air carries, both ways.",
        ),
        key(
            "algorithm",
            Kind::Choice(&["corrected", "printed", "regulated"]),
            Default::Text("corrected"),
            "\"corrected\": blocks a class that has its share while the queue holds its part; \"printed\": Algorithm 1 to the letter, which blocks it with a short queue too; \"regulated\": a proportional-integral controller for each class.",
        ),
        key(
            "tol",
            number(0.0, 1_000_000_000_000.0),
            Default::Depends("1/limit^2"),
            "Squared distance from the target occupancy, in packets, within which Algorithm 1 changes nothing; with \"regulated\" it has no effect but on the measured settling_s.",
        ),
        key(
            "update",
            Kind::Duration {
                least: US,
                most: 10 * S,
                word: Some("packet"),
            },
            Default::Text("packet"),
            "Time between steps of the algorithm; \"packet\": one at every arrival.",
        ),
        key(
            "by",
            Kind::Choice(&["station", "group", "direction"]),
            Default::Absent("the tables [class.NAME]"),
            "Classes with equal shares: one a station, one a table of stations, or uploads and downloads.",
        ),
        key(
            "class",
            Kind::Named(|| &VBS_CLASS),
            Default::Absent("those of by"),
            "Classes by name. A flow is of the first class that takes it; one that none takes is never blocked, and counts in the target occupancy all the same.",
        ),
    ])]),
};

static VBS_CLASS: Table = Table {
    name: "class",
    doc: "A class of flows of stations. What is not said does not matter: without any condition it takes all that no class before it takes.",
    parts: Cow::Borrowed(&[own(&[
        key(
            "share",
            number(0.0, 1.0),
            Default::Required,
            "Its part, above 0; the shares of all classes sum to at most 1. The target h* is this over their sum.",
        ),
        key(
            "station",
            Kind::Name,
            Default::Absent("any"),
            "A station, or a table of stations.",
        ),
        key(
            "direction",
            Kind::Choice(&["up", "down"]),
            Default::Absent("both"),
            "Uploads or downloads.",
        ),
        key(
            "error_from",
            Kind::Probability,
            Default::Absent("any"),
            "Stations that lose at least this part of frames with full segments at the start of the run, the worse direction counting; sensors' flows too.",
        ),
        key(
            "error_below",
            number(0.0, 1.0),
            Default::Absent("any"),
            "Stations that lose a smaller part.",
        ),
    ])]),
};
