"""Ticks of points at which several paths vary side by side: the values of all of them at each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from lasthop.plot.swept import Axis

MOST_POINTS = 10
"""Most points that all have their values below them."""

MOST_BESIDE = 3
"""Most paths whose values stand below those of the first."""

WIDTH_MM = 54.0
"""Width between the first and the last point. [mm]"""

CHARACTER_MM, LINE_MM, GAP_MM = 1.4, 2.9, 0.8
"""Width of a character of a tick, height of its line, and the least gap between two. [mm]"""


@dataclass(frozen=True)
class Ticks:
    """Ticks of an abscissa with the values of other paths.

    Parameters
    ----------
    labels : tuple of str
        Text at each value of the axis, in its order.
    is_upright : bool
        Whether texts stand upright, for want of room.
    extra_mm : float
        Height that they need beyond that of a line. [mm]
    """

    labels: tuple[str, ...]
    is_upright: bool
    extra_mm: float


def ticks_beside(
    axis: Axis, others: Sequence[Axis], at: Mapping[str, Sequence[str]]
) -> Ticks | None:
    """The values of all paths at each value of the axis; None where there is no room for them.

    They stand one below the other, or side by side and upright where they would cover each other.

    Parameters
    ----------
    axis : Axis
        A path with numbers.
    others : sequence of Axis
        Paths that vary with it.
    at : mapping
        Values of the others by that of the axis.
    """
    if len(axis.texts) > MOST_POINTS or len(others) > MOST_BESIDE:
        return None
    lines = [
        (axis.text_of(text), *(o.text_of(value) for o, value in zip(others, at[text], strict=True)))
        for text in axis.texts
    ]
    places = [log(x) if axis.logarithmic else x for x in axis.numbers]
    span = places[-1] - places[0] or 1.0
    gaps = [WIDTH_MM * (b - a) / span for a, b in pairwise(places)]
    widths = [CHARACTER_MM * max(map(len, texts)) for texts in lines]
    needed = [(a + b) / 2.0 + GAP_MM for a, b in pairwise(widths)]
    if all(gap >= need for gap, need in zip(gaps, needed, strict=True)):
        return Ticks(tuple(map("\n".join, lines)), False, 2.0 * LINE_MM * len(others))
    if min(gaps) < LINE_MM + GAP_MM:
        return None
    labels = tuple(map(", ".join, lines))
    return Ticks(labels, True, LINE_MM * len(others) + CHARACTER_MM * max(map(len, labels)))
