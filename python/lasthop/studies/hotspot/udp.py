"""Appendix IV: greedy uplink UDP and TCP through the bottleneck.

Three stations send more datagrams than the medium takes, so that their buffers are full; station 1
downloads over four connections and another over one. The extended estimator spares the senders its
pings and lets its thresholds follow the base round-trip time; the plain one of section 4.2.1 does
neither.
"""

from typing import Any

from lasthop.studies.hotspot import cell
from lasthop.studies.study import Figure, Quantity, Run, Runs, Study

SENDERS = 3
"""Stations with too many datagrams."""

SENT = "4 Mbps"
"""Rate of each of them: more than it gets, but an answer to a ping finds a place now and then."""

KINDS = ("estimated", "plain", "none")
"""The extended estimator, the plain one, no bottleneck at all."""


def scenario(kind: str) -> dict[str, Any]:
    """Return the cell with one kind of estimator."""
    tree = cell.scenario(
        f"greedy uplink UDP, {kind}", {"download": 4}, {"download": 1}, count=1
    ) | {"replications": 20}
    tree["station"]["senders"] = {"count": SENDERS, "udp_up": SENT}
    if kind == "none":
        return tree
    # the plain estimator waits for every answer, as ping does
    aware = kind == "estimated"
    wce = dict(cell.PAPERS_WCE) | ({} if aware else {"timeout": "20 s"})
    return tree | {"vsb": {**cell.PAPERS_VSB, "udp_aware": aware, "wce": wce}}


def tcp_goodput(run: Run) -> Quantity:
    """Return the goodput of both TCP stations together. [Mb/s]"""
    return cell.goodput(run, "first") + cell.goodput(run, "others-1")


def eta(run: Run) -> Quantity:
    """Return the fairness level among the TCP stations. [-]"""
    return cell.goodput(run, "first") / cell.goodput(run, "others-1")


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return TCP goodput with either estimator, and eta with the extended one."""
    return {
        "tcp_goodput_estimated": tcp_goodput(runs["estimated"]),
        "tcp_goodput_plain": tcp_goodput(runs["plain"]),
        "eta": eta(runs["estimated"]),
    }


def findings(runs: Runs) -> dict[str, str]:
    """Return the rates that either estimator finds, and what TCP gets without."""
    rate = {kind: runs[kind].quantity("links", "vsb", "capacity_bps") / 1e6 for kind in KINDS[:2]}
    return {
        "hotspot-13": (
            f"C is {rate['estimated']} Mb/s with the extended estimator and {rate['plain']} with "
            f"the plain estimator. Without the bottleneck TCP gets {tcp_goodput(runs['none'])} "
            f"Mb/s, with an eta of {eta(runs['none'])}"
        )
    }


def draw(runs: Runs) -> Figure:
    """Draw TCP goodput and eta with either estimator and without."""
    from lasthop.studies.drawing.study import BarPanel, bar_figure

    labels = dict(zip(KINDS, ("extended", "plain", "no bottleneck"), strict=True))
    goodputs = {label: [tcp_goodput(runs[kind])] for kind, label in labels.items()}
    levels = {label: [eta(runs[kind])] for kind, label in labels.items()}
    return bar_figure(
        [
            BarPanel("TCP goodput [Mb/s]", goodputs),
            BarPanel("η of TCP stations", levels, stated=(1.0, 1.0)),
        ]
    )


STUDY = Study(
    key="hotspot-udp",
    title="Appendix IV: greedy uplink UDP and TCP",
    points={kind: scenario(kind) for kind in KINDS},
    measure=measure,
    draw=draw,
    findings=findings,
)
