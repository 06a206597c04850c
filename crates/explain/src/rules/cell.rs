//! Causes in the medium access of a cell.

use serde_json::Value;

use super::{Cause, Remedy, remedy};
use crate::answer::Item;
use crate::edits::{Setting, set};
use crate::facts::{Facts, percent, rounded, text};
use crate::index::distinct;
use crate::scenario::Station;

/// Fraction of time in which the medium is busy, above which air time may limit flows. [-]
const BUSY: f64 = 0.3;

pub fn narrow_channel(facts: &Facts<'_>) -> Option<Cause> {
    let busy = facts.busy_fraction();
    let cell = facts.cell().filter(|_| busy >= BUSY)?;
    let width = text(cell, "width");
    let is_low = text(cell, "band").starts_with("2.4") || text(cell, "phy") == "802.11n";
    let wider = match (width, is_low) {
        ("20 MHz", _) => "40 MHz",
        ("40 MHz", false) => "80 MHz",
        ("80 MHz", false) => "160 MHz",
        _ => return None,
    };
    let edits = vec![set("cell.width", wider)];
    let weaker = weaker_signals(facts);
    let label = match weaker.is_empty() {
        true => format!("channel of {wider}"),
        false => format!("channel of {wider}, with 3 dB less SNR"),
    };
    let remedy = Remedy::new(label, [edits.clone(), weaker].concat());
    let percent = percent(busy);
    let sentence = format!("The air is busy {percent} of the time, in a channel of {width}.");
    let weight = facts.by_air(0.6, 0.2);
    Some(Cause::new("air", sentence, weight, edits).with(vec![remedy]))
}

/// Returns the settings that lower the SNR of all stations by 3 dB, for an edit that doubles the
/// channel width. In the wider channel the signal power is the same, and the noise power is twice
/// as high.
fn weaker_signals(facts: &Facts<'_>) -> Vec<Setting> {
    let stations = facts.scenario.stations.iter();
    distinct(stations.filter_map(|station| {
        let weaker_db = rounded(station.snr_db.as_f64()? - 3.0, 100.0);
        let key = format!("station.{}.snr", station.group);
        Some(set(key, format!("{weaker_db} dB")))
    }))
}

pub fn no_aggregation(facts: &Facts<'_>) -> Option<Cause> {
    let mpdus = facts.aggregation()?["mpdus"].as_f64()?;
    (mpdus < 16.0).then(|| {
        let sentence = format!("Aggregates have at most {mpdus} MPDUs.");
        let edits = vec![set("cell.aggregation.mpdus", 64)];
        Cause::new("cell", sentence, facts.by_air(0.9, 0.3), edits).remedied_by("aggregation")
    })
}

/// Returns the items of access points and stations in the result.
fn nodes<'a>(facts: &Facts<'a>) -> impl Iterator<Item = &'a Item<'a>> {
    let answer = facts.answer;
    answer.aps.iter().chain(&answer.stations)
}

pub fn long_aggregates(facts: &Facts<'_>) -> Option<Cause> {
    let sizes = nodes(facts).filter_map(|node| node.mean("mpdus_per_ppdu"));
    let longest = sizes.fold(0.0, f64::max);
    if longest < 8.0 || !facts.has_delay_sensitive() {
        return None;
    }
    let longest = rounded(longest, 1.0);
    let sentence = format!("Aggregates of {longest} MPDUs on average delay other stations.");
    let edits = vec![set("cell.aggregation.time", "1 ms")];
    Some(Cause::new("cell", sentence, 0.2, edits).remedied_by("aggregates of at most 1 ms"))
}

pub fn short_txop(facts: &Facts<'_>) -> Option<Cause> {
    let ap = &facts.cell()?["ap"];
    let has_one = ap["txop_packets"] == 1 && ap["txop_limit_s"].is_null();
    if facts.aggregates() || !has_one || facts.busy_fraction() < BUSY {
        return None;
    }
    let sentence = "Each transmission opportunity carries one frame.";
    let edits = vec![set("cell.txop_packets", 8), set("cell.ap.txop_packets", 8)];
    let cause = Cause::new("cell", sentence, facts.by_air(0.5, 0.1), edits)
        .remedied_by("TXOP of 8 frames for all nodes");
    Some(cause.with(vec![longer_txop_of_ap()]))
}

fn longer_txop_of_ap() -> Remedy {
    let label = "TXOP of 4 frames for the access point";
    remedy(label, "cell.ap.txop_packets", "4")
}

/// Returns the node with the highest collision rate, and its collision rate.
fn most_collisions<'a>(facts: &Facts<'a>) -> Option<(&'a str, f64)> {
    nodes(facts)
        .filter_map(|node| Some((&*node.name, node.mean("collision_rate")?)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .filter(|(_, rate)| *rate >= 0.05)
}

pub fn collisions(facts: &Facts<'_>) -> Option<Cause> {
    let cell = facts.cell()?;
    let (node, rate) = most_collisions(facts)?;
    let station = facts.scenario.stations.first()?;
    let wider = |cwmin: &Value, cwmax: &Value| {
        let own = cwmin.as_f64().unwrap_or(15.0);
        let most = cwmax.as_f64().unwrap_or(1023.0);
        (4.0 * (own + 1.0) - 1.0).min(most)
    };
    let ap = wider(&cell["ap"]["cwmin"], &cell["ap"]["cwmax"]);
    let stations = wider(&station.cwmin, &station.cwmax);
    let edits = vec![set("cell.cwmin", stations), set("cell.ap.cwmin", ap)];
    let sentence = format!("{} of the attempts of {node} collide.", percent(rate));
    let windows =
        format!("contention window CWmin of {ap} at the access point, {stations} at stations");
    let (label, key, value) = match facts.aggregates() {
        true => (
            "RTS/CTS before PPDUs above 1 ms",
            "cell.rts_longer_than",
            "1 ms",
        ),
        false => ("RTS/CTS before long frames", "cell.rts_threshold", "500 B"),
    };
    let cause = Cause::new(node, sentence, (2.0 * rate).min(0.7), edits).remedied_by(windows);
    Some(cause.with(vec![remedy(label, key, value)]))
}

pub fn rate_fallback(facts: &Facts<'_>) -> Option<Cause> {
    let has_arf = text(facts.cell()?, "rate_control") == "arf";
    has_arf.then(|| {
        let sentence = "ARF lowers rates after losses, also after collisions.";
        let edits = vec![set("cell.rate_control", "fixed")];
        Cause::new("cell", sentence, 0.5, edits).remedied_by("fixed rates")
    })
}

pub fn ap_access(facts: &Facts<'_>) -> Option<Cause> {
    let ap = &facts.cell()?["ap"];
    let cwmin = ap["cwmin"].as_f64().unwrap_or(0.0);
    let has_down = facts.flows().any(|flow| flow.direction == "down");
    if cwmin < 7.0 || !has_down || facts.busy_fraction() < BUSY {
        return None;
    }
    let narrow = ((cwmin + 1.0) / 4.0 - 1.0).max(1.0);
    let ratio = facts.cell_mean("updown_ratio").unwrap_or(0.0);
    let ratio = rounded(ratio, 10.0);
    let mut remedies = Vec::new();
    if !facts.aggregates() {
        let pifs = [("aifsn", 1), ("cwmin", 0), ("cwmax", 0)];
        let pifs = pifs.map(|(key, value)| set(format!("cell.ap.{key}"), value));
        remedies.push(longer_txop_of_ap());
        remedies.push(Remedy::new(
            "access after PIFS for the access point",
            pifs.into(),
        ));
        if facts.scenario.vsb.is_null() {
            let label = "gateway that shares between up and down";
            remedies.push(remedy(label, "vsb.fairness", "direction"));
        }
    }
    remedies.extend(super::queues::gateway(facts));
    let sentence = format!(
        "The access point contends with CWmin {cwmin} for all downloads; uploads get {ratio} \
         times the goodput of downloads."
    );
    let weight = if ratio > 1.5 { 0.8 } else { 0.2 };
    let cause = Cause::new("ap", sentence, weight, vec![set("cell.ap.cwmin", narrow)]);
    let label = format!("contention window CWmin of {narrow} at the access point");
    Some(cause.remedied_by(label).with(remedies))
}

pub fn long_backoff(facts: &Facts<'_>) -> Option<Cause> {
    let is_long = |station: &&Station<'_>| {
        station.cwmax.as_f64().unwrap_or(0.0) > 63.0
            && station.cwmin.as_f64().unwrap_or(0.0) <= 63.0
    };
    most_collisions(facts).filter(|_| facts.has_delay_sensitive())?;
    let stations = facts.scenario.stations.iter().filter(is_long);
    let key = |station: &Station<'_>| format!("station.{}.cwmax", station.group);
    let edits = distinct(stations.map(|station| set(key(station), 63)));
    let sentence = "After repeated collisions, stations wait for up to 1023 slots.";
    let cause = Cause::new("stations", sentence, 0.25, edits);
    let cause = cause.remedied_by("contention window CWmax of 63 at stations");
    (!cause.edits.is_empty()).then_some(cause)
}
