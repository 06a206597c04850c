//! Packets that have come off the air, and the place where they are.

/// Packets that have come off the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffAir {
    /// No packet.
    Nothing,
    /// A packet, at its station.
    AtStation,
    /// A packet, at the access point.
    AtAccessPoint,
    /// Any number of packets ([`super::Cell::swap_received`]).
    Several,
}

impl OffAir {
    /// Returns the place at which packets come off the air, which go `down` or up.
    pub(super) fn of(down: bool) -> OffAir {
        match down {
            true => OffAir::AtStation,
            false => OffAir::AtAccessPoint,
        }
    }
}
