//! The journey of a packet, from the endpoint that sends it to the one that it is for.
//!
//! ```text
//!                 +---- an answer; what an ACK lets go ----+
//!                 v                                        |
//!   endpoint --> Leaves --> Wired --(links)--> Wired --> Arrived --> endpoint
//!                   \          \                 ^          ^
//!                    +----------+--> OnAir --(queue, medium)+
//! ```
//!
//! Where it has to wait, in a queue of the radio or on a link behind which an event waits for it, the
//! journey breaks off; the event takes it up again.

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
                Step::Leaves => match wires.first_queue(&packet) {
                    Some(queue) => Step::OnAir(queue),
                    None => Step::Wired,
                },
                Step::Wired => ahead::travel(wires, flows, clock, at, &mut packet),
                Step::OnAir(queue) => {
                    let enters = radio.offer(at, queue, &packet);
                    radio.drain_lost(|packet| flows.lose(packet));
                    if enters { Step::UnderWay } else { Step::Lost }
                }
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
            self.travel(at, packet, Step::Leaves);
        }
        if self.flows.states[index].has_sent(at) {
            self.flows.rearm(index, &mut self.clock);
        }
    }
}
