"""A network by its conflict graph: who hears whom, and what each link gets."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import Any

from matplotlib.axes import Axes

from lasthop.digits import plain
from lasthop.plot.figure import MODEL, QUIET, SIMULATION, Figure, house_style, title
from lasthop.result import Answer, Prediction

__all__ = ["conflict_figure"]

Point = tuple[float, float]

LARGEST_AREA = 500.0
"""Area of a link that is always active. [points^2]"""

MOST_NAMED = 30
"""Links up to which each has its name, air time and throughput beside it."""


def conflict_figure(answers: Sequence[tuple[str, Answer]]) -> Figure:
    """One panel an answer: links as discs with the area of their air time, conflicts as lines.

    Parameters
    ----------
    answers : sequence of (str, Answer)
        Titles, and predictions or simulations of scenarios with `csma`.
    """
    with house_style(8.0 + 48.0 * len(answers)) as figure:
        column = figure.subplots(len(answers), squeeze=False)[:, 0]
        for axes, (text, answer) in zip(column, answers, strict=True):
            draw_conflicts(axes, answer)
            title(axes, text)
    return figure


def throughputs(answer: Answer) -> dict[str, float]:
    """Goodput of the flows over each link, where it is known of all of them. [bit/s]"""
    goodput = {flow["name"]: flow.get("goodput_bps") for flow in answer.summary["flows"]}
    over: dict[str, float] = {}
    unknown = set()
    for flow in answer.scenario["csma"]["flows"]:
        own = goodput[flow["name"]]
        for link in flow["route"]:
            if own is None:
                unknown.add(link)
            else:
                over[link] = over.get(link, 0.0) + own["mean"]
    return {link: bps for link, bps in over.items() if link not in unknown}


def draw_conflicts(axes: Axes, answer: Answer) -> None:
    """The conflict graph of one answer, links in their air time, with their throughputs."""
    carried = throughputs(answer)
    color = MODEL if isinstance(answer, Prediction) else SIMULATION
    links: Sequence[Any] = answer.scenario["csma"]["links"]
    at = dict(zip((link["name"] for link in links), around(len(links)), strict=True))
    for link in links:
        for other in link["conflicts"]:
            if other < link["name"]:  # both name the conflict
                continue
            (x, y), (x_other, y_other) = at[link["name"]], at[other]
            ends = [x, x_other], [y, y_other]
            axes.plot(*ends, color=QUIET, linewidth=0.8, linestyle="-", zorder=1)
    for item in answer.summary["links"]:
        if item["name"] not in at:
            continue
        airtime = item["airtime_fraction"]["mean"]
        x, y = at[item["name"]]
        axes.scatter([x], [y], s=LARGEST_AREA, facecolor="white", edgecolor=QUIET, zorder=2)
        axes.scatter([x], [y], s=LARGEST_AREA * airtime, color=color, linewidth=0, zorder=3)
        if len(at) <= MOST_NAMED:
            text = f"{item['name']}: {100 * airtime:.0f} %"
            if item["name"] in carried:
                text += f"\n{plain(carried[item['name']] * 1e-6)} Mb/s"
            axes.annotate(
                text,
                (1.45 * x, 1.72 * y),
                ha="left" if x > 0.1 else "right" if x < -0.1 else "center",
                va="center",
            )
    axes.set_xlim(-2.4, 2.4)
    axes.set_ylim(-2.0, 2.0)
    axes.set_aspect("equal")
    axes.set_axis_off()


def around(count: int) -> list[Point]:
    """Places on a circle, the first on the left, clockwise."""
    turns = (pi - 2.0 * pi * k / count for k in range(count))
    return [(cos(turn), sin(turn)) for turn in turns]
