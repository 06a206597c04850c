//! A world: the scenario's parts connected, and the loop that drives them.
//!
//! ```text
//!            +-------- what is due next ---------+
//!            v            |                      |
//!          clock        radio       wires      flows          bottleneck, users: control of
//!          plan           |           |          |            rates, pings, connections
//!                         +--- a packet's journey ---+
//! ```
//!
//! It steps, and is watched and measured from outside ([`crate::replication`]).
//!
//! | question | place |
//! |---|---|
//! | what is due, in which order | here: [`World::run_until`], [`World::step`] |
//! | what comes next for a packet | [`journey`] |
//! | links, routes over them | [`wires`], [`routes`], [`legs`] |
//! | endpoints and their timers | [`flows`], [`flow`] |
//! | web connections | [`web`], [`connections`] |
//! | greedy sources, and the queues that they fill | [`greedy`] |
//! | packets and endpoints processed before the time of their events | [`lookahead`] |
//! | the medium and its queues | [`radio`] |
//! | flows between hosts outside | [`hosts`] |
//! | users that open and close connections; pings | [`users`], [`control`], [`pings`] |
//! | numbers of links, flows, slots | [`numbers`] |
//!
//! Order of events at the same instant: the medium, the links by number (the two directions of the cell's
//! wire first), what is planned (starts, stops, changes of channels), where the world halts to be looked
//! at, readings of windows and queues, ACKs whose making takes time, reports of sensors, control of a CSMA
//! network (prices, numbers of connections), then each flow's two timers (the sender's, the receiver's
//! delayed-ACK timer). All but the medium, whose turn it is most of the time in a cell, and arrivals over
//! links are slots of the agenda in this order.

mod clock;
mod connections;
mod control;
mod flow;
mod flows;
mod gauge;
mod greedy;
mod hosts;
mod journey;
mod legs;
mod lookahead;
mod medium;
mod numbers;
mod pings;
mod plan;
mod prefetch;
mod routes;
mod step;
mod users;
mod web;
mod wired;
mod wires;

use std::ops::ControlFlow;

use self::clock::Clock;
pub(crate) use self::connections::MOST_OPEN;
pub(crate) use self::flow::{Endpoints, FlowCounters};
pub(crate) use self::flows::Flows;
use self::flows::users_of;
pub(crate) use self::gauge::Gauge;
use self::greedy::Sources;
pub use self::hosts::{Arrival, Sent};
pub(crate) use self::medium::{Medium, OnExchange};
use self::numbers::Owner;
pub(crate) use self::plan::start_of;
use self::plan::{Plan, Planned};
pub(crate) use self::routes::Stop;
use self::step::Wants;
pub(crate) use self::users::{User, Users};
pub(crate) use self::wired::WiredLink;
pub(crate) use self::wires::Wires;
use crate::bottleneck::{self, Bottleneck};
use crate::cell::OffAir;
use crate::error::EngineError;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::HeadQueue;
use crate::scenario::{Scenario, Transport};

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
    clock: Clock,
    plan: Plan,
    /// Where it halts next.
    halt: Time,
    /// Whether somebody may change it where it halts.
    gated: bool,
    /// Number of events at which somebody is told the time.
    next_look: u64,
    radio: Medium,
    /// Room for packets that come off the air together.
    received: Vec<(OffAir, Packet)>,
    wires: Wires,
    flows: Flows,
    /// Users of links on a conflict graph.
    users: Option<Users>,
    bottleneck: Option<Bottleneck>,
    /// Uplink UDP flows that pass beside the bottleneck: index and station.
    beside: Vec<(usize, usize)>,
    gauge: Option<Gauge>,
}

impl<'a> World<'a> {
    /// The world of a scenario's replication, at rest.
    ///
    /// # Errors
    /// `TooLong` if the agenda cannot hold the scenario's duration.
    pub(crate) fn new(scenario: &'a Scenario, replication: u32) -> Result<World<'a>, EngineError> {
        let streams = Streams::new(scenario.seed, replication);
        let clock = Clock::new(scenario, numbers::first_connection(scenario));
        let radio = Medium::new(scenario, &streams);
        let horizon = scenario.horizon();
        if clock.end >= horizon {
            return Err(EngineError::TooLong {
                horizon: horizon.since(Time::ZERO),
            });
        }
        let users = users_of(scenario);
        let wires = Wires::new(scenario, radio.cell(), &streams);
        let queues = radio.queues().count();
        let reach = wires::reach_of(scenario);
        let bin = wires::bin_of(scenario);
        let shared = scenario.bottleneck.as_ref();
        let mut world = World {
            scenario,
            clock,
            plan: Plan::new(scenario, &users, &streams),
            halt: Time::ZERO,
            gated: false,
            next_look: EVENTS_PER_LOOK,
            flows: Flows::new(scenario, &users, queues, reach, &streams),
            users: scenario.csma.as_ref().map(Users::new),
            bottleneck: shared.map(|own| Bottleneck::new(own, scenario.hotspot(), &streams)),
            beside: bottleneck::beside(shared, &scenario.flows).collect(),
            gauge: Gauge::new(scenario, wires.links().len(), bin),
            radio,
            received: Vec::new(),
            wires,
        };
        world.clock.set(Owner::Schedule, world.plan.next());
        world.arm_control();
        if let Some(bottleneck) = &world.bottleneck {
            let first = numbers::first_ping(scenario);
            let begins = bottleneck.deadline();
            world.flows.set_timer(first, begins, &mut world.clock);
        }
        Ok(world)
    }

    /// Runs up to the plan's turn at `until`: everything that comes before it happens, links' events of
    /// that instant included, and nothing that comes after it.
    ///
    /// # Errors
    /// `Interrupted` if `watch` says so.
    pub(crate) fn run_until(
        &mut self,
        until: Time,
        watch: &mut Watch<'_>,
    ) -> Result<(), EngineError> {
        self.halt = until;
        self.set_safe_time();
        if self.gated {
            self.open_gate();
        }
        self.catch_up();
        while self.step(until, watch) {
            self.catch_up();
            if self.clock.events >= self.next_look {
                self.next_look = self.clock.events + EVENTS_PER_LOOK;
                if (watch.look)(self.clock.now).is_break() {
                    return Err(EngineError::Interrupted);
                }
            }
        }
        self.clock.now = until.min(self.clock.end);
        self.settle(self.clock.now);
        Ok(())
    }

    /// Runs to the end, everything at its instant included.
    ///
    /// # Errors
    /// As [`World::run_until`].
    pub(crate) fn run_to_end(&mut self, watch: &mut Watch<'_>) -> Result<(), EngineError> {
        self.run_until(self.clock.end + Span(1), watch)
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

    /// Lets what is due next happen; false if it comes after `until`.
    #[inline(always)]
    fn step(&mut self, until: Time, watch: &mut Watch<'_>) -> bool {
        let (pending, slot) = self.clock.first();
        let (arrives, link) = self.wires.carried.first();
        if self.wires.carried.takes_fresh() {
            self.prefetch();
        }
        let medium = self.radio.deadline();
        let now = pending.min(arrives).min(medium);
        if now >= until {
            let departs = pending == until && self.clock.is_before_schedule(slot);
            if now > until || !(medium == until || arrives == until || departs) {
                return false;
            }
        }
        self.clock.now = now;
        self.clock.events += 1;
        if medium == now {
            self.medium_event(now, watch);
        } else if (arrives, link) < (pending, slot) {
            if let Some(mut packet) = self.wires.carried.pop() {
                self.travel(now, &mut packet);
            }
        } else {
            self.agenda_event(now, self.clock.owner(slot));
        }
        true
    }

    /// An exchange or a transmission on air ends.
    #[inline(always)]
    fn medium_event(&mut self, now: Time, watch: &mut Watch<'_>) {
        let exchange = watch.exchange.as_deref_mut();
        let mut packet = Packet::BLANK;
        let mut sources = Sources {
            flows: &mut self.flows,
            wires: &mut self.wires,
        };
        let off = (self.radio).advance(now, &mut sources, exchange, &mut packet);
        self.lose_dropped();
        if off == OffAir::Several {
            return self.come_off_in_turn(now);
        }
        match off {
            OffAir::Nothing | OffAir::Several => {}
            OffAir::AtStation => self.arrive(now, &mut packet),
            OffAir::AtAccessPoint => self.come_to_access_point(now, &mut packet),
        }
    }

    /// A packet has come off the air at the access point.
    #[inline(always)]
    fn come_to_access_point(&mut self, now: Time, packet: &mut Packet) {
        if self.listens() {
            self.overhear(now, packet);
        }
        match self.wires.routes.has_arrived(packet) {
            true => self.arrive(now, packet),
            false => self.travel(now, packet),
        }
    }

    /// Several packets have come off the air.
    #[inline(never)]
    fn come_off_in_turn(&mut self, now: Time) {
        let mut received = std::mem::take(&mut self.received);
        self.radio.swap_received(&mut received);
        for (off, packet) in &mut received {
            match off {
                OffAir::AtStation => self.arrive(now, packet),
                OffAir::AtAccessPoint | OffAir::Nothing | OffAir::Several => {
                    self.come_to_access_point(now, packet);
                }
            }
        }
        received.clear();
        self.received = received; // room for those to come
    }

    /// The turn of a slot of the agenda.
    fn agenda_event(&mut self, now: Time, owner: Owner) {
        match owner {
            Owner::Link(link) => {
                self.wires.depart(now, link);
                let flows = &mut self.flows;
                let lose = &mut |packet: &Packet| flows.lose(packet);
                self.wires.attend(&mut self.clock, link, lose);
                if self.flows.greedy.fills(link) {
                    self.fill_link(now, link);
                }
            }
            Owner::Schedule => self.planned_event(now),
            Owner::Gauge => {
                self.clock.events -= 1; // as if nobody looked
                self.read_gauge(now);
            }
            Owner::Acks => {
                let wants = self.flows.ack_made(now, &mut self.clock);
                self.serve(now, wants);
            }
            Owner::Reports => {
                let wants = self.flows.report(now, &mut self.clock);
                self.serve(now, wants);
            }
            Owner::Control => self.control_event(now),
            Owner::Receiver(flow) => {
                let wants = self.flows.receiver_timer(now, flow, &mut self.clock);
                self.serve(now, wants);
            }
            Owner::Sender(flow) => self.sender_event(now, flow),
        }
    }

    fn sender_event(&mut self, now: Time, index: usize) {
        let World {
            flows,
            wires,
            clock,
            ..
        } = self;
        if let Endpoints::Ping = flows.states[index].endpoints {
            return self.ping_event(now);
        }
        let wants = flows.sender_timer(now, index, wires, clock);
        let expired = matches!(wants, Wants::All(_));
        self.serve(now, wants);
        if expired && self.flows.states[index].has_deferred {
            let World {
                flows,
                wires,
                clock,
                ..
            } = self;
            lookahead::take_deferred(wires, flows, clock, index);
        }
    }

    /// An endpoint gets what it wants.
    fn serve(&mut self, now: Time, wants: Wants) {
        match wants {
            Wants::Nothing => {}
            Wants::Packet(mut packet) => self.send(now, &mut packet),
            Wants::All(flow) => {
                if let Some(mut syn) = self.flows.states[flow].syn(now, flow as u32) {
                    self.send(now, &mut syn);
                }
                self.pump(now, flow);
            }
            Wants::Fill(filled) => self.fill(now, filled),
        }
    }

    /// Something that was planned happens.
    fn planned_event(&mut self, now: Time) {
        let planned = self.plan.take();
        self.clock.set(Owner::Schedule, self.plan.next());
        match planned {
            None => {}
            Some(Planned::Channel(station, change)) => {
                let station = station as usize;
                let changes = &self.scenario.stations[station].channel_changes;
                self.radio
                    .set_channel(now, station, &changes[change as usize].channel);
            }
            Some(Planned::Start(index)) if self.users.is_some() => self.start_user(now, index),
            Some(Planned::Start(index)) => self.start_flow(now, index as usize),
            Some(Planned::Stop(index)) if self.is_user_of_tcp(index) => self.stop_user(now, index),
            Some(Planned::Stop(index)) => {
                let World {
                    flows,
                    wires,
                    clock,
                    ..
                } = self;
                flows.stop(now, index as usize, wires, clock);
            }
        }
        self.set_safe_time();
    }

    fn start_flow(&mut self, now: Time, index: usize) {
        let World {
            flows,
            wires,
            clock,
            ..
        } = self;
        let wants = flows.start(now, index, wires, clock);
        self.serve(now, wants);
    }

    /// Sets the safe time of lookahead: the next planned event, halt or end.
    fn set_safe_time(&mut self) {
        let until = self.plan.next_heard().min(self.halt).min(self.clock.end);
        let World {
            flows,
            wires,
            clock,
            ..
        } = self;
        lookahead::set_safe_time(wires, flows, clock, until);
    }

    /// Packets that stand in front of gates go on, those that come before the world halts again.
    #[cold]
    fn open_gate(&mut self) {
        let to_the_end = self.halt > self.clock.end; // nothing is changed then
        let until = if to_the_end { Time::NEVER } else { self.halt };
        while self
            .wires
            .gate
            .kept
            .front()
            .is_some_and(|first| first.there <= until)
            && let Some(mut first) = self.wires.gate.kept.pop_front()
        {
            let next = self.wires.gate.kept.front();
            let before_next = next.map_or(until, |next| Time(next.there.0 - 1).min(until));
            self.wires.gate.until = before_next.max(first.there);
            self.travel(first.before, &mut first.packet);
        }
        self.wires.gate.until = until;
    }

    /// Processes the deferred segments that arrive before the safe time.
    #[inline(always)]
    fn catch_up(&mut self) {
        if self.flows.deferred.has_segments() {
            self.take_segments();
        }
    }

    #[cold]
    fn take_segments(&mut self) {
        while let Some((at, mut segment)) = self.flows.deferred.next_segment() {
            self.clock.events += 1;
            self.arrive(at, &mut segment);
        }
    }

    /// What links have lost by now is counted.
    fn settle(&mut self, now: Time) {
        let flows = &mut self.flows;
        self.wires.settle_all(now, &mut |packet| flows.lose(packet));
    }

    /// Windows and queues are read now, and again after a time.
    fn read_gauge(&mut self, now: Time) {
        if let Some(gauge) = &mut self.gauge {
            let next = gauge.read(now, &self.wires, &mut self.flows);
            self.clock.set(Owner::Gauge, next);
        }
    }

    /// The warm-up ends now: largest values and distributions, of which no difference can be taken, begin
    /// anew.
    pub(crate) fn begin_to_measure(&mut self) {
        let now = self.clock.now;
        self.clock.events += 1;
        self.flows.begin_to_measure(now);
        self.read_gauge(now);
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.begin_to_measure(now);
        }
    }

    /// Round-trip samples of TCP flows are kept from now on.
    pub(crate) fn keep_rtts(&mut self) {
        self.flows.keep_rtts();
    }

    /// Every packet goes hop by hop: what must be the same.
    #[cfg(test)]
    pub(crate) fn hop_by_hop(&mut self) {
        self.wires.hop_by_hop();
    }

    /// Allows [`World::change`] where it halts, so that no packet enters a link with lookahead beyond the halt.
    pub(crate) fn gate(&mut self) {
        self.gated = true;
        self.wires.gate.until = Time::ZERO;
        self.wires.routes.gate();
    }

    /// What differs between two scenarios is as `to` has it from now on, as far as it may move: see
    /// [`Scenario::moved_to`]. It has a gate, and has halted.
    #[cold]
    #[inline(never)]
    pub(crate) fn change(&mut self, [from, to]: [&Scenario; 2]) {
        let now = self.clock.now;
        self.radio.change(now, [from, to]);
        self.wires.change(now, [from, to]);
        let rates = [from, to].map(|one| one.bottleneck.as_ref().and_then(|own| own.rate_bps));
        if let [before, Some(after)] = rates
            && before != Some(after)
        {
            self.change_bottleneck(now, after);
        }
    }

    /// The scenario.
    pub(crate) fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// How far it is.
    pub(crate) fn now(&self) -> Time {
        self.clock.now
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.clock.events
    }

    /// The air with its queues.
    pub(crate) fn radio(&self) -> &Medium {
        &self.radio
    }

    /// Records from now on what transmitters of aggregates have on the air.
    pub(crate) fn record_transmissions(&mut self) {
        self.radio.record_transmissions();
    }

    /// The wired links.
    pub(crate) fn wires(&self) -> &Wires {
        &self.wires
    }

    /// The flows.
    pub(crate) fn flows(&self) -> &Flows {
        &self.flows
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
        let queued = self.radio.queues().flat_map(HeadQueue::packets);
        queued.chain(self.radio.kept()).for_each(&mut *visit);
        self.wires.each_packet(visit);
        self.flows.deferred_packets().for_each(visit);
    }

    /// Name of a flow; a flow of a web connection has its source's name with its own number.
    pub(crate) fn flow_name(&self, index: usize) -> String {
        if let Some(own) = self.scenario.flows.get(index) {
            return own.name.clone();
        }
        let what = match index < numbers::first_connection(self.scenario) {
            true => "pings",
            false => "web",
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
}
