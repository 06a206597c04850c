"""Figure 9: the access point has PIFS access with TXOP limits, and stations have CWmin 31 (section
6.3).
"""

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell, fig07
from lasthop.studies.edca.cell import CWMIN, DIRECTIONS, PIFS
from lasthop.studies.edca.fig05 import SHORT_RTO
from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Run, Runs, Study, along, largest, mean_of
from lasthop.studies.sweep import Sweep

AP_LIMITS = (1, 2, 3, 4, 8)
"""TXOP limits of the access point. [packets]"""

STATION_LIMITS = (1, 2, 3, 4)
"""TXOP limits of the stations, up to the receive window. [packets]"""


SHORT_RTO_TCP = {"min_rto": SHORT_RTO}

SHORT_RTO_LIMITS = {"pifs": (1, 4, 8), "contended": (4, 8, 16, 28)}
"""TXOP limits of the access point in runs with a short minimum RTO, by access method: PIFS access
or backoff. The TXOP limit of the stations is 4. [packets]
"""


def scenario(way: str, ap: int, station: int, tcp: cell.Tree | None = None) -> cell.Tree:
    """Return the scenario with PIFS access and TXOP limits in packets."""
    return cell.scenario(
        way,
        ap={**PIFS, "txop_packets": ap},
        station={"cwmin": CWMIN, "txop_packets": station},
        tcp=tcp,
    )


SWEEP = Sweep(
    "{way}-{ap}-{station}",
    scenario,
    {"way": DIRECTIONS, "ap": AP_LIMITS, "station": STATION_LIMITS},
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the best throughput, and the effects of the TXOP limits of AP and stations, by
    direction.
    """
    values = SWEEP.at(ap=AP_LIMITS[0]).values(
        runs, {"station_limit_{station}_{way}": cell.throughput}
    )
    for way in DIRECTIONS:
        mine = SWEEP.at(way=way)
        curves = [mine.at(station=limit).read(runs, cell.throughput) for limit in STATION_LIMITS]
        values[f"best_{way}"] = largest(mine.read(runs, cell.throughput))
        values[f"spread_over_ap_limit_{way}"] = largest([along(spread, curve) for curve in curves])
    return values


def best_with_short_rto(runs: Runs, kind: str) -> Quantity:
    """Return the best throughput with a short minimum RTO, for PIFS access or for access with
    backoff. [Mb/s]
    """
    return largest(
        [cell.throughput(runs[f"hasty-{kind}-{ap}"]) for ap in SHORT_RTO_LIMITS[kind]],
    )


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return the best throughputs with a short minimum RTO. These throughputs decide claim edca-17.
    [Mb/s]
    """
    return {f"best_hasty_{kind}": best_with_short_rto(runs, kind) for kind in SHORT_RTO_LIMITS}


def spread(throughput: NDArray[np.float64]) -> float:
    """Return the difference between the largest and the smallest throughput, divided by the
    smallest. [-]
    """
    return float(np.ptp(throughput) / np.min(throughput))


def findings(runs: Runs) -> dict[str, str]:
    """Return texts on the effects of the access point's TXOP limit and of the timeout."""
    values = measure(runs)
    pifs, contended = runs["down-4-4"], runs["contended"]
    short_rto_pifs, short_rto_contended = runs["hasty-pifs-4"], runs["hasty-contended-8"]
    return {
        "edca-17": (
            "the order depends on the minimum RTO, which the paper does not give. If all stations "
            f"contend, round-trip times are sometimes long. With {SHORT_RTO} instead of "
            f"{cell.MIN_RTO}, {_repeated(short_rto_pifs)} instead of {_repeated(pifs)} segments "
            "are sent again in a run. PIFS access with limits (4, 4) then gives "
            f"{cell.throughput(short_rto_pifs)} instead of {cell.throughput(pifs)} Mb/s. With "
            "backoff of the AP and limits (8, 4) the throughput is "
            f"{cell.throughput(short_rto_contended)} instead of {cell.throughput(contended)} "
            f"Mb/s. The best of several AP limits are then {best_with_short_rto(runs, 'pifs')} "
            f"Mb/s with PIFS access and {best_with_short_rto(runs, 'contended')} Mb/s with backoff"
        ),
        "edca-14": (
            "the AP's limit changes throughput by a fraction of up to "
            f"{values['spread_over_ap_limit_down']} for downloads and "
            f"{values['spread_over_ap_limit_up']} for uploads. Each further TXOP that answers a "
            "station's burst costs PIFS minus SIFS, which is one slot (Eq. 36)"
        ),
    }


def _repeated(run: Run) -> str:
    """Return a text on the number of retransmitted segments of all connections of a run."""
    flows = [run.quantity("flows", name, "retransmissions") for name in run.items("flows")]
    return str(mean_of(flows) * float(len(flows)))


PICTURE = Picture(
    Abscissa("TXOP limit of the AP [packets]", ticks=AP_LIMITS),
    [
        Panel(
            "throughput [Mb/s]",
            SWEEP.at(way=way).lines("limit {station}", "ap", cell.throughput),
            f"PIFS access, {way}loads, by limit of the stations",
            from_zero=False,
        )
        for way in DIRECTIONS
    ],
)

STUDY = Study(
    key="edca-fig09",
    title="Figure 9: PIFS access with TXOP, CWmin 31",
    points={
        **SWEEP.points(),
        "contended": fig07.scenario("fifo", 8, 4),
        **{
            f"hasty-pifs-{ap}": scenario("down", ap, 4, SHORT_RTO_TCP)
            for ap in SHORT_RTO_LIMITS["pifs"]
        },
        **{
            f"hasty-contended-{ap}": fig07.scenario("fifo", ap, 4, SHORT_RTO_TCP)
            for ap in SHORT_RTO_LIMITS["contended"]
        },
    },
    measure=measure,
    regime=cell.lossless,
    shown=shown,
    draw=PICTURE.draw,
    findings=findings,
)
