"""Figure 5: uploads of station 1 and downloads of the other stations.

The figure shows the fairness level over the number of uploads. The figure also shows the uplink
buffer, which fills from three uploads on (section 5.1).
"""

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import LOSSLESS_QUEUE, connections, picture
from lasthop.studies.picture import Panel
from lasthop.studies.study import Quantity, Runs, Study
from lasthop.studies.sweep import Sweep

SWEEP = connections("upload", "download")

SMALLER = (20, 30, 36)
"""Receive windows for which the packets of two uploads are below the bound of Eq. (5). [packets]"""

SMALLER_SWEEP = Sweep(
    "window {window}",
    lambda window: cell.scenario(
        f"2 x upload of window {window} against download",
        {"upload": 2, "tcp": {"window": window}},
        {"download": 1},
    ),
    {"window": SMALLER},
)

BETA_B = 1.2 * cell.AP_QUEUE
"""Bound of Eq. (5): beta times the buffer of the access point. [packets]"""

UP, DOWN = "first/up/1", "others-1/down/1"


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta, its growth at small and large numbers of uploads, and station 1's queue with its
    growth.
    """
    values = SWEEP.values(runs, {"eta_{x}": cell.fairness, "queue_{x}": cell.station_queue})
    one_upload, three, four, six = SWEEP.at(x=(1, 3, 4, 6)).read(runs, cell.fairness)
    return {
        **values,
        "rise_1_3": three - one_upload,
        "rise_4_6": six - four,
        **cell.queue_shape(SWEEP.read(runs, cell.station_queue)),
    }


def findings(runs: Runs) -> dict[str, str]:
    """Return texts on why a station with one upload gets more goodput than the model predicts."""
    first, lossless = SWEEP.run(runs, x=1), cell.lossless_run(runs)
    up, down = (cell.rtt(first, flow) for flow in (UP, DOWN))
    return {
        "hotspot-3": (
            "losses make the windows and the AP queue oscillate together. The queue has "
            f"{cell.ap_queue(first)} of {cell.AP_QUEUE} packets on average, while the paper's "
            "assumption a5 keeps it full. A download sends most when the queue is long, so its "
            f"round-trip time is {down} s, and the upload's is {up} s. Without that difference "
            f"eta would be {cell.fairness(first) * up / down} at one upload. Without losses (AP "
            f"buffer {LOSSLESS_QUEUE}) the round-trip times are {cell.rtt(lossless, DOWN)} and "
            f"{cell.rtt(lossless, UP)} s, and eta is {cell.fairness(lossless)}, the ratio of the "
            "windows"
        ),
        "hotspot-4": (
            "Eq. (5), a balance of means, begins to fill the buffer when the windows exceed beta "
            f"B, which is {BETA_B:g} packets. But packets wait by chance long before that. Two "
            f"uploads with {2 * cell.WINDOW} packets in all have a queue of "
            f"{cell.station_queue(SWEEP.run(runs, x=2))} packets. With smaller windows the queue "
            "is "
            + ", ".join(
                f"{queue} (window {window})"
                for window, queue in zip(
                    SMALLER, SMALLER_SWEEP.read(runs, cell.station_queue), strict=True
                )
            )
        ),
    }


PICTURE = picture(
    "uploads of station 1",
    [
        Panel(
            "fairness level η₁₂",
            SWEEP.lines("", "x", cell.fairness),
            "X uploads against 1 download",
            stated=[(1, 2.0, 3.0)],
            levels={"paper: at most": 16.0},
        ),
        Panel("station 1's queue\n[packets]", SWEEP.lines("", "x", cell.station_queue)),
    ],
)

STUDY = Study(
    key="hotspot-fig05",
    title="Figure 5: X uploads against one download of each other station",
    points={
        **SWEEP.points(),
        "lossless": cell.scenario(
            f"1 x upload against download, AP buffer {LOSSLESS_QUEUE}",
            {"upload": 1},
            {"download": 1},
            ap_queue=LOSSLESS_QUEUE,
        ),
        **SMALLER_SWEEP.points(),
    },
    measure=measure,
    regime=cell.lossless,
    shown=lambda runs: SWEEP.values(runs, cell.STANDING),
    draw=PICTURE.draw,
    findings=findings,
)
