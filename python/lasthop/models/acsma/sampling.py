"""The stationary distribution by sampling, for graphs that no exact method can take.

Glauber dynamics: a link of which no neighbour is active becomes active with the probability that it
has given its neighbours, else silent. Links of one colour of a proper colouring do not conflict and
are drawn together. Independent chains give the error; half of them begin in silence, and half from
a random maximal schedule. Aggressive links may keep chains in different schedules. The chains then
differ from each other, which the error shows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from lasthop.models.acsma.errors import ConvergenceError
from lasthop.models.acsma.graph import ConflictGraph
from lasthop.models.acsma.sets import Floats
from lasthop.progress.cost_limits import check_time, need

CHAINS = 128
"""Independent chains."""

FIRST_SWEEPS, MOST_SWEEPS = 256, 1 << 16
"""Sweeps over all links in the first attempt and at most; each attempt takes twice as many."""

BURN_IN = 0.25
"""Fraction of the sweeps that is not counted. [-]"""

GROUP_S, DRAW_S = 40e-6, 2e-9
"""Time of a sweep for each colour, and for each link, neighbour and chain; measured on one core of
an Intel Xeon server with numpy 2. [s]"""

CONFIDENCE = 0.95
"""Probability that the stated errors hold. [-]"""


class Sample(NamedTuple):
    """Airtimes from sampling."""

    airtime: Floats
    """Fraction of time each link is active. [-]"""
    error: float
    """Half width that holds for all links together with `CONFIDENCE` (Bonferroni). [-]"""
    ci95: Floats
    """Half width of each link's own 95 % interval. [-]"""
    sweeps: int
    """Sweeps of each chain, those that are not counted among them."""


def sample_airtime(
    graph: ConflictGraph, log_fugacity: Floats, tolerance: float = 0.01, seed: int = 1
) -> Sample:
    r"""Return the fraction of time each link is active, :math:`y_l` of (3.3), by Glauber dynamics.

    Parameters
    ----------
    graph : ConflictGraph
        The network.
    log_fugacity : ndarray, shape (links,)
        :math:`\beta r_l`: logarithm of mean transmission over mean backoff time. [-]
    tolerance : float
        Largest error for all links together; sweeps are doubled until it is met. [-]
    seed : int
        Seed of the chains.

    Raises
    ------
    ConvergenceError
        `MOST_SWEEPS` do not suffice; as where chains are stuck.
    TooCostlyError
        After the first sweeps, the remaining sweeps seem to exceed the limit of time.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    chains = _Chains(graph, log_fugacity, random)
    sweeps = FIRST_SWEEPS
    while True:
        result = chains.estimate(sweeps)
        if result.error <= tolerance:
            return result
        # Errors fall with the root of the sweeps; where chains are stuck they do not.
        enough = min(sweeps * (result.error / tolerance) ** 2, MOST_SWEEPS)
        sampling = f"sampling {len(graph)} links to within {tolerance:g}"
        need(sampling, time_s=2.0 * enough * chains.sweep_s)
        check_time(sampling)
        if sweeps >= MOST_SWEEPS:
            raise ConvergenceError(
                f"sampling {len(graph)} links: error {result.error:.2g} after {sweeps} sweeps, "
                f"wanted {tolerance:.2g}; aggressive links leave a schedule too rarely"
            )
        sweeps *= 2


class _Chains:
    """Chains that go on where the last attempt ended."""

    def __init__(self, graph: ConflictGraph, z: Floats, random: np.random.Generator) -> None:
        self._colours = [np.array(group) for group in _colour(graph)]
        self._near = [_neighbour_table(graph, group) for group in self._colours]
        self._chance = 1.0 / (1.0 + np.exp(-np.asarray(z, dtype=np.float64)))
        self._random = random
        # One more column, always silent, stands for the neighbours that a link does not have.
        self._active = np.zeros((CHAINS, len(graph) + 1), dtype=np.bool_)
        self._begin(graph)

    @property
    def sweep_s(self) -> float:
        """About how long a sweep takes. [s]"""
        tables = sum(near.size for near in self._near)
        return len(self._near) * GROUP_S + CHAINS * tables * DRAW_S

    def _begin(self, graph: ConflictGraph) -> None:
        """Half of the chains from a random maximal schedule."""
        for chain in self._active[CHAINS // 2 :]:
            for link in self._random.permutation(len(graph)):
                chain[link] = not any(chain[other] for other in graph.neighbours[link])

    def estimate(self, sweeps: int) -> Sample:
        """Return means over so many further sweeps, the first of which are not counted.

        What is averaged is a link's probability of being active given its neighbours, which
        has the same mean as its activity and varies less.
        """
        silent_sweeps = int(BURN_IN * sweeps)
        total = np.zeros((CHAINS, self._active.shape[1]))
        for sweep in range(sweeps):
            for group, near in zip(self._colours, self._near, strict=True):
                free = ~self._active[:, near].any(axis=2)
                chance = free * self._chance[group]
                self._active[:, group] = self._random.random(chance.shape) < chance
                if sweep >= silent_sweeps:
                    total[:, group] += chance
        means = total[:, :-1] / (sweeps - silent_sweeps)
        links = means.shape[1]
        deviation = means.std(axis=0, ddof=1) / np.sqrt(CHAINS)
        alone = stdtrit(CHAINS - 1, 0.5 + CONFIDENCE / 2.0)
        together = stdtrit(CHAINS - 1, 1.0 - (1.0 - CONFIDENCE) / (2.0 * links))
        return Sample(
            airtime=means.mean(axis=0),
            error=float(together * deviation.max()),
            ci95=np.asarray(alone * deviation),
            sweeps=sweeps,
        )


def _colour(graph: ConflictGraph) -> list[list[int]]:
    """Return links in groups without conflicts: greedy, those with the most conflicts first."""
    colour = dict[int, int]()
    for link in sorted(range(len(graph)), key=lambda each: (-len(graph.neighbours[each]), each)):
        taken = {colour[other] for other in graph.neighbours[link] if other in colour}
        colour[link] = next(shade for shade in range(len(graph)) if shade not in taken)
    groups: list[list[int]] = [[] for _ in range(1 + max(colour.values()))]
    for link in range(len(graph)):
        groups[colour[link]].append(link)
    return groups


def _neighbour_table(graph: ConflictGraph, group: NDArray[np.int_]) -> NDArray[np.int_]:
    """Return neighbours of each link of a group, filled up with the link that is always silent."""
    most = max(1, *(len(graph.neighbours[link]) for link in group))
    table = np.full((len(group), most), len(graph))
    for row, link in zip(table, group, strict=True):
        near = sorted(graph.neighbours[link])
        row[: len(near)] = near
    return table
