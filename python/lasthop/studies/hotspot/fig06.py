"""Figure 6: downloads of station 1 and downloads of the other stations (section 5.2.1)."""

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import CONNECTIONS, connections, picture
from lasthop.studies.picture import Panel
from lasthop.studies.study import Study

SWEEP = connections("download", "download")


PICTURE = picture(
    "downloads of station 1",
    [
        Panel(
            "fairness level η₁₂",
            SWEEP.lines("", "x", cell.fairness),
            "X downloads against 1 download",
            stated=[(x, float(x)) for x in CONNECTIONS],
        )
    ],
)

STUDY = Study(
    key="hotspot-fig06",
    title="Figure 6: X downloads against one download of each other station",
    points=SWEEP.points(),
    measure=lambda runs: SWEEP.values(runs, {"eta_{x}": cell.fairness}),
    shown=lambda runs: SWEEP.values(runs, cell.STANDING),
    draw=PICTURE.draw,
)
