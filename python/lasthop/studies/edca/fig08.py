"""Figure 8: the access point sends after PIFS, without backoff (section 6.3)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import CWMINS, DIRECTIONS, PIFS
from lasthop.studies.study import Quantity, Run, Runs, Study, along, largest

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


NEAR_OPTIMUM = (23, 27, 31, 35, 39, 47, 55, 63)
"""Windows of the stations among which the best for downloads is sought. [slots]"""

STUDIED = tuple(sorted({*CWMINS, *NEAR_OPTIMUM}))


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return throughput and collision rate, the best of each, and the optimum for downloads."""
    values: dict[str, Quantity] = {}
    for way in DIRECTIONS:
        values |= cell.named(way, {cw: cell.throughput(runs[f"{way}-{cw}"]) for cw in CWMINS})
        values[f"best_{way}"] = largest([values[f"{way}_{cw}"] for cw in CWMINS])
    near = cell.picked(runs, [f"down-{cwmin}" for cwmin in NEAR_OPTIMUM])
    throughput = [cell.throughput(run) for run in near]
    collisions = [cell.station_collisions(run) for run in near]
    values["cwmin_at_best"] = along(optimum, throughput)
    values["collision_at_best"] = along(collision_at_optimum, throughput, collisions)
    return values


def optimum(throughput: NDArray[np.float64]) -> float:
    """Return the CWmin at the top of the parabola through the throughputs. [slots]"""
    return float(2.0 ** _top(throughput) - 1.0)


def collision_at_optimum(throughput: NDArray[np.float64], collisions: NDArray[np.float64]) -> float:
    """Return the collision rate at the top of that parabola. [-]"""
    return float(np.interp(_top(throughput), _exponents(), collisions))


def _top(throughput: NDArray[np.float64]) -> float:
    curvature, slope, _ = np.polyfit(_exponents(), throughput, 2)
    return float(np.clip(-slope / (2.0 * curvature), _exponents()[0], _exponents()[-1]))


def _exponents() -> NDArray[np.float64]:
    return np.log2(np.asarray(NEAR_OPTIMUM) + 1.0)


def findings(runs: Runs) -> dict[str, str]:
    """Return where the optima are."""
    values = measure(runs)
    largest_up = max(CWMINS, key=lambda cw: float(values[f"up_{cw}"].samples.mean()))
    return {
        "edca-13": (
            f"downloads are best at CWmin {values['cwmin_at_best']} of the stations, where "
            f"{values['collision_at_best']} of their attempts collide. For uploads, whose "
            f"colliding frames are five times as long, it is {largest_up} of the sweep with "
            f"{cell.station_collisions(runs[f'up-{largest_up}'])}. From CWmin 15 on the simulation "
            f"is {cell.difference(cell.throughput(runs['down-63']))} off the model (at 63): "
            "after a busy medium a frozen backoff has at least one slot left, so the first "
            "slot is hardly used, which p-persistent backoff does not know"
        )
    }


def draw(runs: Runs) -> "Figure":
    """Draw throughput and a station's collision rate over its CWmin."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    def members(quantity: Callable[[Run], Quantity]) -> list[Member]:
        return [
            Member(
                f"{way}load",
                [float(np.log2(cwmin + 1)) for cwmin in STUDIED],
                [quantity(runs[f"{way}-{cwmin}"]) for cwmin in STUDIED],
            )
            for way in DIRECTIONS
        ]

    return family_figure(
        "CWmin of the stations [slots]",
        [
            FamilyPanel(
                "throughput [Mb/s]",
                members(cell.throughput),
                "PIFS access of the AP, no TXOP",
                from_zero=False,
            ),
            FamilyPanel(
                "collision rate\nof a station",
                members(cell.station_collisions),
                levels={"paper: optimum": 0.2},
            ),
        ],
        ticks={float(np.log2(cwmin + 1)): str(cwmin) for cwmin in CWMINS},
    )


STUDY = Study(
    subject="edca",
    name="fig08",
    title="Figure 8: PIFS access of the access point",
    points={
        f"{way}-{cwmin}": cell.scenario(way, ap=PIFS, station=cwmin)
        for way in DIRECTIONS
        for cwmin in STUDIED
    },
    measure=measure,
    draw=draw,
    findings=findings,
)
