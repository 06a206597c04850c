//! Packets that have been received over the air, with the node that has received them.

/// Result of an exchange: the number of packets received, and the node that has received them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffAir {
    /// No packet was received.
    Nothing,
    /// One packet was received by its station.
    AtStation,
    /// One packet was received by the access point.
    AtAccessPoint,
    /// Any number of packets were received, which [`super::Cell::swap_received`] returns.
    Several,
}

impl OffAir {
    /// Returns the receiver of a packet: a station if the packet is sent `down`, else the access
    /// point.
    #[inline]
    pub(super) fn of(down: bool) -> OffAir {
        match down {
            true => OffAir::AtStation,
            false => OffAir::AtAccessPoint,
        }
    }
}
