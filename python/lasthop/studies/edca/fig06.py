"""Figure 6: downloads, with one CWmin at the access point and another at the stations.

The paper omits uploads, and states that their results are similar; see study ``fig06_up``.
"""

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import CWMINS, STATIONS
from lasthop.studies.edca.fig05 import LONG_RTO, fixed
from lasthop.studies.picture import Abscissa, Panel, Picture, evenly
from lasthop.studies.study import (
    Quantity,
    Read,
    Run,
    Runs,
    Study,
    about,
    along,
    largest,
    listed,
    smallest,
)
from lasthop.studies.sweep import Sweep, points_of

SMALL_AP = (3, 7, 15)
"""CWmin of the access point for which the curve of the throughput falls, rises and falls again.
[slots]

With larger CWmin of the access point the second fall would be beyond the range of the figure.
"""

SATURATED = 0.95
"""Smallest fraction of active stations at which the stations are considered saturated. [-]"""


def pairs(way: str, lead: str = "") -> Sweep:
    """Return the sweep over all pairs of CWmin, with all connections in one direction."""
    return Sweep(
        f"{lead}{{ap}}-{{station}}",
        lambda ap, station: cell.scenario(way, ap=ap, station=station),
        {"ap": CWMINS, "station": CWMINS},
    )


def pairs_fixed(way: str, lead: str = "") -> Sweep:
    """Return the sweep with the access point's smallest CWmin and contention windows that do not
    double.
    """
    return Sweep(
        f"{lead}{{ap}}-{{station}}-fixed",
        lambda ap, station: cell.scenario(way, ap=fixed(ap), station=fixed(station), tcp=LONG_RTO),
        {"ap": CWMINS[:1], "station": CWMINS},
    )


SWEEP, FIXED = pairs("down"), pairs_fixed("down")
UP_SWEEP, UP_FIXED = pairs("up", "up-"), pairs_fixed("up", "up-")


def measure(runs: Runs, way: str = "down", sweep: Sweep = SWEEP) -> dict[str, Quantity]:
    """Return all quantities of every pair of CWmin, and the minima and maxima of figure 6's
    curves.
    """
    values = sweep.values(
        runs,
        {
            f"{way}_{{ap}}_{{station}}": cell.throughput,
            "collision_ap_{ap}_{station}": cell.ap_collisions,
            "collision_station_{ap}_{station}": cell.station_collisions,
            "active_{ap}_{station}": cell.active,
        },
    )
    for ap in SMALL_AP:
        values |= {
            f"{name}_{ap}": item for name, item in curve_values(runs, sweep.at(ap=ap), ap).items()
        }
    values["best_pair"] = largest(sweep.read(runs, cell.throughput))
    values["best_equal"] = largest([values[f"{way}_{cwmin}_{cwmin}"] for cwmin in CWMINS])
    return values


def curve_values(runs: Runs, row: Sweep, ap: int) -> dict[str, Quantity]:
    """Return minima, maxima and end values of the curves where the stations' CWmin is at least that
    of the AP.

    Parameters
    ----------
    runs : mapping
        Runs of a study.
    row : Sweep
        Sweep over the CWmin of the stations, with one CWmin of the access point.
    ap : int
        CWmin of the access point. [slots]
    """
    beyond = row.at(station=CWMINS[CWMINS.index(ap) :])
    throughput = beyond.read(runs, cell.throughput)
    turn = 1 + int(np.argmin([each.samples.mean() for each in throughput[1:-1]]))
    return {
        "start": throughput[0],
        "dip": smallest(throughput[1:-1]),
        "peak": largest(throughput[turn:-1]),
        "end": throughput[-1],
        "collision_ap_peak": largest(beyond.read(runs, cell.ap_collisions)[1:-1]),
        "collision_station_peak": largest(beyond.read(runs, cell.station_collisions)[1:-1]),
        "saturation": along(saturation, row.read(runs, cell.active)),
    }


def saturation(active: NDArray[np.float64]) -> float:
    """Return the smallest CWmin at which the stations are saturated. [slots]

    Between the values of the sweep, log2(CWmin + 1) is interpolated. The result is NaN if the
    stations are never saturated.
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
    """Return texts on the number of active stations if all nodes have the same CWmin, and on the
    smallest CWmin.
    """
    swept, falls = SWEPT, why_stations_are_active(runs["3-3"])
    chain = ", ".join(cell.predicted(cell.active(runs[f"{cw}-{cw}"])) for cw in (15, 31, 63))
    return {
        "edca-7": (
            "with equal parameters the AP and each active station win the channel equally often, "
            "and the AP must win every second time. So the mean of 1/(1 + active) over successes "
            "is 1/2, and since this function is convex, the mean of active is at least one. Over "
            f"time, which the paper shows, the chain has {chain}. One step to unequal windows, the "
            f"number is below one: {cell.active(runs['31-15'])} at (31, 15)"
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


SWEPT = f"over CWmin {CWMINS[0]}..{CWMINS[-1]}"


def why_stations_are_active(run: Run) -> str:
    """Return a text on why more than one station is active at the first point of a curve, where AP
    and stations have the smallest CWmin.
    """
    return (
        f"at CWmin {CWMINS[0]} for both, exponential backoff has already made many stations "
        f"active. The number is {cell.active(run)} (study fig05), so the curve cannot start from "
        "one active station. Without doubling of the windows"
    )


def up_finding(runs: Runs) -> str:
    """Return a text on why more stations are active with uploads, and on the effect of windows that
    double.
    """
    up, down, two = runs["up-15-7"], runs["down-15-7"], runs["up-31-7"]
    return (
        "over time, uploads have more active stations than downloads, because stations then send "
        "the long frames, while many of them are active. One step from equal windows, at (15, 7), "
        f"uploads have {cell.active(up)} active stations and downloads {cell.active(down)}. The "
        f"chain has {cell.predicted(cell.active(up))} and {cell.predicted(cell.active(down))}. Two "
        f"steps from equal windows, at (31, 7), uploads have {cell.active(two)}. At equal windows "
        "the number is at least one (study fig06). In addition, "
        f"{why_stations_are_active(runs['up-3-3'])} throughput {SWEPT} of the stations is "
        f"{listed(UP_FIXED.read(runs, cell.throughput))} Mb/s. The AP's collision rate is "
        f"{listed(UP_FIXED.read(runs, cell.ap_collisions))}. Both curves behave as the text says"
    )


def picture(sweep: Sweep, title: str) -> Picture:
    """Return a picture of the quantities over the stations' CWmin, with one line per CWmin of the
    AP.
    """

    def panel(y_label: str, reading: Read, title: str = "", *, from_zero: bool = True) -> Panel:
        return Panel(y_label, sweep.lines("AP {ap}", "station", reading), title, from_zero)

    return Picture(
        Abscissa("CWmin of the stations [slots]", evenly(CWMINS), CWMINS),
        [
            panel("throughput [Mb/s]", cell.throughput, title, from_zero=False),
            panel("collision rate\nof a station", cell.station_collisions),
            panel("collision rate\nof the AP", cell.ap_collisions),
            panel("active stations", cell.active),
        ],
    )


STUDY = Study(
    key="edca-fig06",
    title="Figure 6: downloads, CWmin of the access point and of the stations",
    points=points_of(SWEEP, FIXED),
    measure=measure,
    regime=cell.lossless,
    draw=picture(SWEEP, "seven downloads, by CWmin of the AP").draw,
    findings=findings,
)

UP_STUDY = Study(
    key="edca-fig06_up",
    title="Figure 6 for uploads: CWmin of the access point and of the stations",
    points={
        **UP_SWEEP.points(),
        **UP_FIXED.points(),
        "down-15-7": cell.scenario("down", ap=15, station=7),
    },
    measure=lambda runs: measure(runs, "up", UP_SWEEP),
    draw=picture(UP_SWEEP, "seven uploads, by CWmin of the AP").draw,
    findings=about("edca-21", up_finding),
)
