//! Flows that open during a run in a cell. The medium and the virtual shared bottleneck treat the
//! packets of such a flow like those of the scenario's flow to which it belongs.

use super::World;
use super::flows::Flows;
use super::medium::Medium;
use super::web::{Member, Role};
use super::wires::Wires;

impl World<'_> {
    /// Adds the flows that have opened since the last call to the tables of the medium and of the
    /// bottleneck.
    #[cold]
    #[inline(never)]
    pub(super) fn adopt(&mut self) {
        let flows = &self.network.flows;
        for index in self.adopted..flows.states.len() {
            if let Some((like, reversed)) = flows.owner(index) {
                self.radio.adopt(index as u32, like, reversed);
                self.network.wires.adopt(index as u32, like, reversed);
            }
        }
        self.adopted = flows.states.len();
    }
}

impl Flows {
    /// Returns the flow of the scenario to which flow `index` belongs, and whether the data of the
    /// two flows have opposite directions; `None` for flows of the scenario and of users.
    fn owner(&self, index: usize) -> Option<(u32, bool)> {
        let Member { flow, role } = self.webs.member(index)?;
        let is_request = match role {
            Role::Requests => true,
            Role::Web { web, connection } => {
                let web = &self.webs.sources[web as usize];
                web.connections[connection as usize].request as usize == index
            }
        };
        Some((flow, is_request))
    }
}

impl Medium {
    fn adopt(&mut self, flow: u32, like: u32, reversed: bool) {
        match self {
            Medium::Cell(cell) => cell.adopt(flow, like, reversed),
            Medium::AggregatingCell(cell) => cell.adopt(flow, like, reversed),
            Medium::ConflictGraph(_) => {} // users add their own connections
        }
    }
}

impl Wires {
    fn adopt(&mut self, flow: u32, like: u32, reversed: bool) {
        if let Some(number) = self.bottleneck {
            self.links[number].link.adopt(flow, like, reversed);
        }
    }
}
