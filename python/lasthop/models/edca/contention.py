r"""Contention for the medium: attempt probabilities, successes and collisions, for each number of
active stations (sections 2.2, 3.3, 3.4 and 3.6 of the paper).

A *situation* describes a node's rivals: the number of active stations :math:`\eta`, and whether the
AP has packets to send. Backoff is p-persistent: in each idle slot that it may use, a node transmits
with its attempt probability :math:`\tau`, independently of the past.

A node with a larger AIFSN than the other nodes may not use the first slots of an idle period. In
these *early* slots only the nodes with the smaller AIFSN may send. The paper has equal AIFS only,
without early slots.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from lasthop.models.access import Access
from lasthop.models.edca.cell import Floats
from lasthop.models.edca.options import Options
from lasthop.models.errors import ConvergenceError

TOLERANCE = 1e-14
"""Change of attempt probabilities below which the iteration has converged. [-]
"""

ROUNDS = 400
"""Largest number of iterations; usually a few tens suffice."""

BISECTIONS = 55
"""Number of bisections of the unit interval. It exceeds the number of binary digits of a double."""

ROOT_TOLERANCE = 1e-9
"""Largest residual of an attempt probability that was computed by bisection. [-]"""


@dataclass(frozen=True)
class Contention:
    """Probabilities of events on the medium, by situation.

    Index :math:`0 \\dots N` of each array is the situation in which this many stations are active
    and the AP has packets. Index :math:`N + 1` is the situation in which the AP's queue is empty,
    so that all stations are active.

    Attributes
    ----------
    active : ndarray of int
        Number of active stations, :math:`\\eta`.
    ap_contends : ndarray of bool
        Whether the AP has packets to send.
    ap_attempt_prob, station_attempt_prob : ndarray
        Attempt probabilities of the AP and of an active station, :math:`\\tau_{AP}` and
        :math:`\\tau_{STA}`. [-]
    reach : ndarray
        Probability that an idle period outlasts its early slots. [-]
    idle_slots : ndarray
        Mean number of idle slots before a transmission, including early slots (eq. 18, divided by
        the slot time).
    ap_success, station_success : ndarray
        Probability that a busy period is a success of the AP, and of a station. [-]
    ap_collision : ndarray
        Probability that a busy period is a collision that includes the AP's frame (eq. 17). [-]
    ap_attempts, station_attempts : ndarray
        Mean number of attempts of the AP, and of stations, in a busy period.
    """

    active: np.ndarray
    ap_contends: np.ndarray
    ap_attempt_prob: Floats
    station_attempt_prob: Floats
    reach: Floats
    idle_slots: Floats
    ap_success: Floats
    station_success: Floats
    ap_collision: Floats
    ap_attempts: Floats
    station_attempts: Floats

    @property
    def success(self) -> Floats:
        r"""Probability that a busy period is a success, :math:`P^{succ}_k` (eq. 16). [-]"""
        return self.ap_success + self.station_success

    @property
    def ap_wins(self) -> Floats:
        r"""Probability that a successful transmission is by the AP, :math:`P^{succ}_{AP,k}` (eq.
        7). [-]"""
        return np.asarray(self.ap_success / self.success)

    @property
    def odds(self) -> Floats:
        r"""Probability that the next successful transmission is by the AP, divided by the
        probability that it is by a given active station. [-]

        .. math:: r = \frac{P^{succ}_{AP}}{P^{succ}_{STA} / \eta}
                    = \frac{\tau_{AP} (1 - \tau_{STA})}{\tau_{STA} (1 - \tau_{AP})}
                    \quad \text{(equal AIFSN)}

        The array has the situations with :math:`1 \dots N` active stations.
        """
        inner = slice(1, -1)
        with np.errstate(divide="ignore"):
            won = self.ap_success[inner] * self.active[inner]
            return np.asarray(won / self.station_success[inner])


def attempt_prob(node: Access, collision_prob: Floats, options: Options) -> Floats:
    r"""Return the attempt probability of a node, :math:`\tau`, computed from its collision
    probability. [-]

    .. math:: \tau = \frac{1}{\bar B + 1}, \qquad
              \bar B = \frac{\sum_{j=0}^{m-1} p^j B_j}{\sum_{j=0}^{m-1} p^j}

    Parameters
    ----------
    node : Access
        Access parameters: windows :math:`CW_j = \min(2^j (CW_{min} + 1), CW_{max} + 1) - 1`, and
        :math:`m` attempts.
    collision_prob : ndarray
        Fraction of attempts that collide, :math:`p`. [-]
    options : Options
        ``mean_backoff`` selects :math:`B_j = CW_j / 2` or :math:`(CW_j + 1) / 2`; ``attempts``
        selects the node's limit of attempts, or no limit.

    Notes
    -----
    The formula is that of section 3.6. Without a limit of attempts the window remains at CWmax, and
    the sums have a closed form.
    """
    windows = node.windows(limited=options.attempts == "scenario")
    extra = 0.0 if options.mean_backoff == "CW/2" else 0.5
    slots = [window / 2.0 + extra + 1.0 for window in windows]
    visits = [collision_prob**stage for stage in range(len(windows))]
    if options.attempts == "unlimited":
        # Both sums of the formula are multiplied by 1 - p, so that the geometric series at the last
        # window is also finite for p = 1.
        visits = [(1.0 - collision_prob) * visit for visit in visits[:-1]] + visits[-1:]
    spent = sum(visit * slot for visit, slot in zip(visits, slots, strict=True))
    return np.asarray(sum(visits) / spent)


def contend(stations: int, station: Access, ap: Access, options: Options) -> Contention:
    r"""Return the attempt probabilities of AP and stations at their common fixed point, with their
    outcomes, for each situation (number of active stations).

    Parameters
    ----------
    stations : int
        Number of stations, :math:`N_{STA}`.
    station, ap : Access
        Access parameters of the stations and of the AP.
    options : Options
        Options for the attempt probabilities.

    Raises
    ------
    ConvergenceError
        If neither iteration nor bisection finds the fixed point.
    """
    return _contend(
        stations, replace(station, txop_packets=1), replace(ap, txop_packets=1), options
    )


@lru_cache(maxsize=256)  # a search over TXOP limits reuses the result
def _contend(stations: int, station: Access, ap: Access, options: Options) -> Contention:
    active = np.append(np.arange(stations + 1), stations)
    ap_contends = np.append(np.ones(stations + 1, dtype=bool), False)
    early = station.aifsn - ap.aifsn
    tau_ap = attempt_prob(ap, np.zeros(stations + 2), options)
    tau_station = attempt_prob(station, np.zeros(stations + 2), options)
    for _ in range(ROUNDS):
        at = _outcomes(active, ap_contends, tau_ap, tau_station, early)
        new_ap = attempt_prob(ap, ap_collision_prob(at), options)
        new_station = attempt_prob(station, station_collision_prob(at), options)
        moved = max(np.abs(new_ap - tau_ap).max(), np.abs(new_station - tau_station).max())
        if moved <= TOLERANCE:
            return at
        tau_ap = 0.5 * (tau_ap + new_ap)
        tau_station = 0.5 * (tau_station + new_station)
    return _bisected(active, ap_contends, station, ap, options)


def _bisected(
    active: np.ndarray, ap_contends: np.ndarray, station: Access, ap: Access, options: Options
) -> Contention:
    """Return the fixed point by bisection. This method is used for contention windows so small that
    the iteration does not converge.
    """
    early = station.aifsn - ap.aifsn

    def of_stations(tau_ap: Floats) -> Floats:
        def excess(tau: Floats) -> Floats:
            at = _outcomes(active, ap_contends, tau_ap, tau, early)
            return attempt_prob(station, station_collision_prob(at), options) - tau

        return _root(excess, len(active))

    def excess_of_ap(tau_ap: Floats) -> Floats:
        at = _outcomes(active, ap_contends, tau_ap, of_stations(tau_ap), early)
        return attempt_prob(ap, ap_collision_prob(at), options) - tau_ap

    tau_ap = _root(excess_of_ap, len(active))
    left = float(np.abs(excess_of_ap(tau_ap)).max())
    if left > ROOT_TOLERANCE:
        raise ConvergenceError(f"attempt probabilities are still {left:.1e} off")
    return _outcomes(active, ap_contends, tau_ap, of_stations(tau_ap), early)


def _root(excess: Callable[[Floats], Floats], size: int) -> Floats:
    """Return the zeros of several functions, each positive at 0 and negative at 1, by simultaneous
    bisection.
    """
    low, high = np.zeros(size), np.ones(size)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        above = excess(middle) > 0.0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return high


def ap_collision_prob(at: Contention) -> Floats:
    """Return the fraction of the AP's attempts that collide. If the AP never attempts, return the
    collision probability of a hypothetical attempt. [-]
    """
    if_it_did = 1.0 - (1.0 - at.station_attempt_prob) ** at.active
    return _ratio(at.ap_collision, at.ap_attempts, if_it_did)


def station_collision_prob(at: Contention) -> Floats:
    """Return the fraction of a station's attempts that collide. If no station attempts, return the
    collision probability of a hypothetical attempt. [-]
    """
    others_silent = (1.0 - at.station_attempt_prob) ** np.maximum(at.active - 1, 0)
    if_it_did = 1.0 - (1.0 - at.ap_attempt_prob) * others_silent
    return _ratio(at.station_attempts - at.station_success, at.station_attempts, if_it_did)


def _ratio(part: Floats, floats: Floats, otherwise: Floats) -> Floats:
    return np.divide(part, floats, out=otherwise, where=floats > 0.0)


def _outcomes(
    active: np.ndarray, ap_contends: np.ndarray, tau_ap: Floats, tau: Floats, early: int
) -> Contention:
    r"""Return the probabilities of the events that end an idle period, computed from the attempt
    probabilities.

    Parameters
    ----------
    early : int
        Number of slots that only the AP may use (positive) or only the stations may use (negative).

    Notes
    -----
    The formulas are Eqs. (7), (16), (17) and (18) if ``early`` is 0. If the AP has no packets, its
    attempt probability is 0 in all four equations. The second case of the printed Eq. (16) lacks
    its numerator.
    """
    ap = np.where(ap_contends, tau_ap, 0.0)
    ap_silent = 1.0 - ap
    others_silent = (1.0 - tau) ** np.maximum(active - 1, 0)
    stations_silent = np.where(active > 0, others_silent * (1.0 - tau), 1.0)
    lone_station = active * tau * others_silent
    silent = ap_silent * stations_silent
    busy = 1.0 - silent

    first_silent = ap_silent if early > 0 else stations_silent
    reach = first_silent ** abs(early)
    # The mean number of idle slots is the sum over i of the probability that the first i slots are
    # silent.
    early_idle = sum((first_silent**i for i in range(1, abs(early) + 1)), np.zeros_like(reach))
    by_ap = 1.0 - reach if early > 0 else np.zeros_like(reach)
    by_stations = 1.0 - reach if early < 0 else np.zeros_like(reach)
    lone_early = _ratio(by_stations * lone_station, 1.0 - stations_silent, np.zeros_like(reach))
    tries_early = _ratio(by_stations * active * tau, 1.0 - stations_silent, np.zeros_like(reach))
    joint = reach / busy
    return Contention(
        active=active,
        ap_contends=ap_contends,
        ap_attempt_prob=ap,
        station_attempt_prob=tau,
        reach=reach,
        idle_slots=early_idle + joint * silent,
        ap_success=by_ap + joint * ap * stations_silent,
        station_success=lone_early + joint * ap_silent * lone_station,
        ap_collision=joint * ap * (1.0 - stations_silent),
        ap_attempts=by_ap + joint * ap,
        station_attempts=tries_early + joint * active * tau,
    )
