//! Limit of each TCP flow: the application, a line, the air, the receive window, ACKs, losses, or
//! the congestion window.

use serde_json::{Value, json};

use crate::facts::{Facts, Flow};
use crate::index::Groups;

/// Utilisation above which a line or the air is considered full and limits its flows. [-]
pub const FULL: f64 = 0.9;

/// Minimum fraction of time for which the application or the receive window must limit a flow. With a smaller fraction,
/// `limit` reports another limit. [-]
const MIN_SHARE: f64 = 0.5;

/// Minimum fraction of time for which the application must limit a flow whose application paces it. A flow that cannot
/// keep up with its application always has data to send, so that the application never limits it. [-]
const MIN_PACED_SHARE: f64 = 0.01;

/// Minimum fraction of dropped packets that is considered a limit. [-]
const MIN_LOSS: f64 = 1e-5;

/// Limit of a flow: its type, its location and its extent.
pub struct Limit {
    /// Type of the limit: `application`, `line`, `air`, `rwnd`, `acks`, `losses` or `cwnd`.
    pub by: &'static str,
    /// Location of the limit: the name of a link or queue, `air`, or empty.
    pub place: String,
    /// Extent of the limit: a fraction of time, a utilisation, or a fraction of dropped packets.
    /// [-]
    pub fraction: f64,
}

/// Returns the limit of a TCP flow, or `None` if the result does not show the limit.
///
/// A full line or a full medium has priority, because a larger window would only lengthen the
/// queue. The next limits in order of priority are an exhausted receive window, a full line on the path of the ACKs,
/// and losses in a queue on the path. The congestion window is the limit if no other limit is found.
pub fn limit(facts: &Facts<'_>, flow: &Flow<'_>) -> Option<Limit> {
    if !flow.is_tcp() {
        return None;
    }
    let share = |quantity: &str| flow.mean(quantity);
    let least = match flow.kind.is_written() {
        true => MIN_PACED_SHARE,
        false => MIN_SHARE,
    };
    if let Some(fraction) = share("app_limited_fraction").filter(|value| *value > least) {
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
        let dropped = facts.queue_item(name)?.mean("drop_probability")?;
        (dropped >= MIN_LOSS).then_some((*name, dropped))
    });
    match losses.max_by(|(_, a), (_, b)| a.total_cmp(b)) {
        Some((queue, dropped)) => Some(limit_by("losses", queue, dropped)),
        None => Some(limit_by("cwnd", "", cwnd)),
    }
}

/// Returns the most utilised of the links that may be full, and its utilisation. A link may be full if the upper end of
/// the 95 % interval of its utilisation is above [`FULL`].
fn full<'n>(facts: &Facts<'_>, links: &[&'n str]) -> Option<(&'n str, f64)> {
    links
        .iter()
        .filter_map(|link| {
            let item = facts.link_item(link)?;
            let used = item.mean("utilisation")?;
            (used + item.ci95("utilisation") > FULL).then_some((*link, used))
        })
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// Returns whether packets and ACKs of a flow spend at least half of the round-trip time in queues.
fn waits_in_queues(flow: &Flow<'_>) -> bool {
    flow.mean("rtt_s")
        .is_some_and(|rtt_s| rtt_s >= 4.0 * flow.propagation_s)
}

fn limit_by(by: &'static str, place: &str, fraction: f64) -> Limit {
    Limit {
        by,
        place: place.into(),
        fraction,
    }
}

/// Returns the limits of all TCP flows. Flows with equal limits form one item.
///
/// The key `all` is true if there are at least two TCP flows and all of them are in one item.
pub fn limits(facts: &Facts<'_>) -> Vec<Value> {
    let mut limits: Groups<(&str, String), (Limit, Vec<&str>)> = Groups::new();
    for flow in facts.flows() {
        let Some(limit) = limit(facts, flow) else {
            continue;
        };
        let fraction = limit.fraction;
        let key = (limit.by, limit.place.clone());
        let (each, flows) = limits.group(key, || (limit, Vec::new()));
        let count = flows.len() as f64;
        each.fraction = (each.fraction * count + fraction) / (count + 1.0);
        flows.push(flow.name);
    }
    let count = facts.flows().filter(|flow| flow.is_tcp()).count();
    limits
        .into_values()
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
