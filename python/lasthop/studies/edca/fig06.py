"""Figure 6: downloads, with one CWmin at the access point and another at the stations."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import CWMINS, STATIONS
from lasthop.studies.edca.fig05 import PATIENT, fixed
from lasthop.studies.study import Quantity, Run, Runs, Study, along, largest, smallest

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


SMALL_AP = (3, 7, 15)
"""Windows of the access point for which a throughput that falls, rises and falls is read. [slots]

With larger ones the last fall would lie beyond the range of the figure.
"""

SATURATED = 0.95
"""Part of the stations that are active where they count as saturated. [-]"""


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return all readings of every pair, and what the curves of figure 6 do."""
    values: dict[str, Quantity] = {}
    for ap in CWMINS:
        for station in CWMINS:
            run, pair = runs[f"{ap}-{station}"], f"{ap}_{station}"
            values[f"down_{pair}"] = cell.throughput(run)
            values[f"collision_ap_{pair}"] = cell.ap_collisions(run)
            values[f"collision_station_{pair}"] = cell.station_collisions(run)
            values[f"active_{pair}"] = cell.active(run)
    for ap in SMALL_AP:
        down = beyond(runs, ap, cell.throughput)
        turn = 1 + int(np.argmin([one.samples.mean() for one in down[1:-1]]))
        values[f"start_{ap}"], values[f"end_{ap}"] = down[0], down[-1]
        values[f"dip_{ap}"] = smallest(down[1:-1])
        values[f"peak_{ap}"] = largest(down[turn:-1])
        for node, rate in (("ap", cell.ap_collisions), ("station", cell.station_collisions)):
            values[f"collision_{node}_peak_{ap}"] = largest(beyond(runs, ap, rate)[1:-1])
        values[f"saturation_{ap}"] = along(saturation, curve(runs, ap, cell.active))
    values["best_pair"] = largest([values[f"down_{a}_{s}"] for a in CWMINS for s in CWMINS])
    values["best_equal"] = largest([values[f"down_{cwmin}_{cwmin}"] for cwmin in CWMINS])
    return values


def curve(runs: Runs, ap: int, quantity: Callable[[Run], Quantity]) -> list[Quantity]:
    """Return a quantity over the CWmin of the stations."""
    return [quantity(runs[f"{ap}-{station}"]) for station in CWMINS]


def beyond(runs: Runs, ap: int, quantity: Callable[[Run], Quantity]) -> list[Quantity]:
    """Return the part of a curve where the stations' CWmin is at least the access point's."""
    return curve(runs, ap, quantity)[CWMINS.index(ap) :]


def saturation(active: NDArray[np.float64]) -> float:
    """Return the CWmin of the stations from which on they are saturated. [slots]

    Between the windows of the sweep log2(CWmin + 1) is interpolated; NaN where they never are.
    """
    level = SATURATED * STATIONS
    exponents = np.log2(np.asarray(CWMINS) + 1.0)
    above = np.flatnonzero(active >= level)
    if not len(above) or above[0] == 0:
        return float("nan")
    k = above[0]
    part = (level - active[k - 1]) / (active[k] - active[k - 1])
    return float(2.0 ** (exponents[k - 1] + part * (exponents[k] - exponents[k - 1])) - 1.0)


def findings(runs: Runs) -> dict[str, str]:
    """Return why equality is not "at most one", and what is different at the smallest windows."""
    without = [runs[f"3-{station}-fixed"] for station in CWMINS]
    falls = (
        "at CWmin 3 of both exponential backoff has filled the stations already: "
        f"{cell.active(runs['3-3'])} are active (study fig05), so there is no start from one "
        "active station. Without doubling of the windows"
    )
    throughputs = ", ".join(str(cell.throughput(run)) for run in without)
    collisions = ", ".join(str(cell.ap_collisions(run)) for run in without)
    chain = ", ".join(cell.predicted(cell.active(runs[f"{cw}-{cw}"])) for cw in (15, 31, 63))
    return {
        "edca-7": (
            "with equal parameters the AP and each active station win the channel equally often, "
            "and the AP must win every second time, so the mean of 1/(1 + active) is 1/2 and, "
            "since it is convex, active is at least one on average; the chain itself says so "
            f"({chain}). One step to unequal windows and it is below one: "
            f"{cell.active(runs['31-15'])} at (31, 15)"
        ),
        "edca-10": (
            f"{falls} throughput over the stations' CWmin 3..255 is {throughputs} Mb/s: it falls, "
            "rises and falls"
        ),
        "edca-18": f"{falls} the AP's collision rate over CWmin 3..255 is {collisions}",
    }


def draw(runs: Runs) -> "Figure":
    """Draw throughput, both collision rates and active stations over the stations' CWmin."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    places = [float(k) for k in range(len(CWMINS))]

    def members(quantity: Callable[[Run], Quantity]) -> Sequence[Member]:
        return [Member(f"AP {ap}", places, curve(runs, ap, quantity)) for ap in CWMINS]

    return family_figure(
        "CWmin of the stations [slots]",
        [
            FamilyPanel(
                "throughput [Mb/s]",
                members(cell.throughput),
                "seven downloads, by CWmin of the AP",
                from_zero=False,
            ),
            FamilyPanel("collision rate\nof a station", members(cell.station_collisions)),
            FamilyPanel("collision rate\nof the AP", members(cell.ap_collisions)),
            FamilyPanel("active stations", members(cell.active)),
        ],
        ticks=dict(zip(places, map(str, CWMINS), strict=True)),
    )


STUDY = Study(
    subject="edca",
    name="fig06",
    title="Figure 6: downloads, CWmin of the access point and of the stations",
    points={
        **{
            f"{ap}-{station}": cell.scenario("down", ap=ap, station=station)
            for ap in CWMINS
            for station in CWMINS
        },
        **{
            f"3-{station}-fixed": cell.scenario(
                "down", ap=fixed(3), station=fixed(station), tcp=PATIENT
            )
            for station in CWMINS
        },
    },
    measure=measure,
    draw=draw,
    findings=findings,
)
