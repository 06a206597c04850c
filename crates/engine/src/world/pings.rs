//! The pings and the rate of the virtual shared bottleneck during a simulation. Each station has a
//! flow for its pings: echo requests are the data of this flow, and replies are its ACKs. For a
//! station that does not reply, the round-trip times of its TCP segments are measured.

use super::World;
use super::flow::{Endpoints, FlowState};
use super::flows::Flows;
use super::numbers;
use crate::bottleneck::Bottleneck;
use crate::control::Probe;
use crate::kernel::time::Time;
use crate::packet::{Packet, PacketKind};

impl FlowState {
    /// Returns a flow for the pings of a station.
    pub(super) fn pings(bytes: u32) -> FlowState {
        FlowState {
            data_bytes: bytes as u16, // at most 1500: the check of the scenario limits the length
            ack_bytes: bytes as u16,
            endpoints: Endpoints::Ping,
            ..FlowState::bare()
        }
    }
}

impl Flows {
    /// Returns the sequence number after the data of a segment, or the next expected sequence
    /// number of an ACK. For simulated TCP, the sequence number counts segments and is `number`.
    /// For external hosts, it is the TCP sequence number in `packet`.
    fn sequence(&self, packet: &Packet, number: u32) -> u32 {
        match self.states[packet.flow as usize].endpoints {
            Endpoints::Hosts => self.hosts.sequence(packet),
            Endpoints::Tcp(_)
            | Endpoints::Udp(_)
            | Endpoints::Ping
            | Endpoints::Pinger(_)
            | Endpoints::Web(_) => number,
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

    /// Sends pings from the access point. Before this, sets the rate of the bottleneck's link to
    /// the estimated rate.
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

    /// Returns whether segments and ACKs of TCP flows must be reported to the bottleneck.
    #[inline(always)]
    pub(super) fn listens(&self) -> bool {
        self.bottleneck.as_ref().is_some_and(Bottleneck::listens)
    }

    /// Reports to the bottleneck that a packet leaves the bottleneck now.
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

    /// Reports to the bottleneck that a packet has been received from the air.
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

    /// Returns the station of a packet's flow; `None` unless the packet is a TCP packet of type
    /// `kind`.
    fn station_of(&self, packet: &Packet, kind: PacketKind) -> Option<u32> {
        let flow = &self.network.flows.states[packet.flow as usize];
        if packet.kind != kind || matches!(flow.endpoints, Endpoints::Ping | Endpoints::Pinger(_)) {
            return None;
        }
        let node = self.radio.cell()?.station_of(packet);
        let station = self.scenario.only_bss().roles.station_of(node)?;
        Some(station as u32)
    }

    /// Sets the rate of the bottleneck from now on. The call has no effect if the rate is estimated
    /// instead of configured. [bit/s]
    pub(super) fn change_bottleneck(&mut self, now: Time, rate_bps: u64) {
        if let Some(bottleneck) = &mut self.bottleneck {
            bottleneck.set_rate(now, rate_bps);
            self.update_bottleneck();
        }
    }

    /// Sets the rate of the bottleneck's link to the current rate, if the bottleneck has started.
    fn update_bottleneck(&mut self) {
        let rate_bps = self.bottleneck.as_ref().and_then(Bottleneck::rate_bps);
        if let Some(rate_bps) = rate_bps {
            self.network.wires.set_bottleneck(rate_bps);
            self.fill_bottleneck();
        }
    }
}
