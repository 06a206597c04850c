"""What every saturation model needs: the contenders, the air time of collisions, the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lasthop.models.dcf import airtime
from lasthop.models.errors import ConvergenceError


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


def contenders(scenario: Mapping[str, Any]) -> list[Contender]:
    """Contenders of a cell whose flows are all greedy UDP, stations first, then the AP.

    Raises
    ------
    ValueError
        If a flow is not greedy UDP, the nodes' AIFSN differ, the AP sends at several rates or
        sizes, a frame both follows an RTS and may meet channel errors, or the scenario has
        categories or opportunities of several packets, which `zones` knows.
    """
    cell = scenario["cell"]
    stations = {station["name"]: station for station in scenario["stations"]}
    up: dict[str, Contender] = {}
    down: set[Contender] = set()
    aifsns = set()
    for flow in scenario["flows"]:
        udp = flow.get("udp")
        if udp is None or udp["arrivals"] != "greedy":
            raise ValueError(f"flow {flow['name']} is not greedy UDP, so the cell is not saturated")
        station = stations[flow["station"]]
        sends_up = flow["direction"] == "up"
        sender = station if sends_up else cell["ap"]
        bursts = sender.get("txop_packets", 1) != 1 or sender.get("txop_limit_s") is not None
        if bursts or flow.get("category", "best-effort") != "best-effort":
            raise ValueError(f"flow {flow['name']} has a category or opportunities: see zones")
        aifsns.add(sender["aifsn"])
        contender = _contender(cell, sender, station, sends_up, udp)
        if sends_up:
            if up.setdefault(station["name"], contender) != contender:
                raise ValueError(f"station {station['name']} sends packets of several sizes")
        else:
            down.add(contender)
    if len(aifsns) > 1:
        raise ValueError("the contenders' AIFSN differ")
    if len(down) > 1:
        raise ValueError("the AP sends at several rates, sizes or error probabilities")
    return [up[name] for name in stations if name in up] + list(down)


def _contender(
    cell: Mapping[str, Any],
    sender: Mapping[str, Any],
    station: Mapping[str, Any],
    sends_up: bool,
    udp: Mapping[str, Any],
) -> Contender:
    rate = station["rate_bps" if sends_up else "downlink_rate_bps"]
    error_prob = station["error_up" if sends_up else "error_down"]
    size = udp["payload_bytes"] + udp["header_bytes"]
    if error_prob > 0 and airtime.uses_rts(cell, size):
        raise ValueError("channel errors after RTS/CTS are outside the model")
    way = "uplink" if sends_up else "downlink"
    control, reply = station[f"{way}_rts_rate_bps"], station[f"{way}_response_rate_bps"]
    return Contender(
        cwmin=sender["cwmin"],
        cwmax=sender["cwmax"],
        attempts=sender["attempts_short"],
        first_frame_s=airtime.first_frame_s(cell, size, rate, control),
        success_s=airtime.exchange_s(cell, size, rate, control, reply)
        + airtime.aifs_s(cell, sender["aifsn"]),
        payload_bytes=udp["payload_bytes"],
        error_prob=error_prob,
    )


def failed_after_s(scenario: Mapping[str, Any]) -> float:
    """Time from the end of a spoilt frame until the backoff resumes: EIFS. [s]"""
    cell = scenario["cell"]
    uplink = any(flow["direction"] == "up" for flow in scenario["flows"])
    sender = scenario["stations"][0] if uplink else cell["ap"]
    return airtime.eifs_s(cell, sender["aifsn"])


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
