"""Figure 10: processing time of TCP ACKs at the stations (section 6.4)."""

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell
from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Runs, Study, about, along
from lasthop.studies.sweep import Sweep

DELAYS = (
    *(0, 50, 100, 150, 200, 250, 280, 300, 304, 306, 307, 308, 309, 310, 312, 316, 320, 325),
    *(330, 340, 350, 360, 380, 400, 450, 500, 550, 600, 650, 700, 800, 900, 1000),
)
"""Processing times of a TCP ACK: from the reception of a segment's last bit until the ACK is at the
MAC. [us]
"""

EXCHANGE = 308
"""Duration of SIFS, MAC ACK and AIFS. A TCP ACK with at least this processing time may find the
medium idle. Such a TCP ACK is sent without backoff. [us]
"""

BEFORE, AFTER = 300, 600
"""Two processing times: one below and one above the processing time with the largest throughput.
[us]
"""


GONE = 800
"""Long processing time at which the finding reports how much the throughput has decreased again.
[us]
"""

SWEEP = Sweep(
    "{delay}us",
    lambda delay: cell.scenario("down", tcp={"ack_processing": f"{delay} us"} if delay else {}),
    {"delay": DELAYS},
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the largest deviation of the throughput from the analysis, and the throughput before,
    at and after its maximum.
    """
    curve = SWEEP.read(runs, cell.throughput)
    analysis = curve[0].predicted
    assert analysis is not None
    down = simulated(curve)

    def deviation(throughput: NDArray[np.float64]) -> float:
        return float(np.max(np.abs(throughput / analysis - 1.0)))

    return {
        "deviation": along(deviation, down),
        "spread": along(lambda values: float(np.max(np.abs(values / values[0] - 1.0))), down),
        "before_bump": down[DELAYS.index(BEFORE)],
        "bump": down[DELAYS.index(EXCHANGE)],
        "after_bump": down[DELAYS.index(AFTER)],
        "bump_delay": along(lambda values: float(DELAYS[int(np.argmax(values))]), down),
    }


def simulated(quantities: list[Quantity]) -> list[Quantity]:
    """Return quantities without their predictions, because the model ignores the processing
    time.
    """
    return [Quantity(quantity.samples) for quantity in quantities]


def finding(runs: Runs) -> str:
    """Return a text on the cause and the height of the throughput's maximum."""
    values = measure(runs)
    before, at, gone, none = (runs[f"{us}us"] for us in (EXCHANGE - 1, EXCHANGE, GONE, 0))
    return (
        f"from {EXCHANGE} us on, ACKs that find the medium idle are sent without backoff. Between "
        f"{EXCHANGE - 1} and {EXCHANGE} us the throughput rises from {cell.throughput(before)} to "
        f"{cell.throughput(at)} Mb/s, while the number of active stations changes from "
        f"{cell.active(before)} to {cell.active(at)}. At that edge the throughput is above the "
        f"analysis by a fraction of {values['deviation']}, and above the run without delay by "
        f"{values['spread']}. With longer delays, each slot lets the AP's own backoff end first "
        f"more often. At {GONE} us the throughput is {cell.throughput(gone)} Mb/s, and without "
        f"delay {cell.throughput(none)}"
    )


PICTURE = Picture(
    Abscissa("processing time of TCP ACKs [µs]", ticks=(0, EXCHANGE, 600, 800, 1000)),
    [
        Panel(
            "throughput [Mb/s]",
            SWEEP.lines("download", "delay", cell.throughput),
            from_zero=False,
        ),
        Panel("active stations", SWEEP.lines("download", "delay", cell.active)),
    ],
)

STUDY = Study(
    key="edca-fig10",
    title="Figure 10: processing time of TCP ACKs",
    points=SWEEP.points(),
    measure=measure,
    regime=cell.lossless,
    draw=PICTURE.draw,
    findings=about("edca-15", finding),
    model="edca",
)
