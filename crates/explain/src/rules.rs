//! The table of causes: when each applies, the edit that removes it, and its remedies.
//!
//! A rule looks at a finished run and returns the causes that may apply, each with a subject. It
//! judges by presence, not by size: `lasthop explain` simulates the edits, and the largest paired
//! gain decides. Therefore a condition is generous, and only excludes edits that cannot matter.

mod cell;
mod endpoints;
mod queues;
mod stations;
mod traffic;
mod wired;

use serde_json::{Value, json};

use crate::edits::Setting;
use crate::facts::Facts;

/// Aims that a scenario may have, as `lasthop explain --for` names them.
const CALLS: &str = "calls";
const DELAY: &str = "delay";
const THROUGHPUT: &str = "throughput";
const FAIRNESS: &str = "fairness";

/// One row of the table.
pub struct Rule {
    /// Identifier of the cause.
    id: &'static str,
    /// Name of the cause.
    title: &'static str,
    /// Objectives that the cause usually harms.
    objectives: &'static [&'static str],
    /// Returns the causes in a run.
    find: fn(&Facts<'_>) -> Vec<Cause>,
}

/// A change that a user may make because of a cause.
pub struct Remedy {
    /// Name of the change.
    pub label: String,
    /// Where the change is made, in words; empty if the label says it.
    pub place: String,
    /// Whether it is a setting, and not another line, place or contract.
    pub is_setting: bool,
    /// Settings of the change.
    pub settings: Vec<Setting>,
}

impl Remedy {
    /// Returns a setting, or several that belong together.
    pub fn new(label: impl Into<String>, settings: Vec<Setting>) -> Remedy {
        Remedy {
            label: label.into(),
            place: String::new(),
            is_setting: true,
            settings,
        }
    }

    /// Returns a change that no setting of a device makes.
    pub fn not_a_setting(label: impl Into<String>, settings: Vec<Setting>) -> Remedy {
        Remedy {
            is_setting: false,
            ..Remedy::new(label, settings)
        }
    }

    /// Returns the remedy with its place.
    pub fn at(self, place: &str) -> Remedy {
        Remedy {
            place: place.into(),
            ..self
        }
    }
}

/// Returns a remedy of one setting.
pub fn remedy(label: &str, key: impl Into<String>, value: &str) -> Remedy {
    Remedy::new(label, vec![(key.into(), value.into())])
}

/// A cause found in a run.
pub struct Cause {
    /// Place of the cause: a queue, a link, a station's table, a class of flows.
    pub subject: String,
    /// The cause in a sentence, with its numbers.
    pub sentence: String,
    /// Rank of the cause among all causes before anything is simulated, from 0 to 1. [-]
    pub weight: f64,
    /// Edit that removes the cause.
    pub edits: Vec<Setting>,
    /// Changes that a user can make.
    pub remedies: Vec<Remedy>,
}

/// All rules. Their order is the order of `lasthop explain --rules`.
const RULES: &[Rule] = &[
    queues::LONG_QUEUE,
    queues::AQM_SETTINGS,
    queues::SHORT_BUFFER,
    wired::SLOW_LINE,
    wired::LONG_PATH,
    wired::LINK_LOSS,
    wired::UNEQUAL_RTT,
    cell::NARROW_CHANNEL,
    cell::NO_AGGREGATION,
    cell::LONG_AGGREGATES,
    cell::SHORT_TXOP,
    cell::COLLISIONS,
    cell::AP_ACCESS,
    cell::LONG_BACKOFF,
    cell::RATE_FALLBACK,
    stations::SLOW_STATION,
    stations::NOISY_STATION,
    stations::POWER_SAVE,
    traffic::NOT_PRIORITISED,
    traffic::MANY_CONNECTIONS,
    traffic::UNRESPONSIVE,
    endpoints::RECEIVE_WINDOW,
    endpoints::SLOW_RECOVERY,
    endpoints::SMALL_INITIAL_WINDOW,
    endpoints::SMALL_SEGMENTS,
    endpoints::SCALABLE_CONTROL,
];

/// Returns the causes that may apply to a run, the most likely first.
pub fn causes(facts: &Facts<'_>) -> Vec<Value> {
    let default = default_objective(facts);
    let mut found: Vec<(bool, f64, Value)> = Vec::new();
    for rule in RULES {
        let is_default = rule.objectives.contains(&default);
        let objective = if is_default {
            default
        } else {
            rule.objectives[0]
        };
        for cause in (rule.find)(facts) {
            let remedies: Vec<Value> = cause
                .remedies
                .iter()
                .map(|each| {
                    json!({
                        "label": each.label,
                        "place": each.place,
                        "is_setting": each.is_setting,
                        "settings": each.settings,
                    })
                })
                .collect();
            let item = json!({
                "id": rule.id,
                "title": rule.title,
                "subject": cause.subject,
                "objective": objective,
                "sentence": cause.sentence,
                "weight": cause.weight,
                "edits": cause.edits,
                "remedies": remedies,
            });
            let rank = (is_default, cause.weight);
            let at = found.partition_point(|(other_is_default, weight, _)| {
                (*other_is_default, *weight) >= rank
            });
            found.insert(at, (is_default, cause.weight, item));
        }
    }
    found.into_iter().map(|(.., item)| item).collect()
}

/// Returns the objective of a scenario that states none.
fn default_objective(facts: &Facts<'_>) -> &'static str {
    if !crate::calls::directions(facts).is_empty() {
        return CALLS;
    }
    match facts.has_delay_sensitive() {
        true => DELAY,
        false => THROUGHPUT,
    }
}

/// Conditions and edits of the rules in words, one object for each rule in the order of `RULES`.
///
/// They are apart so that the page, which does not print them, does not carry them.
const WORDS: &str = include_str!("rules/table.json");

/// Returns the table of causes.
///
/// # Panics
///
/// If the words are not those of the rules; a test reads them.
pub fn table() -> Value {
    let words: Vec<Value> = serde_json::from_str(WORDS).expect("the words of all rules");
    assert_eq!(words.len(), RULES.len());
    let row = |(rule, words): (&Rule, &Value)| {
        assert_eq!(words["id"], rule.id);
        json!({
            "id": rule.id,
            "title": rule.title,
            "applies": words["applies"],
            "edit": words["edit"],
            "objectives": rule.objectives,
        })
    };
    RULES.iter().zip(&words).map(row).collect()
}
