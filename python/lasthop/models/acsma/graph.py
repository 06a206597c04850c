"""Conflict graphs: which links of a CSMA network hear each other (section 3.2)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import dist
from typing import NamedTuple

from lasthop.models.acsma.errors import NetworkError

__all__ = ["ConflictGraph", "Position", "from_edges", "from_positions"]


class Position(NamedTuple):
    """Where a node stands."""

    x_m: float
    """[m]"""
    y_m: float
    """[m]"""


@dataclass(frozen=True)
class ConflictGraph:
    r"""Links of a wireless network and the pairs of them that sense each other, :math:`G_c`.

    Two links that sense each other are never active at a time; any two others may be. A set of
    links without such a pair is an independent set: a schedule that can be in the air.

    Attributes
    ----------
    links : tuple of str
        Names, in the order of every vector over links.
    edges : frozenset of (int, int)
        Pairs of positions in `links`, the smaller first.
    """

    links: tuple[str, ...]
    edges: frozenset[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.links)

    @cached_property
    def neighbours(self) -> tuple[frozenset[int], ...]:
        """Links that each link conflicts with."""
        found: list[set[int]] = [set() for _ in self.links]
        for a, b in self.edges:
            found[a].add(b)
            found[b].add(a)
        return tuple(map(frozenset, found))

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Links that are tied by conflicts, directly or through others, each group in order."""
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
        """The graph of some of the links only, in the order given."""
        kept = list(links)
        place = {link: number for number, link in enumerate(kept)}
        edges = frozenset(
            (min(place[a], place[b]), max(place[a], place[b]))
            for a, b in self.edges
            if a in place and b in place
        )
        return ConflictGraph(tuple(self.links[link] for link in kept), edges)

    def require_connected(self) -> None:
        """Refuse a graph that falls into parts.

        Raises
        ------
        NetworkError
            With one link of each of the first two parts.
        """
        if len(self.components) > 1:
            first, second = (self.links[group[0]] for group in self.components[:2])
            raise NetworkError(
                f"the conflict graph is not connected: it has {len(self.components)} parts, link "
                f"{first} is in one and link {second} in another"
            )


def from_edges(links: Iterable[str], conflicts: Iterable[tuple[str, str]]) -> ConflictGraph:
    """A conflict graph given directly.

    Parameters
    ----------
    links : iterable of str
        Names of the links.
    conflicts : iterable of (str, str)
        Pairs of links that sense each other; order and repetition do not matter.

    Raises
    ------
    NetworkError
        No links, a name twice, a conflict of a link that there is not, or with itself.
    """
    names = tuple(links)
    if not names:
        raise NetworkError("the network has no wireless link")
    place = {name: number for number, name in enumerate(names)}
    if len(place) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise NetworkError(f"link {twice} is there twice; names are unique")
    edges = set()
    for one, other in conflicts:
        for name in (one, other):
            if name not in place:
                raise NetworkError(f"conflict {one}-{other}: there is no wireless link {name}")
        if one == other:
            raise NetworkError(f"conflict {one}-{other}: a link does not conflict with itself")
        a, b = place[one], place[other]
        edges.add((min(a, b), max(a, b)))
    return ConflictGraph(names, frozenset(edges))


def from_positions(
    nodes: Mapping[str, Position],
    links: Mapping[str, tuple[str, str]],
    transmission_range_m: float,
    sensing_range_m: float,
) -> ConflictGraph:
    """A conflict graph from where the nodes stand.

    Two links conflict if their transmitters are within carrier-sensing range of each other, or if
    they share a node, which cannot send and receive at a time.

    Parameters
    ----------
    nodes : mapping of str to Position
        Where the nodes stand. [m]
    links : mapping of str to (str, str)
        Transmitter and receiver of each link.
    transmission_range_m, sensing_range_m : float
        How far a frame can be received, and how far sensed. [m]

    Raises
    ------
    NetworkError
        A link names a node that there is not or has one node at both ends, is longer than the
        transmission range, or a range is not positive.
    """
    for name, reach in (("transmission", transmission_range_m), ("sensing", sensing_range_m)):
        if not reach > 0.0:
            raise NetworkError(f"{name} range = {reach:g} m is not positive")
    for name, ends in links.items():
        for node in ends:
            if node not in nodes:
                raise NetworkError(f"link {name}: there is no node {node}")
        if ends[0] == ends[1]:
            raise NetworkError(f"link {name}: node {ends[0]} is at both of its ends")
        length = dist(nodes[ends[0]], nodes[ends[1]])
        if length > transmission_range_m:
            raise NetworkError(
                f"link {name} is {length:g} m long, beyond the transmission range of "
                f"{transmission_range_m:g} m"
            )
    names = list(links)
    conflicts = [
        (one, other)
        for number, one in enumerate(names)
        for other in names[:number]
        if set(links[one]) & set(links[other])
        or dist(nodes[links[one][0]], nodes[links[other][0]]) <= sensing_range_m
    ]
    return from_edges(names, conflicts)
