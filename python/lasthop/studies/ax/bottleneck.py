"""The virtual shared bottleneck and its estimator (paper 002) in front of a cell that aggregates.

A station has four connections, up or down, and three stations have a download each. C is estimated,
at most 1.2 times what the cell carries, with thresholds for the round-trip times of pings that are
swept; the default is the paper's 40 ms. Leaves have room for 1000 packets.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.ax import cell
from lasthop.studies.picture import Abscissa, Line, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Read, Run, Runs, Study, about, reading
from lasthop.studies.sweep import Sweep, points_of

CARRIED_MBPS = 530
"""Somewhat more than either cell carries. [Mb/s]"""

CAP_MBPS = 600
"""Largest rate of the bottleneck. [Mb/s]"""

THRESHOLDS = (10, 15, 20, 40)
"""Round-trip times above which the rate falls. [ms]"""

CALM = 10
"""The threshold that claims judge in addition to the default: two aggregates of 4.9 ms. [ms]"""

MANY = 100
"""Replications with that threshold, downloads: C goes to its cap for seconds in some, and neither
ten nor thirty decide what the claim asks."""

LEAF = 1000
"""Room in each leaf, four times an aggregate; the default of scenarios is 200. [packets]"""

WAYS = ("down", "up")
SEEDS = range(1, cell.REPLICATIONS + 1)

SETTLED_S = 10.0
"""From when on C counts as settled. [s]"""

SHORT = {"aggregation": {"time": "0.5 ms"}}
LENGTHS: dict[str, dict[str, Any]] = {"full": {}, "short": SHORT}


def estimated(threshold: int, leaf: int = LEAF) -> dict[str, Any]:
    """Return the bottleneck with an estimated rate."""
    high = min(100, 4 * threshold)
    wce = {"max": f"{CAP_MBPS} Mbps", "threshold": f"{threshold} ms", "high": f"{high} ms"}
    return {"vsb": {"queue": leaf, "wce": wce}}


def scenario(
    phy: str, way: str, name: str, vsb: Any = None, queue: Any = cell.ROOM, **more: Any
) -> dict[str, Any]:
    """Return a cell with four connections of one station, and three stations with a download."""
    return cell.scenario(
        f"four {way}loads against one, {name}",
        phy,
        {"first": {f"{way}load": 4}, "others": {"count": 3, "download": 1}},
        queue=queue,
        more=vsb,
        **{"seconds": (10, 24), **more},
    )


SWEEP = Sweep(
    "{phy}-{way}-{threshold}",
    lambda phy, way, threshold: scenario(
        phy,
        way,
        f"{threshold} ms",
        estimated(threshold),
        replications=MANY if (way, threshold) == ("down", CALM) else cell.REPLICATIONS,
    ),
    {"phy": cell.BOTH, "way": WAYS, "threshold": THRESHOLDS},
    words={"down": "downloads", "up": "uploads"},
)
KINDS = {"fifo": cell.ROOM, "linux": cell.LINUX}
BARE = Sweep(
    "{phy}-{way}-{kind}",
    lambda phy, way, kind: scenario(phy, way, kind, queue=KINDS[kind]),
    {"phy": cell.BOTH, "way": WAYS, "kind": tuple(KINDS)},
)
BEFORE_LINUX = Sweep(
    "{phy}-{way}-both",
    lambda phy, way: scenario(phy, way, "both", estimated(CALM), cell.LINUX),
    {"phy": cell.BOTH, "way": WAYS},
)
LEAVES = Sweep(
    "{phy}-{way}-leaf200",
    lambda phy, way: scenario(phy, way, "leaves of 200", estimated(40, 200)),
    {"phy": cell.BOTH, "way": WAYS},
)
TRACES = Sweep(
    "{phy}-{length}-trace{seed}",
    lambda phy, length, seed: {
        **scenario(
            phy,
            "down",
            f"C over time, aggregates {length}",
            estimated(CALM),
            seconds=(int(SETTLED_S), 30),
            replications=1,
            cell=LENGTHS[length],
        ),
        "seed": seed,
        "record": {"series_interval": "500 ms"},
    },
    {"phy": cell.BOTH, "length": tuple(LENGTHS), "seed": tuple(SEEDS)},
)


eta = cell.goodput("first") / cell.goodput("others")
"""Goodput of the station with four connections over the mean of the others. [-]"""

capacity = reading("links", "vsb", "capacity_bps") / 1e6
"""Time average of C. [Mb/s]"""

pings = reading("links", "vsb", "ping_rtt_s") * 1e3
"""Mean round-trip time of the pings. [ms]"""


def settled(run: Run) -> NDArray[np.float64]:
    """Return C over time once it has settled. [bit/s]"""
    times, rates = run.track("links", "vsb", "capacity_bps")
    return np.asarray(rates)[np.asarray(times) > SETTLED_S]


def swing(runs: Runs, phy: str, length: str) -> Quantity:
    """Return the standard deviation of C over its mean, once for each seed. [-]"""
    every = map(settled, TRACES.at(phy=phy, length=length).runs(runs))
    return Quantity(np.asarray([np.std(rates) / np.mean(rates) for rates in every]))


def above(runs: Runs, phy: str) -> Quantity:
    """Return the part of the time in which C is more than the cell carries, for each seed. [-]"""
    every = map(settled, TRACES.at(phy=phy, length="full").runs(runs))
    return Quantity(np.asarray([np.mean(rates > 1e6 * CARRIED_MBPS) for rates in every]))


def traced_eta(runs: Runs, phy: str) -> Quantity:
    """Return eta in the runs over time, for each seed. [-]"""
    every = TRACES.at(phy=phy, length="full").runs(runs)
    return Quantity(np.asarray([eta(run).samples[0] for run in every]))


def correlation(runs: Runs, phy: str) -> float:
    """Return how eta and the time with too large a C go together over seeds. [-]"""
    pair = (above(runs, phy).samples, traced_eta(runs, phy).samples)
    return float(np.corrcoef(*pair)[0, 1])


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return how fair it is, what it carries, what C is, and how much C moves."""
    both = {"eta": eta, "total": cell.total}
    values = SWEEP.values(
        runs,
        {f"{name}_{{phy}}_{{way}}_{{threshold}}": read for name, read in both.items()}
        | {"capacity_{phy}_{way}_{threshold}": capacity},
    )
    for sweep, word in ((BARE, "{kind}"), (BEFORE_LINUX, "both"), (LEAVES, "leaf200")):
        values |= sweep.values(
            runs, {f"{name}_{{phy}}_{{way}}_{word}": read for name, read in both.items()}
        )
    for phy in cell.BOTH:
        for length in LENGTHS:
            values[f"swing_{phy}_{length}"] = swing(runs, phy, length)
    return values


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return the pings, and what waits at the access point."""
    values = SWEEP.values(
        runs,
        {"pings_{phy}_{way}_{threshold}": pings, "queue_{phy}_{way}_{threshold}": cell.occupancy},
    )
    for phy in cell.BOTH:
        values |= {f"above_{phy}": above(runs, phy), f"traced_{phy}": traced_eta(runs, phy)}
    return values | LEAVES.values(runs, {"loss_{phy}_{way}_leaf200": cell.loss})


def finding(runs: Runs) -> str:
    """Return why the default does nothing, what short leaves do, and where both queues meet."""
    default, calm = SWEEP.at(phy="ax", way="down", threshold=(40, CALM)).runs(runs)
    leaf = LEAVES.run(runs, phy="ax", way="down")
    return (
        f"with downloads in 802.11ax and the default of 40 ms, pings take {pings(default)} ms. The "
        f"FIFO has {cell.occupancy(default)} packets, so C is {capacity(default)} Mb/s, its cap. "
        f"With {CALM} ms C is {capacity(calm)}, and pings take {pings(calm)} ms. With the default "
        f"leaves of 200 packets, less than an aggregate, eta is {eta(leaf)}, and the cell carries "
        f"{cell.total(leaf)} Mb/s. The leaves drop packets that arrive in bursts, and the FIFO "
        f"loses {cell.loss(leaf)} of the packets. The settled C varies by "
        f"{swing(runs, 'ax', 'full')} of its mean, and by {swing(runs, 'ax', 'short')} with "
        "aggregates of 0.5 ms. Over the ten seeds, eta depends on the fraction of time in which C "
        f"is above {CARRIED_MBPS} Mb/s, more than the cell carries. The correlation is "
        f"{correlation(runs, 'ax'):.2f}. In 802.11ac it is {correlation(runs, 'ac'):.2f}"
    )


def _lines(phy: str, read: Read) -> list[Line]:
    """Return lines over thresholds, and flat ones where the Linux queue is alone."""
    lines = SWEEP.at(phy=phy).lines("four {way}", "threshold", read)
    for way in WAYS:
        linux = BARE.at(phy=phy, way=way, kind="linux")
        lines.append(
            Line(
                f"four {SWEEP.words[way]}",
                THRESHOLDS,
                lambda runs, linux=linux: linux.read(runs, read) * len(THRESHOLDS),  # type: ignore[misc]
                "Linux queue only",
            )
        )
    return lines


PICTURE = Picture(
    Abscissa("threshold of the pings [ms]", places=evenly(THRESHOLDS), ticks=THRESHOLDS),
    [
        *(
            Panel(
                "η [-]",
                _lines(phy, eta),
                f"four connections against one each, {cell.PHY_WORDS[phy]}",
                levels={"fair": 1.0},
            )
            for phy in cell.BOTH
        ),
        *(
            Panel(
                "goodput [Mb/s]",
                _lines(phy, cell.total),
                f"whole cell, {cell.PHY_WORDS[phy]}",
                from_zero=False,
            )
            for phy in cell.BOTH
        ),
    ],
)

STUDY = Study(
    key="ax-bottleneck",
    title="The virtual shared bottleneck and its estimator",
    points=points_of(SWEEP, BARE, BEFORE_LINUX, LEAVES, TRACES),
    measure=measure,
    shown=shown,
    findings=about("ax-4", finding),
    draw=PICTURE.draw,
)
