"""Weighted max-min shares of a rate: first among groups, then among the stations of each group."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Party:
    """A party that shares the rate: a group, or a station that belongs to no group.

    Attributes
    ----------
    share : float
        Weight of the party, relative to the weights of other parties.
    max_bps : float
        Largest rate of the party. [bit/s]
    demands_bps : sequence of float
        Demand of each station of the party; infinite if the demand has no limit. [bit/s]
    """

    share: float
    max_bps: float
    demands_bps: Sequence[float]

    @property
    def demand_bps(self) -> float:
        """Largest rate that the party can use. [bit/s]"""
        return min(self.max_bps, sum(self.demands_bps))


def filled(
    capacity_bps: float, demands_bps: Sequence[float], weights: Sequence[float]
) -> list[float]:
    """Return weighted max-min shares: no share exceeds its demand, and the shares below their
    demands are proportional to the weights.

    Parameters
    ----------
    capacity_bps : float
        Rate that the parties share. [bit/s]
    demands_bps : sequence of float
        Largest rate that each party can use. [bit/s]
    weights : sequence of float
        Relative shares.

    Returns
    -------
    list of float
        Rate of each party. [bit/s]
    """
    got = [0.0] * len(demands_bps)
    left_bps = capacity_bps
    # The party with the smallest ratio of demand to weight is satisfied first.
    order = sorted(range(len(got)), key=lambda k: demands_bps[k] / weights[k])
    weight = sum(weights)
    for k in order:
        got[k] = min(demands_bps[k], left_bps * weights[k] / weight)
        left_bps -= got[k]
        weight -= weights[k]
    return got


def shared(capacity_bps: float, parties: Sequence[Party]) -> list[list[float]]:
    """Return the rate of each station, as one list per party. [bit/s]

    Parameters
    ----------
    capacity_bps : float
        Rate of the bottleneck. [bit/s]
    parties : sequence of Party
    """
    demands = [party.demand_bps for party in parties]
    rates = filled(capacity_bps, demands, [party.share for party in parties])
    return [
        filled(rate, party.demands_bps, [1.0] * len(party.demands_bps))
        for rate, party in zip(rates, parties, strict=True)
    ]


def of_flows(rate_bps: float, demands_bps: Sequence[float]) -> list[float]:
    """Return the rate of each flow of a station. TCP flows share the rate that datagrams do not
    use.

    Parameters
    ----------
    rate_bps : float
        Rate of the station. [bit/s]
    demands_bps : sequence of float
        Rate of each source of datagrams; infinite for a TCP flow. [bit/s]
    """
    fixed = sum(each for each in demands_bps if each < inf)
    scale = min(1.0, rate_bps / fixed) if fixed > 0.0 else 1.0
    greedy = sum(each == inf for each in demands_bps)
    rest = max(rate_bps - fixed, 0.0)
    return [rest / greedy if each == inf else scale * each for each in demands_bps]
