//! Causes in the access to the medium of a cell.

use serde_json::Value;

use super::{CALLS, Cause, DELAY, FAIRNESS, Remedy, Rule, THROUGHPUT, remedy};
use crate::edits::{Setting, set};
use crate::facts::{Facts, list, mean, percent, rounded, text};

/// Fraction of busy time from which the air may be scarce. [-]
const BUSY: f64 = 0.3;

pub const NARROW_CHANNEL: Rule = Rule {
    id: "narrow-channel",
    title: "air without spare capacity",
    objectives: &[THROUGHPUT, DELAY, CALLS],
    find: narrow_channel,
};

pub const NO_AGGREGATION: Rule = Rule {
    id: "no-aggregation",
    title: "no aggregation",
    objectives: &[THROUGHPUT, DELAY, CALLS],
    find: no_aggregation,
};

pub const LONG_AGGREGATES: Rule = Rule {
    id: "long-aggregates",
    title: "long aggregates",
    objectives: &[CALLS, DELAY],
    find: long_aggregates,
};

pub const SHORT_TXOP: Rule = Rule {
    id: "short-txop",
    title: "one frame per transmission opportunity",
    objectives: &[THROUGHPUT],
    find: short_txop,
};

pub const COLLISIONS: Rule = Rule {
    id: "collisions",
    title: "collisions in the Wi-Fi",
    objectives: &[THROUGHPUT, DELAY, CALLS],
    find: collisions,
};

pub const AP_ACCESS: Rule = Rule {
    id: "ap-access",
    title: "access point that contends like a single station",
    objectives: &[FAIRNESS, THROUGHPUT, CALLS, DELAY],
    find: ap_access,
};

pub const RATE_FALLBACK: Rule = Rule {
    id: "rate-fallback",
    title: "rates that fall after collisions",
    objectives: &[THROUGHPUT, DELAY, FAIRNESS],
    find: rate_fallback,
};

pub const LONG_BACKOFF: Rule = Rule {
    id: "long-backoff",
    title: "long backoff after collisions",
    objectives: &[CALLS, DELAY],
    find: long_backoff,
};

fn aggregation<'a>(facts: &Facts<'a>) -> Option<&'a Value> {
    let aggregation = &facts.cell()?["ap"]["aggregation"];
    (!aggregation.is_null()).then_some(aggregation)
}

fn narrow_channel(facts: &Facts<'_>) -> Vec<Cause> {
    let busy = facts.busy_fraction();
    let (Some(cell), true) = (facts.cell(), busy >= BUSY) else {
        return Vec::new();
    };
    let is_low = text(cell, "band").starts_with("2.4") || text(cell, "phy") == "802.11n";
    let wider = match (text(cell, "width"), is_low) {
        ("20 MHz", _) => "40 MHz",
        ("40 MHz", false) => "80 MHz",
        ("80 MHz", false) => "160 MHz",
        _ => return Vec::new(),
    };
    let edits = vec![set("cell.width", wider)];
    let weaker = weaker_signals(facts);
    let label = match weaker.is_empty() {
        true => format!("channel of {wider}"),
        false => format!("channel of {wider}, with 3 dB less SNR"),
    };
    let remedy = Remedy::new(label, [edits.clone(), weaker].concat());
    vec![Cause {
        subject: "air".into(),
        sentence: format!(
            "The air is busy {} of the time, in a channel of {}.",
            percent(busy),
            text(cell, "width")
        ),
        weight: if facts.air_is_full() { 0.6 } else { 0.2 },
        remedies: vec![remedy],
        edits,
    }]
}

/// Returns the settings of the SNR in a channel of twice the width: the same power in twice the
/// noise, 3 dB less.
fn weaker_signals(facts: &Facts<'_>) -> Vec<Setting> {
    let mut found: Vec<Setting> = Vec::new();
    for station in list(facts.scenario, "stations") {
        let Some(snr_db) = station["snr_db"].as_f64() else {
            continue;
        };
        let setting = set(
            format!("station.{}.snr", text(station, "group")),
            format!("{} dB", rounded(snr_db - 3.0, 100.0)),
        );
        if !found.contains(&setting) {
            found.push(setting);
        }
    }
    found
}

fn no_aggregation(facts: &Facts<'_>) -> Vec<Cause> {
    let Some(mpdus) = aggregation(facts).and_then(|table| table["mpdus"].as_f64()) else {
        return Vec::new();
    };
    if mpdus >= 16.0 {
        return Vec::new();
    }
    vec![Cause {
        subject: "cell".into(),
        sentence: format!("Aggregates have at most {mpdus} MPDUs."),
        weight: if facts.air_is_full() { 0.9 } else { 0.3 },
        edits: vec![set("cell.aggregation.mpdus", 64)],
        remedies: vec![remedy("aggregation", "cell.aggregation.mpdus", "64")],
    }]
}

fn long_aggregates(facts: &Facts<'_>) -> Vec<Cause> {
    let nodes = list(facts.answer, "aps")
        .iter()
        .chain(list(facts.answer, "stations"));
    let longest = nodes
        .filter_map(|node| mean(node, "mpdus_per_ppdu"))
        .fold(0.0, f64::max);
    if longest < 8.0 || !facts.has_delay_sensitive() {
        return Vec::new();
    }
    vec![Cause {
        subject: "cell".into(),
        sentence: format!(
            "Aggregates of {} MPDUs on average delay other stations.",
            rounded(longest, 1.0)
        ),
        weight: 0.2,
        edits: vec![set("cell.aggregation.time", "1 ms")],
        remedies: vec![remedy(
            "aggregates of at most 1 ms",
            "cell.aggregation.time",
            "1 ms",
        )],
    }]
}

fn short_txop(facts: &Facts<'_>) -> Vec<Cause> {
    let Some(cell) = facts.cell() else {
        return Vec::new();
    };
    let ap = &cell["ap"];
    let is_one = ap["txop_packets"] == 1 && ap["txop_limit_s"].is_null();
    if aggregation(facts).is_some() || !is_one || facts.busy_fraction() < BUSY {
        return Vec::new();
    }
    let all_nodes = vec![set("cell.txop_packets", 8), set("cell.ap.txop_packets", 8)];
    vec![Cause {
        subject: "cell".into(),
        sentence: "Each transmission opportunity carries one frame.".into(),
        weight: if facts.air_is_full() { 0.5 } else { 0.1 },
        edits: all_nodes.clone(),
        remedies: vec![
            Remedy::new("TXOP of 8 frames for all nodes", all_nodes),
            remedy(
                "TXOP of 4 frames for the access point",
                "cell.ap.txop_packets",
                "4",
            ),
        ],
    }]
}

/// Largest collision rate of a node, with its name.
fn most_collisions<'a>(facts: &Facts<'a>) -> Option<(&'a str, f64)> {
    let nodes = list(facts.answer, "aps")
        .iter()
        .chain(list(facts.answer, "stations"));
    nodes
        .filter_map(|node| Some((text(node, "name"), mean(node, "collision_rate")?)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .filter(|(_, rate)| *rate >= 0.05)
}

fn collisions(facts: &Facts<'_>) -> Vec<Cause> {
    let (Some(cell), Some((node, rate))) = (facts.cell(), most_collisions(facts)) else {
        return Vec::new();
    };
    let Some(station) = list(facts.scenario, "stations").first() else {
        return Vec::new();
    };
    let wider = |table: &Value| {
        let own = table["cwmin"].as_f64().unwrap_or(15.0);
        let most = table["cwmax"].as_f64().unwrap_or(1023.0);
        (4.0 * (own + 1.0) - 1.0).min(most)
    };
    let (ap, stations) = (wider(&cell["ap"]), wider(station));
    let edits = vec![set("cell.cwmin", stations), set("cell.ap.cwmin", ap)];
    vec![Cause {
        subject: node.into(),
        sentence: format!("{} of the attempts of {node} collide.", percent(rate)),
        weight: (2.0 * rate).min(0.7),
        remedies: vec![
            Remedy::new(
                format!(
                    "contention window CWmin of {ap} at the access point, {stations} at stations"
                ),
                edits.clone(),
            ),
            match aggregation(facts).is_some() {
                true => remedy(
                    "RTS/CTS before PPDUs above 1 ms",
                    "cell.rts_longer_than",
                    "1 ms",
                ),
                false => remedy("RTS/CTS before long frames", "cell.rts_threshold", "500 B"),
            },
        ],
        edits,
    }]
}

fn rate_fallback(facts: &Facts<'_>) -> Vec<Cause> {
    let has_arf = |cell: &&Value| text(cell, "rate_control") == "arf";
    if facts.cell().filter(has_arf).is_none() {
        return Vec::new();
    }
    vec![Cause {
        subject: "cell".into(),
        sentence: "ARF lowers rates after losses, also after collisions.".into(),
        weight: 0.5,
        edits: vec![set("cell.rate_control", "fixed")],
        remedies: vec![remedy("fixed rates", "cell.rate_control", "fixed")],
    }]
}

fn ap_access(facts: &Facts<'_>) -> Vec<Cause> {
    let Some(cell) = facts.cell() else {
        return Vec::new();
    };
    let ap = &cell["ap"];
    let cwmin = ap["cwmin"].as_f64().unwrap_or(0.0);
    let has_down = facts.flows.iter().any(|flow| flow.direction == "down");
    if cwmin < 7.0 || !has_down || facts.busy_fraction() < BUSY {
        return Vec::new();
    }
    let narrow = ((cwmin + 1.0) / 4.0 - 1.0).max(1.0);
    let ratio = mean(facts.cell_answer(), "updown_ratio").unwrap_or(0.0);
    let ratio = rounded(ratio, 10.0);
    let mut remedies = vec![remedy(
        &format!("contention window CWmin of {narrow} at the access point"),
        "cell.ap.cwmin",
        &narrow.to_string(),
    )];
    if aggregation(facts).is_none() {
        remedies.push(remedy(
            "TXOP of 4 frames for the access point",
            "cell.ap.txop_packets",
            "4",
        ));
        let pifs = [("aifsn", 1), ("cwmin", 0), ("cwmax", 0)];
        remedies.push(Remedy::new(
            "access after PIFS for the access point",
            pifs.map(|(key, value)| set(format!("cell.ap.{key}"), value))
                .into(),
        ));
    }
    if facts.scenario["vsb"].is_null() {
        let by_direction: Vec<Setting> = vec![set("vsb.fairness", "direction")];
        let is_modern = aggregation(facts).is_some();
        if !is_modern {
            remedies.push(Remedy::new(
                "gateway that shares between up and down",
                by_direction,
            ));
        }
        remedies.extend(super::queues::gateway(facts));
    }
    vec![Cause {
        subject: "ap".into(),
        sentence: format!(
            "The access point contends with CWmin {cwmin} for all downloads; uploads get {ratio} \
             times the goodput of downloads."
        ),
        weight: if ratio > 1.5 { 0.8 } else { 0.2 },
        edits: vec![set("cell.ap.cwmin", narrow)],
        remedies,
    }]
}

fn long_backoff(facts: &Facts<'_>) -> Vec<Cause> {
    let stations = list(facts.scenario, "stations");
    let is_long = |station: &Value| {
        station["cwmax"].as_f64().unwrap_or(0.0) > 63.0
            && station["cwmin"].as_f64().unwrap_or(0.0) <= 63.0
    };
    if most_collisions(facts).is_none() || !facts.has_delay_sensitive() {
        return Vec::new();
    }
    let mut edits: Vec<Setting> = Vec::new();
    for station in stations.iter().filter(|station| is_long(station)) {
        let setting = set(format!("station.{}.cwmax", text(station, "group")), 63);
        if !edits.contains(&setting) {
            edits.push(setting);
        }
    }
    if edits.is_empty() {
        return Vec::new();
    }
    vec![Cause {
        subject: "stations".into(),
        sentence: "After repeated collisions, stations wait for up to 1023 slots.".into(),
        weight: 0.25,
        remedies: vec![Remedy::new(
            "contention window CWmax of 63 at stations",
            edits.clone(),
        )],
        edits,
    }]
}
