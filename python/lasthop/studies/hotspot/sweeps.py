"""The sweeps that figures 5 to 11 are made of: station 1 varies, four others stay as they are."""

from collections.abc import Callable, Sequence
from typing import Any

from lasthop.studies.hotspot import cell
from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.sweep import Sweep

CONNECTIONS = (1, 2, 3, 4, 5, 6)
"""Connections of station 1, figures 5, 6, 7, 9 and 10."""

WINDOWS = (6, 9, 12, 16, 20, 24, 30, 36, 42)
"""Receive windows of station 1, figures 8 and 11. [packets]"""

SLOW = "2 Mbps"
"""Physical rate of station 1 in figures 7 and 10."""

LOSSLESS_QUEUE = 600
"""Buffer of the access point that holds every window: nothing is lost. [packets]"""

FAST = "11 Mbps"
"""Physical rate of every other station."""


def connections(first: str, others: str, *, rate: str = FAST, name: str = "{x}") -> Sweep:
    """Return X connections of station 1 against one of each other, X = 1..6.

    Parameters
    ----------
    first, others : str
        Their direction, ``upload`` or ``download``.
    rate : str
        Physical rate of station 1.
    name : str
        Names of the points.
    """
    ending = "" if rate == FAST else f", station 1 at {rate}"
    return Sweep(
        name,
        lambda x: cell.scenario(
            f"{x} x {first} against {others}{ending}", {first: x, "rate": rate}, {others: 1}
        ),
        {"x": CONNECTIONS},
    )


def windows(direction: str, others: int = cell.WINDOW) -> Sweep:
    """Return one connection of each station, station 1's with windows from 6 to 42 packets.

    Parameters
    ----------
    direction : str
        ``upload`` or ``download``.
    others : int
        Window of the other stations. [packets]
    """
    against = {} if others == cell.WINDOW else {"tcp": {"window": others}}
    return Sweep(
        "{x}",
        lambda x: cell.scenario(
            f"{direction}s, window {x} against {others}",
            {direction: 1, "tcp": {"window": x}},
            {direction: 1, **against},
        ),
        {"x": WINDOWS},
    )


def picture(
    label: str,
    panels: Sequence[Panel],
    places: Callable[[Any], float] = float,
    *,
    panel_mm: float = 50.0,
) -> Picture:
    """Return a picture of what the paper's test-bed showed."""
    return Picture(Abscissa(label, places), panels, panel_mm, beside_paper=True)
