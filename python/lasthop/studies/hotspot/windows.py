"""Figures 8 and 11: the receive window of station 1 against 42 packets of the others."""

from typing import TYPE_CHECKING

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import WINDOWS, named, read, windows
from lasthop.studies.study import Quantity, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


def _measure(runs: Runs) -> dict[str, Quantity]:
    return named("eta", WINDOWS, read(runs, WINDOWS, cell.fairness))


def study(name: str, number: int, direction: str) -> Study:
    """Return the study of one direction, ``upload`` or ``download``."""

    def draw(runs: Runs) -> "Figure":
        from lasthop.plot.study import Curve, Panel, Stated, sweep_figure

        eta = Curve(WINDOWS, read(runs, WINDOWS, cell.fairness))
        if direction == "upload":
            stated = Stated.value(WINDOWS, [w / cell.WINDOW for w in WINDOWS])
        else:
            large = [w for w in WINDOWS if w > 24]
            stated = Stated.value(large, [1.0] * len(large))
        heading = f"one {direction} each, window W₁ against {cell.WINDOW}"
        panel = Panel("fairness level η₁₂", [eta], stated, heading)
        return sweep_figure("receive window of station 1, W₁ [packets]", [panel])

    return Study(
        subject="hotspot",
        name=name,
        title=f"Figure {number}: {direction}s, receive window of station 1 from 6 to 42 packets",
        points=windows(direction),
        measure=_measure,
        draw=draw,
    )


FIG08 = study("fig08", 8, "download")
FIG11 = study("fig11", 11, "upload")
