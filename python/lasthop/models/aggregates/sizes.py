r"""Distribution of the number of MPDUs in a PPDU, computed from the holds of a BlockAck window.

The terms are those of module `blocks`. An MPDU is settled when it is received or given up. The hold
of an MPDU is the number of rounds for which it is the first unsettled MPDU. The age of an MPDU is
the number of rounds in which it has been sent. Let the window's first MPDU, which is unsettled,
have age :math:`h`. The ages of the other MPDUs follow from the holds. Given the ages, an MPDU of
age :math:`a` is unsettled with probability :math:`P(G > a)`, independently of other MPDUs.
Therefore the number :math:`k` of MPDUs in a PPDU satisfies

.. math:: E[z^k] = \frac{1}{E[x]}
          E\Bigl[\sum_{h \ge Y} P(G > h)\; z \prod_{i=1}^{W-1} f_{a_i}(z)\Bigr], \qquad
          f_a(z) = P(G \le a) + P(G > a)\, z

The index :math:`i` counts back from the newest MPDU, which has :math:`i = 1` and the age :math:`h -
Y`. The age :math:`a_i` of MPDU :math:`i` is :math:`h - Y` plus the :math:`i - 1` holds that precede
the hold of the window's first MPDU.
"""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from lasthop.models.aggregates.blocks import Blocks, Floats, climb
from lasthop.models.errors import ConvergenceError

Weights = npt.NDArray[Any]
"""Array of real or complex weights."""

MAX_NODES = 8
"""Largest number of quadrature points within a block."""
RARE = 1e-8
"""Limit of a required moment. The adjustment of a distribution of PPDU sizes ignores moments up to
this value. [-]"""
MAX_STEPS = 200
"""Largest number of Newton steps for the adjustment of a distribution of PPDU sizes."""
WHOLE = 1e-9
"""A number of MPDUs is considered whole if it differs from a whole number by at most this value.
[-]
"""


def places(length: float) -> tuple[Floats, Floats]:
    r"""Return the points and weights of a quadrature over the MPDUs of a block. A point is a number
    of MPDUs of the block that precede the newest MPDU. [-]

    The quadrature approximates a mean over :math:`0, 1, \dots, b - 1` for any real :math:`b \ge 1`.
    The first point is 0. The other points are those of Gauss's quadrature for sums (Gram's
    polynomials), which is exact if the block is short.

    Parameters
    ----------
    length : float
        MPDUs in a block, :math:`b`.
    """
    others = length - 1.0
    if others < WHOLE:
        return np.array([0.0]), np.array([1.0])
    order = np.arange(1.0, min(MAX_NODES, ceil(others - WHOLE)))
    off_diagonal = order * np.sqrt((others**2 - order**2) / (4 * (4 * order**2 - 1)))
    roots, vectors = np.linalg.eigh(np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))
    at = np.concatenate([[0.0], roots + length / 2])
    return at, np.concatenate([[1.0], others * vectors[0] ** 2]) / length


def level_probs(blocks: Blocks) -> Floats:
    """Return the distribution of the level :math:`Y` (the sum of the holds) before an arbitrary
    MPDU, :math:`P(Y = y)`. [-]
    """
    unsettled = blocks.unsettled
    settled = 1.0 - unsettled
    # `reached` starts as the mean of P(G <= z)^u over the positions u = 0 to b - 1 in a block. This
    # mean is a geometric series, and `some` is the denominator of its closed form.
    some = np.where(unsettled > 0, unsettled, 1.0) * blocks.length
    reached = np.where(unsettled > 0, (1.0 - settled**blocks.length) / some, 1.0)
    reached *= np.cumsum(blocks.level_prob)
    return np.diff(reached, prepend=0.0)


def products(blocks: Blocks, weights: Sequence[tuple[complex, complex]]) -> Weights:
    """Return the mean over rounds of a product with one factor per MPDU in the window. The factor
    is the weight of a settled or of an unsettled MPDU. [-]

    The result has one row per pair of weights. Its columns are the contributions of rounds by the
    age of the window's first MPDU, from age 0 on.

    Parameters
    ----------
    blocks : Blocks
    weights : sequence of (number, number)
        Weights of a settled and of an unsettled MPDU. With ``(1, z)`` the result is :math:`E[z^k]`,
        where :math:`k` is the number of unsettled MPDUs.
    """
    factors = [_Factors(blocks, *pair) for pair in (*weights, (1.0, 1.0))]
    ages = np.cumsum(blocks.holds, axis=1, dtype=np.int64)
    level, highest = blocks.level, len(blocks.unsettled) - 1
    sums = [np.zeros(highest, dtype=factor.single.dtype) for factor in factors]
    # `newest` is the age of the newest MPDU before the present block.
    for newest in range(highest):
        known = np.flatnonzero(level + newest < highest)
        own, states = level[known], ages[known] + newest
        start = blocks.prob[known] * blocks.unsettled[own + newest]
        for number, factor in enumerate(factors):
            product = start.astype(factor.single.dtype)
            before = np.full(len(known), newest)
            for block in range(states.shape[1]):
                product *= factor.block[before, states[:, block]]
                before = states[:, block]
            by_level = np.zeros(highest - newest, dtype=product.dtype)
            np.add.at(by_level, own, product)
            sums[number][newest:] += by_level * factor.present(newest)
    result: Weights = np.array(sums[:-1]) / sums[-1].sum()
    return result


def size_distribution(blocks: Blocks, window: int) -> Floats:
    """Return the distribution of the sizes 1 to W (columns) by the age of the window's first MPDU
    (rows).

    The distribution is computed from :math:`E[z^k]`, with :math:`k` MPDUs in a PPDU, at points
    :math:`z` of the unit circle.
    """
    points = window + 1
    turns = np.arange(points // 2 + 1) / points
    values = products(blocks, [(1.0, complex(z)) for z in np.exp(2j * np.pi * turns)])
    probs = np.fft.irfft(np.conj(values), points, axis=0)[1:].T
    result: Floats = np.maximum(probs, RARE / len(probs))
    result /= result.sum()
    return result


def moved(sizes: Floats, loss: float, moments: tuple[float, float, float, float]) -> Floats:
    r"""Return the distribution with the given moments that has the least relative entropy to
    `sizes`.

    .. math:: P(k) \propto P_0(k)
              \exp(\lambda_1 k + \lambda_2 k^2 + \lambda_3 p^{k-1} + \lambda_4 1_{k=1})

    Parameters
    ----------
    sizes : array of float
        Distribution of PPDU sizes, :math:`P_0(1), \dots, P_0(W)`. [-]
    loss : float
        Probability that an MPDU is lost, :math:`p`. [-]
    moments : tuple of float
        Required moments of the number :math:`k` of MPDUs: :math:`E[k], E[k^2], E[p^{k-1}], P(1)`.
    """
    count = len(sizes)
    k = np.arange(1.0, count + 1)
    traits = np.array([np.ones(count), k / count, (k / count) ** 2, loss ** (k - 1), k == 1])
    wanted = np.array([1.0, moments[0] / count, moments[1] / count**2, *moments[2:]])
    likely = wanted > RARE
    traits, wanted = traits[likely], wanted[likely]
    factors = np.zeros(len(traits))
    probs = sizes
    for _ in range(MAX_STEPS):
        missing = traits @ probs - wanted
        if np.all(np.abs(missing) <= 1e-9 * wanted):
            return probs
        move = -np.linalg.lstsq((traits * probs) @ traits.T, missing, rcond=None)[0]
        # Reduce the step until the convex dual function decreases enough (Armijo's rule).
        value, slope = probs.sum() - factors @ wanted, missing @ move
        while True:
            with np.errstate(over="ignore"):
                probs = sizes * np.exp((factors + move) @ traits)
            if probs.sum() - (factors + move) @ wanted <= value + 1e-4 * slope + 1e-15:
                break
            move, slope = move / 2, slope / 2
        factors = factors + move
    raise ConvergenceError(f"no distribution of PPDU sizes with a mean of {moments[0]:.4g} MPDUs")


class _Factors:
    r"""Powers of the weights of MPDUs by age, which `products` multiplies.

    The hold of a block may be caused by any of its :math:`b` MPDUs; :math:`i` is the number of this
    MPDU within the block. Let :math:`f` be the weight of an MPDU after MPDU :math:`i`, and
    :math:`g` the weight of an MPDU before it. The mean of :math:`f^{i - 1/2} g^{b - i + 1/2}` over
    :math:`i = 1, \dots, b` is :math:`\sqrt{f g}\, (f^b - g^b) / (b (f - g))`, for any :math:`b`.
    """

    def __init__(self, blocks: Blocks, settled: complex, unsettled: complex) -> None:
        self.head = unsettled
        self.single = (1.0 - blocks.unsettled) * settled + blocks.unsettled * unsettled
        self.block = _over_places(self.single[:, None], self.single, blocks.length, own=0.5)
        self.middle = (blocks.length - 1) / 2
        self.places = [
            (mpdus, often, climb(blocks.unsettled, mpdus))
            for mpdus, often in zip(*places(blocks.length), strict=True)
        ]

    def present(self, newest: int) -> Weights:
        """Return the weight of the present block and of the window's first MPDU, by the level
        before the block.
        """
        level = np.arange(len(self.single) - 1 - newest)
        weight = np.zeros(len(level), dtype=self.single.dtype)
        behind = self.single[newest]
        for mpdus, often, steps in self.places:
            # In every round the window has W - 1 MPDUs after its first MPDU. The number of MPDUs of
            # the oldest block is chosen so that the total is W - 1.
            oldest = self.single[level + newest] ** (self.middle - mpdus - 0.5)
            within = steps[level, level] * behind ** (mpdus + 0.5)
            for hold in range(1, newest + 1 if mpdus > 0 else 1):
                ahead = self.single[newest - hold]
                within = within + steps[level, level + hold] * _over_places(ahead, behind, mpdus, 0)
            weight += often * oldest * within
        return weight * self.head


def _over_places(ahead: Any, behind: Any, mpdus: float, own: float) -> Any:
    r"""Return the mean of :math:`f^{i - o} g^{u - i + 1/2}` over the positions :math:`i = 1, \dots,
    u` of the MPDU that causes a hold. `ahead` is :math:`f`, `behind` is :math:`g`, and `mpdus` is
    :math:`u`.

    `own` is :math:`o`: the fraction of the MPDU at position :math:`i` that has the weight
    :math:`g`.
    """
    larger = np.abs(ahead) > np.abs(behind)
    base, other = np.where(larger, ahead, behind), np.where(larger, behind, ahead)
    ratio = (other - base) / base
    apart = np.where(ratio == 0, 1.0, ratio)
    powers = np.where(ratio == 0, mpdus, np.expm1(mpdus * np.log1p(apart)) / apart) / mpdus
    return ahead ** (1.0 - own) * behind**0.5 * base ** (mpdus - 1.0) * powers
