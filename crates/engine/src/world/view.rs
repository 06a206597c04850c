//! Methods with which other modules read the state of a simulation.

use super::medium::Medium;
use super::{Flows, Gauge, Users, Wires, World, numbers};
use crate::bottleneck::Bottleneck;
use crate::kernel::time::Time;
use crate::packet::Packet;
use crate::queue::HeadQueue;
use crate::scenario::{Scenario, Transport};

impl<'a> World<'a> {
    /// Returns the scenario.
    pub(crate) fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// Returns the simulated time.
    pub(crate) fn now(&self) -> Time {
        self.network.clock.now
    }

    /// Returns the number of events processed so far.
    pub(crate) fn events(&self) -> u64 {
        self.network.clock.events
    }

    /// Returns the radio channel and its queues.
    pub(crate) fn radio(&self) -> &Medium {
        &self.radio
    }

    /// Returns the wired links.
    pub(crate) fn wires(&self) -> &Wires {
        &self.network.wires
    }

    /// Returns the flows.
    pub(crate) fn flows(&self) -> &Flows {
        &self.network.flows
    }

    /// Returns the users of a CSMA network.
    pub(crate) fn users(&self) -> Option<&Users> {
        self.users.as_ref()
    }

    /// Returns the virtual shared bottleneck.
    pub(crate) fn bottleneck(&self) -> Option<&Bottleneck> {
        self.bottleneck.as_ref()
    }

    /// Returns the samples of windows and queue lengths.
    pub(crate) fn gauge(&self) -> Option<&Gauge> {
        self.gauge.as_ref()
    }

    /// Calls `visit` for each packet in flight: in a queue, on a link or deferred by lookahead.
    pub(crate) fn each_packet(&self, visit: &mut dyn FnMut(&Packet)) {
        let queued = self.radio.queues().flat_map(HeadQueue::packets);
        queued
            .chain(self.radio.outside_queues())
            .for_each(&mut *visit);
        self.network.wires.each_packet(visit);
        self.network.flows.deferred.packets().for_each(visit);
    }

    /// Returns the name of a flow. The name of a ping flow or a web connection is its number.
    pub(crate) fn flow_name(&self, index: usize) -> String {
        if let Some(own) = self.scenario.flows.get(index) {
            return own.name.clone();
        }
        let kind = match index < numbers::first_connection(self.scenario) {
            true => "pings",
            false => "web",
        };
        format!("{kind} flow {index}")
    }

    /// Returns the payload of a full packet of a flow that the scenario defines. [bit]
    pub(crate) fn payload_bits(&self, flow: usize) -> f64 {
        let bytes = match &self.scenario.flows[flow].transport {
            Transport::Tcp(tcp) => tcp.mss_bytes,
            Transport::Udp(udp) => udp.payload_bytes,
            Transport::Web(web) => web.tcp.mss_bytes,
            Transport::Ping(ping) => ping.payload_bytes,
        };
        f64::from(bytes) * 8.0
    }
    /// Returns the payload of a flow's packets from number `from` up to before number `to`, which
    /// the scenario defines. The last segment of a chunk may be shorter than the others. [bit]
    pub(crate) fn payload_bits_between(&self, flow: usize, from: u64, to: u64) -> f64 {
        let full = (to - from) as f64 * self.payload_bits(flow);
        full - 8.0 * (self.missing_bytes(flow, to) - self.missing_bytes(flow, from)) as f64
    }

    /// Returns the bytes by which the first `segments` segments of a flow are shorter than full
    /// segments. [bytes]
    pub(crate) fn missing_bytes(&self, flow: usize, segments: u64) -> u64 {
        let writes = self.scenario.flows[flow].writes.as_ref();
        writes.map_or(0, |writes| writes.missing_of(segments))
    }
}
