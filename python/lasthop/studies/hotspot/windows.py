"""Figures 8 and 11: the receive window of station 1 against 42 packets of the others."""

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import WINDOWS, picture, windows
from lasthop.studies.picture import Panel
from lasthop.studies.study import Study

STATED = {
    "upload": [(w, w / cell.WINDOW) for w in WINDOWS],
    "download": [(w, 1.0) for w in WINDOWS if w > 24],
}
"""Fairness levels that the paper states, by direction. [-]"""


def study(number: int, direction: str) -> Study:
    """Return the study of one direction, ``upload`` or ``download``."""
    sweep = windows(direction)
    panel = Panel(
        "fairness level η₁₂",
        sweep.lines("", "x", cell.fairness),
        f"one {direction} each, window W₁ against {cell.WINDOW}",
        stated=STATED[direction],
    )
    return Study(
        key=f"hotspot-fig{number:02d}",
        title=f"Figure {number}: {direction}s, receive window of station 1 from 6 to 42 packets",
        points=sweep.points(),
        measure=lambda runs: sweep.values(runs, {"eta_{x}": cell.fairness}),
        shown=lambda runs: sweep.values(runs, cell.STANDING),
        draw=picture("receive window of station 1, W₁ [packets]", [panel]).draw,
    )


FIG08 = study(8, "download")
FIG11 = study(11, "upload")
