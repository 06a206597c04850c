"""Weighted max-min shares of a rate, in two levels: groups, and stations in a group."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Party:
    """A group, or a station of no group.

    Attributes
    ----------
    share : float
        Share, relative to other parties.
    max_bps : float
        Largest rate of the party. [bit/s]
    demands_bps : sequence of float
        Demand of each of its stations; infinite if it has no limit. [bit/s]
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
    """Return weighted max-min shares: none above its demand, the others in proportion.

    Parameters
    ----------
    capacity_bps : float
        Rate that is shared. [bit/s]
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
    # The smallest demand per weight is satisfied first.
    order = sorted(range(len(got)), key=lambda k: demands_bps[k] / weights[k])
    weight = sum(weights)
    for k in order:
        got[k] = min(demands_bps[k], left_bps * weights[k] / weight)
        left_bps -= got[k]
        weight -= weights[k]
    return got


def shared(capacity_bps: float, parties: Sequence[Party]) -> list[list[float]]:
    """Return the rate of each station of each party. [bit/s]

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
    """Return the rate of each flow of a station. Datagrams come first, TCP flows share the rest.

    Parameters
    ----------
    rate_bps : float
        Rate of the station. [bit/s]
    demands_bps : sequence of float
        Rates of sources of datagrams; infinite for TCP. [bit/s]
    """
    fixed = sum(each for each in demands_bps if each < inf)
    scale = min(1.0, rate_bps / fixed) if fixed > 0.0 else 1.0
    greedy = sum(each == inf for each in demands_bps)
    rest = max(rate_bps - fixed, 0.0)
    return [rest / greedy if each == inf else scale * each for each in demands_bps]
