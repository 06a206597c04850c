//! Checks of tables with pings.

use super::model::*;
use super::root::Root;
use super::wired::FlowTable;
use crate::app::ping::{HEADER_BYTES, PingKeys};
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
