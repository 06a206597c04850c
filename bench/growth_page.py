"""Write the table and the picture of the cost per segment as networks grow, from
out/growth.json.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dumbbell import TRANSMISSIONS
from growth import SAME, SIMULATORS, Axis, Entry, short, stored, throughput_apart
from measure import BenchError, Cost
from pages import rewrite, table
from report import CELL_TRANSMISSIONS

from lasthop.plot.figure import EMULATION, MODEL, QUIET, SIMULATION, Figure, house_style, title

HERE = Path(__file__).parent
PAGE, IMAGE = HERE / "README.md", HERE.parent / "docs/images/growth.png"
SECTION = "Growth"
PICTURE = "![Cost of a segment over flows, round-trip time, stations, and flows in a cell]"
PICTURE += "(../docs/images/growth.png)"

TITLES: Mapping[Axis, tuple[str, str]] = {
    "flows": ("through a router that grows along", "flows"),
    "rtt": ("sixty flows through a router", "round-trip time [ms]"),
    "stations": ("802.11b, a download each", "stations"),
    "connections": ("802.11b, seven stations", "downloads"),
}
NETWORKS: Mapping[Axis, str] = {
    "flows": "router, {:,} flows",
    "rtt": "router, 60 flows, RTT {:,} ms",
    "stations": "cell, {:,} stations",
    "connections": "cell of 7 stations, {:,} downloads",
}
"""Name of the network of each axis, in the first column of the table."""
STYLES: Mapping[str, tuple[str, str]] = {
    "lasthop": (SIMULATION, "o-"),
    "lean": (QUIET, ".--"),
    "hops": (QUIET, ".:"),
    "htsim": (MODEL, "s-"),
    "ns-2": (EMULATION, "^-"),
    "ns-3": (EMULATION, "v--"),
}


def main() -> None:
    """Write the table and the picture."""
    entries = stored()
    if not entries:
        raise BenchError("out/growth.json: file not found\nhint: run `bench/growth.py`")
    picture(entries).savefig(IMAGE)
    rewrite(PAGE, {SECTION: rows(entries)}, {SECTION: PICTURE})


def rows(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a row per network size, with a column per simulator."""
    names = [
        simulator.name
        for simulator in SIMULATORS
        if any(each.simulator == simulator.name for each in entries)
    ]
    points = list(dict.fromkeys((each.axis, each.size) for each in entries))
    by_point = {(each.axis, each.size, each.simulator): each for each in entries}
    yield from table(
        ["network", *map(heading, names)],
        (
            [
                NETWORKS[axis].format(size),
                *(cell(by_point.get((axis, size, name)), entries) for name in names),
            ]
            for axis, size in points
        ),
    )


def heading(name: str) -> str:
    """Return the title of a simulator's column, and the units of its cells."""
    shown = f"`{name}`" if name in ("lean", "hops") else name
    return f"{shown}: us (million/s)"


def cell(entry: Entry | None, entries: Sequence[Entry]) -> str:
    """Return the text of a table cell: microseconds per segment, and millions of transmissions per
    second and core. Without a measurement, the text is the reason.
    """
    if entry is None:
        return ""
    if entry.us_per_segment is None:
        return why_none(entry.why)
    per_segment = TRANSMISSIONS if entry.axis in ("flows", "rtt") else CELL_TRANSMISSIONS
    cost = Cost(0, 0, 0, entry.us_per_segment, entry.segments_per_s, entry.peak_rss_mb)
    apart = throughput_apart(entry, entries)
    other = f", {apart:+.0%}" if abs(apart) > SAME else ""
    millions = cost.transmissions_per_s(per_segment) / 1e6
    return f"{short(entry.us_per_segment)} ({short(millions)}{other})"


def why_none(why: str) -> str:
    """Return as text why there is no measurement."""
    if why.startswith("over "):
        return f"stopped after {why.removeprefix('over ')}"
    if why == "stopped before":
        return "not run: a smaller network took too long"
    return f"not run: {why}" if why.startswith("would take") else why


def picture(entries: Sequence[Entry]) -> Figure:
    """Draw a diagram per axis, with a line per simulator."""
    with house_style(120.0, columns=2) as drawn:
        panels = drawn.subplots(2, 2, sharey=True).flat
        for axes, (axis, (heading, label)) in zip(panels, TITLES.items(), strict=True):
            for name, (colour, line) in STYLES.items():
                mine = [
                    (each.size, each.us_per_segment)
                    for each in entries
                    if (each.axis, each.simulator) == (axis, name) and each.us_per_segment
                ]
                sizes, costs = [size for size, _ in mine], [cost for _, cost in mine]
                axes.plot(sizes, costs, line, color=colour, label=name, markersize=3)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(label)
            title(axes, heading)
        for axes in drawn.axes[::2]:
            axes.set_ylabel("CPU time [us/segment]")
        marks, labels = drawn.axes[0].get_legend_handles_labels()
        drawn.legend(marks, labels, loc="outside lower center", ncols=6)
        return drawn
