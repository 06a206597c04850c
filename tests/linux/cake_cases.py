"""Cases of `lasthop queue` with CAKE, each with the options that `tc -j` has to report."""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any, NamedTuple

LENGTHS = (40, 200, 1000, 1500)
"""Lengths of the IP packets that pass each queue. [bytes]"""


class Case(NamedTuple):
    """Table of an interface without its name, and what the kernel has to report about it."""

    text: str
    options: Mapping[str, Any]
    on_line: Callable[[int], int]
    """Length on the line of an IP packet. [bytes]"""


DEFAULTS = {
    "diffserv": "diffserv3",
    "flowmode": "triple-isolate",
    "nat": False,
    "wash": False,
    "ingress": False,
    "ack-filter": "disabled",
    "split_gso": True,
    "rtt": 100_000,
    "raw": False,
    "atm": "noatm",
    "overhead": 14,
    "fwmark": "0",
}
"""Options of `queue.cake = {}` in the output of `tc -j`. Rates are in bytes per second."""


def case(
    text: str, on_line: Callable[[int], int] = lambda length: length + 14, **more: Any
) -> Case:
    return Case(text, DEFAULTS | more, on_line)


def cells(overhead: int) -> Callable[[int], int]:
    """Return the length on a line of ATM cells: 48 bytes of 53 are data."""
    return lambda length: 53 * ceil((length + overhead) / 48)


CASES = {
    "default": case('rate = "18 Mbps"\nqueue.cake = {}', bandwidth=2_250_000),
    "own bandwidth": case('rate = "20 Mbps"\nqueue.cake = "18 Mbps"', bandwidth=2_250_000),
    "adsl": case(
        'queue.cake = { bandwidth = "900 kbps", overhead = "40 B", mpu = "96 B", '
        'link_layer = "atm", diffserv = "besteffort", isolation = "dual-srchost", nat = true, '
        'ack_filter = "conservative" }',
        lambda length: cells(0)(max(length + 40, 96)),
        bandwidth=112_500,
        overhead=40,
        mpu=96,
        atm="atm",
        diffserv="besteffort",
        flowmode="dual-srchost",
        nat=True,
        **{"ack-filter": "enabled"},
    ),
    "vdsl": case(
        'queue.cake = { bandwidth = "50 Mbps", overhead = "30 B", link_layer = "ptm", '
        'diffserv = "diffserv4", isolation = "dual-dsthost", ingress = true, rtt = "30 ms", '
        'memory_limit = "8 MB", ack_filter = "aggressive" }',
        lambda length: length + 30 + ceil((length + 30) / 64),
        bandwidth=6_250_000,
        overhead=30,
        atm="ptm",
        diffserv="diffserv4",
        flowmode="dual-dsthost",
        ingress=True,
        rtt=30_000,
        memlimit=8_000_000,
        **{"ack-filter": "aggressive"},
    ),
    "docsis": case(
        'queue.cake = { bandwidth = "10 Gbps", overhead = "18 B", mpu = "64 B", '
        'diffserv = "diffserv8", isolation = "hosts", rtt = "1 s" }',
        lambda length: max(length + 18, 64),
        bandwidth=1_250_000_000,
        overhead=18,
        mpu=64,
        diffserv="diffserv8",
        flowmode="hosts",
        rtt=1_000_000,
    ),
    "other words": case(
        'queue.cake = { bandwidth = "1 Mbps", overhead = "0 B", diffserv = "precedence", '
        'isolation = "flowblind" }',
        lambda length: length,
        bandwidth=125_000,
        overhead=0,
        diffserv="precedence",
        flowmode="flowblind",
    ),
}
