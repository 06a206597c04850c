//! Static routes with the fewest links between two nodes. Of several routes with equally many
//! links, the route that is found first in the order of the file is used.

use std::collections::HashMap;

use super::model::{LinkRate, LinkSettings};
use crate::kernel::time::Span;

/// A route through the network.
pub(super) struct Route {
    /// Indices of the route's links.
    pub(super) links: Vec<u32>,
    /// Sum of the links' propagation times.
    pub(super) delay: Span,
    /// Whether packets cross the route in zero time.
    pub(super) is_instant: bool,
}

/// Returns the names of all nodes at which links begin or end, in order of appearance.
pub(super) fn nodes(links: &[LinkSettings]) -> Vec<&str> {
    let mut nodes = Vec::new();
    let ends = links.iter().filter(|link| !link.of_host);
    for node in ends.flat_map(|link| [link.from.as_str(), link.to.as_str()]) {
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    nodes
}

/// Returns the route between two nodes; `None` if no links connect them. From a node to itself, the
/// route has no links.
pub(super) fn route(links: &[LinkSettings], from: &str, to: &str) -> Option<Route> {
    let mut outgoing: HashMap<&str, Vec<u32>> = HashMap::new();
    for (index, link) in links.iter().enumerate().filter(|(_, link)| !link.of_host) {
        outgoing.entry(&link.from).or_default().push(index as u32);
    }
    let mut arrived_by: HashMap<&str, u32> = HashMap::new();
    let mut frontier = vec![from];
    while !frontier.is_empty() && to != from && !arrived_by.contains_key(to) {
        let mut next = Vec::new();
        for &index in frontier
            .iter()
            .filter_map(|node| outgoing.get(node))
            .flatten()
        {
            let node = links[index as usize].to.as_str();
            if node != from && !arrived_by.contains_key(node) {
                arrived_by.insert(node, index);
                next.push(node);
            }
        }
        frontier = next;
    }
    let mut back = Vec::new();
    let mut node = to;
    while node != from {
        let index = *arrived_by.get(node)?;
        back.push(index);
        node = &links[index as usize].from;
    }
    back.reverse();
    let taken = || back.iter().map(|&index| &links[index as usize]);
    Some(Route {
        delay: taken().fold(Span::ZERO, |sum, link| sum + link.delay),
        is_instant: taken()
            .all(|link| link.rate == LinkRate::Unlimited && link.delay == Span::ZERO),
        links: back,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(ends: &[(&str, &str)]) -> Vec<LinkSettings> {
        let link = |&(from, to): &(&str, &str)| LinkSettings {
            delay: Span(1),
            ..LinkSettings::ideal(&format!("{from}{to}"), from, to)
        };
        ends.iter().map(link).collect()
    }

    fn taken(links: &[LinkSettings], from: &str, to: &str) -> Option<Vec<u32>> {
        route(links, from, to).map(|route| route.links)
    }

    #[test]
    fn the_fewest_links_win_and_then_the_file() {
        let links = links(&[
            ("a", "b"),
            ("b", "c"),
            ("c", "d"),
            ("a", "c"),
            ("a", "e"),
            ("e", "d"),
        ]);
        assert_eq!(taken(&links, "a", "d"), Some(vec![3, 2]));
        assert_eq!(taken(&links, "b", "d"), Some(vec![1, 2]));
        assert_eq!(taken(&links, "d", "a"), None);
        assert_eq!(taken(&links, "a", "a"), Some(vec![]));
        assert_eq!(
            route(&links, "a", "d").map(|route| route.delay),
            Some(Span(2))
        );
    }
}
