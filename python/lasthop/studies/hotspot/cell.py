"""The hot-spot of paper 002's test-bed, and functions that read the quantities of its figures.

The hot-spot has five stations with 802.11b cards at 11 Mb/s, an access point with 75 packets of
buffer, and a wire without delay. TCP is Reno with delayed ACKs and a receive window of 42 packets
of 1500 bytes. Runs last three minutes (section 5).
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

These two contention windows give beta = 1.199. The paper measured 1.2 as the priority beta of a
station over the access point. Among all pairs of windows near the standard's value of 31, this pair
gives the beta closest to 1.2. `lasthop.studies.hotspot.beta` measures beta by the method of the
paper, for this CWmin of the station and for neighbouring values.
"""

STAGGER = "1 s"
"""Time from the start of one connection to the start of the next connection.

The paper does not say how its connections were started, but assumes that all of them reach a steady
state (assumption a4). Ten uploads that start simultaneously do not reach a steady state.
Connections with losses in the first second starve, because the access point drops a third of their
few ACKs. Study ``fig09`` shows this effect.
"""

REPLICATIONS = 100
"""Number of replications. With the paper's ten replications, half of the confidence intervals would
be too wide to decide the claims.
"""

WINDOW = 42
"""Receive window of the paper, "about 64 kbytes". [packets]"""

AP_QUEUE = 75

PAPERS_WCE: Mapping[str, Any] = {"rule": "paper"}
"""Settings of the paper's capacity estimator, with which claims are judged. This estimator uses
each ping reply separately.
"""

PAPERS_VSB: Mapping[str, Any] = {"udp": "down", "wce": PAPERS_WCE}
"""Settings of the paper's bottleneck, with which claims are judged. Uplink UDP bypasses this
bottleneck.
"""

BESIDE_REPLICATIONS = 20
"""Number of replications of scenarios whose results are shown but not judged."""

Tree = Mapping[str, Any]


def by_agreement(tree: Tree) -> dict[str, Any]:
    """Return the cell with the default capacity estimator, which uses the median delay of the
    stations.
    """
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
    """Return the test-bed, in which station 1 differs from the other stations."""
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
    """Return the names of all stations except station 1."""
    return [name for name in run.items("stations") if name != "first"]


fairness = reading("stations", "first", "goodput_share") / mean_reading(
    "stations", "others", "goodput_share"
)
"""Fairness level of station 1 compared with the other stations, eta_12. [-]

The other stations are equal, so that the mean of their goodputs is used for that of station 2.
"""

total = reading("cells", "cell", "goodput_bps") / 1e6
"""Sum of the goodputs of all stations. [Mb/s]"""

station_queue = reading("stations", "first", "queue_packets")
"""Mean occupancy of station 1's buffer. [packets]"""

ap_queue = reading("aps", "ap", "queue_packets")
"""Mean occupancy of the access point's buffer. [packets]"""

ap_loss = reading("queues", "ap", "drop_probability")
"""Fraction of packets that the access point's buffer drops, which is p of the model. [-]"""

capacity = reading("links", "vsb", "capacity_bps") / 1e6
"""Time average of the bottleneck's rate C. [Mb/s]"""

ping = reading("links", "vsb", "ping_rtt_s") * 1e3
"""Mean round-trip time of the estimator's pings. [ms]"""


def rtt(run: Run, flow: str) -> Quantity:
    """Return the mean round-trip time of a flow. [s]"""
    return run.quantity("flows", flow, "rtt_s")


def goodput(run: Run, station: str) -> Quantity:
    """Return the goodput of a station. [Mb/s]"""
    return run.quantity("stations", station, "goodput_bps") / 1e6


def queue_shape(queue: Sequence[Quantity]) -> dict[str, Quantity]:
    """Return values that describe the growth of station 1's queue over one to six uploads.
    [packets, -]

    The first values are the growth of the queue with the second upload, with the third, and with
    each later upload. The next value is the mean growth per upload from the third upload on. The
    last value shows whether the growth is linear from the third upload on. This value is the mean
    queue of the inner points divided by that of the outer points; it is 1 on a straight line.
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
    """Return the run named ``lossless``, in which the access point's buffer is so large that no
    packet is lost.
    """
    return runs["lossless"]


def lossless(runs: Runs) -> None:
    """Raise an error if the access point drops packets in the run ``lossless``."""
    lost = float(ap_loss(lossless_run(runs)).samples.max())
    require(lost == 0.0, f"run lossless: the access point drops {lost:.2g} of the packets")


STANDING: Mapping[str, Read] = {"queue_{x}": station_queue, "loss_{x}": ap_loss}
"""Readings that tables show for every point of a sweep: the queue of station 1, and the loss at the
access point. The keys are the names of the results, in which ``{x}`` stands for the value of the
swept setting.
"""
