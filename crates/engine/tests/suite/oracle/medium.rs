//! The medium that every node hears, frame by frame and slot by slot.
//!
//! Events at the same instant are processed in this order: ends of frames, ends of countdowns, arrivals (in the given
//! order). All nodes whose backoff counter expires at one instant send together. An arrival finds the medium busy if a
//! node has just begun to send.

use std::collections::VecDeque;

use lasthop_engine::kernel::time::Time;
use lasthop_engine::scenario::{self, Category, ColliderWait, Scenario};

use super::air;
use super::contention::{Contention, Draws, Who};
use super::node::{Node, Packet};

/// A packet that arrives at a node's queue from outside the cell.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub at: Time,
    pub who: Who,
    pub packet: Packet,
}

/// Outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Delivered,
    Collided,
    Corrupted,
}

/// One node's attempt to send one packet, including RTS and CTS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub start: Time,
    pub who: Who,
    pub packet: u32,
    pub rts: bool,
    pub retry: bool,
    pub outcome: Outcome,
}

/// All events of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub attempts: Vec<Attempt>,
    /// Packets delivered, as (end of the data frame, receiver, number of the packet).
    pub deliveries: Vec<(Time, u32, u32)>,
    /// Packets dropped at a full queue, as (time, sender, number of the packet).
    pub dropped: Vec<(Time, Who, u32)>,
    /// Packets discarded at the attempt limit, as (time, sender, number of the packet). The time is the end of the busy
    /// period of the last attempt. After an internal collision it is the end of the winner's data frame.
    pub discarded: Vec<(Time, Who, u32)>,
}

impl Trace {
    /// Returns the trace with simultaneous events sorted by node.
    pub fn in_order(mut self) -> Trace {
        self.attempts
            .sort_by_key(|attempt| (attempt.start, attempt.who));
        self.discarded.sort_unstable();
        self
    }
}

/// Types of frames on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rts,
    Cts,
    Data,
    Ack,
    CfEnd,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    end: Time,
    kind: Kind,
    /// Index of the sender of the packet to which the frame belongs, in the medium's `nodes`.
    owner: usize,
    packet: Packet,
}

/// A cell with one `Node` for each node and access category.
pub struct Medium<'a> {
    scenario: &'a Scenario,
    draws: &'a mut dyn Draws,
    nodes: Vec<Node>,
    on_air: Vec<Frame>,
    /// Whether the frames of this busy period are unreadable for all nodes except their senders.
    unreadable: bool,
    /// Whether the data frame on the air follows another data frame in the same TXOP.
    following: bool,
    /// Start of the frame after the present SIFS gap, and the frame; `None` outside such a gap.
    reply: Option<(Time, Frame)>,
    /// End of the NAV that the last RTS set. After a lost data frame, the sender of the RTS may transmit again before
    /// this time, if its time-out is shorter than a MAC ACK. The new transmission cancels the NAV.
    nav: Time,
    replies: u32,
    trace: Trace,
}

/// Id of the first packet that a receiver makes as a reply.
pub const FIRST_REPLY: u32 = 1_000_000;

/// Runs a cell with `arrivals` (sorted by time) until no packet is left to send.
pub fn play(scenario: &Scenario, arrivals: &[Arrival], draws: &mut dyn Draws) -> Trace {
    let settings =
        std::iter::once(&scenario.bss[0].cell.ap).chain(scenario.stations.iter().map(|s| &s.node));
    let categories = |(settings, number): (&scenario::Node, u32)| {
        Category::ALL.map(|category| {
            let aifs = air::aifs(&scenario.bss[0].cell, settings.access(category));
            let (slot, rule) = (
                scenario.bss[0].cell.phy.slot,
                scenario.bss[0].cell.countdown,
            );
            Node::new((number, category), settings, aifs, slot, rule)
        })
    };
    let nodes = settings.zip(0..).flat_map(categories).collect();
    let medium = Medium {
        scenario,
        draws,
        nodes,
        on_air: Vec::new(),
        unreadable: false,
        following: false,
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
            let timers = self.nodes.iter().map(|node| node.contender.deadline());
            let timer = timers.flatten().min();
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
                let Arrival { who, packet, .. } = arrivals.pop_front().expect("one is due");
                self.arrive(now, who, packet);
            }
        }
        self.trace
    }

    /// Returns whether a frame is on the air or will follow after SIFS.
    fn busy(&self) -> bool {
        !self.on_air.is_empty() || self.reply.is_some()
    }

    fn arrive(&mut self, now: Time, who: Who, packet: Packet) {
        let own = |node: &Node| node.who == who;
        let index = self.nodes.iter().position(own).expect("a node of the cell");
        let (room, at_once) = self.nodes[index].arrival(packet, self.draws);
        if !room {
            self.trace.dropped.push((now, who, packet.id));
        }
        if at_once {
            self.send(now, &[index]);
        }
    }

    fn countdowns(&mut self, now: Time) {
        let mut ready = Vec::new();
        for (index, node) in self.nodes.iter_mut().enumerate() {
            if node.contender.deadline() == Some(now) && node.count_down() {
                ready.push(index);
            }
        }
        if ready.is_empty() {
            return;
        }
        let who: Vec<Who> = ready.iter().map(|&index| self.nodes[index].who).collect();
        let highest = |&index: &usize| {
            let (node, category) = self.nodes[index].who;
            who.iter()
                .all(|other| other.0 != node || other.1 <= category)
        };
        let (senders, yielding): (Vec<usize>, Vec<usize>) = ready.into_iter().partition(highest);
        self.send(now, &senders);
        for index in yielding {
            self.nodes[index].yields(self.draws);
        }
    }

    /// Lets all `senders` begin their first frame; all other nodes hear the medium busy.
    fn send(&mut self, now: Time, senders: &[usize]) {
        self.unreadable = senders.len() > 1;
        self.following = false;
        if let [winner] = senders {
            self.nodes[*winner].contender.wins(now);
        }
        self.nav = now;
        for &index in senders {
            let node = &mut self.nodes[index];
            let head = node.queue.front();
            let packet = *head.expect("a node that transmits has a packet");
            let (who, retry) = (node.who, node.sends());
            let rts = self.uses_rts(packet);
            let kind = if rts { Kind::Rts } else { Kind::Data };
            self.on_air.push(self.frame(now, kind, index, packet));
            self.trace.attempts.push(Attempt {
                start: now,
                who,
                packet: packet.id,
                rts,
                retry,
                outcome: if self.unreadable {
                    Outcome::Collided
                } else {
                    Outcome::Delivered
                },
            });
        }
        self.nodes.iter_mut().for_each(Node::medium_busy);
    }

    fn frame(&self, now: Time, kind: Kind, owner: usize, packet: Packet) -> Frame {
        let (sender, _) = self.nodes[owner].who;
        let cell = &self.scenario.bss[0].cell;
        let station = &self.scenario.stations[sender.max(packet.to) as usize - 1];
        let (own, other, rate_bps) = if sender == 0 {
            (&cell.ap, &station.node, station.downlink_rate_bps)
        } else {
            (&station.node, &cell.ap, station.rate_bps)
        };
        let duration = match kind {
            Kind::Rts | Kind::CfEnd => {
                let rate_bps = air::control_rate(cell, own.control_rate_bps, rate_bps);
                air::frame(cell, air::RTS_BYTES, rate_bps)
            }
            Kind::Cts | Kind::Ack => {
                let rate_bps = air::control_rate(cell, other.control_rate_bps, rate_bps);
                air::frame(cell, air::ACK_BYTES, rate_bps)
            }
            Kind::Data => air::frame(cell, air::data_bytes(cell, packet.ip_bytes), rate_bps),
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
        let others_end = ended.len() > 1 || !self.on_air.is_empty();
        for frame in ended {
            if self.unreadable {
                self.await_ack(now, frame, others_end);
            } else {
                self.good_frame(now, frame);
            }
        }
        if !self.busy() {
            self.settle(now);
            let unreadable = std::mem::take(&mut self.unreadable);
            let eifs_lead = air::eifs_lead(&self.scenario.bss[0].cell).max(self.nav.since(now));
            let lead = unreadable.then_some(eifs_lead);
            for node in &mut self.nodes {
                if let Some(packet) = node.medium_idle(now, lead, self.draws) {
                    self.trace.discarded.push((now, node.who, packet.id));
                }
            }
        }
    }

    /// Removes the packets that were discarded in an internal collision from their queues, and records them in the
    /// trace.
    fn settle(&mut self, now: Time) {
        for node in &mut self.nodes {
            if let Some(packet) = node.settle() {
                self.trace.discarded.push((now, node.who, packet.id));
            }
        }
    }

    /// Lets the frame's sender wait for a MAC ACK that does not come. `others_end` says whether other frames end at
    /// this instant or later.
    fn await_ack(&mut self, now: Time, frame: Frame, others_end: bool) {
        let cell = &self.scenario.bss[0].cell;
        let until = match cell.collider_wait {
            ColliderWait::Eifs if others_end => None,
            _ => cell.ack_timeout.map(|wait| now + wait),
        };
        let protected = !self.following && self.uses_rts(frame.packet);
        let after_cts = frame.kind == Kind::Data && protected;
        self.nodes[frame.owner].contender.state = Contention::AwaitAck { until, after_cts };
    }

    fn uses_rts(&self, packet: Packet) -> bool {
        let cell = &self.scenario.bss[0].cell;
        let bytes = air::data_bytes(cell, packet.ip_bytes);
        cell.rts_threshold_bytes.is_some_and(|most| bytes > most)
    }

    /// Handles the end of a frame that did not collide.
    fn good_frame(&mut self, now: Time, frame: Frame) {
        let Frame { owner, packet, .. } = frame;
        let next = match frame.kind {
            Kind::Rts => {
                let begins = now + self.scenario.bss[0].cell.phy.sifs;
                let answer = |kind| self.frame(begins, kind, owner, packet).end.since(now);
                self.nav = now + answer(Kind::Cts) + answer(Kind::Data) + answer(Kind::Ack);
                Kind::Cts
            }
            Kind::Cts => Kind::Data,
            Kind::Data if self.draws.corrupted(self.nodes[owner].who, packet.to) => {
                let attempt = self
                    .trace
                    .attempts
                    .last_mut()
                    .expect("the frame on the air");
                attempt.outcome = Outcome::Corrupted;
                self.unreadable = true;
                self.await_ack(now, frame, false);
                return;
            }
            Kind::Data => {
                self.trace.deliveries.push((now, packet.to, packet.id));
                self.settle(now);
                Kind::Ack
            }
            Kind::Ack => {
                self.nodes[owner].acknowledged(self.draws);
                if !self.goes_on(now, owner) {
                    self.close(now, owner, packet);
                }
                return;
            }
            Kind::CfEnd => return,
        };
        let begins = now + self.scenario.bss[0].cell.phy.sifs;
        self.reply = Some((begins, self.frame(begins, next, owner, packet)));
        if let (Kind::Data, Some(ip_bytes)) = (frame.kind, packet.reply_bytes) {
            let id = FIRST_REPLY + self.replies;
            self.replies += 1;
            // The receiver replies: a station to the access point, or the access point to the station.
            let (to, category) = self.nodes[owner].who;
            let reply = Packet {
                id,
                to,
                ip_bytes,
                reply_bytes: None,
            };
            self.arrive(now, (packet.to, category), reply);
        }
    }

    /// Returns, after the MAC ACK, whether the next packet of `owner` follows after SIFS without RTS. The packet
    /// follows if the TXOP lasts long enough.
    fn goes_on(&mut self, now: Time, owner: usize) -> bool {
        let Some(&packet) = self.nodes[owner].queue.front() else {
            return false;
        };
        let sifs = self.scenario.bss[0].cell.phy.sifs;
        let data = self.frame(now + sifs, Kind::Data, owner, packet);
        let ack = self.frame(data.end + sifs, Kind::Ack, owner, packet);
        let node = &mut self.nodes[owner];
        if !node.contender.goes_on(ack.end) {
            return false;
        }
        self.following = true;
        self.reply = Some((now + sifs, data));
        self.trace.attempts.push(Attempt {
            start: now + sifs,
            who: node.who,
            packet: packet.id,
            rts: false,
            retry: node.sends(),
            outcome: Outcome::Delivered,
        });
        true
    }

    /// Sends a CF-End frame after the MAC ACK for `packet`, the last packet of its TXOP, at the rate of an RTS to the
    /// same receiver.
    fn close(&mut self, now: Time, owner: usize, packet: Packet) {
        let begins = now + self.scenario.bss[0].cell.phy.sifs;
        let cf_end = self.frame(begins, Kind::CfEnd, owner, packet);
        if self.scenario.bss[0].cell.cf_end && self.nodes[owner].contender.closes(cf_end.end) {
            self.reply = Some((begins, cf_end));
        }
    }
}
