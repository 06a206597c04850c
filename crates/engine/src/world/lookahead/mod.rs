//! Lookahead: arrivals at links and endpoints are processed before the simulation reaches their
//! time.
//!
//! The term comes from parallel discrete-event simulation: an event may be processed early if no
//! other event can change its effect. If the arrival of a packet at its endpoint is known in
//! advance ([`eligibility`]), the reaction of the endpoint is computed immediately. A segment
//! causes an ACK, which moves on; an ACK lets the sender send more segments. A round trip through
//! one bottleneck then needs only one event, the arrival at the bottleneck:
//!
//! ```text
//!   now      +access        +bottleneck, +delay     +delays        +host's link
//!    | event    \ travel          \ reach              \ take_ack      \ carried
//!    v           v                 v                    v               v
//!  entry ---> BOTTLENECK ------> receiver -- ACK ---> sender -- segments ---> next event: their entry
//! ```
//!
//! Each arrival is counted as one event, as without lookahead. Results are the same as without
//! lookahead, which the tests check by comparison with `by_events`. The reasons are:
//!
//! - The packets of an endpoint with lookahead arrive in order, and leave in the same order through
//!   a link that only this endpoint uses. On later links, there are two cases. Either each packet
//!   waits for an event, or all packets come from one link in a known order.
//! - A receiver has lookahead only if it acknowledges each segment immediately and does nothing
//!   else.
//! - An ACK that arrives after the deadline of the sender (its timer or a paced departure) is
//!   deferred until the deadline.
//! - Nothing is processed beyond the **safe time**. Before the safe time there is no planned event
//!   that limits lookahead: a stop, a change, or the start of a flow that is not TCP. There is also
//!   no observation before the safe time: the end of the warm-up, or a sample. Packets that arrive
//!   later are deferred.
//! - Samples of cwnd ([`super::gauge`]) are correct: if cwnd changes at a time after the next
//!   sample, the value before the change is stored for this sample.
//!
//! A simulation may halt so that the user can change its queues. In this case links have gates. A
//! packet that reaches a gate after the time of the halt is held in front of the gate. When the
//! simulation continues, the held packet moves on at the time of its arrival, before any other
//! event. The ACK that a receiver sends for this packet may reach another gate, and is then held
//! too.

mod deferred;
mod eligibility;

pub(super) use self::deferred::Deferred;
pub(super) use self::eligibility::Eligibility;
use super::flow::Endpoints;
use super::legs::Place;
use super::network::Network;
use super::step::Step;
use super::wires::{Gate, Held};
use crate::kernel::time::{Span, Time};
use crate::link::Transit;
use crate::packet::{Packet, PacketKind};

/// The next step after `Network::advance` has moved a packet.
enum Next {
    /// The endpoint has replied, and its reply leaves at this time.
    Reply(Time),
    Step(Step),
}

impl Network {
    /// Moves a packet as far as possible from time `at`, which may be later than now. If the
    /// endpoint replies, the reply replaces the packet, and moves on. Returns the next step of the
    /// packet.
    #[inline(always)]
    pub(super) fn travel(&mut self, at: Time, packet: &mut Packet) -> Step {
        let mut next = at;
        loop {
            match self.advance(next, packet) {
                Next::Reply(at) => next = at,
                Next::Step(step) => return step,
            }
        }
    }

    #[inline(always)]
    fn advance(&mut self, at: Time, packet: &mut Packet) -> Next {
        let now = self.clock.now;
        let mut at = at;
        let mut carrier = 0; // placeholder: set to a link before `at` changes
        for leg in self.wires.routes.legs(packet) {
            if at > now && !leg.lookahead {
                break;
            }
            packet.hop += 1;
            at = at.plus(leg.lead);
            match leg.place {
                Place::Host(link) => at = self.wires.links[link as usize].pass_host(at, packet),
                Place::Gate(_) if at > self.wires.gate.until => {
                    hold(&mut self.wires.gate, at, leg.lead, packet);
                    return Next::Step(Step::UnderWay);
                }
                Place::Link(link) | Place::Gate(link) => {
                    let link = link as usize;
                    match self.wires.links[link].link.enter(now, at, packet) {
                        Transit::Arrives(arrival) => at = arrival,
                        other => return Next::Step(self.stop_at(at, link, other)),
                    }
                }
                Place::Delay => {}
                Place::EndAhead => return self.reach(at, carrier, packet),
                Place::Air(queue) => return Next::Step(Step::OnAir(queue)),
                Place::End => return Next::Step(Step::Arrived),
            }
            at = at.plus(leg.delay);
            carrier = leg.carrier as usize;
            if leg.ends {
                return self.reach(at, carrier, packet);
            }
        }
        self.wires.carried.push(at, carrier, *packet);
        Next::Step(Step::UnderWay)
    }

    /// Processes a packet that entered link number `link` at `at`. `fate` says whether the packet
    /// is lost on this link or waits in its queue.
    #[inline(never)]
    fn stop_at(&mut self, at: Time, link: usize, fate: Transit) -> Step {
        match fate {
            Transit::Kept => self.attend(link),
            Transit::Refused | Transit::Lost if at == self.clock.now => return Step::Lost,
            Transit::Refused | Transit::Lost | Transit::Arrives(_) => {
                self.settle_link(self.clock.now, link);
            }
        }
        Step::UnderWay
    }

    /// Processes the arrival of a packet at an endpoint with lookahead. The packet arrives at time
    /// `at` over link number `carrier`. If the endpoint sends an ACK immediately, the ACK replaces
    /// the packet.
    #[inline(always)]
    fn reach(&mut self, at: Time, carrier: usize, packet: &mut Packet) -> Next {
        if !packet.is_data() {
            self.reach_sender(at, packet);
            return Next::Step(Step::UnderWay);
        }
        let deferred = &mut self.flows.deferred;
        if at <= deferred.safe_until && deferred.count == 0 {
            self.clock.events += 1;
            let flow = &mut self.flows.states[packet.flow as usize];
            if packet.kind == PacketKind::Syn {
                flow.answer_syn(at, packet);
                return Next::Reply(at);
            }
            return match flow.answer_segment(at, packet) {
                true => Next::Reply(at),
                false => Next::Step(Step::UnderWay),
            };
        }
        deferred.count += 1;
        deferred.segments.push(at, carrier, *packet);
        Next::Step(Step::UnderWay)
    }

    #[inline(always)]
    fn reach_sender(&mut self, at: Time, ack: &Packet) {
        let flow = &self.flows.states[ack.flow as usize];
        let deferred = &self.flows.deferred;
        let is_next = at <= flow.timer.min(deferred.acks_until) && !flow.has_deferred;
        if is_next || self.catch_up_or_defer(at, ack) {
            self.take_ack(at, ack);
        }
    }

    /// Returns whether the ACK may be processed now. If all events before the ACK leave the sender
    /// unchanged, they are processed first, and the value is true. If an event may change the
    /// sender, the ACK is deferred.
    #[inline(never)]
    fn catch_up_or_defer(&mut self, at: Time, ack: &Packet) -> bool {
        let index = ack.flow as usize;
        let may = !self.flows.states[index].has_deferred && self.may_take(at, index);
        if may {
            self.catch_up_sender(at, index);
        } else {
            self.defer(at, *ack);
        }
        may
    }

    /// Returns whether no event changes the sender of flow `index` before `at`.
    fn may_take(&self, at: Time, index: usize) -> bool {
        at <= self.flows.deferred.safe_until && self.acts_at(at, index)
    }

    /// Returns whether the sender of flow `index` has no deadline before `at`.
    #[inline]
    fn acts_at(&self, at: Time, index: usize) -> bool {
        let sender = self.flows.states[index].sender();
        sender.is_some_and(|sender| sender.may_act_at(at))
    }

    /// Processes the events of flow `index` before `at`. These events do not change the sender.
    fn catch_up_sender(&mut self, at: Time, index: usize) {
        if self.flows.states[index].timer < at {
            self.clock.events += 1; // the event only moves a lazy timer to its later deadline
            self.rearm(index);
        }
        if self.flows.deferred.next_reading < at {
            self.note_window(at, index);
        }
    }

    #[inline(always)]
    fn take_ack(&mut self, at: Time, ack: &Packet) {
        self.clock.events += 1;
        let index = ack.flow as usize;
        let flow = &mut self.flows.states[index];
        flow.take_ack(at, ack);
        while let Some(mut packet) = flow.next_packet(at, ack.flow) {
            // the segment passes the access link of its host, and then waits for an event
            let leg = self.wires.routes.legs(&packet)[0];
            let arrives = match leg.host() {
                Some(link) => self.wires.links[link as usize].pass_host(at, &packet),
                None => at,
            };
            packet.hop = 1;
            let carrier = leg.carrier as usize;
            let arrives = arrives.plus(leg.delay);
            self.wires.carried.push(arrives, carrier, packet);
        }
        if flow.has_sent(at) {
            self.rearm(index);
        }
    }

    /// Stores the cwnd of flow `index` for the samples before `at`.
    fn note_window(&mut self, at: Time, index: usize) {
        let Endpoints::Tcp(tcp) = &self.flows.states[index].endpoints else {
            return;
        };
        let deferred = &mut self.flows.deferred;
        let interval = deferred.reading_interval;
        let windows = &mut deferred.windows[index];
        let mut next = deferred.next_reading + interval * windows.len() as u64;
        while next < at {
            windows.push_back(tcp.0.cwnd());
            next += interval;
        }
    }

    #[inline(never)]
    fn defer(&mut self, at: Time, ack: Packet) {
        let index = ack.flow as usize;
        if !std::mem::replace(&mut self.flows.states[index].has_deferred, true) {
            self.await_safe_time(at, index);
        }
        self.flows.deferred.acks[index].push_back((at, ack));
    }

    /// Records that the first deferred ACK of flow `index`, which arrives at `at`, waits for the
    /// safe time. An ACK that waits for the deadline of its sender is not recorded, because the
    /// event of this deadline processes the ACK.
    #[inline]
    fn await_safe_time(&mut self, at: Time, index: usize) {
        if self.acts_at(at, index) {
            self.flows.deferred.defer(at, index as u32);
        }
    }

    /// Processes the deferred ACKs of flow `index` that no longer have to wait, after an event of
    /// this flow or a change of the safe time.
    pub(super) fn take_deferred(&mut self, index: usize) {
        while let Some(&(at, ack)) = self.flows.deferred.acks[index].front() {
            if !self.may_take(at, index) {
                self.await_safe_time(at, index);
                return;
            }
            self.flows.deferred.acks[index].pop_front();
            self.catch_up_sender(at, index);
            self.take_ack(at, &ack);
        }
        self.flows.states[index].has_deferred = false;
    }

    /// Sets the safe time (the limit of lookahead) to `until`, and processes the deferred ACKs that
    /// arrive before this time.
    pub(super) fn set_safe_time(&mut self, until: Time) {
        self.flows.deferred.set_safe_time(until);
        // all flows with due ACKs are collected first, because a flow whose ACKs must also wait for
        // its timer is added to the list of due flows again
        let mut due = std::mem::take(&mut self.flows.deferred.due);
        while let Some(flow) = self.flows.deferred.next_due(until) {
            due.push(flow);
        }
        for flow in due.drain(..) {
            self.take_deferred(flow as usize);
        }
        self.flows.deferred.due = due;
    }
}

/// Stores a packet that reaches a gate at `at`, until the simulation continues. `lead` is the pure
/// delay before the link in the packet's leg.
#[cold]
#[inline(never)]
fn hold(gate: &mut Gate, at: Time, lead: Span, packet: &mut Packet) {
    packet.hop -= 1; // the packet has not passed this leg of its route yet
    let place = gate.held.partition_point(|other| other.arrives <= at);
    let held = Held {
        arrives: at,
        before: Time(at.0 - lead.0),
        packet: *packet,
    };
    gate.held.insert(place, held);
}
