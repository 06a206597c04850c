"""Section 1: throughput over the number of stations."""

from typing import TYPE_CHECKING

import numpy as np

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import DIRECTIONS
from lasthop.studies.study import Quantity, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


COUNTS = (1, 2, 4, 7, 14, 28)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return throughput over that of seven stations."""
    return {
        f"ratio_{way}_{count}": cell.throughput(runs[f"{way}-{count}"])
        / cell.throughput(runs[f"{way}-{cell.STATIONS}"])
        for way in DIRECTIONS
        for count in COUNTS
    }


def draw(runs: Runs) -> "Figure":
    """Draw throughput and active stations over the number of stations."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    places = [float(np.log2(count)) for count in COUNTS]

    def member(way: str, active: bool) -> Member:
        quantity = cell.active if active else cell.throughput
        return Member(f"{way}load", places, [quantity(runs[f"{way}-{n}"]) for n in COUNTS])

    return family_figure(
        "stations",
        [
            FamilyPanel("throughput [Mb/s]", [member(way, False) for way in DIRECTIONS]),
            FamilyPanel("active stations", [member(way, True) for way in DIRECTIONS]),
        ],
        ticks=dict(zip(places, map(str, COUNTS), strict=True)),
    )


STUDY = Study(
    subject="edca",
    name="stations",
    title="Section 1: throughput over the number of stations",
    points={
        f"{way}-{count}": cell.scenario(way, stations=count)
        for way in DIRECTIONS
        for count in COUNTS
    },
    measure=measure,
    draw=draw,
)
