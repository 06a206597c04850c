r"""Stationary distribution of a Markov chain whose states are ordered by levels.

The level of a state is the number of packets at the stations. A success of the AP raises the level
by one for each packet of its burst; a success of a station lowers the level. Every transition
changes the level. Solving the balance equations level by level is therefore Gauss-Seidel iteration
by whole blocks, which needs no factorisation. Between two sweeps the probabilities of the levels
are set to those of the aggregated chain, whose states are the levels. Elimination solves the
aggregated chain without a subtraction (Grassmann, Taksar and Heyman 1985). The sweeps then only
determine the distribution within each level.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lasthop.models.edca.cell import Floats, Integers
from lasthop.models.errors import ConvergenceError
from lasthop.progress.cost_limits import check_time

if TYPE_CHECKING:
    from scipy.sparse import csr_array

TOLERANCE = 1e-13
"""Total change of the distribution between rounds below which the iteration has converged. [-]"""

ROUNDS = 2_000
"""Largest number of rounds; usually five to fifty suffice."""

LEAST = 1e-250
"""Lower limit of the probability of a level; smaller probabilities are set to 0. [-]"""

LARGE = 1e200
"""Ratio of probabilities above which all probabilities are rescaled; small probabilities then
become 0.
"""


SMALL = 2000
"""Number of states up to which the transitions are stored as a dense matrix. At this size, dense
and sparse matrices are about equally fast. [-]
"""


@dataclass(frozen=True)
class Chain:
    """A Markov chain of successes, with states sorted by level.

    Attributes
    ----------
    first : ndarray of int
        Index of the first state of each level; the last element is the number of states.
    ap_wins : ndarray
        Probability that the next success is a success of the AP, by state. [-]
    one_packet : sparse array
        Transition probabilities for one packet of the AP, from level K to K + 1. Rows sum to one,
        except the rows of the last level, which are empty.
    station_burst : sparse array
        Transition probabilities for a success of a station, from level K to lower levels. Rows sum
        to one, except the row of level 0, which is empty.
    ap_packets, station_packets : int
        Largest burst of the AP, and largest burst of a station. A burst of the AP ends at the last
        level. [packets]
    """

    first: Integers
    ap_wins: Floats
    one_packet: "csr_array"
    station_burst: "csr_array"
    ap_packets: int
    station_packets: int

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self.first) - 1


def transitions(parts: list[tuple[Integers, Integers, Floats]], size: int) -> "csr_array":
    """Return a matrix of transition probabilities from lists of start states, end states and
    probabilities. End states with index -1 are left out.
    """
    from scipy.sparse import csr_array

    rows, columns, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    remaining = (columns >= 0) & (values > 0.0)
    return csr_array((values[remaining], (rows[remaining], columns[remaining])), shape=(size, size))


def stationary(chain: Chain, start: Floats) -> Floats:
    """Return the stationary distribution of a chain. [-]

    Parameters
    ----------
    chain : Chain
        Markov chain, whose first state must be reachable from every state.
    start : ndarray
        Initial guess, positive and of any scale.

    Raises
    ------
    ConvergenceError
        If the iteration does not converge.
    """
    sweep = _Sweep(chain)
    prob = sweep.aggregated(start)
    for _ in range(ROUNDS):
        check_time(f"a chain of {len(start)} states")
        last = prob
        prob = sweep.aggregated(sweep.round(prob))
        moved = float(np.abs(prob - last).sum())
        if moved <= TOLERANCE:
            return prob
    raise ConvergenceError(f"distribution still moves by {moved:.1e} after {ROUNDS} rounds")


class _Sweep:
    """Gauss-Seidel iteration for a chain whose transition matrix is divided into levels."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.parts = [slice(a, b) for a, b in pairwise(chain.first.tolist())]
        ap, station = _stored(chain.one_packet), _stored(chain.station_burst)
        self.up = [ap[above, here] for here, above in pairwise(self.parts)]  # one level up
        self.down: list[Any] = []  # steps to a level, by a burst from a higher level
        self.reach: list[slice] = []
        for level, here in enumerate(self.parts):
            last = min(level + chain.station_packets, chain.levels - 1)
            above = slice(here.stop, self.parts[last].stop)
            self.reach.append(above)
            self.down.append(station[here, above])
        self.drops = self._drops()

    def _drops(self) -> list[Floats]:
        """Return one matrix per level: the probability that a success of a station lowers the level
        by 1, 2, ... (columns), from each state of the level (rows).
        """
        chain = self.chain
        level = np.repeat(np.arange(chain.levels), np.diff(chain.first))
        steps, falls = chain.station_burst, chain.station_packets
        rows = np.repeat(np.arange(len(level)), np.diff(steps.indptr))
        place = rows * falls + level[rows] - level[steps.indices] - 1
        odds = np.bincount(place, steps.data, len(level) * falls).astype(np.float64)
        table = odds.reshape(-1, falls) * (1.0 - chain.ap_wins)[:, None]
        return [table[part] for part in self.parts]

    def round(self, prob: Floats) -> Floats:
        """Return the distribution after a round. A round solves the balance equations of one level
        after the other, first from the lowest to the highest level, then back.
        """
        chain, parts = self.chain, self.parts
        prob = prob.copy()
        lost = prob * (1.0 - chain.ap_wins)
        from_ap = np.zeros_like(prob)
        # Bursts of the AP in progress; column K modulo the burst length has the bursts that began
        # at level K.
        under_way = np.zeros((len(prob[parts[0]]), chain.ap_packets))
        for level, here in enumerate(parts):
            column = level % chain.ap_packets
            if level > 0:
                under_way = self.up[level - 1] @ under_way
                ends = level == chain.levels - 1
                from_ap[here] = under_way.sum(axis=1) if ends else under_way[:, column]
            prob[here] = from_ap[here] + self.down[level] @ lost[self.reach[level]]
            won = prob[here] * chain.ap_wins[here]
            lost[here] = prob[here] - won
            under_way[:, column] = won
        for level in range(chain.levels - 1, -1, -1):
            here = parts[level]
            prob[here] = from_ap[here] + self.down[level] @ lost[self.reach[level]]
            lost[here] = prob[here] * (1.0 - chain.ap_wins[here])
        return prob

    def aggregated(self, prob: Floats) -> Floats:
        """Return the distribution with the probabilities of the levels set to those of the
        aggregated chain; the distribution within each level does not change.
        """
        chain = self.chain
        levels, up, down = chain.levels, chain.ap_packets, chain.station_packets
        starts = chain.first[:-1]
        masses = np.add.reduceat(prob, starts)
        reached = masses > LEAST
        lowest = int(np.flatnonzero(reached)[0])
        wins = np.add.reduceat(prob * chain.ap_wins, starts)
        falls = np.stack(
            [prob[here] @ odds for here, odds in zip(self.parts, self.drops, strict=True)]
        )
        # In row K, column d + down has the probability of a transition from level K to level K + d.
        band = np.zeros((levels, down + up + 1))
        band[:, :down] = falls[:, ::-1]
        level = np.arange(levels - 1)
        band[level, down + np.minimum(up, levels - 1 - level)] = wins[:-1]
        np.divide(band, masses[:, None], out=band, where=reached[:, None])
        band[~reached] = 0.0
        band[~reached, down - 1] = 1.0  # such a level is practically never reached
        new = np.zeros(levels)
        new[lowest:] = eliminate(band[lowest:], down)
        remaining = reached & (new > LEAST)
        scale = np.divide(new, masses, out=np.zeros(levels), where=remaining)
        return np.asarray(prob * np.repeat(scale, np.diff(chain.first)))


def _stored(steps: "csr_array") -> Any:
    """Return the transposed transition matrix. A small matrix is returned as a dense matrix, whose
    blocks are processed faster.
    """
    return steps.toarray().T if steps.shape[0] <= SMALL else steps.T.tocsr()


def eliminate(band: Floats, down: int) -> Floats:
    """Return the stationary distribution of a chain with a banded transition matrix, by elimination
    from the last state.

    Parameters
    ----------
    band : ndarray
        ``band[state, d + down]`` is the probability of a transition from a state to ``state + d``.
        Rows are contiguous in memory. The array is overwritten.
    down : int
        Largest decrease of the state index in a transition.

    Notes
    -----
    The algorithm is that of Grassmann, Taksar and Heyman, "Regenerative analysis and steady state
    distributions for Markov chains", Operations Research 33 (1985). It only adds, multiplies and
    divides positive numbers.
    """
    states, width = band.shape
    up = width - 1 - down
    # View of the band as a square matrix, of which only the elements within the band are valid.
    step = band.strides[1]
    matrix = as_strided(band[0, down:], (states, states), ((width - 1) * step, step))
    leaving = np.zeros(states)
    for state in range(states - 1, 0, -1):
        lowest = max(0, state - down)
        to = band[state, lowest - state + down : down]
        leaving[state] = to.sum()
        if leaving[state] == 0.0:
            continue
        before = slice(max(0, state - up), state)
        matrix[before, lowest:state] += matrix[before, state, None] * (to / leaving[state])
    # No transition leads from this state to a lower state, so that all lower states are transient.
    base = int(np.flatnonzero(leaving == 0.0)[-1])
    prob = np.zeros(states)
    prob[base] = 1.0
    for state in range(base + 1, states):
        sources = np.arange(max(0, state - up), state)
        inflow = prob[sources] @ band[sources, state - sources + down]
        if inflow > LARGE * leaving[state]:
            prob /= inflow / leaving[state]
            inflow = leaving[state]
        prob[state] = inflow / leaving[state]
    return np.asarray(prob / prob.sum())
