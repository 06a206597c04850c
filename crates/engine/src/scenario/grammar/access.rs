//! Medium access of a node, and of its access categories.

use std::borrow::Cow;

use super::super::presets::{CONTROL_RATE, per_preset};
use super::cell::rate;
use super::{Default, Key, Kind, S, Table, US, count, key, own};

/// Medium access of any node; the contention keys are those of category best effort.
pub(super) const ACCESS_KEYS: &[Key] = &[
    key(
        "control_rate",
        Kind::Listed(&CONTROL_RATE),
        Default::Told(|| per_preset(|preset| rate(preset.control_rate_bps))),
        "Highest rate of MAC ACK, RTS and CTS frames, which are never faster than the data frame they go with.",
    ),
    key("aifsn", AIFSN, Default::Count(2), AIFSN_DOC),
    key(
        "cwmin",
        WINDOW,
        Default::Told(|| per_preset(|preset| preset.cwmin.to_string())),
        CWMIN_DOC,
    ),
    key(
        "cwmax",
        WINDOW,
        Default::Told(|| per_preset(|preset| preset.cwmax.to_string())),
        CWMAX_DOC,
    ),
    key(
        "txop_packets",
        TXOP_PACKETS,
        Default::Depends("1, or no limit in packets if txop_limit is given"),
        TXOP_PACKETS_DOC,
    ),
    key(
        "txop_limit",
        TXOP_LIMIT,
        Default::Text("none"),
        TXOP_LIMIT_DOC,
    ),
    key(
        "attempts_short",
        count(1, 255),
        Default::Count(7),
        "Attempts, the first included, for RTS and for frames up to the RTS threshold.",
    ),
    key(
        "attempts_long",
        count(1, 255),
        Default::Count(4),
        "Attempts, the first included, for frames longer than the RTS threshold.",
    ),
    key(
        "voice",
        Kind::Table(|| &VOICE),
        Default::Depends("the cell's, else derived from best effort"),
        "Access category voice, the highest.",
    ),
    key(
        "video",
        Kind::Table(|| &VIDEO),
        Default::Depends("the cell's, else derived from best effort"),
        "Access category video.",
    ),
    key(
        "background",
        Kind::Table(|| &BACKGROUND),
        Default::Depends("the cell's, else derived from best effort"),
        "Access category background, the lowest.",
    ),
];

/// 2 is DIFS, the least at a station, and 15 the greatest that 802.11e can announce; one below is
/// PIFS, for the access point.
pub(in super::super) const AIFSN: Kind = Kind::Count {
    least: 1,
    most: 15,
    told: Some("is a whole number from 2 to 15, and 1, which is PIFS, for the access point alone"),
};
const WINDOW: Kind = count(0, 32_767);
const TXOP_PACKETS: Kind = count(1, 65_535);
const TXOP_LIMIT: Kind = Kind::Duration {
    least: US,
    most: 10 * S,
    word: Some("none"),
};

const AIFSN_DOC: &str = "Arbitration interframe space number; 2 is DIFS, 1 is PIFS, which only the access point may use.";
const CWMIN_DOC: &str = "Smallest contention window in slots; backoff is uniform on [0, CW].";
const CWMAX_DOC: &str = "Largest contention window in slots.";
const TXOP_PACKETS_DOC: &str = "Most frames in a transmission opportunity: who wins the medium sends up to this many, SIFS apart.";
const TXOP_LIMIT_DOC: &str = "Longest transmission opportunity, from the start of its first frame to the end of its last MAC ACK.";

/// The rest of a category's keys; defaults are those of IEEE 802.11-2016, Table 9-137, but for the
/// transmission opportunity.
const OPPORTUNITY_KEYS: &[Key] = &[
    key(
        "txop_packets",
        TXOP_PACKETS,
        Default::Depends(
            "that of the cell's table, else 1, or no limit in packets if txop_limit is given",
        ),
        TXOP_PACKETS_DOC,
    ),
    key(
        "txop_limit",
        TXOP_LIMIT,
        Default::Depends("that of the cell's table, else \"none\""),
        TXOP_LIMIT_DOC,
    ),
];

static VOICE: Table = Table {
    name: "voice",
    doc: "Access category voice: wins internal collisions with all others.",
    parts: Cow::Borrowed(&[
        own(&[
            key(
                "aifsn",
                AIFSN,
                Default::Depends("that of the cell's table, else 2"),
                AIFSN_DOC,
            ),
            key(
                "cwmin",
                WINDOW,
                Default::Depends(
                    "that of the cell's table, else (c + 1) / 4 - 1 where c is best effort's cwmin",
                ),
                CWMIN_DOC,
            ),
            key(
                "cwmax",
                WINDOW,
                Default::Depends(
                    "that of the cell's table, else (c + 1) / 2 - 1 where c is best effort's cwmin",
                ),
                CWMAX_DOC,
            ),
        ]),
        own(OPPORTUNITY_KEYS),
    ]),
};

static VIDEO: Table = Table {
    name: "video",
    doc: "Access category video: yields to voice in internal collisions.",
    parts: Cow::Borrowed(&[
        own(&[
            key(
                "aifsn",
                AIFSN,
                Default::Depends("that of the cell's table, else 2"),
                AIFSN_DOC,
            ),
            key(
                "cwmin",
                WINDOW,
                Default::Depends(
                    "that of the cell's table, else (c + 1) / 2 - 1 where c is best effort's cwmin",
                ),
                CWMIN_DOC,
            ),
            key(
                "cwmax",
                WINDOW,
                Default::Depends("that of the cell's table, else best effort's cwmin"),
                CWMAX_DOC,
            ),
        ]),
        own(OPPORTUNITY_KEYS),
    ]),
};

static BACKGROUND: Table = Table {
    name: "background",
    doc: "Access category background: yields to all others in internal collisions.",
    parts: Cow::Borrowed(&[
        own(&[
            key(
                "aifsn",
                AIFSN,
                Default::Depends("that of the cell's table, else 7"),
                AIFSN_DOC,
            ),
            key(
                "cwmin",
                WINDOW,
                Default::Depends("that of the cell's table, else best effort's"),
                CWMIN_DOC,
            ),
            key(
                "cwmax",
                WINDOW,
                Default::Depends("that of the cell's table, else best effort's"),
                CWMAX_DOC,
            ),
        ]),
        own(OPPORTUNITY_KEYS),
    ]),
};
