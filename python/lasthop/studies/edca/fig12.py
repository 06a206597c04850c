"""Figure 12: downloads over a wire with delay and loss (section 6.5)."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell
from lasthop.studies.edca.fig05 import SHORT_RTO
from lasthop.studies.study import Quantity, Run, Runs, Study, along

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


DELAYS = (0, 10, 20, 30, 40, 50, 60, 80, 100, 125, 150, 200)
"""Round-trip times of the wire, the paper's "wireline delay". [ms]"""

LOSSES = (1, 10, 50)
"""Loss of segments on the wire. [per mille]"""

WINDOWS = (4, 12)
"""Receive windows. [packets]"""

FLAT = 20
"""Round-trip time of the wire within the flat part of every curve. [ms]"""

LATE = {4: 100, 12: 200}
"""Round-trip time at which what is left of the throughput is read, by window. [ms]"""

KNEE = 0.95
"""Part of the throughput without delay at which the flat part ends. [-]"""


def point(window: int, loss: int, delay: int, ending: str = "") -> str:
    """Return the name of a point, such as ``w4-loss10-50ms``."""
    return f"w{window}-loss{loss}-{delay}ms{ending}"


def scenario(window: int, loss: int, delay: int, min_rto: str) -> cell.Tree:
    """Return downloads over a wire of so much loss [per mille] and round-trip time [ms]."""
    return cell.scenario(
        "down",
        tcp={"window": window, "min_rto": min_rto},
        wire={"delay": f"{delay / 2:g} ms", "loss": loss / 1000},
    )


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return start, flat part, end and knee of every curve."""
    values: dict[str, Quantity] = {}
    for window in WINDOWS:
        for loss in LOSSES:
            down = curve(runs, window, loss)
            case = f"w{window}_loss_{loss}"
            values[f"start_{case}"], values[f"end_{case}"] = down[0], down[-1]
            values[f"flat_{case}"] = down[DELAYS.index(FLAT)] / down[0]
            values[f"retained_{case}"] = down[DELAYS.index(LATE[window])] / down[0]
            values[f"knee_delay_{case}"] = along(knee, down)
    return values


def curve(runs: Runs, window: int, loss: int, ending: str = "") -> list[Quantity]:
    """Return the throughput over the delay. [Mb/s]"""
    return [cell.throughput(runs[point(window, loss, delay, ending)]) for delay in DELAYS]


def knee(throughput: NDArray[np.float64]) -> float:
    """Return the delay at which a curve has fallen to `KNEE`, the last if it never does. [ms]"""
    relative = throughput / throughput[0]
    below = np.flatnonzero(relative < KNEE)
    if not len(below):
        return float(DELAYS[-1])
    k = below[0]
    part = (relative[k - 1] - KNEE) / (relative[k - 1] - relative[k])
    return float(DELAYS[k - 1] + part * (DELAYS[k] - DELAYS[k - 1]))


def findings(runs: Runs) -> dict[str, str]:
    """Return what the minimum timeout does, which the paper does not give."""

    def started(window: int, ending: str = "") -> Run:
        return runs[point(window, 50, 0, ending)]

    return {
        "edca-16": (
            f"the minimum RTO, which the paper does not give, decides the level at 5 % loss: "
            f"without delay {cell.throughput(started(4))} Mb/s at {cell.MIN_RTO} and "
            f"{cell.throughput(started(4, '-short-rto'))} at {SHORT_RTO} with window 4, "
            f"{cell.throughput(started(12))} and {cell.throughput(started(12, '-short-rto'))} "
            "with window 12"
        )
    }


def draw(runs: Runs) -> "Figure":
    """Draw throughput over delay for each loss, a panel a window."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    analysis = runs["analysis"].prediction["cells"]["cell"]["goodput_bps"] / 1e6

    def members(window: int) -> list[Member]:
        long = [Member(f"loss {p / 10:g} %", DELAYS, curve(runs, window, p)) for p in LOSSES]
        short = [
            Member(
                f"loss {p / 10:g} %",
                DELAYS,
                curve(runs, window, p, "-short-rto"),
                f"RTO from {SHORT_RTO}",
            )
            for p in LOSSES
        ]
        return long + short

    return family_figure(
        "round-trip time of the wire [ms]",
        [
            FamilyPanel(
                "throughput [Mb/s]",
                members(window),
                f"window {window} (filled points: minimum RTO {cell.MIN_RTO})",
                levels={"model without either": analysis},
            )
            for window in WINDOWS
        ],
        panel_mm=56.0,
    )


STUDY = Study(
    subject="edca",
    name="fig12",
    title="Figure 12: delay and loss of the wire",
    points={
        "analysis": cell.scenario("down"),
        **{
            point(window, loss, delay, ending): scenario(window, loss, delay, min_rto)
            for window in WINDOWS
            for loss in LOSSES
            for delay in DELAYS
            for ending, min_rto in (("", cell.MIN_RTO), ("-short-rto", SHORT_RTO))
        },
    },
    measure=measure,
    draw=draw,
    findings=findings,
    model="edca",
)
