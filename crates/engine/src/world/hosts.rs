//! Packets between external hosts: packets that hosts send, and packets that arrive or are lost.

use super::flow::FlowState;
use crate::kernel::time::Time;
use crate::packet::{Ecn, Packet, PacketKind};

/// A packet that a host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of the flow of the packet.
    pub flow: u32,
    /// Number of the packet, chosen by the host. It is a small number, which the host uses again
    /// when the packet has arrived or is lost.
    pub number: u32,
    /// IP length. [bytes]
    pub bytes: u16,
    /// Segment, ACK or datagram. ACKs go in the opposite direction to the data of their flow.
    pub kind: PacketKind,
    /// Whether the packet may be marked, and whether it has been marked.
    pub ecn: Ecn,
    /// In TCP: for a segment, the sequence number after its data; for an ACK, the next sequence
    /// number expected.
    pub sequence: u32,
}

/// A packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time at which the packet is due at its host.
    pub due: Time,
    /// Number of the flow of the packet.
    pub flow: u32,
    /// Whether the packet went in the direction of the data of the flow.
    pub is_data: bool,
    /// Number that the host gave the packet.
    pub number: u32,
    /// Whether a queue has marked the packet.
    pub is_marked: bool,
}

/// Packets about which hosts are to be notified, and sequence numbers of packets in flight.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    pub(super) arrived: Vec<Arrival>,
    pub(super) lost: Vec<u32>,
    /// Sequence numbers, indexed by packet number.
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

    pub(super) fn note(&mut self, number: u32, sequence: u32) {
        let place = number as usize;
        if self.sequences.len() <= place {
            self.sequences.resize(place + 1, 0);
        }
        self.sequences[place] = sequence;
    }

    /// Returns the sequence number of a packet in flight.
    pub(super) fn sequence(&self, packet: &Packet) -> u32 {
        self.sequences[packet.number as usize]
    }
}

impl FlowState {
    /// Counts a packet that has arrived at its host.
    pub(super) fn count_arrival(&mut self, packet: &Packet) {
        if packet.is_data() {
            self.counters.arrived += 1;
            self.counters.delivered += 1;
        } else {
            self.counters.acks_arrived += 1;
        }
    }
}
