"""Pictures of the guides for homes, drawn from what the examples on their pages compute."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import transcripts
from guide_figures import GUIDE
from matplotlib.axes import Axes

from lasthop.plot.figure import SIMULATION, Figure, house_style, title


def told(page: str) -> dict[str, Any]:
    """What the names of a page's prompt mean once its examples have been run."""
    text = (GUIDE / f"{page}.md").read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="lasthop-figures-") as folder:
        reader = transcripts.Reader(Path(folder))
        for found in transcripts.BLOCK.finditer(text):
            if found[1] != "console":
                reader.block(found[1], found[2])
    return reader.names


def bars(axes: Axes, values: Any, label: str) -> None:
    """A bar for each row of a table, the first at the top."""
    axes.barh(np.arange(len(values))[::-1], values, color=SIMULATION, height=0.6)
    axes.set_xlabel(label)
    axes.grid(axis="y", visible=False)


def named(axes: Axes, table: Any) -> None:
    """The names of a table's rows, at the left."""
    axes.set_yticks(np.arange(len(table))[::-1], list(table.index))


def call_remedies() -> Figure:
    """What one packet of a call in a hundred exceeds, on a slow line and in slow air, both ways."""
    names = told("call")
    places = {"the line is slow": names["slow_line"], "the air is slow": names["slow_air"]}
    with house_style(125.0) as figure:
        heights = [len(table) for table in places.values()]
        grid = figure.subplots(2, 2, sharey="row", height_ratios=heights)
        for (place, table), row in zip(places.items(), grid, strict=True):
            for axes, way in zip(row, ("up", "down"), strict=True):
                bars(axes, table[f"{way} 99 %"], f"call {way}, 99 % [ms]")
            named(row[0], table)
            title(row[0], place)
    return figure


def old_laptop() -> Figure:
    """Goodput beside one slow station, its air time and a call's delay, with each remedy."""
    table = told("old-laptop")["table"]
    panels = {"new Mb/s": "new [Mb/s]", "old's air %": "old's air [%]", "call 99 %": "call [ms]"}
    with house_style(80.0) as figure:
        row = figure.subplots(1, len(panels), sharey=True)
        for axes, (key, label) in zip(row, panels.items(), strict=True):
            bars(axes, table[key], label)
        named(row[0], table)
    return figure


PICTURES: Mapping[str, Callable[[], Figure]] = {
    "call-remedies": call_remedies,
    "old-laptop": old_laptop,
}
"""Pictures by the names of their files."""
