"""What every saturation model needs: the contenders, the air time of collisions, the answer."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lasthop.models.dcf import airtime
from lasthop.models.errors import ConvergenceError
from lasthop.models.reading import BEST_EFFORT, Cell, CellScenario, Station, Udp, UdpFlow


@dataclass(frozen=True)
class Contender:
    """A node that always has a packet to send.

    Attributes
    ----------
    cwmin, cwmax : int
        Smallest and largest contention window; backoff is uniform on [0, CW]. [slots]
    attempts : int
        Attempts for a packet, the first included. [-]
    first_frame_s : float
        Frame that a collision spoils. [s]
    success_s : float
        Successful exchange, AIFS after it included. [s]
    payload_bytes : int
        What counts as goodput. [bytes]
    error_prob : float
        Probability that a frame without collision is lost to channel errors. [-]
    """

    cwmin: int
    cwmax: int
    attempts: int
    first_frame_s: float
    success_s: float
    payload_bytes: int
    error_prob: float = 0.0

    def windows(self) -> list[int]:
        r"""Contention window of each attempt, :math:`CW_j`. [slots]

        .. math:: CW_j = \min(2^j (CW_{min} + 1),\; CW_{max} + 1) - 1
        """
        return [min(2**j * (self.cwmin + 1), self.cwmax + 1) - 1 for j in range(self.attempts)]


@dataclass(frozen=True)
class Saturation:
    """State of a saturated cell; the tuples follow the order of the contenders.

    Attributes
    ----------
    attempt_prob : tuple of float
        Probability of an attempt per slot that the node may use, :math:`\tau_i`. [-]
    failure_prob : tuple of float
        Failed attempts per attempt. [-]
    discard_prob : tuple of float
        Packets discarded at the attempt limit, per packet taken up. [-]
    packet_rate : tuple of float
        Delivered packets. [1/s]
    goodput_bps : tuple of float
        Delivered payload. [bit/s]
    """

    attempt_prob: tuple[float, ...]
    failure_prob: tuple[float, ...]
    discard_prob: tuple[float, ...]
    packet_rate: tuple[float, ...]
    goodput_bps: tuple[float, ...]


def contenders(scenario: CellScenario) -> list[Contender]:
    """Contenders of a cell whose flows are all greedy UDP, stations first, then the AP.

    Raises
    ------
    ValueError
        If a flow is not greedy UDP, the nodes' AIFSN differ, the AP sends at several rates or
        sizes, a frame both follows an RTS and may meet channel errors, or the scenario has
        categories or opportunities of several packets, which `zones` knows.
    """
    up: dict[str, Contender] = {}
    down: set[Contender] = set()
    aifsns = set()
    for flow in greedy(scenario):
        station = scenario.station[flow.station]
        sender = station if flow.is_up else scenario.cell.ap
        if sender.has_bursts or flow.category != BEST_EFFORT:
            raise ValueError(f"flow {flow.name} has a category or opportunities: see zones")
        aifsns.add(sender.aifsn)
        way = Way.of(scenario.cell, station, flow.udp, up=flow.is_up)
        if way.error_prob > 0 and airtime.uses_rts(scenario.cell, flow.udp.packet_bytes):
            raise ValueError("channel errors after RTS/CTS are outside the model")
        contender = Contender(
            cwmin=sender.cwmin,
            cwmax=sender.cwmax,
            attempts=sender.attempts_short,
            first_frame_s=way.first_frame_s,
            success_s=way.exchange_s + airtime.aifs_s(scenario.cell, sender.aifsn),
            payload_bytes=flow.udp.payload_bytes,
            error_prob=way.error_prob,
        )
        if flow.is_up:
            if up.setdefault(station.name, contender) != contender:
                raise ValueError(f"station {station.name} sends packets of several sizes")
        else:
            down.add(contender)
    if len(aifsns) > 1:
        raise ValueError("the contenders' AIFSN differ")
    if len(down) > 1:
        raise ValueError("the AP sends at several rates, sizes or error probabilities")
    return [up[name] for name in scenario.station if name in up] + list(down)


def greedy(scenario: CellScenario) -> list[UdpFlow]:
    """The flows of a saturated cell.

    Raises
    ------
    ValueError
        If one is not greedy UDP, or a link before the access point has a rate, so that its queue
        is filled and not the access point's.
    """
    found = []
    for flow in scenario.flows:
        if not isinstance(flow, UdpFlow) or flow.udp.arrivals != "greedy":
            raise ValueError(f"flow {flow.name} is not greedy UDP, so the cell is not saturated")
        if not flow.is_up and (scenario.wire.rate_bps is not None or flow.forward or scenario.vsb):
            raise ValueError(f"flow {flow.name} need not keep the access point's queue full")
        found.append(flow)
    return found


@dataclass(frozen=True)
class Way:
    """A datagram on its way over the air, without AIFS."""

    first_frame_s: float
    exchange_s: float
    error_prob: float

    @classmethod
    def of(cls, cell: Cell, station: Station, udp: Udp, *, up: bool) -> "Way":
        """The way from or to a station."""
        rate = station.rate_bps if up else station.downlink_rate_bps
        control, reply = station.uplink_control_bps if up else station.downlink_control_bps
        return cls(
            airtime.first_frame_s(cell, udp.packet_bytes, rate, control),
            airtime.exchange_s(cell, udp.packet_bytes, rate, control, reply),
            station.error_up if up else station.error_down,
        )


def failed_after_s(scenario: CellScenario) -> float:
    """Time from the end of a spoilt frame until the backoff resumes: EIFS. [s]"""
    uplink = any(flow.is_up for flow in scenario.flows)
    sender = scenario.stations[0] if uplink else scenario.cell.ap
    return airtime.eifs_s(scenario.cell, sender.aifsn)


def longest_frame_s(nodes: Sequence[Contender], attempt_prob: Sequence[float]) -> float:
    r"""Mean length of the longest first frame of a slot; an idle slot counts as 0. [s]

    .. math:: E[\max_i T_i 1_i] = \sum_m (T_{(m)} - T_{(m-1)})
              \Bigl(1 - \prod_{i: T_i \ge T_{(m)}} (1 - \tau_i)\Bigr)

    Parameters
    ----------
    nodes : sequence of Contender
    attempt_prob : sequence of float
        Independent attempt probabilities, :math:`\tau_i`. [-]
    """
    total, shorter = 0.0, 0.0
    for length in sorted({node.first_frame_s for node in nodes}):
        silent = math.prod(
            1 - tau
            for node, tau in zip(nodes, attempt_prob, strict=True)
            if node.first_frame_s >= length
        )
        total += (length - shorter) * (1 - silent)
        shorter = length
    return total


def alone(attempt_prob: Sequence[float]) -> list[float]:
    r"""Probability that every other node is silent, :math:`\prod_{k \ne i}(1 - \tau_k)`. [-]"""
    silent = math.prod(1 - tau for tau in attempt_prob)
    return [silent / (1 - tau) for tau in attempt_prob]


def fixed_point(
    step: Callable[[list[float]], list[float]],
    start: Sequence[float],
    tolerance: float = 1e-13,
    rounds: int = 20_000,
) -> list[float]:
    """Damped iteration of `step` until no component moves by more than `tolerance`."""
    values = list(start)
    for _ in range(rounds):
        after = step(values)
        moved = max(abs(a - b) for a, b in zip(after, values, strict=True))
        if moved <= tolerance:
            return after
        values = [0.7 * b + 0.3 * a for a, b in zip(after, values, strict=True)]
    raise ConvergenceError(f"attempt probabilities still move by {moved:.1e} after {rounds} rounds")
