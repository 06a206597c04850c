//! The flows of a world: endpoints, sources that fill queues, connections that come and go, sensors,
//! ACKs in the making.
//!
//! Whatever happens to an endpoint is told here, and the endpoint says what it wants to send
//! ([`Wants`]); who carries it is not known here.
//!
//! | question | place |
//! |---|---|
//! | what a flow keeps and counts | [`super::flow`] |
//! | what an endpoint does with a packet, a timer, a start or a stop | here |
//! | greedy sources | [`super::greedy`] |
//! | connections of web sources | [`super::web`], [`super::connections`] |
//! | lookahead of endpoints | [`super::lookahead`] |

use std::collections::{BTreeMap, BTreeSet};

use super::clock::Clock;
use super::flow::{Endpoints, FlowState};
use super::greedy::GreedyFlows;
use super::hosts::Hosts;
use super::lookahead::Deferred;
use super::numbers::{self, Owner};
use super::step::{Delivery, Wants};
use super::web::{Web, Webs};
use super::wires::Wires;
use crate::echo::Responder;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::packet::{EcnEcho, Packet, PacketKind};
use crate::scenario::{CsmaFlow, Flow, Scenario, TcpSettings};
use crate::tcp::Ack;

/// All flows.
pub(crate) struct Flows {
    /// By number: those of the scenario, then users', then pings, then connections.
    pub(super) states: Vec<FlowState>,
    pub(super) deferred: Deferred,
    pub(super) webs: Webs,
    making: Making,
    /// Whether connections that are yet to be opened keep their round-trip samples.
    keeps_rtts: bool,
    /// The first flow of pings, and how each station answers them.
    first_ping: usize,
    responders: Vec<Responder>,
    /// What hosts outside are to be told.
    pub(super) hosts: Hosts,
    /// Next report of each sensor, and its flow.
    reports: BTreeSet<(Time, u32)>,
    /// Greedy flows at the queues that they fill.
    pub(super) greedy: GreedyFlows,
}

/// ACKs that take time to make.
#[derive(Default)]
struct Making {
    /// By the instant they are sent and their order.
    acks: BTreeMap<(Time, u64), (u32, Ack)>,
    made: u64,
}

impl Flows {
    /// The flows of `scenario`, of which none has begun; `users` are those of a CSMA network, `queues` the
    /// number of the radio's.
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
            keeps_rtts: false,
            first_ping,
            responders,
            hosts: Hosts::default(),
            reports: BTreeSet::new(),
            greedy: GreedyFlows::new(scenario, queues),
        }
    }

    /// Delivers a packet to its endpoint, whose reply takes the place of the packet.
    #[inline(always)]
    pub(super) fn take(&mut self, now: Time, packet: &mut Packet, clock: &mut Clock) -> Delivery {
        let number = packet.flow;
        let index = number as usize;
        let flow = &mut self.states[index];
        match (&flow.endpoints, packet.kind) {
            (Endpoints::Tcp(_), PacketKind::Segment) => {
                let ack = flow.take_segment(now, packet);
                let receiver = &flow.tcp().1;
                let timer = receiver.deadline();
                let complete = receiver.expected() > flow.last;
                if timer < Time::NEVER {
                    clock.arm(Owner::Receiver(index), timer);
                }
                let ack = ack.and_then(|ack| self.make_ack(now, number, ack, clock));
                if complete {
                    self.message_arrived(now, index, clock);
                }
                match ack {
                    Some(ack) => {
                        *packet = ack;
                        Delivery::Acked
                    }
                    None => Delivery::Consumed,
                }
            }
            (Endpoints::Tcp(_), PacketKind::Ack | PacketKind::SynAck) => {
                flow.take_ack(now, packet);
                Delivery::WindowOpened
            }
            (Endpoints::Tcp(_), PacketKind::Syn) => {
                flow.answer_syn(now, packet);
                Delivery::Acked
            }
            (Endpoints::Udp(_), _) => {
                flow.take_datagram(now, packet);
                Delivery::Consumed
            }
            (Endpoints::Ping, PacketKind::Ack) => {
                flow.counters.acks_arrived += 1;
                Delivery::PingReply
            }
            (Endpoints::Ping, _) => {
                flow.counters.arrived += 1;
                self.take_ping(now, packet, clock)
            }
            (Endpoints::Hosts, _) => {
                flow.count_arrival(packet);
                self.hosts.take(now, packet);
                Delivery::Consumed
            }
            (Endpoints::Tcp(_), PacketKind::Datagram) => {
                unreachable!("a TCP flow sends no datagrams")
            }
            (Endpoints::Web(_), _) => unreachable!("packets are of a web source's connections"),
        }
    }

    /// Counts a packet that is lost.
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

    /// A segment calls for an ACK, which takes the flow's processing time to make; returns it if that is
    /// zero.
    #[inline(always)]
    fn make_ack(&mut self, now: Time, number: u32, ack: Ack, clock: &mut Clock) -> Option<Packet> {
        let flow = &mut self.states[number as usize];
        let processing = flow.ack_processing;
        if processing == Span::ZERO {
            return Some(flow.ack(now, number, ack));
        }
        self.make_ack_by(now + processing, number, ack, clock);
        None
    }

    /// An ACK will be made by `at`.
    #[inline]
    fn make_ack_by(&mut self, at: Time, number: u32, ack: Ack, clock: &mut Clock) {
        let making = &mut self.making;
        making.acks.insert((at, making.made), (number, ack));
        making.made += 1;
        clock.arm(Owner::Acks, at);
    }

    /// A ping has come to its station, whose answer takes its place if it is sent at once.
    #[cold]
    #[inline(never)]
    fn take_ping(&mut self, now: Time, packet: &mut Packet, clock: &mut Clock) -> Delivery {
        let number = packet.flow;
        let station = number as usize - self.first_ping;
        let answer = Ack {
            next: packet.number,
            echo: packet.stamp,
            sack: 0,
            ece: EcnEcho::NONE,
        };
        match self.responders[station].answers_after(now) {
            None => Delivery::Consumed,
            Some(Span::ZERO) => {
                *packet = self.states[number as usize].ack(now, number, answer);
                Delivery::Acked
            }
            Some(delay) => {
                self.make_ack_by(now + delay, number, answer, clock);
                Delivery::Consumed
            }
        }
    }

    /// The earliest ACK in the making is made.
    pub(super) fn ack_made(&mut self, now: Time, clock: &mut Clock) -> Wants {
        let made = self.making.acks.pop_first();
        let next = self.making.acks.first_key_value();
        clock.set(Owner::Acks, next.map_or(Time::NEVER, |(&(at, _), _)| at));
        match made {
            Some((_, (number, ack))) => {
                Wants::Packet(self.states[number as usize].ack(now, number, ack))
            }
            None => Wants::Nothing,
        }
    }

    /// Whether nothing of flow `number` is outstanding or under way, so that it can carry another
    /// connection.
    pub(super) fn is_free(&self, number: u32) -> bool {
        let mut in_the_making = self.making.acks.values();
        self.states[number as usize].is_done() && !in_the_making.any(|&(flow, _)| flow == number)
    }

    /// Lets the clock know when the timer of the sender of flow `index` is due.
    #[inline]
    pub(super) fn rearm(&mut self, index: usize, clock: &mut Clock) {
        if let Endpoints::Tcp(tcp) = &self.states[index].endpoints {
            let deadline = tcp.0.deadline();
            self.set_timer(index, deadline, clock);
        }
    }

    /// Sets the timer of the sender of flow `index`.
    #[inline(never)]
    pub(super) fn set_timer(&mut self, index: usize, deadline: Time, clock: &mut Clock) {
        self.states[index].timer = clock.reset(Owner::Sender(index), deadline);
    }

    /// The timer of the receiver of flow `index` is due, or was.
    pub(super) fn receiver_timer(&mut self, now: Time, index: usize, clock: &mut Clock) -> Wants {
        let receiver = &mut self.states[index].tcp().1;
        let ack = match receiver.deadline() <= now {
            true => receiver.on_timer(now),
            false => None,
        };
        let next = receiver.deadline();
        clock.set(Owner::Receiver(index), next);
        let ack = ack.and_then(|ack| self.make_ack(now, index as u32, ack, clock));
        ack.map_or(Wants::Nothing, Wants::Packet)
    }

    /// The timer of the source of flow `index` is due, or was; the world keeps that of pings.
    pub(super) fn sender_timer(
        &mut self,
        now: Time,
        index: usize,
        wires: &mut Wires,
        clock: &mut Clock,
    ) -> Wants {
        if self.states[index].last != u32::MAX
            && let Some(wants) = self.serve_web(now, index, wires, clock)
        {
            return wants;
        }
        let flow = &mut self.states[index];
        match &mut flow.endpoints {
            Endpoints::Tcp(tcp) => {
                if tcp.0.deadline() > now {
                    let next = tcp.0.deadline();
                    self.set_timer(index, next, clock);
                    return Wants::Nothing;
                }
                tcp.0.on_timer(now);
                self.set_timer(index, Time::NEVER, clock);
                Wants::All(index)
            }
            Endpoints::Udp(udp) => {
                let source = &mut udp.0;
                if source.is_greedy() {
                    return self.greedy_timer(now, index, wires, clock);
                }
                let number = source.send();
                let next = source.deadline();
                self.set_timer(index, next, clock);
                Wants::Packet(self.states[index].datagram(now, index as u32, number))
            }
            Endpoints::Web(web) => {
                let web = *web;
                self.arrive_at_web(now, index, web, wires, clock)
            }
            Endpoints::Ping | Endpoints::Hosts => Wants::Nothing,
        }
    }

    /// Flow `index` begins.
    pub(super) fn start(
        &mut self,
        now: Time,
        index: usize,
        wires: &mut Wires,
        clock: &mut Clock,
    ) -> Wants {
        let flow = &mut self.states[index];
        flow.started_at = now;
        if flow.reports.is_some() {
            return self.start_reports(now, index, clock);
        }
        match &mut flow.endpoints {
            // the bottleneck, and hosts outside, have a time of their own
            Endpoints::Ping | Endpoints::Hosts => Wants::Nothing,
            Endpoints::Web(web) if self.webs.sources[*web as usize].outside.is_some() => {
                Wants::Nothing
            }
            Endpoints::Web(web) => {
                let web = *web;
                self.webs.sources[web as usize].source.open(now);
                self.arrive_at_web(now, index, web, wires, clock)
            }
            Endpoints::Tcp(tcp) => {
                tcp.0.open();
                flow.cwnd_since = now;
                flow.cwnd = tcp.0.cwnd();
                Wants::All(index)
            }
            Endpoints::Udp(udp) => {
                let source = &mut udp.0;
                source.open(now);
                let due = source.deadline();
                if source.is_greedy() {
                    return self.start_greedy(now, index, wires, clock);
                }
                let timer = flow.timer;
                self.set_timer(index, due.min(timer), clock);
                Wants::Nothing
            }
        }
    }

    /// Flow `index` has no new data from now on.
    pub(super) fn stop(&mut self, now: Time, index: usize, wires: &Wires, clock: &mut Clock) {
        let flow = &mut self.states[index];
        if flow.reports.is_some() {
            return self.stop_reports(index, clock);
        }
        match &mut flow.endpoints {
            Endpoints::Ping | Endpoints::Hosts => {} // no flow of the schedule
            Endpoints::Tcp(tcp) => {
                tcp.0.close();
                flow.note_end(clock.now);
                flow.note_limit(clock.now);
            }
            Endpoints::Web(web) => self.webs.sources[*web as usize].source.close(),
            Endpoints::Udp(udp) => {
                flow.ended_at = clock.now;
                if udp.0.is_greedy() {
                    self.stop_greedy(now, index, wires, clock);
                } else {
                    udp.0.close();
                }
            }
        }
    }

    /// The sensor of flow `index` starts.
    fn start_reports(&mut self, now: Time, index: usize, clock: &mut Clock) -> Wants {
        let flow = &mut self.states[index];
        let mut wants = Wants::Nothing;
        if let Endpoints::Tcp(tcp) = &mut flow.endpoints {
            flow.cwnd_since = now;
            flow.cwnd = tcp.0.cwnd();
            tcp.0.connect();
            wants = Wants::All(index);
        }
        if let Some(reports) = &mut flow.reports {
            reports.open(now);
            self.reports.insert((reports.deadline(), index as u32));
        }
        self.arm_reports(clock);
        wants
    }

    /// The sensor of flow `index` stops; what it has reported is still delivered.
    fn stop_reports(&mut self, index: usize, clock: &mut Clock) {
        if let Some(reports) = &mut self.states[index].reports {
            self.reports.remove(&(reports.deadline(), index as u32));
            reports.close();
        }
        self.arm_reports(clock);
    }

    /// The earliest report is made.
    pub(super) fn report(&mut self, now: Time, clock: &mut Clock) -> Wants {
        let Some((_, number)) = self.reports.pop_first() else {
            return Wants::Nothing;
        };
        let flow = &mut self.states[number as usize];
        if let Some(reports) = &mut flow.reports {
            reports.make(now);
            self.reports.insert((reports.deadline(), number));
        }
        let wants = match &mut flow.endpoints {
            Endpoints::Tcp(tcp) => {
                tcp.0.supply(1);
                Wants::All(number as usize)
            }
            Endpoints::Udp(udp) => {
                let datagram = udp.0.send();
                Wants::Packet(flow.datagram(now, number, datagram))
            }
            Endpoints::Web(_) | Endpoints::Ping | Endpoints::Hosts => {
                unreachable!("sensors are stations'")
            }
        };
        self.arm_reports(clock);
        wants
    }

    fn arm_reports(&mut self, clock: &mut Clock) {
        let next = self.reports.first().map_or(Time::NEVER, |&(at, _)| at);
        clock.set(Owner::Reports, next);
    }

    /// Measuring begins at `now`.
    pub(super) fn begin_to_measure(&mut self, now: Time) {
        for flow in &mut self.states {
            flow.begin_to_measure(now);
        }
        let webs = self.webs.sources.iter_mut();
        webs.for_each(Web::begin_to_measure);
    }

    /// TCP flows of the scenario, and connections of users, keep their round-trip samples from now on.
    pub(super) fn keep_rtts(&mut self) {
        self.keeps_rtts = true;
        for (index, flow) in self.states.iter_mut().enumerate() {
            if self.webs.member(index).is_none() {
                flow.keep_rtts();
            }
        }
    }

    /// A further flow, for a connection of a user; returns its number.
    pub(super) fn add_connection(&mut self, tcp: &TcpSettings) -> u32 {
        let mut flow = FlowState::connection(tcp);
        if self.keeps_rtts {
            flow.keep_rtts();
        }
        self.states.push(flow);
        self.states.len() as u32 - 1
    }

    /// The flows by number: those of the scenario, then users', then pings, then connections.
    pub(crate) fn states(&self) -> &[FlowState] {
        &self.states
    }

    /// Those of the scenario and of users.
    pub(super) fn of_scenario(&mut self) -> &mut [FlowState] {
        &mut self.states[..self.first_ping]
    }

    /// Pings that were answered, and those lost on the way, there or back, or ignored by their station.
    pub(crate) fn pings(&self) -> [u64; 2] {
        let own = self.first_ping..self.first_ping + self.responders.len();
        let making = self.making.acks.values();
        let making = making.filter(|(flow, _)| own.contains(&(*flow as usize)));
        let [mut answered, mut lost] = [0, 0];
        for flow in &self.states[own.clone()] {
            let c = &flow.counters;
            answered += c.acks_arrived;
            lost += c.lost + c.acks_lost + c.arrived - c.acks_sent;
        }
        [answered, lost - making.count() as u64]
    }

    /// Web sources with their connections.
    pub(crate) fn webs(&self) -> &Webs {
        &self.webs
    }

    /// Packets that have come to their endpoint, which has to wait for them.
    pub(crate) fn deferred_packets(&self) -> impl Iterator<Item = &Packet> {
        self.deferred.packets()
    }
}

/// The users of a CSMA network as flows.
pub(super) fn users_of(scenario: &Scenario) -> Vec<Flow> {
    let networks = scenario.csma.iter();
    networks
        .flat_map(|csma| csma.flows.iter().map(CsmaFlow::to_flow))
        .collect()
}
