//! One replication: the scenario's parts connected and driven by the agenda.
//!
//! The only module that knows every other. Order of events at the same instant: the medium, the links
//! by number (the two directions of the cell's wire first), the schedule (starts, stops, changes
//! of channels, end of warm-up, samples), readings of windows and queues, ACKs whose making takes time, reports of sensors, then each flow's two timers (the sender's, the
//! receiver's delayed-ACK timer). All but the medium, whose turn it is most of the time in a cell, are
//! slots of the agenda in this order.

mod activity;
mod ahead;
mod air;
mod flow;
mod gauge;
mod network;
mod plan;
mod reports;
mod routes;
mod slots;
mod transport;
mod users;
mod vsb;
mod web;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use self::activity::Activity;
use self::ahead::Ahead;
pub(crate) use self::air::{Air, Drive};
pub(crate) use self::flow::{Endpoints, FlowState};
use self::gauge::Gauge;
pub(crate) use self::network::WiredLink;
use self::plan::{Planned, plan_of};
use self::routes::Routes;
use self::slots::Slots;
pub(crate) use self::users::User;
pub(crate) use self::vsb::Vsb;
use self::web::Member;
pub(crate) use self::web::Web;
use crate::error::EngineError;
use crate::kernel::agenda::Agenda;
use crate::kernel::calendar::Calendar;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::{AP, Content, Dcf, Frame, NodeCounters, Outcome};
use crate::measure::{self, Measures, Snapshot};
use crate::packet::Packet;
use crate::queue::{HeadQueue, Outlet, Vbs};
use crate::record::{FrameLog, FrameRecord, Series};
use crate::scenario::{Category, CsmaFlow, Discipline, Flow, QueueOrder, Scenario, Transport};
use crate::tcp::Ack;

/// Events between two looks at the progress callback.
const EVENTS_PER_LOOK: u64 = 1 << 16;

/// What one replication yields.
#[derive(Clone, Debug)]
pub struct Replication {
    /// Every measured quantity.
    pub measures: Measures,
    /// Time series, if asked for.
    pub series: Option<Series>,
    /// Frames on the air, if asked for.
    pub frames: Vec<FrameRecord>,
}

/// Runs replication number `replication`. `look` is told the simulated time now and then and may
/// stop the run.
///
/// # Errors
/// `Interrupted` if `look` breaks, `Conservation` if a conservation law is violated, `TooLong` if
/// the agenda cannot hold the scenario's duration.
pub fn run_replication(
    scenario: &Scenario,
    replication: u32,
    look: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Replication, EngineError> {
    let mut world = World::new(scenario, replication)?;
    world.run(look)?;
    world.finish()
}

/// All parts of a scenario in motion.
pub(crate) struct World<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) now: Time,
    pub(crate) end: Time,
    agenda: Agenda,
    /// Packets on links, by their arrival at the far ends and the links' numbers.
    pub(crate) carried: Calendar<Packet>,
    pub(crate) ahead: Ahead,
    slots: Slots,
    pub(crate) cell: Dcf,
    /// Links that hear only some of each other; the cell is empty then.
    pub(crate) air: Option<Box<Air>>,
    /// One for each contender of the cell, or each link on air.
    pub(crate) ports: Vec<Port>,
    /// Those of the scenario, then those of pings, then those of web connections.
    pub(crate) flows: Vec<FlowState>,
    pub(crate) webs: Vec<Web>,
    /// Of each flow of a web connection its place; the first one's index.
    members: Vec<Member>,
    first_member: usize,
    pub(crate) links: Vec<WiredLink>,
    pub(crate) vsb: Option<Vsb>,
    routes: Routes,
    /// ACKs in the making, by the instant they are sent and their order.
    acks: BTreeMap<(Time, u64), (u32, Ack)>,
    acks_made: u64,
    /// When each sensor reports next, and its flow.
    reports: BTreeSet<(Time, u32)>,
    /// Picks the next packet of an access point that serves in mixed order.
    mixing: Option<Stream>,
    pub(crate) gauge: Option<Gauge>,
    /// Classes share the access point's queue.
    shares: bool,
    schedule: Vec<(Time, Planned)>,
    planned: usize,
    warm: Option<Snapshot>,
    series: Option<Series>,
    log: Option<FrameLog>,
    pub(crate) activity: Activity,
    pub(crate) events: u64,
}

/// Where packets wait for a contender of the cell.
pub(crate) struct Port {
    /// The contender's node: 0 is the AP, i + 1 is station i.
    node: u32,
    pub(crate) queue: HeadQueue,
    /// The queue may mark packets.
    pub(crate) marks: bool,
    /// Greedy flows that feed the queue.
    greedy: Vec<u32>,
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, replication: u32) -> Result<World<'a>, EngineError> {
        let streams = Streams::new(scenario.seed, replication);
        let slots = Slots {
            links: vsb::number(scenario) as usize + usize::from(scenario.vsb.is_some()),
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
        let air = (scenario.csma.as_ref()).map(|csma| Air::new(csma, &streams));
        let on_air = air.as_ref().map(|air| air.medium().horizon());
        let horizon = on_air.map_or(agenda.horizon(), |one| one.min(agenda.horizon()));
        if end >= horizon {
            return Err(EngineError::TooLong {
                horizon: horizon.since(Time::ZERO),
            });
        }
        let cell = Dcf::new(scenario, &streams);
        let mut webs = Vec::new();
        let flows = scenario.flows.iter().chain(&users);
        let mut flows: Vec<FlowState> = flows
            .map(|flow| FlowState::new(flow, &streams, &mut webs))
            .collect();
        if let Some(vsb) = &scenario.vsb {
            let nodes = 1..=scenario.stations.len() as u32;
            flows.extend(nodes.map(|node| FlowState::pings(node, vsb.ping_bytes)));
        }
        let first = replication == 0;
        let interval = scenario.record.series_interval.filter(|_| first);
        let mut routes = Routes::new(scenario, &cell);
        let links = network::links_of(scenario, &mut routes, &streams);
        let reach = network::reach_of(scenario);
        let schedule = plan_of(scenario, &users, &streams, interval);
        let port = |contender| {
            let node = cell.node(contender);
            let settings = match node {
                AP => &scenario.cell.ap,
                station => &scenario.stations[station as usize - 1].node,
            };
            let draws =
                streams.stream(&format!("{}/queue", queue_name(scenario, &cell, contender)));
            Port {
                node,
                queue: queue_of(scenario, node, draws),
                marks: settings.queue.marks(),
                greedy: Vec::new(),
            }
        };
        let ports = match (&air, &scenario.csma) {
            (Some(air), Some(csma)) => (0..air.names.len())
                .map(|index| Port {
                    node: AP, // none
                    queue: air.queue(csma, index, &streams),
                    marks: csma.price.aqm,
                    greedy: Vec::new(),
                })
                .collect(),
            _ => (0..cell.contenders() as u32).map(port).collect(),
        };
        let mixed = scenario.cell.ap_queue_order == QueueOrder::Mixed;
        let mut world = World {
            scenario,
            now: Time::ZERO,
            end,
            agenda,
            carried: Calendar::new(reach),
            ahead: Ahead::new(scenario.flows.len(), reach, schedule[0].0.min(end)),
            slots,
            ports,
            cell,
            air: air.map(Box::new),
            links,
            routes,
            flows,
            webs,
            vsb: (scenario.vsb.as_ref()).map(|vsb| Vsb::new(vsb, scenario, &streams)),
            members: Vec::new(),
            first_member,
            acks: BTreeMap::new(),
            acks_made: 0,
            reports: BTreeSet::new(),
            shares: !scenario.cell.vbs_classes.is_empty(),
            mixing: mixed.then(|| streams.stream("ap/order")),
            gauge: Gauge::new(scenario, slots.links, network::bin_of(scenario)),
            schedule,
            planned: 0,
            warm: None,
            series: None,
            log: scenario.record.frames.filter(|_| first).map(FrameLog::new),
            activity: Activity::new(scenario.stations.len()),
            events: 0,
        };
        world.series = interval.map(|interval| Series::new(&world, interval));
        world.agenda.set(slots.schedule(), world.schedule[0].0);
        if let Some(air) = &world.air {
            world.agenda.set(slots.control(), air.deadline());
        }
        if let Some(vsb) = &scenario.vsb {
            world.set_timer(scenario.flows.len(), Time::ZERO + vsb.start);
        }
        Ok(world)
    }

    fn run(&mut self, look: &mut dyn FnMut(Time) -> ControlFlow<()>) -> Result<(), EngineError> {
        let mut next_look = EVENTS_PER_LOOK;
        loop {
            let (pending, slot) = self.agenda.first();
            let (arrives, link) = self.carried.first();
            let medium = match &self.air {
                None => self.cell.deadline(),
                Some(air) => air.graph.deadline(),
            };
            let now = pending.min(arrives).min(medium);
            if now > self.end {
                break;
            }
            self.now = now;
            self.events += 1;
            if medium == now {
                match self.air {
                    None => self.medium_event(now),
                    Some(_) => self.air_event(now),
                }
            } else if (arrives, link) < (pending, slot) {
                self.arrival_event(now);
            } else {
                self.agenda_event(now, slot);
            }
            self.catch_up();
            if self.events >= next_look {
                next_look = self.events + EVENTS_PER_LOOK;
                if look(now).is_break() {
                    return Err(EngineError::Interrupted);
                }
            }
        }
        self.now = self.end;
        Ok(())
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

    fn finish(mut self) -> Result<Replication, EngineError> {
        self.settle_links(self.end);
        measure::check_conservation(&self)?;
        for flow in &mut self.flows {
            flow.integrate_cwnd(self.end);
        }
        let start = self.warm.take().unwrap_or_else(|| Snapshot::take(&self));
        let frames = self
            .log
            .take()
            .map(FrameLog::into_records)
            .unwrap_or_default();
        let measures = measure::between(&start, &self);
        Ok(Replication {
            measures,
            series: self.series,
            frames,
        })
    }

    /// Name of a contender's queue: its node's, with the category if that is not best effort.
    pub(crate) fn queue_name(&self, contender: usize) -> String {
        match &self.air {
            None => queue_name(self.scenario, &self.cell, contender as u32),
            Some(air) => air.names[contender].clone(),
        }
    }

    /// What the medium has done for a queue.
    pub(crate) fn frames(&self, contender: u32) -> NodeCounters {
        match &self.air {
            None => self.cell.counters(contender),
            Some(air) => air.medium().counters(contender),
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

    /// Payload of one full packet of a flow of the scenario. [bit]
    pub(crate) fn payload_bits(&self, flow: usize) -> f64 {
        let bytes = match &self.scenario.flows[flow].transport {
            Transport::Tcp(tcp) => tcp.mss_bytes,
            Transport::Udp(udp) => udp.payload_bytes,
            Transport::Web(web) => web.tcp.mss_bytes,
        };
        f64::from(bytes) * 8.0
    }

    fn medium_event(&mut self, now: Time) {
        let outcome = self.cell.advance();
        if let Some(log) = &mut self.log {
            log.exchange(self.scenario, &self.cell, outcome, &self.ports, &self.flows);
        }
        for index in 0..self.cell.discarded().len() {
            let contender = self.cell.discarded()[index];
            if let Some(packet) = self.take_head(contender, now) {
                self.lose(&packet);
            }
        }
        if let Outcome::Delivered { from, done } = outcome
            && let Some(packet) = self.take_head(from, done)
        {
            if self.shares && packet.is_data() {
                let ap = self.ports.iter_mut().filter(|port| port.node == AP);
                ap.for_each(|port| port.queue.carried(packet.flow));
            }
            if self.ports[from as usize].node == AP {
                self.consume(now, &packet);
            } else {
                self.forward(now, packet);
            }
        }
    }

    /// Removes the frame that `contender` got rid of, its place free from `done` on.
    fn take_head(&mut self, contender: u32, done: Time) -> Option<Packet> {
        let port = &mut self.ports[contender as usize];
        let packet = port.queue.pop(done);
        if !port.greedy.is_empty() {
            self.refill(done, contender);
        }
        let port = &mut self.ports[contender as usize];
        if let Some(stream) = &mut self.mixing
            && port.node == AP
        {
            port.queue.mix(stream);
        }
        if let Some(air) = &mut self.air {
            let next = port.queue.head().map(|next| next.bytes);
            air.graph.proceed(done, contender, next);
            return packet;
        }
        let next = port
            .queue
            .head()
            .map(|next| frame(&self.flows, port.node, next));
        if next.is_none() {
            self.activity.end(port.node, done);
        }
        self.cell.proceed(contender, next);
        self.lose_dropped(contender);
        packet
    }

    /// Counts what a queue has dropped after taking it.
    #[inline]
    fn lose_dropped(&mut self, contender: u32) {
        while let Some(packet) = self.ports[contender as usize].queue.take_dropped() {
            self.lose(&packet);
        }
    }

    /// A packet enters the queue of `contender`, or is lost there.
    #[inline]
    fn offer(&mut self, now: Time, contender: u32, packet: Packet) {
        let port = &mut self.ports[contender as usize];
        let was_empty = port.queue.head().is_none();
        if !port.queue.offer(now, packet) {
            self.lose(&packet);
        } else if was_empty && port.queue.head().is_some() {
            self.serve(now, contender, &packet);
        }
        self.lose_dropped(contender);
    }

    /// The first packet of a queue that was empty.
    #[inline(always)]
    fn serve(&mut self, now: Time, contender: u32, packet: &Packet) {
        if let Some(air) = &mut self.air {
            return air.graph.backlog(now, contender, packet.bytes);
        }
        let node = self.ports[contender as usize].node;
        self.activity.begin(node, now);
        let frame = frame(&self.flows, node, packet);
        self.cell.backlog(now, contender, frame);
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
        let next = self
            .schedule
            .get(self.planned)
            .map_or(Time::NEVER, |&(at, _)| at);
        self.agenda.set(self.slots.schedule(), next);
        match planned {
            Planned::WarmupEnds => {
                self.settle_links(now);
                for flow in &mut self.flows {
                    flow.integrate_cwnd(now);
                    flow.cwnd_max = flow.cwnd;
                }
                self.warm = Some(Snapshot::take(self));
                self.read_gauge(now);
                self.webs.iter_mut().for_each(Web::begin_to_measure);
                if let Some(vsb) = &mut self.vsb {
                    vsb.begin_to_measure(now);
                }
            }
            Planned::Sample => {
                self.settle_links(now);
                self.events -= 1; // recording leaves every measured number as it is
                if let Some(mut series) = self.series.take() {
                    series.sample(self);
                    self.series = Some(series);
                }
            }
            Planned::Channel(station, change) => {
                let station = station as usize;
                let changes = &self.scenario.stations[station].channel_changes;
                let channel = &changes[change as usize].channel;
                self.cell.change_channel(station, channel);
            }
            Planned::Start(index) if self.air.is_some() => self.start_user(now, index),
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
                    let ports = self.ports.iter_mut();
                    ports.for_each(|port| port.greedy.retain(|&flow| flow != index));
                }
            },
        }
        self.quiet_until(next);
    }
}

fn queue_name(scenario: &Scenario, cell: &Dcf, contender: u32) -> String {
    let node = match cell.node(contender) {
        AP => "ap",
        node => &scenario.stations[node as usize - 1].name,
    };
    match cell.category(contender) {
        Category::BestEffort => node.to_owned(),
        other => format!("{node}/{}", other.name()),
    }
}

/// The empty queue of a contender of `node`.
fn queue_of(scenario: &Scenario, node: u32, draws: Stream) -> HeadQueue {
    let cell = &scenario.cell;
    let setting = match node {
        AP => &cell.ap.queue,
        station => &scenario.stations[station as usize - 1].node.queue,
    };
    match setting.discipline {
        Discipline::Vbs(vbs) if node == AP => HeadQueue::shared(Vbs::new(
            vbs,
            setting.limit_packets,
            &cell.vbs_classes,
            scenario.flows.len(),
            draws,
        )),
        _ => HeadQueue::new(setting, outlet(scenario, node), draws),
    }
}

/// What a discipline knows of the cell that serves the queues of `node`: its fastest data rate.
fn outlet(scenario: &Scenario, node: u32) -> Outlet {
    let rate_bps = match node {
        AP => scenario.stations.iter().map(|s| s.downlink_rate_bps).max(),
        station => Some(scenario.stations[station as usize - 1].rate_bps),
    };
    Outlet {
        rate_bps: rate_bps.unwrap_or(0),
        is_fixed: false,
        delay: Span::ZERO,
    }
}

/// The frame in which `node` sends `packet`.
#[inline]
fn frame(flows: &[FlowState], node: u32, packet: &Packet) -> Frame {
    let to = match node {
        AP => flows[packet.flow as usize].station,
        _ => AP,
    };
    Frame {
        to,
        ip_bytes: u32::from(packet.bytes),
        content: if packet.is_data() {
            Content::Data
        } else {
            Content::Ack
        },
    }
}
