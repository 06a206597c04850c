"""Draw the waterfall of each case's median load. The panels are above one another with a common
time axis.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from load import LONGEST_S
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from objects import page

from lasthop.plot.figure import QUIET, Figure, house_style, title

Item = dict[str, Any]

PHASES = (
    ("waits for a connection", "start_s", "request_s", "#DDDDDD"),
    ("connects", "connect_s", "connected_s", "#E69F00"),
    ("waits for an answer", "request_s", "response_s", "#56B4E9"),
    ("receives", "response_s", "end_s", "#0072B2"),
)
"""Phases of loading an object: name, times of beginning and end, and colour."""
PAINTED, COMPLETE = "#009E73", "#D55E00"
GROUPS = (
    *(("/", "document"), ("/style-", "styles"), ("/script-", "scripts"), ("/photo-", "photos")),
    *(("/background-", "backgrounds"), ("/added-", "by script")),
)
"""Beginnings of the paths of objects, each with the name of the group of these objects."""
HEIGHT = 0.78
"""Height of a bar, if the distance between rows is 1."""


def figure(record: Item) -> Figure:
    """Draw a panel for each case."""
    cases = record["cases"]
    ordered = [sorted(case["runs"], key=duration_s) for case in cases]
    middle = [runs[len(runs) // 2] for runs in ordered]
    with house_style(195.0, columns=2) as drawn:
        column = drawn.subplots(len(cases), sharex=True, squeeze=False)[:, 0]
        for axes, case, run in zip(column, cases, middle, strict=True):
            waterfall(axes, run)
            marks(axes, run)
            ends_s = [duration_s(each) for each in case["runs"] if each is not run]
            foot = axes.get_xaxis_transform()
            (others,) = axes.plot(ends_s, [0.0] * len(ends_s), "^", color=COMPLETE, transform=foot)
            others.set(clip_on=False, in_layout=False, zorder=5)
            title(axes, case["name"])
        column[-1].set_xlim(0, room_s(middle, [run for runs in ordered for run in runs]))
        column[-1].set_xlabel("time since the page was asked for [s]")
        patches: list[Artist] = [Patch(color=color, label=text) for text, _, _, color in PHASES]
        others = "complete, the other loads"
        patches += [Line2D([], [], color=COMPLETE, marker="^", linestyle="", label=others)]
        column[0].legend(handles=patches, loc="center right")
        return drawn


def duration_s(run: Item) -> float:
    """Return the time until a page was complete, or `LONGEST_S` if the page never was complete.
    [s]
    """
    return float(LONGEST_S if run["load_s"] is None else run["load_s"])


def room_s(drawn: Sequence[Item], runs: Sequence[Item]) -> float:
    """Return the end of the time axis. The axis includes the text next to the bars, and all runs.
    [s]
    """
    return max(1.25 * max(map(duration_s, drawn)), 1.03 * max(map(duration_s, runs)))


def waterfall(axes: Axes, run: Item) -> None:
    """Draw a row for each object, in the order of the page."""
    order = {each.path: row for row, each in enumerate(page())}
    for each in run["objects"]:
        row = order[each["path"]]
        for _, begin, end, color in PHASES:
            # if the page was never complete, a phase may not have ended; its bar has no length
            length_s = max(0.0, each[end] - each[begin])
            axes.barh(row, length_s, left=each[begin], height=HEIGHT, color=color, linewidth=0)
    label_groups(axes, list(order))


def label_groups(axes: Axes, paths: Sequence[str]) -> None:
    """Write the names of the groups at the left, each in the middle of its rows."""
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


def marks(axes: Axes, run: Item) -> None:
    """Mark the times of the first paint and of the complete page, and write the goodput of the
    uploads.
    """
    painted_s, complete_s = run["first_paint_s"], duration_s(run)
    texts = [(f"complete {complete_s:.2f} s", COMPLETE)]
    axes.axvline(complete_s, color=COMPLETE, linewidth=1.0)
    if painted_s is not None:
        axes.axvline(painted_s, color=PAINTED, linewidth=1.0)
        texts.insert(0, (f"first paint {painted_s:.2f} s", PAINTED))
    if run["uploads_bps"] > 0:
        texts.append((f"uploads {run['uploads_bps'] / 1e6:.1f} Mb/s", QUIET))
    for line, (text, color) in enumerate(texts):
        axes.annotate(
            text,
            (complete_s, 1.0),
            (4, -10 * line),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            color=color,
            va="top",
            in_layout=False,
        )
