//! The set-associative hash of flows and hosts, and the weights of host isolation ("Piece of CAKE",
//! 2018, sections III-B and III-C).
//!
//! A table of 1024 places consists of sets of 8 places. A flow may use any place of its set, so that
//! two flows share a queue only if all 8 places of their set are in use. Each busy flow of a host
//! with n flows in the bulk rotation gets 1/n of a quantum. With isolation of both ends, n is the
//! larger of the numbers of the source and of the destination.

use crate::words;

/// Number of queues of a tin.
pub(super) const QUEUES: u16 = 1024;
/// Number of places of a set.
const WAYS: usize = 8;

words! {
    /// Entities among which the capacity is shared.
    pub enum Isolation {
        /// One queue for all packets.
        Flowblind = "flowblind",
        /// One queue for each source host.
        Srchost = "srchost",
        /// One queue for each destination host.
        Dsthost = "dsthost",
        /// One queue for each pair of hosts.
        Hosts = "hosts",
        /// One queue for each flow.
        Flows = "flows",
        /// Source hosts share the capacity, and flows share the part of their source host.
        DualSrchost = "dual-srchost",
        /// Destination hosts share the capacity, and flows share the part of their destination host.
        DualDsthost = "dual-dsthost",
        /// Flows share the capacity so that neither a source host nor a destination host gets more
        /// because it has more flows.
        TripleIsolate = "triple-isolate",
    }
}

impl Isolation {
    /// Returns whether the numbers of flows of source hosts and of destination hosts matter.
    pub(super) fn ends(self) -> [bool; 2] {
        match self {
            Isolation::DualSrchost => [true, false],
            Isolation::DualDsthost => [false, true],
            Isolation::TripleIsolate => [true, true],
            _ => [false, false],
        }
    }

    /// Returns whether the queue depends on the hosts of a packet.
    pub(super) fn sees_hosts(self) -> bool {
        !matches!(self, Isolation::Flowblind | Isolation::Flows)
    }
}

/// Result of a look-up in a table of tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The place has the tag.
    Same(u16),
    /// The place is free.
    Free(u16),
    /// The place is the first choice of the tag, and has another tag. All places of the set are in
    /// use.
    Shared(u16),
}

/// Returns the place for `tag` in `tags`. `is_used` says whether a place is in use.
pub(super) fn find(tags: &[u32], tag: u32, is_used: impl Fn(usize) -> bool) -> Found {
    let first = (tag % u32::from(QUEUES)) as usize;
    let set = first - first % WAYS;
    let ways = || (0..WAYS).map(|way| set + (first + way) % WAYS);
    if let Some(place) = ways().find(|&place| tags[place] == tag) {
        return Found::Same(place as u16);
    }
    match ways().find(|&place| !is_used(place)) {
        Some(place) => Found::Free(place as u16),
        None => Found::Shared(first as u16),
    }
}

/// Hosts at one end of flows, with their numbers of flows in the bulk rotation.
#[derive(Clone, Debug, Default)]
pub(super) struct HostTable {
    tags: Vec<u32>,
    bulk_flows: Vec<u16>,
}

impl HostTable {
    pub(super) fn new() -> HostTable {
        HostTable {
            tags: vec![0; usize::from(QUEUES)],
            bulk_flows: vec![0; usize::from(QUEUES)],
        }
    }

    /// Returns the place of the host with this tag. If the host has no place, it gets the place of a
    /// host without bulk flows.
    pub(super) fn place(&mut self, tag: u32) -> u16 {
        match find(&self.tags, tag, |place| self.bulk_flows[place] > 0) {
            Found::Same(place) => place,
            Found::Free(place) | Found::Shared(place) => {
                self.tags[usize::from(place)] = tag;
                place
            }
        }
    }

    /// Returns the number of bulk flows of a host.
    pub(super) fn load(&self, place: u16) -> u16 {
        self.bulk_flows[usize::from(place)]
    }

    /// Counts a flow of the host that enters the bulk rotation.
    pub(super) fn enter(&mut self, place: u16) {
        self.bulk_flows[usize::from(place)] += 1;
    }

    /// Counts a flow of the host that leaves the bulk rotation.
    pub(super) fn leave(&mut self, place: u16) {
        self.bulk_flows[usize::from(place)] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tags 5, 5 + 1024, 5 + 2048, ... have the same first choice, place 5 in the set 0 to 7.
    #[test]
    fn eight_flows_of_a_set_have_queues_of_their_own_and_the_ninth_shares() {
        let mut tags = vec![0; usize::from(QUEUES)];
        let mut used = vec![false; usize::from(QUEUES)];
        let mut places = Vec::new();
        for k in 0..8 {
            let tag = 5 + 1024 * k;
            let Found::Free(place) = find(&tags, tag, |place| used[place]) else {
                panic!("place {k} is free");
            };
            tags[usize::from(place)] = tag;
            used[usize::from(place)] = true;
            places.push(place);
        }
        assert_eq!(places, [5, 6, 7, 0, 1, 2, 3, 4]);
        let find_again = |tag| find(&tags, tag, |place| used[place]);
        assert_eq!(find_again(5 + 1024 * 3), Found::Same(0));
        assert_eq!(find_again(5 + 1024 * 8), Found::Shared(5));
        assert_eq!(find_again(8), Found::Free(8), "another set");
    }

    #[test]
    fn a_host_without_bulk_flows_gives_up_its_place() {
        let mut hosts = HostTable::new();
        let first = hosts.place(5);
        hosts.enter(first);
        assert_eq!([first, hosts.place(5)], [5, 5]);
        assert_eq!([hosts.place(1029), hosts.load(6)], [6, 0]);
        assert_eq!(hosts.place(2053), 6, "host 1029 has no bulk flow");
        hosts.leave(first);
        assert_eq!(hosts.load(first), 0);
    }
}
