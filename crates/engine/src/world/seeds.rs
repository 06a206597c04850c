//! The random numbers of congestion controls. Each connection has a stream of its own.

use super::flow::{Endpoints, FlowState};
use super::flows::Flows;
use crate::kernel::streams::Streams;
use crate::tcp::Sender;

impl FlowState {
    /// Gives the random numbers of the congestion control, if it draws any, the stream of the
    /// component `name`.
    pub(super) fn seeded(mut self, streams: &Streams, name: &str) -> FlowState {
        self.seed(streams, name);
        self
    }

    fn seed(&mut self, streams: &Streams, name: &str) {
        if let Endpoints::Tcp(tcp) = &mut self.endpoints
            && tcp.0.draws_random_numbers()
        {
            let mut stream = streams.stream(&format!("{name}/congestion"));
            tcp.0.set_seed(stream.up_to(u32::MAX));
        }
    }
}

impl Flows {
    /// Gives the random numbers of a new connection on flow `index` a stream of their own, which
    /// depends on the number of packets sent by earlier connections on this flow.
    pub(super) fn seed(&mut self, index: usize) {
        let flow = &mut self.states[index];
        if flow.sender().is_some_and(Sender::draws_random_numbers) {
            let before = flow.counters.sent;
            flow.seed(&self.streams, &format!("flow {index} after {before}"));
        }
    }
}
