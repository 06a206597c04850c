r"""Effect of a failure on a contender's later attempts, and the covariance of attempts.

Contenders of a saturated cell do not attempt independently: two contenders that collide both double
their contention windows, and each attempt makes other attempts fail. The following equation is of
first order in the covariances. All its quantities are functions of the frequency :math:`\omega`,
with time counted in slots.

.. math:: \delta a_i = \varepsilon_i + h_i \sum_{k \ne i} w_k\, \delta a_k, \qquad
          h_i = \tau_i (1 - \gamma_i) R_i(\omega), \quad w_k = \frac{1}{1 - \tau_k}

:math:`a_i` is 1 if contender :math:`i` attempts. :math:`\tau_i` is its attempt probability, and
:math:`\gamma_i` its failure probability. :math:`R_i` is the Fourier transform of the contender's
later attempts after a failure, less the transform after a success. :math:`\varepsilon_i` is the
noise of the contender's own renewal process, with the spectrum :math:`K_i`. A collision of
contenders :math:`i` and :math:`k` adds :math:`\tau_i \tau_k (1 - \gamma_i)(1 - \gamma_k) R_i R_k^*`
to the cross spectrum of their noise. The system is solved in closed form. For this purpose, the sum
over :math:`k` (the field) is extended to all contenders; it is then equal for every contender.

The method is the linear noise approximation around a mean field (van Kampen's system size
expansion). With :math:`N` contenders, the neglected terms are of the order of :math:`1 / N^2`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lasthop.models.aggregates.blocks import Floats
from lasthop.progress.cost_limits import check_time

Spectrum = npt.NDArray[Any]
"""Array of the complex values of spectra. Its last dimension is the frequency."""

FREQUENCIES = 2048
"""Number of frequencies between 0 and half a cycle per slot."""


@dataclass(frozen=True)
class Stages:
    """Backoff stages of a contender: stage j follows j failures in a row, modulo the limit of
    attempts.

    Attributes
    ----------
    windows : array of int
        Number of possible values of the uniform backoff at each stage. [slots]
    seen : bool
        Whether the backoff counter also falls in slots in which other contenders send (``edca``).
        If it does not (``dcf``), a backoff of 0 is an immediate attempt, outside the slots.
    failure : array of float
        Probability that an attempt in a slot fails. [-]
    failure_at_once : array of float
        Probability that an immediate attempt fails. [-]
    """

    windows: npt.NDArray[np.int64]
    seen: bool
    failure: Floats
    failure_at_once: Floats

    @property
    def at_once(self) -> Floats:
        """Probability that a backoff leads to an immediate attempt, by stage. [-]"""
        return np.zeros(len(self.windows)) if self.seen else 1.0 / self.windows

    def distance(self, other: "Stages") -> float:
        """Return the largest difference between the failure probabilities of this object and
        another object. [-]
        """
        in_slots = np.abs(self.failure - other.failure).max()
        return float(max(in_slots, np.abs(self.failure_at_once - other.failure_at_once).max()))

    def draws(self) -> Floats:
        """Return the number of backoffs at each stage per backoff at the first stage. [-]"""
        go_on = (1.0 - self.at_once) * self.failure + self.at_once * self.failure_at_once
        result: Floats = np.concatenate([[1.0], np.cumprod(go_on[:-1])])
        return result

    def attempt_prob(self) -> float:
        """Return the probability of an attempt in a slot. [-]"""
        draws = self.draws()
        slots = (self.windows - 1) / 2 + (1.0 if self.seen else 0.0)
        return float(draws @ (1.0 - self.at_once) / (draws @ slots))

    def shares(self) -> Floats:
        """Return the fraction of the attempts that are made at each stage; immediate attempts are
        not counted. [-]"""
        attempts = self.draws() * (1.0 - self.at_once)
        result: Floats = attempts / attempts.sum()
        return result


@dataclass(frozen=True)
class Response:
    """Dependence of a contender's attempts on its earlier attempts and on their failures, by
    frequency.

    Attributes
    ----------
    stages : Stages
    gain : array of complex
        Gain :math:`h`: effect of other contenders' attempts on the contender's later attempts, by
        backoff stage of the later attempt.
    noise : array of complex
        Noise spectrum :math:`K`: the cross spectrum of the attempts at each backoff stage with all
        attempts of the contender.
    """

    stages: Stages
    gain: Spectrum
    noise: Spectrum

    @classmethod
    def of(cls, stages: Stages) -> "Response":
        """Return the response of a contender, computed from its renewal process."""
        count = len(stages.windows)
        turn = np.exp(-1j * np.pi * (np.arange(FREQUENCIES) + 0.5) / FREQUENCIES)
        width = stages.windows[:, None] - (0 if stages.seen else 1)
        reach = turn * (1 - turn**width) / ((1 - turn) * stages.windows[:, None])
        at_once, later = stages.at_once[:, None], stages.failure_at_once[:, None]
        failure = stages.failure[:, None]
        fail = reach * failure + at_once * later
        win = reach * (1 - failure) + at_once * (1 - later)
        shares = stages.shares()
        tau, lost = stages.attempt_prob(), shares * stages.failure
        # Fourier transforms from the start of a backoff at stage j. `direct` is the transform of
        # the attempts before the next return to stage 0. `back` is the transform of the time of
        # this return.
        direct = np.zeros((count + 1, FREQUENCIES), dtype=complex)
        back = np.ones((count + 1, FREQUENCIES), dtype=complex)
        for stage in reversed(range(count)):
            direct[stage] = reach[stage] + fail[stage] * direct[stage + 1]
            back[stage] = win[stage] + fail[stage] * back[stage + 1]
        # Fourier transform of the attempts at each stage, from one backoff at stage 0 to the next.
        first = reach * _passed(fail, np.eye(1, count)[0])
        won = first / (1 - back[0])
        in_all = direct + back * won.sum(axis=0)

        def following(weights: Floats) -> Spectrum:
            """Return the transform of the attempts that follow a failed attempt, by the stage of
            the later attempt. `weights` has the probability of each stage of the failed attempt.
            """
            behind = np.concatenate([[0.0], weights[:-1]])
            result: Spectrum = reach * _passed(fail, behind) + (weights @ back[1:]) * won
            return result

        change = following(shares) - won
        noise = following(lost) + (1.0 - lost.sum()) * won + shares[:, None]
        after = stages.failure[:, None] * in_all[1:] + (1 - stages.failure)[:, None] * in_all[0]
        noise = tau * (noise + np.conj(shares[:, None] * after))
        remaining = 1.0 - float(lost.sum())
        return cls(stages, tau * remaining * change, noise)


def _passed(fail: Spectrum, weights: Floats) -> Spectrum:
    """Return the transform of the backoffs drawn at each stage before the next return to the first
    stage. `weights` are the probabilities of the stage at the start.
    """
    result = np.empty_like(fail)
    result[0] = weights[0]
    for stage in range(1, len(fail)):
        result[stage] = result[stage - 1] * fail[stage - 1] + weights[stage]
    return result


def covariances(groups: Sequence[Response], counts: Sequence[int]) -> Floats:
    """Return covariances of attempts in the same slot, as an array [first group, second group,
    stage]. [-]

    Each covariance is that of two attempts: one by a contender of the first group at the given
    backoff stage, and one by another contender, of the second group, at any stage.

    Parameters
    ----------
    groups : sequence of Response
        Groups of equal contenders.
    counts : sequence of int
        Number of contenders in each group.
    """
    weight = [1.0 / (1.0 - group.stages.attempt_prob()) for group in groups]
    gain = [group.gain.sum(axis=0) for group in groups]
    noise = [group.noise.sum(axis=0) for group in groups]
    own = [1.0 / (1.0 + h * w) for h, w in zip(gain, weight, strict=True)]
    # In the closed form, the sum over k is D P, where P is the sum over contenders of c times the
    # noise. The list `share` has the factors c. The variable `field` is the factor D.
    share = [w * e for w, e in zip(weight, own, strict=True)]
    many = list(zip(counts, share, gain, noise, strict=True))
    field = 1.0 / (1.0 - sum(n * c * h for n, c, h, _ in many))
    common = sum(n * c * h for n, c, h, _ in many)
    power = sum(n * abs(c) ** 2 * (k - abs(h) ** 2) for n, c, h, k in many) + abs(common) ** 2

    most = max(len(group.stages.windows) for group in groups)
    zeros = np.zeros((len(groups), len(groups), most))
    for i, group in enumerate(groups):
        check_time("what attempts of contenders have in common")
        with_field = np.conj(share[i]) * (group.noise - group.gain * np.conj(gain[i]))
        with_field = with_field + group.gain * np.conj(common)
        total_with_field = with_field.sum(axis=0)
        for k in range(len(groups)):
            with_other = group.gain * np.conj(gain[k])
            others = np.conj(share[k]) * (noise[k] - abs(gain[k]) ** 2) + gain[k] * np.conj(common)
            through = np.conj(gain[k] * field)
            heard = field * (np.conj(others) + through * power)
            heard = heard - weight[i] * (with_other.sum(axis=0) + through * total_with_field)
            spectrum = with_other + through * with_field + group.gain * own[i] * heard
            values = (np.conj(own[k]) * spectrum).real.mean(axis=1)
            zeros[i, k, : len(values)] = values
    return zeros
