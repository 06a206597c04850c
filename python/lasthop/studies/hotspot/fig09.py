"""Figure 9: uploads of station 1 and uploads of the other stations (section 5.3.1)."""

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import connections, picture
from lasthop.studies.picture import Panel
from lasthop.studies.study import Quantity, Runs, Study, reading
from lasthop.studies.sweep import Point, points_of

SWEEP = connections("upload", "upload")

PROMPT_CWMIN = 7
"""CWmin with which a station with one upload has almost no queue. [slots]"""


PROMPT = Point(
    "prompt",
    cell.scenario(
        f"6 x upload against upload, CWmin {PROMPT_CWMIN} at the others",
        {"upload": 6},
        {"upload": 1, "cwmin": PROMPT_CWMIN},
    ),
)
AT_ONCE = Point(
    "at once",
    cell.scenario(
        "6 x upload against upload, started at once", {"upload": 6}, {"upload": 1}, stagger="0 s"
    ),
)


_other_queue = reading("stations", "others-1", "queue_packets")
"""Mean occupancy of the buffer of one station other than station 1. [packets]"""


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta, the queue of station 1 with its growth, and the access point's queue."""
    table = {
        "eta_{x}": cell.fairness,
        "queue_{x}": cell.station_queue,
        "ap_queue_{x}": cell.ap_queue,
    }
    return SWEEP.values(runs, table) | cell.queue_shape(SWEEP.read(runs, cell.station_queue))


def findings(runs: Runs) -> dict[str, str]:
    """Return texts on why eta exceeds the prediction, and on the effect of connections that start
    simultaneously.
    """
    six, prompt, at_once = SWEEP.run(runs, x=6), PROMPT.run(runs), AT_ONCE.run(runs)
    return {
        "hotspot-5": (
            "in the model a station with one upload has no queue (Eq. 25). Here its queue has "
            f"{_other_queue(six)} packets, which lengthen its round-trip time and raise eta. With "
            f"CWmin {PROMPT_CWMIN} at those stations, the queue has {_other_queue(prompt)} "
            f"packets, and eta is {cell.fairness(prompt)}"
        ),
        "hotspot-4": (
            "if all connections start simultaneously, some of them starve from the beginning "
            "(critical starvation, a4). The queue of station 1 with six uploads then has "
            f"{cell.station_queue(at_once)} packets. If they start {cell.STAGGER} apart, it has "
            f"{cell.station_queue(six)}"
        ),
    }


PICTURE = picture(
    "uploads of station 1",
    [
        Panel(
            "fairness level η₁₂",
            SWEEP.lines("", "x", cell.fairness),
            "X uploads against 1 upload",
            stated=[(6, 2.0)],
        ),
        Panel(
            "station 1's queue\n[packets]",
            SWEEP.lines("", "x", cell.station_queue),
            stated=[(6, 170.0)],
        ),
        Panel("AP's queue\n[packets]", SWEEP.lines("", "x", cell.ap_queue), stated=[(6, 75.0)]),
    ],
    panel_mm=38.0,
)

STUDY = Study(
    key="hotspot-fig09",
    title="Figure 9: X uploads against one upload of each other station",
    points=points_of(SWEEP, PROMPT, AT_ONCE),
    measure=measure,
    shown=lambda runs: SWEEP.values(runs, cell.STANDING),
    draw=PICTURE.draw,
    findings=findings,
)
