"""Scenarios of 802.11ac and ax for `emulations.py`: shares of stations, and cells with increasing
data rates.
"""

from collections.abc import Iterator
from typing import Any

PHYS = ("802.11ac", "802.11ax")
TCP = {"congestion": "cubic_linux", "window": 4000, "sack": True, "initial_window": 10}
WIRE = {"delay": "5 ms"}


def shares() -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield scenarios of a near, a far and an old station, with six downloads each. All packets
    wait in one FIFO queue.

    Each item is the name, the scenario, and whether hosts merge received segments (GRO).
    """
    stations = {
        "near": {"download": 6},
        "far": {"snr": "20 dB", "download": 6},
        "old": {"phy": "802.11n", "streams": 1, "download": 6},
    }
    for phy in PHYS:
        for gro in (False, True):
            tree = {
                "name": "near, far and old",
                "cell": {"phy": phy, "width": "80 MHz", "streams": 2, "ap_queue": 1000},
                "wire": WIRE,
                "tcp": TCP,
                "station": stations,
            }
            yield named(phy, "80 MHz", 2, gro), tree, gro


def loads() -> Iterator[tuple[str, dict[str, Any], bool]]:
    """Yield cells with increasing data rates, each with four downloads and an upload. Each item is
    the name, the scenario, and whether hosts merge received segments (GRO).
    """
    for phy, width, streams in (
        ("802.11ac", "20 MHz", 1),
        ("802.11ac", "40 MHz", 2),
        ("802.11ac", "80 MHz", 2),
        ("802.11ax", "80 MHz", 2),
        ("802.11ax", "160 MHz", 2),
        ("802.11ax", "160 MHz", 4),
        ("802.11ax", "160 MHz", 8),
    ):
        for gro in (False, True):
            tree = {
                "name": "ever faster",
                "cell": {"phy": phy, "width": width, "streams": streams, "ap_queue": 4000},
                "wire": WIRE,
                "tcp": TCP,
                "station": {"down": {"count": 4, "download": 2}, "up": {"upload": 2}},
            }
            yield named(phy, width, streams, gro), tree, gro


def named(phy: str, width: str, streams: int, gro: bool) -> str:
    """Return the name of a scenario."""
    plural = "s" if streams > 1 else ""
    return f"{phy}, {width}, {streams} stream{plural}{', merged' if gro else ''}"
