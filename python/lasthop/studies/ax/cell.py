"""Cells with aggregation for the questions of the papers, and the quantities of their runs.

The access point has the access parameters of hostapd. They set no TXOP limit for best effort, so
that the access point sends one PPDU of up to 5.484 ms per access. The wire has a delay of 5 ms per
direction. TCP is CUBIC with delayed ACKs and a receive window that never limits the sender. All
questions are studied in 802.11ax at 80 MHz, and also in 802.11ac, whose aggregates are five times
shorter.
"""

from collections.abc import Mapping
from typing import Any

from lasthop.studies.study import Reading, mean_reading, reading

Tree = Mapping[str, Any]

PHYS: Mapping[str, Tree] = {
    "ax": {"phy": "802.11ax", "width": "80 MHz", "streams": 2},
    "ac": {"phy": "802.11ac", "width": "80 MHz", "streams": 2},
    "ax20": {"phy": "802.11ax", "width": "20 MHz", "streams": 2},
}
"""Settings of the cells, by the name of the PHY."""

MCS = {"ax": 6, "ac": 9, "ax20": 9}
"""MCS of stations near the access point. A full aggregate is 256 MPDUs in 4.9 ms in ``ax``, 64
MPDUs in 1.0 ms in ``ac``, and about 100 MPDUs in 5.5 ms in ``ax20``.
"""

BOTH = ("ax", "ac")
"""PHYs for which a statement must hold."""

PHY_WORDS = {"ax": "802.11ax", "ac": "802.11ac", "ax20": "802.11ax, 20 MHz"}
"""Labels of the cells in figures, by the name of the PHY."""

ROOM = 1000
"""Default limit of the access point's FIFO. [packets]"""

FRAME_ROOM = 300
"""Limit of the FIFO if frames are sent one by one. The rate is then ten times lower than with
aggregates. [packets]
"""

LINUX: Tree = {"mac80211": {}}
"""Queue of an access point that runs Linux, mac80211."""

REPLICATIONS = 10


def scenario(
    name: str,
    phy: str,
    stations: Mapping[str, Tree],
    *,
    queue: Any = ROOM,
    seconds: tuple[int, int] = (4, 12),
    delay_ms: float = 5.0,
    replications: int = REPLICATIONS,
    cell: Tree | None = None,
    more: Tree | None = None,
) -> dict[str, Any]:
    """Return a scenario of one cell with these stations.

    Parameters
    ----------
    name : str
        Title of the scenario.
    phy : str
        A key of `PHYS`.
    stations : mapping
        Tables of stations in the grammar of scenario files; stations without ``mcs`` are nearby.
    queue : int or mapping
        Queue of the access point.
    seconds : two ints
        Warm-up and end. [s]
    delay_ms : float
        Propagation time of the wire, one way. [ms]
    replications : int
        Number of independent runs.
    cell : mapping, optional
        Settings that replace those of the cell; by default none is replaced.
    more : mapping, optional
        Tables of the scenario in addition to those of the cell; by default there are none.
    """
    warmup, end = seconds
    own = {**(cell or {})}
    ap = {"queue": queue, **own.pop("ap", {})}
    return {
        "name": f"{name}, {PHY_WORDS[phy]}",
        "warmup": f"{warmup} s",
        "duration": f"{end} s",
        "replications": replications,
        "cell": {**PHYS[phy], "edca": "hostapd", **own, "ap": ap},
        "wire": {"delay": f"{delay_ms:g} ms"},
        "tcp": {
            "congestion": "cubic",
            "sack": False,
            "initial_window": 2,
            "window": 4000,
            "delayed_ack": True,
        },
        "station": {key: {"mcs": MCS[phy], **table} for key, table in stations.items()},
        **(more or {}),
    }


def goodput(prefix: str) -> Reading:
    """Return the function that reads the mean goodput of the stations whose names begin with
    `prefix`. [Mb/s]
    """
    return mean_reading("stations", prefix, "goodput_bps") / 1e6


total = reading("cells", "cell", "goodput_bps") / 1e6
"""Goodput of the cell. [Mb/s]"""

aggregate = reading("aps", "ap", "mpdus_per_ppdu")
"""Mean length of the access point's aggregates. [MPDUs]"""

occupancy = reading("queues", "ap", "occupancy_packets")
"""Mean length of the access point's queue. [packets]"""

loss = reading("queues", "ap", "drop_probability")
"""Probability that the access point's queue drops a packet. [-]"""
