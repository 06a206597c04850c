"""The virtual shared bottleneck and its capacity estimator (paper 002) before a cell with
aggregation.

One station has four connections, up or down, and three stations have a download each. The estimated
rate C of the bottleneck is at most 1.2 times the throughput of the cell. The sweep varies the
threshold for the round-trip times of pings. The default is the paper's 40 ms. The queue of each
station in the bottleneck stores up to 1000 packets.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.ax import cell
from lasthop.studies.picture import Abscissa, Line, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Read, Run, Runs, Study, about, reading
from lasthop.studies.sweep import Sweep, points_of

CARRIED_MBPS = 530
"""Rate slightly above the throughput of the 802.11ax cell and of the 802.11ac cell. [Mb/s]"""

CAP_MBPS = 600
"""Largest rate C of the bottleneck. [Mb/s]"""

THRESHOLDS = (10, 15, 20, 40)
"""Thresholds of the pings' round-trip time. Above the threshold, the estimator reduces C. [ms]"""

CALM = 10
"""Second threshold at which claims are judged, in addition to the default. The value is the
duration of two aggregates of 4.9 ms. [ms]
"""

MANY = 100
"""Number of replications with downloads and the threshold `CALM`. In some replications C is at its
limit for seconds, so that neither ten nor thirty replications decide the claim.
"""

LEAF = 1000
"""Limit of the queue that each station has in the bottleneck. The limit is the length of four
aggregates. The default of scenarios is 200. [packets]
"""

WAYS = ("down", "up")
SEEDS = range(1, cell.REPLICATIONS + 1)

SETTLED_S = 10.0
"""Time after which the estimated rate C is considered settled. [s]"""

SHORT = {"aggregation": {"time": "0.5 ms"}}
LENGTHS: dict[str, dict[str, Any]] = {"full": {}, "short": SHORT}


def estimated(threshold: int, leaf: int = LEAF) -> dict[str, Any]:
    """Return the settings of a bottleneck whose rate is estimated."""
    high = min(100, 4 * threshold)
    wce = {"max": f"{CAP_MBPS} Mbps", "threshold": f"{threshold} ms", "high": f"{high} ms"}
    return {"vsb": {"queue": leaf, "wce": wce}}


def scenario(
    phy: str, way: str, name: str, vsb: Any = None, queue: Any = cell.ROOM, **more: Any
) -> dict[str, Any]:
    """Return a cell with one station with four connections, and three stations with one download
    each.
    """
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
"""Ratio of the goodput of the station with four connections to the mean goodput of the other
stations. [-]
"""

capacity = reading("links", "vsb", "capacity_bps") / 1e6
"""Time average of the bottleneck's rate C. [Mb/s]"""

pings = reading("links", "vsb", "ping_rtt_s") * 1e3
"""Mean round-trip time of the pings. [ms]"""


def settled(run: Run) -> NDArray[np.float64]:
    """Return the recorded rates C of the bottleneck after `SETTLED_S`. [bit/s]"""
    times, rates = run.track("links", "vsb", "capacity_bps")
    return np.asarray(rates)[np.asarray(times) > SETTLED_S]


def swing(runs: Runs, phy: str, length: str) -> Quantity:
    """Return, for each seed, the standard deviation of the rate C over time, divided by the mean
    rate. [-]
    """
    every = map(settled, TRACES.at(phy=phy, length=length).runs(runs))
    return Quantity(np.asarray([np.std(rates) / np.mean(rates) for rates in every]))


def above(runs: Runs, phy: str) -> Quantity:
    """Return, for each seed, the fraction of time in which the rate C exceeds the throughput of the
    cell. [-]
    """
    every = map(settled, TRACES.at(phy=phy, length="full").runs(runs))
    return Quantity(np.asarray([np.mean(rates > 1e6 * CARRIED_MBPS) for rates in every]))


def traced_eta(runs: Runs, phy: str) -> Quantity:
    """Return, for each seed, the goodput ratio eta of the run that records time series. [-]"""
    every = TRACES.at(phy=phy, length="full").runs(runs)
    return Quantity(np.asarray([eta(run).samples[0] for run in every]))


def correlation(runs: Runs, phy: str) -> float:
    """Return the correlation, over seeds, between eta and the time in which the rate C is too
    large. [-]
    """
    pair = (above(runs, phy).samples, traced_eta(runs, phy).samples)
    return float(np.corrcoef(*pair)[0, 1])


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the goodput ratio eta, the throughput, the rate C, and the variation of C."""
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
    """Return the round-trip times of pings, and the queue of the access point."""
    values = SWEEP.values(
        runs,
        {"pings_{phy}_{way}_{threshold}": pings, "queue_{phy}_{way}_{threshold}": cell.occupancy},
    )
    for phy in cell.BOTH:
        values |= {f"above_{phy}": above(runs, phy), f"traced_{phy}": traced_eta(runs, phy)}
    return values | LEAVES.values(runs, {"loss_{phy}_{way}_leaf200": cell.loss})


def finding(runs: Runs) -> str:
    """Return a text on three effects: of the default threshold, of short queues in the bottleneck,
    and of the rate C on eta.
    """
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
    """Return lines over the thresholds, and horizontal lines for the Linux queue without a
    bottleneck.
    """
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
