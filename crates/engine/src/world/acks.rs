//! ACKs that a receiver sends only after a processing time, and the replies of stations to pings.

use super::network::Network;
use super::numbers::Owner;
use super::step::{Delivery, Wants};
use crate::kernel::time::{Span, Time};
use crate::packet::{EcnEcho, Packet};
use crate::tcp::Ack;

impl Network {
    /// Creates an ACK for flow `number`. If the flow has an ACK processing time, the ACK is sent
    /// later and `None` is returned.
    pub(super) fn make_ack(&mut self, now: Time, number: u32, ack: Ack) -> Option<Packet> {
        let flow = &mut self.flows.states[number as usize];
        if flow.ack_processing == Span::ZERO {
            return Some(flow.ack(now, number, ack));
        }
        self.make_ack_later(now, number, ack);
        None
    }

    /// Creates an ACK for flow `number`, which has an ACK processing time. The ACK is sent after
    /// this time.
    #[inline(never)]
    pub(super) fn make_ack_later(&mut self, now: Time, number: u32, ack: Ack) {
        let processing = self.flows.states[number as usize].ack_processing;
        self.make_ack_by(now + processing, number, ack);
    }

    /// Creates an ACK that is sent at `at`.
    #[inline]
    fn make_ack_by(&mut self, at: Time, number: u32, ack: Ack) {
        let making = &mut self.flows.making;
        making.acks.insert((at, making.made), (number, ack));
        making.made += 1;
        self.clock.arm(Owner::Acks, at);
    }

    /// Delivers a ping to its station. If the station replies immediately, `packet` becomes the
    /// reply.
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

    /// Sends the ACK whose processing time ends now.
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
