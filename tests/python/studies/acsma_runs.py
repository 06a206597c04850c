"""Results of runs for the studies of paper 001, made of plain numbers. The expected values for
these numbers were computed by hand.
"""

from collections.abc import Mapping, Sequence
from math import sqrt

from lasthop.studies.acsma import STUDIES
from lasthop.studies.study import Quantity, Run

from .made_up import Pair, a_run

STUDY = {study.name: study for study in STUDIES}
SIMULATED = [study.name for study in STUDIES if study.points]
USERS = (1, 2, 3, 4)
TOPOLOGIES = ("a", "b", "c")
CURES = ("hack", "nack")
VARIANTS = ("theory", "slots", "silences", "patient", "opened", "smooth", "delayed")

Four = Sequence[Pair]
"""Values of a quantity for four users or links, in two replications."""

RATES: Four = ((136, 272), (68, 34), (272, 136), (544, 68))
"""Throughputs of four users. The rate C = 544 packets/s divided by each throughput is a whole
number. [packets/s]
"""
WORTH: Pair = (4 + 8 + 2 + 1, 2 + 16 + 4 + 8)
"""Sum over users of C divided by the throughputs in `RATES`, in two replications."""

BEST_WORTH = {"a": 6 + 2 * sqrt(5), "b": 4 + 2 * sqrt(3), "c": 6 + 4 * sqrt(2)}
"""Sum over users of C divided by the rates at the optimum without entropy, by topology.

In topology a, link 2 is active for a fraction t of the time. Link 1 is active for 1 - t, and links
3 and 4 for half of 1 - t each. The minimum of 1 / t + 5 / (1 - t) is at t = 1 / (1 + sqrt 5), where
the sum is (1 + sqrt 5)^2.

In topology b, link 1 is active for t, and the three other links for 1 - t. The minimum of 1 / t + 3
/ (1 - t) is (1 + sqrt 3)^2.

In topology c, links 1 and 4 are active for t, and links 2 and 3 for half of 1 - t each. The minimum
of 2 / t + 4 / (1 - t) is (2 + sqrt 2)^2.
"""

BEST = {
    "a": (260.352485, 139.343602, 177.429298, 177.429298),
    "b": (140.108456, 260.006137, 260.006137, 260.006137),
    "c": (195.769843, 139.644368, 139.644368, 195.769843),
}
"""Rates at the optimum with entropy for beta = 200 and k = 10, by topology. A test in
`test_measures_acsma.py` checks these rates. [packets/s]
"""

SETS = {
    # The sets of topology a follow from line 303 of the paper's text.
    "a": ("", "1", "2", "3", "4", "13", "14"),
    # Paper, line 694: "link 1 starves and links 2, 3 and 4 obtain the whole ... channel access"
    "b": ("", "1", "2", "3", "4", "23", "24", "34", "234"),
    # Paper, line 694: "links 2 and 3 starve, link 1 and link 4 get the half of the ... bandwidth"
    "c": ("", "1", "2", "3", "4", "14"),
}
"""Sets of links that can send simultaneously, by topology."""


def a_net(
    rates: Four | Mapping[str, Pair] = RATES,
    *,
    r: Four = ((8, 8), (9, 9), (10, 10), (11, 11)),
    connections: Four = ((21, 22), (23, 24), (25, 26), (27, 28)),
    forward: Four = ((31, 32),) * 4,
    back: Four = ((33, 34),) * 4,
    loss: Four = ((0.7, 0.8),) * 4,
    again: Four = ((51, 52),) * 4,
    opened: Four = ((61, 62),) * 4,
    closed: Four = ((63, 64),) * 4,
    rtt: Four = ((0.1, 0.2),) * 4,
) -> Run:
    """Return a run with the given throughputs [packets/s] of four users, or of the named flows.

    The aggressiveness r is given in thousandths.
    """
    if isinstance(rates, Mapping):
        return a_run(flows={name: _flow(pair) for name, pair in rates.items()})
    flows = {}
    for k, user in enumerate(USERS):
        flows[f"user-{user}"] = _flow(rates[k]) | {
            "connections": connections[k],
            "loss_probability": loss[k],
            "retransmissions": again[k],
            "connections_opened": opened[k],
            "connections_closed": closed[k],
            "rtt_s": rtt[k],
        }
    links, queues = {}, {}
    for k, link in enumerate(USERS):
        for name, queue in ((f"{link}", forward), (f"{link}/back", back)):
            queues[name] = {"occupancy_packets": queue[k], "drop_probability": (0.3, 0.4)}
            links[name] = {"aggressiveness": (0.2, 0.3), "airtime_fraction": (0.1, 0.2)}
        links[f"{link}"]["aggressiveness"] = [1e-3 * value for value in r[k]]
    return a_run(flows=flows, links=links, queues=queues)


def _flow(pair: Pair) -> dict[str, Sequence[float]]:
    return {
        "goodput_bps": [8000 * value for value in pair],  # payload of 1000 bytes
        "offered_bps": (7e6, 8e6),
        "rtt_s": (0.1, 0.2),
    }


def total(*parts: Pair) -> Pair:
    """Return the sum of the values in each of the two replications."""
    first, second = (sum(each) for each in zip(*parts, strict=True))
    return first, second


def times(factor: float, rates: Four) -> Four:
    """Return the rates multiplied by a factor."""
    return [(factor * first, factor * other) for first, other in rates]


def measure(name: str, runs: Mapping[str, Run]) -> dict[str, Quantity]:
    return dict(STUDY[name].measure(runs))


def users(prefix: str, four: Four) -> dict[str, Pair]:
    return {f"{prefix}_{user}": pair for user, pair in zip(USERS, four, strict=True)}


E = {"a-to-g": 120.828215, "b-to-c": 211.585892, "i-to-g": 132.071531}
"""Rates at the optimum of topology e without entropy, by flow. [packets/s]"""
