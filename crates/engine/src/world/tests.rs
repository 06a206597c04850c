//! Methods of simulations for tests.

use super::*;

impl World<'_> {
    /// Runs up to `until` without observers.
    pub(super) fn run_unwatched(&mut self, until: Time) {
        let mut watch = Watch {
            look: &mut |_| ControlFlow::Continue(()),
            exchange: None,
        };
        let run = self.run_until(until, &mut watch);
        assert_eq!(run, Ok(()));
    }

    /// Disables lookahead, so that every packet waits for an event at each hop. Results must not
    /// change.
    pub(crate) fn hop_by_hop(&mut self) {
        let wires = &mut self.network.wires;
        for wired in &mut wires.links {
            wired.label.lookahead = false;
        }
        wires.end_in_own_time();
    }
}
