"""Figure 10: processing time of TCP ACKs at the stations (section 6.4)."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell
from lasthop.studies.study import Quantity, Runs, Study, along

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


DELAYS = (
    *(0, 50, 100, 150, 200, 250, 280, 300, 304, 306, 307, 308, 309, 310, 312, 316, 320, 325),
    *(330, 340, 350, 360, 380, 400, 450, 500, 550, 600, 650, 700, 800, 900, 1000),
)
"""From the last bit of a segment to its ACK at the MAC. [us]"""

EXCHANGE = 308
"""SIFS, MAC ACK and AIFS: from then on an ACK may find the medium idle (duration A). [us]"""

BEFORE, AFTER = 300, 600
"""Delays on both sides of the bump. [us]"""


def curve(runs: Runs) -> list[Quantity]:
    """Return the throughput over the delay. [Mb/s]"""
    return [cell.throughput(runs[f"{delay}us"]) for delay in DELAYS]


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return how far the curve goes from the analysis, and its bump."""
    analysis = curve(runs)[0].predicted
    assert analysis is not None
    down = simulated(curve(runs))

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
    """Return quantities without the predictions, which know of no delay."""
    return [Quantity(quantity.samples) for quantity in quantities]


def findings(runs: Runs) -> dict[str, str]:
    """Return how immediate access makes the bump, and how high it is."""
    values = measure(runs)
    before, at = runs[f"{EXCHANGE - 1}us"], runs[f"{EXCHANGE}us"]
    return {
        "edca-15": (
            f"from {EXCHANGE} us on ACKs that find the medium idle are sent without backoff: "
            f"between {EXCHANGE - 1} and {EXCHANGE} us throughput goes from "
            f"{cell.throughput(before)} to {cell.throughput(at)} Mb/s and active stations from "
            f"{cell.active(before)} to "
            f"{cell.active(at)}. At that edge it is {values['deviation']} above the analysis and "
            f"{values['spread']} above the run without delay; beyond, every slot lets the AP's own "
            "backoff end first more often, and near 700 us nothing is left"
        )
    }


def draw(runs: Runs) -> "Figure":
    """Draw throughput and active stations over the delay."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    active = [cell.active(runs[f"{delay}us"]) for delay in DELAYS]
    return family_figure(
        "processing time of TCP ACKs [µs]",
        [
            FamilyPanel(
                "throughput [Mb/s]",
                [Member("download", DELAYS, curve(runs))],
                from_zero=False,
            ),
            FamilyPanel("active stations", [Member("download", DELAYS, active)]),
        ],
        ticks={0.0: "0", 308.0: "308", 600.0: "600", 800.0: "800", 1000.0: "1000"},
    )


STUDY = Study(
    subject="edca",
    name="fig10",
    title="Figure 10: processing time of TCP ACKs",
    points={
        f"{delay}us": cell.scenario("down", tcp={"ack_processing": f"{delay} us"} if delay else {})
        for delay in DELAYS
    },
    measure=measure,
    draw=draw,
    findings=findings,
    model="edca",
)
