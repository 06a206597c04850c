//! The table `wce` of a bottleneck, in a simulation and on Linux: the wireless capacity estimator.

use serde_json::{Value, json};

use crate::control::{Thresholds, WceSettings, WceSettingsError};
use crate::notation::decode::{Entry, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;

/// The estimator of a table, nearest first, and those that it inherits from; `None` if a value that is
/// needed was refused. `usual_max_bps` is its cap if the tables say nothing.
pub(super) fn assemble(layers: &Layers, usual_max_bps: u64) -> Option<WceSettings> {
    let number = |key| layers.entry(key).and_then(Entry::number);
    let max_bps = layers.rate("max").unwrap_or(usual_max_bps);
    let usual = WceSettings::new(max_bps, layers.duration("interval")?);
    let increase = layers.rate("increase");
    let four_times = increase.map(|bps| bps.saturating_mul(4));
    Some(WceSettings {
        min_bps: layers.rate("min").unwrap_or(usual.min_bps),
        thresholds: Thresholds {
            low: layers.duration("low")?,
            threshold: layers.duration("threshold")?,
            high: layers.duration("high")?,
        },
        increase_bps: increase.unwrap_or(usual.increase_bps),
        decrease_bps: layers
            .rate("decrease")
            .or(four_times)
            .unwrap_or(usual.decrease_bps),
        speed_up: number("speed_up")?,
        back_off: number("back_off")?,
        timeout: layers.duration("timeout")?,
        ..usual
    })
}

/// Bounds and thresholds ascend; later tables fill in what the first does not say.
pub(super) fn check(tables: &[&Section], usual_max_bps: u64, problems: &mut Problems) {
    let layers = Layers(tables);
    let rates = |low: &Entry, high: &Entry| low.rate() <= high.rate();
    let times = |low: &Entry, high: &Entry| low.duration() < high.duration();
    let pairs: [(&str, &str, InOrder); 5] = [
        ("min", "max", rates),
        ("increase", "decrease", rates),
        ("low", "threshold", times),
        ("threshold", "high", times),
        ("high", "timeout", times),
    ];
    let mut in_order = true;
    for (lower, upper, holds) in pairs {
        in_order &= ascend(tables, lower, upper, holds, problems);
    }
    // what is left are values that do not fit a default that follows from others
    let settings = assemble(&layers, usual_max_bps).filter(|_| in_order);
    let Some(Err(error)) = settings.map(WceSettings::checked) else {
        return;
    };
    let (keys, allowed): (&[&str], _) = match error {
        WceSettingsError::Minimum | WceSettingsError::Maximum => (&["min", "max"], "min up to max"),
        WceSettingsError::Interval => (&["interval"], "a positive time"),
        WceSettingsError::Thresholds => (&["low", "threshold"], "low below threshold below high"),
        WceSettingsError::Timeout => (&["timeout"], "a time longer than high"),
        WceSettingsError::Steps => (&["decrease", "increase"], "increase up to decrease"),
        WceSettingsError::SpeedUp => (&["speed_up"], "a factor above 1, at most 2"),
        WceSettingsError::BackOff => (&["back_off"], "a factor above 0 and below 1"),
    };
    let own = |key: &&str| tables[0].entry(key);
    if let Some(entry) = keys.iter().find_map(own) {
        let message = format!("{} makes no sense here; allowed is {allowed}", entry.shown);
        problems.add(entry.origin, &entry.path, message);
    }
}

type InOrder = fn(&Entry, &Entry) -> bool;

/// Complains if two values of the tables are not in order; whether they are.
fn ascend(
    tables: &[&Section],
    lower: &str,
    upper: &str,
    holds: InOrder,
    problems: &mut Problems,
) -> bool {
    let (fault, order) = match lower {
        "min" | "increase" => ("is above", "up to"),
        _ => ("is not below", "below"),
    };
    let layers = Layers(tables);
    let (Some(low), Some(high)) = (layers.entry(lower), layers.entry(upper)) else {
        return true;
    };
    if holds(low, high) {
        return true;
    }
    // An inherited pair has been judged where it stands.
    let own = |key: &str| tables[0].entry(key).is_some();
    if own(lower) || own(upper) {
        let message = format!(
            "{lower} {} {fault} {upper} {}; allowed is {lower} {order} {upper}",
            low.shown, high.shown
        );
        let origin = if own(lower) && low.origin != tables[0].origin {
            low.origin
        } else {
            high.origin
        };
        problems.add(origin, &tables[0].path, message);
    }
    false
}

/// As in a checked scenario.
pub(super) fn to_json(wce: &WceSettings) -> Value {
    json!({
        "max_bps": wce.max_bps,
        "min_bps": wce.min_bps,
        "interval_s": wce.interval.seconds(),
        "low_s": wce.thresholds.low.seconds(),
        "threshold_s": wce.thresholds.threshold.seconds(),
        "high_s": wce.thresholds.high.seconds(),
        "increase_bps": wce.increase_bps,
        "decrease_bps": wce.decrease_bps,
        "speed_up": wce.speed_up,
        "back_off": wce.back_off,
        "timeout_s": wce.timeout.seconds(),
    })
}
