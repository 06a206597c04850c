"""Draws the picture of the gateway compared with plain tc: one column per quantity, one row per
kind of traffic."""

from collections.abc import Sequence
from typing import Any

from tc import Column, Run
from tc_contenders import CONTENDERS

from lasthop.plot.figure import EMULATION, MODEL, SIMULATION, Figure, house_style, title

COLOURS = (SIMULATION, EMULATION, MODEL)
LEGEND: dict[str, Any] = {"loc": "outside lower center", "ncols": 3}


def figure(columns: Sequence[Column], runs: Sequence[Run]) -> Figure:
    """Draw one mark per run. The colour of a mark shows the round-trip time. The marks of a
    contender are spread vertically within its line."""
    kinds = list(dict.fromkeys(run.case.traffic for run in runs))
    rtts_s = sorted({run.case.rtt_s for run in runs})
    names = list(CONTENDERS)
    with house_style(62.0 * len(kinds), columns=3) as drawn:
        grid = drawn.subplots(len(kinds), len(columns), squeeze=False, sharey=True)
        for row, traffic in zip(grid, kinds, strict=True):
            for axes, column in zip(row, columns, strict=True):
                for number, rtt_s in enumerate(rtts_s):
                    shown = [r for r in runs if (r.case.traffic, r.case.rtt_s) == (traffic, rtt_s)]
                    heights = [
                        names.index(r.case.contender) + 0.2 * (number - (len(rtts_s) - 1) / 2)
                        for r in shown
                    ]
                    values = [column.value(r) for r in shown]
                    colour = COLOURS[number % len(COLOURS)]
                    label = f"{1e3 * rtt_s:g} ms"
                    axes.plot(values, heights, "o", markersize=3, color=colour, label=label)
                axes.set_xlim(left=0)
                axes.set_xlabel(column.label)
                axes.set_yticks(range(len(names)), names)
                axes.set_ylim(len(names) - 0.5, -0.5)
            title(row[0], f"{traffic}, against one download")
        marks, labels = drawn.axes[0].get_legend_handles_labels()
        drawn.legend(marks, [f"Internet's RTT {label}" for label in labels], **LEGEND)
        return drawn
