//! The maximum duration of a scenario. A time and the number of its pending event share 64 bits, so
//! the maximum is smaller with many flows and links.

use super::model::Scenario;
use super::root::Root;
use crate::conflict;
use crate::kernel::agenda::Agenda;
use crate::kernel::time::Time;
use crate::notation::decode::Section;
use crate::notation::problem::Problems;

/// Number of slots that belong neither to links nor to flows: for planned events, readings, ACKs in
/// preparation, and reports.
const SINGLE_OWNERS: usize = 4;

/// Number of links that every scenario has: the two directions of a cell's wire.
const WIRES: usize = 2;

impl Scenario {
    /// Returns the number of slots at the start of a run: one per link and single owner, and two
    /// per flow, user and ping.
    pub(crate) fn slots(&self) -> usize {
        let links = WIRES + self.links.len() + usize::from(self.bottleneck.is_some());
        let users = self.csma.as_ref().map_or(0, |csma| csma.flows.len());
        let pings = self.bottleneck.as_ref().map_or(0, |_| self.stations.len());
        let control = usize::from(self.csma.is_some());
        links + SINGLE_OWNERS + control + 2 * (self.flows.len() + users + pings)
    }

    /// Returns the time before which the scenario must end, so that a run and its medium can hold
    /// all pending events. Timers expire at most a few minutes after the end. A time after the
    /// horizon is treated as never.
    pub(crate) fn horizon(&self) -> Time {
        let medium = self.csma.as_ref().map_or(Time::NEVER, conflict::horizon);
        Agenda::horizon_of(self.slots()).min(medium)
    }
}

/// Checks that the agenda can hold the duration with the flows and links of the scenario.
pub(super) fn check(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    let horizon = scenario.horizon();
    if Time::ZERO + scenario.duration < horizon {
        return;
    }
    let Some(duration) = root.said(Root::duration) else {
        return; // refused already
    };
    let most = horizon.since(Time::ZERO).seconds() as u64; // rounded down
    let shown = &duration.shown;
    let message = format!(
        "{shown} is more than can be simulated with this many flows; expected at most {most} s"
    );
    let hint = "fewer flows can be simulated for longer".to_owned();
    duration.refuse_with_hint(message, Some(hint), problems);
}
