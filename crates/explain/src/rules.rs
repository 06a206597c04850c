//! The table of causes: when each cause applies, the edit that removes it, and its remedies.
//!
//! A rule examines a finished run and returns the causes that may apply, each with a subject. The
//! rule decides whether a cause may be present, not how large its effect is. `lasthop explain`
//! simulates the network with and without each edit, with the same random numbers, and the measured
//! gain decides about the cause. Therefore the condition of a rule is broad, and excludes only edits
//! that cannot matter.

mod cell;
mod endpoints;
mod queues;
mod stations;
mod traffic;
mod wired;

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::{Value, json};

use crate::edits::Setting;
use crate::facts::Facts;
use crate::index::sort;

/// Objectives of a scenario, as `lasthop explain --for` names them.
const CALLS: &str = "calls";
const DELAY: &str = "delay";
const THROUGHPUT: &str = "throughput";
const FAIRNESS: &str = "fairness";
const VIDEO: &str = "video";

/// A rule, which is one row of the table of causes.
struct Rule {
    /// Identifier of the cause.
    id: &'static str,
    /// Title of the cause.
    title: &'static str,
    /// Objectives that the cause impairs in most scenarios.
    objectives: &'static [&'static str],
    /// Function that returns the causes that may apply to a run.
    causes: fn(&Facts<'_>) -> Vec<Cause>,
}

/// A change of the network that a user can make because of a cause.
#[derive(Clone, Serialize)]
pub struct Remedy {
    /// Name of the change.
    pub label: String,
    /// Location of the change as a phrase, or empty if the label contains the location.
    pub place: String,
    /// Whether the change is a device setting. It is false for example for a faster line, another location of the
    /// access point or another contract.
    pub is_setting: bool,
    /// Scenario settings that represent the change.
    pub settings: Vec<Setting>,
}

impl Remedy {
    /// Returns a remedy that consists of one or several device settings.
    pub fn new(label: impl Into<String>, settings: Vec<Setting>) -> Remedy {
        Remedy {
            label: label.into(),
            place: String::new(),
            is_setting: true,
            settings,
        }
    }

    /// Returns a remedy that is not a device setting.
    pub fn not_a_setting(label: impl Into<String>, settings: Vec<Setting>) -> Remedy {
        Remedy {
            is_setting: false,
            ..Remedy::new(label, settings)
        }
    }

    /// Returns the remedy with the location `place`.
    pub fn at(self, place: &str) -> Remedy {
        Remedy {
            place: place.into(),
            ..self
        }
    }
}

/// Returns a remedy that consists of one device setting.
pub fn remedy(label: &str, key: impl Into<String>, value: &str) -> Remedy {
    Remedy::new(label, vec![(key.into(), value.into())])
}

/// A cause that may apply to a run.
pub struct Cause {
    /// Subject of the cause: a queue, a link, a station's table or a class of flows.
    pub subject: String,
    /// Sentence that describes the cause with its numbers.
    pub sentence: String,
    /// Priority of the cause before any simulation, from 0 to 1. [-]
    pub weight: f64,
    /// Settings that remove the cause.
    pub edits: Vec<Setting>,
    /// Remedies from which a user can choose.
    pub remedies: Vec<Remedy>,
}

impl Cause {
    /// Returns a cause without remedies.
    pub fn new(
        subject: impl Into<String>,
        sentence: impl Into<String>,
        weight: f64,
        edits: Vec<Setting>,
    ) -> Cause {
        Cause {
            subject: subject.into(),
            sentence: sentence.into(),
            weight,
            edits,
            remedies: Vec::new(),
        }
    }

    /// Returns the cause with an additional remedy: the edits of the cause themselves, as device settings.
    pub fn remedied_by(self, label: impl Into<String>) -> Cause {
        let remedy = Remedy::new(label, self.edits.clone());
        self.with([remedy])
    }

    /// Returns the cause with additional remedies.
    pub fn with(mut self, remedies: impl IntoIterator<Item = Remedy>) -> Cause {
        self.remedies.extend(remedies);
        self
    }
}

/// Defines the table of rules. Each row names a function, an identifier and a title, followed by
/// the objectives.
///
/// The function returns the causes as an iterable, such as an `Option` or a `Vec`.
macro_rules! rules {
    ($($causes:path: $id:literal, $title:literal, [$($objective:ident),*];)*) => {
        &[$(Rule {
            id: $id,
            title: $title,
            objectives: &[$($objective),*],
            causes: |facts| $causes(facts).into_iter().collect(),
        }),*]
    };
}

/// All rules, in the order in which `lasthop explain --rules` prints them.
const RULES: &[Rule] = rules! {
    queues::standing_queues: "long-queue", "standing queue",
        [CALLS, DELAY, FAIRNESS, VIDEO];
    queues::standing_aqm_queues: "aqm-settings", "queue whose drops do not suit its rate and its flows",
        [DELAY, THROUGHPUT, CALLS, FAIRNESS, VIDEO];
    queues::short_buffers: "short-buffer", "buffer that is too short",
        [THROUGHPUT, DELAY, FAIRNESS, CALLS, VIDEO];
    wired::slow_lines: "slow-line", "line without spare capacity",
        [THROUGHPUT, DELAY, CALLS, VIDEO];
    wired::long_paths: "long-path", "long path",
        [DELAY, THROUGHPUT, VIDEO];
    wired::link_losses: "link-loss", "losses on a link",
        [THROUGHPUT, DELAY, CALLS, FAIRNESS, VIDEO];
    wired::unequal_rtts: "unequal-rtt", "unequal round-trip times",
        [FAIRNESS];
    cell::narrow_channel: "narrow-channel", "air without spare capacity",
        [THROUGHPUT, DELAY, CALLS, VIDEO];
    cell::no_aggregation: "no-aggregation", "no aggregation",
        [THROUGHPUT, DELAY, CALLS, VIDEO];
    cell::long_aggregates: "long-aggregates", "long aggregates",
        [CALLS, DELAY];
    cell::short_txop: "short-txop", "one frame per transmission opportunity",
        [THROUGHPUT, VIDEO];
    cell::collisions: "collisions", "collisions in the Wi-Fi",
        [THROUGHPUT, DELAY, CALLS, VIDEO];
    cell::ap_access: "ap-access", "access point that contends like a single station",
        [FAIRNESS, THROUGHPUT, CALLS, DELAY, VIDEO];
    cell::long_backoff: "long-backoff", "long backoff after collisions",
        [CALLS, DELAY];
    cell::rate_fallback: "rate-fallback", "rates that fall after collisions",
        [THROUGHPUT, DELAY, FAIRNESS, VIDEO];
    stations::slow_stations: "slow-station", "slow station",
        [THROUGHPUT, FAIRNESS, DELAY, CALLS, VIDEO];
    stations::noisy_stations: "noisy-station", "frames lost to noise",
        [THROUGHPUT, DELAY, CALLS, FAIRNESS, VIDEO];
    stations::sleeping_stations: "power-save", "power save",
        [DELAY, CALLS, THROUGHPUT, VIDEO];
    traffic::not_prioritised: "not-prioritised", "call or sensor without priority in the Wi-Fi",
        [CALLS, DELAY];
    traffic::many_connections: "many-connections", "station with many connections",
        [FAIRNESS, DELAY, CALLS, VIDEO];
    traffic::unresponsive: "unresponsive", "datagrams that do not slow down",
        [FAIRNESS, THROUGHPUT, DELAY, CALLS, VIDEO];
    endpoints::receive_window: "receive-window", "receive window that is too small",
        [THROUGHPUT, DELAY, FAIRNESS, VIDEO];
    endpoints::slow_recovery: "slow-recovery", "TCP of an older generation",
        [THROUGHPUT, DELAY, FAIRNESS, VIDEO];
    endpoints::small_initial_window: "small-initial-window", "small initial window",
        [DELAY];
    endpoints::small_segments: "small-segments", "small segments",
        [THROUGHPUT];
    endpoints::scalable_control: "scalable-control", "scalable congestion control in a queue for classic flows",
        [FAIRNESS, THROUGHPUT, DELAY, CALLS, VIDEO];
};

/// Returns the causes that may apply to a run, in descending order of weight.
///
/// # Errors
///
/// The error of `proceed`, which is called before each rule.
pub fn causes<E>(
    facts: &Facts<'_>,
    proceed: &mut dyn FnMut() -> Result<(), E>,
) -> Result<Vec<Value>, E> {
    let default = default_objective(facts);
    let mut ranked: Vec<((bool, f64), Value)> = Vec::new();
    for rule in RULES {
        proceed()?;
        let is_default = rule.objectives.contains(&default);
        let objective = match is_default {
            true => default,
            false => rule.objectives[0],
        };
        for cause in (rule.causes)(facts) {
            let rank = (is_default, cause.weight);
            let item = json!({
                "id": rule.id,
                "title": rule.title,
                "subject": cause.subject,
                "objective": objective,
                "sentence": cause.sentence,
                "weight": cause.weight,
                "edits": cause.edits,
                "remedies": cause.remedies,
            });
            ranked.push((rank, item));
        }
    }
    // causes of equal rank stay in the order of the rules
    let ranked = sort(ranked, |(a, _), (b, _)| {
        b.partial_cmp(a).unwrap_or(Ordering::Equal)
    });
    Ok(ranked.into_iter().map(|(_, item)| item).collect())
}

/// Returns the objective of a scenario if the user names none.
fn default_objective(facts: &Facts<'_>) -> &'static str {
    if !crate::calls::directions(facts).is_empty() {
        return CALLS;
    }
    match facts.has_delay_sensitive() {
        _ if facts.has_video() => VIDEO,
        true => DELAY,
        false => THROUGHPUT,
    }
}

/// Conditions and edits of the rules as text (JSON), one object per rule in the order of `RULES`.
///
/// The texts are in a separate file, so that the web page, which does not print them, need not contain
/// them.
const WORDS: &str = include_str!("rules/table.json");

/// Returns the table of causes.
///
/// # Panics
///
/// If the texts do not match the rules, which a test checks.
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
