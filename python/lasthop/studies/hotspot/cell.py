"""The hot-spot of paper 002's test-bed, and the quantities of its figures.

It has five stations with 802.11b cards at 11 Mb/s, an access point with 75 packets of buffer, and a
wire without delay. TCP is Reno with delayed ACKs and a receive window of 42 packets of 1500 bytes.
Runs last three minutes (section 5).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lasthop.studies.study import (
    Quantity,
    Read,
    Run,
    Runs,
    changed,
    mean_reading,
    reading,
    require,
)

STATION_CWMIN = 29
AP_CWMIN = 34
"""Smallest contention windows of every station and of the access point. [slots]

They are the recipe for beta = 1.2, the advantage that the paper measured of its cards over its
access point. No other pair near the standard's 31 comes as near: 1.199.
`lasthop.studies.hotspot.beta` measures it as the paper did, for this window of the station and for
its neighbours.
"""

STAGGER = "1 s"
"""Time from the start of one connection to that of the next.

The paper does not say how its connections were started, but supposes that all of them get going
(assumption a4). Ten uploads that start at the same instant do not: the losers of the first second
meet an access point that drops a third of their few ACKs, and starve. Study ``fig09`` shows it.
"""

REPLICATIONS = 100
"""Replications, ten times the paper's ten: half of the intervals would be too wide otherwise."""

WINDOW = 42
"""Receive window of the paper, "about 64 kbytes". [packets]"""

AP_QUEUE = 75

PAPERS_WCE: Mapping[str, Any] = {"rule": "paper"}
"""The estimator that is judged: the paper's, which believes every answer by itself."""

PAPERS_VSB: Mapping[str, Any] = {"udp": "down", "wce": PAPERS_WCE}
"""The bottleneck that is judged: the paper's, which uplink UDP bypasses."""

BESIDE_REPLICATIONS = 20
"""Replications of additional points that are shown but not judged."""

Tree = Mapping[str, Any]


def by_agreement(tree: Tree) -> dict[str, Any]:
    """Return the same cell with the other estimator, which is the default of scenarios."""
    few = min(tree["replications"], BESIDE_REPLICATIONS)
    return changed(tree, replications=few, vsb={"wce": {"rule": "agreement"}})


def scenario(
    name: str,
    first: Tree,
    others: Tree,
    *,
    count: int = 4,
    cwmin: int = STATION_CWMIN,
    ap_queue: int = AP_QUEUE,
    stagger: str = STAGGER,
) -> dict[str, Any]:
    """Return the test-bed with one station that differs from the others.

    Parameters
    ----------
    name : str
        Title of the scenario.
    first, others : mapping
        Tables of station 1 and of each other station, in the grammar of scenario files.
    count : int
        How many others there are.
    cwmin : int
        Smallest contention window of the stations. [slots]
    ap_queue : int
        Buffer of the access point. [packets]
    stagger : str
        Time from the start of one connection to that of the next.
    """
    return {
        "name": name,
        "duration": "180 s",
        "replications": REPLICATIONS,
        "stagger": stagger,
        "cell": {
            "phy": "802.11b",
            "cwmin": cwmin,
            "ap": {"cwmin": AP_CWMIN, "queue": ap_queue},
        },
        "tcp": {
            "congestion": "reno",
            "window": WINDOW,
            "delayed_ack": True,
            "handshake": False,
        },
        "station": {"first": dict(first), "others": {"count": count, **others}},
    }


def others(run: Run) -> list[str]:
    """Return the names of all stations but the first."""
    return [name for name in run.items("stations") if name != "first"]


fairness = reading("stations", "first", "goodput_share") / mean_reading(
    "stations", "others", "goodput_share"
)
"""Fairness level of station 1 over the others, eta_12. [-]

The others are alike, so the mean of their goodputs is taken for that of station 2.
"""

total = reading("cells", "cell", "goodput_bps") / 1e6
"""Sum of all goodputs of a run. [Mb/s]"""

station_queue = reading("stations", "first", "queue_packets")
"""Mean occupancy of station 1's buffer. [packets]"""

ap_queue = reading("aps", "ap", "queue_packets")
"""Mean occupancy of the access point's buffer. [packets]"""

ap_loss = reading("queues", "ap", "drop_probability")
"""Part of packets that the access point's buffer loses, the model's p. [-]"""

capacity = reading("links", "vsb", "capacity_bps") / 1e6
"""Time average of C. [Mb/s]"""

ping = reading("links", "vsb", "ping_rtt_s") * 1e3
"""Mean round-trip time of the estimator's pings. [ms]"""


def rtt(run: Run, flow: str) -> Quantity:
    """Return the mean round-trip time of a flow. [s]"""
    return run.quantity("flows", flow, "rtt_s")


def goodput(run: Run, station: str) -> Quantity:
    """Return the goodput of a station. [Mb/s]"""
    return run.quantity("stations", station, "goodput_bps") / 1e6


def queue_shape(queue: Sequence[Quantity]) -> dict[str, Quantity]:
    """Return how station 1's queue grows over one to six uploads. [packets, -]

    These are the growth by the second upload, the third, and each later upload, and the mean growth
    per upload from the third on. The last is the straightness there: the mean of the inner points
    over that of the outer points, 1 on a line.
    """
    item, two, three, four, five, six = queue
    return {
        "queue_step_2": two - item,
        "queue_step_3": three - two,
        "queue_step_4": four - three,
        "queue_step_5": five - four,
        "queue_step_6": six - five,
        "queue_growth": (six - three) / 3.0,
        "queue_straightness": (four + five) / (three + six),
    }


def lossless_run(runs: Runs) -> Run:
    """Return the run of the point ``lossless``."""
    return runs["lossless"]


def lossless(runs: Runs) -> None:
    """Require that the access point drops nothing in the run that is called lossless."""
    lost = float(ap_loss(lossless_run(runs)).samples.max())
    require(lost == 0.0, f"run lossless: the access point drops {lost:.2g} of the packets")


STANDING: Mapping[str, Read] = {"queue_{x}": station_queue, "loss_{x}": ap_loss}
"""Quantities that tables show of every point of a sweep, by names of values."""
