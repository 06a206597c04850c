r"""MAC layer of paper 000, section IV-B: attempts, failures and durations.

Time is divided into slots. The AP always has a packet. A station contends while it has a packet,
and its attempt probability is averaged over all slots. If backoff counters freeze (``countdown =
"dcf"``), only idle slots count; a slot includes the transmissions that follow the idle slot. A node
that draws a backoff of 0 sends again immediately, without contention. If counters do not freeze,
they also fall in busy slots, as in Bianchi's model and in the paper.
"""

from dataclasses import dataclass

import numpy as np

from lasthop.models.access import Access
from lasthop.models.errors import ConvergenceError
from lasthop.models.vbs.cell import Cell, Frame
from lasthop.models.vbs.chain import Floats
from lasthop.models.vbs.options import Options

TOLERANCE = 1e-12
"""Change of probabilities below which the iteration has converged. [-]"""

ROUNDS = 20_000
"""Largest number of iterations; usually about a hundred suffice."""

MOST = 0.999
"""Upper bound that the iteration imposes on the fraction of time in which a station contends. [-]
"""


@dataclass(frozen=True)
class Contention:
    r"""Solution of the MAC layer. An array "by class" has one value per class of flows; an array
    "by stations" has one value per group of equal stations.

    Attributes
    ----------
    service_rate : float
        Rate of packets that leave the AP's queue. [1/s]
    no_departure : ndarray
        By class: probability that a Poisson process with the AP's service rate has no event while
        the AP serves a packet of the class. [-]
    ap_discards, station_discards : ndarray
        By class: probability that a packet of the AP, or of a station, is discarded at the attempt
        limit, :math:`p_{d,i}`. [-]
    ap_failures : ndarray
        By class: fraction of the AP's attempts that fail, :math:`f_{ap,i}`. [-]
    ap_failure, ap_collision, ap_discard : float
        Fraction of the AP's attempts that fail and that collide, and fraction of its packets that
        are discarded. [-]
    ap_attempts : float
        Attempts of the AP per slot, :math:`\beta_{ap}`. [-]
    station_failures, station_collisions, discards_by_station : ndarray
        By stations: fractions of attempts that fail and that collide, and of packets discarded. [-]
    busy : ndarray
        By stations: fraction of slots in which a station has a packet to send, :math:`u`. [-]
    by_attempt, open_collisions : ndarray
        Collision probability of each attempt of the AP, and collision probability of stations by
        group, in slots without immediate transmissions. [-]
    contending : float
        Mean number of stations with a packet to send, over slots. [stations]
    active : float
        Mean number of active stations over time. [stations]
    """

    service_rate: float
    no_departure: Floats
    ap_discards: Floats
    station_discards: Floats
    ap_failures: Floats
    ap_failure: float
    ap_collision: float
    ap_discard: float
    ap_attempts: float
    station_failures: Floats
    station_collisions: Floats
    discards_by_station: Floats
    busy: Floats
    by_attempt: Floats
    open_collisions: Floats
    contending: float
    active: float


@dataclass(frozen=True)
class Backoff:
    """Backoff of a node by attempt: mean number of slots, and probability of a backoff of 0, which
    means an immediate transmission.
    """

    slots: Floats
    at_once: Floats


def backoff(access: Access, frozen: bool) -> Backoff:
    """Return the mean number of slots of each attempt: the backoff and, if counters do not freeze,
    the slot of the transmission.
    """
    windows = np.array(access.windows(), dtype=np.float64)
    if frozen:
        return Backoff(windows / 2.0, 1.0 / (windows + 1.0))
    return Backoff(windows / 2.0 + 1.0, np.zeros(len(windows)))


def attempt_prob(failure_prob: float, access: Access) -> float:
    r"""Return the attempt probability of a node that always has a packet, :math:`G(f)`. [-]

    .. math:: G(f) = \frac{\sum_{j=0}^{k} f^j}{\sum_{j=0}^{k} f^j (CW_j/2 + 1)}

    Notes
    -----
    The formula is Eq. (10): Bianchi's chain with k + 1 attempts. f is the failure probability of an
    attempt.
    """
    visits = failure_prob ** np.arange(access.attempts)
    return float(visits.sum() / (visits @ backoff(access, frozen=False).slots))


def failure_prob_of(attempts: float, access: Access) -> float:
    r"""Return the failure probability that corresponds to an attempt probability,
    :math:`G^{-1}(\beta)`. [-]

    Notes
    -----
    The printed Eq. (15) evaluates this function at :math:`\beta_{ap,i} = h_i \beta_{ap}`, the
    attempts of the AP at packets of class i. However, :math:`\beta_{ap,i}` is not an attempt
    probability of a node. For example, two equal classes without channel errors (:math:`p_w = 0`)
    would both have a failure probability of 0.38.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if attempt_prob(middle, access) > attempts else (low, middle)
    return 0.5 * (low + high)


def ap_failure_prob(error: float, attempts: Floats, counts: Floats) -> float:
    r"""Return the fraction of the AP's attempts at one class that fail, :math:`f_{ap,i}`. [-]

    .. math:: f_{ap,i} = 1 - (1 - p_{w,i}) \prod_j (1 - \beta_j)^{n_j}

    Notes
    -----
    The formula is Eq. (13), with the channel error probability :math:`p_{w,i}` of the class. Group
    j has :math:`n_j` stations, which attempt with probability :math:`\beta_j`.
    """
    return float(1.0 - (1.0 - error) * np.prod((1.0 - attempts) ** counts))


def station_failure_prob(ap_attempts: float, attempts: Floats, counts: Floats, own: int) -> float:
    r"""Return the fraction of a station's attempts that collide, :math:`f_i`. [-]

    .. math:: f_i = 1 - (1 - \beta_{ap}) (1 - \beta_i)^{n_i - 1} \prod_{j \ne i} (1 - \beta_j)^{n_j}

    Notes
    -----
    The formula is Eq. (14). :math:`\beta_{ap}` and :math:`\beta_j` are the attempt probabilities of
    the AP and of a station of group j, which has :math:`n_j` stations.
    """
    silent = np.prod((1.0 - attempts) ** counts) / (1.0 - attempts[own])
    return float(1.0 - (1.0 - ap_attempts) * silent)


def slot_probs(ap_attempts: float, attempts: Floats, counts: Floats) -> tuple[float, float, float]:
    r"""Return the probabilities of an idle slot, a slot with ACKs only, and a slot with data:
    :math:`P_0, P_s, P_l`. [-]

    .. math:: P_0 = (1 - \beta_{ap}) \prod_i (1 - \beta_i)^{n_i}, \quad
              P_s = (1 - \beta_{ap}) (1 - \prod_i (1 - \beta_i)^{n_i}), \quad P_l = 1 - P_0 - P_s

    Notes
    -----
    The formulas are Eqs. (7) to (9). The printed Eq. (8) has an additional factor :math:`1 - p_w`,
    with which the three probabilities would not sum to 1. :math:`\beta` are attempt probabilities,
    and :math:`n_i` numbers of stations.
    """
    silent = float(np.prod((1.0 - attempts) ** counts))
    idle = (1.0 - ap_attempts) * silent
    acks = (1.0 - ap_attempts) * (1.0 - silent)
    return idle, acks, 1.0 - idle - acks


def mean_slot_s(
    probs: tuple[float, float, float], slot_s: float, ack_s: float, data_s: float
) -> float:
    r"""Return the mean length of a slot, :math:`E[X] = P_0 \sigma + P_s T_{ack} + P_l T_{data}`.
    [s]

    Notes
    -----
    The formula is Eq. (6). If stations have different rates (Remark IV.1), :math:`T_{ack}` and
    :math:`T_{data}` are means over attempts. :math:`P_0, P_s, P_l` are `slot_probs`, and
    :math:`\sigma` is the slot time.
    """
    idle, acks, data = probs
    return idle * slot_s + acks * ack_s + data * data_s


def discard_prob(failures: Floats) -> float:
    r"""Return the probability that all attempts at a packet fail, :math:`p_{d,i} = f_{ap,i}^{k+1}`.
    [-]

    Parameters
    ----------
    failures : ndarray
        Failure probability of each attempt; equal values give Eq. (16). [-]
    """
    return float(failures.prod())


def _reached(failures: Floats) -> Floats:
    """Return the probability that each attempt is made: the product of the failure probabilities of
    earlier attempts, along the last axis.
    """
    reached = np.ones(failures.shape)
    failures[..., :-1].cumprod(axis=-1, out=reached[..., 1:])
    return reached


class _Solver:
    """Fixed-point iteration of the MAC layer, for given shares of the classes in the packets that
    the AP serves.
    """

    def __init__(self, cell: Cell, shares: Floats, replies: Floats, options: Options) -> None:
        self.cell, self.shares, self.replies = cell, shares, replies
        self.draining = options.collisions == "draining"
        self.printed = options.ack_balance == "printed"
        self.home = np.array([each.station for each in cell.classes])
        self.counts = np.array([float(station.count) for station in cell.stations])
        self.frozen = cell.frozen and options.slots == "scenario"
        self.ap = backoff(cell.ap, self.frozen)
        self.stations = [backoff(station.access, self.frozen) for station in cell.stations]
        self.mine = [np.flatnonzero(self.home == own).tolist() for own in range(len(self.counts))]
        self.down_errors = np.array([each.down.error for each in cell.classes])
        self.up_errors = np.array([each.up.error for each in cell.classes])
        # Collision probability of stations, in slots without immediate transmissions.
        self.collisions = np.zeros(len(self.counts))
        self.ap_collisions = np.zeros(cell.ap.attempts)

    def step(self) -> float:
        """Update all probabilities; return the largest change."""
        self._ap()
        self._stations()
        idle = float(((1.0 - self.open_attempts) ** self.counts).prod())
        self.some_station = 1.0 - idle
        if self.draining:
            collisions = self._draining()
        else:
            collisions = np.full(self.cell.ap.attempts, self.some_station)
        open_reached = self.mean_reached * (1.0 - self.ap.at_once)
        self.joint = float(open_reached @ collisions) * self.services
        met = min(self.joint / max(self.some_station, 1e-300), 1.0)
        seen = 1.0 - (1.0 - met) * idle / (1.0 - self.open_attempts)
        moved = max(
            float(np.abs(collisions - self.ap_collisions).max()),
            float(np.abs(seen - self.collisions).max()),
        )
        self.ap_collisions = 0.5 * (self.ap_collisions + collisions)
        self.collisions = 0.5 * (self.collisions + seen)
        return moved

    def _ap(self) -> None:
        hit = self.ap_collisions * (1.0 - self.ap.at_once)
        self.ap_fails = 1.0 - np.outer(1.0 - self.down_errors, 1.0 - hit)
        self.ap_reached = _reached(self.ap_fails)
        self.ap_discards = self.ap_fails.prod(axis=1)
        self.mean_reached = self.shares @ self.ap_reached
        self.replied = self.replies
        if self.printed:
            # This branch computes Eq. (11) as printed: shares are fractions of attempts, and
            # discarded packets also cause ACKs.
            failures = (self.ap_reached * self.ap_fails).sum(axis=1) / self.ap_reached.sum(axis=1)
            failed_before = np.arange(self.cell.ap.attempts, dtype=np.float64)
            self.mean_reached = np.power(float(self.shares @ failures), failed_before)
            self.replied = self.replies / (1.0 - self.ap_discards)
        self.services = 1.0 / float(self.mean_reached @ self.ap.slots)  # packets of the AP per slot
        self.ap_attempts = float(self.mean_reached.sum()) * self.services

    def _stations(self) -> None:
        size = len(self.counts)
        taken = self.services * self.shares * self.replied / self.counts[self.home]
        self.attempts, self.open_attempts = np.zeros(size), np.zeros(size)
        self.busy, self.failures = np.zeros(size), np.zeros(size)
        self.station_discards = np.zeros(len(self.home))
        for own, (waits, mine) in enumerate(zip(self.stations, self.mine, strict=True)):
            slots = 0.0
            failed = 0.0
            contended = 1.0 - waits.at_once
            hit = self.collisions[own] * contended
            for each in mine:
                fails = 1.0 - (1.0 - self.up_errors[each]) * (1.0 - hit)
                reached = _reached(fails)
                self.attempts[own] += taken[each] * reached.sum()
                self.open_attempts[own] += taken[each] * (reached @ contended)
                slots += taken[each] * (reached @ waits.slots)
                failed += taken[each] * (reached @ fails)
                self.station_discards[each] = discard_prob(fails)
            self.busy[own] = min(slots, MOST)
            scale = self.busy[own] / slots if slots > 0.0 else 1.0
            self.attempts[own] *= scale
            self.open_attempts[own] *= scale
            if self.attempts[own] > 0.0:
                self.failures[own] = failed * scale / self.attempts[own]

    def _draining(self) -> Floats:
        r"""Return the probability that each attempt of the AP at a packet collides.

        Stations get packets only after a success of the AP, and stop contending after they have
        sent their packets. When the AP begins to serve a packet, the station that just got a packet
        contends. Stations that have not yet sent their packets also contend. After a slot a station
        still contends with probability 1 - d, with d = tau (1 - f)(1 - u). In this formula tau is
        the attempt probability of the station, f its failure probability, and u the probability
        that it has more packets.

        .. math:: c_j = 1 - \prod_s (1 - \tau_s)^{K_{s,j}}, \qquad K_{s,0} = \frac{g_s}{1 - S_s}

        :math:`K_{s,j}` is the mean number of stations of group s that contend at attempt j. For
        each packet of the AP, :math:`g_s` stations of the group begin to contend. :math:`S_s` is
        the probability that a station still contends at the next packet of the AP.
        """
        busy = np.maximum(self.busy, 1e-300)
        rates = self.open_attempts / busy  # attempt probability of a station that has a packet
        leaves = np.maximum(rates * (1.0 - self.failures) * (1.0 - self.busy), 1e-12)
        windows = np.array(self.cell.ap.windows(), dtype=np.float64)
        stays = np.array([_survival(windows, leave) for leave in leaves])
        surviving = np.cumprod(stays, axis=1)
        ends = self.mean_reached - np.append(self.mean_reached[1:], 0.0)
        over_packet = np.minimum(surviving @ ends, 1.0 - 1e-12)
        # The station to which the AP has just sent a packet becomes an additional contender if it
        # had no packet to send before.
        fresh = np.zeros(len(self.counts))
        np.add.at(fresh, self.home, self.shares * self.replied)
        fresh *= 1.0 - self.busy
        contending = (fresh / (1.0 - over_packet))[:, None] * surviving
        return np.asarray(1.0 - np.prod((1.0 - rates[:, None]) ** contending, axis=0))

    def result(self) -> Contention:
        cell = self.cell
        per_packet = self.ap_reached.sum(axis=1)
        weights = self.shares if self.printed else self.shares * per_packet
        ap_failures = (self.ap_reached * self.ap_fails).sum(axis=1) / per_packet
        total = float(weights.sum())
        ap_s = _mean_s([each.down for each in cell.classes], weights, ap_failures)
        sent = self.shares * self.replied
        station_s = _mean_s([each.up for each in cell.classes], sent, self.failures[self.home])
        at_once = float(self.counts @ (self.attempts - self.open_attempts))
        alone = self.some_station - self.joint + at_once
        probs = (1.0 - self.ap_attempts - alone, alone, self.ap_attempts)
        if self.frozen:
            probs = (1.0, *probs[1:])
        slot_s = mean_slot_s(probs, cell.slot_s, station_s, ap_s)
        slot_s += self.joint * max(station_s - ap_s, 0.0)
        between_s = slot_s - self.ap_attempts * ap_s
        each_s = self._attempts_s(between_s)
        ends = self.ap_reached - np.append(self.ap_reached[:, 1:], np.zeros((len(sent), 1)), axis=1)
        silent = np.exp(-np.cumsum(each_s, axis=1) * self.services / slot_s)
        contending = float(self.counts @ self.busy)
        discards = np.zeros(len(self.counts))
        for own in range(len(self.counts)):
            mine = self.home == own
            discards[own] = np.average(self.station_discards[mine], weights=sent[mine])
        per_attempt = self.open_attempts / np.maximum(self.attempts, 1e-300)
        return Contention(
            service_rate=self.services / slot_s,
            no_departure=(ends * silent).sum(axis=1),
            ap_discards=self.ap_discards,
            station_discards=self.station_discards,
            ap_failures=ap_failures,
            ap_failure=float(weights @ ap_failures) / total,
            ap_collision=self.joint / self.ap_attempts,
            ap_discard=float(self.shares @ self.ap_discards),
            ap_attempts=self.ap_attempts,
            station_failures=self.failures,
            station_collisions=self.collisions * per_attempt,
            discards_by_station=discards,
            busy=self.busy,
            by_attempt=self.ap_collisions,
            open_collisions=self.collisions,
            contending=contending,
            active=contending + alone * station_s / slot_s,
        )

    def _attempts_s(self, between_s: float) -> Floats:
        """Return the mean duration of each attempt of the AP, including its backoff, by class.
        [s]
        """
        success = np.array([[each.down.success_s] for each in self.cell.classes])
        failure = np.array([[each.down.failure_s] for each in self.cell.classes])
        air = self.ap_fails * failure + (1.0 - self.ap_fails) * success
        return np.asarray(self.ap.slots * between_s + air)


def _survival(windows: Floats, leaves: float) -> Floats:
    """Return for each contention window CW the mean of (1 - d)^U, where U is uniform on [0, CW] and
    d is `leaves`. [-]
    """
    power = np.expm1((windows + 1.0) * np.log1p(-leaves))
    return np.asarray(-power / ((windows + 1.0) * leaves))


def _mean_s(frames: list[Frame], weights: Floats, failures: Floats) -> float:
    """Return the mean duration of an attempt, weighted by class. [s]"""
    times = [
        failed * frame.failure_s + (1.0 - failed) * frame.success_s
        for frame, failed in zip(frames, failures, strict=True)
    ]
    return float(np.average(times, weights=weights))


def solve(
    cell: Cell,
    shares: Floats,
    replies: Floats,
    options: Options,
    guess: Contention | None = None,
) -> Contention:
    """Return the fixed point of the MAC layer for given shares of the classes in the packets that
    the AP serves.

    Parameters
    ----------
    cell : Cell
    shares : ndarray
        Fraction of the packets served by the AP that belong to each class, :math:`h_i`. [-]
    replies : ndarray
        Packets that the stations of each class send per packet of the AP. [-]
    options : Options
    guess : Contention, optional
        Initial guess.

    Raises
    ------
    ConvergenceError
        If the probabilities do not converge.

    Notes
    -----
    The fixed point solves Eqs. (6) to (16), with separate classes at the AP. The fraction
    :math:`h_i` of the packets that the AP serves belongs to class i. The mean numbers of attempts
    and slots per packet are computed for each class.
    """
    solver = _Solver(cell, shares, replies, options)
    if guess is not None:
        solver.ap_collisions, solver.collisions = guess.by_attempt, guess.open_collisions
    for _ in range(ROUNDS):
        if solver.step() <= TOLERANCE:
            return solver.result()
    raise ConvergenceError("attempt probabilities of AP and stations do not settle")
