"""Figure 6: downloads of station 1 against downloads of the others (section 5.2.1)."""

from typing import TYPE_CHECKING

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import CONNECTIONS, connections, named, read
from lasthop.studies.study import Quantity, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta."""
    return named("eta", CONNECTIONS, read(runs, CONNECTIONS, cell.fairness))


def draw(runs: Runs) -> "Figure":
    """Draw eta."""
    from lasthop.plot.study import Curve, Panel, Stated, sweep_figure

    eta = Curve(CONNECTIONS, read(runs, CONNECTIONS, cell.fairness))
    stated = Stated.value(CONNECTIONS, CONNECTIONS)
    panel = Panel("fairness level η₁₂", [eta], stated, "X downloads against 1 download")
    return sweep_figure("downloads of station 1", [panel])


STUDY = Study(
    subject="hotspot",
    name="fig06",
    title="Figure 6: X downloads against one download of each other station",
    points=connections("download", "download"),
    measure=measure,
    draw=draw,
)
