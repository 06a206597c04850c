//! One replication: the scenario's parts connected and driven by the agenda.
//!
//! The only module that knows every other. Order of events at the same instant: the medium, the two
//! directions of the wire, the schedule (starts, stops, end of warm-up, samples), then each flow's
//! two timers (the sender's, the receiver's delayed-ACK timer). All but the medium, whose turn it is
//! most of the time, are slots of the agenda in this order.

use std::ops::ControlFlow;

use crate::app::udp::UdpSource;
use crate::error::EngineError;
use crate::kernel::agenda::Agenda;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::link::Link;
use crate::mac::dcf::{AP, Dcf, Frame, Outcome};
use crate::measure::{self, Measures, Snapshot};
use crate::packet::{Packet, PacketKind};
use crate::queue::DropTail;
use crate::record::{FlowCounters, FrameLog, FrameRecord, Series};
use crate::scenario::{Direction, Flow, Scenario, Transport};
use crate::tcp::{Ack, Receiver, Sender};

const DOWNLINK: usize = 0;
const UPLINK: usize = 1;
const SCHEDULE: usize = 2;
const FLOWS: usize = 3;

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

/// A source and its sink.
pub(crate) enum Endpoints {
    /// Bulk TCP.
    Tcp(Box<(Sender, Receiver)>),
    /// Datagrams.
    Udp(Box<UdpSource>),
}

/// One flow at run time.
pub(crate) struct FlowState {
    /// The station's node number.
    node: u32,
    direction: Direction,
    data_bytes: u16,
    ack_bytes: u16,
    pub(crate) endpoints: Endpoints,
    pub(crate) counters: FlowCounters,
    /// cwnd since `cwnd_since`.
    cwnd: f64,
    cwnd_since: Time,
    pub(crate) finished_at: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Planned {
    WarmupEnds,
    Sample,
    Start(u32),
    Stop(u32),
}

/// All parts of a scenario in motion.
pub(crate) struct World<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) now: Time,
    pub(crate) end: Time,
    agenda: Agenda,
    pub(crate) cell: Dcf,
    /// Queue of node n: 0 is the AP, i + 1 is station i.
    pub(crate) queues: Vec<DropTail>,
    pub(crate) flows: Vec<FlowState>,
    pub(crate) downlink: Link,
    pub(crate) uplink: Link,
    wire_loss: Stream,
    /// Greedy flows that feed the queue of node n.
    greedy: Vec<Vec<u32>>,
    schedule: Vec<(Time, Planned)>,
    planned: usize,
    warm: Option<Snapshot>,
    series: Option<Series>,
    log: Option<FrameLog>,
    pub(crate) activity: Activity,
    pub(crate) events: u64,
}

/// Stations with a frame to send: sum of the ends of their backlogged periods less the beginnings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Activity {
    sum: u64,
    stations: u64,
}

impl Activity {
    fn begin(&mut self, at: Time) {
        self.stations += 1;
        self.sum = self.sum.wrapping_sub(at.0);
    }

    fn end(&mut self, at: Time) {
        self.stations -= 1;
        self.sum = self.sum.wrapping_add(at.0);
    }

    /// Time integral of the number of stations with a frame to send. [ns]
    pub(crate) fn integral_ns(&self, now: Time) -> u64 {
        self.sum.wrapping_add(self.stations * now.0)
    }
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, replication: u32) -> Result<World<'a>, EngineError> {
        let streams = Streams::new(scenario.seed, replication);
        let agenda = Agenda::new(FLOWS + 2 * scenario.flows.len());
        let end = Time::ZERO + scenario.duration;
        // timers reach at most a few minutes past the end; beyond the horizon they count as never
        if end >= agenda.horizon() {
            return Err(EngineError::TooLong {
                horizon: agenda.horizon().since(Time::ZERO),
            });
        }
        let nodes = std::iter::once(&scenario.cell.ap)
            .chain(scenario.stations.iter().map(|station| &station.node));
        let flows = scenario
            .flows
            .iter()
            .map(|flow| FlowState::new(flow, &streams))
            .collect();
        let first = replication == 0;
        let interval = scenario.record.series_interval.filter(|_| first);
        let mut world = World {
            scenario,
            now: Time::ZERO,
            end,
            agenda,
            cell: Dcf::new(scenario, &streams),
            queues: nodes
                .map(|node| DropTail::new(node.queue_packets))
                .collect(),
            flows,
            downlink: Link::new(&scenario.wire),
            uplink: Link::new(&scenario.wire),
            wire_loss: streams.stream("wire/loss"),
            greedy: vec![Vec::new(); scenario.stations.len() + 1],
            schedule: plan_of(scenario, interval),
            planned: 0,
            warm: None,
            series: interval.map(|interval| Series::new(scenario, interval)),
            log: scenario.record.frames.filter(|_| first).map(FrameLog::new),
            activity: Activity::default(),
            events: 0,
        };
        world.agenda.set(SCHEDULE, world.schedule[0].0);
        Ok(world)
    }

    fn run(&mut self, look: &mut dyn FnMut(Time) -> ControlFlow<()>) -> Result<(), EngineError> {
        loop {
            let (pending, slot) = self.agenda.first();
            let medium = self.cell.deadline();
            let now = pending.min(medium);
            if now > self.end {
                break;
            }
            self.now = now;
            self.events += 1;
            if medium <= pending {
                self.medium_event(now);
            } else {
                self.agenda_event(now, slot);
            }
            if self.events.is_multiple_of(EVENTS_PER_LOOK) && look(now).is_break() {
                return Err(EngineError::Interrupted);
            }
        }
        self.now = self.end;
        Ok(())
    }

    fn agenda_event(&mut self, now: Time, slot: usize) {
        match slot {
            DOWNLINK => {
                if let Some(packet) = self.downlink.arrive() {
                    self.offer(now, AP, packet);
                }
                self.agenda.set(DOWNLINK, self.downlink.deadline());
            }
            UPLINK => {
                if let Some(packet) = self.uplink.arrive() {
                    self.consume(now, &packet);
                }
                self.agenda.set(UPLINK, self.uplink.deadline());
            }
            SCHEDULE => self.planned_event(now),
            timer => self.timer_event(now, timer),
        }
    }

    fn finish(mut self) -> Result<Replication, EngineError> {
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

    /// Payload of one packet of a flow. [bit]
    pub(crate) fn payload_bits(&self, flow: usize) -> f64 {
        let bytes = match &self.scenario.flows[flow].transport {
            Transport::Tcp(tcp) => tcp.mss_bytes,
            Transport::Udp(udp) => udp.payload_bytes,
        };
        f64::from(bytes) * 8.0
    }

    fn medium_event(&mut self, now: Time) {
        let outcome = self.cell.advance();
        if let Some(log) = &mut self.log {
            log.exchange(self.scenario, &self.cell, outcome, &self.queues);
        }
        match outcome {
            Outcome::Delivered { from, done } => {
                if let Some(ref packet) = self.take_head(from, done) {
                    if from == AP {
                        self.consume(now, packet);
                    } else if self.uplink.is_instant() {
                        if !self.lost_on_wire(packet) {
                            self.consume(now, packet);
                        }
                    } else {
                        self.send_on_wire(now, *packet, false);
                    }
                }
            }
            Outcome::Corrupted | Outcome::Collided => {
                for index in 0..self.cell.discarded().len() {
                    let node = self.cell.discarded()[index];
                    if let Some(packet) = self.take_head(node, now) {
                        self.lose(&packet);
                    }
                }
            }
        }
    }

    /// Removes the frame that `node` got rid of, its place free from `done` on.
    fn take_head(&mut self, node: u32, done: Time) -> Option<Packet> {
        let queue = &mut self.queues[node as usize];
        let packet = queue.pop(done);
        if !self.greedy[node as usize].is_empty() {
            self.refill(done, node);
        }
        let next = self.queues[node as usize].head();
        if next.is_none() && node != AP {
            self.activity.end(done);
        }
        let frame = next.map(|packet| self.frame(node, packet));
        self.cell.proceed(node, frame);
        packet
    }

    fn frame(&self, node: u32, packet: &Packet) -> Frame {
        let to = if node == AP {
            self.flows[packet.flow as usize].node
        } else {
            AP
        };
        Frame {
            to,
            ip_bytes: u32::from(packet.bytes),
        }
    }

    /// A packet enters the queue of `node`, or is lost there.
    #[inline]
    fn offer(&mut self, now: Time, node: u32, packet: Packet) {
        let queue = &mut self.queues[node as usize];
        let was_empty = queue.head().is_none();
        if !queue.offer(now, packet) {
            self.lose(&packet);
        } else if was_empty {
            if node != AP {
                self.activity.begin(now);
            }
            let frame = self.frame(node, &packet);
            self.cell.backlog(now, node, frame);
        }
    }

    fn lose(&mut self, packet: &Packet) {
        let counters = &mut self.flows[packet.flow as usize].counters;
        if packet.is_data() {
            counters.lost += 1;
        } else {
            counters.acks_lost += 1;
        }
    }

    /// Bernoulli loss on the wire; ACKs are spared.
    fn lost_on_wire(&mut self, packet: &Packet) -> bool {
        let lost = packet.is_data() && self.wire_loss.chance(self.scenario.wire.loss);
        if lost {
            self.lose(packet);
        }
        lost
    }

    fn send_on_wire(&mut self, now: Time, packet: Packet, down: bool) {
        if self.lost_on_wire(&packet) {
            return;
        }
        let (link, slot) = if down {
            (&mut self.downlink, DOWNLINK)
        } else {
            (&mut self.uplink, UPLINK)
        };
        if link.send(now, packet) {
            self.agenda.set(slot, link.deadline());
        } else {
            self.lose(&packet);
        }
    }

    /// A packet leaves a transport endpoint, at the station or at the server.
    #[inline]
    fn emit(&mut self, now: Time, node: u32, at_station: bool, packet: Packet) {
        if at_station {
            self.offer(now, node, packet);
        } else if self.downlink.is_instant() {
            if !self.lost_on_wire(&packet) {
                self.offer(now, AP, packet);
            }
        } else {
            self.send_on_wire(now, packet, true);
        }
    }

    /// A packet reaches the transport endpoint it is for.
    fn consume(&mut self, now: Time, packet: &Packet) {
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        match (&mut flow.endpoints, packet.kind) {
            (Endpoints::Tcp(tcp), PacketKind::Segment) => {
                let receiver = &mut tcp.1;
                let received = receiver.on_segment(now, packet.number, packet.stamp);
                flow.counters.arrived += 1;
                flow.counters.delivered += u64::from(received.delivered);
                let timer = receiver.deadline();
                let ack = received.ack;
                self.arm(FLOWS + 2 * index + 1, timer);
                if let Some(ack) = ack {
                    self.acknowledge(now, packet.flow, ack);
                }
            }
            (Endpoints::Tcp(tcp), PacketKind::Ack) => {
                flow.counters.acks_arrived += 1;
                flow.counters.delay_ns += now.since(packet.stamp).0;
                flow.counters.delay_samples += 1;
                tcp.0.on_ack(
                    now,
                    Ack {
                        next: packet.number,
                        echo: packet.stamp,
                    },
                );
                if tcp.0.finished() && flow.finished_at.is_none() {
                    flow.finished_at = Some(now);
                }
                self.pump(now, index);
            }
            (Endpoints::Udp(_), _) => {
                flow.counters.arrived += 1;
                flow.counters.delivered += 1;
                flow.counters.delay_ns += now.since(packet.stamp).0;
                flow.counters.delay_samples += 1;
            }
            (Endpoints::Tcp(_), PacketKind::Datagram) => {
                unreachable!("a TCP flow sends no datagrams")
            }
        }
    }

    fn acknowledge(&mut self, now: Time, index: u32, ack: Ack) {
        let flow = &mut self.flows[index as usize];
        flow.counters.acks_sent += 1;
        let packet = Packet {
            flow: index,
            number: ack.next,
            stamp: ack.echo,
            queued: now,
            bytes: flow.ack_bytes,
            kind: PacketKind::Ack,
            retransmission: false,
        };
        let (node, at_station) = (flow.node, flow.direction == Direction::Down);
        self.emit(now, node, at_station, packet);
    }

    /// Lets a TCP sender send all it may.
    fn pump(&mut self, now: Time, index: usize) {
        loop {
            let flow = &mut self.flows[index];
            let Endpoints::Tcp(tcp) = &mut flow.endpoints else {
                return;
            };
            let Some(segment) = tcp.0.next_segment(now) else {
                let (timer, cwnd) = (tcp.0.deadline(), tcp.0.cwnd());
                if cwnd != flow.cwnd {
                    flow.integrate_cwnd(now);
                    flow.cwnd = cwnd;
                }
                self.arm(FLOWS + 2 * index, timer);
                return;
            };
            flow.counters.sent += 1;
            flow.counters.retransmitted += u64::from(segment.retransmission);
            let packet = Packet {
                flow: index as u32,
                number: segment.number,
                stamp: now,
                queued: now,
                bytes: flow.data_bytes,
                kind: PacketKind::Segment,
                retransmission: segment.retransmission,
            };
            let (node, at_station) = (flow.node, flow.direction == Direction::Up);
            self.emit(now, node, at_station, packet);
        }
    }

    /// Lazy timers: only a deadline earlier than the pending one moves it.
    #[inline]
    fn arm(&mut self, slot: usize, deadline: Time) {
        if deadline < self.agenda.deadline(slot) {
            self.agenda.set(slot, deadline);
        }
    }

    fn timer_event(&mut self, now: Time, slot: usize) {
        let index = (slot - FLOWS) / 2;
        let flow = &mut self.flows[index];
        match &mut flow.endpoints {
            Endpoints::Tcp(tcp) if (slot - FLOWS) % 2 == 1 => {
                let due = tcp.1.deadline();
                let ack = if due <= now {
                    tcp.1.on_timer(now)
                } else {
                    None
                };
                let next = tcp.1.deadline();
                self.agenda.set(slot, next);
                if let Some(ack) = ack {
                    self.acknowledge(now, index as u32, ack);
                }
            }
            Endpoints::Tcp(tcp) => {
                if tcp.0.deadline() <= now {
                    tcp.0.on_timer(now);
                    self.agenda.set(slot, Time::NEVER);
                    self.pump(now, index);
                } else {
                    let next = tcp.0.deadline();
                    self.agenda.set(slot, next);
                }
            }
            Endpoints::Udp(source) => {
                let number = source.send();
                let next = source.deadline();
                self.agenda.set(slot, next);
                self.send_datagram(now, index, number);
            }
        }
    }

    fn send_datagram(&mut self, now: Time, index: usize, number: u32) {
        let flow = &mut self.flows[index];
        let packet = flow.datagram(now, index as u32, number);
        let (node, at_station) = (flow.node, flow.direction == Direction::Up);
        self.emit(now, node, at_station, packet);
    }

    /// Greedy sources fill the queue of `node`, in turn, up to its limit.
    fn refill(&mut self, now: Time, node: u32) {
        while !self.queues[node as usize].is_full(now) {
            let sources = &mut self.greedy[node as usize];
            let Some(&index) = sources.first() else {
                return;
            };
            sources.rotate_left(1);
            let flow = &mut self.flows[index as usize];
            let Endpoints::Udp(source) = &mut flow.endpoints else {
                unreachable!("only datagram sources are greedy")
            };
            let number = source.send();
            let packet = flow.datagram(now, index, number);
            self.queues[node as usize].offer(now, packet);
        }
    }

    fn planned_event(&mut self, now: Time) {
        let (_, planned) = self.schedule[self.planned];
        self.planned += 1;
        let next = self
            .schedule
            .get(self.planned)
            .map_or(Time::NEVER, |&(at, _)| at);
        self.agenda.set(SCHEDULE, next);
        match planned {
            Planned::WarmupEnds => {
                for flow in &mut self.flows {
                    flow.integrate_cwnd(now);
                }
                self.warm = Some(Snapshot::take(self));
            }
            Planned::Sample => {
                self.events -= 1; // recording leaves every measured number as it is
                if let Some(mut series) = self.series.take() {
                    series.sample(self);
                    self.series = Some(series);
                }
            }
            Planned::Start(index) => self.start_flow(now, index),
            Planned::Stop(index) => match &mut self.flows[index as usize].endpoints {
                Endpoints::Tcp(tcp) => tcp.0.close(),
                Endpoints::Udp(source) => {
                    source.close();
                    self.greedy
                        .iter_mut()
                        .for_each(|list| list.retain(|&flow| flow != index));
                }
            },
        }
    }

    fn start_flow(&mut self, now: Time, index: u32) {
        let flow = &mut self.flows[index as usize];
        match &mut flow.endpoints {
            Endpoints::Tcp(tcp) => {
                tcp.0.open(now);
                flow.cwnd_since = now;
                flow.cwnd = tcp.0.cwnd();
                self.pump(now, index as usize);
            }
            Endpoints::Udp(source) => {
                source.open(now);
                let due = source.deadline();
                if source.is_greedy() {
                    let node = if flow.direction == Direction::Up {
                        flow.node
                    } else {
                        AP
                    };
                    self.greedy[node as usize].push(index);
                    self.begin_greedy(now, node);
                } else {
                    self.arm(FLOWS + 2 * index as usize, due);
                }
            }
        }
    }

    fn begin_greedy(&mut self, now: Time, node: u32) {
        let was_empty = self.queues[node as usize].head().is_none();
        self.refill(now, node);
        if was_empty && let Some(packet) = self.queues[node as usize].head().copied() {
            if node != AP {
                self.activity.begin(now);
            }
            let frame = self.frame(node, &packet);
            self.cell.backlog(now, node, frame);
        }
    }
}

impl FlowState {
    fn new(flow: &Flow, streams: &Streams) -> FlowState {
        let (data_bytes, ack_bytes, endpoints) = match &flow.transport {
            Transport::Tcp(tcp) => (
                tcp.mss_bytes + tcp.header_bytes,
                tcp.header_bytes,
                Endpoints::Tcp(Box::new((Sender::new(tcp), Receiver::new(tcp)))),
            ),
            Transport::Udp(udp) => {
                let source = UdpSource::new(udp, streams.stream(&format!("{}/gaps", flow.name)));
                (
                    udp.payload_bytes + udp.header_bytes,
                    0,
                    Endpoints::Udp(Box::new(source)),
                )
            }
        };
        FlowState {
            node: flow.station as u32 + 1,
            direction: flow.direction,
            data_bytes: data_bytes as u16, // at most the 2304 bytes of an MSDU, by the checks
            ack_bytes: ack_bytes as u16,
            endpoints,
            counters: FlowCounters::default(),
            cwnd: 0.0,
            cwnd_since: Time::ZERO,
            finished_at: None,
        }
    }

    fn integrate_cwnd(&mut self, now: Time) {
        self.counters.cwnd_ns += self.cwnd * now.since(self.cwnd_since).0 as f64;
        self.cwnd_since = now;
    }

    fn datagram(&mut self, now: Time, index: u32, number: u32) -> Packet {
        self.counters.sent += 1;
        Packet {
            flow: index,
            number,
            stamp: now,
            queued: now,
            bytes: self.data_bytes,
            kind: PacketKind::Datagram,
            retransmission: false,
        }
    }
}

/// Everything that is known to happen, in order.
fn plan_of(scenario: &Scenario, sample_interval: Option<Span>) -> Vec<(Time, Planned)> {
    let at = |span: Span| Time::ZERO + span;
    let mut plan = vec![(at(scenario.warmup), Planned::WarmupEnds)];
    for (index, flow) in scenario.flows.iter().enumerate() {
        plan.push((at(flow.start), Planned::Start(index as u32)));
        plan.extend(
            flow.stop
                .map(|stop| (at(stop), Planned::Stop(index as u32))),
        );
    }
    if let Some(interval) = sample_interval {
        let samples = scenario.duration.0 / interval.0;
        plan.extend((1..=samples).map(|k| (at(interval * k), Planned::Sample)));
    }
    plan.sort_unstable();
    plan
}
