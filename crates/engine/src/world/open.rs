//! A simulation between external hosts. Hosts may send packets at any time, which are then
//! forwarded like other packets.

use super::World;
use super::flow::Endpoints;
use super::hosts::{Arrival, Sent};
use super::medium::Medium;
use crate::kernel::time::Time;
use crate::packet::Packet;
use crate::queue::{Scheduler, TcpHeader};

impl World<'_> {
    /// Makes external hosts the endpoints of all flows, including the connections of web sources.
    pub(crate) fn open(&mut self) {
        let flows = &mut self.network.flows;
        for flow in &mut flows.states[..flows.first_ping] {
            if !matches!(flow.endpoints, Endpoints::Web(_)) {
                flow.endpoints = Endpoints::Hosts;
            }
            flow.application = None;
            flow.reporting = false;
        }
        for web in &mut flows.webs.sources {
            web.outside = Some(Vec::new());
        }
        // endpoints have no lookahead, because external hosts may reply at any time
        self.network.wires.end_in_own_time();
    }

    /// Replaces the web source of flow `index` by external hosts. The flows with the numbers
    /// `flows` carry the responses.
    pub(crate) fn answer_by(&mut self, index: usize, flows: impl Iterator<Item = u32>) {
        if let &Endpoints::Web(web) = self.network.flows.states[index].endpoints() {
            self.network.flows.webs.sources[web as usize].outside = Some(flows.collect());
        }
    }

    /// Makes the ACK filters compare the TCP headers of the packets of external hosts. Returns false
    /// if there is no ACK filter.
    pub(crate) fn filter_headers(&mut self) -> bool {
        let mut filters = false;
        self.each_scheduler(&mut |scheduler| filters |= scheduler.filter_headers());
        filters
    }

    /// Sets the TCP header of the packet of an external host; `None` for a packet that is not TCP.
    pub(crate) fn set_header(&mut self, number: u32, header: Option<TcpHeader>) {
        self.each_scheduler(&mut |scheduler| scheduler.set_header(number, header));
    }

    /// Calls `visit` with the queues of the links and of the cell whose discipline decides at
    /// departures.
    fn each_scheduler(&mut self, visit: &mut dyn FnMut(&mut Scheduler)) {
        self.network.wires.each_scheduler(visit);
        match &mut self.radio {
            Medium::Cell(cell) => cell.each_scheduler(visit),
            Medium::AggregatingCell(cell) => cell.each_scheduler(visit),
            Medium::ConflictGraph(_) => {} // its queues do not support CAKE
        }
    }

    /// Returns the time of the next event.
    pub(crate) fn due(&mut self) -> Time {
        let (pending, _) = self.network.clock.first();
        let (arrives, _) = self.network.wires.carried.first();
        pending.min(arrives).min(self.radio.deadline())
    }

    /// Sends a packet of an external host now.
    pub(crate) fn take_from_host(&mut self, sent: &Sent) {
        let now = self.network.clock.now;
        let counters = &mut self.network.flows.states[sent.flow as usize].counters;
        if sent.kind.is_data() {
            counters.sent += 1;
        } else {
            counters.acks_sent += 1;
        }
        self.network.flows.hosts.note(sent.number, sent.sequence);
        let mut packet = Packet {
            number: sent.number,
            ecn: sent.ecn,
            ..Packet::new(now, sent.flow, sent.kind, sent.bytes)
        };
        self.network.clock.events += 1;
        self.send(now, &mut packet);
    }

    /// Returns the packets that have arrived since the last call, in order of arrival.
    pub(crate) fn arrivals(&mut self) -> std::vec::Drain<'_, Arrival> {
        self.network.flows.hosts.arrived.drain(..)
    }

    /// Returns the numbers of the packets that were lost since the last call.
    pub(crate) fn losses(&mut self) -> std::vec::Drain<'_, u32> {
        self.network.flows.hosts.lost.drain(..)
    }
}
