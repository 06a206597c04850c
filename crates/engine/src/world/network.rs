//! The flows, wires and clock of a simulation: all state except the radio channel and the
//! controllers.
//!
//! The events of endpoints are processed in this module. The functions return which packets the
//! endpoint sends next ([`Wants`]), because this module has no access to the radio channel.
//!
//! | content | module |
//! |---|---|
//! | reaction of an endpoint to a packet, a timer, a start or a stop | this module |
//! | ACKs with a processing time, replies to pings | [`super::acks`] |
//! | reports of sensors, writes of applications | [`super::reports`] |
//! | pings of flows | [`super::pinger`] |
//! | calls whose video adapts | [`super::videos`] |
//! | greedy sources | [`super::filling`] |
//! | connections of web sources | [`super::connections`] |
//! | lookahead of packets and endpoints | [`super::lookahead`] |

use super::clock::Clock;
use super::flow::{Endpoints, SegmentArrival, is_marked};
use super::flows::Flows;
use super::numbers::Owner;
use super::step::{Delivery, Wants};
use super::wires::Wires;
use crate::kernel::time::{Span, Time};
use crate::packet::{Packet, PacketKind};

/// The flows, wires and clock of a simulation.
pub(super) struct Network {
    pub(super) clock: Clock,
    pub(super) wires: Wires,
    pub(super) flows: Flows,
}

impl Network {
    /// Delivers a packet to its endpoint. If the endpoint sends packets in response, `packet` becomes
    /// the first of them.
    #[inline(always)]
    pub(super) fn take(&mut self, now: Time, packet: &mut Packet) -> Delivery {
        let flow = &mut self.flows.states[packet.flow as usize];
        let Endpoints::Tcp(_) = flow.endpoints else {
            return self.take_without_connection(now, packet);
        };
        match packet.kind {
            PacketKind::Segment if is_marked(packet) => self.take_marked_segment(now, packet),
            PacketKind::Segment => {
                let arrival = flow.receive(now, packet);
                self.respond(now, packet, arrival)
            }
            PacketKind::Ack | PacketKind::SynAck => {
                flow.take_ack(now, packet);
                match flow.next_packet(now, packet.flow) {
                    Some(segment) => {
                        *packet = segment;
                        Delivery::WindowOpened
                    }
                    None => {
                        self.has_sent(now, packet.flow as usize);
                        Delivery::Consumed
                    }
                }
            }
            PacketKind::Syn => {
                flow.answer_syn(now, packet);
                Delivery::Acked
            }
            PacketKind::Datagram | PacketKind::EchoReply => {
                unreachable!("a TCP flow sends segments and ACKs only")
            }
        }
    }

    /// Delivers a segment with a CE mark or with ECN flags in its TCP header, like
    /// [`Network::take`].
    #[cold]
    #[inline(never)]
    fn take_marked_segment(&mut self, now: Time, packet: &mut Packet) -> Delivery {
        let flow = &mut self.flows.states[packet.flow as usize];
        let arrival = flow.take_marked_segment(now, packet);
        self.respond(now, packet, arrival)
    }

    /// Completes the delivery of a segment. If the receiver sends an ACK now, the ACK replaces
    /// `packet`.
    #[inline(always)]
    fn respond(&mut self, now: Time, packet: &mut Packet, arrival: SegmentArrival) -> Delivery {
        let number = packet.flow;
        let index = number as usize;
        if arrival.deadline < Time::NEVER {
            self.clock.arm(Owner::Receiver(index), arrival.deadline);
        }
        let flow = &mut self.flows.states[index];
        let delivery = match arrival.ack {
            None => Delivery::Consumed,
            Some(ack) if flow.ack_processing > Span::ZERO => {
                self.make_ack_later(now, number, ack);
                Delivery::Consumed
            }
            Some(ack) => {
                *packet = flow.ack(now, number, ack);
                Delivery::Acked
            }
        };
        if arrival.is_complete {
            self.message_arrived(now, index);
        }
        delivery
    }

    /// Delivers a packet of a flow that is not a TCP connection, like [`Network::take`].
    #[inline(never)]
    fn take_without_connection(&mut self, now: Time, packet: &mut Packet) -> Delivery {
        let flow = &mut self.flows.states[packet.flow as usize];
        match (&flow.endpoints, packet.kind) {
            (Endpoints::Udp(_), _) => {
                let before = flow.video_deadline();
                flow.take_datagram(now, packet);
                if let Some(before) = before {
                    self.reschedule(packet.flow, before);
                }
                Delivery::Consumed
            }
            (Endpoints::Pinger(_), _) => flow.take_echo(now, packet),
            (Endpoints::Ping, PacketKind::Ack) => {
                flow.counters.acks_arrived += 1;
                Delivery::PingReply
            }
            (Endpoints::Ping, _) => {
                flow.counters.arrived += 1;
                self.take_ping(now, packet)
            }
            (Endpoints::Hosts, _) => {
                flow.count_arrival(packet);
                self.flows.hosts.take(now, packet);
                Delivery::Consumed
            }
            (Endpoints::Tcp(_), _) => unreachable!("`take` delivers the packets of connections"),
            (Endpoints::Web(_), _) => unreachable!("packets are of a web source's connections"),
        }
    }

    /// Updates the state of flow `index` after its TCP sender has sent all segments that it may
    /// send.
    #[inline(always)]
    pub(super) fn has_sent(&mut self, now: Time, index: usize) {
        if self.flows.states[index].has_sent(now) {
            self.rearm(index);
        }
    }

    /// Updates the agenda with the timer deadline of the sender of flow `index`.
    #[inline]
    pub(super) fn rearm(&mut self, index: usize) {
        if let Endpoints::Tcp(tcp) = &self.flows.states[index].endpoints {
            let deadline = tcp.0.deadline();
            self.set_timer(index, deadline);
        }
    }

    /// Sets the deadline of the sender of flow `index` in the agenda.
    #[inline(never)]
    pub(super) fn set_timer(&mut self, index: usize, deadline: Time) {
        self.flows.states[index].timer = self.clock.reset(Owner::Sender(index), deadline);
    }

    /// Processes the deadline of flow `index`'s receiver in the agenda. Either the receiver's timer
    /// expires now, or the receiver has moved its timer to a later time.
    pub(super) fn receiver_timer(&mut self, now: Time, index: usize) -> Wants {
        let receiver = &mut self.flows.states[index].tcp().1;
        let ack = match receiver.deadline() <= now {
            true => receiver.on_timer(now),
            false => None,
        };
        self.clock.set(Owner::Receiver(index), receiver.deadline());
        let ack = ack.and_then(|ack| self.make_ack(now, index as u32, ack));
        ack.map_or(Wants::Nothing, Wants::Packet)
    }

    /// Processes the deadline of flow `index`'s source in the agenda. Either the source's timer
    /// expires now, or the source has moved its timer to a later time. The timer of pings is
    /// processed elsewhere.
    pub(super) fn sender_timer(&mut self, now: Time, index: usize) -> Wants {
        if self.flows.states[index].last != u32::MAX
            && let Some(wants) = self.serve_web(now, index)
        {
            return wants;
        }
        match &mut self.flows.states[index].endpoints {
            Endpoints::Tcp(tcp) => {
                let deadline = tcp.0.deadline();
                if deadline > now {
                    self.set_timer(index, deadline);
                    return Wants::Nothing;
                }
                tcp.0.on_timer(now);
                // the deadline in the agenda is replaced after the sender has sent its segments:
                // see `timer_expired`
                self.flows.states[index].timer = Time::NEVER;
                Wants::All(index)
            }
            Endpoints::Udp(udp) => {
                let source = &mut udp.0;
                if source.is_greedy() {
                    return self.greedy_timer(now, index);
                }
                let number = source.send();
                let next = source.deadline();
                self.set_timer(index, next);
                Wants::Packet(self.flows.states[index].datagram(now, index as u32, number))
            }
            &mut Endpoints::Web(web) => self.arrive_at_web(now, index, web),
            Endpoints::Pinger(_) => self.send_echo(now, index),
            Endpoints::Ping | Endpoints::Hosts => Wants::Nothing,
        }
    }

    /// Removes the deadline of the sender of flow `index` from the agenda, after its timer has
    /// expired, unless the sender has set a new deadline.
    #[inline]
    pub(super) fn timer_expired(&mut self, index: usize) {
        if self.flows.states[index].timer == Time::NEVER {
            self.clock.set(Owner::Sender(index), Time::NEVER);
        }
    }

    /// Starts flow `index`.
    pub(super) fn start(&mut self, now: Time, index: usize) -> Wants {
        let flow = &mut self.flows.states[index];
        flow.started_at = now;
        if flow.application.is_some() {
            return self.start_application(now, index);
        }
        match &mut flow.endpoints {
            // the bottleneck and external hosts are not started by the schedule
            Endpoints::Ping | Endpoints::Hosts => Wants::Nothing,
            &mut Endpoints::Web(web) => {
                let sources = &mut self.flows.webs.sources[web as usize];
                if sources.outside.is_some() {
                    return Wants::Nothing;
                }
                sources.source.open(now);
                self.arrive_at_web(now, index, web)
            }
            Endpoints::Pinger(pinger) => {
                pinger.open(now);
                let due = pinger.deadline();
                self.set_timer(index, due);
                Wants::Nothing
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
                if source.is_greedy() {
                    return self.start_greedy(now, index);
                }
                let due = source.deadline().min(flow.timer);
                self.set_timer(index, due);
                Wants::Nothing
            }
        }
    }

    /// Stops flow `index`: it sends no new data from now on.
    pub(super) fn stop(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows.states[index];
        if let Some(application) = &mut flow.application {
            let keeps_connection = application.keeps_connection();
            self.stop_application(index);
            if keeps_connection {
                return;
            }
        }
        let flow = &mut self.flows.states[index];
        match &mut flow.endpoints {
            // pings and external hosts are not stopped by the schedule
            Endpoints::Ping | Endpoints::Hosts => {}
            Endpoints::Tcp(tcp) => {
                tcp.0.close();
                flow.note_end(now);
                flow.note_limit(now);
            }
            Endpoints::Web(web) => self.flows.webs.sources[*web as usize].source.close(),
            Endpoints::Pinger(pinger) => {
                pinger.close();
                flow.ended_at = now;
            }
            Endpoints::Udp(udp) => {
                flow.ended_at = now;
                if udp.0.is_greedy() {
                    self.stop_greedy(now, index);
                } else {
                    udp.0.close();
                }
            }
        }
    }

    /// Updates the deadline of link number `link` in the agenda, after a packet has arrived or
    /// left. Each departure from this link is an event.
    pub(super) fn attend(&mut self, link: usize) {
        self.settle_link(self.clock.now, link);
        let deadline = self.wires.links[link].link.deadline();
        self.clock.set(Owner::Link(link), deadline);
    }

    /// Counts the packets that link number `link` has lost by `now`.
    pub(super) fn settle_link(&mut self, now: Time, link: usize) {
        while let Some(packet) = self.wires.links[link].link.settle(now) {
            self.flows.lose(&packet);
        }
    }

    /// Counts the packets that all links have lost by `now`.
    pub(super) fn settle(&mut self, now: Time) {
        (0..self.wires.links.len()).for_each(|link| self.settle_link(now, link));
    }
}
