"""Measurements of flent, ``.flent`` and ``.flent.gz``: series of rates and round trips.

References: flent's doc/data-format.rst. A series is a list of values, null where there is none.
``TCP upload`` is sent by the machine that ran flent; ``::1`` and words such as BE tell several
apart; ``tcp_rtt`` is the kernel's smoothed round trip of a stream. [ms]
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lasthop.errors import UserError
from lasthop.measured.observed import Measurement, Stream
from lasthop.measured.tree import Tree

__all__ = ["is_flent", "read"]

NAMED = re.compile(r"(TCP|UDP) (upload|download)(?P<rest>.*)")
SUMS = ("sum", "avg", "totals")
MBPS = "Mbits/s"
WAYS = {"upload": "up", "download": "down"}


def is_flent(tree: Any) -> bool:
    """Whether JSON is a measurement of flent."""
    return isinstance(tree, Mapping) and {"results", "x_values"} <= tree.keys()


def read(file: Tree) -> Measurement:
    """A measurement's streams, in the order of their numbers.

    Raises
    ------
    UserError
        If a value is not of its form, or no series is of a TCP or UDP stream.
    """
    series = file.at("results")
    meta = file.at("metadata").at("SERIES_META")
    found = sorted(streams(series, meta), key=lambda each: _in_order(each.name))
    notes = list(pings(series))
    if not found:
        known = ", ".join(list(series.table())[:4]) or "none"
        raise UserError(
            f"{file.path}: no series of a TCP or UDP upload or download; its series are {known}"
        )
    return Measurement(str(file.path), "flent", found, notes)


def _in_order(name: str) -> tuple[str, int]:
    """Streams 2 and 10 in the order of their numbers."""
    found = re.search(r"(\d+)$", name)
    return (name[: found.start()], int(found[1])) if found else (name, 0)


def streams(series: Tree, meta: Tree) -> Iterator[Stream]:
    """Each stream whose rate is a series; sums and means of several are left out."""
    for name in series.table():
        found = NAMED.fullmatch(name)
        if found is None or any(word in found["rest"].split() for word in SUMS):
            continue
        if "tcp_" in name or meta.at(name).at("UNITS").value not in (None, MBPS):
            continue
        rate = meta.at(name).at("MEAN_VALUE").number()
        mean = mean_of(series.at(name))
        if rate is None and mean is None:
            continue
        trip_ms = mean_of(series.at(f"{name}::tcp_rtt"))
        yield Stream(
            name=name,
            direction=WAYS[found[2]],
            goodput_bps=1e6 * (rate if rate is not None else mean or 0.0),
            rtt_s=None if trip_ms is None else trip_ms / 1e3,
        )


def mean_of(series: Tree) -> float | None:
    """Mean of a series over the values that it has."""
    if series.value is None:
        return None
    values = [value for each in series.items() if (value := each.number()) is not None]
    return sum(values) / len(values) if values else None


def pings(series: Tree) -> Iterator[str]:
    """What pings and other series of milliseconds say, which is no flow's round trip."""
    for name in series.table():
        if not name.startswith(("Ping", "HTTP", "UDP RTT")):
            continue
        mean = mean_of(series.at(name))
        if mean is not None:
            yield f"{name}: mean {mean:.3g} ms, beside the flows of the scenario"
