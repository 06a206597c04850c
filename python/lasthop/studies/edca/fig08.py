"""Figure 8: the access point sends after PIFS, without backoff (section 6.3)."""

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import CWMINS, DIRECTIONS, PIFS
from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Runs, Study, about, along, largest
from lasthop.studies.sweep import Sweep

NEAR_OPTIMUM = (23, 27, 31, 35, 39, 47, 55, 63)
"""Candidates for the best CWmin of the stations for downloads. [slots]"""

EXPONENTS = np.log2(np.asarray(NEAR_OPTIMUM) + 1.0)
"""Exponents log2(CWmin + 1) of the candidates. [-]"""

STUDIED = tuple(sorted({*CWMINS, *NEAR_OPTIMUM}))


PAPER_COLLISIONS = 0.2
"""Collision rate of a station at the optimum for downloads, according to the paper. [-]"""

SWEEP = Sweep(
    "{way}-{cwmin}",
    lambda way, cwmin: cell.scenario(way, ap=PIFS, station=cwmin),
    {"way": DIRECTIONS, "cwmin": STUDIED},
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return throughputs, collision rates, the best throughputs, and the best CWmin for
    downloads.
    """
    values = SWEEP.at(cwmin=CWMINS).values(runs, {"{way}_{cwmin}": cell.throughput})
    for way in DIRECTIONS:
        values[f"best_{way}"] = largest([values[f"{way}_{cw}"] for cw in CWMINS])
    near = SWEEP.at(way="down", cwmin=NEAR_OPTIMUM)
    throughput = near.read(runs, cell.throughput)
    collisions = near.read(runs, cell.station_collisions)
    values["cwmin_at_best"] = along(optimum, throughput)
    values["collision_at_best"] = along(collision_at_optimum, throughput, collisions)
    return values


def optimum(throughput: NDArray[np.float64]) -> float:
    """Return the CWmin at the maximum of the parabola through the throughputs. [slots]"""
    return float(2.0 ** _top(throughput) - 1.0)


def collision_at_optimum(throughput: NDArray[np.float64], collisions: NDArray[np.float64]) -> float:
    """Return the collision rate at the maximum of the parabola through the throughputs. [-]"""
    return float(np.interp(_top(throughput), EXPONENTS, collisions))


def _top(throughput: NDArray[np.float64]) -> float:
    curvature, slope, _ = np.polyfit(EXPONENTS, throughput, 2)
    return float(np.clip(-slope / (2.0 * curvature), EXPONENTS[0], EXPONENTS[-1]))


def finding(runs: Runs) -> str:
    """Return a text on the CWmin with the highest throughput."""
    values = measure(runs)
    largest_up = max(CWMINS, key=lambda cw: float(values[f"up_{cw}"].samples.mean()))
    up = runs[f"up-{largest_up}"]
    tcp = up.scenario["flows"][0]["tcp"]
    ack_bytes = tcp["header_bytes"]
    data_bytes = ack_bytes + tcp["mss_bytes"]
    differences = ", ".join(cell.difference(values[f"down_{cwmin}"]) for cwmin in CWMINS)
    return (
        f"downloads are best at CWmin {values['cwmin_at_best']} of the stations, where a fraction "
        f"of {values['collision_at_best']} of their attempts collides. For uploads, the best of "
        f"the sweep is {largest_up}, with {cell.station_collisions(up)}. Their colliding frames "
        f"have {data_bytes} bytes instead of {ack_bytes}. At CWmin {', '.join(map(str, CWMINS))} "
        f"the simulation differs from the model by {differences}. After a busy medium a frozen "
        "backoff has at least one slot left, so the first slot is hardly used. The p-persistent "
        "backoff ignores this"
    )


PICTURE = Picture(
    Abscissa(
        "CWmin of the stations [slots]", lambda cwmin: float(np.log2(cwmin + 1)), ticks=CWMINS
    ),
    [
        Panel(
            "throughput [Mb/s]",
            SWEEP.lines("{way}load", "cwmin", cell.throughput),
            "PIFS access of the AP, no TXOP",
            from_zero=False,
        ),
        Panel(
            "collision rate\nof a station",
            SWEEP.lines("{way}load", "cwmin", cell.station_collisions),
            levels={"paper: optimum": PAPER_COLLISIONS},
        ),
    ],
)

STUDY = Study(
    key="edca-fig08",
    title="Figure 8: PIFS access of the access point",
    points=SWEEP.points(),
    measure=measure,
    regime=cell.lossless,
    shown=lambda runs: SWEEP.at(cwmin=CWMINS).values(runs, {"active_{way}_{cwmin}": cell.active}),
    draw=PICTURE.draw,
    findings=about("edca-13", finding),
)
