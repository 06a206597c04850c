"""Tables of results for the page on Compound TCP with RED."""

from collections.abc import Iterator
from math import nan

import beside

from lasthop.models.red import fluid
from lasthop.models.red.timeouts import reno_loss
from lasthop.scenario.scenario import Scenario
from lasthop.stability.errors import NoEquilibriumError
from lasthop.studies.red.costs import PAPERS_MEGABYTES
from lasthop.studies.red.policies import COARSE_S, FINE_S
from lasthop.studies.red.router import FLOWS, POLICIES
from lasthop.studies.sweep import tag
from tables.cells import Values, table

RED = Values("red")


def _reno(load: str) -> str:
    """Return the loss probability at which Reno with timeouts fills the link, or a dash if the
    model refuses the case. [%]
    """
    known = Scenario(beside.load_of(load)).typed
    try:
        loss = reno_loss(fluid(known), known.tcp_flows[0].tcp)
    except NoEquilibriumError:
        return "-"
    return "-" if loss is None else f"{100.0 * loss:.2f}"


def loads() -> Iterator[str]:
    """Yield the table of window, loss and utilisation of flows through a queue, from fluid model
    and simulation.
    """
    rows = []
    for load, (words, _, flows, rtts) in beside.LOADS.items():
        window, loss, use = (f"loads.{name}_{load}" for name in ("window", "loss", "use"))
        rows.append(
            [
                words,
                f"{flows}",
                " and ".join(map(str, rtts)),
                RED.predicted(window),
                RED.simulated(window),
                RED.predicted(loss, 100.0),
                _reno(load),
                RED.simulated(loss, 100.0),
                RED.predicted(use, 100.0),
                RED.simulated(use, 100.0),
            ]
        )
    yield from table(
        [
            *("queue", "flows", "RTT [ms]", "window, fluid", "window, packets", "loss, fluid [%]"),
            *("loss, Reno [%]", "loss, packets [%]"),
            *("utilisation, fluid [%]", "utilisation, packets [%]"),
        ],
        rows,
    )


SENDERS = {
    "compound": "Compound, as published",
    "newreno": "NewReno",
    "delayed": "Compound, delayed ACKs",
    "sack": "Compound, SACK",
}

PAPERS_MEGABITS = 8.0 * PAPERS_MEGABYTES
"""Amount of data that each flow transfers in the paper. [Mbit]"""


def senders() -> Iterator[str]:
    """Yield the table of the goodput of sixty flows at a round-trip time of 200 ms, by sender."""
    rows = []
    for sender, words in SENDERS.items():
        names = [f"senders.goodput_{sender}_{policy}" for policy in POLICIES]
        red, threshold = (
            FLOWS * PAPERS_MEGABITS / (RED.of(name).simulated or nan) for name in names
        )
        rows.append([words, *map(RED.simulated, names), f"{red - threshold:+.0f}"])
    yield from table(
        [
            *("TCP", "RED [Mb/s]", "threshold policy [Mb/s]"),
            f"time for {PAPERS_MEGABYTES} MB per flow: RED minus threshold policy [s]",
        ],
        rows,
    )


QUEUES = {"threshold": "threshold", "red": "RED", "red500": "RED, 500 B"}


def bins() -> Iterator[str]:
    """Yield the table of the smallest utilisation at a round-trip time of 200 ms, by width of the
    time bins.
    """
    names = "fig15.utilisation_min_{}_bin_{}"
    yield from table(
        ["width of bins", *(f"{words} [%]" for words in QUEUES.values())],
        [
            [
                f"{width_s:g} s",
                *(RED.simulated(names.format(queue, tag(width_s)), 100.0) for queue in QUEUES),
            ]
            for width_s in (FINE_S, COARSE_S)
        ],
    )


TABLES = {"loads": loads, "senders": senders, "bins": bins}
