//! What a file says of the wireless capacity estimator, in a simulation and on Linux.

use super::wce::{Thresholds, WceSettings, WceSettingsError};
use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{Json, KeyOf, MS, S, Setting, duration, number, rate};
use crate::table;

table! {
    /// Steps and thresholds of the estimator.
    pub struct WceKeys in "wce" {
        /// Least rate.
        min: Option<u64> = rate().depends("a thirtieth of max");
        /// Time between pings, each to a station drawn at random.
        interval: Span = duration(MS..=10 * S).default("100 ms");
        /// Up to this round-trip time the rate grows exponentially.
        low: Span = duration(1..=10 * S).default("5 ms");
        /// Up to this round-trip time the rate grows linearly, above it falls.
        threshold: Span = duration(1..=10 * S).default("40 ms");
        /// Above this round-trip time the rate falls exponentially.
        high: Span = duration(1..=10 * S).default("200 ms");
        /// Linear step up, each interval.
        increase: Option<u64> = rate().depends("a sixtieth of max in each second");
        /// Linear step down, each interval.
        decrease: Option<u64> = rate().depends("four times increase");
        /// Factor of an exponential step up.
        speed_up: f64 = number(1.001..=2.0).default(1.02);
        /// Factor of an exponential step down.
        back_off: f64 = number(0.01..=0.99).default(0.8);
        /// A longer round-trip time counts as no answer, and the rate holds.
        timeout: Span = duration(MS..=100 * S).default("3 s");
    }
}

table! {
    /// The wireless capacity estimator: it pings stations and takes the bottleneck's rate up or down by their round-trip times.
    pub struct BottleneckWce in "vsb.wce" {
        /// Largest rate, and the first one: somewhat above what the WLAN can carry.
        max: Option<u64> = rate().depends("6/11 of the preset's data rate");
        all_of WceKeys;
    }
}

/// Every table of an estimator has it, each with a default of its own.
const MAX: KeyOf<Option<u64>> = BottleneckWce::max;

impl WceSettings {
    /// The estimator of a table, nearest first, and those that it inherits from. `usual_max_bps` is its
    /// cap if the tables say nothing.
    ///
    /// # Errors
    /// A value has been refused.
    pub fn of(layers: &Layers, usual_max_bps: u64) -> Result<WceSettings, Refused> {
        let max_bps = layers.value(MAX)?.flatten().unwrap_or(usual_max_bps);
        let usual = WceSettings::new(max_bps, layers.need(WceKeys::interval)?);
        let increase = layers.value(WceKeys::increase)?.flatten();
        let four_times = increase.map(|bps| bps.saturating_mul(4));
        let decrease = layers.value(WceKeys::decrease)?.flatten();
        Ok(WceSettings {
            min_bps: layers
                .value(WceKeys::min)?
                .flatten()
                .unwrap_or(usual.min_bps),
            thresholds: Thresholds {
                low: layers.need(WceKeys::low)?,
                threshold: layers.need(WceKeys::threshold)?,
                high: layers.need(WceKeys::high)?,
            },
            increase_bps: increase.unwrap_or(usual.increase_bps),
            decrease_bps: decrease.or(four_times).unwrap_or(usual.decrease_bps),
            speed_up: layers.need(WceKeys::speed_up)?,
            back_off: layers.need(WceKeys::back_off)?,
            timeout: layers.need(WceKeys::timeout)?,
            ..usual
        })
    }

    /// Checks that bounds and thresholds ascend; later tables fill in what the first does not say.
    pub fn check(tables: &[&Section], usual_max_bps: u64, problems: &mut Problems) {
        let in_order = [
            ascend(tables, (WceKeys::min, MAX), rates, problems),
            ascend(
                tables,
                (WceKeys::increase, WceKeys::decrease),
                rates,
                problems,
            ),
            ascend(tables, (WceKeys::low, WceKeys::threshold), times, problems),
            ascend(tables, (WceKeys::threshold, WceKeys::high), times, problems),
            ascend(tables, (WceKeys::high, WceKeys::timeout), times, problems),
        ];
        // what is left are values that do not fit a default that follows from others
        if in_order.contains(&false) {
            return;
        }
        let Ok(settings) = WceSettings::of(&Layers(tables), usual_max_bps) else {
            return; // there has been a complaint
        };
        let Err(error) = settings.checked() else {
            return;
        };
        let own = |key: &str| tables[0].entry(key);
        let (entry, allowed) = match error {
            WceSettingsError::Minimum | WceSettingsError::Maximum => {
                (own("min").or(own("max")), "min up to max")
            }
            WceSettingsError::Interval => (own("interval"), "a positive time"),
            WceSettingsError::Thresholds => (
                own("low").or(own("threshold")),
                "low below threshold below high",
            ),
            WceSettingsError::Timeout => (own("timeout"), "a time longer than high"),
            WceSettingsError::Steps => (
                own("decrease").or(own("increase")),
                "increase up to decrease",
            ),
            WceSettingsError::SpeedUp => (own("speed_up"), "a factor above 1, at most 2"),
            WceSettingsError::BackOff => (own("back_off"), "a factor above 0 and below 1"),
        };
        if let Some(entry) = entry {
            let message = format!("{} makes no sense here; allowed is {allowed}", entry.shown);
            problems.add(entry.origin, &entry.path, message);
        }
    }

    /// The settings in the normalised scenario.
    pub fn json(&self) -> Json {
        serde_json::json!({
            "max_bps": self.max_bps,
            "min_bps": self.min_bps,
            "interval_s": self.interval.seconds(),
            "low_s": self.thresholds.low.seconds(),
            "threshold_s": self.thresholds.threshold.seconds(),
            "high_s": self.thresholds.high.seconds(),
            "increase_bps": self.increase_bps,
            "decrease_bps": self.decrease_bps,
            "speed_up": self.speed_up,
            "back_off": self.back_off,
            "timeout_s": self.timeout.seconds(),
        })
    }
}

/// How two values must lie: whether they do, what is wrong if not, and the order in words.
struct Order<T> {
    holds: fn(&T, &T) -> bool,
    fault: &'static str,
    order: &'static str,
}

/// Bounds may be equal.
const fn rates() -> Order<Option<u64>> {
    Order {
        holds: |low, high| low <= high,
        fault: "is above",
        order: "up to",
    }
}

/// Thresholds may not.
const fn times() -> Order<Span> {
    Order {
        holds: |low, high| low < high,
        fault: "is not below",
        order: "below",
    }
}

/// Complains if two values of the tables are not in order; whether they are.
fn ascend<T: Setting>(
    tables: &[&Section],
    (lower, upper): (KeyOf<T>, KeyOf<T>),
    order: fn() -> Order<T>,
    problems: &mut Problems,
) -> bool {
    let layers = Layers(tables);
    let (Some(low), Some(high)) = (layers.said(lower), layers.said(upper)) else {
        return true;
    };
    let Order {
        holds,
        fault,
        order,
    } = order();
    if holds(&low.value, &high.value) {
        return true;
    }
    let own = |key: KeyOf<T>| tables[0].said(key).is_some();
    // An inherited pair has been judged where it stands.
    if own(lower) || own(upper) {
        let (lower_name, upper_name) = (lower.name(), upper.name());
        let message = format!(
            "{lower_name} {} {fault} {upper_name} {}; allowed is {lower_name} {order} {upper_name}",
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
