//! Flows between hosts outside: their packets come at any time and go on like all others; the hosts are told of
//! each that has arrived or is lost.

use super::World;
use super::flow::{Endpoints, FlowState};
use crate::kernel::time::Time;
use crate::packet::{Ecn, Packet, PacketKind};

/// A packet that a host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of its flow.
    pub flow: u32,
    /// What the host calls it until it has arrived or is lost: a small number, which is used again then.
    pub number: u32,
    /// IP length. [bytes]
    pub bytes: u16,
    /// Segment, ACK or datagram; ACKs go against the data of their flow.
    pub kind: PacketKind,
    /// Whether it may be marked, and has been marked.
    pub ecn: Ecn,
    /// In TCP, the sequence number behind a segment's data, or what an ACK expects next.
    pub sequence: u32,
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it is due at its host.
    pub due: Time,
    /// Number of its flow.
    pub flow: u32,
    /// Whether it went with the flow's data.
    pub is_data: bool,
    /// What its host calls it.
    pub number: u32,
    /// Whether a queue has marked it.
    pub is_marked: bool,
}

/// What hosts are to be told, and what they have said of packets inside.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    arrived: Vec<Arrival>,
    lost: Vec<u32>,
    /// Sequence numbers, by packets' numbers.
    sequences: Vec<u32>,
}

impl Hosts {
    pub(super) fn take(&mut self, due: Time, packet: &Packet) {
        self.arrived.push(Arrival {
            due,
            flow: packet.flow,
            is_data: packet.is_data(),
            number: packet.number,
            is_marked: packet.ecn == Ecn::Experienced,
        });
    }

    pub(super) fn lose(&mut self, packet: &Packet) {
        self.lost.push(packet.number);
    }

    fn note(&mut self, number: u32, sequence: u32) {
        let place = number as usize;
        if self.sequences.len() <= place {
            self.sequences.resize(place + 1, 0);
        }
        self.sequences[place] = sequence;
    }

    /// The sequence number of a packet inside.
    pub(super) fn sequence(&self, packet: &Packet) -> u32 {
        self.sequences[packet.number as usize]
    }
}

impl FlowState {
    /// A packet has come to its host.
    pub(super) fn count_arrival(&mut self, packet: &Packet) {
        if packet.is_data() {
            self.counters.arrived += 1;
            self.counters.delivered += 1;
        } else {
            self.counters.acks_arrived += 1;
        }
    }
}

impl World<'_> {
    /// All flows of the scenario are between hosts outside, and so are the connections of web sources.
    pub(crate) fn open(&mut self) {
        for flow in self.flows.of_scenario() {
            if !matches!(flow.endpoints, Endpoints::Web(_)) {
                flow.endpoints = Endpoints::Hosts;
            }
            flow.reports = None;
            flow.reporting = false;
        }
        for web in &mut self.flows.webs.sources {
            web.outside = Some(Vec::new());
        }
        // hosts answer in their own time
        self.wires.end_in_own_time();
    }

    /// The web source of flow `index` is hosts outside; the responses go by `flows`.
    pub(crate) fn answer_by(&mut self, index: usize, flows: impl Iterator<Item = u32>) {
        if let &Endpoints::Web(web) = self.flows.states[index].endpoints() {
            self.flows.webs.sources[web as usize].outside = Some(flows.collect());
        }
    }

    /// When it is due to step.
    pub(crate) fn due(&mut self) -> Time {
        let (pending, _) = self.clock.first();
        let (arrives, _) = self.wires.carried.first();
        pending.min(arrives).min(self.radio.deadline())
    }

    /// A host sends a packet, now.
    pub(crate) fn take_from_host(&mut self, sent: &Sent) {
        let now = self.clock.now;
        let counters = &mut self.flows.states[sent.flow as usize].counters;
        if sent.kind.is_data() {
            counters.sent += 1;
        } else {
            counters.acks_sent += 1;
        }
        self.flows.hosts.note(sent.number, sent.sequence);
        let mut packet = Packet {
            flow: sent.flow,
            number: sent.number,
            stamp: now,
            queued: now,
            bytes: sent.bytes,
            kind: sent.kind,
            ecn: sent.ecn,
            ..Packet::BLANK
        };
        self.clock.events += 1;
        self.send(now, &mut packet);
    }

    /// What has arrived since this was asked last, in order of events.
    pub(crate) fn arrivals(&mut self) -> std::vec::Drain<'_, Arrival> {
        self.flows.hosts.arrived.drain(..)
    }

    /// Numbers of packets lost since this was asked last.
    pub(crate) fn losses(&mut self) -> std::vec::Drain<'_, u32> {
        self.flows.hosts.lost.drain(..)
    }
}
