"""Picture of the frames on the air in a time interval, with senders, lost frames, and backoffs."""

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from lasthop.errors import UserError
from lasthop.plot.about import about
from lasthop.plot.countdown import counted_down, gaps_of
from lasthop.plot.figure import (
    COLUMN_INCHES,
    Figure,
    figure_of,
    headline,
    headline_mm,
    house_style,
    one_panel,
    title,
)
from lasthop.plot.frames import Frame, lost_in, rows
from lasthop.plot.ink import ON_FILL
from lasthop.plot.legend import legend_columns
from lasthop.scenario.typed import CellScenario

if TYPE_CHECKING:
    from lasthop.simulation.result import Result

KINDS = {
    "segment": ("data", "#0072B2"),
    "ack": ("TCP ACK", "#56B4E9"),
    "rts": ("RTS, CTS", "#E69F00"),
    "mac-ack": ("MAC ACK", "#009E73"),
    "block-ack": ("BlockAck", "#00584A"),
    "block-ack-req": ("BlockAckReq", "#8C6D31"),
    "cf-end": ("CF-End", "#7F7F7F"),
}
"""Kinds of frames: name in the legend, and colour."""

FATES = {"collided": ("collided", "#D55E00"), "corrupted": ("lost to channel errors", "#CC79A7")}
"""Legend names and colours of frames that were not received, by `fate`."""

BACKOFF, OF_BACKOFF = "#BDBDBD", "backoff"
GIVEN_UP = "discarded"
OF_MPDUS = {"data": "data, with number of MPDUs"}
"""Legend names of those kinds of frames that have another name in cells with aggregation."""
CROSS: dict[str, Any] = {"marker": "x", "color": "black", "markersize": 4, "linestyle": "none"}
"""Style of the mark at the end of a frame that was discarded after its last attempt."""

MAX_ROWS = 20
"""Maximum number of senders that are drawn. If there are more, the senders with most frames are
drawn.
"""

MAX_FRAMES = 4000
"""Maximum number of frames in a picture; with more frames, a frame would be narrower than a
line.
"""

ROW_MM = 5.0
"""Height of the row of one sender. [mm]"""

LONGEST_FRAME_S = 0.1
"""Time before the drawn interval in which frames are read, too, since such a frame or its backoff
may extend into the interval. [s]
"""

HEIGHT, LOW = 0.62, 0.26
"""Height of the bar of a frame, and of the bar of a backoff. [rows]"""

THINNEST, DIGIT = 1 / 700, 1 / 200
"""Smallest width of a visible mark, and width of a digit in a bar. [widths of the axes]"""

WIDTH = 2
"""Width of the picture. [journal columns]"""


def air_figure(result: "Result", from_s: float, to_s: float, ax: Axes | None = None) -> Figure:
    """Draw a row for each sender, with a bar for each frame and for the backoff before it.

    Raises
    ------
    UserError
        If the interval is not valid, if no frames were recorded in the interval, or if it has too
        many frames.
    """
    known = result.scenario.typed
    if not isinstance(known, CellScenario):
        raise UserError(f"{result.scenario.source}: the scenario has no cell, so it has no frames")
    frames = frames_of(result, from_s, to_s)
    shown = [frame for frame in frames if frame.end_s > from_s]
    names = rows_of(shown, ["ap", *(station.name for station in known.stations)])
    text = about(result)
    name = result.heading.scenario
    if ax is not None:
        with one_panel(0.0, ax):
            title(ax, name)
            counts = draw(ax, frames, names, known, (from_s, to_s))
            keys = keys_of(shown, backoffs=counts)
            ax.legend(handles=keys, loc="upper left", bbox_to_anchor=(0, -0.25))
            return figure_of(ax)
    height = 24 + ROW_MM * len(names) + headline_mm(name, text, WIDTH)
    with house_style(height, WIDTH) as figure:
        axes = figure.subplots()
        counts = draw(axes, frames, names, known, (from_s, to_s))
        keys = keys_of(shown, backoffs=counts)
        labels = [str(key.get_label()) for key in keys]
        wide = round(figure.get_figwidth() / COLUMN_INCHES)
        columns = legend_columns(labels, wide, len(keys), spacing=1.2)
        figure.legend(handles=keys, loc="outside lower left", ncols=columns, columnspacing=1.2)
        headline(figure, name, text)
    return figure


def frames_of(result: "Result", from_s: float, to_s: float) -> list[Frame]:
    """Return the frames that begin in an interval or shortly before, in the order of their
    start."""
    if not (isfinite(from_s) and isfinite(to_s) and 0.0 <= from_s < to_s):
        raise UserError(f"from {from_s:g} s to {to_s:g} s is not a time range")
    columns = result.frame_columns(max(0.0, from_s - LONGEST_FRAME_S), to_s)
    every = list(rows(columns))
    count = sum(frame.end_s > from_s for frame in every)
    stretch = f"{from_s:g} s to {to_s:g} s"
    if count == 0:
        last_s = max(result.frame_columns()["start_s"], default=0.0)
        ends = f"the last recorded frame begins at {last_s:.6g} s"
        raise UserError(
            f"no frames from {stretch}: {ends}",
            f"increase record.frames; {result.frame_count} frames were recorded",
        )
    if count > MAX_FRAMES:
        raise UserError(
            f"{count} frames from {stretch}: at most {MAX_FRAMES} are drawn",
            "use a shorter time range",
        )
    return every


def rows_of(frames: Sequence[Frame], nodes: Sequence[str]) -> list[str]:
    """Return the names of the senders to draw, in the order of the scenario."""
    counts: dict[str, int] = {}
    for frame in frames:
        counts[frame.sender] = counts.get(frame.sender, 0) + 1
    most = sorted(counts, key=lambda name: -counts[name])[:MAX_ROWS]
    return [name for name in nodes if name in most]


def draw(
    axes: Axes,
    frames: Sequence[Frame],
    names: Sequence[str],
    known: CellScenario,
    stretch: tuple[float, float],
) -> bool:
    """Draw frames and backoffs of the senders in `names`; return whether any backoff was drawn."""
    from_s, to_s = stretch
    gaps = gaps_of(frames)

    bars: dict[tuple[int, str, float], list[tuple[float, float]]] = {}
    partly_lost: dict[tuple[int, str, float], list[tuple[float, float]]] = {}

    def bar(
        row: int, start_s: float, end_s: float, color: str, height: float, *, is_part: bool = False
    ) -> None:
        left, right = max(start_s, from_s), min(end_s, to_s)
        if right > left:
            span = 1e3 * (left - from_s), 1e3 * (right - left)
            of = partly_lost if is_part else bars
            of.setdefault((row, color, height), []).append(span)

    for frame in frames:
        if frame.sender not in names:
            continue
        row = names.index(frame.sender)
        for start_s, end_s in counted_down(frame, gaps, known):
            bar(row, start_s, end_s, BACKOFF, LOW)
        color = FATES[frame.fate][1] if frame.fate in FATES else KINDS[frame.kind][1]
        bar(row, frame.start_s, frame.end_s, color, HEIGHT)
        for start_s, end_s in lost_in(frame, THINNEST * (to_s - from_s)):
            bar(row, start_s, end_s, FATES["corrupted"][1], HEIGHT, is_part=True)
        tell_mpdus(axes, frame, row, stretch)
        if frame.discarded and from_s <= frame.end_s <= to_s:
            axes.plot(1e3 * (frame.end_s - from_s), row, **CROSS)
    for (row, color, height), spans in (*bars.items(), *partly_lost.items()):
        axes.broken_barh(spans, (row - height / 2, height), color=color, linewidth=0)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0.0, 1e3 * (to_s - from_s))
    axes.tick_params(axis="y", length=0, pad=5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"time since {from_s:.9g} s [ms], first replication")
    return any(color == BACKOFF for _, color, _ in bars)


def tell_mpdus(axes: Axes, frame: Frame, row: int, stretch: tuple[float, float]) -> None:
    """Write the number of MPDUs into the bar of an aggregate, if the bar is wide enough."""
    from_s, to_s = stretch
    left_s, right_s = max(frame.start_s, from_s), min(frame.end_s, to_s)
    text = str(frame.mpdus or 0)
    if (frame.mpdus or 0) > 1 and right_s - left_s > (to_s - from_s) * DIGIT * (len(text) + 1):
        middle = 1e3 * ((left_s + right_s) / 2 - from_s)
        color = "black" if frame.kind == "ack" else "white"
        place: dict[str, Any] = {"ha": "center", "va": "center_baseline"}
        axes.text(middle, row, text, color=color, fontsize=5, gid=ON_FILL, **place)


def keys_of(frames: Sequence[Frame], *, backoffs: bool) -> list[Patch | Line2D]:
    """Return the items of the legend: kinds of frames, reasons of losses, and backoffs."""
    kinds = [KINDS[kind] for kind in KINDS if any(frame.kind == kind for frame in frames)]
    if any((frame.mpdus or 0) > 1 for frame in frames):
        kinds = [(OF_MPDUS.get(name, name), color) for name, color in kinds]
    partly = {"corrupted"} if any(frame.lost for frame in frames) else set()
    present = {frame.fate for frame in frames} | partly
    fates = [FATES[fate] for fate in FATES if fate in present]
    keys: list[Patch | Line2D] = [
        Patch(color=color, label=label) for label, color in (*kinds, *fates)
    ]
    if backoffs:
        keys.append(Patch(color=BACKOFF, label=OF_BACKOFF))
    if any(frame.discarded for frame in frames):
        keys.append(Line2D([], [], label=GIVEN_UP, **CROSS))
    return keys
