//! All flows of a simulation: their endpoints, connections that open and close, and ACKs with a
//! processing time.
//!
//! | content | module |
//! |---|---|
//! | state and counters of a flow | [`super::flow`] |
//! | reactions of endpoints | [`super::network`] |
//! | greedy sources | [`super::greedy`] |
//! | connections of web sources | [`super::web`] |
//! | deferred work of endpoints with lookahead | [`super::lookahead`] |

use std::collections::{BTreeMap, BTreeSet};

use super::flow::{Endpoints, FlowState};
use super::greedy::GreedyFlows;
use super::hosts::Hosts;
use super::lookahead::Deferred;
use super::numbers;
use super::web::{Web, Webs};
use crate::echo::Responder;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::scenario::{Flow, Scenario, TcpSettings};
use crate::tcp::Ack;

/// All flows.
pub(crate) struct Flows {
    /// States of the flows, indexed by flow number: first the flows of the scenario, then the flows
    /// of users, of pings, and of connections.
    pub(super) states: Vec<FlowState>,
    pub(super) deferred: Deferred,
    pub(super) webs: Webs,
    pub(super) making: Making,
    /// Whether connections that open later record their round-trip samples.
    records_rtts: bool,
    /// Number of the first flow of pings. The next field says how each station replies to pings.
    pub(super) first_ping: usize,
    pub(super) responders: Vec<Responder>,
    /// Arrivals and losses that must be reported to external hosts.
    pub(super) hosts: Hosts,
    /// Time of the next report or write of each application, and the number of its flow.
    pub(super) actions: BTreeSet<(Time, u32)>,
    /// Greedy flows, grouped by the queues that they keep full.
    pub(super) greedy: GreedyFlows,
    pub(super) streams: Streams,
}

/// ACKs that are created but not yet sent, because they have a processing time.
#[derive(Default)]
pub(super) struct Making {
    /// ACKs ordered by the time at which they are sent. If the times are equal, the ACK created
    /// first is sent first.
    pub(super) acks: BTreeMap<(Time, u64), (u32, Ack)>,
    pub(super) made: u64,
}

impl Flows {
    /// Returns the flows of `scenario` before they start. `users` are the users of a CSMA network,
    /// and `queues` is the number of queues in front of the radio channel.
    pub(super) fn new(
        scenario: &Scenario,
        users: &[Flow],
        queues: usize,
        reach: Span,
        streams: &Streams,
    ) -> Flows {
        let mut webs = Webs::new(numbers::first_connection(scenario));
        let flows = scenario.flows.iter().chain(users);
        let mut states: Vec<FlowState> = flows
            .map(|flow| FlowState::new(flow, streams, &mut webs.sources))
            .collect();
        let first_ping = states.len();
        let mut responders = Vec::new();
        if let Some(bottleneck) = &scenario.bottleneck {
            let stations = scenario.stations.iter();
            states.extend(stations.map(|_| FlowState::pings(bottleneck.ping_bytes)));
            responders.extend(scenario.responders(streams));
        }
        Flows {
            states,
            deferred: Deferred::new(scenario.flows.len(), reach),
            webs,
            making: Making::default(),
            records_rtts: false,
            first_ping,
            responders,
            hosts: Hosts::default(),
            actions: BTreeSet::new(),
            greedy: GreedyFlows::new(scenario, queues),
            streams: *streams,
        }
    }

    /// Counts a lost packet.
    #[cold]
    #[inline(never)]
    pub(super) fn lose(&mut self, packet: &Packet) {
        let flow = &mut self.states[packet.flow as usize];
        let counters = &mut flow.counters;
        if packet.is_data() {
            counters.lost += 1;
        } else {
            counters.acks_lost += 1;
        }
        if let Endpoints::Hosts = flow.endpoints {
            self.hosts.lose(packet);
        }
    }

    /// Returns whether flow `number` has no unacknowledged data and no packets in flight, so that a
    /// new connection can use it.
    pub(super) fn is_free(&self, number: u32) -> bool {
        let mut making = self.making.acks.values();
        self.states[number as usize].is_done() && !making.any(|&(flow, _)| flow == number)
    }

    /// Starts the measurement at `now`, at the end of the warm-up.
    pub(super) fn begin_to_measure(&mut self, now: Time) {
        for flow in &mut self.states {
            flow.begin_to_measure(now);
        }
        let webs = self.webs.sources.iter_mut();
        webs.for_each(Web::begin_to_measure);
    }

    /// Starts recording the round-trip samples of the TCP flows of the scenario and of users.
    pub(super) fn record_rtts(&mut self) {
        self.records_rtts = true;
        for (index, flow) in self.states.iter_mut().enumerate() {
            if self.webs.member(index).is_none() {
                flow.record_rtts();
            }
        }
    }

    /// Adds a flow for a connection of a user, and returns the number of the flow.
    pub(super) fn add_connection(&mut self, tcp: &TcpSettings) -> u32 {
        let mut flow = FlowState::connection(tcp);
        if self.records_rtts {
            flow.record_rtts();
        }
        self.states.push(flow);
        let index = self.states.len() - 1;
        self.seed(index);
        index as u32
    }

    /// Returns the states of the flows, indexed by flow number: first the flows of the scenario,
    /// then the flows of users, of pings, and of connections.
    pub(crate) fn states(&self) -> &[FlowState] {
        &self.states
    }

    /// Returns the number of pings with a reply and the number of pings without a reply. A ping has
    /// no reply if a packet was lost in either direction, or if the station ignored the ping.
    pub(crate) fn pings(&self) -> [u64; 2] {
        let own = self.first_ping..self.first_ping + self.responders.len();
        let making = self.making.acks.values();
        let making = making.filter(|(flow, _)| own.contains(&(*flow as usize)));
        let [mut replies, mut lost] = [0, 0];
        for flow in &self.states[own.clone()] {
            let c = &flow.counters;
            replies += c.acks_arrived;
            lost += c.lost + c.acks_lost + c.arrived - c.acks_sent;
        }
        [replies, lost - making.count() as u64]
    }

    /// Returns the web sources and their connections.
    pub(crate) fn webs(&self) -> &Webs {
        &self.webs
    }
}
