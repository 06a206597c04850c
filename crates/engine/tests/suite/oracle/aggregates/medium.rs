//! The medium of a cell with aggregation, which every node hears.
//!
//! Events at the same instant are processed in this order: ends of frames, starts of frames after SIFS, ends of
//! countdowns, reorder time-outs (sorted by sender and receiver), arrivals (in the given order).
//! All nodes whose backoff counter expires at one instant send simultaneously.

mod exchange;

use std::collections::{BTreeMap, VecDeque};

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::{self, Category, ColliderWait, Scenario};

use super::super::air;
use super::super::contention::{Contender, Contention, Draws, Who};
use super::super::medium::Arrival;
use super::super::node::Packet;
use super::hop::Hop;
use super::receiver::Reordering;
use super::sender::{Sender, Sent};
use super::trace::{AggregateTrace, Attempt, Outcome};

/// Types of frames on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rts,
    Cts,
    /// A PPDU with MPDUs, or a BlockAckReq.
    Data,
    /// A MAC ACK, or a BlockAck.
    Response,
    CfEnd,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    end: Time,
    kind: Kind,
    /// Sender of the exchange to which the frame belongs, as an index in the medium's `senders`.
    owner: usize,
}

/// Event that occurs SIFS after a frame.
#[derive(Clone, Copy, Debug)]
enum Next {
    Frame(Frame),
    /// Start of this sender's next exchange in the same TXOP. The exchange is formed at that instant.
    Exchange(usize),
}

/// A cell with one sender for each node and access category.
pub struct Medium<'a> {
    scenario: &'a Scenario,
    draws: &'a mut dyn Draws,
    senders: Vec<Sender>,
    receivers: BTreeMap<(Who, u32), Reordering>,
    now: Time,
    on_air: Vec<Frame>,
    /// Whether the frames of this busy period are unreadable for all nodes except their senders.
    unreadable: bool,
    /// Time and type of the event after the present SIFS gap, if there is a gap.
    next: Option<(Time, Next)>,
    /// End of the NAV that the last RTS set.
    nav: Time,
    replies: u32,
    trace: AggregateTrace,
}

/// Runs a cell with `arrivals` (sorted by time) until no packet is left to send.
pub fn play(scenario: &Scenario, arrivals: &[Arrival], draws: &mut dyn Draws) -> AggregateTrace {
    let settings =
        std::iter::once(&scenario.bss[0].cell.ap).chain(scenario.stations.iter().map(|s| &s.node));
    let categories = |(settings, number): (&scenario::Node, u32)| {
        Category::ALL.map(|category| {
            let aifs = air::aifs(&scenario.bss[0].cell, settings.access(category));
            let (slot, rule) = (
                scenario.bss[0].cell.phy.slot,
                scenario.bss[0].cell.countdown,
            );
            let contender = Contender::new((number, category), settings, aifs, slot, rule);
            Sender::new(contender, settings.queue.limit_packets)
        })
    };
    let medium = Medium {
        scenario,
        draws,
        senders: settings.zip(0..).flat_map(categories).collect(),
        receivers: BTreeMap::new(),
        now: Time::ZERO,
        on_air: Vec::new(),
        unreadable: false,
        next: None,
        nav: Time::ZERO,
        replies: 0,
        trace: AggregateTrace::default(),
    };
    medium.run(arrivals.iter().copied().collect())
}

impl<'a> Medium<'a> {
    fn run(mut self, mut arrivals: VecDeque<Arrival>) -> AggregateTrace {
        loop {
            let frame_end = self.on_air.iter().map(|frame| frame.end).min();
            let next = self.next.map(|(at, _)| at);
            let timers = self
                .senders
                .iter()
                .map(|sender| sender.contender.deadline());
            let timer = timers.flatten().min();
            let time_out = self.first_time_out();
            let arrival = arrivals.front().map(|arrival| arrival.at);
            let all = [frame_end, next, timer, time_out.map(|(at, _)| at), arrival];
            let Some(now) = all.into_iter().flatten().min() else {
                break;
            };
            self.now = now;
            if frame_end == Some(now) {
                self.frames_end();
            } else if next == Some(now) {
                match self.next.take() {
                    Some((_, Next::Exchange(owner))) => self.follow(owner),
                    Some((_, Next::Frame(frame))) => self.on_air.push(frame),
                    None => unreachable!("it is due"),
                }
            } else if timer == Some(now) {
                self.countdowns();
            } else if let Some((at, flow)) = time_out
                && at == now
            {
                self.time_out(flow);
            } else {
                let Arrival { who, packet, .. } = arrivals.pop_front().expect("one is due");
                self.arrive(who, packet);
            }
        }
        for (&(_, to), receiver) in &self.receivers {
            let held = receiver.held().map(|packet| (to, packet.id));
            self.trace.held.extend(held);
        }
        self.trace
    }

    /// Returns the path from a sender to the receiver of its current or next exchange.
    fn hop(&self, owner: usize) -> Hop<'a> {
        let sender = &self.senders[owner];
        let on_air = sender.exchange.as_ref().map(|exchange| exchange.to);
        let to = on_air.or(sender.receiver()).expect("something to send");
        Hop::new(self.scenario, sender.who, to)
    }

    fn sifs(&self) -> Span {
        self.scenario.bss[0].cell.phy.sifs
    }

    /// Returns whether a frame is on the air or will follow after SIFS.
    fn busy(&self) -> bool {
        !self.on_air.is_empty() || self.next.is_some()
    }

    fn arrive(&mut self, who: Who, packet: Packet) {
        let own = |sender: &Sender| sender.who == who;
        let index = self.senders.iter().position(own);
        let index = index.expect("a node of the cell");
        let sender = &mut self.senders[index];
        let had_something = sender.has_something();
        if !sender.arrival(packet) {
            self.trace.refused.push((self.now, who, packet.id));
        } else if !had_something && sender.contender.has_something(self.draws) {
            self.send(&[index]);
        }
    }

    fn countdowns(&mut self) {
        let mut ready = Vec::new();
        for (index, sender) in self.senders.iter_mut().enumerate() {
            let something = sender.has_something();
            let contender = &mut sender.contender;
            if contender.deadline() == Some(self.now) && contender.count_down(something) {
                ready.push(index);
            }
        }
        if ready.is_empty() {
            return;
        }
        let who: Vec<Who> = ready.iter().map(|&index| self.senders[index].who).collect();
        let highest = |&index: &usize| {
            let (node, category) = self.senders[index].who;
            who.iter()
                .all(|other| other.0 != node || other.1 <= category)
        };
        let (sending, yielding): (Vec<usize>, Vec<usize>) = ready.into_iter().partition(highest);
        self.send(&sending);
        for index in yielding {
            let hop = self.hop(index);
            let sender = &mut self.senders[index];
            let failed = sender.contender.yields(self.draws);
            sender.yields(&hop, failed);
        }
    }

    /// Lets all these senders begin a TXOP, which succeeds if there is only one sender. All other nodes hear a busy
    /// medium.
    fn send(&mut self, sending: &[usize]) {
        self.unreadable = sending.len() > 1;
        self.nav = self.now;
        for &index in sending {
            let contender = &mut self.senders[index].contender;
            if !self.unreadable {
                contender.wins(self.now);
            }
            let ends = contender.limit_from(self.now);
            self.begin(index, true, ends);
        }
        for sender in &mut self.senders {
            sender.contender.medium_busy(sender.has_something());
        }
    }

    /// Begins the next exchange of the same TXOP.
    fn follow(&mut self, owner: usize) {
        let ends = self.senders[owner].contender.opportunity_ends();
        self.begin(owner, false, ends);
    }

    /// Lets a sender form an exchange and begin its first frame. `opens` is true for the first exchange of a TXOP,
    /// which lasts until `ends`.
    fn begin(&mut self, owner: usize, opens: bool, ends: Time) {
        let hop = self.hop(owner);
        let sender = &mut self.senders[owner];
        let who = sender.who;
        let exchange = sender.form(&hop, self.now, opens, ends);
        self.trace.attempts.push(Attempt {
            start: self.now,
            who,
            to: exchange.to,
            sent: exchange.sent.clone(),
            rts: exchange.rts,
            outcome: match self.unreadable {
                true => Outcome::Collided,
                false => Outcome::Received(Vec::new()),
            },
        });
        let kind = if exchange.rts { Kind::Rts } else { Kind::Data };
        self.on_air.push(self.frame(self.now, kind, owner));
    }

    fn frame(&self, begins: Time, kind: Kind, owner: usize) -> Frame {
        let exchange = self.senders[owner].exchange.as_ref();
        let exchange = exchange.expect("an exchange");
        let duration = match kind {
            Kind::Rts => self.hop(owner).rts(),
            Kind::Cts => self.hop(owner).cts(),
            Kind::Data => exchange.data,
            Kind::Response => exchange.response,
            Kind::CfEnd => unreachable!("no part of an exchange"),
        };
        let end = begins + duration;
        Frame { end, kind, owner }
    }

    fn frames_end(&mut self) {
        let now = self.now;
        let (ended, rest): (Vec<Frame>, Vec<Frame>) =
            self.on_air.iter().partition(|frame| frame.end == now);
        self.on_air = rest;
        let others_end = ended.len() > 1 || !self.on_air.is_empty();
        // EIFS depends on the frames that are still on the air, so that it is computed before the exchanges end.
        let leads = ended.iter().map(|frame| self.eifs_lead(frame));
        let lead = leads.max().expect("a frame has ended");
        for frame in ended {
            if self.unreadable {
                self.await_ack(frame, others_end);
            } else {
                self.good_frame(frame);
            }
        }
        if !self.busy() {
            self.medium_idle(lead.max(self.nav.since(now)));
        }
    }

    /// Returns the difference of EIFS and AIFS if this frame is the last frame of an unreadable busy period.
    fn eifs_lead(&self, frame: &Frame) -> Span {
        let Some(exchange) = &self.senders[frame.owner].exchange else {
            return Span::ZERO; // every node can read a CF-End frame
        };
        let is_control = frame.kind == Kind::Rts || exchange.sent == Sent::BlockAckReq;
        self.sifs() + self.hop(frame.owner).expected_response(is_control)
    }

    fn medium_idle(&mut self, eifs_lead: Span) {
        self.settle();
        let unreadable = std::mem::take(&mut self.unreadable);
        let lead = unreadable.then_some(eifs_lead);
        for index in 0..self.senders.len() {
            let state = self.senders[index].contender.state;
            let contender = &mut self.senders[index].contender;
            let Some(failed) = contender.medium_idle(self.now, lead, self.draws) else {
                continue;
            };
            let Contention::AwaitAck { after_cts, .. } = state else {
                unreachable!("nothing fails in {state:?}");
            };
            let hop = self.hop(index);
            let sender = &self.senders[index];
            let exchange = sender.exchange.as_ref().expect("an exchange");
            let had_data = after_cts || !exchange.rts;
            let expected = self.expected(sender.who, exchange.to);
            let given_up = self.senders[index].failed(&hop, failed, had_data, expected);
            self.give_up(index, given_up);
        }
    }

    /// Removes packets that were discarded in an internal collision.
    fn settle(&mut self) {
        for index in 0..self.senders.len() {
            let given_up = self.senders[index].settle();
            self.give_up(index, given_up);
        }
    }

    fn give_up(&mut self, owner: usize, packets: Vec<Packet>) {
        let who = self.senders[owner].who;
        let given_up = packets.iter().map(|packet| (self.now, who, packet.id));
        self.trace.given_up.extend(given_up);
    }

    /// Lets the frame's sender wait for a response that does not come. `others_end` says whether other frames end at
    /// this instant or later.
    fn await_ack(&mut self, frame: Frame, others_end: bool) {
        let cell = &self.scenario.bss[0].cell;
        let until = match cell.collider_wait {
            ColliderWait::Eifs if others_end => None,
            _ => cell.ack_timeout.map(|wait| self.now + wait),
        };
        let sender = &mut self.senders[frame.owner];
        let exchange = sender.exchange.as_ref().expect("an exchange");
        let after_cts = frame.kind == Kind::Data && exchange.rts;
        sender.contender.state = Contention::AwaitAck { until, after_cts };
    }
}
