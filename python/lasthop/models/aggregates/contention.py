r"""Medium access of the contenders of a saturated cell, with the covariances of their attempts.

Each contender :math:`i` attempts in a slot with a probability :math:`\tau_i` that follows from its
contention windows and its failures. With ``countdown = "edca"`` (as in `dcf.bianchi`) the counter
also falls in slots in which other contenders send. With ``"dcf"`` (as in `dcf.freezing`) the
counter does not fall in these slots, and a backoff of 0 is an immediate attempt in a slot of its
own. In `dcf.bianchi` and `dcf.freezing` attempts are independent. In this module pairs of attempts
have covariances :math:`C_{ik}` (module `response`), by backoff stage. The probability that no other
contender attempts together with contender :math:`i` at backoff stage :math:`l` is

.. math:: \prod_{k \ne i} \Bigl(1 - \tau_k - \frac{C^l_{ik}}{\tau^l_i}\Bigr)
          \exp \sum_{k < k',\; \ne i} \frac{C_{kk'}}{(1 - \tau_k)(1 - \tau_{k'})}.

Without the covariances the solution is that of `dcf.bianchi` or `dcf.freezing`. Its error in
goodput is 0.1 to 0.5 % with CWmin 15, and up to 3 % with CWmin 3. With the covariances the error is
at most 0.25 %, and 0.9 % for two contenders with CWmin 3 (Monte Carlo in `tests/validation`). If
counters freeze and most attempts collide, a collision of immediate attempts may involve more than
two contenders. The model assumes two. The error is then 2 % for 15 contenders with CWmin 3.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lasthop.models.aggregates.blocks import Floats
from lasthop.models.aggregates.response import Response, Stages, covariances
from lasthop.models.errors import ConvergenceError
from lasthop.progress.cost_limits import check_time

TOLERANCE, MAX_STEPS = 1e-9, 500
"""Largest change of a probability in the last step of the iteration, and largest number of steps.
[-]
"""
MAX_MOVED = 0.05
"""Largest accepted change of a failure probability when covariances are included. [-]"""
FAR = "contenders collide too often for this model: a probability of failure moves by {:.2g}"
ALWAYS = "contenders collide always: `cwmin` leaves them no other slot"
DOING = "the attempts of contenders"
RARE = 1e-12
"""Probability below which attempts are neglected. [-]"""


@dataclass(frozen=True)
class Backoff:
    """Parameters of a contender's backoff.

    Attributes
    ----------
    cwmin, cwmax : int
        Contention window. [slots]
    attempts_short : int
        Number of failures in a row after which the contention window returns to CWmin.
    error_prob : float
        Probability that an attempt fails although no other contender attempts. [-]
    """

    cwmin: int
    cwmax: int
    attempts_short: int
    error_prob: float = 0.0

    def windows(self) -> list[int]:
        r"""Number of possible backoff values after :math:`j` failures in a row, :math:`CW_j + 1`.
        [slots]
        """
        return [min((self.cwmin + 1) << j, self.cwmax + 1) for j in range(self.attempts_short)]


@dataclass(frozen=True)
class Access:
    """Medium access of one contender, per slot (``edca``) or per open slot (``dcf``). An open slot
    is a slot that follows an idle slot.

    Attributes
    ----------
    attempt_prob : float
        Probability of an attempt in a slot. [-]
    attempts : float
        Mean attempts per slot, including immediate attempts. [-]
    lone : float
        Mean attempts per slot that do not collide. [-]
    lone_in_slots : float
        Mean attempts per slot that neither collide nor are immediate. [-]
    collided_at_once : float
        Mean number per slot of attempts that are made immediately in the slot after a collision,
        and that collide again. [-]
    collides : tuple of float
        Probability that an attempt collides, by the number of failures in a row before the attempt,
        modulo `attempts_short`. [-]
    """

    attempt_prob: float
    attempts: float
    lone: float
    lone_in_slots: float
    collided_at_once: float
    collides: tuple[float, ...]

    @property
    def collision_prob(self) -> float:
        """Fraction of attempts that collide. [-]"""
        return max(0.0, 1 - self.lone / self.attempts)


@dataclass(frozen=True)
class Contention:
    """Medium access of all contenders of a cell, in the order of the contenders.

    Attributes
    ----------
    accesses : tuple of Access
    covariance : array of float
        Covariance of the attempts of two contenders in the same slot; 0 on the diagonal. [-]
    """

    accesses: tuple[Access, ...]
    covariance: Floats

    def quiet(self, parts: Sequence[float]) -> float:
        r"""Return the probability that in a slot no contender makes an attempt of certain types,
        such as attempts with a long frame. [-]

        .. math:: \prod_i (1 - \tau_i q_i) \exp \sum_{i < k}
                  \frac{C_{ik}\, q_i q_k}{(1 - \tau_i q_i)(1 - \tau_k q_k)}

        Parameters
        ----------
        parts : sequence of float
            Fraction of each contender's attempts that are of these types, :math:`q_i`. In the
            formula, :math:`\tau_i` is the attempt probability and :math:`C_{ik}` the covariance of
            attempts. [-]
        """
        part = np.array(parts)
        silent = 1.0 - np.array([access.attempt_prob for access in self.accesses]) * part
        ratio = part / silent
        return float(silent.prod() * math.exp(ratio @ self.covariance @ ratio / 2))


def solve(
    contenders: Sequence[Backoff],
    countdown: Literal["edca", "dcf"] = "edca",
    *,
    correlated: bool = True,
) -> Contention:
    """Return the attempts and collisions of a saturated cell.

    Parameters
    ----------
    contenders : sequence of Backoff
    countdown : {"edca", "dcf"}
        Rule for the countdown of backoff counters. With ``"dcf"`` `cwmin` is at least 1.
    correlated : bool
        Whether the covariances of attempts are included; if false, attempts are treated as
        independent.

    Raises
    ------
    ConvergenceError
        If the covariances are not a small correction, because nearly all attempts collide.
    """
    seen = countdown == "edca"
    if not seen and any(contender.cwmin < 1 for contender in contenders):
        raise ValueError("cwmin must be at least 1 if counters freeze")
    counted = Counter(contenders)
    kinds, counts = list(counted), list(counted.values())
    stages = [
        Stages(np.array(each.windows()), seen, *np.full((2, each.attempts_short), each.error_prob))
        for each in kinds
    ]
    stages, covariance = _settled(kinds, counts, stages, correlated=False)
    if correlated and len(contenders) > 1:
        apart = stages
        stages, covariance = _settled(kinds, counts, apart, correlated=True)
        for own, other in zip(stages, apart, strict=True):
            moved = float(own.failure @ own.shares() - other.failure @ other.shares())
            if abs(moved) > MAX_MOVED:
                raise ConvergenceError(FAR.format(moved))
    place = [kinds.index(contender) for contender in contenders]
    by_kind = [_access(kind, own) for kind, own in zip(kinds, stages, strict=True)]
    total = covariance.sum(axis=2)[np.ix_(place, place)]
    np.fill_diagonal(total, 0.0)
    return Contention(tuple(by_kind[kind] for kind in place), total)


def _settled(
    kinds: Sequence[Backoff], counts: Sequence[int], stages: Sequence[Stages], *, correlated: bool
) -> tuple[list[Stages], Floats]:
    """Return the fixed point of failures and attempts by iteration, with the covariances of the
    attempts.
    """
    now = list(stages)
    covariance = np.zeros((len(kinds), len(kinds), max(kind.attempts_short for kind in kinds)))
    moved = math.inf
    for _ in range(MAX_STEPS):
        check_time(DOING)
        if correlated:
            covariance = covariances([Response.of(each) for each in now], counts)
        # If all contenders always attempt, a division by zero occurs. The code after the loop then
        # raises the error.
        with np.errstate(divide="ignore", invalid="ignore"):
            after = [_next(kinds, counts, now, covariance, number) for number in range(len(kinds))]
        moved = max(new.distance(old) for new, old in zip(after, now, strict=True))
        if moved <= TOLERANCE:
            return after, covariance
        if not moved < np.inf:
            break
        now = [_between(old, new) for old, new in zip(now, after, strict=True)]
    raise ConvergenceError(FAR.format(moved) if math.isfinite(moved) else ALWAYS)


def _between(old: Stages, new: Stages) -> Stages:
    """Return the average of two iterates."""
    return Stages(
        old.windows,
        old.seen,
        (old.failure + new.failure) / 2,
        (old.failure_at_once + new.failure_at_once) / 2,
    )


def _next(
    kinds: Sequence[Backoff],
    counts: Sequence[int],
    stages: Sequence[Stages],
    covariance: Floats,
    number: int,
) -> Stages:
    """Return the backoff stages of one kind of contender, with new failure probabilities. The
    failure probabilities are computed from the attempts of all contenders.
    """
    own, kind = stages[number], kinds[number]
    taus = np.array([each.attempt_prob() for each in stages])
    others = np.array(counts) - (np.arange(len(kinds)) == number)
    ratio = 1.0 / (1.0 - taus)
    total = covariance.sum(axis=2) * np.outer(ratio, ratio)
    pairs = (others @ total @ others - others @ np.diag(total)) / 2
    shares = taus[number] * own.shares()
    common = np.where(shares > RARE, covariance[number, :, : kind.attempts_short], 0.0)
    given_busy = taus[:, None] + common / np.maximum(shares, RARE)
    silent = math.exp(min(pairs, 1.0)) * np.prod(
        (1.0 - np.clip(given_busy, 0.0, 1.0)) ** others[:, None], axis=0
    )
    silent = np.minimum(silent, 1.0)
    failure = 1.0 - (1.0 - kind.error_prob) * silent
    if own.seen:
        return Stages(own.windows, True, failure, failure)
    # Probability that another contender attempts immediately, because it also collided and then
    # drew a backoff of 0.
    rivals = np.array([each.attempt_prob() * _zero_after_failure(each) for each in stages])
    mean = float(own.failure @ own.shares())
    rival = (1.0 - np.prod((1.0 - rivals) ** others)) / mean if mean > 0 else 0.0
    collides = np.full(kind.attempts_short, min(rival, 1.0))
    # An immediate attempt can collide only after a failed attempt, because no other contender sends
    # immediately after a success. The first backoff stage follows either a success or a failure at
    # the last stage. Its probability of a collision is therefore multiplied by the fraction of its
    # backoffs that follow a failure.
    draws = own.draws()
    fails = (1 - own.at_once) * own.failure + own.at_once * own.failure_at_once
    collides[0] *= draws[-1] * fails[-1]
    return Stages(own.windows, False, failure, 1.0 - (1.0 - kind.error_prob) * (1.0 - collides))


def _zero_after_failure(stages: Stages) -> float:
    """Return the probability that the backoff after a failed attempt is 0. [-]"""
    failed = stages.draws() * (
        (1.0 - stages.at_once) * stages.failure + stages.at_once * stages.failure_at_once
    )
    if failed.sum() == 0:
        return 0.0
    return float(failed @ np.roll(stages.at_once, -1) / failed.sum())


def _access(backoff: Backoff, stages: Stages) -> Access:
    """Return the medium access of a contender per slot."""
    tau = stages.attempt_prob()
    silent = (1.0 - stages.failure) / (1.0 - backoff.error_prob)
    alone_at_once = (1.0 - stages.failure_at_once) / (1.0 - backoff.error_prob)
    draws = stages.draws()
    in_slots = draws * (1.0 - stages.at_once)
    at_once = draws * stages.at_once * tau / in_slots.sum()
    lone = tau * float(stages.shares() @ silent)
    collides = (1.0 - stages.at_once) * (1.0 - silent) + stages.at_once * (1.0 - alone_at_once)
    return Access(
        attempt_prob=tau,
        attempts=tau + float(at_once.sum()),
        lone=lone + float(at_once @ alone_at_once),
        lone_in_slots=lone,
        collided_at_once=float(at_once @ (1.0 - alone_at_once)),
        collides=tuple(map(float, collides)),
    )
