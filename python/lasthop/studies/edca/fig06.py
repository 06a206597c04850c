"""Figure 6: downloads, with one CWmin at the access point and another at the stations."""

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import CWMINS, STATIONS
from lasthop.studies.edca.fig05 import PATIENT, fixed
from lasthop.studies.picture import Abscissa, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Runs, Study, along, largest, listed, smallest
from lasthop.studies.sweep import Reading, Sweep

SMALL_AP = (3, 7, 15)
"""Windows of the access point for which a throughput that falls, rises and falls is read. [slots]

With larger ones the last fall would lie beyond the range of the figure.
"""

SATURATED = 0.95
"""Part of the stations that are active where they count as saturated. [-]"""


SWEEP = Sweep(
    "{ap}-{station}",
    lambda ap, station: cell.scenario("down", ap=ap, station=station),
    {"ap": CWMINS, "station": CWMINS},
)

FIXED = Sweep(
    "{ap}-{station}-fixed",
    lambda ap, station: cell.scenario("down", ap=fixed(ap), station=fixed(station), tcp=PATIENT),
    {"ap": CWMINS[:1], "station": CWMINS},
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return all readings of every pair, and what the curves of figure 6 do."""
    values = SWEEP.values(
        runs,
        {
            "down_{ap}_{station}": cell.throughput,
            "collision_ap_{ap}_{station}": cell.ap_collisions,
            "collision_station_{ap}_{station}": cell.station_collisions,
            "active_{ap}_{station}": cell.active,
        },
    )
    for ap in SMALL_AP:
        down = beyond(runs, ap, cell.throughput)
        turn = 1 + int(np.argmin([one.samples.mean() for one in down[1:-1]]))
        values[f"start_{ap}"], values[f"end_{ap}"] = down[0], down[-1]
        values[f"dip_{ap}"] = smallest(down[1:-1])
        values[f"peak_{ap}"] = largest(down[turn:-1])
        for node, rate in (("ap", cell.ap_collisions), ("station", cell.station_collisions)):
            values[f"collision_{node}_peak_{ap}"] = largest(beyond(runs, ap, rate)[1:-1])
        values[f"saturation_{ap}"] = along(saturation, SWEEP.at(ap=ap).read(runs, cell.active))
    values["best_pair"] = largest(SWEEP.read(runs, cell.throughput))
    values["best_equal"] = largest([values[f"down_{cwmin}_{cwmin}"] for cwmin in CWMINS])
    return values


def beyond(runs: Runs, ap: int, reading: Reading) -> list[Quantity]:
    """Return the part of a curve where the stations' CWmin is at least the access point's."""
    return SWEEP.at(ap=ap, station=CWMINS[CWMINS.index(ap) :]).read(runs, reading)


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
    swept = f"over CWmin {CWMINS[0]}..{CWMINS[-1]}"
    falls = (
        f"at CWmin {CWMINS[0]} of both exponential backoff has filled the stations already: "
        f"{cell.active(runs['3-3'])} are active (study fig05), so there is no start from one "
        "active station. Without doubling of the windows"
    )
    chain = ", ".join(cell.predicted(cell.active(runs[f"{cw}-{cw}"])) for cw in (15, 31, 63))
    return {
        "edca-7": (
            "with equal parameters the AP and each active station win the channel equally often, "
            "and the AP must win every second time, so over successes the mean of 1/(1 + active) "
            "is 1/2 and, since it is convex, active is at least one; over time, which the paper "
            f"shows, the chain has {chain}. One step to "
            f"unequal windows and it is below one: {cell.active(runs['31-15'])} at (31, 15)"
        ),
        "edca-10": (
            f"{falls} throughput {swept} of the stations is "
            f"{listed(FIXED.read(runs, cell.throughput))} Mb/s: it falls, rises and falls"
        ),
        "edca-18": (
            f"{falls} the AP's collision rate {swept} is "
            f"{listed(FIXED.read(runs, cell.ap_collisions))}"
        ),
    }


def panel(y_label: str, reading: Reading, title: str = "", *, from_zero: bool = True) -> Panel:
    """Return a quantity over the stations' CWmin, a line for each CWmin of the access point."""
    return Panel(y_label, SWEEP.lines("AP {ap}", "station", reading), title, from_zero)


PICTURE = Picture(
    Abscissa("CWmin of the stations [slots]", evenly(CWMINS), CWMINS),
    [
        panel(
            "throughput [Mb/s]",
            cell.throughput,
            "seven downloads, by CWmin of the AP",
            from_zero=False,
        ),
        panel("collision rate\nof a station", cell.station_collisions),
        panel("collision rate\nof the AP", cell.ap_collisions),
        panel("active stations", cell.active),
    ],
)

STUDY = Study(
    key="edca-fig06",
    title="Figure 6: downloads, CWmin of the access point and of the stations",
    points={**SWEEP.points(), **FIXED.points()},
    measure=measure,
    regime=cell.lossless,
    draw=PICTURE.draw,
    findings=findings,
)
