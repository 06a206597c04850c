//! Pings of a flow during a simulation. An echo request is a datagram of the flow, and its reply
//! travels in the opposite direction, as ACKs do.

use super::flow::{Endpoints, FlowState};
use super::network::Network;
use super::step::{Delivery, Wants};
use crate::app::ping::{PingSettings, Pinger};
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::packet::{Packet, PacketKind};

impl FlowState {
    /// Returns the flow `name` of pings, which has not started.
    pub(super) fn pinger(settings: &PingSettings, name: &str, streams: &Streams) -> FlowState {
        let stream = streams.stream(&format!("{name}/pings"));
        // no overflow: the key of the scenario limits the length
        let bytes = settings.packet_bytes() as u16;
        FlowState {
            data_bytes: bytes,
            ack_bytes: bytes,
            endpoints: Endpoints::Pinger(Box::new(Pinger::new(settings, stream))),
            ..FlowState::bare()
        }
    }

    /// Delivers an echo request or its reply. A request becomes its reply.
    pub(super) fn take_echo(&mut self, now: Time, packet: &mut Packet) -> Delivery {
        if packet.is_data() {
            self.counters.arrived += 1;
            self.counters.acks_sent += 1;
            *packet = Packet {
                number: packet.number,
                stamp: packet.stamp,
                ..Packet::new(now, packet.flow, PacketKind::EchoReply, self.ack_bytes)
            };
            return Delivery::Acked;
        }
        self.counters.acks_arrived += 1;
        if let Endpoints::Pinger(pinger) = &mut self.endpoints
            && let Some(rtt) = pinger.reply(now, packet.number)
        {
            self.counters.delay_ns += rtt.0;
            self.counters.delay_samples += 1;
        }
        Delivery::Consumed
    }
}

impl Network {
    /// Sends the echo request that is due now. Does nothing if flow `index` has stopped.
    pub(super) fn send_echo(&mut self, now: Time, index: usize) -> Wants {
        let Endpoints::Pinger(pinger) = &mut self.flows.states[index].endpoints else {
            return Wants::Nothing;
        };
        let due = pinger.deadline();
        if due > now {
            self.set_timer(index, due); // the flow stopped after its timer was set
            return Wants::Nothing;
        }
        let number = pinger.send(now);
        let next = pinger.deadline();
        self.set_timer(index, next);
        Wants::Packet(self.flows.states[index].datagram(now, index as u32, number))
    }
}
