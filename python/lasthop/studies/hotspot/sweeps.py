"""The sweeps that figures 5 to 11 are made of: station 1 varies, four others stay as they are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lasthop.studies.hotspot import cell
from lasthop.studies.study import Quantity, Run, Runs

CONNECTIONS = (1, 2, 3, 4, 5, 6)
"""Connections of station 1, figures 5, 6, 7, 9 and 10."""

WINDOWS = (6, 9, 12, 16, 20, 24, 30, 36, 42)
"""Receive windows of station 1, figures 8 and 11. [packets]"""

SLOW = "2 Mbps"
"""Physical rate of station 1 in figures 7 and 10."""

LOSSLESS_QUEUE = 400
"""Buffer of the access point that holds every window: nothing is lost. [packets]"""

Points = Mapping[str, Mapping[str, Any]]


def connections(first: str, others: str, *, rate: str = "11 Mbps") -> Points:
    """Return X connections of station 1 against one of each other, X = 1..6.

    Parameters
    ----------
    first, others : str
        Their direction, ``upload`` or ``download``.
    rate : str
        Physical rate of station 1.
    """
    ending = "" if rate == "11 Mbps" else f", station 1 at {rate}"
    return {
        str(x): cell.scenario(
            f"{x} x {first} against {others}{ending}", {first: x, "rate": rate}, {others: 1}
        )
        for x in CONNECTIONS
    }


def windows(direction: str) -> Points:
    """Return one connection of each station, station 1's with windows from 6 to 42 packets."""
    return {
        str(w): cell.scenario(
            f"{direction}s, window {w} against {cell.WINDOW}",
            {direction: 1, "tcp": {"window": w}},
            {direction: 1},
        )
        for w in WINDOWS
    }


def read(
    runs: Runs, xs: Sequence[int], quantity: Callable[[Run], Quantity], prefix: str = ""
) -> list[Quantity]:
    """Return a quantity at each point of a sweep."""
    return [quantity(runs[f"{prefix}{x}"]) for x in xs]


def named(name: str, xs: Sequence[int], quantities: Sequence[Quantity]) -> dict[str, Quantity]:
    """Return quantities under the names ``NAME_X``."""
    return {f"{name}_{x}": quantity for x, quantity in zip(xs, quantities, strict=True)}
