//! The journey of a packet, from the endpoint that sends it to the one that it is for.
//!
//! ```text
//!                    +--------- an answer; what an ACK lets go ----------+
//!                    v                                                   |
//!   endpoint sends  GoesOn --(legs over links)--> UnderWay .. GoesOn --> Arrived
//!                    |                                           ^         ^
//!                    +--> OnAir --> UnderWay --(queue, medium)---+---------+
//! ```
//!
//! Where it has to wait, in a queue of the radio or on a link behind which an event waits for it, it is
//! under way; the event takes its journey up again.

use super::flows::Flows;
use super::radio::Radio;
use super::step::Step;
use super::{World, ahead};
use crate::kernel::time::Time;
use crate::packet::Packet;

impl World<'_> {
    /// A packet takes one step after the other at `at`, until it has to wait or is no more.
    pub(super) fn travel(&mut self, at: Time, mut packet: Packet, mut step: Step) {
        let World {
            wires,
            flows,
            clock,
            radio,
            ..
        } = self;
        loop {
            step = match step {
                Step::GoesOn => match ahead::travel(wires, flows, clock, at, &mut packet) {
                    Step::UnderWay => return,
                    next => next,
                },
                Step::OnAir(queue) => return offer(radio, flows, at, queue, &packet),
                Step::Arrived => flows.take(at, &mut packet, clock),
                Step::LetsGo => return self.pump(at, packet.flow as usize),
                Step::Pong => return self.hear(at, &packet),
                Step::Lost => return flows.lose(&packet),
                Step::UnderWay => return,
            }
        }
    }

    /// Lets the TCP sender of flow `index` send all it may.
    pub(super) fn pump(&mut self, at: Time, index: usize) {
        while let Some(packet) = self.flows.states[index].next_packet(at, index as u32) {
            self.travel(at, packet, Step::GoesOn);
        }
        if self.flows.states[index].has_sent(at) {
            self.flows.rearm(index, &mut self.clock);
        }
    }
}

/// A packet enters a queue of the radio, or is lost there.
#[inline(never)]
fn offer(radio: &mut Radio, flows: &mut Flows, now: Time, queue: u32, packet: &Packet) {
    if !radio.offer(now, queue, packet) {
        flows.lose(packet);
    }
    radio.drain_lost(|packet| flows.lose(packet));
}
