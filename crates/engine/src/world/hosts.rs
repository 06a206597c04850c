//! External hosts: the packets that they send through the simulation, and the reports of arrivals
//! and losses.

use super::flow::FlowState;
use crate::kernel::time::Time;
use crate::packet::{Ecn, Packet, PacketKind};

/// A packet that an external host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of the flow of the packet.
    pub flow: u32,
    /// Number of the packet, chosen by the host. Numbers are small: the host reuses a number when
    /// its packet has arrived or is lost.
    pub number: u32,
    /// Length of the IP packet. [bytes]
    pub bytes: u16,
    /// Type of the packet: segment, ACK or datagram. ACKs travel in the opposite direction to the
    /// data of their flow.
    pub kind: PacketKind,
    /// Whether the packet is ECN-capable, and whether it has a CE mark.
    pub ecn: Ecn,
    /// TCP sequence number. For a segment, the sequence number after its last byte; for an ACK, the
    /// next expected sequence number.
    pub sequence: u32,
}

/// The arrival of a packet at an external host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time at which the host must receive the packet.
    pub due: Time,
    /// Number of the flow of the packet.
    pub flow: u32,
    /// Whether the packet travelled in the direction of the flow's data.
    pub is_data: bool,
    /// Number that the sending host gave to the packet.
    pub number: u32,
    /// Whether a queue has marked the packet with CE.
    pub is_marked: bool,
}

/// Arrivals and losses that must be reported to external hosts, and the sequence numbers of packets
/// in flight.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    pub(super) arrived: Vec<Arrival>,
    pub(super) lost: Vec<u32>,
    /// TCP sequence numbers, indexed by packet number.
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

    /// Returns the TCP sequence number of a packet in flight.
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
