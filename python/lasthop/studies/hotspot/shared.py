"""Figures 5 to 11 with the virtual shared bottleneck, beside the same cells without it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import CONNECTIONS, SLOW, connections, windows
from lasthop.studies.study import Quantity, Runs, Study, mean_of

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

SWEEPS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "fig05": connections("upload", "download"),
    "fig06": connections("download", "download"),
    "fig07": connections("download", "download", rate=SLOW),
    "fig08": windows("download"),
    "fig09": connections("upload", "upload"),
    "fig10": connections("upload", "upload", rate=SLOW),
    "fig11": windows("upload"),
}
"""The points of each figure's sweep, without the bottleneck."""

TITLES = {
    "fig05": "5: X uploads against a download",
    "fig06": "6: X downloads against a download",
    "fig07": "7: as 6, station 1 at 2 Mb/s",
    "fig08": "8: downloads, window of station 1",
    "fig09": "9: X uploads against an upload",
    "fig10": "10: as 9, station 1 at 2 Mb/s",
    "fig11": "11: uploads, window of station 1",
}

MEASURED = ("fig05", "fig06", "fig07", "fig08", "fig09")
"""Figures whose mean cumulative goodputs the text states."""

STILL_RATE = "4.5 Mbps"
"""A rate at which no queue stands in the access point."""

VSB: Mapping[str, Any] = {}
"""The bottleneck of section 4.2: a leaf of 200 packets for each station, rate by the estimator."""


def cumulative(runs: Runs, kind: str, figure: str) -> Quantity:
    """Return the sum of all goodputs, averaged over the sweep of a figure. [Mb/s]

    Parameters
    ----------
    runs : mapping
        Runs of the study.
    kind : str
        ``with`` or ``without`` the bottleneck.
    figure : str
        ``fig05``.
    """
    points = (runs[f"{kind}-{figure}-{x}"] for x in SWEEPS[figure])
    return mean_of([run.quantity("cells", "cell", "goodput_bps") / 1e6 for run in points])


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta at every point, and the mean cumulative goodputs with and without."""
    eta = {
        f"eta_{figure}_{x}": cell.fairness(runs[f"with-{figure}-{x}"])
        for figure, sweep in SWEEPS.items()
        for x in sweep
    }
    goodput = {
        f"{kind}_{figure}": cumulative(runs, kind, figure)
        for kind in ("with", "without")
        for figure in MEASURED
    }
    return eta | goodput


def findings(runs: Runs) -> dict[str, str]:
    """Return where the queues stand and what the bottleneck costs."""
    run, small, still = runs["with-fig06-6"], runs["with-fig08-6"], runs["still"]
    leaf = run.quantity("queues", "vsb/first", "occupancy_packets")
    loss = runs["without-fig06-6"].quantity("flows", "others-1/down/1", "loss_probability")
    rate = run.quantity("links", "vsb", "capacity_bps") / 1e6
    ping = small.quantity("links", "vsb", "ping_rtt_s") * 1e3
    return {
        "hotspot-8": (
            f"a window of 6 packets a round trip is less than a fair share where pings take {ping} "
            f"ms: the estimator lets a queue of up to 40 ms stand in the access point. At a rate "
            f"of {STILL_RATE} nothing stands there, and eta is {cell.fairness(still)}"
        ),
        "hotspot-9": (
            f"losing {loss * 100} % of the segments costs the simulated cell nothing, since its "
            f"access point never runs empty (six downloads against one); C, {rate} Mb/s on "
            f"average, swings around the capacity, and {leaf} packets wait in station 1's leaf"
        ),
    }


def draw(runs: Runs) -> "Figure":
    """Draw eta with and without the bottleneck over the sweep of each figure."""
    from lasthop.plot.study import Curve, Panel, Stated, sweep_figure

    panels = []
    for figure in ("fig05", "fig06", "fig09"):
        curves = [
            Curve(
                CONNECTIONS,
                [cell.fairness(runs[f"{kind}-{figure}-{x}"]) for x in CONNECTIONS],
                label,
                hollow,
            )
            for kind, label, hollow in (("without", "without", True), ("with", "with VSB", False))
        ]
        stated = Stated.value(CONNECTIONS, [1.0] * len(CONNECTIONS))
        panels.append(Panel("η₁₂", curves, stated, TITLES[figure]))
    return sweep_figure("connections of station 1, X", panels)


STUDY = Study(
    subject="hotspot",
    name="vsb",
    title="Figures 5 to 11 with the virtual shared bottleneck",
    points={
        f"{kind}-{figure}-{x}": tree if kind == "without" else {**tree, "vsb": dict(VSB)}
        for kind in ("with", "without")
        for figure, sweep in SWEEPS.items()
        for x, tree in sweep.items()
        if kind == "with" or figure in MEASURED
    }
    | {"still": {**SWEEPS["fig08"]["6"], "vsb": {"rate": STILL_RATE}}},
    measure=measure,
    draw=draw,
    findings=findings,
)
