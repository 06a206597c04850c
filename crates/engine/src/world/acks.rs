//! ACKs with a processing time, and the replies of stations to pings.

use super::network::Network;
use super::numbers::Owner;
use super::step::{Delivery, Wants};
use crate::kernel::time::{Span, Time};
use crate::packet::{EcnEcho, Packet};
use crate::tcp::Ack;

impl Network {
    /// Makes an ACK of flow `number`. This takes the ACK processing time of the flow. Returns the
    /// ACK if the processing time is zero.
    #[inline(always)]
    pub(super) fn make_ack(&mut self, now: Time, number: u32, ack: Ack) -> Option<Packet> {
        let flow = &mut self.flows.states[number as usize];
        let processing = flow.ack_processing;
        if processing == Span::ZERO {
            return Some(flow.ack(now, number, ack));
        }
        self.make_ack_by(now + processing, number, ack);
        None
    }

    /// Makes an ACK that is sent at `at`.
    #[inline]
    fn make_ack_by(&mut self, at: Time, number: u32, ack: Ack) {
        let making = &mut self.flows.making;
        making.acks.insert((at, making.made), (number, ack));
        making.made += 1;
        self.clock.arm(Owner::Acks, at);
    }

    /// Delivers a ping to its station. If the station replies immediately, the reply replaces the
    /// ping in `packet`.
    #[cold]
    #[inline(never)]
    pub(super) fn take_ping(&mut self, now: Time, packet: &mut Packet) -> Delivery {
        let number = packet.flow;
        let station = number as usize - self.flows.first_ping;
        let reply = Ack {
            next: packet.number,
            echo: packet.stamp,
            sack: 0,
            ece: EcnEcho::NONE,
        };
        match self.flows.responders[station].answers_after(now) {
            None => Delivery::Consumed,
            Some(Span::ZERO) => {
                *packet = self.flows.states[number as usize].ack(now, number, reply);
                Delivery::Acked
            }
            Some(delay) => {
                self.make_ack_by(now + delay, number, reply);
                Delivery::Consumed
            }
        }
    }

    /// Sends the earliest ACK that is being processed.
    pub(super) fn ack_made(&mut self, now: Time) -> Wants {
        let acks = &mut self.flows.making.acks;
        let made = acks.pop_first();
        let next = acks.first_key_value();
        let next = next.map_or(Time::NEVER, |(&(at, _), _)| at);
        self.clock.set(Owner::Acks, next);
        made.map_or(Wants::Nothing, |(_, (number, ack))| {
            Wants::Packet(self.flows.states[number as usize].ack(now, number, ack))
        })
    }
}
