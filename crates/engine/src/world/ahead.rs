//! Packets and endpoints ahead of time.
//!
//! When the arrival of a packet at its endpoint is known ([`super::order`]), so is what the endpoint will
//! do about it, and it does it at once: a segment is acknowledged and the ACK goes on its way, the ACK lets
//! the sender send. A round trip through one bottleneck is then one event, the entry into it:
//!
//! ```text
//!   now      +access        +bottleneck, +delay     +delays        +host's link
//!    | event    \ travel          \ reach              \ take_ack      \ carried
//!    v           v                 v                    v               v
//!  entry ---> BOTTLENECK ------> receiver -- ACK ---> sender -- segments ---> next event: their entry
//! ```
//!
//! Each arrival counts as the event that it would be in its own time, and nothing that is measured changes
//! (the tests compare with `by_events`), because
//!
//! - the packets of an endpoint that does so come in order and leave through a link of its own, in the
//!   same order; on the links behind it either an event waits for them, or their order is that of the
//!   one link that all of them have come through;
//! - a receiver does so only if it acknowledges each segment at once, and does nothing else;
//! - an ACK that arrives after the sender's deadline, its timer or a paced departure, waits for it;
//! - what is planned (stops, changes, starts but of TCP) and whoever looks (the end of the warm-up, samples) finds all
//!   endpoints as of its instant: packets that arrive after the next such instant wait for it;
//! - a window that changes ahead of readings ([`super::gauge`]) is noted for them before.
//!
//! Where somebody may change queues whenever a world halts, links have gates: a packet that comes to one later
//! than the halt is kept in front of it, and goes on, by its instant there, before anything else happens when the
//! world does. What follows from one, an ACK that the receiver sends at once, may come to another gate behind a
//! packet that stands there, and then stands there, too.
//!
//! These are free functions over the wires, the flows and the clock, since a packet touches all three.

use super::clock::Clock;
use super::flow::Endpoints;
use super::flows::Flows;
use super::legs::Place;
use super::step::Step;
use super::wires::{Gate, Kept, Wires};
use crate::kernel::time::{Span, Time};
use crate::link::Transit;
use crate::packet::{Packet, PacketKind};

/// A packet goes on its way at `at`, now or ahead of time, as far as it may; what its endpoint answers
/// ahead of time takes its place and goes on. Returns what the packet comes to.
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
        match go_on(wires, flows, clock, next, packet) {
            Next::Answer(at) => next = at,
            Next::Step(step) => return step,
        }
    }
}

/// What a packet that has gone on comes to.
enum Next {
    /// The packet that answers it leaves at this instant.
    Answer(Time),
    Step(Step),
}

#[inline(always)]
fn go_on(
    wires: &mut Wires,
    flows: &mut Flows,
    clock: &mut Clock,
    at: Time,
    packet: &mut Packet,
) -> Next {
    let now = clock.now;
    let mut at = at;
    let mut carrier = 0; // no link yet; set before `at` moves
    for leg in wires.routes.legs(packet) {
        if at > now && !leg.ahead {
            break;
        }
        packet.hop += 1;
        at = at.plus(leg.lead);
        match leg.place {
            Place::Host(link) => at = wires.links[link as usize].pass_host(at, packet),
            Place::Gate(_) if at > wires.gate.until => {
                keep(&mut wires.gate, at, leg.lead, packet);
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

/// A packet that comes to a gate only at `at`, with the `lead` of its leg, is kept until the world goes on.
#[cold]
#[inline(never)]
fn keep(gate: &mut Gate, at: Time, lead: Span, packet: &mut Packet) {
    packet.hop -= 1; // the leg is still before it
    let place = gate.kept.partition_point(|other| other.there <= at);
    let kept = Kept {
        there: at,
        before: Time(at.0 - lead.0),
        packet: *packet,
    };
    gate.kept.insert(place, kept);
}

/// A packet that entered link number `link` at `at` does not get through, or not yet.
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

/// A packet whose endpoint need not wait for it arrives there at `at`, by link number `carrier`; the
/// ACK that leaves at once, if one does, takes its place.
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
    if at <= flows.waiting.quiet_until && flows.waiting.count == 0 {
        clock.events += 1;
        let flow = &mut flows.states[packet.flow as usize];
        if packet.kind == PacketKind::Syn {
            flow.answer_syn(at, packet);
            return Next::Answer(at);
        }
        return match flow.take_segment(at, packet) {
            Some(ack) => {
                *packet = flow.ack(at, packet.flow, ack);
                Next::Answer(at)
            }
            None => Next::Step(Step::UnderWay),
        };
    }
    flows.waiting.count += 1;
    flows.waiting.segments.push(at, carrier, *packet);
    Next::Step(Step::UnderWay)
}

#[inline(always)]
fn reach_sender(wires: &mut Wires, flows: &mut Flows, clock: &mut Clock, at: Time, ack: &Packet) {
    let flow = &flows.states[ack.flow as usize];
    let before = flow.timer.min(flows.waiting.next_reading);
    let is_next = at <= before.min(flows.waiting.quiet_until) && !flow.held_up;
    if is_next || becomes_next(flows, clock, at, ack) {
        take_ack(wires, flows, clock, at, ack);
    }
}

/// Whether an ACK is the next to change its sender although something else comes before it; if not, it is
/// held up.
#[inline(never)]
fn becomes_next(flows: &mut Flows, clock: &mut Clock, at: Time, ack: &Packet) -> bool {
    let index = ack.flow as usize;
    let may = !flows.states[index].held_up && may_take(flows, at, index);
    if may {
        pass_by(flows, clock, at, index);
    } else {
        hold_up(flows, at, *ack);
    }
    may
}

/// Whether nothing changes the sender of flow `index` before `at`.
fn may_take(flows: &Flows, at: Time, index: usize) -> bool {
    let sender = flows.states[index].sender();
    at <= flows.waiting.quiet_until && sender.is_some_and(|sender| sender.may_act_at(at))
}

/// Does what comes before `at` but changes nothing about the sender of flow `index`.
fn pass_by(flows: &mut Flows, clock: &mut Clock, at: Time, index: usize) {
    if flows.states[index].timer < at {
        clock.events += 1; // a lazy timer finds its deadline moved
        flows.rearm(index, clock);
    }
    if flows.waiting.next_reading < at {
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
        // through the link of its host, behind which an event waits for it
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

/// Keeps the window of flow `index` for the readings before `at`.
fn note_window(flows: &mut Flows, at: Time, index: usize) {
    let Endpoints::Tcp(tcp) = &flows.states[index].endpoints else {
        return;
    };
    let interval = flows.waiting.reading_interval;
    let windows = &mut flows.waiting.windows[index];
    let mut next = flows.waiting.next_reading + interval * windows.len() as u64;
    while next < at {
        windows.push_back(tcp.0.cwnd());
        next += interval;
    }
}

#[cold]
fn hold_up(flows: &mut Flows, at: Time, ack: Packet) {
    let held_up = &mut flows.states[ack.flow as usize].held_up;
    if !std::mem::replace(held_up, true) {
        flows.waiting.hold_up(at, ack.flow);
    }
    flows.waiting.acks[ack.flow as usize].push_back((at, ack));
}

/// Something has happened that ACKs of flow `index` may have waited for.
pub(super) fn take_held_up(wires: &mut Wires, flows: &mut Flows, clock: &mut Clock, index: usize) {
    while let Some(&(at, ack)) = flows.waiting.acks[index].front() {
        if !may_take(flows, at, index) {
            flows.waiting.hold_up(at, index as u32);
            return;
        }
        flows.waiting.acks[index].pop_front();
        pass_by(flows, clock, at, index);
        take_ack(wires, flows, clock, at, &ack);
    }
    flows.states[index].held_up = false;
}

/// Nothing is planned, and nobody looks, before `until`.
pub(super) fn quiet_until(wires: &mut Wires, flows: &mut Flows, clock: &mut Clock, until: Time) {
    flows.waiting.quiet_until = until;
    // first all that are due: one that waits for its timer as well is due again
    let mut due = std::mem::take(&mut flows.waiting.due);
    while let Some(flow) = flows.waiting.next_held_up(until) {
        due.push(flow);
    }
    for flow in due.drain(..) {
        take_held_up(wires, flows, clock, flow as usize);
    }
    flows.waiting.due = due;
}
