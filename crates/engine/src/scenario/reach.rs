//! The maximum duration of a scenario. The event queue packs the time and the number of a pending
//! event into 64 bits, so more links and flows leave fewer bits for the time.

use super::model::Scenario;
use super::root::Root;
use crate::conflict;
use crate::kernel::agenda::Agenda;
use crate::kernel::time::Time;
use crate::notation::decode::Section;
use crate::notation::problem::Problems;

/// Number of event slots that belong to no link or flow: for planned changes, samples, ACKs in
/// preparation, and sensor reports.
const SINGLE_OWNERS: usize = 4;

/// Number of links that every scenario has: the two directions of the cell's wired link.
const WIRES: usize = 2;

impl Scenario {
    /// Returns the number of slots in the event queue at the start of a run. A slot stores one
    /// pending event. Each link has one slot, and each flow, user and pinged station has two slots.
    /// `SINGLE_OWNERS` further slots belong to other parts of the simulation.
    pub(crate) fn slots(&self) -> usize {
        let links = WIRES + self.links.len() + usize::from(self.bottleneck.is_some());
        let users = self.csma.as_ref().map_or(0, |csma| csma.flows.len());
        let pings = self.bottleneck.as_ref().map_or(0, |_| self.stations.len());
        let control = usize::from(self.csma.is_some());
        links + SINGLE_OWNERS + control + 2 * (self.flows.len() + users + pings)
    }

    /// Returns the time before which the scenario must end, so that the event queue can store all
    /// pending events. Timers may be set to a few minutes after the end of the run. An event that
    /// is planned after the returned time never occurs.
    pub(crate) fn horizon(&self) -> Time {
        let medium = self.csma.as_ref().map_or(Time::NEVER, conflict::horizon);
        Agenda::horizon_of(self.slots()).min(medium)
    }
}

/// Checks that the event queue can represent the duration of the scenario with its number of flows
/// and links.
pub(super) fn check(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    let horizon = scenario.horizon();
    if Time::ZERO + scenario.duration < horizon {
        return;
    }
    let Some(duration) = root.located(Root::duration) else {
        return;
    };
    let most = horizon.since(Time::ZERO).seconds() as u64;
    let shown = &duration.shown;
    let message = format!(
        "{shown} is more than can be simulated with this many flows; expected at most {most} s"
    );
    let hint = "fewer flows can be simulated for longer".to_owned();
    duration.refuse_with_hint(message, Some(hint), problems);
}
