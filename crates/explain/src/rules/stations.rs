//! Causes at individual stations of a cell.

use serde_json::Value;

use super::queues::{gateway, mac80211};
use super::{Cause, Remedy, remedy};
use crate::edits::{Setting, set};
use crate::facts::{Facts, percent, text};
use crate::index::set_of;
use crate::scenario::Station;

/// Ratio of a station's rate to the highest rate of its PHY, below which the station is considered
/// slow. [-]
const SLOW: f64 = 0.7;

/// Fraction of transmissions that fail without a collision, above which a channel is considered
/// noisy. [-]
const NOISY: f64 = 0.01;

/// Data rate of each MCS of 802.11n, ac and ax, divided by the rate of MCS 0. [-]
const BITS_BY_MCS: [f64; 12] = [
    1.0,
    2.0,
    3.0,
    4.0,
    6.0,
    8.0,
    9.0,
    10.0,
    12.0,
    40.0 / 3.0,
    15.0,
    50.0 / 3.0,
];

/// Returns one station, the first, of each station table whose stations have traffic.
fn groups<'a>(facts: &Facts<'a>) -> Vec<&'a Station<'a>> {
    let senders = facts.flows().filter_map(|flow| flow.station);
    let mut with_traffic = set_of(senders.map(|name| facts.group(name)));
    let stations = facts.scenario.stations.iter();
    stations
        .filter(|station| with_traffic.remove(&*station.group))
        .collect()
}

pub fn slow_stations(facts: &Facts<'_>) -> Vec<Cause> {
    let groups = groups(facts).into_iter();
    groups
        .filter_map(|station| slow_station(facts, station))
        .collect()
}

fn slow_station(facts: &Facts<'_>, station: &Station<'_>) -> Option<Cause> {
    let cell = facts.cell()?;
    let group = &*station.group;
    let own = &*station.phy;
    let phy = if own.is_empty() {
        text(cell, "phy")
    } else {
        own
    };
    let key = |name: &str| format!("station.{group}.{name}");
    let (rate_fraction, edits): (f64, Vec<Setting>) = if let Some(mcs) = station.mcs.as_u64() {
        let best = match phy {
            "802.11n" => 7,
            "802.11ac" => 9,
            _ => 11,
        };
        let rate = |mcs: u64| BITS_BY_MCS[(mcs as usize).min(11)];
        let edit = match station.mcs_by_snr == true {
            true => set(key("snr"), "40 dB"),
            false => set(key("mcs"), best),
        };
        (rate(mcs) / rate(best), vec![edit])
    } else {
        let best = if phy == "802.11b" { 11e6 } else { 54e6 };
        let down = station.downlink_rate_bps.as_f64()?;
        let rate = station.rate_bps.as_f64()?.min(down);
        let value = format!("{} Mbps", best / 1e6);
        let mut edits = vec![set(key("rate"), value.clone())];
        if station.rate_bps != station.downlink_rate_bps {
            edits.push(set(key("downlink_rate"), value));
        }
        (rate / best, edits)
    };
    if rate_fraction > SLOW {
        return None;
    }
    let measured = facts.station_item(&station.name);
    let airtime = measured.and_then(|item| item.mean("airtime_fraction"));
    let rate = percent(rate_fraction);
    let air = match airtime {
        Some(airtime) => format!(", and takes {} of the air", percent(airtime)),
        None => String::new(),
    };
    let sentence = format!("{group} sends at {rate} of the best rate of {phy}{air}.");
    let label = format!("{group} nearer to the access point, at its best rate");
    let nearer = Remedy::not_a_setting(label, edits.clone());
    let weight = airtime.unwrap_or(0.4).min(1.0) * (1.0 - rate_fraction);
    let cause = Cause::new(group, sentence, weight, edits).with([nearer]);
    if facts.aggregates() {
        return Some(cause.with([mac80211()]));
    }
    let gateway = gateway(facts).into_iter().flat_map(|gateway| {
        let label = "gateway that shares air time";
        [gateway, remedy(label, "vsb.fairness", "airtime")]
    });
    Some(cause.with(gateway))
}

pub fn noisy_stations(facts: &Facts<'_>) -> Vec<Cause> {
    let groups = groups(facts).into_iter();
    groups
        .filter_map(|station| noisy_station(facts, station))
        .collect()
}

fn noisy_station(facts: &Facts<'_>, station: &Station<'_>) -> Option<Cause> {
    let group = &*station.group;
    let measured = facts.station_item(&station.name)?;
    let errors = ["error_up", "error_down"];
    let up = measured.mean("frame_failure_rate").unwrap_or(0.0)
        - measured.mean("collision_rate").unwrap_or(0.0);
    let failures = [&station.error_up, &station.error_down];
    let failures = failures.into_iter().filter_map(Value::as_f64);
    let failures = failures.fold(up.max(0.0), f64::max);
    if failures < NOISY || station.mcs_by_snr == true {
        return None;
    }
    let key = |name: &str| format!("station.{group}.{name}");
    let edits = match station.snr_db.is_null() {
        false => vec![set(key("snr"), "40 dB")],
        true => errors.map(|name| set(key(name), 0)).into(),
    };
    let label = format!("{group} with a better signal");
    let better = Remedy::not_a_setting(label, edits.clone());
    let slower = slower_rate(facts, station)
        .map(|rate| remedy(&format!("{group} at {rate}"), key("rate"), rate));
    let lost = percent(failures);
    let sentence = format!("{lost} of the frames of {group} are lost to noise.");
    let cause = Cause::new(group, sentence, (2.0 * failures).min(0.9), edits);
    Some(cause.with([better]).with(slower))
}

/// Returns the next rate below the present rate of a station, if its PHY is older than 802.11n. At
/// the same SNR, fewer frames are lost at this lower rate.
fn slower_rate(facts: &Facts<'_>, station: &Station<'_>) -> Option<&'static str> {
    let rate_bps = station.rate_bps.as_f64()?;
    let by_snr = !station.snr_db.is_null() && station.mcs.is_null();
    let is_b = text(facts.cell()?, "phy") == "802.11b";
    let rates: &[(f64, &'static str)] = match is_b {
        true => &[(1e6, "1 Mbps"), (2e6, "2 Mbps"), (5.5e6, "5.5 Mbps")],
        false => &[
            (6e6, "6 Mbps"),
            (12e6, "12 Mbps"),
            (24e6, "24 Mbps"),
            (36e6, "36 Mbps"),
            (48e6, "48 Mbps"),
        ],
    };
    let lower = rates.iter().rev().find(|(rate, _)| *rate < rate_bps);
    lower.filter(|_| by_snr).map(|(_, rate)| *rate)
}

pub fn sleeping_stations(facts: &Facts<'_>) -> Vec<Cause> {
    let groups = groups(facts).into_iter();
    let sleeping = groups.filter(|station| !station.power_save_s.is_null());
    sleeping
        .map(|station| {
            let group = &*station.group;
            let sentence = format!("{group} sleeps, and its packets wait for beacons.");
            let edits = vec![set(format!("station.{group}.power_save"), "off")];
            Cause::new(group, sentence, 0.6, edits).remedied_by(format!("{group} stays awake"))
        })
        .collect()
}
