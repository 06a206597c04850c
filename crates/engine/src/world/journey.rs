//! The journey of a packet, from the endpoint that sends it to the one that it is for.
//!
//! ```text
//!   Leaves ----> Wired ----> OnAir ----> (queue, medium) ----> Wired or Arrived
//!      ^           |                                                  |
//!      |           +---> (link) ----> Wired ... ----> Arrived <-------+
//!      +---------------- an answer, what an ACK lets go --------'
//! ```

use super::{World, ahead};
use crate::kernel::time::Time;
use crate::packet::Packet;

/// What comes next for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Its endpoint sends it.
    Leaves,
    /// It goes on over wires.
    Wired,
    /// It enters a queue of the radio.
    OnAir(u32),
    /// It has come to its endpoint.
    Arrived,
    /// It came to the sender, which may send all it has leave for.
    LetsGo,
    /// It answered a ping.
    Pong,
    /// It is lost.
    Lost,
    /// A link or a queue has it, or it is no more.
    UnderWay,
}

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
                    flows.lose_all(radio);
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
