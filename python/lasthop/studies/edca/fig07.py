"""Figure 7: downloads with TXOP, CWmin 31 (section 6.2).

Runs are made for a FIFO queue at the access point, as real ones are, and for the randomly mixed
queue of the paper's analysis (section 4).
"""

from typing import TYPE_CHECKING

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import CWMIN, WINDOW
from lasthop.studies.study import Quantity, Run, Runs, Study, largest

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


AP_LIMITS = (1, 2, 4, 8, 16, 28)
"""TXOP limits of the access point, up to all packets that there are. [packets]"""

STATION_LIMITS = (1, 2, 4)
"""TXOP limits of the stations, up to the receive window. [packets]"""

ORDERS = ("fifo", "mixed")


def scenario(order: str, ap: int, station: int, tcp: cell.Tree | None = None) -> cell.Tree:
    """Return downloads with TXOP limits [packets] and an order of the access point's queue."""
    return cell.scenario(
        "down",
        ap={"cwmin": CWMIN, "txop_packets": ap, "queue_order": order},
        station={"cwmin": CWMIN, "txop_packets": station},
        tcp=tcp,
    )


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the throughput of every pair of limits, by order of the queue."""
    values: dict[str, Quantity] = {}
    for order in ORDERS:
        for ap in AP_LIMITS:
            for station in STATION_LIMITS:
                run = runs[f"{order}-{ap}-{station}"]
                values[f"{order}_{ap}_{station}"] = cell.throughput(run)
        values[f"{order}_gain_station_at_ap_1"] = values[f"{order}_1_4"] / values[f"{order}_1_1"]
    values["best_down"] = largest(
        [values[f"fifo_{a}_{s}"] for a in AP_LIMITS for s in STATION_LIMITS]
    )
    return values


def findings(runs: Runs) -> dict[str, str]:
    """Return what a FIFO queue does, and why more stations are active than in the chain."""
    fifo, mixed, widest = runs["fifo-4-4"], runs["mixed-4-4"], runs["mixed-28-4"]
    return {
        "edca-12": (
            "what a station sends in one burst comes back as a run of packets in a FIFO queue, so "
            "that a burst of the AP reaches fewer stations, and each of them answers in one "
            f"burst: at limits (4, 4) {cell.throughput(fifo)} Mb/s and {cell.active(fifo)} active "
            f"stations, with a mixed queue {cell.throughput(mixed)} and {cell.active(mixed)}. The "
            f"chain has {cell.predicted(cell.throughput(mixed))} Mb/s for a mixed queue and, with "
            f"runs as super-packets, {cell.predicted(cell.throughput(fifo))} for FIFO. At limit 2 "
            f"of the AP the stations' limit 4 over 1 gains {_gain(runs, 'fifo')} with FIFO, "
            f"{_gain(runs, 'mixed')} mixed. The chain counts active stations as a burst begins; "
            f"in time, stations become active during it: {cell.active(widest)} at (28, 4), mixed, "
            f"against {cell.predicted(cell.active(widest))}"
        )
    }


def _gain(runs: Runs, order: str) -> str:
    return cell.change(runs[f"{order}-2-4"], runs[f"{order}-2-1"])


def held_together(ap: int, station: int) -> bool:
    """Tell whether bursts stay whole in a FIFO queue, so that the model is exact for it."""
    return WINDOW % station == 0 and ap % station == 0


def draw(runs: Runs) -> "Figure":
    """Draw throughput and active stations over the access point's limit."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    places = [float(k) for k in range(len(AP_LIMITS))]

    def read(order: str, ap: int, station: int, active: bool) -> Quantity:
        run: Run = runs[f"{order}-{ap}-{station}"]
        quantity = cell.active(run) if active else cell.throughput(run)
        if order == "fifo" and not held_together(ap, station):
            return Quantity(quantity.samples)
        return quantity

    def members(active: bool, *orders: str) -> list[Member]:
        return [
            Member(
                f"limit {station}",
                places,
                [read(order, ap, station, active) for ap in AP_LIMITS],
                "mixed" if order == "mixed" else "",
            )
            for order in orders
            for station in STATION_LIMITS
        ]

    return family_figure(
        "TXOP limit of the AP [packets]",
        [
            FamilyPanel(
                "throughput [Mb/s]",
                members(False, "fifo"),
                "FIFO queue, by TXOP limit of the stations",
                from_zero=False,
            ),
            FamilyPanel(
                "throughput [Mb/s]", members(False, "mixed"), "mixed queue", from_zero=False
            ),
            FamilyPanel("active stations", members(True, "fifo"), "FIFO queue"),
            FamilyPanel("active stations", members(True, "mixed"), "mixed queue"),
        ],
        ticks=dict(zip(places, map(str, AP_LIMITS), strict=True)),
        panel_mm=44.0,
    )


STUDY = Study(
    subject="edca",
    name="fig07",
    title="Figure 7: TXOP, CWmin 31",
    points={
        f"{order}-{ap}-{station}": scenario(order, ap, station)
        for order in ORDERS
        for ap in AP_LIMITS
        for station in STATION_LIMITS
    },
    measure=measure,
    draw=draw,
    findings=findings,
)
