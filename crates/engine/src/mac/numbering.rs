//! Numbers of the nodes of a BSS: the access point first, then its stations in the order of the
//! scenario.

/// Number of the access point.
pub const AP: u32 = 0;

/// Returns the node number of station number `station`, counted from 0.
#[inline]
pub const fn node_of(station: usize) -> u32 {
    station as u32 + 1
}

/// Returns the station that `node` is, counted from 0; `None` for the access point.
#[inline]
pub const fn station_of(node: u32) -> Option<usize> {
    match node {
        AP => None,
        station => Some(index_of(station)),
    }
}

/// Returns the station that `node`, which is not the access point, is, counted from 0.
#[inline]
pub const fn index_of(node: u32) -> usize {
    node as usize - 1
}

/// Returns the station of a link between the access point and a station, counted from 0.
#[inline]
pub const fn station_of_link(from: u32, to: u32) -> usize {
    index_of(if from == AP { to } else { from })
}
