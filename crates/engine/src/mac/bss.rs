//! Basic service sets, and the numbers of the nodes of a scenario.

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

/// Roles of the nodes of a scenario. Access points have the first numbers, in the order of their
/// BSSs. The numbers of stations follow, in the order of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    access_points: u32,
}

impl Roles {
    /// Returns the station that `node` is, counted from 0; `None` for an access point.
    #[inline]
    pub const fn station_of(self, node: NodeId) -> Option<usize> {
        match node.0 < self.access_points {
            true => None,
            false => Some(self.index_of(node)),
        }
    }

    /// Returns the number of station `station`, counted from 0.
    #[inline]
    pub const fn node_of(self, station: usize) -> NodeId {
        NodeId(self.access_points + station as u32)
    }

    /// Returns the station that `node`, which is not an access point, is, counted from 0.
    #[inline]
    pub const fn index_of(self, node: NodeId) -> usize {
        (node.0 - self.access_points) as usize
    }
}

/// A basic service set (BSS): an access point and its stations.
#[derive(Clone, Debug, PartialEq)]
pub struct Bss {
    /// Settings of the BSS, those of its access point included.
    pub cell: Cell,
    /// Number of the access point.
    pub ap: NodeId,
    /// Numbers of the stations, in the order of the scenario.
    pub stations: Vec<NodeId>,
    /// Roles of all nodes of the scenario.
    pub roles: Roles,
}

impl Bss {
    /// Returns the only BSS of a scenario. It has all stations of the scenario.
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

    /// Returns the numbers of its nodes.
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
