"""Networks of CSMA links and wired links, with the flows over these links (paper 001, sections 3.1
and 5.3.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from lasthop.models.acsma.errors import NetworkError
from lasthop.models.acsma.graph import ConflictGraph
from lasthop.models.acsma.sets import Floats
from lasthop.models.acsma.utility import AlphaFair, Utility


@dataclass(frozen=True)
class Flow:
    r"""A user's flow over a fixed route, :math:`s`.

    Attributes
    ----------
    name : str
        Name of the flow.
    route : tuple of str
        Wireless or wired links on the route, :math:`l \in s`.
    utility : Utility
        Utility of the flow's rate, :math:`U_s`; by default :math:`-1/x`.
    """

    name: str
    route: tuple[str, ...]
    utility: Utility = field(default_factory=AlphaFair)


@dataclass(frozen=True)
class Network:
    r"""Wireless links with their conflict graph, wired links, and flows over them.

    Attributes
    ----------
    graph : ConflictGraph
        Conflict graph of the wireless links, :math:`E'`.
    flows : tuple of Flow
        Flows of the users, :math:`\mathcal S`.
    service_rate_pps : float
        Rate at which an active wireless link sends packets, :math:`C`. In the paper C = 1, so that
        rates are fractions of a link's capacity. [packets/s]
    wired_pps : mapping of str to float
        Capacity of each wired link, :math:`C_w`. [packets/s]

    Raises
    ------
    NetworkError
        If a route is empty, passes a link twice or passes an unknown link; if names are not unique;
        or if a rate is not positive.
    """

    graph: ConflictGraph
    flows: tuple[Flow, ...]
    service_rate_pps: float = 1.0
    wired_pps: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "wired_pps", MappingProxyType(dict(self.wired_pps)))
        rates = {"the service rate": self.service_rate_pps}
        rates |= {f"wired link {name}": rate for name, rate in self.wired_pps.items()}
        for what, rate in rates.items():
            if not 0.0 < rate < np.inf:
                raise NetworkError(f"{what}: {rate:g} packets/s is not a positive rate")
        for name in self.wired_pps:
            if name in self.graph.links:
                raise NetworkError(f"link {name} is wireless and wired; names are unique")
        if not self.flows:
            raise NetworkError("the network has no flow")
        known = {*self.graph.links, *self.wired_pps}
        names = [flow.name for flow in self.flows]
        for number, flow in enumerate(self.flows):
            if flow.name in names[:number]:
                raise NetworkError(f"flow {flow.name} is there twice; names are unique")
            if not flow.route:
                raise NetworkError(f"flow {flow.name}: its route has no link")
            for link in flow.route:
                if link not in known:
                    raise NetworkError(f"flow {flow.name}: there is no link {link}")
            if len(set(flow.route)) < len(flow.route):
                raise NetworkError(f"flow {flow.name}: its route passes a link twice")

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the wireless links, then of the wired links: the order of vectors over all
        links.
        """
        return (*self.graph.links, *self.wired_pps)

    @cached_property
    def incidence(self) -> Floats:
        """Incidence matrix: 1 if a link (row) is on the route of a flow (column), or 0."""
        place = {name: number for number, name in enumerate(self.links)}
        table = np.zeros((len(self.links), len(self.flows)))
        for number, flow in enumerate(self.flows):
            table[[place[link] for link in flow.route], number] = 1.0
        return table

    @cached_property
    def carrying(self) -> tuple[int, ...]:
        """Indices of the wireless links that carry at least one flow. Other links never send."""
        wireless = len(self.graph)
        return tuple(int(k) for k in np.flatnonzero(self.incidence[:wireless].any(axis=1)))
