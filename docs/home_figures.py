"""Pictures of the guides for homes, drawn from what the examples on their pages compute."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import transcripts
from guide_figures import GUIDE, bars

from lasthop.plot.figure import Figure


def told(page: str) -> dict[str, Any]:
    """What the names of a page's prompt mean once its examples have been run."""
    text = (GUIDE / f"{page}.md").read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="lasthop-figures-") as folder:
        reader = transcripts.Reader(Path(folder))
        for found in transcripts.BLOCK.finditer(text):
            if found[1] != "console":
                reader.block(found[1], found[2])
    return reader.names


def call_remedies() -> Figure:
    """What one packet of a call in a hundred exceeds, with each remedy, in two places."""
    names = told("call")
    panels = {}
    for where, table in (("slow line", "slow_line"), ("slow air", "slow_air")):
        for way in ("up", "down"):
            late_ms = names[table][f"{way} 99 %"]
            panels[f"{where}, {way} [ms]"] = [(each, 0.0) for each in late_ms]
    return bars(list(names["remedies"]), panels)


def old_laptop() -> Figure:
    """Goodput beside one slow station, its air time and a call's delay, with each remedy."""
    names = told("old-laptop")
    table = names["table"]
    panels = {
        "each new one [Mb/s]": "new Mb/s",
        "air time of the old [%]": "air % of old",
        "call, 99 % [ms]": "99 %",
    }
    return bars(
        list(names["remedies"]),
        {label: [(each, 0.0) for each in table[key]] for label, key in panels.items()},
    )


PICTURES: Mapping[str, Callable[[], Figure]] = {
    "call-remedies": call_remedies,
    "old-laptop": old_laptop,
}
"""Pictures by the names of their files."""
