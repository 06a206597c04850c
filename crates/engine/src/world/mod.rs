//! A world is the state of one simulation run: the radio channel, wires, flows and controllers of a
//! scenario. This module also contains the event loop.
//!
//! ```text
//!            +---------- next event -------------+
//!            v            |                      |
//!          clock        radio       wires      flows          bottleneck, users: control of
//!          plan           |           |          |            rates, pings, connections
//!                         +-- journey of a packet --+
//! ```
//!
//! [`crate::replication`] runs a world and computes the results.
//!
//! | content | module |
//! |---|---|
//! | the order of events | this module: [`World::run_until`], [`World::step`] |
//! | the next step of a packet | [`journey`] |
//! | links, routes over them | [`wires`], [`routes`], [`legs`] |
//! | endpoints and their timers | [`network`], [`flows`], [`flow`] |
//! | ACKs with a processing time | [`acks`] |
//! | reports of sensors, applications that write at their own times | [`application`], [`reports`] |
//! | web connections | [`web`], [`connections`] |
//! | players of adaptive video | [`players`] |
//! | flows that open during a run in a cell | [`adopt`] |
//! | pings of flows | [`pinger`] |
//! | greedy sources, and the queues that they fill | [`greedy`], [`approach`], [`filling`] |
//! | packets and endpoints processed before the time of their events | [`lookahead`] |
//! | the medium and its queues | [`medium`] |
//! | flows between external hosts | [`hosts`], [`open`] |
//! | users that open and close connections; pings of the bottleneck | [`users`], [`control`], [`pings`] |
//! | read access for other modules | [`view`] |
//! | numbers of links, flows, slots | [`numbers`] |
//!
//! Events at the same time are processed in this order: the radio channel (medium); the links by
//! number (first the two directions of the wire of the cell); planned events (starts, stops,
//! changes of channels); a halt of the simulation; samples of windows and queues; ACKs with a
//! processing time; reports of sensors and writes of applications; control of a CSMA network (prices, numbers of connections);
//! the two timers of each flow (timer of the sender, delayed-ACK timer of the receiver). The agenda
//! is the list of pending events. Most events of a cell belong to the medium, which is therefore
//! not in the agenda. Arrivals over links are not in the agenda either. All other events have slots
//! in the agenda, in the order above.

mod acks;
mod adopt;
mod application;
mod approach;
mod clock;
mod connections;
mod control;
mod filling;
mod flow;
mod flow_counters;
mod flows;
mod gauge;
mod greedy;
mod hosts;
mod journey;
mod legs;
mod lengths;
mod lookahead;
mod medium;
mod network;
mod numbers;
mod open;
mod pinger;
mod pings;
mod plan;
mod players;
mod prefetch;
mod reports;
mod routes;
mod seeds;
mod step;
mod users;
mod videos;
mod view;
mod web;
mod wired;
mod wires;

use std::ops::ControlFlow;

pub(crate) use self::application::Application;
use self::clock::Clock;
pub(crate) use self::connections::MAX_OPEN;
pub(crate) use self::flow::Endpoints;
pub(crate) use self::flow_counters::FlowCounters;
pub(crate) use self::flows::Flows;
pub(crate) use self::gauge::Gauge;
pub use self::hosts::{Arrival, Sent};
pub(crate) use self::medium::{Medium, OnExchange};
use self::network::Network;
use self::numbers::Owner;
pub(crate) use self::plan::start_of;
use self::plan::{Plan, Planned};
pub(crate) use self::routes::Stop;
use self::step::Wants;
pub(crate) use self::users::{User, Users};
pub(crate) use self::wired::WiredLink;
pub(crate) use self::wires::Wires;
use crate::bottleneck::{self, Bottleneck};
use crate::cell::{OffAir, ReceivedPackets};
use crate::error::EngineError;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::scenario::{Flow, Scenario};

/// Number of events between two calls of the progress callback.
const EVENTS_PER_LOOK: u64 = 1 << 16;

/// Functions that observe a simulation without changing its state.
pub(crate) struct Watch<'a> {
    /// Progress callback. It is called with the simulated time after every [`EVENTS_PER_LOOK`]
    /// events, and may stop the run.
    pub(crate) look: &'a mut dyn FnMut(Time) -> ControlFlow<()>,
    /// Callback for the end of each frame exchange of a cell. The callback is called while the
    /// packets are still in their queues.
    pub(crate) exchange: Option<&'a mut OnExchange<'a>>,
}

/// The state of one simulation run: all components of a scenario.
pub(crate) struct World<'a> {
    scenario: &'a Scenario,
    network: Network,
    plan: Plan,
    /// Time of the next halt, at which settings may change.
    halt: Time,
    /// Whether settings may change at halts, so that links have gates.
    gated: bool,
    /// Total number of processed events at which the progress callback is called next.
    next_look: u64,
    radio: Medium,
    /// Buffer for packets that are received from the air simultaneously.
    received: ReceivedPackets,
    /// Users of a CSMA network.
    users: Option<Users>,
    bottleneck: Option<Bottleneck>,
    /// Uplink UDP flows that bypass the bottleneck: index of the flow, and index of the station.
    bypassing: Vec<(usize, usize)>,
    gauge: Option<Gauge>,
    /// Number of flows that the medium and the bottleneck know.
    adopted: usize,
}

impl<'a> World<'a> {
    /// Returns the state of one replication of a scenario at time 0.
    ///
    /// # Errors
    /// `TooLong` if the duration of the scenario exceeds the maximum for its number of agenda
    /// slots.
    pub(crate) fn new(scenario: &'a Scenario, replication: u32) -> Result<World<'a>, EngineError> {
        World::with_streams(scenario, &Streams::new(scenario.seed, replication))
    }

    /// Returns the state of a scenario at time 0 whose components draw from `streams`. The seed of
    /// the scenario is ignored.
    ///
    /// # Errors
    /// The errors of [`World::new`].
    pub(crate) fn with_streams(
        scenario: &'a Scenario,
        streams: &Streams,
    ) -> Result<World<'a>, EngineError> {
        let clock = Clock::new(scenario, numbers::first_connection(scenario));
        let radio = Medium::new(scenario, streams);
        let horizon = scenario.horizon();
        if clock.end >= horizon {
            return Err(EngineError::TooLong {
                horizon: horizon.since(Time::ZERO),
            });
        }
        let users: Vec<Flow> = scenario.users().collect();
        let wires = Wires::new(scenario, radio.cell(), streams);
        let queues = radio.queues().count();
        let reach = wires::longest_delay_of(scenario);
        let bin = wires::bin_of(scenario);
        let shared = scenario.bottleneck.as_ref();
        let mut world = World {
            scenario,
            plan: Plan::new(scenario, &users, streams),
            halt: Time::ZERO,
            gated: false,
            next_look: EVENTS_PER_LOOK,
            users: scenario.csma.as_ref().map(Users::new),
            bottleneck: shared.map(|own| Bottleneck::new(own, scenario.hotspot(), streams)),
            bypassing: bottleneck::bypassing(shared, &scenario.flows).collect(),
            gauge: Gauge::new(scenario, wires.links().len(), bin),
            radio,
            adopted: numbers::first_connection(scenario),
            received: ReceivedPackets::default(),
            network: Network {
                flows: Flows::new(scenario, &users, queues, reach, streams),
                wires,
                clock,
            },
        };
        world.network.clock.set(Owner::Schedule, world.plan.next());
        world.arm_control();
        if let Some(bottleneck) = &world.bottleneck {
            let first = numbers::first_ping(scenario);
            world.network.set_timer(first, bottleneck.deadline());
        }
        Ok(world)
    }

    /// Runs until `until`. Of the events at `until`, only those of the medium and the links are
    /// processed, but not the planned events.
    ///
    /// # Errors
    /// `Interrupted` if `watch` stops the run.
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
            let clock = &self.network.clock;
            if clock.events >= self.next_look {
                self.next_look = clock.events + EVENTS_PER_LOOK;
                if (watch.look)(clock.now).is_break() {
                    return Err(EngineError::Interrupted);
                }
            }
        }
        let clock = &mut self.network.clock;
        clock.now = until.min(clock.end);
        let now = clock.now;
        self.network.settle(now);
        Ok(())
    }

    /// Runs to the end of the simulation. Events at the end are also processed.
    ///
    /// # Errors
    /// `Interrupted` if `watch` stops the run.
    pub(crate) fn run_to_end(&mut self, watch: &mut Watch<'_>) -> Result<(), EngineError> {
        self.run_until(self.network.clock.end + Span(1), watch)
    }

    /// Processes the next event. Returns false if the next event is after `until`.
    #[inline(always)]
    fn step(&mut self, until: Time, watch: &mut Watch<'_>) -> bool {
        let (pending, slot) = self.network.clock.first();
        let (arrives, link) = self.network.wires.carried.first();
        if self.network.wires.carried.take_large_day_begun() {
            self.prefetch();
        }
        let medium = self.radio.deadline();
        let others = pending.min(medium);
        if arrives < others.min(until) {
            self.arrive_over_wires(arrives);
            return true;
        }
        let now = others.min(arrives);
        if now >= until {
            let departs = pending == until && self.network.clock.is_before_schedule(slot);
            if now > until || !(medium == until || arrives == until || departs) {
                return false;
            }
        }
        if medium != now && (arrives, link) < (pending, slot) {
            self.arrive_over_wires(now);
            return true;
        }
        self.network.clock.now = now;
        self.network.clock.events += 1;
        if medium == now {
            self.medium_event(now, watch);
        } else {
            self.agenda_event(now, self.network.clock.owner(slot));
        }
        true
    }

    /// Processes the arrival of the next packet at the end of a link or of a section of its route.
    #[inline(always)]
    fn arrive_over_wires(&mut self, now: Time) {
        self.network.clock.now = now;
        self.network.clock.events += 1;
        if let Some(mut packet) = self.network.wires.carried.pop() {
            self.move_on(now, &mut packet);
        }
    }

    /// Processes the end of a frame exchange, or of a transmission in a CSMA network.
    #[inline(always)]
    fn medium_event(&mut self, now: Time, watch: &mut Watch<'_>) {
        let exchange = watch.exchange.as_deref_mut();
        let mut packet = Packet::BLANK;
        let network = &mut self.network;
        let off = (self.radio).advance(now, network, exchange, &mut packet);
        self.lose_dropped();
        match off {
            OffAir::Nothing => {}
            OffAir::Several => self.receive_simultaneous(now),
            OffAir::AtStation => self.arrive(now, &mut packet),
            OffAir::AtAccessPoint => self.come_to_access_point(now, &mut packet),
        }
    }

    /// Processes a packet that the access point has received from the air.
    #[inline(always)]
    fn come_to_access_point(&mut self, now: Time, packet: &mut Packet) {
        if self.listens() {
            self.overhear(now, packet);
        }
        match self.network.wires.routes.has_arrived(packet) {
            true => self.arrive(now, packet),
            false => self.travel(now, packet),
        }
    }

    /// Processes several packets that were received from the air simultaneously.
    #[inline(never)]
    fn receive_simultaneous(&mut self, now: Time) {
        let mut received = std::mem::take(&mut self.received);
        self.radio.swap_received(&mut received);
        for (off, packets) in received.runs() {
            match off {
                OffAir::AtStation => {
                    for packet in packets {
                        self.arrive(now, packet);
                    }
                }
                OffAir::AtAccessPoint | OffAir::Nothing | OffAir::Several => {
                    for packet in packets {
                        self.come_to_access_point(now, packet);
                    }
                }
            }
        }
        received.clear();
        self.received = received; // store the buffer for the next use
    }

    /// Processes the event of a slot in the agenda. `owner` is the owner of the slot.
    #[inline(never)]
    fn agenda_event(&mut self, now: Time, owner: Owner) {
        let wants = match owner {
            Owner::Link(link) => {
                self.network.wires.depart(now, link);
                self.network.attend(link);
                if self.network.flows.greedy.fills(link) {
                    self.fill_link(now, link);
                }
                return;
            }
            Owner::Schedule => return self.planned_event(now),
            Owner::Gauge => {
                self.network.clock.events -= 1; // samples are not counted as events
                return self.read_gauge(now);
            }
            Owner::Control => return self.control_event(now),
            Owner::Sender(flow) => return self.sender_event(now, flow),
            Owner::Acks => self.network.ack_made(now),
            Owner::Reports => self.network.act(now),
            Owner::Receiver(flow) => self.network.receiver_timer(now, flow),
        };
        self.serve(now, wants);
    }

    fn sender_event(&mut self, now: Time, index: usize) {
        if let Endpoints::Ping = self.network.flows.states[index].endpoints {
            return self.ping_event(now);
        }
        let wants = self.network.sender_timer(now, index);
        let expired = matches!(wants, Wants::All(_));
        self.serve(now, wants);
        if expired {
            self.network.timer_expired(index);
        }
        // also if the timer was removed because the flow was stopped
        if self.network.flows.states[index].has_deferred {
            self.network.take_deferred(index);
        }
    }

    /// Sends the packets that an endpoint returns after an event.
    fn serve(&mut self, now: Time, wants: Wants) {
        if self.network.flows.states.len() > self.adopted {
            self.adopt();
        }
        match wants {
            Wants::Nothing => {}
            Wants::Packet(mut packet) => self.send(now, &mut packet),
            Wants::All(flow) => {
                let syn = self.network.flows.states[flow].syn(now, flow as u32);
                if let Some(mut syn) = syn {
                    self.send(now, &mut syn);
                }
                self.pump(now, flow);
            }
            Wants::Fill(filled) => self.fill(now, filled),
        }
    }

    /// Processes the next planned event.
    fn planned_event(&mut self, now: Time) {
        let planned = self.plan.take();
        let next = self.plan.next();
        self.network.clock.set(Owner::Schedule, next);
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
            Some(Planned::Stop(index)) => self.network.stop(now, index as usize),
        }
        self.set_safe_time();
    }

    fn start_flow(&mut self, now: Time, index: usize) {
        let wants = self.network.start(now, index);
        self.serve(now, wants);
    }

    /// Sets the safe time, up to which lookahead is allowed. The safe time is the earliest of the
    /// next planned event that limits lookahead, the next halt, and the end of the run.
    fn set_safe_time(&mut self) {
        let end = self.network.clock.end;
        let until = self.plan.next_heard().min(self.halt).min(end);
        self.network.set_safe_time(until);
    }

    /// Moves the packets that wait in front of gates and arrive before the next halt.
    #[cold]
    fn open_gate(&mut self) {
        let to_the_end = self.halt > self.network.clock.end; // after the end of the run no setting can change
        let until = if to_the_end { Time::NEVER } else { self.halt };
        while let Some(mut first) = self.network.wires.gate.next(until) {
            self.travel(first.before, &mut first.packet);
        }
        self.network.wires.gate.until = until;
    }

    /// Processes the deferred segments that arrive before the safe time, which is the limit of
    /// lookahead.
    #[inline(always)]
    fn catch_up(&mut self) {
        if self.network.flows.deferred.has_segments() {
            self.take_segments();
        }
    }

    #[cold]
    fn take_segments(&mut self) {
        while let Some((at, mut segment)) = self.network.flows.deferred.next_segment() {
            self.network.clock.events += 1;
            self.arrive(at, &mut segment);
        }
    }

    /// Adds a sample of windows and queue lengths, and sets the time of the next sample.
    fn read_gauge(&mut self, now: Time) {
        if let Some(gauge) = &mut self.gauge {
            let network = &mut self.network;
            let next = gauge.read(now, &network.wires, &mut network.flows);
            network.clock.set(Owner::Gauge, next);
        }
    }

    /// Ends the warm-up. Maxima and distributions are reset, because they cannot be computed from
    /// the difference of two snapshots.
    pub(crate) fn begin_to_measure(&mut self) {
        let now = self.network.clock.now;
        self.network.clock.events += 1;
        self.network.flows.begin_to_measure(now);
        self.read_gauge(now);
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.begin_to_measure(now);
        }
    }

    /// Starts recording the round-trip samples of TCP flows.
    pub(crate) fn record_rtts(&mut self) {
        self.network.flows.record_rtts();
    }

    /// Starts recording the transmissions of nodes that aggregate.
    pub(crate) fn record_transmissions(&mut self) {
        self.radio.record_transmissions();
    }

    /// Allows [`World::change`] at halts: from now on no packet enters a link in advance if it
    /// arrives there after the next halt.
    pub(crate) fn gate(&mut self) {
        self.gated = true;
        self.network.wires.gate.until = Time::ZERO;
        self.network.wires.routes.gate();
    }

    /// Applies the differences between two scenarios. Only settings that may change at run time are
    /// considered: see [`Scenario::moved_to`]. The simulation must be halted, and [`World::gate`]
    /// must have been called before.
    #[cold]
    #[inline(never)]
    pub(crate) fn change(&mut self, [from, to]: [&Scenario; 2]) {
        let now = self.network.clock.now;
        self.radio.change(now, [from, to]);
        self.network.wires.change(now, [from, to]);
        let rate = |scenario: &Scenario| scenario.bottleneck.as_ref()?.rate_bps;
        if let Some(rate_bps) = rate(to)
            && rate(from) != Some(rate_bps)
        {
            self.change_bottleneck(now, rate_bps);
        }
    }
}

#[cfg(test)]
mod tests;
