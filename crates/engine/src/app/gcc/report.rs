//! The packets of a feedback report.

use super::probes::Cluster;
use crate::kernel::time::Time;

/// A packet of a feedback report. A report names each packet once, as arrived or lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketReport {
    /// Time at which the packet was sent.
    pub sent: Time,
    /// Time at which the packet arrived; `None` if it is lost.
    pub arrived: Option<Time>,
    /// Length of the IP packet. [bytes]
    pub bytes: u32,
    /// Probe cluster of the packet, if the packet is part of one.
    pub cluster: Option<Cluster>,
}
