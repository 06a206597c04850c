//! The properties of flows that CAKE needs: the hosts of a flow, and the DSCP of its packets. A
//! packet itself has only the number of its flow.

use super::dscp::Dscp;
use crate::packet::Packet;

/// Number of a host that belongs to a single flow.
pub(crate) const OWN: u32 = u32::MAX;

/// Hosts and DSCP of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowClass {
    /// Number of the host that sends the data, and of the host that receives the data; [`OWN`] for
    /// a host that has no other flow.
    pub(crate) hosts: [u32; 2],
    /// Numbers of the hosts as a queue sees them that does not look behind NAT: the number of the
    /// router with NAT, or of the host if it is not behind NAT.
    pub(crate) public: [u32; 2],
    /// DSCP of the data and of the ACKs.
    pub(crate) dscp: Dscp,
}

impl FlowClass {
    /// A flow whose hosts have no other flow.
    pub(crate) const OWN: FlowClass = FlowClass {
        hosts: [OWN; 2],
        public: [OWN; 2],
        dscp: Dscp::Cs0,
    };
}

/// Hosts and tin of a flow, as one queue distinguishes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) hosts: [u32; 2],
    pub(super) tin: u8,
}

/// Returns a number that identifies the packets of a flow in one direction.
pub(super) fn flow_of(packet: &Packet) -> u64 {
    u64::from(packet.flow) << 1 | u64::from(packet.is_data())
}

/// Returns numbers that identify the source and the destination of a packet.
pub(super) fn hosts_of(packet: &Packet, entry: &Entry) -> [u64; 2] {
    let number = |end: usize| match entry.hosts[end] {
        OWN => (2 << 40) | u64::from(packet.flow) << 1 | end as u64,
        host => (1 << 40) | u64::from(host),
    };
    match packet.is_data() {
        true => [number(0), number(1)],
        false => [number(1), number(0)],
    }
}
