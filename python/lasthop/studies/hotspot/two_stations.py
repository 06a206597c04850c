"""Example of the introduction: two stations at 11 Mb/s, with one and two downloads from a
server.
"""

from lasthop.studies.hotspot import cell
from lasthop.studies.study import Quantity, Runs, Study
from lasthop.studies.sweep import Point

POINT = Point(
    "one against two",
    cell.scenario("2 downloads against 1, two stations", {"download": 2}, {"download": 1}, count=1),
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the goodputs of the station with one download and of the station with two. [Mb/s]"""
    run = POINT.run(runs)
    (other,) = cell.others(run)
    return {"goodput_1": cell.goodput(run, other), "goodput_2": cell.goodput(run, "first")}


STUDY = Study(
    key="hotspot-two_stations",
    title="Introduction: one and two downloads at two stations",
    points=POINT.points(),
    measure=measure,
)
