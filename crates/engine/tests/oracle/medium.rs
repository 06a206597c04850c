//! The medium that every node hears, frame by frame and slot by slot.
//!
//! Order of events at one instant: frames end; countdowns, and all nodes whose counters run out
//! send together; arrivals in the order given, which find the medium busy if someone has just
//! begun to send.

use std::collections::VecDeque;

use lasthop_engine::kernel::time::Time;
use lasthop_engine::scenario::Scenario;

use crate::air;
use crate::node::{Contention, Draws, Node, Packet};

/// A packet that comes to a node's queue from outside the cell.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub at: Time,
    pub node: u32,
    pub packet: Packet,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    Collided,
    Corrupted,
}

/// One node's attempt to send one packet, RTS/CTS included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub start: Time,
    pub node: u32,
    pub packet: u32,
    pub rts: bool,
    pub retry: bool,
    pub outcome: Outcome,
}

/// Everything that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub attempts: Vec<Attempt>,
    /// End of the data frame, receiver, packet.
    pub deliveries: Vec<(Time, u32, u32)>,
    /// Packets that found the queue full: instant, node, packet.
    pub dropped: Vec<(Time, u32, u32)>,
    /// Packets given up at the attempt limit: end of the last attempt's busy period, node, packet.
    pub discarded: Vec<(Time, u32, u32)>,
}

impl Trace {
    /// The same with what happens at one instant in order of nodes.
    pub fn in_order(mut self) -> Trace {
        self.attempts
            .sort_by_key(|attempt| (attempt.start, attempt.node));
        self.discarded.sort_unstable();
        self
    }
}

/// Frames on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rts,
    Cts,
    Data,
    Ack,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    end: Time,
    kind: Kind,
    /// The node whose packet this is about.
    owner: u32,
    packet: Packet,
}

/// A cell of nodes, 0 the access point, 1.. the stations.
pub struct Medium<'a> {
    scenario: &'a Scenario,
    draws: &'a mut dyn Draws,
    nodes: Vec<Node>,
    on_air: Vec<Frame>,
    /// Nobody but their senders can read the frames of this busy period.
    unreadable: bool,
    /// A SIFS gap: this frame begins then.
    reply: Option<(Time, Frame)>,
    /// Until when the last RTS has reserved the medium. Its own sender, after a time-out shorter
    /// than a MAC ACK, may send within; the reservation is then forgotten.
    nav: Time,
    replies: u32,
    trace: Trace,
}

/// Id of the first packet that a receiver makes as a reply.
pub const FIRST_REPLY: u32 = 1_000_000;

/// Plays `arrivals` (in order of time) to a cell until nothing is left to send.
pub fn play(scenario: &Scenario, arrivals: &[Arrival], draws: &mut dyn Draws) -> Trace {
    let accesses =
        std::iter::once(&scenario.cell.ap).chain(scenario.stations.iter().map(|s| &s.node));
    let nodes = accesses
        .zip(0..)
        .map(|(access, index)| {
            Node::new(
                index,
                access,
                air::aifs(&scenario.cell, access),
                scenario.cell.phy.slot,
            )
        })
        .collect();
    let medium = Medium {
        scenario,
        draws,
        nodes,
        on_air: Vec::new(),
        unreadable: false,
        reply: None,
        nav: Time::ZERO,
        replies: 0,
        trace: Trace::default(),
    };
    medium.run(arrivals.iter().copied().collect())
}

impl Medium<'_> {
    fn run(mut self, mut arrivals: VecDeque<Arrival>) -> Trace {
        loop {
            let frame_end = self.on_air.iter().map(|frame| frame.end).min();
            let reply = self.reply.map(|(at, _)| at);
            let timer = self.nodes.iter().filter_map(Node::deadline).min();
            let arrival = arrivals.front().map(|arrival| arrival.at);
            let Some(now) = [frame_end, reply, timer, arrival]
                .into_iter()
                .flatten()
                .min()
            else {
                break;
            };
            if frame_end == Some(now) {
                self.frames_end(now);
            } else if reply == Some(now) {
                let (_, frame) = self.reply.take().expect("a reply is due");
                self.on_air.push(frame);
            } else if timer == Some(now) {
                self.countdowns(now);
            } else {
                let Arrival { node, packet, .. } = arrivals.pop_front().expect("one is due");
                self.arrive(now, node, packet);
            }
        }
        self.trace
    }

    /// Whether a frame is on the air or about to follow SIFS after one.
    fn busy(&self) -> bool {
        !self.on_air.is_empty() || self.reply.is_some()
    }

    fn arrive(&mut self, now: Time, node: u32, packet: Packet) {
        let (room, at_once) = self.nodes[node as usize].arrival(packet, self.draws);
        if !room {
            self.trace.dropped.push((now, node, packet.id));
        }
        if at_once {
            self.send(now, &[node]);
        }
    }

    fn countdowns(&mut self, now: Time) {
        let mut senders = Vec::new();
        for (node, index) in self.nodes.iter_mut().zip(0..) {
            if node.deadline() == Some(now) && node.count_down() {
                senders.push(index);
            }
        }
        if !senders.is_empty() {
            self.send(now, &senders);
        }
    }

    /// All `senders` begin their first frame; everyone else hears it.
    fn send(&mut self, now: Time, senders: &[u32]) {
        self.unreadable = senders.len() > 1;
        self.nav = now;
        for &index in senders {
            let node = &self.nodes[index as usize];
            let packet = *node
                .queue
                .front()
                .expect("a node that transmits has a packet");
            let rts = self.uses_rts(packet);
            let kind = if rts { Kind::Rts } else { Kind::Data };
            self.on_air.push(self.frame(now, kind, index, packet));
            self.trace.attempts.push(Attempt {
                start: now,
                node: index,
                packet: packet.id,
                rts,
                retry: node.retries(),
                outcome: if self.unreadable {
                    Outcome::Collided
                } else {
                    Outcome::Delivered
                },
            });
        }
        self.nodes.iter_mut().for_each(Node::medium_busy);
    }

    fn frame(&self, now: Time, kind: Kind, owner: u32, packet: Packet) -> Frame {
        let cell = &self.scenario.cell;
        let control = |node: u32| match node {
            0 => cell.ap.control_rate_bps,
            _ => {
                self.scenario.stations[node as usize - 1]
                    .node
                    .control_rate_bps
            }
        };
        let duration = match kind {
            Kind::Rts => air::frame(cell, air::RTS_BYTES, control(owner)),
            Kind::Cts | Kind::Ack => air::frame(cell, air::ACK_BYTES, control(packet.to)),
            Kind::Data => {
                let rate_bps = if owner == 0 {
                    self.scenario.stations[packet.to as usize - 1].downlink_rate_bps
                } else {
                    self.scenario.stations[owner as usize - 1].rate_bps
                };
                air::frame(cell, air::data_bytes(cell, packet.ip_bytes), rate_bps)
            }
        };
        Frame {
            end: now + duration,
            kind,
            owner,
            packet,
        }
    }

    fn frames_end(&mut self, now: Time) {
        let (ended, rest): (Vec<Frame>, Vec<Frame>) =
            self.on_air.iter().partition(|frame| frame.end == now);
        self.on_air = rest;
        for frame in ended {
            if self.unreadable {
                self.await_ack(now, frame);
            } else {
                self.good_frame(now, frame);
            }
        }
        if !self.busy() {
            let unreadable = std::mem::take(&mut self.unreadable);
            let eifs_lead = air::eifs_lead(&self.scenario.cell).max(self.nav.since(now));
            let lead = unreadable.then_some(eifs_lead);
            for (node, index) in self.nodes.iter_mut().zip(0..) {
                if let Some(packet) = node.medium_idle(now, lead, self.draws) {
                    self.trace.discarded.push((now, index, packet.id));
                }
            }
        }
    }

    fn await_ack(&mut self, now: Time, frame: Frame) {
        let until = self.scenario.cell.ack_timeout.map(|wait| now + wait);
        let after_cts = frame.kind == Kind::Data && self.uses_rts(frame.packet);
        self.nodes[frame.owner as usize].contention = Contention::AwaitAck { until, after_cts };
    }

    fn uses_rts(&self, packet: Packet) -> bool {
        let cell = &self.scenario.cell;
        let bytes = air::data_bytes(cell, packet.ip_bytes);
        cell.rts_threshold_bytes.is_some_and(|most| bytes > most)
    }

    /// A frame that did not collide ends.
    fn good_frame(&mut self, now: Time, frame: Frame) {
        let Frame { owner, packet, .. } = frame;
        let next = match frame.kind {
            Kind::Rts => {
                let begins = now + self.scenario.cell.phy.sifs;
                let answer = |kind| self.frame(begins, kind, owner, packet).end.since(now);
                self.nav = now + answer(Kind::Cts) + answer(Kind::Data) + answer(Kind::Ack);
                Kind::Cts
            }
            Kind::Cts => Kind::Data,
            Kind::Data if self.draws.corrupted(owner, packet.to) => {
                let attempt = self
                    .trace
                    .attempts
                    .last_mut()
                    .expect("the frame on the air");
                attempt.outcome = Outcome::Corrupted;
                self.unreadable = true;
                self.await_ack(now, frame);
                return;
            }
            Kind::Data => {
                self.trace.deliveries.push((now, packet.to, packet.id));
                Kind::Ack
            }
            Kind::Ack => {
                self.nodes[owner as usize].acknowledged(self.draws);
                return;
            }
        };
        let begins = now + self.scenario.cell.phy.sifs;
        self.reply = Some((begins, self.frame(begins, next, owner, packet)));
        if let (Kind::Data, Some(ip_bytes)) = (frame.kind, packet.reply_bytes) {
            let id = FIRST_REPLY + self.replies;
            self.replies += 1;
            // A station answers the access point, and the access point the station.
            self.arrive(
                now,
                packet.to,
                Packet {
                    id,
                    to: owner,
                    ip_bytes,
                    reply_bytes: None,
                },
            );
        }
    }
}
