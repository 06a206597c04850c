//! Prefetching: reads the memory that many events of one calendar day need, before these events.
//!
//! The state of thousands of flows does not fit into the caches. Each event waits for memory
//! several times: for its packet, its flow, the endpoint and the route. Reading these in a row lets
//! the memory accesses overlap. Prefetching has no other effect.

use std::hint::black_box;

use super::World;
use super::flow::Endpoints;
use super::legs::Leg;

impl World<'_> {
    /// Reads the state for the events of a calendar day with many arrivals.
    #[cold]
    #[inline(never)]
    pub(super) fn prefetch(&self) {
        let states = &self.network.flows.states;
        let wires = &self.network.wires;
        let routes = &wires.routes;
        let read = |of: &dyn Fn(usize) -> u64| {
            let packets = wires.carried.begun();
            let seen = packets.fold(0, |seen, packet| seen ^ of(packet.flow as usize));
            black_box(seen);
        };
        read(&|flow| flow as u64);
        read(&|flow| states[flow].timer.0 ^ states[flow].counters.sent);
        read(&|flow| {
            let legs = routes.first_two(flow);
            legs.fold(0, |seen, leg| seen ^ leg.delay.0)
        });
        read(&|flow| {
            let hosts = routes.first_two(flow).filter_map(Leg::host);
            hosts.fold(0, |seen, host| {
                seen ^ u64::from(wires.links[host as usize].is_of_host())
            })
        });
        read(&|flow| match &states[flow].endpoints {
            Endpoints::Tcp(tcp) => {
                let (sender, receiver) = &**tcp;
                let lines = sender.deadline().0 ^ sender.timeouts() ^ sender.cwnd().to_bits();
                lines ^ u64::from(receiver.expected())
            }
            Endpoints::Udp(_) | Endpoints::Ping | Endpoints::Web(_) | Endpoints::Hosts => 0,
        });
    }
}
