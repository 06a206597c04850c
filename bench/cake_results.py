"""Results of a run of `cake_points.py`, computed in the same way for the kernel and the engine."""

import socket
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any

from cake_points import HEADER_BYTES, NS_PER_S, Flow
from cake_ring import Seen


def of_datagrams(
    some: Sequence[Flow],
    listed: Sequence[tuple[int, int]],
    left: Iterable[tuple[int, int]],
    measured_ns: tuple[int, int],
) -> dict[str, Any]:
    """Return the results of each UDP flow, by its name. Goodput is payload.

    Parameters
    ----------
    some : sequence of Flow
    listed : sequence of pairs
        Time of arrival and index of the flow, for each packet. [ns]
    left : iterable of pairs
        Index in `listed` and time at which the packet left the queue, for each delivered packet.
        [ns]
    measured_ns : pair
        Start and end of the measured period. [ns]
    """
    from_ns, until_ns = measured_ns
    waits_s: dict[int, list[float]] = defaultdict(list)
    offered = [0] * len(some)
    for at_ns, index in listed:
        offered[index] += from_ns <= at_ns < until_ns
    for number, left_ns in left:
        if from_ns <= left_ns < until_ns:
            at_ns, index = listed[number]
            waits_s[index].append((left_ns - at_ns) / NS_PER_S)
    over_s = (until_ns - from_ns) / NS_PER_S
    return {
        flow.name: {
            "offered": offered[index],
            "delivered": len(waits_s[index]),
            "goodput_bps": 8
            * (flow.group.packet_bytes - HEADER_BYTES)
            * len(waits_s[index])
            / over_s,
            **delays(waits_s[index]),
        }
        for index, flow in enumerate(some)
    }


def of_tcp(
    came: Iterable[Seen], left: Iterable[Seen], measured_ns: tuple[int, int], constant_ns: int = 0
) -> dict[str, Any]:
    """Return the results of all TCP packets, by the DSCP of their IP header.

    Parameters
    ----------
    came, left : iterable of Seen
        Packets before and after the queue.
    measured_ns : pair
        Start and end of the measured period. [ns]
    constant_ns : int
        Time from before to after an empty queue. [ns]
    """
    from_ns, until_ns = measured_ns
    came_ns: dict[bytes, int] = {}
    arrived: dict[int, int] = defaultdict(int)
    for seen in came:
        if seen.ip[9] == socket.IPPROTO_TCP:
            came_ns[identity(seen.ip)] = seen.at_ns
            arrived[seen.ip[1] >> 2] += from_ns <= seen.at_ns < until_ns
    waits_s: dict[int, list[float]] = defaultdict(list)
    marks: dict[int, int] = defaultdict(int)
    for seen in left:
        if from_ns <= seen.at_ns < until_ns and seen.ip[9] == socket.IPPROTO_TCP:
            dscp = seen.ip[1] >> 2
            wait_ns = seen.at_ns - came_ns[identity(seen.ip)] - constant_ns
            waits_s[dscp].append(wait_ns / NS_PER_S)
            marks[dscp] += seen.ip[1] & 3 == 3
    return {
        str(dscp): {
            "arrived": arrived[dscp],
            "left": len(each),
            "marked": marks[dscp],
            **delays(each),
        }
        for dscp, each in sorted(waits_s.items())
    }


def identity(ip: bytes) -> bytes:
    """Return the fields of an IP header that identify a TCP packet: identification, addresses,
    ports, sequence number and acknowledgement number."""
    return ip[4:6] + ip[12:32]


def delays(waits_s: Sequence[float]) -> dict[str, float | None]:
    """Return the mean and percentiles of times in the queue; None without packets. [s]"""
    if not waits_s:
        return dict.fromkeys(("mean_s", "p50_s", "p95_s", "p99_s"))
    ordered = sorted(waits_s)
    return {
        "mean_s": sum(ordered) / len(ordered),
        **{f"p{part}_s": ordered[ceil(part / 100 * len(ordered)) - 1] for part in (50, 95, 99)},
    }
