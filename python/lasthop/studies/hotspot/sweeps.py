"""Sweeps of figures 5 to 11. The sweeps vary the settings of station 1; the settings of the four
other stations are fixed.
"""

from collections.abc import Callable, Sequence
from typing import Any

from lasthop.studies.hotspot import cell
from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.sweep import Sweep

CONNECTIONS = (1, 2, 3, 4, 5, 6)
"""Numbers of connections of station 1 in figures 5, 6, 7, 9 and 10."""

WINDOWS = (6, 9, 12, 16, 20, 24, 30, 36, 42)
"""Receive windows of station 1 in figures 8 and 11. [packets]"""

SLOW = "2 Mbps"
"""PHY rate of station 1 in figures 7 and 10."""

LOSSLESS_QUEUE = 600
"""Buffer of the access point that can store all receive windows, so that no packet is lost.
[packets]
"""

FAST = "11 Mbps"
"""PHY rate of every station other than station 1."""


def connections(first: str, others: str, *, rate: str = FAST, name: str = "{x}") -> Sweep:
    """Return the sweep over the number X = 1..6 of station 1's connections. Each other station has
    one connection.

    Parameters
    ----------
    first, others : str
        Direction of the connections of station 1 and of the other stations: ``upload`` or
        ``download``.
    rate : str
        Physical rate of station 1.
    name : str
        Name of each point, in which ``{x}`` stands for the number X.
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
    """Return the sweep over station 1's window from 6 to 42 packets, with one connection per
    station.

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
    """Return a picture that compares simulation and model with values from the paper's test-bed."""
    return Picture(Abscissa(label, places), panels, panel_mm, beside_paper=True)
