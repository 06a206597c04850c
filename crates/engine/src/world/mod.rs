//! A world: the scenario's parts connected and driven by the agenda.
//!
//! It steps, and is watched and measured from outside ([`crate::replication`]). Order of events at the same instant: the medium, the links
//! by number (the two directions of the cell's wire first), the schedule (starts, stops, changes
//! of channels), where it halts to be looked at, readings of windows and queues, ACKs whose making takes time, reports of sensors, then each flow's two timers (the sender's, the
//! receiver's delayed-ACK timer). All but the medium, whose turn it is most of the time in a cell, are
//! slots of the agenda in this order.

mod ahead;
mod flow;
mod gauge;
mod network;
mod pings;
mod plan;
mod radio;
mod reports;
mod routes;
mod slots;
mod transport;
mod users;
mod web;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use self::ahead::Ahead;
pub(crate) use self::flow::{Endpoints, FlowState};
pub(crate) use self::gauge::Gauge;
pub(crate) use self::network::WiredLink;
use self::plan::{Planned, plan_of};
use self::radio::OffAir;
pub(crate) use self::radio::{OnExchange, Radio};
use self::routes::Routes;
use self::slots::Slots;
pub(crate) use self::users::{User, Users};
use self::web::Member;
pub(crate) use self::web::Web;
use crate::bottleneck::{self, Bottleneck};
use crate::cell::Greedy;
use crate::error::EngineError;
use crate::kernel::agenda::Agenda;
use crate::kernel::calendar::Calendar;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{HeadQueue, QueueCounters};
use crate::scenario::{CsmaFlow, Flow, Scenario, Transport};
use crate::tcp::Ack;

/// Events between two looks at the progress callback.
const EVENTS_PER_LOOK: u64 = 1 << 16;

/// Who watches a world, and changes nothing.
pub(crate) struct Watch<'a> {
    /// Told the time now and then; breaking stops the run.
    pub(crate) look: &'a mut dyn FnMut(Time) -> ControlFlow<()>,
    /// Sees each exchange of a cell when it has ended, its frames still in their queues.
    pub(crate) exchange: Option<&'a mut OnExchange<'a>>,
}

/// All parts of a scenario in motion.
pub(crate) struct World<'a> {
    scenario: &'a Scenario,
    now: Time,
    end: Time,
    /// Where it halts next.
    halt: Time,
    agenda: Agenda,
    /// Packets on links, by their arrival at the far ends and the links' numbers.
    carried: Calendar<Packet>,
    ahead: Ahead,
    slots: Slots,
    radio: Radio,
    /// Greedy flows that feed each queue of the radio.
    greedy: Vec<Vec<u32>>,
    /// Legs of its way that a packet in their queue has begun: on air the first link of its route.
    greedy_hop: u8,
    /// Users of links on a conflict graph.
    users: Option<Users>,
    /// Those of the scenario, then those of pings, then those of web connections.
    flows: Vec<FlowState>,
    webs: Vec<Web>,
    /// Of each flow of a web connection its place; the first one's index.
    members: Vec<Member>,
    first_member: usize,
    links: Vec<WiredLink>,
    bottleneck: Option<Bottleneck>,
    /// Uplink UDP flows, which pass beside it: index and station.
    pub(crate) beside: Vec<(usize, usize)>,
    routes: Routes,
    /// ACKs in the making, by the instant they are sent and their order.
    acks: BTreeMap<(Time, u64), (u32, Ack)>,
    acks_made: u64,
    /// When each sensor reports next, and its flow.
    reports: BTreeSet<(Time, u32)>,
    gauge: Option<Gauge>,
    schedule: Vec<(Time, Planned)>,
    planned: usize,
    events: u64,
    /// Events at which somebody is told the time.
    next_look: u64,
}

/// Greedy flows, at work on one queue after the other.
struct Sources<'a> {
    flows: &'a mut [FlowState],
    /// Those that feed each queue.
    of_queue: &'a mut [Vec<u32>],
    /// Legs of its way that a packet in a queue has begun.
    hop: u8,
}

impl Greedy for Sources<'_> {
    /// In turn, up to the queue's limit.
    #[inline]
    fn refill(&mut self, now: Time, number: u32, queue: &mut HeadQueue) {
        let members = &mut self.of_queue[number as usize];
        if members.is_empty() {
            return;
        }
        while !queue.is_full(now) {
            let index = members[0];
            members.rotate_left(1);
            let flow = &mut self.flows[index as usize];
            let Endpoints::Udp(source) = &mut flow.endpoints else {
                unreachable!("only datagram sources are greedy")
            };
            let datagram = source.send();
            let mut packet = flow.datagram(now, index, datagram);
            packet.hop = self.hop;
            queue.offer(now, packet);
        }
    }
}

impl<'a> World<'a> {
    pub(crate) fn new(scenario: &'a Scenario, replication: u32) -> Result<World<'a>, EngineError> {
        let streams = Streams::new(scenario.seed, replication);
        let slots = Slots {
            links: pings::number(scenario) as usize + usize::from(scenario.vsb.is_some()),
            has_control: scenario.csma.is_some(),
        };
        let pinged = scenario.vsb.map_or(0, |_| scenario.stations.len());
        let users: Vec<Flow> = (scenario.csma.iter())
            .flat_map(|csma| csma.flows.iter().map(CsmaFlow::to_flow))
            .collect();
        let first_member = scenario.flows.len() + users.len() + pinged;
        let agenda = Agenda::new(slots.flow(first_member));
        let end = Time::ZERO + scenario.duration;
        // timers reach at most a few minutes past the end; beyond the horizon they count as never
        let radio = Radio::new(scenario, &streams);
        let horizon = radio.horizon().min(agenda.horizon());
        if end >= horizon {
            return Err(EngineError::TooLong {
                horizon: horizon.since(Time::ZERO),
            });
        }
        let mut webs = Vec::new();
        let flows = scenario.flows.iter().chain(&users);
        let mut flows: Vec<FlowState> = flows
            .map(|flow| FlowState::new(flow, &streams, &mut webs))
            .collect();
        if let Some(vsb) = &scenario.vsb {
            let stations = scenario.stations.iter();
            flows.extend(stations.map(|_| FlowState::pings(vsb.ping_bytes)));
        }
        let mut routes = Routes::new(scenario, radio.cell());
        let links = network::links_of(scenario, &mut routes, &streams);
        let reach = network::reach_of(scenario);
        let schedule = plan_of(scenario, &users, &streams);
        let mut world = World {
            scenario,
            now: Time::ZERO,
            end,
            halt: Time::ZERO,
            agenda,
            carried: Calendar::new(reach),
            ahead: Ahead::new(scenario.flows.len(), reach),
            slots,
            greedy: vec![Vec::new(); radio.queues().count()],
            greedy_hop: u8::from(radio.conflict().is_some()),
            radio,
            users: scenario.csma.as_ref().map(Users::new),
            links,
            routes,
            flows,
            webs,
            bottleneck: (scenario.vsb.as_ref()).map(|vsb| Bottleneck::new(vsb, scenario, &streams)),
            beside: bottleneck::beside(scenario).collect(),
            members: Vec::new(),
            first_member,
            acks: BTreeMap::new(),
            acks_made: 0,
            reports: BTreeSet::new(),
            gauge: Gauge::new(scenario, slots.links, network::bin_of(scenario)),
            schedule,
            planned: 0,
            events: 0,
            next_look: EVENTS_PER_LOOK,
        };
        world.agenda.set(slots.schedule(), world.next_planned());
        world.arm_control();
        if let Some(vsb) = &scenario.vsb {
            world.set_timer(scenario.flows.len(), Time::ZERO + vsb.start);
        }
        Ok(world)
    }

    /// Runs up to the schedule's turn at `until`: to whatever comes before, links' events of that
    /// instant included, and to nothing behind it.
    ///
    /// # Errors
    /// `Interrupted` if `watch` says so.
    pub(crate) fn run_until(
        &mut self,
        until: Time,
        watch: &mut Watch<'_>,
    ) -> Result<(), EngineError> {
        self.halt = until;
        self.be_quiet();
        self.catch_up();
        loop {
            let (pending, slot) = self.agenda.first();
            let (arrives, link) = self.carried.first();
            let medium = self.radio.deadline();
            let now = pending.min(arrives).min(medium);
            if now >= until {
                let before_schedule = slot < self.slots.schedule() && pending == until;
                if now > until || !(medium == until || arrives == until || before_schedule) {
                    break;
                }
            }
            self.now = now;
            self.events += 1;
            if medium == now {
                self.medium_event(now, watch);
            } else if (arrives, link) < (pending, slot) {
                self.arrival_event(now);
            } else {
                self.agenda_event(now, slot);
            }
            self.catch_up();
            if self.events >= self.next_look {
                self.next_look = self.events + EVENTS_PER_LOOK;
                if (watch.look)(now).is_break() {
                    return Err(EngineError::Interrupted);
                }
            }
        }
        self.now = until.min(self.end);
        self.settle_links(self.now);
        Ok(())
    }

    /// Runs to the end, everything at its instant included.
    ///
    /// # Errors
    /// As [`World::run_until`].
    pub(crate) fn run_to_end(&mut self, watch: &mut Watch<'_>) -> Result<(), EngineError> {
        self.run_until(self.end + Span(1), watch)
    }

    /// Runs up to `until` with nobody looking.
    #[cfg(test)]
    fn run_unwatched(&mut self, until: Time) {
        let mut watch = Watch {
            look: &mut |_| ControlFlow::Continue(()),
            exchange: None,
        };
        let run = self.run_until(until, &mut watch);
        assert_eq!(run, Ok(()));
    }

    /// The warm-up ends now: largest values and distributions, which have no difference, begin anew.
    pub(crate) fn begin_to_measure(&mut self) {
        let now = self.now;
        self.events += 1;
        for flow in &mut self.flows {
            flow.begin_to_measure(now);
        }
        self.read_gauge(now);
        self.webs.iter_mut().for_each(Web::begin_to_measure);
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.begin_to_measure(now);
        }
    }

    fn agenda_event(&mut self, now: Time, slot: usize) {
        if slot < self.slots.schedule() {
            self.departure_event(now, slot);
        } else if slot == self.slots.schedule() {
            self.planned_event(now);
        } else if slot == self.slots.gauge() {
            self.events -= 1; // as if nobody looked
            self.read_gauge(now);
        } else if slot == self.slots.acks() {
            self.made_ack_event(now);
        } else if slot == self.slots.reports() {
            self.report_event(now);
        } else if self.slots.has_control && slot == self.slots.control() {
            self.control_event(now);
        } else {
            self.timer_event(now, slot);
        }
    }

    /// The scenario.
    pub(crate) fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// How far it is.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// The air with its queues.
    pub(crate) fn radio(&self) -> &Radio {
        &self.radio
    }

    /// The wired links by number, the bottleneck last.
    pub(crate) fn links(&self) -> &[WiredLink] {
        &self.links
    }

    /// Flows by number: those of the scenario, then pings, then connections.
    pub(crate) fn flows(&self) -> &[FlowState] {
        &self.flows
    }

    /// Web sources by number.
    pub(crate) fn webs(&self) -> &[Web] {
        &self.webs
    }

    /// Users of links on a conflict graph.
    pub(crate) fn users(&self) -> Option<&Users> {
        self.users.as_ref()
    }

    /// The virtual shared bottleneck.
    pub(crate) fn bottleneck(&self) -> Option<&Bottleneck> {
        self.bottleneck.as_ref()
    }

    /// Readings of windows and queues.
    pub(crate) fn gauge(&self) -> Option<&Gauge> {
        self.gauge.as_ref()
    }

    /// Calls `visit` for each packet that is in a queue, on a link or on its way.
    pub(crate) fn each_packet(&self, visit: &mut dyn FnMut(&Packet)) {
        self.radio
            .queues()
            .flat_map(HeadQueue::packets)
            .for_each(&mut *visit);
        self.carried.items().for_each(&mut *visit);
        self.ahead.packets().for_each(&mut *visit);
        for wired in &self.links {
            wired.link().each_packet(visit);
        }
    }

    /// Name of a flow; that of a web connection's is its source's with the flow's number.
    pub(crate) fn flow_name(&self, index: usize) -> String {
        if let Some(own) = self.scenario.flows.get(index) {
            return own.name.clone();
        }
        let what = if index < self.first_member {
            "pings"
        } else {
            "web"
        };
        format!("{what} flow {index}")
    }

    /// Whether link number `link` is the virtual shared bottleneck.
    pub(crate) fn is_bottleneck(&self, link: usize) -> bool {
        self.bottleneck.is_some() && link == pings::number(self.scenario) as usize
    }

    /// Totals of each leaf of the virtual shared bottleneck.
    pub(crate) fn leaves(&self) -> Vec<QueueCounters> {
        let link = self.links.get(pings::number(self.scenario) as usize);
        link.map_or_else(Vec::new, |wired| wired.link.leaves())
    }

    /// Payload of one full packet of a flow of the scenario. [bit]
    pub(crate) fn payload_bits(&self, flow: usize) -> f64 {
        let bytes = match &self.scenario.flows[flow].transport {
            Transport::Tcp(tcp) => tcp.mss_bytes,
            Transport::Udp(udp) => udp.payload_bytes,
            Transport::Web(web) => web.tcp.mss_bytes,
        };
        f64::from(bytes) * 8.0
    }

    fn medium_event(&mut self, now: Time, watch: &mut Watch<'_>) {
        let mut sources = Sources {
            flows: &mut self.flows,
            of_queue: &mut self.greedy,
            hop: self.greedy_hop,
        };
        let exchange = watch.exchange.as_deref_mut();
        let off = self.radio.advance(now, &mut sources, exchange);
        self.lose_dropped();
        match off {
            OffAir::Nothing => {}
            OffAir::GoesOn(packet) => self.forward(now, packet),
            OffAir::Arrived(packet) => self.consume(now, &packet),
        }
    }

    /// Counts what the radio has lost.
    #[inline]
    fn lose_dropped(&mut self) {
        while let Some(packet) = self.radio.take_lost() {
            self.lose(&packet);
        }
    }

    /// A packet enters a queue of the radio, or is lost there.
    #[inline]
    fn offer(&mut self, now: Time, queue: u32, packet: &Packet) {
        if !self.radio.offer(now, queue, packet) {
            self.lose(packet);
        }
        self.lose_dropped();
    }

    /// Greedy sources begin to fill a queue of the radio.
    fn fill(&mut self, now: Time, queue: u32) {
        let mut sources = Sources {
            flows: &mut self.flows,
            of_queue: &mut self.greedy,
            hop: self.greedy_hop,
        };
        self.radio.fill(now, queue, &mut sources);
    }

    fn lose(&mut self, packet: &Packet) {
        let counters = &mut self.flows[packet.flow as usize].counters;
        if packet.is_data() {
            counters.lost += 1;
        } else {
            counters.acks_lost += 1;
        }
    }

    fn planned_event(&mut self, now: Time) {
        let (_, planned) = self.schedule[self.planned];
        self.planned += 1;
        self.agenda.set(self.slots.schedule(), self.next_planned());
        match planned {
            Planned::Channel(station, change) => {
                let station = station as usize;
                let changes = &self.scenario.stations[station].channel_changes;
                let channel = &changes[change as usize].channel;
                if let Some(cell) = self.radio.cell_mut() {
                    cell.medium_mut().change_channel(station, channel);
                }
            }
            Planned::Start(index) if self.users.is_some() => self.start_user(now, index),
            Planned::Stop(index) if self.is_user_of_tcp(index) => self.stop_user(now, index),
            Planned::Start(index) => self.start_flow(now, index),
            Planned::Stop(index) if self.flows[index as usize].reports.is_some() => {
                self.stop_reports(index);
            }
            Planned::Stop(index) => match &mut self.flows[index as usize].endpoints {
                Endpoints::Ping => {} // no flow of the schedule
                Endpoints::Tcp(tcp) => tcp.0.close(),
                Endpoints::Web(web) => self.webs[*web as usize].close(),
                Endpoints::Udp(source) => {
                    source.close();
                    let queues = self.greedy.iter_mut();
                    queues.for_each(|flows| flows.retain(|&flow| flow != index));
                }
            },
        }
        self.be_quiet();
    }

    /// When the next thing that is planned happens.
    fn next_planned(&self) -> Time {
        let next = self.schedule.get(self.planned);
        next.map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Endpoints may act up to what is planned next, or where somebody looks.
    fn be_quiet(&mut self) {
        let until = self.next_planned().min(self.halt).min(self.end);
        self.quiet_until(until);
    }
}
