//! The keys of the wireless capacity estimator in scenario files and in files of the gateway.

use super::parameters::{Thresholds, WceRule, WceSettings};
use crate::kernel::time::Span;
use crate::notation::decode::{Located, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{
    FileTable, Json, KeyOf, MS, S, Setting, duration, number, rate, word,
};
use crate::table;

table! {
    /// Steps and thresholds of the estimator.
    pub struct WceKeys: Copy in "wce" {
        /// Algorithm that sets the rate from round-trip times. "agreement" uses the lower median of the queueing delays of stations with traffic. "paper" uses every reply on its own, as in paper 002.
        rule: WceRule = word().default(WceRule::Agreement);
        /// Smallest rate of the bottleneck.
        min: Option<u64> = rate().depends("a thirtieth of max; with rule \"agreement\" at most 1 Mbps");
        /// Time between two pings. Each ping goes to another station.
        interval: Span = duration(MS..=10 * S).default("100 ms");
        /// Round-trip time up to which the rate grows exponentially.
        low: Span = duration(1..=10 * S).default("5 ms");
        /// Round-trip time up to which the rate grows linearly. Above this time the rate falls.
        threshold: Span = duration(1..=10 * S).default("40 ms");
        /// Round-trip time above which the rate is cut immediately.
        high: Option<Span> = duration(1..=10 * S).depends("100 ms; with rule \"paper\" 200 ms");
        /// Linear increase of the rate in each interval, with rule "paper".
        increase: Option<u64> = rate().depends("a sixtieth of max per second");
        /// Linear decrease of the rate in each interval, with rule "paper".
        decrease: Option<u64> = rate().depends("four times `increase`");
        /// Factor of an exponential increase of the rate, with rule "paper".
        speed_up: Option<f64> = number(1.001..=2.0).depends("1.02");
        /// Factor of an exponential decrease of the rate, with rule "paper".
        back_off: Option<f64> = number(0.01..=0.99).depends("0.8");
        /// Round-trip time above which a ping counts as unanswered, so that the rate does not change.
        timeout: Span = duration(MS..=100 * S).default("3 s");
    }
}

table! {
    /// The wireless capacity estimator. It pings stations and raises or lowers the rate of the bottleneck according to their round-trip times.
    pub struct BottleneckWce in "vsb.wce" {
        /// Largest rate of the bottleneck, and its initial rate. It should be somewhat above the capacity of the WLAN.
        max: Option<u64> = rate().depends("6/11 of the preset's data rate");
        all_of WceKeys;
    }
}

/// Key of the maximum C. Every estimator table has this key, with its own default.
const MAX: KeyOf<Option<u64>> = BottleneckWce::max;

/// Upper limit of the default of the minimum C. The limit applies to rules in which a few late
/// stations cannot reduce C to the minimum. The default is limited because a configured maximum is
/// often a guess, and the real capacity may be far below the maximum. [bit/s]
const MAX_LEAST_BPS: u64 = 1_000_000;

impl WceKeys {
    /// Returns these settings with a maximum C of `max_bps`, and with default steps for this
    /// maximum. The default thresholds are those of the paper. The default steps suit a WLAN whose
    /// capacity is somewhat below `max_bps`: C increases by a sixtieth of `max_bps` per second, or
    /// decreases four times as fast.
    fn below(self, max_bps: u64) -> WceSettings {
        let in_a_second = |bps: u64| {
            let step = u128::from(bps) * u128::from(self.interval.0) / u128::from(S);
            u64::try_from(step).unwrap_or(u64::MAX).max(1)
        };
        let four_times = self.increase.map(|bps| bps.saturating_mul(4));
        let decrease = self.decrease.or(four_times);
        let high = match self.rule {
            WceRule::Agreement => 100 * MS,
            WceRule::Paper => 200 * MS,
        };
        let least = match self.rule {
            WceRule::Agreement => (max_bps / 30).min(MAX_LEAST_BPS),
            WceRule::Paper => max_bps / 30,
        };
        WceSettings {
            rule: self.rule,
            max_bps,
            min_bps: self.min.unwrap_or(least.max(1)),
            interval: self.interval,
            thresholds: Thresholds {
                low: self.low,
                threshold: self.threshold,
                high: self.high.unwrap_or(Span(high)),
            },
            increase_bps: self.increase.unwrap_or(in_a_second(max_bps / 60)),
            decrease_bps: decrease.unwrap_or(in_a_second(max_bps / 15)),
            speed_up: self.speed_up.unwrap_or(1.02),
            back_off: self.back_off.unwrap_or(0.8),
            timeout: self.timeout,
            follows_base: true,
        }
    }
}

impl WceSettings {
    /// Returns the default settings for a rule, a maximum C of `max_bps` and one ping per
    /// `interval`.
    pub fn new(rule: WceRule, max_bps: u64, interval: Span) -> WceSettings {
        match WceKeys::usual() {
            Ok(usual) => WceKeys {
                rule,
                interval,
                ..usual
            }
            .below(max_bps),
            Err(_) => unreachable!("no key is required"),
        }
    }

    /// Returns the settings in a table and in the tables from which it inherits. If the tables do
    /// not set the maximum C, the maximum is `usual_max_bps`.
    ///
    /// # Errors
    /// A value has been refused.
    pub fn of(layers: &Layers, usual_max_bps: u64) -> Result<WceSettings, Refused> {
        let max_bps = layers.value(MAX)?.flatten().unwrap_or(usual_max_bps);
        Ok(WceKeys::read(layers)?.below(max_bps))
    }

    /// Checks that bounds and thresholds are in ascending order. A key that the first table does
    /// not set is read from the later tables.
    pub fn check(tables: &[&Section], usual_max_bps: u64, problems: &mut Problems) {
        let steps = (WceKeys::increase, WceKeys::decrease);
        let in_order = [
            ascend(tables, (WceKeys::min, MAX), true, problems),
            ascend(tables, steps, true, problems),
            ascend(tables, (WceKeys::low, WceKeys::threshold), false, problems),
            check_high(tables, problems),
        ];
        refuse_steps_without_effect(tables, problems);
        if in_order.contains(&false) {
            return;
        }
        let Ok(settings) = WceSettings::of(&Layers(tables), usual_max_bps) else {
            return; // the error has already been reported
        };
        // next, explicit values are checked against the defaults that are computed from other keys
        let times = settings.thresholds;
        let (keys, allowed) = if settings.min_bps > settings.max_bps {
            ([WceKeys::min.name(), MAX.name()], "min up to max")
        } else if settings.increase_bps > settings.decrease_bps {
            let steps = [WceKeys::decrease.name(), WceKeys::increase.name()];
            (steps, "increase up to decrease")
        } else if times.threshold >= times.high {
            let keys = [WceKeys::threshold.name(), WceKeys::rule.name()];
            (keys, "threshold below high")
        } else if times.high >= settings.timeout {
            let keys = [WceKeys::timeout.name(), WceKeys::rule.name()];
            (keys, "high below timeout")
        } else {
            return;
        };
        if let Some(setting) = keys.iter().find_map(|key| tables[0].given(key)) {
            setting.refuse_value(format!("is out of order; expected {allowed}"), problems);
        }
    }

    /// Returns the settings as JSON for the normalised scenario.
    pub fn json(&self) -> Json {
        serde_json::json!({
            "rule": self.rule.name(),
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

/// Refuses keys for the steps of rule "paper" if another rule is set, because these keys then have
/// no effect.
fn refuse_steps_without_effect(tables: &[&Section], problems: &mut Problems) {
    let rule = Layers(tables)
        .located(WceKeys::rule)
        .map(|setting| setting.value);
    if rule.unwrap_or(WceRule::Agreement) == WceRule::Paper {
        return;
    }
    let steps = [
        WceKeys::increase.name(),
        WceKeys::decrease.name(),
        WceKeys::speed_up.name(),
        WceKeys::back_off.name(),
    ];
    for entry in steps.iter().filter_map(|key| tables[0].given(key)) {
        if !problems.concern(&entry.path) {
            let needed = format!(
                "has no effect; expected {} = \"{}\"",
                WceKeys::rule.name(),
                WceRule::Paper.name()
            );
            entry.refuse_value(needed, problems);
        }
    }
}

/// Checks that the threshold `high` is between the second threshold and the timeout. The default of
/// `high` depends on the rule.
fn check_high(tables: &[&Section], problems: &mut Problems) -> bool {
    let layers = Layers(tables);
    let high = || {
        named(
            WceKeys::high.name(),
            layers.located(WceKeys::high).and_then(Located::present),
        )
    };
    let other = |key: KeyOf<Span>| named(key.name(), layers.located(key));
    let above = in_order(tables, [other(WceKeys::threshold), high()], false, problems);
    above && in_order(tables, [high(), other(WceKeys::timeout)], false, problems)
}

/// A key, and its value if a table sets it.
type Named<'a, T> = (&'static str, Option<Located<'a, T>>);

fn named<'a, T>(name: &'static str, value: Option<Located<'a, T>>) -> Named<'a, T> {
    (name, value)
}

/// Checks that two values of the tables are in ascending order, and reports an error if they are
/// not. Returns whether they are in order. With `may_equal`, equal values are accepted.
fn ascend<T: Setting + PartialOrd>(
    tables: &[&Section],
    (lower, upper): (KeyOf<T>, KeyOf<T>),
    may_equal: bool,
    problems: &mut Problems,
) -> bool {
    let pair = [lower, upper].map(|key| named(key.name(), Layers(tables).located(key)));
    in_order(tables, pair, may_equal, problems)
}

fn in_order<T: PartialOrd>(
    tables: &[&Section],
    [(lower, low), (upper, high)]: [Named<'_, T>; 2],
    may_equal: bool,
    problems: &mut Problems,
) -> bool {
    let (Some(low), Some(high)) = (low, high) else {
        return true;
    };
    if low.value < high.value || may_equal && low.value == high.value {
        return true;
    }
    let own = |key: &str| tables[0].entry(key).is_some();
    // if both values are inherited, the table that sets them has already been checked
    if own(lower) || own(upper) {
        let (fault, order) = match may_equal {
            true => ("is above", "up to"),
            false => ("is not below", "below"),
        };
        let message = format!(
            "{lower} {} {fault} {upper} {}; expected {lower} {order} {upper}",
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
