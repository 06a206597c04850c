"""A network by its conflict graph: who hears whom, and what each link gets."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import Any

from matplotlib.axes import Axes

from lasthop.plot.figure import MODEL, QUIET, Figure, house_style, title
from lasthop.result import Answer

__all__ = ["conflict_figure"]

Point = tuple[float, float]

LARGEST_AREA = 500.0
"""Area of a link that is always active. [points^2]"""

MOST_NAMED = 30
"""Links up to which each has its name and air time beside it."""


def conflict_figure(answers: Sequence[tuple[str, Answer]]) -> Figure:
    """One panel an answer: links as discs with the area of their air time, conflicts as lines.

    Parameters
    ----------
    answers : sequence of (str, Answer)
        Titles and predictions of scenarios with `csma`.
    """
    with house_style(8.0 + 48.0 * len(answers)) as figure:
        column = figure.subplots(len(answers), squeeze=False)[:, 0]
        for axes, (text, answer) in zip(column, answers, strict=True):
            draw_conflicts(axes, answer)
            title(axes, text)
    return figure


def draw_conflicts(axes: Axes, answer: Answer) -> None:
    """The conflict graph of one answer, links in their air time."""
    links: Sequence[Any] = answer.scenario["csma"]["links"]
    at = dict(zip((link["name"] for link in links), around(len(links)), strict=True))
    for link in links:
        for other in link["conflicts"]:
            (x, y), (x_other, y_other) = at[link["name"]], at[other]
            axes.plot([x, x_other], [y, y_other], color=QUIET, linewidth=0.8, zorder=1)
    for item in answer.summary["links"]:
        if item["name"] not in at:
            continue
        airtime = item["airtime_fraction"]["mean"]
        x, y = at[item["name"]]
        axes.scatter([x], [y], s=LARGEST_AREA, facecolor="white", edgecolor=QUIET, zorder=2)
        axes.scatter([x], [y], s=LARGEST_AREA * airtime, color=MODEL, linewidth=0, zorder=3)
        if len(at) <= MOST_NAMED:
            axes.annotate(
                f"{item['name']}: {100 * airtime:.0f} %",
                (1.45 * x, 1.55 * y),
                ha="left" if x > 0.1 else "right" if x < -0.1 else "center",
                va="center",
            )
    axes.set_xlim(-2.4, 2.4)
    axes.set_ylim(-1.8, 1.8)
    axes.set_aspect("equal")
    axes.set_axis_off()


def around(count: int) -> list[Point]:
    """Places on a circle, the first on the left, clockwise."""
    turns = (pi - 2.0 * pi * k / count for k in range(count))
    return [(cos(turn), sin(turn)) for turn in turns]
