//! Methods with which tests read routes.

use super::*;

impl Routes {
    /// Returns the legs of the route of a flow's data (`data`), or of its ACKs.
    pub(in crate::world) fn legs_of(&self, flow: usize, data: bool) -> &[Leg] {
        let starts = self
            .first_legs
            .iter()
            .flatten()
            .map(|&first| first as usize);
        let first = self.first_legs[flow][usize::from(data)] as usize;
        let end = starts.filter(|&other| other > first).min();
        &self.legs[first..end.unwrap_or(self.legs.len())]
    }

    /// Returns whether the receiver of a flow has lookahead, and whether its sender has lookahead.
    pub(in crate::world) fn lookahead(&self, flow: usize) -> [bool; 2] {
        let [acks, data] = self.routes[flow];
        [data.lookahead, acks.lookahead]
    }
}
