"""Air times of links by sampling, for conflict graphs that are too large for an exact method.

The sampling method is Glauber dynamics. In each sweep, a link without active neighbours becomes
active with its conditional probability, or silent; a link with active neighbours becomes silent.
The links are grouped by a proper colouring of the graph, so that the links of a group do not
conflict and can be drawn simultaneously. The differences between independent chains yield the
error. Half of the chains begin with all links silent, and half with a random maximal schedule. If
the aggressiveness is large, a chain may remain in one schedule. The chains then differ from each
other, so that the error is large.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lasthop.models.acsma.errors import ConvergenceError
from lasthop.models.acsma.graph import ConflictGraph
from lasthop.models.acsma.sets import Floats
from lasthop.progress.cost_limits import check_time, need

CHAINS = 128
"""Number of independent chains."""

FIRST_SWEEPS, MAX_SWEEPS = 256, 1 << 16
"""Number of sweeps over all links in the first estimate, and largest number of sweeps in an
estimate. Each estimate has twice as many sweeps as the previous estimate.
"""

BURN_IN = 0.25
"""Fraction of the sweeps that is discarded as burn-in. [-]"""

GROUP_S, DRAW_S = 40e-6, 2e-9
"""Computation time of a sweep: per colour, and per neighbour of each link in each chain. The times
were measured on one core of an Intel Xeon server with numpy 2. [s]
"""

CONFIDENCE = 0.95
"""Confidence level of the stated errors. [-]"""


class Sample(NamedTuple):
    """Air times of links from sampling, with their errors."""

    airtime: Floats
    """Fraction of time for which each link is active. [-]"""
    error: float
    """Half width of a simultaneous confidence interval for all links (Bonferroni), at the level
    `CONFIDENCE`. [-]
    """
    ci95: Floats
    """Half width of the 95 % confidence interval of each link. [-]"""
    sweeps: int
    """Number of sweeps of each chain, including the discarded sweeps."""


def sample_airtime(
    graph: ConflictGraph, log_fugacity: Floats, tolerance: float = 0.01, seed: int = 1
) -> Sample:
    r"""Return the fraction of time for which each link is active, :math:`y_l` of Eq. (3.3), by
    Glauber dynamics.

    Parameters
    ----------
    graph : ConflictGraph
        The network.
    log_fugacity : ndarray, shape (links,)
        :math:`\beta r_l`: logarithm of the ratio of mean transmission time to mean backoff time.
        [-]
    tolerance : float
        Largest error of any link; the number of sweeps is doubled until the error is at most this
        value. [-]
    seed : int
        Seed of the chains.

    Raises
    ------
    ConvergenceError
        If `MAX_SWEEPS` sweeps do not suffice, for example because chains remain in different
        schedules.
    TooCostlyError
        If the remaining sweeps would exceed the time limit, by an estimate after the first sweeps.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    chains = _Chains(graph, log_fugacity, random)
    sweeps = FIRST_SWEEPS
    while True:
        result = chains.estimate(sweeps)
        if result.error <= tolerance:
            return result
        # The error is inversely proportional to the square root of the number of sweeps, unless
        # chains remain in different schedules.
        enough = min(sweeps * (result.error / tolerance) ** 2, MAX_SWEEPS)
        sampling = f"sampling {len(graph)} links to within {tolerance:g}"
        need(sampling, time_s=2.0 * enough * chains.sweep_s)
        check_time(sampling)
        if sweeps >= MAX_SWEEPS:
            raise ConvergenceError(
                f"sampling {len(graph)} links: error {result.error:.2g} after {sweeps} sweeps, "
                f"wanted {tolerance:.2g}; aggressive links leave a schedule too rarely"
            )
        sweeps *= 2


class _Chains:
    """State of all chains. Each estimate continues the chains of the previous estimate."""

    def __init__(self, graph: ConflictGraph, z: Floats, random: np.random.Generator) -> None:
        self._colours = [np.array(group) for group in _colour(graph)]
        self._near = [_neighbour_table(graph, group) for group in self._colours]
        self._chance = 1.0 / (1.0 + np.exp(-np.asarray(z, dtype=np.float64)))
        self._random = random
        # The additional column is a link that is always silent. In the neighbour table, this link
        # fills the unused columns of links with few neighbours.
        self._active = np.zeros((CHAINS, len(graph) + 1), dtype=np.bool_)
        self._begin(graph)

    @property
    def sweep_s(self) -> float:
        """Estimated computation time of a sweep. [s]"""
        tables = sum(near.size for near in self._near)
        return len(self._near) * GROUP_S + CHAINS * tables * DRAW_S

    def _begin(self, graph: ConflictGraph) -> None:
        """Set half of the chains to a random maximal schedule."""
        for chain in self._active[CHAINS // 2 :]:
            for link in self._random.permutation(len(graph)):
                chain[link] = not any(chain[other] for other in graph.neighbours[link])

    def estimate(self, sweeps: int) -> Sample:
        """Return the means over `sweeps` further sweeps, of which the first ones are discarded as
        burn-in.

        The average is taken over the conditional probability that a link is active, given its
        neighbours. This probability has the same mean as the link's activity and a smaller
        variance.
        """
        from scipy.special import stdtrit

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
    """Return groups of links without conflicts within a group, by greedy colouring in descending
    order of the number of conflicts.
    """
    colour = dict[int, int]()
    for link in sorted(range(len(graph)), key=lambda each: (-len(graph.neighbours[each]), each)):
        taken = {colour[other] for other in graph.neighbours[link] if other in colour}
        colour[link] = next(shade for shade in range(len(graph)) if shade not in taken)
    groups: list[list[int]] = [[] for _ in range(1 + max(colour.values()))]
    for link in range(len(graph)):
        groups[colour[link]].append(link)
    return groups


def _neighbour_table(graph: ConflictGraph, group: NDArray[np.int_]) -> NDArray[np.int_]:
    """Return the neighbours of each link of a group, padded with the link that is always silent."""
    most = max(1, *(len(graph.neighbours[link]) for link in group))
    table = np.full((len(group), most), len(graph))
    for row, link in zip(table, group, strict=True):
        near = sorted(graph.neighbours[link])
        row[: len(near)] = near
    return table
