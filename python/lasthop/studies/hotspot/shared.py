"""Figures 5 to 11 with the virtual shared bottleneck, and the cells of these figures without the
bottleneck.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.cell import total
from lasthop.studies.hotspot.sweeps import (
    CONNECTIONS,
    LOSSLESS_QUEUE,
    SLOW,
    connections,
    picture,
    windows,
)
from lasthop.studies.picture import Panel
from lasthop.studies.study import (
    Quantity,
    Runs,
    Study,
    largest,
    listed,
    mean_of,
    smallest,
)
from lasthop.studies.sweep import Point, Sweep, points_of

SWEEPS: Mapping[str, Sweep] = {
    "fig05": connections("upload", "download"),
    "fig06": connections("download", "download"),
    "fig07": connections("download", "download", rate=SLOW),
    "fig08": windows("download"),
    "fig09": connections("upload", "upload"),
    "fig10": connections("upload", "upload", rate=SLOW),
    "fig11": windows("upload"),
}
"""Sweep of each figure, without the bottleneck."""

TITLES = {
    "fig05": "5: X uploads against a download",
    "fig06": "6: X downloads against a download",
    "fig07": "7: like 6, station 1 at 2 Mb/s",
    "fig08": "8: downloads, window of station 1",
    "fig09": "9: X uploads against an upload",
    "fig10": "10: like 9, station 1 at 2 Mb/s",
    "fig11": "11: uploads, window of station 1",
}

MEASURED = ("fig05", "fig06", "fig07", "fig08", "fig09")
"""Figures of claim hotspot-9. This study simulates these figures with and without the bottleneck.

Study ``fig11`` has the runs of figure 11 without the bottleneck.
"""

STILL_RATE = "4.5 Mbps"
"""Rate of the bottleneck at which packets do not accumulate in the access point's queue."""

SHORT_QUEUE = 5
"""Buffer of the access point that is short enough to become empty from time to time. [packets]"""

VSB: Mapping[str, Any] = dict(cell.PAPERS_VSB)
"""Settings of section 4.2's bottleneck: a queue of 200 packets per station, and an estimated
rate.
"""


WITHOUT = {
    figure: replace(sweep, name=f"without-{figure}-{sweep.name}")
    for figure, sweep in SWEEPS.items()
    if figure in MEASURED
}
WITH = {
    figure: replace(
        sweep,
        name=f"with-{figure}-{sweep.name}",
        scenario=lambda x, sweep=sweep: {**sweep.scenario(x=x), "vsb": dict(VSB)},
    )
    for figure, sweep in SWEEPS.items()
}
AGREED = {
    figure: replace(
        sweep,
        name=f"agreed-{figure}-{SWEEPS[figure].name}",
        scenario=lambda x, sweep=sweep: cell.by_agreement(sweep.scenario(x=x)),
    )
    for figure, sweep in WITH.items()
}
"""Sweeps of the figures with the default estimator (rule ``agreement``). No claim uses their
values.
"""


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta at every point, and the mean total goodputs with and without the bottleneck. [-,
    Mb/s]
    """
    values: dict[str, Quantity] = {}
    for figure, sweep in WITH.items():
        values |= sweep.values(runs, {f"eta_{figure}_{{x}}": cell.fairness})
    for figure in MEASURED:
        values[f"with_{figure}"] = mean_of(WITH[figure].read(runs, total))
        values[f"without_{figure}"] = mean_of(WITHOUT[figure].read(runs, total))
    return values | {"with_fig11": mean_of(WITH["fig11"].read(runs, total))}


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return the values of `measure` with the default estimator of C. [-, Mb/s]"""
    values: dict[str, Quantity] = {}
    for figure, sweep in AGREED.items():
        values |= sweep.values(runs, {f"agreed_eta_{figure}_{{x}}": cell.fairness})
    for figure in MEASURED:
        values[f"agreed_{figure}"] = mean_of(AGREED[figure].read(runs, total))
    return values


def findings(runs: Runs) -> dict[str, str]:
    """Return texts on where packets are queued, and on the goodput that the bottleneck costs."""
    small = WITH["fig08"].run(runs, x=6)
    still = [cell.fairness(each.run(runs)) for each in STILL]
    free, free_with = (sweeps["fig06"].run(runs, x=6) for sweeps in (WITHOUT, WITH))
    loss = free.quantity("flows", "others-1/down/1", "loss_probability")
    lossless, short, shared = (total(each.run(runs)) for each in BUFFERED)
    standing = small.scenario["vsb"]["wce"]["threshold_s"]
    agreed = {figure: sweep.read(runs, cell.fairness) for figure, sweep in AGREED.items()}
    goodputs = [mean_of(AGREED[figure].read(runs, total)) for figure in MEASURED]
    return {
        "hotspot-8": (
            "a window of 6 packets per round trip is less than a fair share if pings take "
            f"{cell.ping(small)} ms. The estimator allows a queue of up to {standing * 1e3:g} ms "
            f"in the access point. At a rate of {STILL_RATE} no queue builds up there, and eta is "
            f"{still[0]} among downloads and {still[1]} among uploads. The ACKs of uploads wait "
            f"for a second segment of the six. With an ACK for each segment eta is {still[2]}. "
            "With C by agreement, the smallest and the largest eta of a figure are "
            + "; ".join(
                f"{smallest(etas)}, {largest(etas)} (figure {int(figure[3:])})"
                for figure, etas in agreed.items()
            )
        ),
        "hotspot-9": (
            f"with six downloads against one, a loss of {loss * 100} % of the segments costs "
            f"little, since the access point never runs empty. The total is {total(free)} Mb/s, "
            f"and {lossless} without losses (AP buffer {LOSSLESS_QUEUE}). The oscillation of C "
            f"costs as much ({total(free_with)}). An AP buffer of {SHORT_QUEUE} "
            f"packets does run empty. The total is then {short} Mb/s without the bottleneck and "
            f"{shared} with it, and this gain is the one that the paper saw. With C by agreement, "
            f"the mean cumulative goodputs of figures 5 to 9 are {listed(goodputs)} Mb/s"
        ),
    }


PICTURE = picture(
    "connections of station 1, X",
    [
        Panel(
            "η₁₂",
            WITHOUT[figure].lines("without", "x", cell.fairness, "without")
            + WITH[figure].lines("with VSB", "x", cell.fairness)
            + AGREED[figure].lines("C by agreement", "x", cell.fairness),
            TITLES[figure],
            stated=[(x, 1.0) for x in CONNECTIONS],
        )
        for figure in ("fig05", "fig06", "fig09")
    ],
)

EACH = cell.scenario(
    "uploads, window 6 and an ACK for each segment, against 42",
    {"upload": 1, "tcp": {"window": 6, "delayed_ack": False}},
    {"upload": 1},
)


def buffered(packets: int) -> dict[str, Any]:
    """Return six downloads at station 1 and one at each other station, with a buffer of `packets`
    at the access point.
    """
    title = f"6 x download against download, AP buffer {packets}"
    return cell.scenario(title, {"download": 6}, {"download": 1}, ap_queue=packets)


STILL = [
    Point(f"still-{name}", {**tree, "vsb": {"rate": STILL_RATE}})
    for name, tree in (
        ("download", SWEEPS["fig08"].scenario(x=6)),
        ("upload", SWEEPS["fig11"].scenario(x=6)),
        ("each", EACH),
    )
]
"""Scenarios with receive windows of 6 packets, in which the access point has no standing queue."""

BUFFERED = [
    Point("lossless", buffered(LOSSLESS_QUEUE)),
    Point("short-without", buffered(SHORT_QUEUE)),
    Point("short-with", {**buffered(SHORT_QUEUE), "vsb": dict(VSB)}),
]
"""Scenarios of `buffered`, with and without the bottleneck."""

STUDY = Study(
    key="hotspot-vsb",
    title="Figures 5 to 11 with the virtual shared bottleneck",
    points=points_of(*WITH.values(), *AGREED.values(), *WITHOUT.values(), *STILL, *BUFFERED),
    measure=measure,
    regime=cell.lossless,
    shown=shown,
    draw=PICTURE.draw,
    findings=findings,
)
