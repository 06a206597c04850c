//! Basic service sets, and the numbering of the nodes of a scenario.

use super::Cell;

/// Number of a node, unique in its scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// Returns the index of the node in a list of all nodes.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Roles of the nodes of a scenario. The access points have the lowest numbers, in the order of
/// their BSSs. The stations have the next numbers, in the order of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    access_points: u32,
}

impl Roles {
    /// Returns the index of station `node`, counted from 0; `None` if `node` is an access point.
    #[inline]
    pub const fn station_of(self, node: NodeId) -> Option<usize> {
        match node.0 < self.access_points {
            true => None,
            false => Some(self.index_of(node)),
        }
    }

    /// Returns the node number of the station with index `station`, counted from 0.
    #[inline]
    pub const fn node_of(self, station: usize) -> NodeId {
        NodeId(self.access_points + station as u32)
    }

    /// Returns the index of station `node`, counted from 0. The caller ensures that `node` is not
    /// an access point.
    #[inline]
    pub const fn index_of(self, node: NodeId) -> usize {
        (node.0 - self.access_points) as usize
    }
}

/// A basic service set (BSS): an access point and its stations.
#[derive(Clone, Debug, PartialEq)]
pub struct Bss {
    /// Settings of the BSS, including those of its access point.
    pub cell: Cell,
    /// Node number of the access point.
    pub ap: NodeId,
    /// Node numbers of the stations, in the order of the scenario.
    pub stations: Vec<NodeId>,
    /// Roles of all nodes of the scenario.
    pub roles: Roles,
}

impl Bss {
    /// Returns the BSS of a scenario with a single BSS, which contains all stations of the
    /// scenario.
    pub fn only(cell: Cell, stations: usize) -> Bss {
        let roles = Roles { access_points: 1 };
        Bss {
            cell,
            ap: NodeId(0),
            stations: (0..stations)
                .map(|station| roles.node_of(station))
                .collect(),
            roles,
        }
    }

    /// Returns the numbers of the nodes of the BSS.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        std::iter::once(self.ap).chain(self.stations.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_follow_the_access_points_of_all_bsss() {
        let roles = Roles { access_points: 2 };
        let station_of = |number| roles.station_of(NodeId(number));
        assert_eq!([0, 1].map(station_of), [None, None]);
        assert_eq!([2, 5].map(station_of), [Some(0), Some(3)]);
        assert_eq!((0..4).map(|n| roles.node_of(n).0).max(), Some(5));
    }
}
