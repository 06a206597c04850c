"""Figure 9: uploads of station 1 against uploads of the others (section 5.3.1)."""

from typing import TYPE_CHECKING

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import CONNECTIONS, connections, named, read
from lasthop.studies.study import Quantity, Run, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


PROMPT_CWMIN = 7
"""Window with which a station with one upload hardly queues. [slots]"""


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta, the queue of station 1 with its growth, and the access point's queue."""
    queue = read(runs, CONNECTIONS, cell.station_queue)
    return {
        **named("eta", CONNECTIONS, read(runs, CONNECTIONS, cell.fairness)),
        **named("queue", CONNECTIONS, queue),
        **cell.queue_shape(queue),
        **named("ap_queue", CONNECTIONS, read(runs, CONNECTIONS, cell.ap_queue)),
    }


def findings(runs: Runs) -> dict[str, str]:
    """Return why eta is above the model's, and what simultaneous starts do."""
    six, prompt, at_once = runs["6"], runs["prompt"], runs["at once"]
    return {
        "hotspot-5": (
            "the model leaves a station with one upload without a queue (Eq. 25); here it holds "
            f"{_other_queue(six)} packets, which lengthen its round trip and raise eta. With CWmin "
            f"{PROMPT_CWMIN} at those stations they hold {_other_queue(prompt)} and eta is "
            f"{cell.fairness(prompt)}"
        ),
        "hotspot-4": (
            "connections that all start at the same instant do not all get going (critical "
            f"starvation, a4): six uploads of station 1 then leave {cell.station_queue(at_once)} "
            f"packets in its queue, against {cell.station_queue(six)} started {cell.STAGGER} apart"
        ),
    }


def _other_queue(run: Run) -> Quantity:
    return run.quantity("stations", "others-1", "queue_packets")


def draw(runs: Runs) -> "Figure":
    """Draw eta, station 1's queue and the access point's."""
    from lasthop.plot.study import Curve, Panel, Stated, sweep_figure

    def curve(values: list[Quantity]) -> list[Curve]:
        return [Curve(CONNECTIONS, values)]

    eta = curve(read(runs, CONNECTIONS, cell.fairness))
    queue = curve(read(runs, CONNECTIONS, cell.station_queue))
    ap_queue = curve(read(runs, CONNECTIONS, cell.ap_queue))
    heading = "X uploads against 1 upload"
    return sweep_figure(
        "uploads of station 1",
        [
            Panel("fairness level η₁₂", eta, Stated.value([6], [2.0]), heading),
            Panel("station 1's queue\n[packets]", queue, Stated.value([6], [170.0])),
            Panel("AP's queue\n[packets]", ap_queue, Stated.value([6], [75.0])),
        ],
        panel_mm=38.0,
    )


STUDY = Study(
    subject="hotspot",
    name="fig09",
    title="Figure 9: X uploads against one upload of each other station",
    points={
        **connections("upload", "upload"),
        "prompt": cell.scenario(
            f"6 x upload against upload, CWmin {PROMPT_CWMIN} at the others",
            {"upload": 6},
            {"upload": 1, "cwmin": PROMPT_CWMIN},
        ),
        "at once": cell.scenario(
            "6 x upload against upload, started at once",
            {"upload": 6},
            {"upload": 1},
            stagger="0 s",
        ),
    },
    measure=measure,
    draw=draw,
    findings=findings,
)
