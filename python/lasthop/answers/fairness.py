"""Fairness, which is judged among senders whose demand is not met.

A flow that gets all it asks for is not treated unfairly. The demand of a flow with a given rate is
met if at most 1 % of its datagrams are lost, and datagrams on the way do not accumulate.
Connections and greedy sources always demand more. The reports of sensors demand no share. A station
competes if one of its flows competes. Results of simulations follow the same rules
(``crates/engine/src/measure/fairness.rs``).
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
"""Samples of each station by name and quantity, one per replication; None where it has none."""

MET_PERCENT = 99
"""Part of its datagrams that a flow must deliver for its demand to be met. [%]"""

PILE = 1.5
"""Datagrams pile up if more are under way than this many times rate times mean delay. [-]"""

TINIEST = 1e-100
"""Goodput whose square is computed as it is."""


def is_met(sent: int, arrived: int, lost: int, under_way: int, expected: float) -> bool:
    """Return whether the demand of a source is met.

    Parameters
    ----------
    sent, arrived, lost : int
        Datagrams sent in the time measured, and those whose fate became known in it.
    under_way : int
        Datagrams on the way at its end.
    expected : float
        Their mean number by Little's law: their rate times their mean delay. [datagrams]
    """
    decided = arrived + lost
    if not decided:
        return not sent
    piled_up = under_way > max(PILE * expected, expected + (1 - MET_PERCENT / 100) * sent)
    return 100 * arrived >= MET_PERCENT * decided and not piled_up


def jain(goodputs: Collection[float]) -> float | None:
    """Jain's index of those that compete; None with fewer than two, and if all are 0. [-]"""
    return jain_index(goodputs) if len(goodputs) > 1 and any(goodputs) else None


def jain_index(goodputs: Collection[float]) -> float:
    r"""Jain's fairness index, :math:`J = (\sum x_i)^2 / (M \sum x_i^2)`. [-]

    Parameters
    ----------
    goodputs : collection of float
        Goodput of each, any unit; not all zero.

    Notes
    -----
    Hot-spot paper, Eq. (27), with the square that appendix III's text leaves out.
    """
    if max(goodputs) <= TINIEST:  # Their squares would be 0.
        goodputs = [x / max(goodputs) for x in goodputs]
    return sum(goodputs) ** 2 / (len(goodputs) * sum(x * x for x in goodputs))


def fairness_levels(goodputs: Mapping[str, float]) -> dict[str, float]:
    r"""Fairness level of each station that competes, :math:`\eta_{1j} = GP_1 / GP_j`. [-]

    Parameters
    ----------
    goodputs : mapping of str to float
        Goodput of each station that competes, in the order of the scenario, any unit.

    Notes
    -----
    Hot-spot paper, Eqs. (2) and (3); stations without goodput have none.
    """
    first = next(iter(goodputs.values()), 0.0)
    return {name: first / own for name, own in goodputs.items() if own > 0.0}


def judged(stations: Stations) -> list[str]:
    """Return the stations that count for fairness in some replication."""
    return [
        name
        for name, quantities in stations.items()
        if any(level is not None for level in quantities.get("fairness_level", ()))
    ]


def mixed_demands(stations: Stations) -> list[str]:
    """Return a warning per station whose demand is met in some of the replications only.

    Fairness is then judged among other stations in some replications than in the rest, so that the
    mean of Jain's index is over unlike things.
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
