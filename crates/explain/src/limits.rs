//! The limit of each TCP flow: application, line, air, receive window, ACKs, losses or congestion
//! window.

use serde_json::{Value, json};

use crate::facts::{Facts, Flow, ci95, list, mean, named};

/// Utilisation above which a line or the air is full and limits its flows. [-]
pub const FULL: f64 = 0.9;

/// Minimum fraction of the time for which a limit of an endpoint must hold to be named. [-]
const MIN_SHARE: f64 = 0.5;

/// Minimum fraction of dropped packets that is considered a loss problem. [-]
const MIN_LOSS: f64 = 1e-5;

/// The limit of a flow: its kind, its place and its extent.
pub struct Limit {
    /// `application`, `line`, `air`, `rwnd`, `acks`, `losses` or `cwnd`.
    pub by: &'static str,
    /// Name of a link or queue, `air`, or empty.
    pub place: String,
    /// Fraction of the time, utilisation, or fraction of dropped packets. [-]
    pub fraction: f64,
}

/// Returns the limit of a TCP flow; `None` if the result cannot decide.
///
/// A full line or a full medium is named first, because a larger window would then only lengthen
/// the queue. The next candidates are an exhausted receive window, a full line that the ACKs cross,
/// and losses in a queue on the path. The congestion window is named if no other limit is known.
pub fn limit(facts: &Facts<'_>, flow: &Flow<'_>) -> Option<Limit> {
    if !flow.is_tcp() {
        return None;
    }
    let share = |quantity: &str| mean(flow.answer, quantity);
    if let Some(fraction) = share("app_limited_fraction").filter(|value| *value > MIN_SHARE) {
        return Some(limit_by("application", "", fraction));
    }
    if let Some((link, used)) = full(facts, &flow.path) {
        return Some(limit_by("line", link, used));
    }
    let rwnd = share("rwnd_limited_fraction").filter(|rwnd| *rwnd > MIN_SHARE);
    let is_air = rwnd.is_none() || facts.busy_fraction() > FULL || waits_in_queues(flow);
    if flow.station.is_some() && facts.air_is_full() && is_air {
        return Some(limit_by("air", "air", facts.busy_fraction()));
    }
    if let Some(rwnd) = rwnd {
        return Some(limit_by("rwnd", "", rwnd));
    }
    if let Some((link, used)) = full(facts, &flow.back) {
        return Some(limit_by("acks", link, used));
    }
    let cwnd = share("cwnd_limited_fraction").filter(|cwnd| *cwnd > 0.0)?;
    let losses = flow.path.iter().filter_map(|name| {
        let dropped = mean(facts.queue(name)?, "drop_probability")?;
        (dropped >= MIN_LOSS).then_some((name, dropped))
    });
    match losses.max_by(|(_, a), (_, b)| a.total_cmp(b)) {
        Some((queue, dropped)) => Some(limit_by("losses", queue, dropped)),
        None => Some(limit_by("cwnd", "", cwnd)),
    }
}

/// Returns the link with the highest utilisation and this utilisation, if the link may be full.
fn full<'n>(facts: &Facts<'_>, links: &'n [String]) -> Option<(&'n str, f64)> {
    links
        .iter()
        .filter_map(|link| {
            let item = named(list(facts.answer, "links"), link)?;
            let used = mean(item, "utilisation")?;
            (used + ci95(item, "utilisation") > FULL).then_some((link.as_str(), used))
        })
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// Returns whether the packets of a flow and their ACKs spend at least half of the round-trip time
/// in queues.
fn waits_in_queues(flow: &Flow<'_>) -> bool {
    mean(flow.answer, "rtt_s").is_some_and(|rtt_s| rtt_s >= 4.0 * flow.propagation_s)
}

fn limit_by(by: &'static str, place: &str, fraction: f64) -> Limit {
    Limit {
        by,
        place: place.into(),
        fraction,
    }
}

/// Returns the limits of all TCP flows. Flows with the same limit share one item.
///
/// The key `all` is true if one item has all of two or more TCP flows.
pub fn limits(facts: &Facts<'_>) -> Vec<Value> {
    let mut limits: Vec<(Limit, Vec<&str>)> = Vec::new();
    for flow in &facts.flows {
        let Some(limit) = limit(facts, flow) else {
            continue;
        };
        let known = limits
            .iter_mut()
            .find(|(each, _)| each.by == limit.by && each.place == limit.place);
        match known {
            Some((each, flows)) => {
                let count = flows.len() as f64;
                each.fraction = (each.fraction * count + limit.fraction) / (count + 1.0);
                flows.push(flow.name);
            }
            None => limits.push((limit, vec![flow.name])),
        }
    }
    let count = facts.flows.iter().filter(|flow| flow.is_tcp()).count();
    limits
        .into_iter()
        .map(|(limit, flows)| {
            let is_all = flows.len() == count && count > 1;
            let Limit {
                by,
                place,
                fraction,
            } = limit;
            json!({
                "flows": flows,
                "all": is_all,
                "by": by,
                "where": place,
                "fraction": fraction,
            })
        })
        .collect()
}
