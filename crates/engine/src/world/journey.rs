//! The journey of a packet, from the endpoint that sends it to the one that it is for.
//!
//! ```text
//!                    +------- an answer, in its place; what an ACK lets go --------+
//!                    v                                                             |
//!   endpoint sends  travel --(legs over links)--> UnderWay .. travel --> Arrived: arrive
//!                    |                                           ^                 ^
//!                    +--> OnAir --> UnderWay --(queue, medium)---+-----------------+
//! ```
//!
//! Where it has to wait, in a queue of the radio or on a link behind which an event waits for it, it is
//! under way; the event takes its journey up again.

use super::flows::Flows;
use super::radio::Radio;
use super::step::{Step, Taken};
use super::{World, ahead};
use crate::kernel::time::Time;
use crate::packet::Packet;

impl World<'_> {
    /// A packet goes on its way at `at`, which it has begun or not, until it has to wait or is no more.
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
            Step::OnAir(queue) => offer(radio, flows, at, queue, packet),
            Step::Arrived => self.arrive(at, packet),
            Step::Lost => flows.lose(packet),
        }
    }

    /// A packet has come to the endpoint it is for.
    pub(super) fn arrive(&mut self, at: Time, packet: &mut Packet) {
        match self.flows.take(at, packet, &mut self.clock) {
            Taken::Kept => {}
            Taken::Answered => self.travel(at, packet),
            Taken::LetsGo => self.pump(at, packet.flow as usize),
            Taken::Pong => self.hear(at, packet),
        }
    }

    /// Lets the TCP sender of flow `index` send all it may.
    pub(super) fn pump(&mut self, at: Time, index: usize) {
        while let Some(mut packet) = self.flows.states[index].next_packet(at, index as u32) {
            self.travel(at, &mut packet);
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
