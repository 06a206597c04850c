"""Draw the pictures of the home guides, from results of the examples on these pages."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import transcripts
from guide_figures import GUIDE
from matplotlib.axes import Axes

from lasthop.plot.figure import MODEL, SIMULATION, Figure, house_style, title

BESIDE: Mapping[str, Any] = {"textcoords": "offset points", "fontsize": 6.5}
"""Text style of a number next to its bar."""


def names_of(page: str) -> dict[str, Any]:
    """Return the variables that the examples of a page define, after running these examples."""
    text = (GUIDE / f"{page}.md").read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="lasthop-figures-") as folder:
        reader = transcripts.Reader(Path(folder))
        for block in transcripts.BLOCK.finditer(text):
            if block[1] != "console":
                reader.block(block[1], block[2])
    return reader.names


def named(axes: Axes, rows: Sequence[str]) -> None:
    """Write the names of the rows at the left of the axes; the first row is at the top."""
    axes.set_yticks(np.arange(len(rows))[::-1], rows)
    axes.grid(axis="y", visible=False)


def call_remedies() -> Figure:
    """Draw the 99th percentile of a call's packet delay in both directions, on a slow line, in a
    slow cell, and with both.
    """
    names = names_of("call")
    places = {
        "the line is slow": names["slow_line"],
        "the air is slow": names["slow_air"],
        "both are slow": names["both_slow"],
    }
    ways = {"up": (0.2, SIMULATION), "down": (-0.2, MODEL)}
    with house_style(210.0) as figure:
        heights = [len(table) for table in places.values()]
        column = figure.subplots(len(places), 1, sharex=True, height_ratios=heights)
        for axes, (place, table) in zip(column, places.items(), strict=True):
            rows = np.arange(len(table))[::-1]
            for way, (offset, color) in ways.items():
                values, halves = table[f"{way} 99 %"], table[f"{way} ±"]
                mark = {"xerr": halves, "ecolor": "black", "error_kw": {"elinewidth": 0.7}}
                axes.barh(rows + offset, values, 0.36, color=color, label=f"call {way}", **mark)
                for y, value, half in zip(rows + offset, values, halves, strict=True):
                    at = (value + half, y)
                    axes.annotate(f"{value:.0f}", at, (3, 0), va="center", **BESIDE)
            named(axes, list(table.index))
            title(axes, place)
        column[-1].set_xlabel("99th percentile of the call's delay [ms]")
        figure.legend(*column[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure


def old_laptop() -> Figure:
    """Draw goodput in a cell with one slow station, the station's air time, and a call's delay, for
    each remedy.

    Bars are medians over the runs. Whiskers extend from the smallest to the largest value.
    """
    rows_ = names_of("old-laptop")["found"]
    panels = {
        "new Mb/s": "each new\n[Mb/s]",
        "old's air %": "old's air\n[%]",
        "call 99 %": "call, 99 %\n[ms]",
    }
    rows = np.arange(len(rows_))[::-1]
    with house_style(92.0) as figure:
        row = figure.subplots(1, len(panels), sharey=True)
        for axes, (key, label) in zip(row, panels.items(), strict=True):
            runs = np.array([each[key] for each in rows_.values()])
            least, middle, most = np.quantile(runs, (0.0, 0.5, 1.0), axis=1)
            spans = np.array([middle - least, most - middle])
            mark = {"xerr": spans, "ecolor": "black", "error_kw": {"elinewidth": 0.7}}
            axes.barh(rows, middle, color=SIMULATION, height=0.6, **mark)
            for y, value, end in zip(rows, middle, most, strict=True):
                if np.isfinite(value):
                    axes.annotate(f"{value:.0f}", (end, y), (3, 0), va="center", **BESIDE)
            axes.margins(x=0.25)
            axes.set_xlim(left=0.0)
            axes.set_xlabel(label)
        named(row[0], list(rows_))
    return figure


PICTURES: Mapping[str, Callable[[], Figure]] = {
    "call-remedies": call_remedies,
    "old-laptop": old_laptop,
}
"""Functions that draw the pictures, by file name."""
