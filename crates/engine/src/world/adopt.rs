//! Flows that open during a run in a cell. The medium and the virtual shared bottleneck treat the
//! packets of such a flow like those of the scenario's flow to which it belongs.

use super::World;
use super::flows::Flows;
use super::medium::Medium;
use super::wires::Wires;

impl World<'_> {
    /// Adds the flows that have opened since the last call to the tables of the medium and of the
    /// bottleneck.
    #[cold]
    #[inline(never)]
    pub(super) fn adopt(&mut self) {
        let flows = &self.network.flows;
        for index in self.adopted..flows.states.len() {
            if let Some(like) = flows.owner(index) {
                self.radio.adopt(index as u32, like);
                self.network.wires.adopt(index as u32, like);
            }
        }
        self.adopted = flows.states.len();
    }
}

impl Flows {
    /// Returns the flow of the scenario to which flow `index` belongs; `None` for flows of the
    /// scenario and of users.
    pub(super) fn owner(&self, index: usize) -> Option<u32> {
        self.webs.member(index).map(|member| member.flow)
    }
}

impl Medium {
    fn adopt(&mut self, flow: u32, like: u32) {
        match self {
            Medium::Cell(cell) => cell.adopt(flow, like),
            Medium::AggregatingCell(cell) => cell.adopt(flow, like),
            Medium::ConflictGraph(_) => {} // users add their own connections
        }
    }
}

impl Wires {
    fn adopt(&mut self, flow: u32, like: u32) {
        if let Some(number) = self.bottleneck {
            self.links[number].link.adopt(flow, like);
        }
    }
}
