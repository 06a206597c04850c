//! Prefetching: reads memory into the caches before many events use it. A day of the calendar queue
//! is a short interval of simulated time, whose events are processed together.
//!
//! The state of thousands of flows does not fit into the caches. Each event reads its packet, its
//! flow, the endpoint and the route. Each of these reads waits for memory. If the data of
//! many events is read in one pass, the memory accesses overlap. Prefetching changes no result.

use std::hint::black_box;

use super::World;
use super::flow::Endpoints;
use super::legs::Leg;
use super::wires::Wires;

impl World<'_> {
    /// Reads the state that the events of the current calendar day will use, if there are many
    /// events.
    #[cold]
    #[inline(never)]
    pub(super) fn prefetch(&self) {
        let states = &self.network.flows.states;
        let wires = &self.network.wires;
        let routes = &wires.routes;
        wires.read(|flow| flow as u64);
        wires.read(|flow| states[flow].timer.0 ^ states[flow].counters.sent);
        wires.read(|flow| {
            let legs = routes.first_two(flow);
            legs.fold(0, |seen, leg| seen ^ leg.delay.0)
        });
        wires.read(|flow| {
            let hosts = routes.first_two(flow).filter_map(Leg::host);
            hosts.fold(0, |seen, host| {
                seen ^ u64::from(wires.links[host as usize].is_of_host())
            })
        });
        wires.read(|flow| match &states[flow].endpoints {
            Endpoints::Tcp(tcp) => {
                let (sender, receiver) = &**tcp;
                let lines = sender.deadline().0 ^ sender.timeouts() ^ sender.cwnd().to_bits();
                lines ^ u64::from(receiver.expected())
            }
            Endpoints::Udp(_)
            | Endpoints::Ping
            | Endpoints::Pinger(_)
            | Endpoints::Web(_)
            | Endpoints::Hosts => 0,
        });
    }
}

impl Wires {
    /// Calls `of` with the flow of each event of the current calendar day. `of` reads memory.
    fn read(&self, of: impl Fn(usize) -> u64) {
        let packets = self.carried.begun();
        black_box(packets.fold(0, |seen, packet| seen ^ of(packet.flow as usize)));
    }
}
