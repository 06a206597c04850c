"""The cell of paper 000 (Table II), and functions that read the quantities of its figures.

The cell has 802.11g at 36 Mb/s with a long preamble. TCP is Compound with a receive window of 45
packets and immediate ACKs. The queue of the access point has 100 packets. Stations of class 1
(``high``) lose no frames. Stations of class 2 (``low``) lose a data frame by a channel error with
probability p_w.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lasthop.studies.picture import Abscissa, Line
from lasthop.studies.study import Quantity, Read, Reading, Run, mean_reading, reading
from lasthop.studies.sweep import Sweep

if TYPE_CHECKING:
    from lasthop.plot.traces import TracePanel

ATTEMPTS = 4
"""Number of attempts per frame, including the first. Table II says "Max. Retry limit 7", which is 8
attempts, but with 8 attempts the two classes hardly differ. The gap in the paper's figures needs 4
attempts, which is the limit of ns-2 for long frames. Study ``fig11`` shows this.
"""

STATED_ATTEMPTS = 8
"""Number of attempts by table II: one transmission and seven retries."""

ERRORS = (0.0, 0.1, 0.2, 0.3)
"""Probabilities p_w of a channel error in the claims. [-]"""

ERRORS_STATED = ", ".join(f"{error:g}" for error in ERRORS)
"""Text with the probabilities p_w of a channel error in the claims."""

ERROR_AXIS = Abscissa("channel errors $p_w$ of class 2 [-]")

REPLICATIONS = 20
BUFFER = 100
"""Limit of the access point's queue. [packets]"""

Tree = Mapping[str, Any]


def shares(
    share: float = 0.5, *, names: tuple[str, str] = ("high", "low"), **more: Any
) -> dict[str, Any]:
    """Return the settings of a queue that two classes share. Stations whose names begin with
    `names[0]` are the first class, with the share `share`. The second class has the remaining
    share.
    """
    parts = zip(names, (share, 1.0 - share), strict=True)
    classes = {name: {"station": name, "share": part} for name, part in parts}
    return {"limit": BUFFER, "vbs": {"class": classes, **more}}


ALGORITHMS: Mapping[str, Tree] = {
    "vbs": {},
    "regulated": {"algorithm": "regulated"},
    "partition": {"algorithm": "partition"},
}
"""Settings of the sharing algorithms: corrected Algorithm 1, the regulator, and one drop-tail
buffer per class.
"""

WORDS = {
    "plain": "drop-tail",
    "vbs": "Algorithm 1",
    "regulated": "regulator",
    "partition": "partition",
}
"""Labels of the access point's queues."""


def scenario(
    name: str,
    stations: Tree,
    *,
    queue: Any = BUFFER,
    attempts: int = ATTEMPTS,
    delay_ms: float = 0.0,
    seconds: tuple[float, float] = (20.0, 200.0),
    replications: int = REPLICATIONS,
) -> dict[str, Any]:
    """Return the cell of paper 000 with these stations.

    Parameters
    ----------
    name : str
        Title of the scenario.
    stations : mapping
        Tables of stations in the grammar of scenario files.
    queue : int or mapping
        Queue of the access point.
    attempts : int
        Number of attempts per frame.
    delay_ms : float
        Propagation time of the wire, one way. [ms]
    seconds : two floats
        Warm-up and duration. [s]
    replications : int
        Number of independent runs.
    """
    return {
        "name": name,
        "warmup": f"{seconds[0]:g} s",
        "duration": f"{seconds[1]:g} s",
        "replications": replications,
        "cell": {
            "phy": "802.11g-long",
            "llc": "0 B",
            "ap_queue": queue,
            "attempts_short": attempts,
            "attempts_long": attempts,
        },
        "wire": {"delay": f"{delay_ms:g} ms"},
        "tcp": {
            "congestion": "compound",
            "window": 45,
            "delayed_ack": False,
            "handshake": False,
        },
        "station": stations,
    }


def traced(name: str, stations: Tree, **more: Any) -> dict[str, Any]:
    """Return a cell with one replication, whose time series is recorded every 50 ms for 100 s."""
    tree = scenario(name, stations, seconds=(0.0, 100.0), replications=1, **more)
    return {**tree, "record": {"series_interval": "50 ms"}}


def classes(error: float, count: int = 5, *, acks: bool = False) -> dict[str, Any]:
    """Return the stations of both classes. Data frames of class 2 have channel errors with the
    probability `error`. If `acks`, TCP ACKs of class 2 have errors with the same probability.
    """
    low = {"count": count, "download": 1, "error_down": error}
    return {
        "high": {"count": count, "download": 1},
        "low": {**low, "error_up": error} if acks else low,
    }


def of_classes(sweep: Sweep, reading_of: Callable[[str], Read]) -> list[Line]:
    """Return lines of a quantity of both classes, over the error probability of class 2."""
    return [
        line
        for label, prefix in (("class 1", "high"), ("class 2", "low"))
        for line in sweep.lines(label, "error", reading_of(prefix))
    ]


def goodput(prefix: str) -> Reading:
    """Return the reading of the mean goodput of the stations whose names begin with `prefix`.
    [Mb/s]
    """
    mean = mean_reading("stations", prefix, "goodput_bps")

    def read(run: Run) -> Quantity:
        return mean(run) * (sum(name.startswith(prefix) for name in run.items("stations")) / 1e6)

    return Reading(read)


ratio = goodput("high") / goodput("low")
"""Ratio of the goodput of class 1 to that of class 2. [-]"""


def window(prefix: str) -> Reading:
    """Return the reading of the mean window of downloads to stations whose names begin with
    `prefix`. [packets]
    """
    return mean_reading("flows", prefix, "cwnd_packets")


def window_panels(run: Run, title: str) -> "list[TracePanel]":
    """Return panels with the window of the first connection of each class over time."""
    from lasthop.plot.traces import Trace, TracePanel

    return [
        TracePanel(
            "cwnd [packets]",
            [Trace(word, *run.track("flows", f"{name}-1/down/1", "cwnd_packets"))],
            title if name == "high" else "",
            {"receive window": 45.0},
        )
        for name, word in (("high", "class 1"), ("low", "class 2"))
    ]


def queue_panel(run: Run, title: str, levels: Mapping[str, float]) -> "TracePanel":
    """Return a panel with the access point's queue over time."""
    from lasthop.plot.traces import Trace, TracePanel

    trace = Trace("queue of the AP", *run.track("queues", "ap", "occupancy_packets"))
    return TracePanel("queue [packets]", [trace], title, levels)


occupancy = reading("queues", "ap", "occupancy_packets")
"""Mean occupancy of the access point's queue. [packets]"""

buffer_loss = reading("queues", "ap", "drop_probability")
"""Probability that the access point's queue refuses a packet. [-]"""

total = reading("cells", "cell", "goodput_bps") / 1e6
"""Goodput of the cell. [Mb/s]"""

jain = reading("cells", "cell", "jain")
"""Jain's index of the stations. [-]"""
