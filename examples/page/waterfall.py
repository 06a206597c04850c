"""The picture: a waterfall of each case's median load, one above another on one axis of time."""

from collections import Counter
from collections.abc import Sequence
from math import inf
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Patch
from objects import page

from lasthop.plot.figure import QUIET, Figure, headline, house_style, title

Item = dict[str, Any]

PHASES = (
    ("waits for a connection", "start_s", "request_s", "#DDDDDD"),
    ("connects", "connect_s", "connected_s", "#E69F00"),
    ("waits for an answer", "request_s", "response_s", "#56B4E9"),
    ("receives", "response_s", "end_s", "#0072B2"),
)
"""What a browser does for an object, from when to when, and the colour."""
PAINTED, COMPLETE = "#009E73", "#D55E00"
GROUPS = (
    *(("/", "document"), ("/style-", "styles"), ("/script-", "scripts"), ("/photo-", "photos")),
    *(("/background-", "backgrounds"), ("/added-", "by script")),
)
"""How paths begin, and what objects with such paths are called."""
HEIGHT = 0.78
"""Height of a row's bar, where rows are 1 apart."""


def figure(record: Item) -> Figure:
    """A panel for each case."""
    cases = record["cases"]
    with house_style(205.0, columns=2) as drawn:
        headline(drawn, "The same page, three times")
        column = drawn.subplots(len(cases), sharex=True)
        for axes, case in zip(column, cases, strict=True):
            ordered = sorted(case["runs"], key=lambda run: run["load_s"] or inf)
            waterfall(axes, ordered[len(ordered) // 2])
            marks(axes, ordered)
            title(axes, case["name"])
        longest_s = max(run["load_s"] or 0.0 for case in cases for run in case["runs"])
        column[-1].set_xlim(0, 1.04 * longest_s)
        column[-1].set_xlabel("time since the page was asked for [s]")
        patches = [Patch(color=color, label=label) for label, _, _, color in PHASES]
        column[0].legend(handles=patches, loc="center right")
        return drawn


def waterfall(axes: Axes, run: Item) -> None:
    """A row for each object, in the order of the page."""
    order = {each.path: row for row, each in enumerate(page())}
    for each in run["objects"]:
        row = order[each["path"]]
        for _, begin, end, color in PHASES:
            length_s = each[end] - each[begin]
            axes.barh(row, length_s, left=each[begin], height=HEIGHT, color=color, linewidth=0)
    label_groups(axes, list(order))


def label_groups(axes: Axes, paths: Sequence[str]) -> None:
    """Names of groups at the left, in the middle of their rows."""
    groups = [next(name for start, name in reversed(GROUPS) if p.startswith(start)) for p in paths]
    counts, row = Counter(groups), 0
    ticks: list[float] = []
    for count in counts.values():
        ticks.append(row + (count - 1) / 2)
        row += count
        axes.axhline(row - 0.5, color="#DDDDDD", linewidth=0.4, zorder=0)
    axes.set_yticks(ticks, list(counts))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_ylim(len(paths) - 0.4, -0.6)


def marks(axes: Axes, ordered: Sequence[Item]) -> None:
    """When the page was painted first and when it was complete, and the other loads' ends."""
    run = ordered[len(ordered) // 2]
    above = axes.get_xaxis_transform()
    for what, color, time_s in (
        ("first paint", PAINTED, run["first_paint_s"]),
        ("complete", COMPLETE, run["load_s"]),
    ):
        if time_s is not None:
            axes.axvline(time_s, color=color, linewidth=1.0)
            text = f"{what}\n{time_s:.2f} s"
            axes.text(time_s, 1.0, text, color=color, va="top", transform=above)
    ends_s = [one["load_s"] for one in ordered if one["load_s"] is not None]
    height = [1.02] * len(ends_s)
    axes.plot(ends_s, height, "v", color=COMPLETE, transform=above, clip_on=False, markersize=3)
