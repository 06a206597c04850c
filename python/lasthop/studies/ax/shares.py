"""Shared buffers: virtual buffer sharing (paper 000) in a cell with aggregation.

There are two classes with equal shares: two stations with four downloads each, and two stations
with one download each.
"""

from collections.abc import Callable
from typing import Any

from lasthop.studies.ax import cell
from lasthop.studies.picture import Abscissa, Line, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Runs, Study, about, listed
from lasthop.studies.sweep import Sweep, points_of

LAWS = ("plain", "vbs", "regulated")
WORDS = {"plain": "drop-tail", "vbs": "Algorithm 1", "regulated": "regulator"}

ROOMS = (300, 1000, 3000)
"""Limits of the FIFO. [packets]"""

DELAYS = (0.5, 5.0, 20.0)
"""Propagation times of the wire, one way. [ms]"""

OCCUPANCY = 0.6
"""Target occupancy c of virtual buffer sharing, as a fraction of the queue limit. [-]"""

MANY, FEW = 4, 1
"""Number of downloads of each station: first for the class with many downloads, then for the class
with few downloads.
"""


def scenario(phy: str, law: str, room: int = cell.ROOM, delay: float = 5.0, **more: Any) -> Any:
    """Return a cell with both classes under one sharing algorithm."""
    queue: Any = room
    if law == "fair":
        queue = cell.LINUX
    elif law != "plain":
        algorithm = "corrected" if law == "vbs" else law
        queue = {"limit": room, "vbs": {"by": "group", "algorithm": algorithm}}
    return cell.scenario(
        f"{WORDS.get(law, 'Linux queue')}, {room} packets, {delay:g} ms",
        phy,
        {"many": {"count": 2, "download": MANY}, "few": {"count": 2, "download": FEW}},
        queue=queue,
        delay_ms=delay,
        seconds=(6, 16),
        **more,
    )


BY_ROOM = Sweep(
    "{phy}-{law}-{room}",
    scenario,
    {"phy": cell.BOTH, "law": LAWS, "room": ROOMS},
    words={**WORDS, **cell.PHY_WORDS},
)
BY_DELAY = Sweep(
    "{phy}-{law}-wire{delay}",
    scenario,
    {"phy": cell.BOTH, "law": LAWS, "delay": DELAYS},
    words={**WORDS, **cell.PHY_WORDS},
)
FRAMES = Sweep(
    "{phy}-{law}-frames",
    lambda phy, law: scenario(phy, law, cell.FRAME_ROOM, cell={"aggregation": {"mpdus": 1}}),
    {"phy": cell.BOTH, "law": LAWS},
)
FAIR = Sweep("{phy}-fair", lambda phy: scenario(phy, "fair"), {"phy": cell.BOTH})


ratio = cell.goodput("many") / cell.goodput("few")
"""Ratio of the goodput of the class with many downloads to that of the other class. [-]"""


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the goodput ratios of the classes, the occupancy of the queue, and the total
    goodputs.
    """
    values = BY_ROOM.values(
        runs, {"ratio_{phy}_{law}_{room}": ratio, "total_{phy}_{law}_{room}": cell.total}
    )
    for room in ROOMS:
        values |= BY_ROOM.at(room=room).values(
            runs, {"held_{phy}_{law}_{room}": cell.occupancy / room}
        )
    values |= BY_DELAY.values(runs, {"ratio_{phy}_{law}_wire{delay}": ratio})
    values |= FRAMES.values(runs, {"ratio_{phy}_{law}_frames": ratio})
    return values | FAIR.values(runs, {"ratio_{phy}_fair": ratio, "total_{phy}_fair": cell.total})


def finding(runs: Runs) -> str:
    """Return a text on the ratio that decides the result: the delay of the full buffer divided by
    that of the wire.
    """
    mine = BY_DELAY.at(phy="ax", law="vbs")
    ratios, parts = (
        listed(mine.read(runs, ratio)),
        listed(mine.read(runs, cell.occupancy / cell.ROOM)),
    )
    delays = ", ".join(f"{delay:g}" for delay in DELAYS)
    frames = FRAMES.at(phy="ax")
    return (
        f"in 802.11ax with a buffer of {cell.ROOM} packets, Algorithm 1 leaves a ratio of {ratios} "
        f"with wires of {delays} ms each way. The queue then fills {parts} of the buffer. At 500 "
        "Mb/s the buffer drains in 24 ms, and a station with one connection does not refill its "
        f"share before it is sent. With a buffer of {cell.FRAME_ROOM} packets that are sent "
        "singly, which takes more than 100 ms, Algorithm 1 and the regulator leave ratios of "
        f"{listed(frames.at(law=['vbs', 'regulated']).read(runs, ratio))}. Drop-tail leaves "
        f"{ratio(FRAMES.run(runs, phy='ax', law='plain'))}"
    )


def _held(law: str) -> Callable[[Runs], list[Quantity]]:
    """Return a function that reads, for each queue limit, the occupancy as a fraction of the
    limit.
    """
    sweep = BY_ROOM.at(phy="ax", law=law)
    return lambda runs: [
        length / room for length, room in zip(sweep.read(runs, cell.occupancy), ROOMS, strict=True)
    ]


PICTURE = Picture(
    Abscissa("size of the FIFO [packets]", places=evenly(ROOMS), ticks=ROOMS),
    [
        *(
            Panel(
                "ratio of the classes [-]",
                BY_ROOM.at(phy=phy, law=["vbs", "regulated"]).lines("{law}", "room", ratio),
                f"four connections per station over one, {cell.PHY_WORDS[phy]}",
                levels={"equal": 1.0},
            )
            for phy in cell.BOTH
        ),
        Panel(
            "mean queue / FIFO size [-]",
            [Line(words, ROOMS, _held(law)) for law, words in WORDS.items()],
            f"occupancy of the FIFO, {cell.PHY_WORDS['ax']}",
            levels={"c B": OCCUPANCY},
        ),
    ],
)

STUDY = Study(
    key="ax-shares",
    title="Virtual buffer sharing in front of an aggregating FIFO",
    points=points_of(BY_ROOM, BY_DELAY, FRAMES, FAIR),
    measure=measure,
    shown=lambda runs: BY_DELAY.values(
        runs, {"held_{phy}_{law}_wire{delay}": cell.occupancy / cell.ROOM}
    ),
    findings=about("ax-3", finding),
    draw=PICTURE.draw,
)
