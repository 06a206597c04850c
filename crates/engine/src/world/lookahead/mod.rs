//! Lookahead: packets and endpoints that are processed before the simulated time of their events.
//!
//! The term is that of parallel discrete-event simulation: an event may be processed as soon as no other event can
//! change its effect. If the arrival of a packet at its endpoint is known ([`eligibility`]), the endpoint reacts
//! immediately: a segment is acknowledged and the ACK continues, the ACK lets the sender send. A round trip through one
//! bottleneck is then one event, the entry into it:
//!
//! ```text
//!   now      +access        +bottleneck, +delay     +delays        +host's link
//!    | event    \ travel          \ reach              \ take_ack      \ carried
//!    v           v                 v                    v               v
//!  entry ---> BOTTLENECK ------> receiver -- ACK ---> sender -- segments ---> next event: their entry
//! ```
//!
//! Each arrival counts as the event that it would be at its own time. No measured value changes (the tests compare with
//! `by_events`), because
//!
//! - the packets of an endpoint with lookahead arrive in order and leave through its own link, in the same order; on
//!   later links either an event waits for them, or their order is that of the single link that all have passed;
//! - a receiver has lookahead only if it acknowledges each segment immediately, and does nothing else;
//! - an ACK that arrives after the sender's deadline, its timer or a paced departure, is deferred until the deadline;
//! - nothing is processed beyond the **safe time**, before which there is neither a planned event (a stop, a change, a
//!   start except that of TCP) nor an observation (the end of the warm-up, a sample); packets that arrive later are
//!   deferred;
//! - a window that changes before earlier readings ([`super::gauge`]) is noted for these readings first.
//!
//! If queues may change whenever a world halts, links have gates: a packet that reaches one after the halt is held
//! upstream of it. When the world continues, the packet continues at its time before any other event. An ACK that the
//! receiver sends in reaction may reach another gate with a held packet, and is then held too.
//!
//! The functions are free functions over the wires, the flows and the clock, because a packet touches all three.

mod deferred;
mod eligibility;

pub(super) use self::deferred::Deferred;
pub(super) use self::eligibility::Eligibility;
use super::clock::Clock;
use super::flow::Endpoints;
use super::flows::Flows;
use super::legs::Place;
use super::step::Step;
use super::wires::{Gate, Kept, Wires};
use crate::kernel::time::{Span, Time};
use crate::link::Transit;
use crate::packet::{Packet, PacketKind};

/// Moves a packet from `at`, which may be later than now, as far as possible. The reply of its endpoint takes its place
/// and continues. Returns the next step of the packet.
#[inline(always)] // one pointer to the world, not three to its parts
pub(super) fn travel(
    wires: &mut Wires,
    flows: &mut Flows,
    clock: &mut Clock,
    at: Time,
    packet: &mut Packet,
) -> Step {
    let mut next = at;
    loop {
        match advance(wires, flows, clock, next, packet) {
            Next::Reply(at) => next = at,
            Next::Step(step) => return step,
        }
    }
}

/// The result of moving a packet.
enum Next {
    /// The reply leaves at this time.
    Reply(Time),
    Step(Step),
}

#[inline(always)]
fn advance(
    wires: &mut Wires,
    flows: &mut Flows,
    clock: &mut Clock,
    at: Time,
    packet: &mut Packet,
) -> Next {
    let now = clock.now;
    let mut at = at;
    let mut carrier = 0; // no link yet; set before `at` changes
    for leg in wires.routes.legs(packet) {
        if at > now && !leg.ahead {
            break;
        }
        packet.hop += 1;
        at = at.plus(leg.lead);
        match leg.place {
            Place::Host(link) => at = wires.links[link as usize].pass_host(at, packet),
            Place::Gate(_) if at > wires.gate.until => {
                hold(&mut wires.gate, at, leg.lead, packet);
                return Next::Step(Step::UnderWay);
            }
            Place::Link(link) | Place::Gate(link) => {
                let link = link as usize;
                match wires.links[link].link.enter(now, at, packet) {
                    Transit::Arrives(arrival) => at = arrival,
                    other => return Next::Step(stop_at(wires, flows, clock, at, link, other)),
                }
            }
            Place::Delay => {}
            Place::EndAhead => return reach(wires, flows, clock, at, carrier, packet),
            Place::Air(queue) => return Next::Step(Step::OnAir(queue)),
            Place::End => return Next::Step(Step::Arrived),
        }
        at = at.plus(leg.delay);
        carrier = leg.carrier as usize;
        if leg.ends {
            return reach(wires, flows, clock, at, carrier, packet);
        }
    }
    wires.carried.push(at, carrier, *packet);
    Next::Step(Step::UnderWay)
}

/// Holds a packet that reaches a gate only at `at`, with the `lead` of its leg, until the world continues.
#[cold]
#[inline(never)]
fn hold(gate: &mut Gate, at: Time, lead: Span, packet: &mut Packet) {
    packet.hop -= 1; // its leg is still to come
    let place = gate.kept.partition_point(|other| other.there <= at);
    let kept = Kept {
        there: at,
        before: Time(at.0 - lead.0),
        packet: *packet,
    };
    gate.kept.insert(place, kept);
}

/// Processes a packet that entered link number `link` at `at` and does not pass it, or not yet.
#[inline(never)]
fn stop_at(
    wires: &mut Wires,
    flows: &mut Flows,
    clock: &mut Clock,
    at: Time,
    link: usize,
    fate: Transit,
) -> Step {
    match fate {
        Transit::Kept => wires.attend(clock, link, &mut |packet| flows.lose(packet)),
        Transit::Refused | Transit::Lost if at == clock.now => return Step::Lost,
        Transit::Refused | Transit::Lost | Transit::Arrives(_) => {
            wires.settle(clock.now, link, &mut |packet| flows.lose(packet));
        }
    }
    Step::UnderWay
}

/// Processes the arrival of a packet at an endpoint with lookahead at `at`, by link number `carrier`. The ACK, if it
/// leaves immediately, takes its place.
#[inline(always)]
fn reach(
    wires: &mut Wires,
    flows: &mut Flows,
    clock: &mut Clock,
    at: Time,
    carrier: usize,
    packet: &mut Packet,
) -> Next {
    if !packet.is_data() {
        reach_sender(wires, flows, clock, at, packet);
        return Next::Step(Step::UnderWay);
    }
    if at <= flows.deferred.safe_until && flows.deferred.count == 0 {
        clock.events += 1;
        let flow = &mut flows.states[packet.flow as usize];
        if packet.kind == PacketKind::Syn {
            flow.answer_syn(at, packet);
            return Next::Reply(at);
        }
        return match flow.take_segment(at, packet) {
            Some(ack) => {
                *packet = flow.ack(at, packet.flow, ack);
                Next::Reply(at)
            }
            None => Next::Step(Step::UnderWay),
        };
    }
    flows.deferred.count += 1;
    flows.deferred.segments.push(at, carrier, *packet);
    Next::Step(Step::UnderWay)
}

#[inline(always)]
fn reach_sender(wires: &mut Wires, flows: &mut Flows, clock: &mut Clock, at: Time, ack: &Packet) {
    let flow = &flows.states[ack.flow as usize];
    let before = flow.timer.min(flows.deferred.next_reading);
    let is_next = at <= before.min(flows.deferred.safe_until) && !flow.has_deferred;
    if is_next || becomes_next(flows, clock, at, ack) {
        take_ack(wires, flows, clock, at, ack);
    }
}

/// Returns whether an ACK is the next to change its sender although something else comes before it. If not, the ACK is
/// deferred.
#[inline(never)]
fn becomes_next(flows: &mut Flows, clock: &mut Clock, at: Time, ack: &Packet) -> bool {
    let index = ack.flow as usize;
    let may = !flows.states[index].has_deferred && may_take(flows, at, index);
    if may {
        catch_up(flows, clock, at, index);
    } else {
        defer(flows, at, *ack);
    }
    may
}

/// Returns whether nothing changes the sender of flow `index` before `at`.
fn may_take(flows: &Flows, at: Time, index: usize) -> bool {
    let sender = flows.states[index].sender();
    at <= flows.deferred.safe_until && sender.is_some_and(|sender| sender.may_act_at(at))
}

/// Processes the events before `at` that do not change the sender of flow `index`.
fn catch_up(flows: &mut Flows, clock: &mut Clock, at: Time, index: usize) {
    if flows.states[index].timer < at {
        clock.events += 1; // the deadline of a lazy timer has moved
        flows.rearm(index, clock);
    }
    if flows.deferred.next_reading < at {
        note_window(flows, at, index);
    }
}

#[inline(always)]
fn take_ack(wires: &mut Wires, flows: &mut Flows, clock: &mut Clock, at: Time, ack: &Packet) {
    clock.events += 1;
    let index = ack.flow as usize;
    let flow = &mut flows.states[index];
    flow.take_ack(at, ack);
    while let Some(mut packet) = flow.next_packet(at, ack.flow) {
        // through the link of its host, after which an event waits for it
        let leg = wires.routes.legs(&packet)[0];
        let arrives = match leg.host() {
            Some(link) => wires.links[link as usize].pass_host(at, &packet),
            None => at,
        };
        packet.hop = 1;
        let carrier = leg.carrier as usize;
        wires.carried.push(arrives.plus(leg.delay), carrier, packet);
    }
    if flow.has_sent(at) {
        flows.rearm(index, clock);
    }
}

/// Notes the window of flow `index` for the readings before `at`.
fn note_window(flows: &mut Flows, at: Time, index: usize) {
    let Endpoints::Tcp(tcp) = &flows.states[index].endpoints else {
        return;
    };
    let interval = flows.deferred.reading_interval;
    let windows = &mut flows.deferred.windows[index];
    let mut next = flows.deferred.next_reading + interval * windows.len() as u64;
    while next < at {
        windows.push_back(tcp.0.cwnd());
        next += interval;
    }
}

#[cold]
fn defer(flows: &mut Flows, at: Time, ack: Packet) {
    let has_deferred = &mut flows.states[ack.flow as usize].has_deferred;
    if !std::mem::replace(has_deferred, true) {
        flows.deferred.defer(at, ack.flow);
    }
    flows.deferred.acks[ack.flow as usize].push_back((at, ack));
}

/// Processes the deferred ACKs of flow `index` after an event that they may have waited for.
pub(super) fn take_deferred(wires: &mut Wires, flows: &mut Flows, clock: &mut Clock, index: usize) {
    while let Some(&(at, ack)) = flows.deferred.acks[index].front() {
        if !may_take(flows, at, index) {
            flows.deferred.defer(at, index as u32);
            return;
        }
        flows.deferred.acks[index].pop_front();
        catch_up(flows, clock, at, index);
        take_ack(wires, flows, clock, at, &ack);
    }
    flows.states[index].has_deferred = false;
}

/// Sets the safe time, and processes the ACKs that were deferred until then.
pub(super) fn set_safe_time(wires: &mut Wires, flows: &mut Flows, clock: &mut Clock, until: Time) {
    flows.deferred.safe_until = until;
    // first all that are due: a flow that also waits for its timer is due again
    let mut due = std::mem::take(&mut flows.deferred.due);
    while let Some(flow) = flows.deferred.next_due(until) {
        due.push(flow);
    }
    for flow in due.drain(..) {
        take_deferred(wires, flows, clock, flow as usize);
    }
    flows.deferred.due = due;
}
