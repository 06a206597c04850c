"""Ticks of an abscissa if several paths vary together: each tick lists the values of all paths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from lasthop.plot.swept import Axis

MAX_POINTS = 10
"""Maximum number of points for which all ticks are written."""

MAX_BESIDE = 3
"""Maximum number of additional paths whose values are written at a tick."""

WIDTH_MM = 54.0
"""Distance between the first and the last point. [mm]"""

CHARACTER_MM, LINE_MM, GAP_MM = 1.4, 2.9, 0.8
"""Width of a character in a tick, line height, and smallest gap between two ticks. [mm]"""


@dataclass(frozen=True)
class Ticks:
    """Ticks of an abscissa that list the values of several paths.

    Parameters
    ----------
    labels : tuple of str
        Text at each value of the axis, in the order of the values.
    is_upright : bool
        Whether the texts are rotated by 90 degrees because there is too little space.
    extra_mm : float
        Height that the texts need in addition to one line. [mm]
    """

    labels: tuple[str, ...]
    is_upright: bool
    extra_mm: float


def ticks_beside(
    axis: Axis, others: Sequence[Axis], at: Mapping[str, Sequence[str]]
) -> Ticks | None:
    """Return ticks that list the values of all paths; None if there is too little space.

    The values at a tick are written one below the other. If ticks would overlap, the texts are
    rotated.

    Parameters
    ----------
    axis : Axis
        A path with numbers.
    others : sequence of Axis
        Paths that vary together with `axis`.
    at : mapping
        Values of the other paths by the value of `axis`.
    """
    if len(axis.texts) > MAX_POINTS or len(others) > MAX_BESIDE:
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
