//! The journey of a packet, from the endpoint that sends it to the one that it is for.
//!
//! ```text
//!           +--------------- an answer, in its place; what an ACK lets go ----------------+
//!           v                                                                             |
//!   endpoint: send --> travel --(legs over links)--> UnderWay .. travel --> Arrived: arrive
//!           |            |                                         ^                ^
//!           +------------+--> OnAir --> UnderWay --(queue, medium)-+----------------+
//! ```
//!
//! Where it has to wait, in a queue of the radio or on a link behind which an event waits for it, it is
//! under way; the event takes its journey up again.

use super::flows::Flows;
use super::medium::Medium;
use super::step::{Step, Taken};
use super::{World, ahead};
use crate::kernel::time::Time;
use crate::packet::Packet;

impl World<'_> {
    /// An endpoint sends a packet at `at`.
    #[inline(always)]
    pub(super) fn send(&mut self, at: Time, packet: &mut Packet) {
        match self.wires.first_queue(packet) {
            Some(queue) => offer(&mut self.radio, &mut self.flows, at, queue, packet),
            None => self.travel(at, packet),
        }
    }

    /// A packet goes on over wires at `at`, until it has to wait, is lost or has arrived.
    #[inline(never)]
    pub(super) fn travel(&mut self, at: Time, packet: &mut Packet) {
        let World {
            wires,
            flows,
            clock,
            radio,
            ..
        } = self;
        match ahead::travel(wires, flows, clock, at, packet) {
            Step::UnderWay => {}
            Step::OnAir(queue) => {
                offer(radio, flows, at, queue, packet);
                if self.listens() {
                    self.time(at, packet);
                }
            }
            Step::Arrived => self.arrive(at, packet),
            Step::Lost => flows.lose(packet),
        }
    }

    /// A packet has come to the endpoint it is for.
    #[inline(never)]
    pub(super) fn arrive(&mut self, at: Time, packet: &mut Packet) {
        match self.flows.take(at, packet, &mut self.clock) {
            Taken::Kept => {}
            Taken::Answered => self.send(at, packet),
            Taken::LetsGo => self.pump(at, packet.flow as usize),
            Taken::Pong => self.hear(at, packet),
        }
    }

    /// Counts what the radio has lost, if anything.
    #[inline(always)]
    pub(super) fn lose_dropped(&mut self) {
        if self.radio.has_lost() {
            lose_all(&mut self.radio, &mut self.flows);
        }
    }

    /// Lets the TCP sender of flow `index` send all it may.
    pub(super) fn pump(&mut self, at: Time, index: usize) {
        while let Some(mut packet) = self.flows.states[index].next_packet(at, index as u32) {
            self.send(at, &mut packet);
        }
        if self.flows.states[index].has_sent(at) {
            self.flows.rearm(index, &mut self.clock);
        }
    }
}

/// A packet enters a queue of the radio, or is lost there.
#[inline(always)]
fn offer(radio: &mut Medium, flows: &mut Flows, now: Time, queue: u32, packet: &Packet) {
    if !radio.offer(now, queue, packet) {
        flows.lose(packet);
    }
    if radio.has_lost() {
        lose_all(radio, flows);
    }
}

/// Counts what the radio has lost.
#[cold]
#[inline(never)]
fn lose_all(radio: &mut Medium, flows: &mut Flows) {
    while let Some(packet) = radio.take_lost() {
        flows.lose(&packet);
    }
}
