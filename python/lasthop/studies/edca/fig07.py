"""Figure 7: downloads with TXOP limits and CWmin 31 (section 6.2).

In some runs the access point has a FIFO queue, as in real devices. In the others its queue is
served in random order, as in the paper's analysis (section 4).
"""

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import CWMIN, WINDOW
from lasthop.studies.picture import Abscissa, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Read, Run, Runs, Study, about, largest
from lasthop.studies.sweep import Sweep

AP_LIMITS = (1, 2, 4, 8, 16, 28)
"""TXOP limits of the access point. The largest limit is the number of all packets in flight.
[packets]
"""

STATION_LIMITS = (1, 2, 4)
"""TXOP limits of the stations, up to the receive window. [packets]"""

SMALL = (1, 2)
"""TXOP limits of the access point that are considered small. [packets]"""

ORDERS = ("fifo", "mixed")


def scenario(order: str, ap: int, station: int, tcp: cell.Tree | None = None) -> cell.Tree:
    """Return downloads with TXOP limits in packets and a service order of the access point's
    queue.
    """
    return cell.scenario(
        "down",
        ap={"cwmin": CWMIN, "txop_packets": ap, "queue_order": order},
        station={"cwmin": CWMIN, "txop_packets": station},
        tcp=tcp,
    )


SWEEP = Sweep(
    "{order}-{ap}-{station}",
    scenario,
    {"order": ORDERS, "ap": AP_LIMITS, "station": STATION_LIMITS},
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the throughput for every pair of TXOP limits and each service order of the queue."""
    values = SWEEP.values(runs, {"{order}_{ap}_{station}": cell.throughput})
    for order in ORDERS:
        for ap in SMALL:
            gain = values[f"{order}_{ap}_4"] / values[f"{order}_{ap}_1"]
            values[f"{order}_gain_station_at_ap_{ap}"] = gain
    return values | {"best_down": largest(SWEEP.at(order="fifo").read(runs, cell.throughput))}


def finding(runs: Runs) -> str:
    """Return a text on the effect of a FIFO, and on why more stations are active than in the Markov
    chain.
    """
    fifo, mixed, widest = runs["fifo-4-4"], runs["mixed-4-4"], runs["mixed-28-4"]
    return (
        "a FIFO queue keeps the packets that a station sends in one burst together. So a burst of "
        "the AP reaches fewer stations, and each of them answers in one burst. At limits (4, 4) "
        f"the throughput is {cell.throughput(fifo)} Mb/s with {cell.active(fifo)} active stations. "
        f"With a mixed queue it is {cell.throughput(mixed)} Mb/s with {cell.active(mixed)}. The "
        f"chain has {cell.predicted(cell.throughput(mixed))} Mb/s for a mixed queue. For FIFO, "
        f"with runs of packets as super-packets, it has {cell.predicted(cell.throughput(fifo))}. "
        f"At an AP limit of 2, a station limit of 4 instead of 1 gains {_gain(runs, 'fifo')} with "
        f"FIFO and {_gain(runs, 'mixed')} with a mixed queue. The chain counts active stations at "
        "the start of a burst, but stations become active during the burst. At (28, 4) with a "
        f"mixed queue the number over time is {cell.active(widest)}, against "
        f"{cell.predicted(cell.active(widest))}"
    )


def _gain(runs: Runs, order: str) -> str:
    return cell.change(runs[f"{order}-2-4"], runs[f"{order}-2-1"])


def held_together(ap: int, station: int) -> bool:
    """Return whether the packets of a TXOP remain adjacent in a FIFO. If the packets remain
    adjacent, the model is exact for a FIFO.
    """
    return WINDOW % station == 0 and ap % station == 0


def exact(reading: Read) -> Read:
    """Return a function that reads a quantity, and omits the model's value where the model is not
    exact.
    """

    def read(run: Run) -> Quantity:
        ap, station = run.scenario["cell"]["ap"], run.scenario["stations"][0]
        result = reading(run)
        if ap["queue_order"] == "mixed" or held_together(
            ap["txop_packets"], station["txop_packets"]
        ):
            return result
        return Quantity(result.samples)

    return read


def panel(order: str, y_label: str, reading: Read, title: str) -> Panel:
    """Return the panel of a quantity over the access point's TXOP limit, for one service order of
    its queue.
    """
    variant = "mixed" if order == "mixed" else ""
    lines = SWEEP.at(order=order).lines("limit {station}", "ap", exact(reading), variant)
    return Panel(y_label, lines, title, from_zero=reading is cell.active)


PICTURE = Picture(
    Abscissa("TXOP limit of the AP [packets]", evenly(AP_LIMITS), AP_LIMITS),
    [
        panel(
            "fifo",
            "throughput [Mb/s]",
            cell.throughput,
            "FIFO queue, by TXOP limit of the stations",
        ),
        panel("mixed", "throughput [Mb/s]", cell.throughput, "mixed queue"),
        panel("fifo", "active stations", cell.active, "FIFO queue"),
        panel("mixed", "active stations", cell.active, "mixed queue"),
    ],
    panel_mm=44.0,
)

STUDY = Study(
    key="edca-fig07",
    title="Figure 7: TXOP, CWmin 31",
    points=SWEEP.points(),
    measure=measure,
    regime=cell.lossless,
    draw=PICTURE.draw,
    findings=about("edca-12", finding),
)
