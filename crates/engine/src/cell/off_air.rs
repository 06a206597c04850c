//! Packets that have come off the air, with the place where they are.

/// Number and place of the packets that have come off the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffAir {
    /// No packet has come off the air.
    Nothing,
    /// One packet is at its station.
    AtStation,
    /// One packet is at the access point.
    AtAccessPoint,
    /// Any number of packets, which [`super::Cell::swap_received`] returns.
    Several,
}

impl OffAir {
    /// Returns the place of a packet that comes off the air: a station if the packet goes `down`,
    /// else the access point.
    pub(super) fn of(down: bool) -> OffAir {
        match down {
            true => OffAir::AtStation,
            false => OffAir::AtAccessPoint,
        }
    }
}
