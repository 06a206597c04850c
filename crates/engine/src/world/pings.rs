//! The virtual shared bottleneck in a world. Each station has a flow for its pings, with requests
//! as data and replies as ACKs. For a station that does not reply, the bottleneck times the
//! segments and ACKs of the TCP flows of the station.

use super::World;
use super::flow::{Endpoints, FlowState};
use super::flows::Flows;
use super::numbers;
use crate::bottleneck::Bottleneck;
use crate::control::Probe;
use crate::kernel::time::Time;
use crate::packet::{Packet, PacketKind};

impl FlowState {
    /// Returns the flow of the pings of a station.
    pub(super) fn pings(bytes: u32) -> FlowState {
        FlowState {
            data_bytes: bytes as u16, // at most 1500, as the grammar ensures
            ack_bytes: bytes as u16,
            endpoints: Endpoints::Ping,
            ..FlowState::bare()
        }
    }
}

impl Flows {
    /// Returns, for a segment, the number after its data, or, for an ACK, the next number that the
    /// ACK expects. This is `number` with the TCP of the engine, and a sequence number with the TCP
    /// of external hosts.
    fn sequence(&self, packet: &Packet, number: u32) -> u32 {
        match self.states[packet.flow as usize].endpoints {
            Endpoints::Hosts => self.hosts.sequence(packet),
            Endpoints::Tcp(_) | Endpoints::Udp(_) | Endpoints::Ping | Endpoints::Web(_) => number,
        }
    }
}

impl World<'_> {
    /// Starts the bottleneck, or sends the next ping.
    pub(super) fn ping_event(&mut self, now: Time) {
        let Some(bottleneck) = &mut self.bottleneck else {
            return;
        };
        let (states, bypassing) = (&self.network.flows.states, &self.bypassing);
        let datagrams = |station: usize| -> u64 {
            let own = bypassing.iter().filter(|&&(_, of)| of == station);
            own.map(|&(flow, _)| states[flow].counters.arrived).sum()
        };
        let probes = bottleneck.advance(now, datagrams, &self.network.wires.passed());
        let next = bottleneck.deadline();
        self.ping(now, &probes);
        let first = numbers::first_ping(self.scenario);
        self.network.set_timer(first, next);
    }

    /// Updates the rate of the bottleneck, and sends pings from the access point.
    fn ping(&mut self, now: Time, probes: &[Probe]) {
        self.update_bottleneck();
        for &Probe { station, number } in probes {
            let index = numbers::first_ping(self.scenario) + station as usize;
            let flow = &mut self.network.flows.states[index];
            let mut packet = flow.datagram(now, index as u32, number);
            self.send(now, &mut packet);
        }
    }

    /// Processes the reply to a ping.
    pub(super) fn take_reply(&mut self, now: Time, reply: &Packet) {
        if let Some(bottleneck) = &mut self.bottleneck {
            let passed_bytes = self.network.wires.passed_bytes();
            let probes = bottleneck.answered(now, reply.number as u16, passed_bytes);
            self.ping(now, &probes.unwrap_or_default());
        }
    }

    /// Returns whether the bottleneck has to observe passing segments and ACKs.
    #[inline(always)]
    pub(super) fn listens(&self) -> bool {
        self.bottleneck.as_ref().is_some_and(Bottleneck::listens)
    }

    /// Records the time at which a packet leaves for the air.
    #[cold]
    pub(super) fn time(&mut self, now: Time, packet: &Packet) {
        let passed_bytes = self.network.wires.passed_bytes();
        if let Some(station) = self.station_of(packet, PacketKind::Segment)
            && let Some(bottleneck) = &mut self.bottleneck
        {
            let end = self.network.flows.sequence(packet, packet.number + 1);
            bottleneck.leaves(now, (station, packet.flow, end), passed_bytes);
        }
    }

    /// Records a packet that has come off the air.
    #[cold]
    pub(super) fn overhear(&mut self, now: Time, packet: &Packet) {
        let passed_bytes = self.network.wires.passed_bytes();
        if let Some(station) = self.station_of(packet, PacketKind::Ack)
            && let Some(bottleneck) = &mut self.bottleneck
        {
            let next = self.network.flows.sequence(packet, packet.number);
            let ack = (station, packet.flow, next);
            let probes = bottleneck.acknowledged(now, ack, passed_bytes);
            self.ping(now, &probes);
        }
    }

    /// Returns the station of the flow of a packet, if the packet is a TCP packet of the given
    /// kind.
    fn station_of(&self, packet: &Packet, kind: PacketKind) -> Option<u32> {
        let flow = &self.network.flows.states[packet.flow as usize];
        if packet.kind != kind || matches!(flow.endpoints, Endpoints::Ping) {
            return None;
        }
        let node = self.radio.cell()?.station_of(packet);
        let station = self.scenario.only_bss().roles.station_of(node)?;
        Some(station as u32)
    }

    /// Sets the rate of the bottleneck from now on, unless the rate is estimated. [bit/s]
    pub(super) fn change_bottleneck(&mut self, now: Time, rate_bps: u64) {
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.set_rate(now, rate_bps);
            self.update_bottleneck();
        }
    }

    /// Sets the rate of the link of the bottleneck to the current rate, if there is a rate.
    fn update_bottleneck(&mut self) {
        let rate_bps = self.bottleneck.as_ref().and_then(Bottleneck::rate_bps);
        if let Some(rate_bps) = rate_bps {
            self.network.wires.set_bottleneck(rate_bps);
            self.fill_bottleneck();
        }
    }
}
