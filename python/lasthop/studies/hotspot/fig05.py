"""Figure 5: uploads of station 1 against downloads of the others.

Fairness level over the number of uploads, and the uplink buffer that fills from three uploads on
(section 5.1).
"""

from typing import TYPE_CHECKING

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import CONNECTIONS, LOSSLESS_QUEUE, connections, named, read
from lasthop.studies.study import Quantity, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


UP, DOWN = "first/up/1", "others-1/down/1"


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta, its gain at either end of the sweep, and station 1's queue with its growth."""
    eta = named("eta", CONNECTIONS, read(runs, CONNECTIONS, cell.fairness))
    queue = read(runs, CONNECTIONS, cell.station_queue)
    return {
        **eta,
        "rise_1_3": eta["eta_3"] - eta["eta_1"],
        "rise_4_6": eta["eta_6"] - eta["eta_4"],
        **named("queue", CONNECTIONS, queue),
        **cell.queue_shape(queue),
    }


def findings(runs: Runs) -> dict[str, str]:
    """Return why one upload gets more than the model says."""
    one, lossless = runs["1"], runs["lossless"]
    up, down = (cell.rtt(one, flow) for flow in (UP, DOWN))
    return {
        "hotspot-3": (
            f"losses make windows and AP queue swing together ({cell.ap_queue(one)} of 75 packets "
            "on average; the paper's a5 keeps it full), and a download sends most when the queue "
            f"is long: its round trip is {down} s, the upload's {up} s. Without that difference "
            f"eta would be {cell.fairness(one) * up / down} at one upload. Where nothing is lost "
            f"(AP buffer {LOSSLESS_QUEUE}) the round trips are {cell.rtt(lossless, DOWN)} and "
            f"{cell.rtt(lossless, UP)} s, and eta is {cell.fairness(lossless)}, the windows' ratio"
        )
    }


def draw(runs: Runs) -> "Figure":
    """Draw eta over station 1's queue."""
    from lasthop.plot.study import Curve, Panel, Stated, sweep_figure

    eta = Curve(CONNECTIONS, read(runs, CONNECTIONS, cell.fairness))
    queue = Curve(CONNECTIONS, read(runs, CONNECTIONS, cell.station_queue))
    return sweep_figure(
        "uploads of station 1",
        [
            Panel(
                "fairness level η₁₂",
                [eta],
                Stated([1], [2.0], [3.0]),
                "X uploads against 1 download",
                at_most=16.0,
            ),
            Panel("station 1's queue\n[packets]", [queue]),
        ],
    )


STUDY = Study(
    subject="hotspot",
    name="fig05",
    title="Figure 5: X uploads against one download of each other station",
    points={
        **connections("upload", "download"),
        "lossless": cell.scenario(
            f"1 x upload against download, AP buffer {LOSSLESS_QUEUE}",
            {"upload": 1},
            {"download": 1},
            ap_queue=LOSSLESS_QUEUE,
        ),
    },
    measure=measure,
    draw=draw,
    findings=findings,
)
