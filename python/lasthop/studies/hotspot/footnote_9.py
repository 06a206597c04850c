"""Footnote 9: figure 8 with a receive window of 6 packets at the other stations."""

from dataclasses import replace

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import picture, windows
from lasthop.studies.picture import Panel
from lasthop.studies.study import Quantity, Runs, Study

OTHERS = 6
"""Receive window of the other stations. [packets]"""

SWEEP = windows("download", OTHERS)

WITH = replace(
    SWEEP,
    name="with-{x}",
    scenario=lambda x: {**SWEEP.scenario(x=x), "vsb": dict(cell.PAPERS_VSB)},
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta without the bottleneck and with it. [-]"""
    without = SWEEP.values(runs, {"eta_{x}": cell.fairness})
    return without | WITH.values(runs, {"eta_vsb_{x}": cell.fairness})


PICTURE = picture(
    "receive window of station 1, W₁ [packets]",
    [
        Panel(
            "fairness level η₁₂",
            SWEEP.lines("without", "x", cell.fairness)
            + WITH.lines("with VSB", "x", cell.fairness),
            f"one download each, window W₁ against {OTHERS}",
        )
    ],
)

STUDY = Study(
    key="hotspot-footnote_9",
    title="Footnote 9: figure 8 with windows of 6 packets at the other stations",
    points={**SWEEP.points(), **WITH.points()},
    measure=measure,
    shown=lambda runs: SWEEP.values(runs, cell.STANDING),
    draw=PICTURE.draw,
)
