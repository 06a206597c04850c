"""Stationary distribution by a junction tree, which is exact, and fast for sparse graphs.

Links are eliminated one after the other. When a link is eliminated, its remaining neighbours are
connected to each other. The weight of the eliminated links is then passed on to the neighbour that
is eliminated next. The *bag* of a link is the link with its neighbours at its elimination; these
neighbours are the *separator*. The parent of a bag is the bag of the neighbour that is eliminated
next. A state of a bag is an independent set within the bag. The next link to be eliminated is the
link whose elimination connects the fewest new pairs (min-fill), so that bags are small. If the
conflict graph is a chain or tree, each bag has at most two links. A sparse geometric graph of 2000
links has bags of about twenty links.

S. L. Lauritzen, D. J. Spiegelhalter, "Local computations with probabilities on graphical
structures and their application to expert systems", J. R. Statist. Soc. B 50 (1988).
"""

from heapq import heapify, heappop, heappush
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasthop.models.acsma.errors import TooLargeError
from lasthop.models.acsma.graph import ConflictGraph
from lasthop.models.acsma.sets import Floats, sets_of

Indices = NDArray[np.intp]

MAX_STATES = 1 << 23
"""Largest total number of states of all bags."""


class Elimination(NamedTuple):
    """Elimination of one link."""

    link: int
    later: tuple[int, ...]
    """Neighbours to which the link is connected at its elimination, in the order in which the
    neighbours are eliminated.
    """


def min_fill_order(graph: ConflictGraph) -> list[Elimination]:
    """Return the links in the order of elimination, each with its neighbours at its elimination.

    The link with the fewest new pairs of neighbours comes first. Ties are broken by fewer
    neighbours, then by the order of the links.
    """
    tied = [set(group) for group in graph.neighbours]
    fill = [_fill(tied, link) for link in range(len(graph))]
    heap = [(fill[link], len(tied[link]), link) for link in range(len(graph))]
    heapify(heap)
    turn = dict[int, int]()
    groups = []
    while heap:
        pairs, degree, link = heappop(heap)
        if link in turn or (pairs, degree) != (fill[link], len(tied[link])):
            continue  # the heap has a newer entry of this link
        turn[link] = len(turn)
        around = tied[link]
        groups.append((link, tuple(around)))
        touched = set(around)
        for each in around:
            tied[each].discard(link)
            new = around - tied[each] - {each}
            if new:
                touched |= tied[each]
                tied[each] |= new
        for each in around:
            touched |= tied[each]
        for each in touched - turn.keys():
            fill[each] = _fill(tied, each)
            heappush(heap, (fill[each], len(tied[each]), each))
    return [Elimination(link, tuple(sorted(later, key=turn.__getitem__))) for link, later in groups]


def _fill(tied: list[set[int]], link: int) -> int:
    """Return the number of pairs of a link's neighbours that are not connected."""
    around = tied[link]
    known = sum(len(tied[each] & around) for each in around)
    return (len(around) * (len(around) - 1) - known) // 2


class _Bag(NamedTuple):
    """Bag of the junction tree: a link and its separator, which consists of the link's neighbours
    at its elimination. States in which the link is silent come first, then states in which it is
    active.
    """

    link: int
    parent: int
    """Index of the parent bag, -1 for a root."""
    without: int
    """Number of states in which the link is silent, which equals the number of separator states."""
    joins: Indices
    """Indices of the separator states in which the link may be active."""
    into: Indices
    """For each state of the parent bag, the index of the separator state of this bag that the state
    contains.
    """


class _Odds(NamedTuple):
    """Conditional probabilities of a link, for each separator state in which the link may be
    active."""

    active: Floats
    """Probability that the link is active."""
    silent: Floats
    """Probability that the link is silent, computed separately from `active` for full relative
    precision.
    """
    change: Floats
    """Derivative of `active` if the log fugacity changes in a direction."""


class JunctionTree:
    """Stationary distribution of the active links, Eq. (3.2), computed on a junction tree.

    Parameters
    ----------
    graph : ConflictGraph
        The network.

    Attributes
    ----------
    width : int
        Width of the elimination order: the number of links in the largest bag, less one.
    states : int
        Total number of states of all bags.

    Raises
    ------
    TooLargeError
        If the bags have more than `MAX_STATES` states.
    """

    method: Literal["junction tree"] = "junction tree"

    def __init__(self, graph: ConflictGraph, most: int = MAX_STATES) -> None:
        order = min_fill_order(graph)
        self.width = max(len(turn.later) for turn in order)
        turn_of = {turn.link: number for number, turn in enumerate(order)}
        bags: list[_Bag] = []
        inside: list[NDArray[np.bool_]] = []
        total = 0
        for turn in order:
            separator = _independent(graph, turn.later, most - total)
            near = [k for k, link in enumerate(turn.later) if link in graph.neighbours[turn.link]]
            joins = np.flatnonzero(~separator[:, near].any(axis=1))
            total += len(separator) + len(joins)
            parent = turn_of[turn.later[0]] if turn.later else -1
            bags.append(_Bag(turn.link, parent, len(separator), joins, np.empty(0, np.intp)))
            inside.append(separator)
            if total > most:
                raise _too_large(graph, most)
        for number, bag in enumerate(bags):
            if bag.parent >= 0:
                into = _restriction(order, bags, inside, number, bag.parent)
                bags[number] = bag._replace(into=into)
        self._bags = bags
        self._links = len(graph)
        self.states = total

    def airtime(self, log_fugacity: Floats) -> Floats:
        r"""Return the fraction of time for which each link is active, :math:`y_l` of (3.3). [-]

        Parameters
        ----------
        log_fugacity : ndarray, shape (links,)
            :math:`\beta r_l`: logarithm of the ratio of mean transmission time to mean backoff
            time. [-]
        """
        return self._propagate(log_fugacity, None)[1]

    def log_partition(self, log_fugacity: Floats) -> float:
        r"""Return the logarithm of the partition function, :math:`\log \sum_i \exp(\sum_{l \in i}
        \beta r_l)`, with the sum over independent sets i. It is :math:`\beta g_\beta` of Eq.
        (5.12).
        """
        return self._collect(log_fugacity, None)[0]

    def response(self, log_fugacity: Floats, direction: Floats) -> Floats:
        """Return the derivative of the air times if `log_fugacity` changes in the direction
        `direction`: the covariance matrix of the links' activity times the direction.
        """
        return self._propagate(log_fugacity, direction)[2]

    def _collect(self, z: Floats, dz: Floats | None) -> tuple[float, list[_Odds]]:
        """Pass messages from the leaves to the roots. Return the logarithm of the partition
        function Z, and the conditional probabilities of each link given its separator.
        """
        weight: list[Floats | float] = [0.0] * len(self._bags)
        slope: list[Floats | float] = [0.0] * len(self._bags)
        given: list[_Odds] = []
        total = 0.0
        for number, bag in enumerate(self._bags):
            size = bag.without + len(bag.joins)
            own = np.broadcast_to(weight[number], (size,))
            silent, talking = own[: bag.without], own[bag.without :] + z[bag.link]
            message = silent.copy()
            message[bag.joins] = np.logaddexp(silent[bag.joins], talking)
            active = np.exp(talking - message[bag.joins])
            complement = np.exp(silent[bag.joins] - message[bag.joins])
            change = np.zeros_like(active)
            if dz is not None:
                along = np.broadcast_to(slope[number], (size,))
                grown = along[: bag.without].copy()
                difference = along[bag.without :] + dz[bag.link] - grown[bag.joins]
                change = active * complement * difference
                grown[bag.joins] += active * difference
                if bag.parent >= 0:
                    slope[bag.parent] = slope[bag.parent] + grown[bag.into]
            given.append(_Odds(active, complement, change))
            largest = float(message.max())
            total += largest
            if bag.parent >= 0:
                weight[bag.parent] = weight[bag.parent] + (message - largest)[bag.into]
        return total, given

    def _propagate(self, z: Floats, dz: Floats | None) -> tuple[float, Floats, Floats]:
        """Pass messages to the roots and back; return log Z, the air times, and their derivatives
        in the direction `dz`.
        """
        total, given = self._collect(z, dz)
        airtime, response = np.zeros(self._links), np.zeros(self._links)
        belief: list[Floats] = [np.empty(0)] * len(self._bags)
        shift: list[Floats] = [np.empty(0)] * len(self._bags)
        for number in range(len(self._bags) - 1, -1, -1):
            bag, odds = self._bags[number], given[number]
            outside = _gathered(bag, belief[bag.parent]) if bag.parent >= 0 else np.ones(1)
            talking = outside[bag.joins] * odds.active
            airtime[bag.link] = talking.sum()
            silent = outside.copy()
            silent[bag.joins] *= odds.silent
            belief[number] = np.concatenate([silent, talking])
            if dz is None:
                continue
            moved = _gathered(bag, shift[bag.parent]) if bag.parent >= 0 else np.zeros(1)
            louder = moved[bag.joins] * odds.active + outside[bag.joins] * odds.change
            response[bag.link] = louder.sum()
            quieter = moved.copy()
            quieter[bag.joins] -= louder
            shift[number] = np.concatenate([quieter, louder])
        return total, airtime, response


def _gathered(bag: _Bag, of_parent: Floats) -> Floats:
    """Return, for each separator state of a bag, the sum of `of_parent` over the states of the
    parent bag that contain this separator state.
    """
    return np.asarray(np.bincount(bag.into, of_parent, bag.without), dtype=np.float64)


def _independent(graph: ConflictGraph, links: tuple[int, ...], most: int) -> NDArray[np.bool_]:
    """Return the independent sets among the given links (columns), one set per row."""
    earlier = [
        [j for j in range(k) if links[j] in graph.neighbours[link]] for k, link in enumerate(links)
    ]
    return sets_of(earlier, most, _too_large(graph, MAX_STATES))


def _restriction(
    order: list[Elimination],
    bags: list[_Bag],
    inside: list[NDArray[np.bool_]],
    number: int,
    parent: int,
) -> Indices:
    """Return the index of the separator state of a bag for each state of its parent bag."""
    separator, around = order[number].later, order[parent]
    above = bags[parent]
    joined = inside[parent][above.joins]
    states = np.zeros((above.without + len(above.joins), 1 + len(around.later)), np.bool_)
    states[above.without :, 0] = True
    states[: above.without, 1:] = inside[parent]
    states[above.without :, 1:] = joined
    column = {link: k for k, link in enumerate((around.link, *around.later))}
    own = _keys(inside[number])
    wanted = _keys(states[:, [column[link] for link in separator]])
    in_order = np.argsort(own)
    return np.asarray(in_order[np.searchsorted(own, wanted, sorter=in_order)], dtype=np.intp)


def _keys(members: NDArray[np.bool_]) -> NDArray[np.bytes_]:
    """Return one sortable value per row of bits. Rows may have any length."""
    packed = np.ascontiguousarray(np.packbits(members, axis=1))
    return packed.view(f"S{packed.shape[1]}")[:, 0]


def _too_large(graph: ConflictGraph, most: int) -> TooLargeError:
    return TooLargeError(
        f"the junction tree of {len(graph)} links has more than {most} states: the conflict graph "
        "is too dense",
        "Glauber sampling has no such limit",
    )
