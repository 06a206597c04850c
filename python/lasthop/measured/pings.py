"""Measurements of round-trip times: output of ping(8), and JSON of irtt.

The machine that runs ``ping`` or ``irtt client`` sends the requests, so that the pings are those of
a station, or of the host at `from`. References: iputils' ping.c and ping_common.c (print_packet and
finish); irtt's result.go and doc/irtt-client.md.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any

from lasthop.errors import UserError
from lasthop.measured.observed import Measurement, NothingMeasuredError, Stream
from lasthop.measured.tree import Tree

__all__ = ["is_irtt", "is_ping", "ping_stream", "read_irtt", "read_ping"]

REPLY = re.compile(
    r"^(?:\[(?P<at>\d+\.\d+)\] )?\d+ bytes from .*?icmp_seq[= ](?P<number>\d+).*? time[=<]"
    r"(?P<time>[0-9.]+) ?(?P<unit>us|ms|s)\b(?P<rest>.*)$",
    re.MULTILINE,
)
"""Line of a reply, such as ``64 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.05 ms``. With
``ping -D`` the line begins with a time in brackets."""
COUNTS = re.compile(
    r"^(?P<sent>\d+) packets transmitted, (?P<arrived>\d+) (?:packets )?received", re.MULTILINE
)
HEADLINE = re.compile(r"^PING \S+", re.MULTILINE)
UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
NUMBERS = 1 << 16
"""Sequence numbers of ICMP start again at 0 after 65535."""


def ping_stream(
    name: str, rtts_s: Sequence[float], sent: float | None, category: str = ""
) -> Stream:
    """Return pings as a stream.

    Parameters
    ----------
    name : str
    rtts_s : sequence of float
        Round-trip times of the replies; at least one. [s]
    sent : float or None
        Number of requests; None if it is not known.
    category : str
        Access category; empty if it is not known.
    """
    ordered = sorted(rtts_s)

    def quantile(part: float) -> float:
        return ordered[ceil(part * len(ordered)) - 1]

    lost = None if not sent else max(0.0, 1.0 - len(ordered) / sent)
    return Stream(
        name=name,
        direction="up",
        rtt_s=fmean(ordered),
        rtt_p50_s=quantile(0.5),
        rtt_p95_s=quantile(0.95),
        rtt_p99_s=quantile(0.99),
        loss_probability=lost,
        transport="ping",
        category=category,
    )


def is_ping(text: str) -> bool:
    """Return whether a text is output of ping."""
    return REPLY.search(text) is not None or HEADLINE.match(text.lstrip()) is not None


def read_ping(path: Path, text: str) -> Measurement:
    """Return the pings in the output of ping(8).

    The numbers of sent and received packets are those of the last lines. In output that was cut
    short, they follow from the sequence numbers.

    Raises
    ------
    UserError
        If the output contains several runs, or if no reply arrived.
    """
    if len(HEADLINE.findall(text)) > 1:
        raise UserError(f"{path}: has the output of several runs of ping: expected one per file")
    rtts_s: dict[int, float] = {}
    before, turns = 0, 0
    for match in REPLY.finditer(text):
        if "DUP" in match["rest"]:
            continue
        number = int(match["number"])
        turns += number < before - NUMBERS // 2
        before = number
        rtts_s.setdefault(turns * NUMBERS + number, float(match["time"]) * UNITS_S[match["unit"]])
    if not rtts_s:
        raise NothingMeasuredError(
            f"{path}: no replies: expected output of ping with at least one reply, without -q"
        )
    counts = COUNTS.search(text)
    notes = []
    if counts:
        sent = float(counts["sent"])
    else:
        sent = float(max(rtts_s) - min(rtts_s) + 1)
        notes.append("the output ends without a summary: lost pings are those between two replies")
    stream = ping_stream("ping", list(rtts_s.values()), sent)
    return Measurement(str(path), "ping", [stream], notes)


def is_irtt(tree: Any) -> bool:
    """Return whether a JSON value is a result of irtt."""
    return isinstance(tree, Mapping) and {"round_trips", "stats"} <= tree.keys()


def read_irtt(file: Tree) -> Measurement:
    """Return the round trips of a result of ``irtt client -o``.

    Raises
    ------
    UserError
        If no round trip was completed, or if a value has a wrong type.
    """
    trips = file.at("round_trips")
    rtts_s = list(_round_trips(trips.items() if trips.value is not None else ()))
    if not rtts_s:
        raise NothingMeasuredError(f"{file.path}: irtt completed no round trip")
    sent = file.at("stats").at("packets_sent").number()
    stream = ping_stream("irtt", rtts_s, sent if sent is not None else float(len(trips.items())))
    return Measurement(str(file.path), "irtt", [stream])


def _round_trips(trips: Iterable[Tree]) -> Iterable[float]:
    """Yield the round-trip times of the requests that were not lost; irtt writes nanoseconds.
    [s]"""
    for trip in trips:
        rtt_ns = trip.at("delay").at("rtt").number()
        if rtt_ns is not None and not trip.at("lost").text().startswith("true"):
            yield rtt_ns * 1e-9
