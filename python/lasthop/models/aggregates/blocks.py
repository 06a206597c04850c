r"""Number of rounds for which each MPDU blocks a BlockAck window, from a Markov chain of blocks of
MPDUs.

A *round* is the transmission of one PPDU. An MPDU is *settled* when it is received or given up. Let
:math:`M_s` be the round at whose end all MPDUs up to number :math:`s` are settled, and :math:`G_s`
the number of rounds in which MPDU :math:`s` is sent. With a window of :math:`W` MPDUs, MPDU
:math:`s` is sent first in the round after :math:`M_{s-W}`, so that

.. math:: M_s = \max(M_{s-1},\; M_{s-W} + G_s), \qquad
          x_s = M_s - M_{s-1} = (G_s - Y_s)^+, \quad Y_s = x_{s-1} + \dots + x_{s-W+1}

:math:`x_s` is the *hold* of MPDU :math:`s`: the number of rounds in which it is the first unsettled
MPDU. The holds form a Markov chain of order :math:`W - 1`, and nearly all holds are 0. :math:`Y_s`,
the sum of the preceding :math:`W - 1` holds, is the *level*. A window advances by :math:`1 / E[x]`
MPDUs per round.

The chain is solved in *blocks* of :math:`b` MPDUs. For all MPDUs of a block, the level includes the
holds of the same :math:`m` preceding blocks, with :math:`b (m + 1/2) = W - 1/2`. Thus a hold
contributes to the level of :math:`W - 1` MPDUs on average. A state of the chain consists of the
hold of each block. For :math:`m = W - 1` (:math:`b = 1`) the chain is exact. For longer blocks the
results are smooth in :math:`b`, and module `window` extrapolates them to :math:`b = 1` by the cubic
through four values.

Within a block the level :math:`Y` is a running maximum: after :math:`u` MPDUs it is :math:`\max(Y,
G_1, \dots, G_u)`. The distribution of this maximum has a closed form for any real :math:`u`.
"""

from dataclasses import dataclass
from math import ceil, comb, log
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from lasthop.models.errors import ConvergenceError, ModelError
from lasthop.progress.cost_limits import check_time

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

NEVER, HARDLY_EVER = 1e-12, 1e-6
"""Limits of the probability of consecutive losses of an MPDU; sequences with a smaller probability
are neglected. The first limit is for windows that are solved MPDU by MPDU, the second for blocks.
The limit determines the highest level. The mean hold is too small by at most this probability. [-]
"""

MAX_STATES = 130_000
"""Largest number of states of a Markov chain; a chain of this size is solved in a third of a
second.
"""

FEW_LEVELS = 4
"""Highest level up to which the chain is solved by elimination, which then takes less than a
second. If the highest level were 6, elimination would take a minute. [rounds]
"""
MIN_BLOCKS = 5
"""Least number of blocks in the chain with the shortest blocks, for an accurate result."""

TOLERANCE, MAX_STEPS = 1e-12, 100_000
"""Largest change of the distribution in the last step of the iteration, and largest number of
steps. [-]
"""


def unsettled_probs(
    loss: float,
    attempts: int | None = None,
    collisions: float = 0.0,
    never: float = HARDLY_EVER,
) -> Floats:
    r"""Return the probability that an MPDU is unsettled after :math:`a` rounds, :math:`P(G > a)`.
    [-]

    .. math:: P(G > a) = p^a\, P(J_{a+1} \le A - 1 - a \mid J_1 < A), \qquad
              P(J_n = j) = \binom{j + n - 1}{j} c^j (1 - c)^n

    :math:`J_n` is the number of collisions before the :math:`n`-th PPDU that does not collide. Only
    PPDUs that do not collide count as rounds. :math:`G` is the number of rounds in which the MPDU
    is sent. Without collisions the probability is :math:`p^a` for :math:`a < A`.

    Parameters
    ----------
    loss : float
        Probability that an MPDU is lost, :math:`p`, below 1. [-]
    attempts : int, optional
        Attempts for an MPDU, :math:`A`; None if there is no limit.
    collisions : float
        Probability that a PPDU collides, :math:`c`. A collision counts as an attempt of each of its
        MPDUs. [-]
    never : float
        The result for :math:`a` rounds is set to 0 if the probability of :math:`a` consecutive
        losses is below this value. [-]
    """
    if loss == 0:
        return np.array([1.0, 0.0])
    enough = max(1, ceil(log(never) / log(loss)))
    last = enough if attempts is None else min(attempts, enough)
    probs = loss ** np.arange(last + 1.0)
    probs[last] = 0.0
    if attempts is not None and collisions > 0:
        for rounds in range(last):
            often = (comb(j + rounds, j) * collisions**j for j in range(attempts - rounds))
            probs[rounds] *= (1 - collisions) ** (rounds + 1) * sum(often)
        probs /= probs[0]
    return probs


def climb(unsettled: Floats, mpdus: float) -> Floats:
    r"""Return the transition probabilities of the level over :math:`u` MPDUs of a block, from each
    level (row) to each level (column). The level is the sum of the holds. [-]

    .. math:: P(\max(y, G_1, \dots, G_u) \le z) = P(G \le z)^u \quad (z \ge y)

    Parameters
    ----------
    unsettled : array of float
        :math:`P(G > a)`, from :math:`a = 0` to the first :math:`a` at which it is 0. [-]
    mpdus : float
        Number of MPDUs, :math:`u`; any real number from 0 on.
    """
    reached = (1.0 - unsettled) ** mpdus
    below = np.triu(np.ones((len(reached), len(reached)))) * reached
    return np.diff(below, axis=1, prepend=0.0)


@dataclass(frozen=True)
class Blocks:
    """Equilibrium of a Markov chain, whose state consists of the hold of each block in a window.
    The hold of a block is the number of rounds for which its MPDUs block the window.

    Attributes
    ----------
    unsettled : array of float
        Probability that an MPDU is unsettled after 0, 1, ... rounds. [-]
    length : float
        Number of MPDUs in a block, :math:`b`.
    holds : array of int
        States of the chain: the hold of each block, newest block first. [rounds]
    prob : array of float
        Equilibrium probability of each state at the start of a block. [-]
    """

    unsettled: Floats
    length: float
    holds: npt.NDArray[np.int8]
    prob: Floats

    @property
    def level(self) -> Integers:
        """Level of each state, which is the sum of the holds of its blocks. [rounds]"""
        total: Integers = self.holds.sum(axis=1, dtype=np.int64)
        return total

    @property
    def level_prob(self) -> Floats:
        """Distribution of the level (the sum of the holds) at the start of a block. [-]"""
        zeros: Floats = np.zeros(len(self.unsettled))
        np.add.at(zeros, self.level, self.prob)
        return zeros

    def hold_rounds(self) -> float:
        """Return the mean hold, :math:`E[x]`: the rounds for which an MPDU blocks the window.
        [rounds]
        """
        levels = np.arange(len(self.unsettled))
        after = self.level_prob @ climb(self.unsettled, self.length)
        return float((after - self.level_prob) @ levels) / self.length


def is_small(window: int, levels: int) -> bool:
    """Return whether a window can be solved MPDU by MPDU, without blocks.

    Parameters
    ----------
    window : int
        MPDUs in the window.
    levels : int
        Highest level, the largest sum of holds. [rounds]
    """
    return comb(window - 1 + levels, levels) <= MAX_STATES


def feasible(window: int, levels: int) -> list[int]:
    """Return the numbers of blocks into which a window is divided. If the chain is small enough,
    each block has one MPDU. If not, the result has four numbers of blocks for an extrapolation.

    Parameters
    ----------
    window : int
        MPDUs in the window, at least 2.
    levels : int
        Highest level, the largest sum of holds. [rounds]

    Raises
    ------
    ModelError
        If the highest level is too high to solve four chains.
    """
    if is_small(window, levels):
        return [window - 1]
    most = 0
    while is_small(most + 2, levels):
        most += 1
    if most < MIN_BLOCKS:
        raise ModelError(
            "assumption 11",
            f"{levels} attempts in a row are likely enough to matter in a window of {window} MPDUs",
        )
    apart = max(1, most // 6)
    return [most - 3 * apart, most - 2 * apart, most - apart, most]


def solve(window: int, unsettled: Floats, count: int) -> Blocks:
    """Return the equilibrium of a window that is divided into `count` blocks.

    Parameters
    ----------
    window : int
        MPDUs in the window, at least 2.
    unsettled : array of float
        Probability that an MPDU is unsettled after 0, 1, ... rounds, down to 0. [-]
    count : int
        Number of blocks, from 1 to the window less 1.

    Raises
    ------
    ConvergenceError
        If the distribution still changes after `MAX_STEPS` steps.
    """
    from scipy.sparse import csr_array

    length = (window - 0.5) / (count + 0.5)
    highest = len(unsettled) - 1
    holds = _states(count, highest)
    level = holds.sum(axis=1, dtype=np.int64)
    climbing = climb(unsettled, length)
    rows, columns, values = [], [], []
    for new in range(highest + 1):
        remaining = np.flatnonzero(level + new <= highest)
        newest = np.full((len(remaining), 1), new, dtype=np.int8)
        rows.append(_rank(np.concatenate([newest, holds[remaining, :-1]], axis=1), highest))
        columns.append(remaining)
        values.append(climbing[level[remaining], level[remaining] + new])
    places = (np.concatenate(rows), np.concatenate(columns))
    step = csr_array((np.concatenate(values), places), shape=(len(holds),) * 2)
    few = highest <= FEW_LEVELS
    prob = _eliminated(step) if few else _balanced(step, count + 1)
    return Blocks(unsettled, length, holds, prob)


def _eliminated(step: "csr_array") -> Floats:
    """Return the stationary distribution of a transition matrix by elimination. This method is fast
    if the highest level of the states is at most `FEW_LEVELS`.
    """
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    size = step.shape[0]
    left = (eye_array(size, format="csc") - step.tocsc()).tocsc()
    # The probability of one frequent state is set to 1 and its equation is left out. The result is
    # normalised afterwards.
    prob = np.full(size, 1.0 / size)
    for _ in range(size.bit_length() ** 2):
        prob = step @ prob
    others = np.delete(np.arange(size), prob.argmax())
    column = left[:, [int(prob.argmax())]].toarray().ravel()
    result: Floats = np.ones(size)
    result[others] = splu(left[others][:, others].tocsc()).solve(-column[others])
    result /= result.sum()
    return result


def _balanced(step: "csr_array", period: int) -> Floats:
    """Return the stationary distribution of a transition matrix by iteration. Each iterate is the
    average over `period` steps, because a block and its hold are dropped from the state after this
    number of steps.
    """
    size = step.shape[0]
    prob: Floats = np.full(size, 1.0 / size)
    for _ in range(MAX_STEPS // period):
        check_time("a BlockAck window with losses")
        total = np.zeros(size)
        after = prob
        for _ in range(period):
            after = step @ after
            total += after
        prob = total / total.sum()
        if np.abs(step @ prob - prob).sum() <= TOLERANCE:
            return prob
    raise ConvergenceError(f"the window still moves after {MAX_STEPS} blocks")


def _states(count: int, highest: int) -> npt.NDArray[np.int8]:
    """Return all states: lists of `count` holds, one per block, with a sum of at most `highest`.
    The states are in lexicographic order.
    """
    states = np.zeros((1, 0), dtype=np.int8)
    left = np.array([highest])
    for _ in range(count):
        choices = left + 1
        parents = np.repeat(np.arange(len(states)), choices)
        first = np.repeat(np.cumsum(choices) - choices, choices)
        hold = np.arange(len(parents)) - first
        states = np.concatenate([states[parents], hold[:, None].astype(np.int8)], axis=1)
        left = left[parents] - hold
    return states


def _rank(states: npt.NDArray[np.int8], highest: int) -> Integers:
    """Return the index of each state in the result of `_states`."""
    count = states.shape[1]
    left = np.full(len(states), highest)
    place = np.zeros(len(states), dtype=np.int64)
    for block in range(count):
        rest = count - 1 - block
        # `before[most, hold]` is the number of states with a hold of this block below `hold`.
        # `most` is the largest sum of the holds of this block and the following blocks.
        before = np.zeros((highest + 1, highest + 2), dtype=np.int64)
        for most in range(highest + 1):
            sizes = [comb(rest + most - hold, rest) for hold in range(most + 1)]
            before[most, 1 : most + 2] = np.cumsum(sizes)
        place += before[left, states[:, block]]
        left = left - states[:, block]
    return place
