"""The cells in which the papers' questions are asked again, and the quantities of their runs.

The access point has the access parameters of hostapd, whose best effort has no transmission
opportunities, so that an access is one PPDU of up to 5.484 ms. The wire has 5 ms each way. TCP is
CUBIC with delayed ACKs and a receive window that never limits. Everything is asked in 802.11ax at
80 MHz, and again in 802.11ac: a PHY with aggregates of a fifth of the time.
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
"""Cells by name."""

MCS = {"ax": 6, "ac": 9, "ax20": 9}
"""Modulation of stations nearby: a full aggregate is 256 MPDUs of 4.9 ms in ``ax``, 64 of 1.0 ms in
``ac``, some 100 of 5.5 ms in ``ax20``."""

BOTH = ("ax", "ac")
"""The cell of each statement, and the other PHY that it must survive."""

PHY_WORDS = {"ax": "802.11ax", "ac": "802.11ac", "ax20": "802.11ax, 20 MHz"}
"""Cells as labels call them."""

ROOM = 1000
"""Default room in the access point's FIFO. [packets]"""

FRAME_ROOM = 300
"""Room in the FIFO where frames are sent one by one, at a tenth of the rate. [packets]"""

LINUX: Tree = {"mac80211": {}}
"""The queue of a Linux access point."""

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
    """Return a cell with these stations.

    Parameters
    ----------
    name : str
        Title of the scenario.
    phy : str
        A key of `PHYS`.
    stations : mapping
        Tables of stations in the grammar of scenario files; without ``mcs`` they are nearby.
    queue : int or mapping
        Queue of the access point.
    seconds : two ints
        Warm-up and end. [s]
    delay_ms : float
        Propagation time of the wire, one way. [ms]
    replications : int
        Number of independent runs.
    cell : mapping, optional
        Different settings of the cell.
    more : mapping, optional
        Tables in addition to the cell's.
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
    """Return the reading of the mean goodput of the stations whose names begin so. [Mb/s]"""
    return mean_reading("stations", prefix, "goodput_bps") / 1e6


total = reading("cells", "cell", "goodput_bps") / 1e6
"""Goodput of the cell. [Mb/s]"""

aggregate = reading("aps", "ap", "mpdus_per_ppdu")
"""Mean length of the access point's aggregates. [MPDUs]"""

occupancy = reading("queues", "ap", "occupancy_packets")
"""Mean length of the access point's queue. [packets]"""

loss = reading("queues", "ap", "drop_probability")
"""Probability that the access point's queue drops a packet. [-]"""
