//! Causes in the TCP endpoints.

use serde_json::Value;

use super::queues::settings;
use super::{Cause, remedy};
use crate::edits::{queue_key, tcp_settings};
use crate::facts::{Facts, Flow, Kind, percent};

/// Receive window that the edit sets, which is enough for 1.2 Gb/s over 100 ms. [packets]
const LARGE_WINDOW: &str = "10000";

/// Ratio of congestion window to receive window above which the receive window may be the limit.
/// [-]
const FILLED: f64 = 0.6;

/// Returns the largest mean of a quantity among these flows, or 0 if no flow has the quantity.
fn largest(flows: &[&Flow<'_>], quantity: &str) -> f64 {
    let means = flows.iter().filter_map(|flow| flow.mean(quantity));
    means.fold(0.0, f64::max)
}

pub fn receive_window(facts: &Facts<'_>) -> Option<Cause> {
    let flows = facts.flows_that(|flow| {
        let window = packets(flow);
        let cwnd = flow.mean("cwnd_packets").unwrap_or(0.0);
        let share = flow.mean("rwnd_limited_fraction").unwrap_or(0.0);
        let is_short = matches!(flow.kind, Kind::Web | Kind::Finite) && window < 100.0;
        // the window of a flow that its application limits may grow, although it is not used
        let is_filled = cwnd > FILLED * window && !is_limited_by_application(facts, flow);
        flow.is_tcp() && window < 10_000.0 && (share >= 0.05 || is_filled || is_short)
    });
    let by_window = |a: &&&Flow<'_>, b: &&&Flow<'_>| packets(a).total_cmp(&packets(b));
    let smallest = flows.iter().min_by(by_window)?;
    let (name, window) = (smallest.name, packets(smallest));
    let share = largest(&flows, "rwnd_limited_fraction");
    let is_idle = |flow: &&Flow<'_>| {
        crate::limits::limit(facts, flow).is_none_or(|limit| matches!(limit.by, "rwnd" | "cwnd"))
    };
    let subject = match flows.len() {
        1 => name.into(),
        count => format!("{count} flows"),
    };
    let time = match share > 0.0 {
        true => format!(" for {} of the time", percent(share)),
        false => String::new(),
    };
    let sentence = format!("The receive window of {window} packets limits {name}{time}.");
    let weight = if flows.iter().any(is_idle) { 0.95 } else { 0.2 };
    let edits = tcp_settings(facts, &flows, "window", LARGE_WINDOW);
    let cause = Cause::new(subject, sentence, weight, edits);
    Some(cause.remedied_by("receive window of 10,000 packets"))
}

fn is_limited_by_application(facts: &Facts<'_>, flow: &Flow<'_>) -> bool {
    flow.kind.is_written()
        && crate::limits::limit(facts, flow).is_some_and(|limit| limit.by == "application")
}

fn packets(flow: &Flow<'_>) -> f64 {
    let window = flow.tcp.and_then(|tcp| tcp.window_packets.as_f64());
    window.unwrap_or(f64::INFINITY)
}

pub fn slow_recovery(facts: &Facts<'_>) -> Option<Cause> {
    let flows = facts.flows_that(|flow| {
        let congestion = flow.congestion();
        flow.is_tcp()
            && (matches!(congestion, "tahoe" | "reno" | "newreno") || flow.sack() == Some(false))
    });
    let first = flows.first()?;
    let others = match flows.len() {
        1 => String::new(),
        count => format!(", like {} other flows,", count - 1),
    };
    let with = if first.sack() == Some(true) {
        "with"
    } else {
        "without"
    };
    let congestion = first.congestion();
    let sentence = format!("{}{others} uses {congestion} {with} SACK.", first.name);
    let weight = (0.1 + 10.0 * largest(&flows, "loss_probability")).min(0.5);
    Some(Cause::new("tcp", sentence, weight, facts.cubic().to_vec()).remedied_by("CUBIC with SACK"))
}

pub fn small_initial_window(facts: &Facts<'_>) -> Option<Cause> {
    let is_small = |initial: &Value| initial.as_f64().is_some_and(|packets| packets < 10.0);
    let flows = facts.flows_that(|flow| {
        matches!(flow.kind, Kind::Finite | Kind::Web) && initial_window(flow).is_some_and(is_small)
    });
    let first = flows.first()?;
    let (class, initial) = (first.class, initial_window(first)?);
    let sentence = format!("{class} begins with {initial} segments, and needs more round trips.");
    let edits = tcp_settings(facts, &facts.tcp_flows(), "initial_window", "10");
    let cause = Cause::new(class, sentence, 0.4, edits);
    Some(cause.remedied_by("initial window of 10 segments"))
}

/// Returns the initial window of a flow in packets, or `None` without TCP.
fn initial_window<'a>(flow: &Flow<'a>) -> Option<&'a Value> {
    Some(&flow.tcp?.initial_cwnd_packets)
}

pub fn small_segments(facts: &Facts<'_>) -> Option<Cause> {
    let size = |flow: &Flow<'_>| {
        let mss = flow.tcp.and_then(|tcp| tcp.mss_bytes.as_f64());
        mss.unwrap_or(1460.0)
    };
    let flows = facts.flows_that(|flow| flow.is_tcp() && size(flow) < 1200.0);
    let first = flows.first()?;
    let sentence = format!("Segments of {} have {} B.", first.class, size(first));
    let edits = tcp_settings(facts, &flows, "mss", "1460 B");
    Some(Cause::new(first.class, sentence, 0.4, edits).remedied_by("segments of 1,460 B"))
}

pub fn scalable_control(facts: &Facts<'_>) -> Option<Cause> {
    let is_classic = |queue: &&str| settings(facts, queue).0 != "dualpi2";
    let flows = facts.flows_that(|flow| {
        matches!(flow.congestion(), "dctcp" | "prague") && flow.path.iter().any(is_classic)
    });
    let first = flows.first()?;
    let (class, congestion) = (first.class, first.congestion());
    let sentence = format!("{class} uses {congestion}, and crosses a queue that is not DualPI2.");
    let mut edits = tcp_settings(facts, &flows, "congestion", "cubic");
    edits.extend(tcp_settings(facts, &flows, "sack", "true"));
    let key = first.path.iter().find_map(|queue| queue_key(facts, queue));
    let dualpi2 = key.map(|key| remedy("DualPI2 (L4S)", key, "{ dualpi2 = {} }"));
    let cause = Cause::new(class, sentence, 0.7, edits).remedied_by("CUBIC with SACK");
    Some(cause.with(dualpi2))
}
