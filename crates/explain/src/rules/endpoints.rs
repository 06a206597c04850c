//! Causes in the TCP endpoints.

use super::wired::cubic;
use super::{CALLS, Cause, DELAY, FAIRNESS, Remedy, Rule, THROUGHPUT};
use crate::edits::{set, tcp_settings};
use crate::facts::{Facts, Flow, Kind, list, mean, named, percent, text};

/// Receive window of the edit: 1.2 Gb/s over 100 ms. [packets]
const LARGE_WINDOW: &str = "10000";

/// Share of the receive window that the congestion window fills, from which the former may limit. [-]
const FILLED: f64 = 0.6;

pub const RECEIVE_WINDOW: Rule = Rule {
    id: "receive-window",
    title: "receive window that is too small",
    objectives: &[THROUGHPUT, DELAY, FAIRNESS],
    find: receive_window,
};

pub const SLOW_RECOVERY: Rule = Rule {
    id: "slow-recovery",
    title: "TCP of an older generation",
    objectives: &[THROUGHPUT, DELAY, FAIRNESS],
    find: slow_recovery,
};

pub const SMALL_INITIAL_WINDOW: Rule = Rule {
    id: "small-initial-window",
    title: "small initial window",
    objectives: &[DELAY],
    find: small_initial_window,
};

pub const SMALL_SEGMENTS: Rule = Rule {
    id: "small-segments",
    title: "small segments",
    objectives: &[THROUGHPUT],
    find: small_segments,
};

pub const SCALABLE_CONTROL: Rule = Rule {
    id: "scalable-control",
    title: "scalable congestion control in a queue for classic flows",
    objectives: &[FAIRNESS, THROUGHPUT, DELAY, CALLS],
    find: scalable_control,
};

fn receive_window(facts: &Facts<'_>) -> Vec<Cause> {
    let is_limited = |flow: &&Flow<'_>| {
        let window = flow.tcp["window_packets"].as_f64().unwrap_or(f64::INFINITY);
        let cwnd = mean(flow.answer, "cwnd_packets").unwrap_or(0.0);
        let share = mean(flow.answer, "rwnd_limited_fraction").unwrap_or(0.0);
        let is_short = matches!(flow.kind, Kind::Web | Kind::Finite) && window < 100.0;
        flow.is_tcp() && window < 10_000.0 && (share >= 0.05 || cwnd > FILLED * window || is_short)
    };
    let flows: Vec<&Flow<'_>> = facts.flows.iter().filter(is_limited).collect();
    let Some(smallest) = flows
        .iter()
        .min_by(|a, b| packets(a).total_cmp(&packets(b)))
    else {
        return Vec::new();
    };
    let share = flows
        .iter()
        .filter_map(|flow| mean(flow.answer, "rwnd_limited_fraction"))
        .fold(0.0, f64::max);
    let is_idle = |flow: &&Flow<'_>| {
        crate::limits::limit(facts, flow).is_none_or(|limit| matches!(limit.by, "rwnd" | "cwnd"))
    };
    let edits = tcp_settings(facts, &flows, "window", LARGE_WINDOW);
    vec![Cause {
        subject: match flows.len() {
            1 => smallest.name.into(),
            count => format!("{count} flows"),
        },
        sentence: format!(
            "The receive window of {} packets limits {}{}.",
            packets(smallest),
            smallest.name,
            match share > 0.0 {
                true => format!(" for {} of the time", percent(share)),
                false => String::new(),
            }
        ),
        weight: if flows.iter().any(is_idle) { 0.95 } else { 0.2 },
        remedies: vec![Remedy::new(
            "receive window of 10,000 packets",
            edits.clone(),
        )],
        edits,
    }]
}

fn packets(flow: &Flow<'_>) -> f64 {
    flow.tcp["window_packets"].as_f64().unwrap_or(f64::INFINITY)
}

fn slow_recovery(facts: &Facts<'_>) -> Vec<Cause> {
    let is_old = |flow: &&Flow<'_>| {
        let congestion = text(flow.tcp, "congestion");
        flow.is_tcp()
            && (matches!(congestion, "tahoe" | "reno" | "newreno") || flow.tcp["sack"] == false)
    };
    let flows: Vec<&Flow<'_>> = facts.flows.iter().filter(is_old).collect();
    let Some(first) = flows.first() else {
        return Vec::new();
    };
    let losses = flows
        .iter()
        .filter_map(|flow| mean(flow.answer, "loss_probability"))
        .fold(0.0, f64::max);
    let edits = cubic(facts);
    vec![Cause {
        subject: "tcp".into(),
        sentence: format!(
            "{}{} uses {} {} SACK.",
            first.name,
            match flows.len() {
                1 => String::new(),
                count => format!(", like {} other flows,", count - 1),
            },
            text(first.tcp, "congestion"),
            match first.tcp["sack"] == true {
                true => "with",
                false => "without",
            }
        ),
        weight: (0.1 + 10.0 * losses).min(0.5),
        remedies: vec![Remedy::new("CUBIC with SACK", edits.clone())],
        edits,
    }]
}

fn small_initial_window(facts: &Facts<'_>) -> Vec<Cause> {
    let is_small = |flow: &&Flow<'_>| {
        let initial = flow.tcp["initial_cwnd_packets"].as_f64().unwrap_or(10.0);
        matches!(flow.kind, Kind::Finite | Kind::Web) && initial < 10.0
    };
    let flows: Vec<&Flow<'_>> = facts.flows.iter().filter(is_small).collect();
    let Some(first) = flows.first() else {
        return Vec::new();
    };
    let all: Vec<&Flow<'_>> = facts.flows.iter().filter(|flow| flow.is_tcp()).collect();
    let edits = tcp_settings(facts, &all, "initial_window", "10");
    vec![Cause {
        subject: first.class.into(),
        sentence: format!(
            "{} begins with {} segments, and needs more round trips.",
            first.class, first.tcp["initial_cwnd_packets"]
        ),
        weight: 0.4,
        remedies: vec![Remedy::new("initial window of 10 segments", edits.clone())],
        edits,
    }]
}

fn small_segments(facts: &Facts<'_>) -> Vec<Cause> {
    let size = |flow: &Flow<'_>| flow.tcp["mss_bytes"].as_f64().unwrap_or(1460.0);
    let is_small = |flow: &&Flow<'_>| flow.is_tcp() && size(flow) < 1200.0;
    let flows: Vec<&Flow<'_>> = facts.flows.iter().filter(is_small).collect();
    let Some(first) = flows.first() else {
        return Vec::new();
    };
    let edits = tcp_settings(facts, &flows, "mss", "1460 B");
    vec![Cause {
        subject: first.class.into(),
        sentence: format!("Segments of {} have {} B.", first.class, size(first)),
        weight: 0.4,
        remedies: vec![Remedy::new("segments of 1,460 B", edits.clone())],
        edits,
    }]
}

fn scalable_control(facts: &Facts<'_>) -> Vec<Cause> {
    let is_classic = |queue: &String| {
        let links = list(facts.scenario, "links");
        let table = match queue.starts_with("wire/") {
            true => &facts.scenario["wire"],
            false => named(links, queue).unwrap_or(&facts.scenario["cell"]["ap"]),
        };
        text(&table["queue"], "discipline") != "dualpi2"
    };
    let is_scalable = |flow: &&Flow<'_>| {
        matches!(text(flow.tcp, "congestion"), "dctcp" | "prague")
            && flow.path.iter().any(is_classic)
    };
    let flows: Vec<&Flow<'_>> = facts.flows.iter().filter(is_scalable).collect();
    let Some(first) = flows.first() else {
        return Vec::new();
    };
    let mut edits = tcp_settings(facts, &flows, "congestion", "cubic");
    edits.extend(tcp_settings(facts, &flows, "sack", "true"));
    let mut remedies = vec![Remedy::new("CUBIC with SACK", edits.clone())];
    if let Some(key) = first
        .path
        .iter()
        .find_map(|queue| crate::edits::queue_key(facts, queue))
    {
        remedies.push(Remedy::new(
            "DualPI2 (L4S)",
            vec![set(key, "{ dualpi2 = {} }")],
        ));
    }
    vec![Cause {
        subject: first.class.into(),
        sentence: format!(
            "{} uses {}, and crosses a queue that is not DualPI2.",
            first.class,
            text(first.tcp, "congestion")
        ),
        weight: 0.7,
        edits,
        remedies,
    }]
}
