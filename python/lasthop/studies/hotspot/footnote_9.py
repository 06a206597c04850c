"""Footnote 9: figure 8 with a receive window of 6 packets at the other stations."""

from dataclasses import replace

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.shared import STILL_RATE
from lasthop.studies.hotspot.sweeps import picture, windows
from lasthop.studies.picture import Panel
from lasthop.studies.study import Quantity, Runs, Study, about, changed
from lasthop.studies.sweep import Point, points_of

OTHERS = 6
"""Receive window of the stations other than station 1. [packets]"""

SWEEP = windows("download", OTHERS)

WITH_VSB = replace(
    SWEEP,
    name="with-{x}",
    scenario=lambda x: {**SWEEP.scenario(x=x), "vsb": dict(cell.PAPERS_VSB)},
)


LOW_THRESHOLD = "10 ms"
"""Round-trip time of pings above which the estimator lowers the rate C. The default is 40 ms."""


STILL = Point("still", {**SWEEP.scenario(x=42), "vsb": {"rate": STILL_RATE}})
PROMPT = Point(
    "prompt", changed(WITH_VSB.scenario(x=42), vsb={"wce": {"threshold": LOW_THRESHOLD}})
)
AGREED = Point("agreed", cell.by_agreement(WITH_VSB.scenario(x=42)))


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta with and without the bottleneck. [-]"""
    without = SWEEP.values(runs, {"eta_{x}": cell.fairness})
    return without | WITH_VSB.values(runs, {"eta_vsb_{x}": cell.fairness})


def finding(runs: Runs) -> str:
    """Return a text on why the stations with small windows get less than their share."""
    ping = cell.ping(WITH_VSB.run(runs, x=42))
    return (
        f"a window of {OTHERS} packets per round trip is less than a fair share if pings take "
        f"{ping} ms. The estimator allows up to 40 ms. If it allows {LOW_THRESHOLD}, eta is "
        f"{cell.fairness(PROMPT.run(runs))} at a window of 42. At a rate of {STILL_RATE}, at which "
        f"the access point has no queue, eta is {cell.fairness(STILL.run(runs))}. With C by "
        f"agreement it is {cell.fairness(AGREED.run(runs))}"
    )


PICTURE = picture(
    "receive window of station 1, W₁ [packets]",
    [
        Panel(
            "fairness level η₁₂",
            SWEEP.lines("without", "x", cell.fairness, "without")
            + WITH_VSB.lines("with VSB", "x", cell.fairness),
            f"one download each, window W₁ against {OTHERS}",
            levels={"paper: with VSB": 1.0},
        )
    ],
)

STUDY = Study(
    key="hotspot-footnote_9",
    title="Footnote 9: figure 8 with windows of 6 packets at the other stations",
    points=points_of(SWEEP, WITH_VSB, STILL, PROMPT, AGREED),
    measure=measure,
    shown=lambda runs: SWEEP.values(runs, cell.STANDING),
    draw=PICTURE.draw,
    findings=about("hotspot-17", finding),
)
