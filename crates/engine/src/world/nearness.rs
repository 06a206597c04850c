//! What many events of one day are about to need is brought near the processor together.
//!
//! The state of thousands of flows lies beyond the caches, and an event that finds its own there waits for
//! memory again and again: for its packet, its flow, the endpoint behind that, the way. Read in a row, ahead
//! of the events, they are waited for together. Nothing else comes of it.

use std::hint::black_box;

use super::World;
use super::flow::Endpoints;

impl World<'_> {
    /// A day with many arrivals has begun.
    #[cold]
    #[inline(never)]
    pub(super) fn bring_near(&self) {
        let states = &self.flows.states;
        let routes = &self.wires.routes;
        let read = |of: &dyn Fn(usize) -> u64| {
            let packets = self.wires.carried.begun();
            let seen = packets.fold(0, |seen, packet| seen ^ of(packet.flow as usize));
            black_box(seen);
        };
        read(&|flow| flow as u64);
        read(&|flow| states[flow].timer.0 ^ states[flow].counters.sent);
        read(&|flow| {
            let carriers = routes.first_carriers(flow);
            carriers.fold(0, |seen, link| seen ^ u64::from(link))
        });
        read(&|flow| match &states[flow].endpoints {
            Endpoints::Tcp(tcp) => {
                tcp.0.deadline().0 ^ u64::from(tcp.1.expected()) ^ tcp.0.cwnd().to_bits()
            }
            Endpoints::Udp(_) | Endpoints::Ping | Endpoints::Web(_) | Endpoints::Hosts => 0,
        });
    }
}
