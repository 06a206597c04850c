r"""A BlockAck window that is always full: PPDU sizes, delivered MPDUs, and reordering.

A single sender always has packets. In each *round* it sends all MPDUs of its window of :math:`W`
that are neither received nor given up, including new MPDUs. Each MPDU is lost with probability
:math:`p`; control frames are never lost. The window begins at the first MPDU that is neither
received nor given up. A round in which nothing is received is a failure. An MPDU is given up after
:math:`A` losses.

The hold :math:`x` of an MPDU is the number of rounds for which it blocks the window (module
`blocks`). Per round, the MPDUs received and the mean number :math:`E[k]` of MPDUs in a PPDU are

.. math:: \text{delivered} = \frac{1 - p^A}{E[x]}, \qquad
          E[k] = \frac{1}{E[x]} \frac{1 - p^A}{1 - p}

The fraction of MPDUs given up is :math:`p^A` for every window. A received MPDU waits until the
window has moved beyond all earlier MPDUs. It is delivered :math:`R = (Y - G)^+` rounds after its
reception. The level :math:`Y` is the sum of the preceding :math:`W - 1` holds, and :math:`G` the
number of rounds in which the MPDU was sent.

The result is exact if the chain is solved MPDU by MPDU. This is possible for windows of up to 9
MPDUs if :math:`p = 0.3`, 18 MPDUs if :math:`p = 0.1`, 40 if :math:`p = 0.02`, and 64 if :math:`p =
0.01`. For other windows the extrapolation by a cubic has an error in the MPDUs delivered per round.
With :math:`p \le 0.3` the error is 0.03 % for 256 MPDUs and 0.01 % for 64 MPDUs (Monte Carlo in
`tests/validation`). The distribution of PPDU sizes is then computed from the chain with the
shortest blocks that has a moderate cost. The distribution is then adjusted so that its mean, second
moment and failure probability have the values that the cubic yields. The adjusted distribution has
the least relative entropy to the original distribution. The error of its distribution function is
at most 0.01.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from lasthop.models.aggregates import blocks as chain
from lasthop.models.aggregates.blocks import Blocks, Floats
from lasthop.models.aggregates.requests import Requests, requests_of
from lasthop.models.aggregates.rows import rows_of
from lasthop.models.aggregates.sizes import level_probs, moved, products, size_distribution
from lasthop.models.errors import ConvergenceError, ModelError
from lasthop.progress.cost_limits import check_time

LARGEST_WINDOW = 1024
"""Largest supported BlockAck window, that of 802.11be. [MPDUs]"""
DOUBTED = 2e-3
"""Largest relative difference of cubic and quadratic extrapolation at which the result is accepted.
[-]
"""
FEW = 1e-5
"""Weight that replaces a weight of 0, since negative powers of 0 do not exist. [-]"""
STATES_FOR_SIZES = 6000
"""Largest number of states of a chain from which the distribution of PPDU sizes is computed."""


@dataclass(frozen=True)
class Window:
    """Equilibrium of a BlockAck window that is always full.

    Attributes
    ----------
    window : int
        MPDUs in the window, :math:`W`.
    loss : float
        Probability that an MPDU is lost, :math:`p`. [-]
    attempts : int or None
        Attempts for an MPDU, :math:`A`.
    sizes : tuple of float
        Probability that a PPDU has 0, 1, ..., W MPDUs. [-]
    delivered : float
        MPDUs received per round.
    given_up : float
        Fraction of the MPDUs that is given up. [-]
    failed : float
        Probability that no MPDU of a PPDU is received. [-]
    rows : tuple of tuple of float
        Probability of 0, 1, ... failed rounds in a row before a PPDU of 0, 1, ..., W MPDUs. [-]
    waits : tuple of float
        Probability that a received MPDU waits for 0, 1, ... further PPDUs until it is in order. An
        MPDU that waits only for a BlockAckReq waits for 0 PPDUs. [-]
    requests : Requests
        BlockAckReqs, and the MPDUs that wait for the BlockAckReqs.
    """

    window: int
    loss: float
    attempts: int | None
    sizes: tuple[float, ...]
    delivered: float
    given_up: float
    failed: float
    rows: tuple[tuple[float, ...], ...]
    waits: tuple[float, ...]
    requests: Requests

    @property
    def mpdus(self) -> float:
        """Mean number of MPDUs in a PPDU, :math:`E[k]`."""
        return float(np.arange(len(self.sizes)) @ np.array(self.sizes))

    def wait_quantile(self, part: float) -> int:
        """Return the number of further PPDUs after which at least the fraction `part` of the
        received MPDUs is in order.

        Parameters
        ----------
        part : float
            Fraction, such as 0.95 for the 95 % quantile. [-]
        """
        return int(np.searchsorted(np.cumsum(self.waits), part - 1e-12))


@cache
def solve(
    window: int,
    loss: float,
    attempts: int | None = None,
    most_in_ppdu: int | None = None,
    collisions: float = 0.0,
) -> Window:
    """Return the equilibrium of a BlockAck window that is always full.

    Parameters
    ----------
    window : int
        MPDUs in the window, :math:`W`, 1 to 1024.
    loss : float
        Probability that an MPDU is lost, :math:`p`, from 0 to below 1. [-]
    attempts : int, optional
        Attempts for an MPDU, :math:`A`; None if there is no limit.
    most_in_ppdu : int, optional
        Largest number of MPDUs in a PPDU by the limits of bytes or time; None if it is at least the
        window.
    collisions : float
        Probability that a PPDU collides, :math:`c`. A collision counts as an attempt of each of its
        MPDUs. The rounds are then the PPDUs that do not collide. If :math:`c > 0`, MPDUs that are
        given up because all their attempts collided are neglected. The result then has no
        distribution of failures in a row and no BlockAckReqs. MPDUs are assumed to collide
        independently of each other. [-]

    Raises
    ------
    ModelError
        If MPDUs are lost and the window does not fit into a PPDU, or if there are too many losses
        to solve the chain.
    ConvergenceError
        If the cubic extrapolation is not accurate.
    """
    if not 1 <= window <= LARGEST_WINDOW or not (0 <= loss < 1 and 0 <= collisions < 1):
        raise ValueError(f"window {window} is not 1 to {LARGEST_WINDOW}, or loss {loss} not [0, 1)")
    if (attempts is not None and attempts < 1) or (most_in_ppdu is not None and most_in_ppdu < 1):
        raise ValueError("attempts and most_in_ppdu are at least 1")
    room = window if most_in_ppdu is None else min(window, most_in_ppdu)
    if room < window and loss > 0:
        raise ModelError(
            "assumption 7",
            f"{room} MPDUs in a PPDU, {window} in the window, loss {loss:g}",
        )
    unsettled = chain.unsettled_probs(loss, attempts)
    if loss == 0:
        return _without_losses(window, room, attempts)
    if window == 1:
        return _of_one_mpdu(loss, attempts, collisions)
    unsettled = chain.unsettled_probs(loss, attempts, collisions, chain.NEVER)
    if not chain.is_small(window, len(unsettled) - 1):
        unsettled = chain.unsettled_probs(loss, attempts, collisions)
    counts = chain.feasible(window, len(unsettled) - 1)
    solved = []
    for count in counts:
        check_time("a BlockAck window with losses")
        solved.append(chain.solve(window, unsettled, count))
    chains = [_ChainResults.of(blocks, loss) for blocks in solved]
    total = len(solved) == 1
    best = chains[0] if total else _continued([blocks.length for blocks in solved], chains)
    received = float((1.0 - loss) * unsettled.sum())
    if attempts is None or attempts > len(unsettled) - 1:
        received = 1.0
    coarse = [blocks for blocks in solved if len(blocks.prob) <= STATES_FOR_SIZES] or solved[:1]
    by_age = size_distribution(solved[0] if total else coarse[-1], window)
    if not total:
        moments = (float(unsettled.sum()) / best.hold, best.square, best.failed / loss, best.single)
        raw = by_age.sum(axis=0)
        by_age = by_age * (moved(raw, loss, moments) / raw)
    sizes = (0.0, *map(float, by_age.sum(axis=0)))
    rows: tuple[tuple[float, ...], ...] = (sizes,)
    requests = Requests()
    if collisions == 0:
        rows, before_requests = rows_of(by_age, loss, attempts)
        requests = requests_of(solved[-1], loss, attempts, best.hold, before_requests)
    return Window(
        window=window,
        loss=loss,
        attempts=attempts,
        sizes=sizes,
        delivered=received / best.hold,
        given_up=1.0 - received,
        failed=best.failed,
        rows=rows,
        waits=_waits(best.levels, unsettled, received),
        requests=requests,
    )


def _without_losses(window: int, room: int, attempts: int | None) -> Window:
    """Return the equilibrium of a window without losses: all PPDUs have the same size, and MPDUs
    arrive in order.
    """
    sizes = tuple(float(k == room) for k in range(window + 1))
    return Window(
        window=window,
        loss=0.0,
        attempts=attempts,
        sizes=sizes,
        delivered=room,
        given_up=0.0,
        failed=0.0,
        rows=(sizes,),
        waits=(1.0,),
        requests=Requests(),
    )


def _of_one_mpdu(loss: float, attempts: int | None, collisions: float) -> Window:
    """Return the equilibrium of a window of one MPDU. Each PPDU has one MPDU, and MPDUs arrive in
    order.
    """
    unsettled = chain.unsettled_probs(loss, attempts, collisions)
    hold = float(unsettled.sum())
    received = 1.0 if attempts is None else (1.0 - loss) * hold
    rows: tuple[tuple[float, ...], ...] = ((0.0, 1.0),)
    requests = Requests()
    if collisions == 0:
        rows, before = rows_of(unsettled[:-1, None] / hold, loss, attempts)
        requests = Requests((1.0 - received) / hold, before)
    return Window(
        window=1,
        loss=loss,
        attempts=attempts,
        sizes=(0.0, 1.0),
        delivered=received / hold,
        given_up=1.0 - received,
        failed=loss,
        rows=rows,
        waits=(1.0,),
        requests=requests,
    )


@dataclass(frozen=True)
class _ChainResults:
    """Results of a Markov chain of blocks. The results of four chains are extrapolated to blocks of
    one MPDU.
    """

    hold: float
    square: float
    failed: float
    single: float
    levels: Floats

    @classmethod
    def of(cls, blocks: Blocks, loss: float) -> "_ChainResults":
        """Return the results of a chain; `loss` is the probability that an MPDU is lost."""
        # The second moment is computed from a second difference of E[z^k] around 1.
        step = 5e-3 / (blocks.length * blocks.holds.shape[1])
        weights = [(1.0, z) for z in (np.exp(step), np.exp(-step), loss, FEW)]
        more, less, failed, single = products(blocks, weights).sum(axis=1)
        return cls(
            hold=blocks.hold_rounds(),
            square=float(more + less - 2) / step**2,
            failed=float(failed),
            single=float(single) / FEW,
            levels=level_probs(blocks),
        )


def _continued(lengths: Sequence[float], chains: Sequence[_ChainResults]) -> _ChainResults:
    """Return the results for blocks of one MPDU, extrapolated by the cubic through the results of
    four chains. For the mean hold, the inverse is extrapolated instead of the value.
    """
    names = ("square", "failed", "single")
    rate = _at_one(lengths, [1 / chain.hold for chain in chains])
    rough = _at_one(lengths[1:], [1 / chain.hold for chain in chains[1:]])
    if abs(rate - rough) > DOUBTED * rate:
        raise ConvergenceError(
            f"{rate:.4g} MPDUs a round by the cubic, {rough:.4g} by the quadratic: the chains of "
            "this window are too coarse"
        )
    values = {name: _at_one(lengths, [getattr(chain, name) for chain in chains]) for name in names}
    levels = np.array([chain.levels for chain in chains]).T
    levels = np.maximum([_at_one(lengths, each) for each in levels], 0.0)
    return _ChainResults(hold=1 / rate, levels=levels / levels.sum(), **values)


def _at_one(lengths: Sequence[float], values: Sequence[float]) -> float:
    """Return the value at length 1 of the polynomial through the given values (Lagrange)."""
    total = 0.0
    for i, value in enumerate(values):
        for j, other in enumerate(lengths):
            if j != i:
                value = value * (1 - other) / (lengths[i] - other)
        total += value
    return float(total)


def _waits(levels: Floats, unsettled: Floats, received: float) -> tuple[float, ...]:
    r"""Return the distribution of the number of PPDUs for which a received MPDU waits, :math:`(Y -
    G)^+`. :math:`Y` is the level (the sum of holds), and the MPDU is received in attempt :math:`G`.
    [-]
    """
    rounds = -np.diff(unsettled)  # P(G = 1), P(G = 2), ...
    if received < 1.0:
        rounds[-1] -= 1.0 - received
    rounds = rounds / rounds.sum()
    waits = np.zeros(len(levels))
    for level, often in enumerate(levels):
        for sent, part in enumerate(rounds, start=1):
            waits[max(0, level - sent)] += often * part
    return tuple(map(float, waits))
