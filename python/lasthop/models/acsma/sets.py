r"""Independent sets of a conflict graph, and the stationary distribution by listing all of them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lasthop.models.acsma.errors import TooLargeError
from lasthop.models.acsma.graph import ConflictGraph

Floats = NDArray[np.float64]

MOST_SETS = 1 << 22
"""Largest number of independent sets that are listed."""


def independent_sets(graph: ConflictGraph, most: int = MOST_SETS) -> NDArray[np.bool_]:
    r"""Return all independent sets, :math:`\mathcal I`, the empty set first.

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
    """Return the sets without a conflict, given each element's conflicts with earlier elements."""
    members = np.zeros((1, len(earlier)), dtype=np.bool_)
    for member, near in enumerate(earlier):
        joined = members[~members[:, near].any(axis=1)].copy()
        joined[:, member] = True
        if len(members) + len(joined) > most:
            raise refusal
        members = np.concatenate([members, joined])
    return members


def maximal_sets(graph: ConflictGraph, most: int = MOST_SETS) -> NDArray[np.bool_]:
    """Return the independent sets to which no further link can be added; they span the capacity
    region.
    """
    members = independent_sets(graph, most)
    adjacent = np.zeros((len(graph), len(graph)), dtype=np.int64)
    for a, b in graph.edges:
        adjacent[a, b] = adjacent[b, a] = 1
    closed = members | (members @ adjacent > 0)
    return np.asarray(members[closed.all(axis=1)])


class Enumeration:
    r"""The stationary distribution (3.2) as a list of all independent sets.

    Parameters
    ----------
    graph : ConflictGraph
        The network.

    Raises
    ------
    TooLargeError
        If there are more than `MOST_SETS` sets.
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
        r"""Return the stationary distribution over the sets, :math:`p(i, r) = \tau_i` of (3.2),
        (5.4). [-]

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
        r"""Return the fraction of time each link is active, :math:`y_l` of (3.3). [-]"""
        return np.asarray(self.probabilities(log_fugacity) @ self._weights)

    def log_partition(self, log_fugacity: Floats) -> float:
        r"""Return :math:`\log \sum_i \exp(\sum_{l \in i} \beta r_l)`, :math:`\beta g_\beta` of
        (5.12).
        """
        exponent = self._weights @ log_fugacity
        largest = exponent.max()
        return float(largest + np.log(np.exp(exponent - largest).sum()))

    def response(self, log_fugacity: Floats, direction: Floats) -> Floats:
        """Return the change of the airtimes along a direction: the covariance of the links'
        activity times the direction.
        """
        prob = self.probabilities(log_fugacity)
        along = self._weights @ direction
        return np.asarray((prob * (along - prob @ along)) @ self._weights)
