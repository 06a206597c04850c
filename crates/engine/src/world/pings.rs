//! The virtual shared bottleneck in a world: pings are packets of flows of their own, one for each
//! station, with the request as data and the answer as ACK. Flows of stations that do not answer are overheard.

use super::World;
use super::flow::{Endpoints, FlowState};
use super::numbers;
use crate::bottleneck::Bottleneck;
use crate::control::Probe;
use crate::kernel::time::Time;
use crate::packet::{Packet, PacketKind};

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
    /// The bottleneck begins, or the next ping is due.
    pub(super) fn ping_event(&mut self, now: Time) {
        let Some(bottleneck) = &mut self.bottleneck else {
            return;
        };
        let (states, beside) = (&self.flows.states, &self.beside);
        let datagrams = |station: usize| -> u64 {
            let own = beside.iter().filter(|&&(_, of)| of == station);
            own.map(|&(flow, _)| states[flow].counters.arrived).sum()
        };
        let probes = bottleneck.advance(now, datagrams, &self.wires.passed());
        let next = bottleneck.deadline();
        self.set_bottleneck();
        self.ping(now, &probes);
        let first = numbers::first_ping(self.scenario);
        self.flows.set_timer(first, next, &mut self.clock);
    }

    /// Sends pings from the access point.
    fn ping(&mut self, now: Time, probes: &[Probe]) {
        for &Probe { station, number } in probes {
            let index = numbers::first_ping(self.scenario) + station as usize;
            let mut packet = self.flows.states[index].datagram(now, index as u32, number);
            self.send(now, &mut packet);
        }
    }

    /// The answer to a ping has come back.
    pub(super) fn hear(&mut self, now: Time, answer: &Packet) {
        if let Some(bottleneck) = &mut self.bottleneck {
            let passed_bytes = self.wires.passed().bytes;
            let probes = bottleneck.answered(now, answer.number as u16, passed_bytes);
            self.set_bottleneck();
            self.ping(now, &probes.unwrap_or_default());
        }
    }

    /// Whether the bottleneck wants to know of segments and ACKs that pass.
    #[inline(always)]
    pub(super) fn listens(&self) -> bool {
        self.bottleneck.as_ref().is_some_and(Bottleneck::listens)
    }

    /// A packet has left for the air.
    #[cold]
    pub(super) fn time(&mut self, now: Time, packet: &Packet) {
        let passed_bytes = self.wires.passed_bytes();
        if let Some(station) = self.station_of(packet, PacketKind::Segment)
            && let Some(bottleneck) = &mut self.bottleneck
        {
            let end = match self.flows.states[packet.flow as usize].endpoints {
                Endpoints::Hosts => self.flows.hosts.sequence(packet),
                _ => packet.number + 1,
            };
            let segment = (station, packet.flow, end);
            bottleneck.leaves(now, segment, passed_bytes);
        }
    }

    /// A packet has come off the air.
    #[cold]
    pub(super) fn overhear(&mut self, now: Time, packet: &Packet) {
        let passed_bytes = self.wires.passed_bytes();
        if let Some(station) = self.station_of(packet, PacketKind::Ack)
            && let Some(bottleneck) = &mut self.bottleneck
        {
            let next = match self.flows.states[packet.flow as usize].endpoints {
                Endpoints::Hosts => self.flows.hosts.sequence(packet),
                _ => packet.number,
            };
            let ack = (station, packet.flow, next);
            let probes = bottleneck.acknowledged(now, ack, passed_bytes);
            self.set_bottleneck();
            self.ping(now, &probes);
        }
    }

    /// The station of a packet's flow, if it is of TCP and this kind.
    fn station_of(&self, packet: &Packet, kind: PacketKind) -> Option<u32> {
        let is_ping = matches!(
            self.flows.states[packet.flow as usize].endpoints,
            Endpoints::Ping
        );
        if packet.kind != kind || is_ping {
            return None;
        }
        let node = self.radio.cell()?.station_of(packet);
        let station = self.scenario.only_bss().roles.station_of(node)?;
        Some(station as u32)
    }

    /// The bottleneck's rate is this from now on, if it is not estimated. [bit/s]
    pub(super) fn change_bottleneck(&mut self, now: Time, rate_bps: u64) {
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.set_rate(now, rate_bps);
            self.set_bottleneck();
        }
    }

    /// Gives the bottleneck's link the rate that is known now.
    fn set_bottleneck(&mut self) {
        let rate_bps = self.bottleneck.as_ref().and_then(Bottleneck::rate_bps);
        if let Some(rate_bps) = rate_bps {
            self.wires.set_bottleneck(rate_bps);
            self.fill_bottleneck();
        }
    }
}
