//! Endpoints at work ahead of time.
//!
//! When the arrival of a packet at its endpoint is known ([`super::network`]), so is what the endpoint
//! will do about it, and it does it at once: a segment is acknowledged and the ACK goes on its way, the
//! ACK lets the sender send. A round trip through one bottleneck then is one event, the entry into it.
//! Each arrival counts as the event that it would be in its own time, and nothing that is measured
//! changes ([`World::by_events`] is what it must equal), because
//!
//! - the packets of an endpoint that does so come in order and leave through a link of its own, in the
//!   same order; on the links behind it either an event waits for them, or their order is that of the
//!   one link that all of them have come through ([`super::network`]);
//! - a receiver does so only if it acknowledges each segment at once, and does nothing else;
//! - an ACK that arrives after the sender's timer expires waits for the timer;
//! - what is planned (starts, stops, the end of the warm-up, samples) finds all endpoints as of its
//!   instant: packets that arrive after the next such instant wait for it;
//! - a window that changes ahead of readings ([`super::gauge`]) is noted for them before.

use std::collections::VecDeque;

use super::World;
use super::flow::Endpoints;
use super::routes::{Place, Routes};
use crate::kernel::calendar::Calendar;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::scenario::{Scenario, Transport};

/// What endpoints are to do, and may not yet.
pub(crate) struct Ahead {
    /// Nothing is planned before this instant.
    pub(super) quiet_until: Time,
    /// The next reading of the gauge.
    pub(super) next_reading: Time,
    /// Segments that arrive after the next instant planned, or behind one that does.
    segments: Calendar<Packet>,
    /// How many they are.
    waiting: usize,
    /// Of each flow of the scenario its ACKs that have to wait, in order, with their arrivals.
    acks: Vec<VecDeque<(Time, Packet)>>,
    /// Flows that have any.
    held_up: Vec<u32>,
    /// Windows as of the next readings, of flows whose windows have changed since.
    windows: Vec<VecDeque<f64>>,
}

impl Ahead {
    pub(super) fn new(flows: usize, reach: Span) -> Ahead {
        Ahead {
            quiet_until: Time::ZERO,
            next_reading: Time::NEVER,
            segments: Calendar::new(reach),
            waiting: 0,
            acks: vec![VecDeque::new(); flows],
            held_up: Vec::new(),
            windows: vec![VecDeque::new(); flows],
        }
    }

    /// Packets under way that no link and no queue has.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        let acks = self.acks.iter().flatten().map(|(_, ack)| ack);
        self.segments.items().chain(acks)
    }

    /// The window of flow `index` at a reading, if it has changed since.
    pub(super) fn window(&mut self, index: usize) -> Option<f64> {
        self.windows.get_mut(index)?.pop_front()
    }
}

/// Which receivers answer at once, each alone on the first link of its ACKs.
pub(super) fn answering(scenario: &Scenario, routes: &Routes) -> Vec<bool> {
    let alone = alone(scenario, routes);
    let answers = |(flow, [acks, data]): (&Transport, [&[u32]; 2])| match flow {
        Transport::Tcp(tcp) => {
            let at_once = !tcp.delayed_ack && tcp.ack_processing == Span::ZERO;
            at_once && !data.is_empty() && acks.first().is_some_and(&alone)
        }
        _ => false,
    };
    ways(scenario, routes).map(answers).collect()
}

/// Which senders go on at once, each alone on the first link of its segments, which takes time and
/// behind which an event waits for them.
pub(super) fn going_on(scenario: &Scenario, routes: &Routes, ahead: &[bool]) -> Vec<bool> {
    let alone = alone(scenario, routes);
    let goes_on = |(flow, [_, data]): (&Transport, [&[u32]; 2])| match (flow, data) {
        (Transport::Tcp(_), [first, second, ..]) => {
            alone(first) && takes_time(*first, scenario) && !ahead[*second as usize]
        }
        _ => false,
    };
    ways(scenario, routes).map(goes_on).collect()
}

/// Flows between hosts, with the ways of their ACKs and of their data; none beside a cell or links on
/// air, whose events look at flows.
fn ways<'a>(
    scenario: &'a Scenario,
    routes: &'a Routes,
) -> impl Iterator<Item = (&'a Transport, [&'a [u32]; 2])> {
    let wired = scenario.stations.is_empty() && scenario.csma.is_none() && scenario.vsb.is_none();
    let flows = scenario.flows.iter().filter(move |_| wired);
    flows.map(|flow| &flow.transport).zip(routes.pairs())
}

/// Whether every packet is a while on this link of a host.
fn takes_time(link: u32, scenario: &Scenario) -> bool {
    let link = &scenario.links[(link - super::network::NETWORK) as usize];
    let service = |rate| Span::to_send(super::network::LEAST_BYTES, rate);
    link.delay + link.rate_bps.map_or(Span::ZERO, service) > Span::ZERO
}

/// Whether one way alone begins on a link of a host.
fn alone(scenario: &Scenario, routes: &Routes) -> impl Fn(&u32) -> bool {
    let mut users = vec![0_u32; super::network::NETWORK as usize + scenario.links.len()];
    for link in routes.pairs().flatten().flatten() {
        if let Some(users) = users.get_mut(*link as usize) {
            *users += 1;
        }
    }
    let of_host = scenario.links.iter().map(|link| link.of_host);
    let of_host: Vec<bool> = [false; 2].into_iter().chain(of_host).collect();
    move |link| of_host[*link as usize] && users[*link as usize] == 1
}

impl World<'_> {
    /// A packet whose endpoint need not wait for it arrives there at `at`, by link number `carrier`; the
    /// ACK that leaves at once, if one does, takes its place.
    #[inline(always)]
    pub(super) fn reach_ahead(
        &mut self,
        at: Time,
        carrier: usize,
        packet: &mut Packet,
    ) -> Option<Time> {
        if !packet.is_data() {
            self.ack_ahead(at, packet);
            return None;
        }
        if at <= self.ahead.quiet_until && self.ahead.waiting == 0 {
            self.events += 1;
            let flow = &mut self.flows[packet.flow as usize];
            let ack = flow.take_segment(at, packet)?;
            *packet = flow.ack(at, packet.flow, ack);
            return Some(at);
        }
        self.ahead.waiting += 1;
        self.ahead.segments.push(at, carrier, *packet);
        None
    }

    #[inline(always)]
    fn ack_ahead(&mut self, at: Time, ack: &Packet) {
        let flow = &self.flows[ack.flow as usize];
        let before = flow.timer.min(self.ahead.next_reading);
        let is_next = at <= before.min(self.ahead.quiet_until) && !flow.held_up;
        if is_next || self.becomes_next(at, ack) {
            self.take_ack(at, ack);
        }
    }

    /// Whether an ACK before which something else happens is the next to change its sender; if not, it
    /// is kept.
    #[inline(never)]
    fn becomes_next(&mut self, at: Time, ack: &Packet) -> bool {
        let index = ack.flow as usize;
        let may = !self.flows[index].held_up && self.may_take(at, index);
        if may {
            self.pass_by(at, index);
        } else {
            self.hold_up(at, *ack);
        }
        may
    }

    /// Nothing happens to the sender of flow `index` before `at`.
    fn may_take(&self, at: Time, index: usize) -> bool {
        at <= self.ahead.quiet_until
            && match &self.flows[index].endpoints {
                Endpoints::Tcp(tcp) => at <= tcp.0.deadline(),
                _ => false,
            }
    }

    /// What changes nothing about the sender of flow `index` is done with before `at`.
    fn pass_by(&mut self, at: Time, index: usize) {
        if self.flows[index].timer < at {
            self.events += 1; // a lazy timer finds its deadline moved
            self.rearm(index);
        }
        if self.ahead.next_reading < at {
            self.note_window(at, index);
        }
    }

    #[inline(always)]
    fn take_ack(&mut self, at: Time, ack: &Packet) {
        self.events += 1;
        let index = ack.flow as usize;
        let flow = &mut self.flows[index];
        flow.take_ack(at, ack);
        while let Some(mut packet) = flow.next_packet(at, ack.flow) {
            // through the link of its host, behind which an event waits for it
            let leg = self.routes.legs(&packet)[0];
            let arrives = match leg.place {
                Place::Host(link) => self.links[link as usize].pass_host(at, &packet),
                _ => at,
            };
            packet.hop = 1;
            self.carried
                .push(arrives.plus(leg.delay), leg.carrier as usize, packet);
        }
        if flow.has_sent(at) {
            self.rearm(index);
        }
    }

    /// Lets the agenda know when the timer of the sender of flow `index` is due.
    pub(super) fn rearm(&mut self, index: usize) {
        if let Endpoints::Tcp(tcp) = &self.flows[index].endpoints {
            self.set_timer(index, tcp.0.deadline());
        }
    }

    /// Keeps the window of flow `index` for the readings before `at`.
    fn note_window(&mut self, at: Time, index: usize) {
        let (Some(gauge), Endpoints::Tcp(tcp)) = (&self.gauge, &self.flows[index].endpoints) else {
            return;
        };
        let windows = &mut self.ahead.windows[index];
        let mut next = self.ahead.next_reading + gauge.interval() * windows.len() as u64;
        while next < at {
            windows.push_back(tcp.0.cwnd());
            next += gauge.interval();
        }
    }

    #[cold]
    fn hold_up(&mut self, at: Time, ack: Packet) {
        let held_up = &mut self.flows[ack.flow as usize].held_up;
        if !std::mem::replace(held_up, true) {
            self.ahead.held_up.push(ack.flow);
        }
        self.ahead.acks[ack.flow as usize].push_back((at, ack));
    }

    /// Something has happened that ACKs of flow `index` may have waited for.
    pub(super) fn take_held_up(&mut self, index: usize) {
        while let Some(&(at, ack)) = self.ahead.acks[index].front() {
            if !self.may_take(at, index) {
                return;
            }
            self.ahead.acks[index].pop_front();
            self.pass_by(at, index);
            self.take_ack(at, &ack);
        }
        self.flows[index].held_up = false;
        self.ahead.held_up.retain(|&flow| flow as usize != index);
    }

    /// Nothing is planned before `until`.
    pub(super) fn quiet_until(&mut self, until: Time) {
        self.ahead.quiet_until = until;
        for index in self.ahead.held_up.clone() {
            self.take_held_up(index as usize);
        }
    }

    /// Receivers take the segments that have waited and need no longer.
    #[inline]
    pub(super) fn catch_up(&mut self) {
        if self.ahead.waiting > 0 {
            self.take_segments();
        }
    }

    #[cold]
    fn take_segments(&mut self) {
        while let (at, _) = self.ahead.segments.first()
            && at <= self.ahead.quiet_until
            && let Some(segment) = self.ahead.segments.pop()
        {
            self.ahead.waiting -= 1;
            self.events += 1;
            self.consume(at, &segment);
        }
    }

    /// Endpoints act in their own time: what the shortcut must equal.
    #[cfg(test)]
    pub(super) fn by_events(&mut self) {
        self.routes.act_ahead(&[], &[]);
        self.routes.lay_legs(&self.links);
    }
}
