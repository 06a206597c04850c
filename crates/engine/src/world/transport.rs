//! Transport endpoints at work: what they do with packets and timers, what they send.

use super::World;
use super::flow::Endpoints;
use super::routes::WIRED;
use crate::kernel::time::{Span, Time};
use crate::packet::{Ecn, Packet, PacketKind};
use crate::tcp::Ack;

impl World<'_> {
    /// A packet leaves a transport endpoint.
    #[inline]
    pub(super) fn emit(&mut self, now: Time, packet: Packet) {
        let first = self.routes.first(&packet);
        if first == WIRED {
            self.forward(now, packet);
        } else {
            self.offer(now, first, packet);
        }
    }

    /// A packet reaches the transport endpoint it is for.
    pub(super) fn consume(&mut self, now: Time, packet: &Packet) {
        let index = packet.flow as usize;
        let flow = &mut self.flows[index];
        match (&mut flow.endpoints, packet.kind) {
            (Endpoints::Tcp(tcp), PacketKind::Segment) => {
                let receiver = &mut tcp.1;
                let marked = packet.ecn == Ecn::Experienced;
                if marked || packet.echo {
                    receiver.on_marks(packet.echo, marked);
                }
                let received = receiver.on_segment(now, packet.number, packet.stamp);
                flow.counters.arrived += 1;
                flow.counters.delivered += u64::from(received.delivered);
                let timer = receiver.deadline();
                let ack = received.ack;
                let complete = receiver.expected() > flow.last;
                if let Some(reports) = &mut flow.reports {
                    reports.arrive_in_order(now, received.delivered);
                }
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
            (Endpoints::Tcp(tcp), PacketKind::Ack) => {
                flow.counters.acks_arrived += 1;
                // a duplicate ACK repeats the time of a segment that was acknowledged before
                if u64::from(packet.number) > tcp.0.acked() {
                    flow.counters.delay_ns += now.since(packet.stamp).0;
                    flow.counters.delay_samples += 1;
                }
                let ack = Ack {
                    next: packet.number,
                    echo: packet.stamp,
                    sack: packet.sack,
                    ece: packet.echo,
                };
                if tcp.0.uses_sack() {
                    let blocks = tcp.1.blocks(ack.sack);
                    tcp.0.on_sack(now, ack, &blocks);
                } else {
                    tcp.0.on_ack(now, ack);
                }
                if tcp.0.completed() && flow.finished_at.is_none() {
                    flow.finished_at = Some(now);
                }
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
        let flow = &mut self.flows[index as usize];
        flow.counters.acks_sent += 1;
        let packet = Packet {
            flow: index,
            number: ack.next,
            stamp: ack.echo,
            queued: now,
            bytes: flow.ack_bytes,
            hop: 0,
            kind: PacketKind::Ack,
            ecn: Ecn::NotCapable,
            echo: ack.ece,
            sack: ack.sack,
        };
        self.emit(now, packet);
    }

    /// Lets a TCP sender send all it may.
    pub(super) fn pump(&mut self, now: Time, index: usize) {
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
                    flow.cwnd_max = flow.cwnd_max.max(cwnd);
                }
                self.arm(self.slots.flow(index), timer);
                return;
            };
            flow.counters.sent += 1;
            flow.counters.retransmitted += u64::from(segment.retransmission);
            let packet = Packet {
                flow: index as u32,
                number: segment.number,
                stamp: now,
                queued: now,
                bytes: if segment.number == flow.last {
                    flow.last_bytes
                } else {
                    flow.data_bytes
                },
                hop: 0,
                kind: PacketKind::Segment,
                ecn: segment.ecn,
                echo: segment.cwr,
                sack: 0,
            };
            self.emit(now, packet);
        }
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
                    self.agenda.set(slot, Time::NEVER);
                    self.pump(now, index);
                    if self.flows[index].held_up {
                        self.take_held_up(index);
                    }
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
            Endpoints::Web(web) => {
                let web = *web;
                self.arrive_at_web(now, index, web);
            }
            Endpoints::Ping => {
                let next = self.vsb_event(now);
                self.agenda.set(slot, next);
            }
        }
    }

    pub(super) fn send_datagram(&mut self, now: Time, index: usize, number: u32) {
        let flow = &mut self.flows[index];
        let packet = flow.datagram(now, index as u32, number);
        self.emit(now, packet);
    }

    /// Greedy sources fill the queue of `contender`, in turn, up to its limit.
    pub(super) fn refill(&mut self, now: Time, contender: u32) {
        let port = &mut self.ports[contender as usize];
        while !port.queue.is_full(now) {
            let Some(&index) = port.greedy.first() else {
                return;
            };
            port.greedy.rotate_left(1);
            let flow = &mut self.flows[index as usize];
            let Endpoints::Udp(source) = &mut flow.endpoints else {
                unreachable!("only datagram sources are greedy")
            };
            let number = source.send();
            let mut packet = flow.datagram(now, index, number);
            packet.hop = u8::from(self.air.is_some()); // it has entered the first link of its route
            port.queue.offer(now, packet);
        }
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
                    self.ports[contender as usize].greedy.push(index);
                    self.begin_greedy(now, contender);
                } else {
                    self.arm(self.slots.flow(index as usize), due);
                }
            }
        }
    }

    fn begin_greedy(&mut self, now: Time, contender: u32) {
        let was_empty = self.ports[contender as usize].queue.head().is_none();
        self.refill(now, contender);
        let head = self.ports[contender as usize].queue.head().copied();
        if was_empty && let Some(packet) = head {
            self.serve(now, contender, &packet);
        }
    }
}
