//! The virtual shared bottleneck in a world: pings are packets of flows of their own, one for each
//! station, with the request as data and the answer as ACK.

use super::World;
use super::flow::{Endpoints, FlowState};
use super::network::NETWORK;
use crate::bottleneck::{Bottleneck, Ping};
use crate::kernel::time::Time;
use crate::packet::{Ecn, Packet, PacketKind};
use crate::scenario::Scenario;

/// Number of the bottleneck among the links, behind those of the scenario.
pub(super) fn number(scenario: &Scenario) -> u32 {
    NETWORK + scenario.links.len() as u32
}

impl FlowState {
    /// The pings of a station.
    pub(super) fn pings(bytes: u32) -> FlowState {
        FlowState {
            data_bytes: bytes as u16, // at most 1500, by the grammar
            ack_bytes: bytes as u16,
            endpoints: Endpoints::Ping,
            ..FlowState::bare()
        }
    }
}

impl World<'_> {
    /// The bottleneck begins, or the next ping is due; returns when that is.
    pub(super) fn ping_event(&mut self, now: Time) -> Time {
        let Some(bottleneck) = &mut self.bottleneck else {
            return Time::NEVER;
        };
        let (flows, beside) = (&self.flows, &self.beside);
        let datagrams = |station: usize| -> u64 {
            let own = beside.iter().filter(|&&(_, of)| of == station);
            own.map(|&(flow, _)| flows[flow].counters.arrived).sum()
        };
        let ping = bottleneck.advance(now, datagrams);
        let next = bottleneck.deadline();
        self.set_bottleneck();
        if let Some(Ping { station, number }) = ping {
            let index = self.scenario.flows.len() + station;
            self.send_datagram(now, index, number);
        }
        next
    }

    /// The bottleneck's link has the rate that is known now.
    fn set_bottleneck(&mut self) {
        let rate_bps = self.bottleneck.as_ref().and_then(Bottleneck::rate_bps);
        if let Some(rate_bps) = rate_bps {
            let link = number(self.scenario) as usize;
            self.links[link].link.set_rate(rate_bps);
        }
    }

    /// A ping has reached its station, which answers, or its answer has come back.
    pub(super) fn pinged(&mut self, now: Time, packet: &Packet) {
        let flow = &mut self.flows[packet.flow as usize];
        if packet.is_data() {
            flow.counters.arrived += 1;
            flow.counters.acks_sent += 1;
            let answer = Packet {
                queued: now,
                bytes: flow.ack_bytes,
                hop: 0,
                kind: PacketKind::Ack,
                ecn: Ecn::NotCapable,
                ..*packet
            };
            return self.emit(now, answer);
        }
        flow.counters.acks_arrived += 1;
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.answered(now, packet.number as u16);
            self.set_bottleneck();
        }
    }
}
