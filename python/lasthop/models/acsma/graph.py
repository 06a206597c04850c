"""Conflict graphs: which links of a CSMA network sense each other (paper 001, section 3.2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from lasthop.models.acsma.errors import NetworkError


@dataclass(frozen=True)
class ConflictGraph:
    r"""Links of a wireless network, with the pairs of links that sense each other, :math:`G_c`.

    Two links that sense each other are never active simultaneously. All other pairs of links can be
    active simultaneously. A set of links in which no two links sense each other is an independent
    set. Its links can transmit simultaneously.

    Attributes
    ----------
    links : tuple of str
        Names of the links, in the order of every vector over links.
    edges : frozenset of (int, int)
        Pairs of positions in `links`, the smaller position first.
    """

    links: tuple[str, ...]
    edges: frozenset[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.links)

    @cached_property
    def neighbours(self) -> tuple[frozenset[int], ...]:
        """Set of conflicting links for each link."""
        results: list[set[int]] = [set() for _ in self.links]
        for a, b in self.edges:
            results[a].add(b)
            results[b].add(a)
        return tuple(map(frozenset, results))

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Connected components of the graph: groups of links that are connected by conflicts,
        directly or through other links. The links of a group are in the order of `links`.
        """
        left = set(range(len(self)))
        groups = []
        while left:
            group, frontier = set(), {min(left)}
            while frontier:
                group |= frontier
                frontier = set().union(*(self.neighbours[link] for link in frontier)) - group
            left -= group
            groups.append(tuple(sorted(group)))
        return tuple(groups)

    def within(self, links: Iterable[int]) -> "ConflictGraph":
        """Return the conflict graph of the given links only, in the given order."""
        remaining = list(links)
        place = {link: number for number, link in enumerate(remaining)}
        edges = frozenset(
            (min(place[a], place[b]), max(place[a], place[b]))
            for a, b in self.edges
            if a in place and b in place
        )
        return ConflictGraph(tuple(self.links[link] for link in remaining), edges)


def from_edges(links: Iterable[str], conflicts: Iterable[tuple[str, str]]) -> ConflictGraph:
    """Return a conflict graph from a list of its conflicts.

    Parameters
    ----------
    links : iterable of str
        Names of the links.
    conflicts : iterable of (str, str)
        Pairs of links that sense each other; order and repetitions do not matter.

    Raises
    ------
    NetworkError
        If there are no links, if a name occurs twice, or if a conflict names an unknown link or the
        same link twice.
    """
    names = tuple(links)
    if not names:
        raise NetworkError("the network has no wireless link")
    place = {name: number for number, name in enumerate(names)}
    if len(place) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise NetworkError(f"link {twice} is there twice; names are unique")
    edges = set()
    for link, other in conflicts:
        for name in (link, other):
            if name not in place:
                raise NetworkError(f"conflict {link}-{other}: there is no wireless link {name}")
        if link == other:
            raise NetworkError(f"conflict {link}-{other}: a link does not conflict with itself")
        a, b = place[link], place[other]
        edges.add((min(a, b), max(a, b)))
    return ConflictGraph(names, frozenset(edges))
