"""Section 1: throughput over the number of stations."""

import numpy as np

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import DIRECTIONS
from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Runs, Study, largest, smallest
from lasthop.studies.sweep import Sweep

COUNTS = (1, 2, 4, 7, 14, 28)

SWEEP = Sweep(
    "{way}-{count}",
    lambda way, count: cell.scenario(way, stations=count),
    {"way": DIRECTIONS, "count": COUNTS},
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the throughput with each number of stations, divided by the throughput with seven
    stations. Also return the ratio of the largest to the smallest throughput.
    """
    seven = {way: cell.throughput(runs[f"{way}-{cell.STATIONS}"]) for way in DIRECTIONS}
    several = {way: SWEEP.at(way=way, count=COUNTS[1:]) for way in DIRECTIONS}
    spreads = {
        f"spread_{way}": largest(each) / smallest(each)
        for way, sweep in several.items()
        for each in [sweep.read(runs, cell.throughput)]
    }
    return spreads | {
        f"ratio_{way}_{count}": cell.throughput(runs[f"{way}-{count}"]) / seven[way]
        for way in DIRECTIONS
        for count in COUNTS
    }


PICTURE = Picture(
    Abscissa("stations", lambda count: float(np.log2(count)), COUNTS),
    [
        Panel("throughput [Mb/s]", SWEEP.lines("{way}load", "count", cell.throughput)),
        Panel("active stations", SWEEP.lines("{way}load", "count", cell.active)),
    ],
)

STUDY = Study(
    key="edca-stations",
    title="Section 1: throughput over the number of stations",
    points=SWEEP.points(),
    measure=measure,
    regime=cell.lossless,
    draw=PICTURE.draw,
)
