r"""Independent sets of a conflict graph, and the stationary distribution computed from the list of
all independent sets.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lasthop.models.acsma.errors import TooLargeError
from lasthop.models.acsma.graph import ConflictGraph

Floats = NDArray[np.float64]

MAX_SETS = 1 << 22
"""Largest number of independent sets for enumeration."""


def independent_sets(graph: ConflictGraph, most: int = MAX_SETS) -> NDArray[np.bool_]:
    r"""Return all independent sets of a conflict graph, :math:`\mathcal I`; the first is the empty
    set.

    Returns
    -------
    ndarray of bool, shape (sets, links)
        Whether a link (column) belongs to a set (row).

    Raises
    ------
    TooLargeError
        If there are more than `most` sets.
    """
    earlier = [
        [near for near in graph.neighbours[link] if near < link] for link in range(len(graph))
    ]
    refusal = TooLargeError(
        f"{len(graph)} links have more than {most} independent sets",
        "the junction tree needs no list of them",
    )
    return sets_of(earlier, most, refusal)


def sets_of(
    earlier: Sequence[Sequence[int]], most: int, refusal: TooLargeError
) -> NDArray[np.bool_]:
    """Return all sets of elements in which no two elements conflict. `earlier` has, for each
    element, the conflicting elements that precede the element.
    """
    members = np.zeros((1, len(earlier)), dtype=np.bool_)
    for member, near in enumerate(earlier):
        joined = members[~members[:, near].any(axis=1)].copy()
        joined[:, member] = True
        if len(members) + len(joined) > most:
            raise refusal
        members = np.concatenate([members, joined])
    return members


def maximal_sets(graph: ConflictGraph, most: int = MAX_SETS) -> NDArray[np.bool_]:
    """Return the maximal independent sets, to which no further link can be added. These sets span
    the capacity region.
    """
    members = independent_sets(graph, most)
    adjacent = np.zeros((len(graph), len(graph)), dtype=np.int64)
    for a, b in graph.edges:
        adjacent[a, b] = adjacent[b, a] = 1
    closed = members | (members @ adjacent > 0)
    return np.asarray(members[closed.all(axis=1)])


class Enumeration:
    r"""Stationary distribution of the active links, Eq. (3.2), computed from the list of all
    independent sets.

    Parameters
    ----------
    graph : ConflictGraph
        The network.

    Raises
    ------
    TooLargeError
        If there are more than `MAX_SETS` sets.
    """

    method: Literal["enumeration"] = "enumeration"

    def __init__(self, graph: ConflictGraph) -> None:
        self.members = independent_sets(graph)

    @cached_property
    def _weights(self) -> Floats:
        return self.members.astype(np.float64)

    @property
    def states(self) -> int:
        """Number of independent sets."""
        return len(self.members)

    def probabilities(self, log_fugacity: Floats) -> Floats:
        r"""Return the stationary probability of each independent set i, :math:`p(i, r) = \tau_i` of
        Eqs. (3.2) and (5.4). [-]

        Parameters
        ----------
        log_fugacity : ndarray, shape (links,)
            :math:`\beta r_l`: logarithm of the ratio of mean transmission time to mean backoff
            time. [-]
        """
        exponent = self._weights @ log_fugacity
        weight = np.exp(exponent - exponent.max())
        return np.asarray(weight / weight.sum())

    def airtime(self, log_fugacity: Floats) -> Floats:
        r"""Return the fraction of time for which each link is active, :math:`y_l` of (3.3). [-]"""
        return np.asarray(self.probabilities(log_fugacity) @ self._weights)

    def log_partition(self, log_fugacity: Floats) -> float:
        r"""Return the logarithm of the partition function, :math:`\log \sum_i \exp(\sum_{l \in i}
        \beta r_l)`, with the sum over independent sets i. It is :math:`\beta g_\beta` of Eq.
        (5.12).
        """
        exponent = self._weights @ log_fugacity
        largest = exponent.max()
        return float(largest + np.log(np.exp(exponent - largest).sum()))

    def response(self, log_fugacity: Floats, direction: Floats) -> Floats:
        """Return the derivative of the air times if `log_fugacity` changes in the direction
        `direction`: the covariance matrix of the links' activity times the direction.
        """
        prob = self.probabilities(log_fugacity)
        along = self._weights @ direction
        return np.asarray((prob * (along - prob @ along)) @ self._weights)
