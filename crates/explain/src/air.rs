//! The station whose use of air time costs the other stations most.

use serde_json::{Value, json};

use crate::answer::Item;
use crate::facts::Facts;

/// Returns the station for which the share of the used air time, minus the share of the goodput, is
/// largest.
///
/// The value is null if the result has no cell that reports the air time of at least two stations.
/// It is also null if the difference of the two shares is at most 0.1.
pub fn air(facts: &Facts<'_>) -> Value {
    let items = facts.answer.stations.iter();
    let stations: Vec<(&Item<'_>, f64, f64)> = items
        .filter_map(|item| {
            let airtime = item.mean("airtime_fraction")?;
            let share = item.mean("goodput_share").unwrap_or(0.0);
            Some((item, airtime, share))
        })
        .collect();
    let used: f64 = stations.iter().map(|(_, airtime, _)| airtime).sum();
    if used <= 0.0 || stations.len() < 2 {
        return Value::Null;
    }
    let excess = |airtime: f64, share: f64| airtime / used - share;
    let most_excess = stations
        .iter()
        .max_by(|(_, a, s), (_, b, t)| excess(*a, *s).total_cmp(&excess(*b, *t)));
    match most_excess {
        Some((item, airtime, share)) if excess(*airtime, *share) > 0.1 => json!({
            "station": *item.name,
            "airtime_fraction": airtime,
            "goodput_share": share,
        }),
        _ => Value::Null,
    }
}
