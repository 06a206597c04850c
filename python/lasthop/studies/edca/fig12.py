"""Figure 12: downloads over a wire with delay and loss (section 6.5)."""

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.edca import cell
from lasthop.studies.edca.fig05 import SHORT_RTO
from lasthop.studies.picture import Abscissa, Line, Panel, Picture
from lasthop.studies.study import Figure, Quantity, Runs, Study, about, along
from lasthop.studies.sweep import Sweep

DELAYS = (0, 10, 20, 30, 40, 50, 60, 80, 100, 125, 150, 200)
"""Round-trip times of the wire, the paper's "wireline delay". [ms]"""

LOSSES = (1, 10, 50)
"""Loss probabilities of segments on the wire. [per mille]"""

WINDOWS = (4, 12)
"""Receive windows of the TCP connections. [packets]"""

FLAT = 20
"""Round-trip time of the wire at which every curve is still flat. [ms]"""

LATE = {4: 100, 12: 200}
"""Round-trip time of the wire at which the decreased throughput is measured, by receive window.
[ms]
"""

KNEE = 0.95
"""Throughput at the end of the flat part of a curve, as a fraction of the throughput without delay.
[-]
"""


ENDINGS = {"": cell.MIN_RTO, "-short-rto": SHORT_RTO}
"""Minimum RTO, by the suffix of a point's name."""


def scenario(window: int, loss: int, delay: int, ending: str) -> cell.Tree:
    """Return downloads over a wire with a loss probability [per mille] and a round-trip time
    [ms].
    """
    return cell.scenario(
        "down",
        tcp={"window": window, "min_rto": ENDINGS[ending]},
        wire={"delay": f"{delay / 2:g} ms", "loss": loss / 1000},
    )


SWEEP = Sweep(
    "w{window}-loss{loss}-{delay}ms{ending}",
    scenario,
    {"window": WINDOWS, "loss": LOSSES, "delay": DELAYS, "ending": tuple(ENDINGS)},
    words={loss: f"{loss / 10:g} %" for loss in LOSSES},
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the throughput without delay, in the flat part and at long delays, and the end of the
    flat part.
    """
    values: dict[str, Quantity] = {}
    for window in WINDOWS:
        for loss in LOSSES:
            curve = SWEEP.at(window=window, loss=loss, ending="")
            down = curve.read(runs, cell.throughput)
            case = f"w{window}_loss_{loss}"
            values[f"start_{case}"], values[f"end_{case}"] = down[0], down[-1]
            values[f"flat_{case}"] = down[DELAYS.index(FLAT)] / down[0]
            values[f"retained_{case}"] = down[DELAYS.index(LATE[window])] / down[0]
            values[f"knee_delay_{case}"] = along(knee, down)
    return values


def knee(throughput: NDArray[np.float64]) -> float:
    """Return the delay at which a curve falls to `KNEE`, or the last delay if it does not fall that
    far. [ms]
    """
    relative = throughput / throughput[0]
    below = np.flatnonzero(relative < KNEE)
    if not len(below):
        return float(DELAYS[-1])
    k = below[0]
    part = (relative[k - 1] - KNEE) / (relative[k - 1] - relative[k])
    return float(DELAYS[k - 1] + part * (DELAYS[k] - DELAYS[k - 1]))


def finding(runs: Runs) -> str:
    """Return a text on the effect of the minimum RTO, which the paper does not state."""
    start = SWEEP.at(loss=LOSSES[-1], delay=0)
    levels = [start.at(window=window).read(runs, cell.throughput) for window in WINDOWS]
    each = "; ".join(
        f"with window {window} it is {long} Mb/s at {cell.MIN_RTO} and {short} at {SHORT_RTO}"
        for window, (long, short) in zip(WINDOWS, levels, strict=True)
    )
    return (
        "the minimum RTO, which the paper does not give, decides the throughput at "
        f"{LOSSES[-1] / 10:g} % loss without delay: {each}"
    )


def lines(window: int) -> list[Line]:
    """Return throughput over delay, with one line for each loss probability and minimum RTO."""
    mine = SWEEP.at(window=window)
    return [
        line
        for ending, variant in zip(ENDINGS, ("", f"RTO from {SHORT_RTO}"), strict=True)
        for line in mine.at(ending=ending).lines("loss {loss}", "delay", cell.throughput, variant)
    ]


def draw(runs: Runs) -> Figure:
    """Draw throughput over delay for each loss probability, with one panel per window."""
    analysis = runs["analysis"].prediction["cells"]["cell"]["goodput_bps"] / 1e6
    panels = [
        Panel(
            "throughput [Mb/s]",
            lines(window),
            f"window {window} (filled points: minimum RTO {cell.MIN_RTO})",
            levels={"model without loss or delay": analysis},
        )
        for window in WINDOWS
    ]
    return Picture(Abscissa("round-trip time of the wire [ms]"), panels, panel_mm=56.0).draw(runs)


STUDY = Study(
    key="edca-fig12",
    title="Figure 12: delay and loss of the wire",
    points={"analysis": cell.scenario("down"), **SWEEP.points()},
    measure=measure,
    regime=cell.lossless,
    draw=draw,
    findings=about("edca-16", finding),
    model="edca",
)
