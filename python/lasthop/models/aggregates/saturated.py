r"""Throughput of the contenders of a saturated cell that sends aggregates.

Module `contention` models the contention, as for any saturated cell. After `attempts_short`
failures in a row the contention window returns to CWmin, but nothing is dropped. The backoff is
therefore that of a packet with `attempts_short` attempts. The following differs from a cell with
single frames:

- A PPDU has as many MPDUs as the BlockAck window allows (module `window`); with losses its length
  is random. A collision lasts as long as its longest frame, and EIFS follows this frame.
- A channel access fails by a collision (probability :math:`c`), or because no MPDU of the PPDU is
  received (probability :math:`E[p^k]`, with :math:`k` MPDUs and loss probability :math:`p`).
- If MPDUs are sent until they are received, a collision does not change the BlockAck window. From
  one PPDU without collision to the next, the window therefore moves as in a cell without
  collisions.
- Without losses all MPDUs of a PPDU are given up together after :math:`A` collisions in a row, with
  probability :math:`g`. A BlockAckReq then follows. The BlockAckReq also has :math:`A` attempts, so
  that the fraction :math:`g / (1 + g)` of all attempts are BlockAckReqs.
- A TXOP is one exchange of several PPDUs, of which a collision destroys the first. The model does
  not support TXOPs of several PPDUs with losses.
- With losses and a limit of attempts, an MPDU is given up with probability :math:`(c + (1 - c)
  p)^A`. Collisions also move the BlockAck window; the model treats each MPDU of a PPDU as if it
  collided independently. The error is below 0.7 % while 1 % of the MPDUs are given up; higher
  fractions are refused.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from lasthop.models.aggregates import window as windows
from lasthop.models.aggregates.contention import Access, Backoff, Contention
from lasthop.models.aggregates.contention import solve as contend
from lasthop.models.aggregates.window import Window
from lasthop.models.errors import ModelError
from lasthop.progress.cost_limits import check_time

SELDOM = 0.01
"""Largest fraction of MPDUs that may be given up if there are both losses and collisions. [-]"""


@dataclass(frozen=True)
class Exchange:
    """Durations of a channel access that begins with a PPDU of given MPDUs, or with a BlockAckReq.

    Attributes
    ----------
    first_frame_s : float
        Duration of the frame that a collision destroys: RTS or PPDU. [s]
    ended_s : float
        Time from the start of the first frame to the end of the PPDU. [s]
    exchange_s : float
        Time from the start of the first frame to the end of the response. [s]
    first_wait_s, wait_s : float
        Difference of EIFS and AIFS: after a first frame that a collision destroys, and after a PPDU
        that is not received. [s]
    sizes : tuple of int, optional
        Number of MPDUs in each PPDU of the exchange; by default there is one PPDU, or only a
        BlockAckReq.
    payload_bytes : float, optional
        Payload of all PPDUs; by default the payload of the MPDUs. [bytes]
    is_protected : bool
        Whether the first frame is an RTS or a BlockAckReq, instead of the PPDU of `sizes[0]`.
    """

    first_frame_s: float
    ended_s: float
    exchange_s: float
    first_wait_s: float
    wait_s: float
    sizes: tuple[int, ...] | None = None
    payload_bytes: float | None = None
    is_protected: bool = False


@dataclass(frozen=True)
class Aggregator:
    """A contender that always has packets, and sends aggregates.

    Attributes
    ----------
    cwmin, cwmax : int
        Contention window. [slots]
    attempts_short : int
        Number of failed accesses in a row after which the contention window returns to CWmin.
    mpdus : int
        Without losses, the number of MPDUs in a PPDU. With losses, the size of the BlockAck window;
        all its MPDUs must fit into a PPDU.
    exchange : callable
        Function that returns the `Exchange` of a PPDU with a given number of MPDUs.
    payload_bytes : float
        Payload of an MPDU. [bytes]
    request : Exchange, optional
        Exchange of a BlockAckReq; None if MPDUs are never given up.
    attempts : int, optional
        Attempts for an MPDU, and for a BlockAckReq; None if there is no limit.
    loss : float
        Probability that an MPDU is lost other than by a collision. [-]
    """

    cwmin: int
    cwmax: int
    attempts_short: int
    mpdus: int
    exchange: Callable[[int], Exchange]
    payload_bytes: float
    request: Exchange | None = None
    attempts: int | None = None
    loss: float = 0.0


@dataclass(frozen=True)
class Cell:
    """Throughput and failures of a saturated cell; the tuples follow the order of the contenders.

    Attributes
    ----------
    attempt_prob : tuple of float
        Probability of an attempt per slot (``edca``) or open slot (``dcf``). [-]
    collision_prob : tuple of float
        Fraction of attempts that collide. [-]
    failure_prob : tuple of float
        Fraction of accesses that fail. [-]
    given_up : tuple of float
        Fraction of MPDUs that are given up. [-]
    request_share : tuple of float
        Fraction of attempts that are BlockAckReqs. [-]
    mpdu_rate : tuple of float
        Rate of received MPDUs. [1/s]
    goodput_bps : tuple of float
        Payload received. [bit/s]
    mpdus : tuple of float
        Mean MPDUs in a PPDU with data, including collided PPDUs.
    frames : tuple of float
        Mean PPDUs with data and BlockAckReqs in an attempt that does not collide.
    whole_lost : tuple of float
        Fraction of the PPDUs without collision of which no MPDU is received. [-]
    """

    attempt_prob: tuple[float, ...]
    collision_prob: tuple[float, ...]
    failure_prob: tuple[float, ...]
    given_up: tuple[float, ...]
    request_share: tuple[float, ...]
    mpdu_rate: tuple[float, ...]
    goodput_bps: tuple[float, ...]
    mpdus: tuple[float, ...]
    frames: tuple[float, ...]
    whole_lost: tuple[float, ...]


@dataclass(frozen=True)
class _Kind:
    """Channel accesses of a contender that begin with the same number of MPDUs, or with a
    BlockAckReq.
    """

    part: float  # Fraction of the contender's accesses.
    exchange: Exchange
    lost: float  # Probability that no MPDU of the PPDU is received.
    sizes: tuple[int, ...]  # Number of MPDUs in each PPDU.
    payload_bytes: float

    @property
    def mpdus(self) -> int:
        """Total number of MPDUs in all PPDUs of the access."""
        return sum(self.sizes)


@dataclass(frozen=True)
class _Traffic:
    """Channel accesses of a contender, including the frames on the air."""

    window: Window
    given_up: float
    requests: float  # BlockAckReqs per attempted PPDU.
    kinds: tuple[_Kind, ...]
    payload_bytes: float  # Payload of an MPDU.

    @property
    def delivered(self) -> float:
        """Mean received MPDUs per attempt that does not collide."""
        if self.window.loss == 0:
            return sum(kind.part * kind.mpdus for kind in self.kinds)
        return self.window.delivered / (1 + self.requests)

    @property
    def delivered_bytes(self) -> float:
        """Mean received payload per attempt that does not collide. [bytes]"""
        if self.window.loss == 0:
            return sum(kind.part * kind.payload_bytes for kind in self.kinds)
        return self.delivered * self.payload_bytes

    def lone_s(self) -> float:
        """Mean duration of a channel access without collision, excluding AIFS. [s]"""
        return sum(
            kind.part
            * (
                (1 - kind.lost) * kind.exchange.exchange_s
                + kind.lost * (kind.exchange.ended_s + kind.exchange.wait_s)
            )
            for kind in self.kinds
        )

    def first_s(self) -> float:
        """Mean duration of the first frame, plus the difference of EIFS and AIFS. [s]"""
        return sum(
            kind.part * (kind.exchange.first_frame_s + kind.exchange.first_wait_s)
            for kind in self.kinds
        )

    def frames(self) -> float:
        """Mean PPDUs with data and BlockAckReqs per attempt that does not collide."""
        more = self.requests / (1 + self.requests)
        return sum(kind.part * len(kind.sizes) for kind in self.kinds) + more

    def discarded(self) -> float:
        """Fraction of MPDUs that are given up. [-]"""
        if self.window.loss > 0 or self.given_up == 0:
            return self.given_up
        # Only the first PPDU of a TXOP can be given up, since only that PPDU can collide. A
        # BlockAckReq then begins the next TXOP.
        first, *request = self.kinds
        lost = self.given_up * first.sizes[0]
        received = (1 - self.given_up) * first.mpdus
        received += self.given_up * sum(each.mpdus for each in request)
        return lost / (lost + received)

    def mpdus(self, collision_prob: float) -> float:
        """Return the mean number of MPDUs in a PPDU. In a collision only the first PPDU of a TXOP
        is sent, or no PPDU if the first frame is an RTS.
        """
        mpdus = ppdus = 0.0
        for kind in self.kinds:
            if not kind.sizes:
                continue
            lone = kind.part * (1 - collision_prob)
            mpdus, ppdus = mpdus + lone * kind.mpdus, ppdus + lone * len(kind.sizes)
            if not kind.exchange.is_protected:
                collided = kind.part * collision_prob
                mpdus, ppdus = mpdus + collided * kind.sizes[0], ppdus + collided
        return mpdus / ppdus


def solve(
    contenders: Sequence[Aggregator],
    slot_s: float,
    aifs_s: float,
    countdown: Literal["edca", "dcf"] = "edca",
) -> Cell:
    r"""Return the throughput of a saturated cell of contenders with equal AIFSN.

    .. math:: X_i = \frac{L_i N_i D_i}{\sigma P_{idle} + \sum_k N_k T_k + T_{col} + P_{busy} AIFS}

    All values are per slot. :math:`N_i` is the number of attempts of contender :math:`i` that do
    not collide, :math:`D_i` the MPDUs received in each of them, and :math:`L_i` the payload of an
    MPDU in bits. :math:`T_k` is the duration of an access without collision. :math:`T_{col}` is the
    duration of the longest frame of a collision plus the difference of EIFS and AIFS. With
    ``"dcf"`` the values are per open slot, which is a slot that follows an idle slot. Each open
    slot takes one slot time :math:`\sigma`.

    Parameters
    ----------
    contenders : sequence of Aggregator
    slot_s, aifs_s : float
        Slot time, :math:`\sigma`, and AIFS. [s]
    countdown : {"edca", "dcf"}
        Rule for the countdown of backoff counters. With ``"dcf"`` `cwmin` is at least 1.

    Raises
    ------
    ModelError
        If more than 1 % of the MPDUs would be given up with both losses and collisions, or if the
        window of a contender cannot be solved.
    """
    solo = len(contenders) == 1
    windows_of = {contender: _window(contender, solo) for contender in dict.fromkeys(contenders)}
    held = [windows_of[contender] for contender in contenders]
    contention = contend(
        [_backoff(contender, window) for contender, window in zip(contenders, held, strict=True)],
        countdown,
    )
    accesses = contention.accesses
    known = dict(zip(zip(contenders, accesses, strict=True), held, strict=True))
    of_kind = {
        (contender, access): _traffic(contender, window, access, solo)
        for (contender, access), window in known.items()
    }
    traffic = [of_kind[pair] for pair in zip(contenders, accesses, strict=True)]
    idle = contention.quiet([1.0] * len(contenders))
    lone = sum(access.lone_in_slots for access in accesses)
    total_s = slot_s * (idle if countdown == "edca" else 1.0)
    total_s += _longest_s(contention, traffic, idle) + (1 - idle - lone) * aifs_s
    for access, own in zip(accesses, traffic, strict=True):
        total_s += access.lone * (own.lone_s() + aifs_s) - access.lone_in_slots * own.first_s()
        # A collision of immediate attempts, in the slot after a collision, nearly always involves
        # two contenders. Each of them accounts for half of its duration.
        total_s += access.collided_at_once / 2 * (own.first_s() + aifs_s)
    rates = [
        access.lone * own.delivered / total_s for access, own in zip(accesses, traffic, strict=True)
    ]
    return Cell(
        attempt_prob=tuple(access.attempt_prob for access in accesses),
        collision_prob=tuple(access.collision_prob for access in accesses),
        failure_prob=tuple(
            1 - (1 - access.collision_prob) * (1 - own.window.failed / (1 + own.requests))
            for access, own in zip(accesses, traffic, strict=True)
        ),
        given_up=tuple(own.discarded() for own in traffic),
        request_share=tuple(own.requests / (1 + own.requests) for own in traffic),
        mpdu_rate=tuple(rates),
        goodput_bps=tuple(
            8 * access.lone * own.delivered_bytes / total_s
            for access, own in zip(accesses, traffic, strict=True)
        ),
        mpdus=tuple(
            own.mpdus(access.collision_prob) for access, own in zip(accesses, traffic, strict=True)
        ),
        frames=tuple(own.frames() for own in traffic),
        whole_lost=tuple(own.window.failed for own in traffic),
    )


def _window(aggregator: Aggregator, solo: bool) -> Window:
    """Return the equilibrium of a contender's BlockAck window. Only PPDUs that do not collide count
    as rounds.
    """
    if aggregator.loss == 0:
        return windows.solve(aggregator.mpdus, 0.0)
    return windows.solve(aggregator.mpdus, aggregator.loss, aggregator.attempts if solo else None)


def _backoff(aggregator: Aggregator, window: Window) -> Backoff:
    error_prob = window.failed / (1 + window.requests.per_round)
    return Backoff(aggregator.cwmin, aggregator.cwmax, aggregator.attempts_short, error_prob)


def _traffic(aggregator: Aggregator, window: Window, access: Access, solo: bool) -> _Traffic:
    """Return the channel accesses of a contender, and the fraction of MPDUs that it gives up."""
    given_up, requests = 0.0, 0.0
    if aggregator.attempts is not None and aggregator.loss == 0:
        # All MPDUs of a PPDU are given up together. Then a BlockAckReq is sent, with the same
        # number of attempts.
        stages = (failures % aggregator.attempts_short for failures in range(aggregator.attempts))
        given_up = math.prod(access.collides[stage] for stage in stages)
        requests = given_up
    elif aggregator.attempts is not None and solo:
        given_up, requests = window.given_up, window.requests.per_round
    elif aggregator.attempts is not None:
        collides = access.collision_prob
        given_up = (collides + (1 - collides) * aggregator.loss) ** aggregator.attempts
        if given_up > SELDOM:
            raise ModelError(
                "assumption 9",
                f"{given_up:.2%} of the MPDUs given up by losses and collisions together",
            )
        window = windows.solve(
            aggregator.mpdus, aggregator.loss, aggregator.attempts, collisions=collides
        )
        requests = _requests(aggregator, window, collides)
    if requests > 0 and aggregator.request is None:
        raise ValueError("MPDUs are given up, so that a BlockAckReq is needed")
    kinds = [
        _kind(aggregator, often / (1 + requests), aggregator.exchange(mpdus), mpdus)
        for mpdus, often in enumerate(window.sizes)
        if often > 0
    ]
    if aggregator.request is not None:
        kinds.append(_kind(aggregator, requests / (1 + requests), aggregator.request, 0))
    return _Traffic(window, given_up, requests, tuple(kinds), aggregator.payload_bytes)


def _kind(aggregator: Aggregator, part: float, exchange: Exchange, mpdus: int) -> _Kind:
    """Return the channel accesses that begin with a PPDU of `mpdus` MPDUs, or with a BlockAckReq if
    `mpdus` is 0.
    """
    sizes = exchange.sizes
    if sizes is None:
        sizes = (mpdus,) if mpdus else ()
    elif aggregator.loss > 0 and len(sizes) > 1:
        raise ValueError("several PPDUs per access are supported only without losses")
    payload_bytes = exchange.payload_bytes
    if payload_bytes is None:
        payload_bytes = aggregator.payload_bytes * sum(sizes)
    lost = aggregator.loss**mpdus if aggregator.loss > 0 and mpdus else 0.0
    return _Kind(part, exchange, lost, sizes, payload_bytes)


def _requests(aggregator: Aggregator, window: Window, collides: float) -> float:
    r"""Return the mean number of BlockAckReqs per PPDU without collision, if there are both losses
    and collisions.

    MPDUs that were first sent in the same PPDU are given up in the same PPDU, after :math:`A`
    attempts of which :math:`j` collided. On average there are :math:`(1 - p)` such groups of MPDUs
    per PPDU, each of :math:`n` MPDUs. :math:`p` is the loss probability of an MPDU, and :math:`c`
    the collision probability of a PPDU.

    .. math:: (1 - p) \sum_j \binom{A}{j} c^j (1 - c)^{A-j} \bigl[1 - (1 - p^{A-j})^n\bigr]
    """
    assert aggregator.attempts is not None
    moves = 1 - aggregator.loss
    mpdus = window.delivered / moves
    total = 0.0
    for collided in range(aggregator.attempts + 1):
        heard = aggregator.attempts - collided
        often = (
            math.comb(aggregator.attempts, collided) * collides**collided * (1 - collides) ** heard
        )
        total += often * (1 - (1 - aggregator.loss**heard) ** mpdus)
    return moves * total


def _longest_s(contention: Contention, traffic: Sequence[_Traffic], idle: float) -> float:
    r"""Return the mean duration of the longest first frame of a slot, plus the difference of EIFS
    and AIFS after the frame; 0 for an idle slot. [s]

    .. math:: \sum_m T_{(m)} \bigl[P(\text{no frame longer than } T_{(m)})
              - P(\text{no frame longer than } T_{(m-1)})\bigr]

    Parameters
    ----------
    contention : Contention
    traffic : sequence of _Traffic
    idle : float
        Probability that no frame is sent. [-]
    """
    waits_s: dict[float, float] = {}
    of_kind = {id(own): own for own in traffic}
    for own in of_kind.values():
        for kind in own.kinds:
            exchange = kind.exchange
            before_s = waits_s.get(exchange.first_frame_s, 0.0)
            waits_s[exchange.first_frame_s] = max(before_s, exchange.first_wait_s)
    total, below = 0.0, idle
    for length_s, wait_s in sorted(waits_s.items()):
        check_time("collisions of aggregates")
        longer = {
            name: sum(kind.part for kind in own.kinds if kind.exchange.first_frame_s > length_s)
            for name, own in of_kind.items()
        }
        within = contention.quiet([longer[id(own)] for own in traffic])
        total += (within - below) * (length_s + wait_s)
        below = within
    return total
