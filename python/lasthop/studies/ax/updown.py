"""Unfairness between uploads and downloads (papers 000 and 002), over the numbers of uploads and
downloads and over the buffer.
"""

from typing import Any

from lasthop.studies.ax import cell
from lasthop.studies.picture import Abscissa, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Runs, Study, about, listed
from lasthop.studies.sweep import Sweep

MIXES = {"1_1": (1, 1), "1_4": (1, 4), "4_1": (4, 1), "4_4": (4, 4)}
"""Numbers of stations with an upload and of stations with a download, by the name of the mix."""

WORDS = {mix: f"{up} up, {down} down" for mix, (up, down) in MIXES.items()}

ROOMS = (100, 300, 1000, 3000)
"""Limits of the FIFO. [packets]"""

QUEUES: tuple[int | str, ...] = (*ROOMS, "linux")

SHORT = {"aggregation": {"time": "0.5 ms"}}


def scenario(phy: str, mix: str, queue: Any, own: Any = None, **more: Any) -> dict[str, Any]:
    """Return a cell whose stations each have one upload or one download."""
    up, down = MIXES[mix]
    uploads = {"count": up, "upload": 1, **({"queue": own} if own else {})}
    return cell.scenario(
        f"{WORDS[mix]}, {queue}",
        phy,
        {"up": uploads, "down": {"count": down, "download": 1}},
        queue=cell.LINUX if queue == "linux" else queue,
        **more,
    )


SWEEP = Sweep(
    "{phy}-{mix}-{queue}",
    scenario,
    {"phy": cell.BOTH, "mix": tuple(MIXES), "queue": QUEUES},
    words={**WORDS, **cell.PHY_WORDS},
)


evenness = cell.goodput("down") / cell.goodput("up")
"""Ratio of the goodput of a download to that of an upload: 1 is fair, 0 is starvation. [-]"""


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the goodput ratio for all mixes and queues, and the goodput with four uploads and four
    downloads.
    """
    evens = SWEEP.values(runs, {"even_{phy}_{mix}_{queue}": evenness})
    totals = SWEEP.at(mix="4_4").values(runs, {"total_{phy}_{queue}": cell.total})
    room = {f"even_{phy}_room": evenness(runs[f"{phy}-room"]) for phy in cell.BOTH}
    return evens | totals | room


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return the drop probability of the FIFO, and the goodput ratio with aggregates of 0.5 ms."""
    fifos = SWEEP.at(mix="4_4", queue=ROOMS).values(runs, {"loss_{phy}_{queue}": cell.loss})
    short = {f"even_{phy}_short": evenness(runs[f"{phy}-short"]) for phy in cell.BOTH}
    return fifos | short


def finding(runs: Runs) -> str:
    """Return a text on the effects of aggregates and of the stations' queues."""
    first = cell.BOTH[0]
    four = SWEEP.at(phy=first, mix="4_4")
    losses = listed(four.at(queue=ROOMS).read(runs, cell.loss))
    short, full = (evenness(runs[f"{first}-{each}"]) for each in ("short", "4_4-300"))
    item, room = (evenness(runs[f"{first}-{name}"]) for name in ("1_1-3000", "room"))
    return (
        f"with four uploads against four downloads, the FIFO of {', '.join(map(str, ROOMS))} "
        f"packets drops {losses} of the packets: segments of downloads, but ACKs of uploads. With "
        f"a FIFO of 300 packets the goodput of a download is {full} of that of an upload, and "
        f"{short} with aggregates of 0.5 ms. Each aggregate of an upload is answered by a burst of "
        "as many ACKs. A FIFO that is not much larger cannot hold these ACKs together with "
        "segments. With one upload against one download and a FIFO of 3000 packets, the ratio is "
        f"{item}, since the upload waits and loses packets in its station's own queue of 1000. If "
        f"that queue has 3000 packets too, the ratio is {room}"
    )


PICTURE = Picture(
    Abscissa(
        "size of the FIFO [packets], Linux queue",
        places=evenly(QUEUES),
        ticks={queue: str(queue) if queue != "linux" else "Linux" for queue in QUEUES},
        offset=0.12,
    ),
    [
        Panel(
            "ratio of goodputs [-]",
            SWEEP.at(phy=phy).lines("{mix}", "queue", evenness),
            f"a download over an upload, {cell.PHY_WORDS[phy]}",
            levels={"even": 1.0},
            log_from=1e-4,
        )
        for phy in cell.BOTH
    ],
)

STUDY = Study(
    key="ax-updown",
    title="Uploads against downloads",
    points={
        **SWEEP.points(),
        **{f"{phy}-short": scenario(phy, "4_4", 300, cell=SHORT) for phy in cell.BOTH},
        **{f"{phy}-room": scenario(phy, "1_1", 3000, own=3000) for phy in cell.BOTH},
    },
    measure=measure,
    shown=shown,
    findings=about("ax-1", finding),
    draw=PICTURE.draw,
)
