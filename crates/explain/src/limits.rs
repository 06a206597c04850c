//! The limit of each TCP flow: application, line, air, receive window or congestion window.

use serde_json::{Value, json};

use crate::facts::{Facts, Flow, mean};

/// Utilisation from which a wired link is taken to limit the flows that cross it. [-]
pub const FULL: f64 = 0.9;

/// Share of the time from which an endpoint's limit is named. [-]
const MIN_SHARE: f64 = 0.5;

/// Limit of a flow: its kind, its place and its extent.
pub struct Limit {
    /// `application`, `line`, `air`, `rwnd` or `cwnd`.
    pub by: &'static str,
    /// Link, `air`, or empty.
    pub place: String,
    /// Share of the time, or utilisation. [-]
    pub fraction: f64,
}

/// Returns the limit of a TCP flow; none if the result cannot decide.
///
/// A full line or a full medium is named first: with either, a larger window only makes the queue
/// longer. If the medium is idle at times, a receive window that is used up comes before it.
pub fn limit(facts: &Facts<'_>, flow: &Flow<'_>) -> Option<Limit> {
    if !flow.is_tcp() {
        return None;
    }
    let share = |quantity: &str| mean(flow.answer, quantity);
    if let Some(fraction) = share("app_limited_fraction").filter(|value| *value > MIN_SHARE) {
        return Some(limit_by("application", "", fraction));
    }
    let full = flow
        .path
        .iter()
        .filter_map(|link| Some((link, facts.utilisation(link)?)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .filter(|(_, utilisation)| *utilisation > FULL);
    if let Some((link, utilisation)) = full {
        return Some(limit_by("line", link, utilisation));
    }
    let rwnd = share("rwnd_limited_fraction");
    let is_rwnd_used_up = rwnd.is_some_and(|rwnd| rwnd > MIN_SHARE);
    let is_air_idle_at_times = facts.busy_fraction() < FULL;
    let may_be_air = !(is_rwnd_used_up && is_air_idle_at_times);
    if flow.station.is_some() && facts.air_is_full() && may_be_air {
        return Some(limit_by("air", "air", facts.busy_fraction()));
    }
    let cwnd = share("cwnd_limited_fraction");
    match (rwnd, cwnd) {
        (Some(rwnd), _) if rwnd > MIN_SHARE => Some(limit_by("rwnd", "", rwnd)),
        (_, Some(cwnd)) if cwnd > 0.0 => Some(limit_by("cwnd", "", cwnd)),
        _ => None,
    }
}

fn limit_by(by: &'static str, place: &str, fraction: f64) -> Limit {
    Limit {
        by,
        place: place.into(),
        fraction,
    }
}

/// Returns the limits of all TCP flows; flows with the same limit are one item.
///
/// `all` is whether the item has all TCP flows, of two or more.
pub fn limits(facts: &Facts<'_>) -> Vec<Value> {
    let mut found: Vec<(Limit, Vec<&str>)> = Vec::new();
    for flow in &facts.flows {
        let Some(limit) = limit(facts, flow) else {
            continue;
        };
        let known = found
            .iter_mut()
            .find(|(each, _)| each.by == limit.by && each.place == limit.place);
        match known {
            Some((each, flows)) => {
                let count = flows.len() as f64;
                each.fraction = (each.fraction * count + limit.fraction) / (count + 1.0);
                flows.push(flow.name);
            }
            None => found.push((limit, vec![flow.name])),
        }
    }
    let count = facts.flows.iter().filter(|flow| flow.is_tcp()).count();
    found
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
