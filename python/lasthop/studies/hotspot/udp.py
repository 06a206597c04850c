"""Appendix IV: greedy uplink UDP and TCP through the bottleneck.

Three stations send more datagrams than the medium can carry, so that their buffers are full.
Station 1 downloads over four connections, and another station over one connection. The extended
estimator does not ping the stations that send UDP, and adapts its thresholds to the base round-trip
time. The plain estimator of section 4.2.1 pings all stations and has fixed thresholds.
"""

from typing import Any

from lasthop.studies.hotspot import cell
from lasthop.studies.study import Figure, Quantity, Runs, Study, about, reading
from lasthop.studies.sweep import Sweep

SENDERS = 3
"""Number of stations that send more datagrams than the medium can carry."""

SENT = "4 Mbps"
"""UDP rate of each sender. The rate exceeds the sender's share, but is low enough that ping replies
sometimes enter the sender's buffer.
"""

KINDS = ("estimated", "plain", "none")
"""Names of the scenarios: with the extended estimator, with the plain estimator, and without a
bottleneck.
"""


def scenario(kind: str) -> dict[str, Any]:
    """Return the cell with the given estimator, or without a bottleneck."""
    tree = cell.scenario(
        f"greedy uplink UDP, {kind}", {"download": 4}, {"download": 1}, count=1
    ) | {"replications": 20}
    tree["station"]["senders"] = {"count": SENDERS, "udp_up": SENT}
    if kind == "none":
        return tree
    # The plain estimator waits for every ping reply, like the program ping, so its timeout is long.
    aware = kind == "estimated"
    wce = dict(cell.PAPERS_WCE) | ({} if aware else {"timeout": "20 s"})
    return tree | {"vsb": {**cell.PAPERS_VSB, "udp_aware": aware, "wce": wce}}


FIRST, OTHER = (
    reading("stations", station, "goodput_bps") / 1e6 for station in ("first", "others-1")
)
"""Goodputs of the TCP station with four connections, and of the TCP station with one connection.
[Mb/s]
"""

tcp_goodput = FIRST + OTHER
"""Goodput of both TCP stations together. [Mb/s]"""

eta = FIRST / OTHER
"""Fairness level of the TCP station with four connections compared with the other. [-]"""


SWEEP = Sweep("{kind}", scenario, {"kind": KINDS})


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the TCP goodput with both estimators, and eta with the extended estimator."""
    estimated, plain, _ = SWEEP.runs(runs)
    return {
        "tcp_goodput_estimated": tcp_goodput(estimated),
        "tcp_goodput_plain": tcp_goodput(plain),
        "eta": eta(estimated),
    }


def finding(runs: Runs) -> str:
    """Return a text on the rates C of both estimators, and on the TCP goodput without a
    bottleneck.
    """
    estimated, plain, none = SWEEP.runs(runs)
    return (
        f"C is {cell.capacity(estimated)} Mb/s with the extended estimator and "
        f"{cell.capacity(plain)} with the plain estimator. Without the bottleneck TCP gets "
        f"{tcp_goodput(none)} Mb/s, with an eta of {eta(none)}"
    )


def draw(runs: Runs) -> Figure:
    """Draw TCP goodput and eta with both estimators and without a bottleneck."""
    from lasthop.studies.drawing.study import BarPanel, bar_figure

    labels = ("extended", "plain", "no bottleneck")
    goodputs, levels = (
        {label: [each] for label, each in zip(labels, SWEEP.read(runs, read), strict=True)}
        for read in (tcp_goodput, eta)
    )
    return bar_figure(
        [
            BarPanel("TCP goodput [Mb/s]", goodputs),
            BarPanel("η of TCP stations", levels, stated=(1.0, 1.0)),
        ]
    )


STUDY = Study(
    key="hotspot-udp",
    title="Appendix IV: greedy uplink UDP and TCP",
    points=SWEEP.points(),
    measure=measure,
    draw=draw,
    findings=about("hotspot-13", finding),
)
