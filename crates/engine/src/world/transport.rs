//! Transport endpoints at work: what they do with packets and timers, what they send.

use super::World;
use super::flow::Endpoints;
use super::routes::WIRED;
use crate::kernel::time::{Span, Time};
use crate::packet::{Packet, PacketKind};
use crate::tcp::Ack;

impl World<'_> {
    /// A packet leaves a transport endpoint.
    #[inline]
    pub(super) fn emit(&mut self, now: Time, packet: Packet) {
        let first = self.routes.first(&packet);
        if first == WIRED {
            self.forward(now, packet);
        } else {
            self.offer(now, first, &packet);
        }
    }

    /// A packet reaches the transport endpoint it is for.
    #[inline(never)]
    pub(super) fn consume(&mut self, now: Time, packet: &Packet) {
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        match (&flow.endpoints, packet.kind) {
            (Endpoints::Tcp(_), PacketKind::Segment) => {
                let ack = flow.take_segment(now, packet);
                let receiver = &flow.tcp().1;
                let timer = receiver.deadline();
                let complete = receiver.expected() > flow.last;
                if timer < Time::NEVER {
                    self.arm(self.slots.flow(index) + 1, timer);
                }
                if let Some(ack) = ack {
                    self.make_ack(now, packet.flow, ack);
                }
                if complete {
                    self.message_arrived(now, index);
                }
            }
            (Endpoints::Tcp(_), PacketKind::Ack) => {
                flow.take_ack(now, packet);
                self.pump(now, index);
            }
            (Endpoints::Udp(_), _) => {
                flow.counters.arrived += 1;
                flow.counters.delivered += 1;
                flow.counters.delay_ns += now.since(packet.stamp).0;
                flow.counters.delay_samples += 1;
                if let Some(reports) = &mut flow.reports {
                    reports.arrive(now, packet.number);
                }
            }
            (Endpoints::Tcp(_), PacketKind::Datagram) => {
                unreachable!("a TCP flow sends no datagrams")
            }
            (Endpoints::Ping, _) => self.pinged(now, packet),
            (Endpoints::Web(_), _) => unreachable!("packets are of a web source's connections"),
        }
    }

    /// A segment calls for an ACK, which takes the flow's processing time to make.
    #[inline(always)]
    fn make_ack(&mut self, now: Time, index: u32, ack: Ack) {
        let processing = self.flows[index as usize].ack_processing;
        if processing == Span::ZERO {
            self.acknowledge(now, index, ack);
        } else {
            self.delay_ack(now + processing, index, ack);
        }
    }

    fn delay_ack(&mut self, at: Time, index: u32, ack: Ack) {
        self.acks.insert((at, self.acks_made), (index, ack));
        self.acks_made += 1;
        self.arm(self.slots.acks(), at);
    }

    /// The earliest ACK in the making is made.
    pub(super) fn made_ack_event(&mut self, now: Time) {
        let made = self.acks.pop_first();
        let next = self
            .acks
            .first_key_value()
            .map_or(Time::NEVER, |(&(at, _), _)| at);
        self.agenda.set(self.slots.acks(), next);
        if let Some((_, (index, ack))) = made {
            self.acknowledge(now, index, ack);
        }
    }

    #[inline(always)]
    fn acknowledge(&mut self, now: Time, index: u32, ack: Ack) {
        let packet = self.flows[index as usize].ack(now, index, ack);
        self.emit(now, packet);
    }

    /// Lets a TCP sender send all it may.
    pub(super) fn pump(&mut self, now: Time, index: usize) {
        if !matches!(self.flows[index].endpoints, Endpoints::Tcp(_)) {
            return;
        }
        while let Some(packet) = self.flows[index].next_packet(now, index as u32) {
            self.emit(now, packet);
        }
        if self.flows[index].has_sent(now) {
            self.rearm(index);
        }
    }

    /// Sets the timer of the sender of flow `index` in the agenda.
    #[inline(never)]
    pub(super) fn set_timer(&mut self, index: usize, deadline: Time) {
        let slot = self.slots.flow(index);
        self.agenda.set(slot, deadline);
        self.flows[index].timer = self.agenda.deadline(slot);
    }

    /// Lazy timers: only a deadline earlier than the pending one moves it.
    #[inline]
    fn arm(&mut self, slot: usize, deadline: Time) {
        if deadline < self.agenda.deadline(slot) {
            self.agenda.set(slot, deadline);
        }
    }

    pub(super) fn timer_event(&mut self, now: Time, slot: usize) {
        let (index, receiver) = self.slots.timer(slot);
        if !receiver && self.flows[index].last != u32::MAX && self.serve_web(now, index) {
            return;
        }
        let flow = &mut self.flows[index];
        match &mut flow.endpoints {
            Endpoints::Tcp(tcp) if receiver => {
                let due = tcp.1.deadline();
                let ack = if due <= now {
                    tcp.1.on_timer(now)
                } else {
                    None
                };
                let next = tcp.1.deadline();
                self.agenda.set(slot, next);
                if let Some(ack) = ack {
                    self.make_ack(now, index as u32, ack);
                }
            }
            Endpoints::Tcp(tcp) => {
                if tcp.0.deadline() <= now {
                    tcp.0.on_timer(now);
                    self.set_timer(index, Time::NEVER);
                    self.pump(now, index);
                    if self.flows[index].held_up {
                        self.take_held_up(index);
                    }
                } else {
                    let next = tcp.0.deadline();
                    self.set_timer(index, next);
                }
            }
            Endpoints::Udp(source) => {
                let number = source.send();
                let next = source.deadline();
                self.set_timer(index, next);
                self.send_datagram(now, index, number);
            }
            Endpoints::Web(web) => {
                let web = *web;
                self.arrive_at_web(now, index, web);
            }
            Endpoints::Ping => {
                let next = self.ping_event(now);
                self.set_timer(index, next);
            }
        }
    }

    pub(super) fn send_datagram(&mut self, now: Time, index: usize, number: u32) {
        let flow = &mut self.flows[index];
        let packet = flow.datagram(now, index as u32, number);
        self.emit(now, packet);
    }

    pub(super) fn start_flow(&mut self, now: Time, index: u32) {
        let flow = &mut self.flows[index as usize];
        flow.started_at = now;
        if flow.reports.is_some() {
            return self.start_reports(now, index);
        }
        match &mut flow.endpoints {
            Endpoints::Ping => {} // the bottleneck has a time of its own
            Endpoints::Web(web) => {
                let web = *web;
                self.start_web(now, index as usize, web);
            }
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
                    let contender = self.routes.on_air(index, self.links.len());
                    self.greedy[contender as usize].push(index);
                    self.fill(now, contender);
                } else {
                    self.set_timer(index as usize, due.min(self.flows[index as usize].timer));
                }
            }
        }
    }
}
