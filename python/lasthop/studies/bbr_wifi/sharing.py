"""BBR and CUBIC in cells of 802.11ac and 802.11ax: one connection of each, or one alone.

One laptop uses BBR and the other CUBIC. Both are near the access point, so that their rates are
equal. The wire has a delay of 10 ms per direction. The queues are a FIFO of 300, 1000 or 3000
packets, FQ-CoDel with Linux's defaults, and mac80211, the queue of a Linux access point. In
uploads, the queue of a laptop is of the same kind, because the access point queues only ACKs. With
mac80211 it is FQ-CoDel, which mac80211 has for each device.

At 500 Mb/s and a round-trip time of 22 ms the path holds about 900 packets. A FIFO holds X times
as many, with X from 1/3 to 3.3. In the model of Ware et al. ("Modeling BBR's Interactions with
Loss-Based Congestion Control", IMC 2019), one connection of BBR next to one of CUBIC gets
1/2 + 1/(2 X) + 4/B of the rate of a FIFO of B packets, for X above 1. BBR thus gets more than half
of any FIFO. The abstract that the claims quote reports the opposite for BBR v3.
"""

from typing import Any

from lasthop.studies.ax import cell
from lasthop.studies.picture import Abscissa, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Reading, Runs, Study, about, listed, reading
from lasthop.studies.sweep import Sweep, points_of

FIFO_LIMITS = (300, 1000, 3000)
"""Limits of the FIFO. [packets]"""

QUEUES: tuple[int | str, ...] = (*FIFO_LIMITS, "codel", "linux")

WORDS: dict[Any, str] = {
    **{limit: f"FIFO of {limit}" for limit in FIFO_LIMITS},
    "codel": "FQ-CoDel",
    "linux": "mac80211",
    "down": "downloads",
    "up": "uploads",
    **cell.PHY_WORDS,
}

DIRECTIONS = ("down", "up")

DELAY_MS = 10.0
"""Propagation time of the wire, one way. [ms]"""

WARMUP_AND_END_S = (10, 40)
"""Warm-up and end. BBR's probe for the round-trip time comes every 10 s. [s]"""


def queue_of(queue: int | str) -> Any:
    """Return the table of a queue."""
    return {"codel": {"fq_codel": {}}, "linux": cell.LINUX}.get(str(queue), queue)


def scenario(phy: str, direction: str, queue: int | str, controls: tuple[str, ...]) -> Any:
    """Return a cell in which one laptop per congestion control has one connection."""
    key = {"down": "download", "up": "upload"}[direction]
    of_laptop = queue_of("codel" if queue == "linux" else queue)
    own = {"queue": of_laptop} if direction == "up" else {}
    stations = {
        control: {key: {"connections": 1, "congestion": control}, **own} for control in controls
    }
    made = cell.scenario(
        f"{' and '.join(controls)}, {WORDS[direction]}, {WORDS[queue]}",
        phy,
        stations,
        queue=queue_of(queue),
        seconds=WARMUP_AND_END_S,
        delay_ms=DELAY_MS,
    )
    tcp = {"congestion": "cubic", "sack": True, "rack": True, "prr": True, "window": 20_000}
    return {**made, "tcp": tcp}


def both(phy: str, direction: str, queue: int | str) -> Any:
    """Return a cell with a connection of BBR next to one of CUBIC."""
    return scenario(phy, direction, queue, ("bbr", "cubic"))


def alone(phy: str, direction: str, queue: int | str, control: str) -> Any:
    """Return a cell with one connection."""
    return scenario(phy, direction, queue, (control,))


BOTH = Sweep(
    "{phy}-{direction}-{queue}",
    both,
    {"phy": cell.BOTH, "direction": DIRECTIONS, "queue": QUEUES},
    words=WORDS,
)
ALONE = Sweep(
    "{phy}-{direction}-{queue}-{control}",
    alone,
    {"phy": cell.BOTH, "direction": DIRECTIONS, "queue": QUEUES, "control": ("bbr", "cubic")},
    words=WORDS,
)


def without_allowance(phy: str, direction: str, queue: int | str) -> Any:
    """Return a cell like `both`, in which BBR has no allowance for aggregated ACKs."""
    made = both(phy, direction, queue)
    return {**made, "tcp": {**made["tcp"], "bbr": {"ack_aggregation": False}}}


WITHOUT_ALLOWANCE = Sweep(
    "{phy}-{direction}-{queue}-without_allowance",
    without_allowance,
    {"phy": cell.BOTH, "direction": DIRECTIONS, "queue": (3000, "linux")},
    words=WORDS,
)

share = cell.goodput("bbr") / (cell.goodput("bbr") + cell.goodput("cubic"))
"""BBR's share of the goodput next to CUBIC: 0.5 is equal. [-]"""


def rtt(control: str, direction: str) -> Reading:
    """Return the function that reads the mean round-trip time of a connection. [ms]"""
    return reading("flows", f"{control}/{direction}/1", "rtt_s") * 1e3


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return BBR's share of the goodput, the goodput of the cell, and the round-trip times."""
    values = BOTH.values(
        runs,
        {"share_{phy}_{direction}_{queue}": share, "total_{phy}_{direction}_{queue}": cell.total},
    )
    for direction in DIRECTIONS:
        some = BOTH.at(direction=direction)
        values |= some.values(
            runs,
            {
                f"rtt_{control}_{{phy}}_{{direction}}_{{queue}}": rtt(control, direction)
                for control in ("bbr", "cubic")
            },
        )
        for control in ("bbr", "cubic"):
            single = ALONE.at(direction=direction, control=control)
            values |= single.values(
                runs,
                {
                    "alone_{control}_{phy}_{direction}_{queue}": cell.total,
                    "alone_rtt_{control}_{phy}_{direction}_{queue}": rtt(control, direction),
                },
            )
    return values


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return BBR's share of the goodput, and its round-trip times, without the allowance for
    aggregated ACKs.
    """
    values = WITHOUT_ALLOWANCE.values(
        runs, {"share_{phy}_{direction}_{queue}_without_allowance": share}
    )
    for direction in DIRECTIONS:
        some = WITHOUT_ALLOWANCE.at(direction=direction)
        values |= some.values(
            runs, {"rtt_bbr_{phy}_{direction}_{queue}_without_allowance": rtt("bbr", direction)}
        )
    return values


def finding(runs: Runs) -> str:
    """Return a text on BBR's share of a long FIFO, with and without the allowance for aggregated
    ACKs.
    """
    without, usual = (
        listed(some.at(direction="down", queue=3000).read(runs, share))
        for some in (WITHOUT_ALLOWANCE, BOTH)
    )
    return (
        "without the allowance for aggregated ACKs, CUBIC gets more than half of a FIFO of 3000 "
        f"packets. BBR's share of downloads in 802.11ax and 802.11ac is {without}, instead of "
        f"{usual}"
    )


PICTURE = Picture(
    Abscissa("size of the FIFO [packets]", places=evenly(FIFO_LIMITS), ticks=FIFO_LIMITS),
    [
        Panel(
            "BBR's share of the goodput [-]",
            BOTH.at(direction=direction, queue=FIFO_LIMITS).lines("{phy}", "queue", share),
            f"BBR next to CUBIC, {WORDS[direction]}",
            levels={"equal": 0.5},
        )
        for direction in DIRECTIONS
    ],
)

STUDY = Study(
    key="bbr-wifi-sharing",
    title="BBR next to CUBIC with a FIFO, FQ-CoDel and mac80211",
    points=points_of(BOTH, ALONE, WITHOUT_ALLOWANCE),
    measure=measure,
    shown=shown,
    findings=about("bbr-wifi-1", finding),
    draw=PICTURE.draw,
)
