"""Fairness measures over the senders whose demand is not met.

A flow whose demand is met is not treated unfairly. The demand of a flow with a given rate is met if
at most 1 % of its datagrams are lost, and datagrams on the way do not accumulate. The demand of a
TCP connection whose application paces it is met if the application limits it for at least 1 % of
its life. The demand of other connections and of greedy sources is never met. Sensor reports have no
demand. A flow competes if its demand is not met. A station competes if one of its flows competes.
Results of simulations follow the same rules (``crates/engine/src/measure/fairness.rs``).
"""

from collections.abc import Collection, Mapping, Sequence

__all__ = [
    "MET_PERCENT",
    "fairness_levels",
    "is_met",
    "jain",
    "jain_index",
    "judged",
    "mixed_demands",
]

Stations = Mapping[str, Mapping[str, Sequence[float | None]]]
"""Samples by station and quantity. A sequence has one sample per replication; a missing sample is
None.
"""

MET_PERCENT = 99
"""Percentage of datagrams that must arrive for the demand of a flow to be met. [%]"""

PILE = 1.5
"""Largest ratio of the number of datagrams on the way to its expected value, which is the rate
times the mean delay. If the ratio is larger, datagrams accumulate. [-]
"""

TINIEST = 1e-100
"""Goodputs up to this value are scaled before they are squared, since their squares may underflow
to 0.
"""


def is_met(sent: int, arrived: int, lost: int, under_way: int, expected: float) -> bool:
    """Return whether the demand of a source is met.

    Parameters
    ----------
    sent, arrived, lost : int
        Datagrams sent during the measured time, and datagrams that arrived or were lost in it.
    under_way : int
        Datagrams on the way at the end of the measured time.
    expected : float
        Mean number of datagrams on the way by Little's law: rate times mean delay. [datagrams]
    """
    decided = arrived + lost
    if not decided:
        return not sent
    piled_up = under_way > max(PILE * expected, expected + (1 - MET_PERCENT / 100) * sent)
    return 100 * arrived >= MET_PERCENT * decided and not piled_up


def jain(goodputs: Collection[float]) -> float | None:
    """Return Jain's index of the competing stations; None with fewer than two, or if all goodputs
    are 0. [-]
    """
    return jain_index(goodputs) if len(goodputs) > 1 and any(goodputs) else None


def jain_index(goodputs: Collection[float]) -> float:
    r"""Return Jain's index of M goodputs x, :math:`J = (\sum x_i)^2 / (M \sum x_i^2)`. [-]

    Parameters
    ----------
    goodputs : collection of float
        Goodput of each station, in any unit; not all zero.

    Notes
    -----
    Hot-spot paper, Eq. (27), with the square that is missing in the text of appendix III.
    """
    if max(goodputs) <= TINIEST:  # The squares would underflow to 0.
        goodputs = [x / max(goodputs) for x in goodputs]
    return sum(goodputs) ** 2 / (len(goodputs) * sum(x * x for x in goodputs))


def fairness_levels(goodputs: Mapping[str, float]) -> dict[str, float]:
    r"""Return the fairness levels: goodput of the first station divided by that of station j. [-]

    The levels are :math:`\eta_{1j} = GP_1 / GP_j`, where GP is the goodput of a competing station.

    Parameters
    ----------
    goodputs : mapping of str to float
        Goodput of each competing station, in the order of the scenario, in any unit.

    Notes
    -----
    Fairness level of the hot-spot paper, Eqs. (2) and (3). Stations without goodput are omitted.
    """
    first = next(iter(goodputs.values()), 0.0)
    return {name: first / own for name, own in goodputs.items() if own > 0.0}


def judged(stations: Stations) -> list[str]:
    """Return the names of the stations that compete for goodput in at least one replication."""
    return [
        name
        for name, quantities in stations.items()
        if any(level is not None for level in quantities.get("fairness_level", ()))
    ]


def mixed_demands(stations: Stations) -> list[str]:
    """Return a warning for each station whose demand is met in only some replications.

    In such a case, the replications compute Jain's index over different sets of stations. The mean
    of the index over replications is then not meaningful.
    """
    warnings = []
    for name, quantities in stations.items():
        levels = quantities.get("fairness_level", ())
        goodputs = quantities.get("goodput_bps", ())
        counted = [
            level is not None for level, goodput in zip(levels, goodputs, strict=False) if goodput
        ]
        if any(counted) and not all(counted):
            warnings.append(
                f"station {name}: gets {MET_PERCENT} % of its demand in {counted.count(False)} of "
                f"{len(counted)} replications: Jain's index excludes it there and includes it in "
                "the others"
            )
    return warnings
