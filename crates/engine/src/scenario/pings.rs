//! Checks of tables with pings.

use super::model::*;
use super::root::{Root, RootKeys, StationTable};
use super::wired::FlowTable;
use crate::app::ping::{HEADER_BYTES, PingKeys, PingSettings};
use crate::notation::decode::Section;
use crate::notation::problem::Problems;
use crate::notation::units::{self, TIME};

/// Checks that the deadline of pings is shorter than the run.
pub(super) fn check(root: &Section, ping: &Section, problems: &mut Problems) {
    if let Some(duration) = root.located(Root::duration)
        && let Some(deadline) = ping.located(PingKeys::deadline)
        && deadline.value.is_some_and(|span| span >= duration.value)
    {
        let duration = units::show(duration.value.0, TIME);
        let fault =
            format!("leaves no ping to measure; expected less than the duration of {duration}");
        deadline.refuse_value(fault, problems);
    }
}

/// Checks that at least one ping of each flow is measured. It must be sent after the warm-up and
/// before the stop of the flow, and at least one deadline before the end. The first ping is sent at
/// a random time within the first interval, so that only a time of one interval surely has a ping.
pub(super) fn check_measured(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    for flow in &scenario.flows {
        let Transport::Ping(ping) = &flow.transport else {
            continue;
        };
        let tables = match flow.ends {
            Ends::Station { station, .. } => {
                let group = &scenario.stations[station].group;
                let table = root.named(RootKeys::station, group);
                let table = table.and_then(|table| table.inside(StationTable::ping));
                table.map(|table| (table, table))
            }
            Ends::Wired => {
                let table = root.named(RootKeys::flow, &flow.class);
                table.and_then(|table| Some((table, table.inside(FlowTable::ping)?)))
            }
        };
        if let Some((own, table)) = tables
            && !problems.concern(&table.path(PingKeys::every.name()))
        {
            check_one(own, table, scenario, (flow, ping), problems);
        }
    }
}

/// Checks that at least one ping of a flow is measured. `own` is the table with the times of the
/// flow, and `table` that with the keys of its pings.
fn check_one(
    own: &Section,
    table: &Section,
    scenario: &Scenario,
    (flow, ping): (&Flow, &PingSettings),
    problems: &mut Problems,
) {
    let shown = |ns: u64| units::show(ns, TIME);
    let from = flow.start.max(scenario.warmup).0;
    let until = scenario.duration.0.saturating_sub(ping.deadline.0);
    let stop = flow.stop.map_or(u64::MAX, |stop| stop.0);
    let room = until.min(stop).saturating_sub(from);
    if room >= ping.every.0 {
        return;
    }
    if let Some(stop) = own.given(FlowTable::stop.name())
        && flow.stop.is_some_and(|span| span.0 <= from)
    {
        let from = shown(from);
        let fault = format!(
            "leaves no ping to measure; expected more than {from}, from which on pings count"
        );
        stop.refuse_value(fault, problems);
    } else if let Some(deadline) = table.given(PingKeys::deadline.name())
        && until <= from
    {
        let measured = shown(scenario.duration.0.saturating_sub(from));
        let fault =
            format!("leaves no ping to measure; expected less than the measured {measured}");
        deadline.refuse_value(fault, problems);
    } else {
        let fault = match room {
            0 => "leaves no ping to measure; expected a longer `duration`".to_owned(),
            _ => format!(
                "may leave no ping to measure; expected at most {}",
                shown(room)
            ),
        };
        match table.entry(PingKeys::every.name()) {
            Some(every) => every.refuse_value(fault, problems),
            None => table.refuse(fault, problems),
        };
    }
}

/// Checks the pings of a station. Each packet must fit into one 802.11 frame, which has room for
/// `msdu_bytes` after the MAC header.
pub(super) fn check_in_cell(
    root: &Section,
    cell: &Section,
    ping: &Section,
    msdu_bytes: u32,
    problems: &mut Problems,
) {
    check(root, ping, problems);
    let size = ping.located(PingKeys::payload_bytes);
    let (Some(size), Some(llc_bytes)) = (size, cell.value(Cell::llc_bytes)) else {
        return;
    };
    let room = msdu_bytes.saturating_sub(HEADER_BYTES + llc_bytes);
    if size.value > room {
        let fault = format!(
            "with headers of {HEADER_BYTES} B and {llc_bytes} B is more than an 802.11 frame \
             carries ({msdu_bytes} B); expected at most {room} B"
        );
        size.refuse_value(fault, problems);
    }
}

/// Refuses other traffic in the table of a flow with pings.
pub(super) fn check_wired(flow: &Section, problems: &mut Problems) {
    let others = [flow.inside(FlowTable::udp), flow.inside(FlowTable::web)];
    for other in others.into_iter().flatten() {
        other.refuse("conflicts with `ping`; expected one of the two", problems);
    }
    if let Some(call) = flow.inside(FlowTable::call) {
        call.refuse("conflicts with `ping`; expected one of the two", problems);
    }
}
