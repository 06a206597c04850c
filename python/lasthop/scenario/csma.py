"""Conflict graphs of a checked scenario as typed values, see `lasthop.scenario.typed`."""

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from lasthop.scenario.from_json import Table, named
from lasthop.scenario.transports import Tcp, Udp, carrier


class CsmaLink(Table):
    """A wireless link of a conflict graph."""

    name: str
    conflicts: tuple[str, ...]
    disturbs: tuple[str, ...]
    """Links whose frames this link destroys, because they do not sense its transmissions."""
    from_node: str = named("from")
    """Node at which the link begins; empty if nodes have no positions."""
    to_node: str = named("to")
    """Node at which the link ends; empty if nodes have no positions."""
    r: float | None
    """Aggressiveness of the link; None if it is not given. [-]"""
    error: float


class CsmaNode(Table):
    """A node with its position."""

    name: str
    x_m: float
    y_m: float


class CsmaFlow(Table):
    """A flow over links of a conflict graph and over wired links."""

    name: str
    class_name: str = named("class")
    route: tuple[str, ...]
    weight: float
    marginal_utility: tuple[tuple[float, float], ...] | None
    start_s: float
    start_spread_s: float
    stop_s: float | None
    tcp: Tcp | None = None
    """Settings of the flow's connections; None if the flow sends datagrams."""
    udp: Udp | None = None

    @property
    def transport(self) -> Tcp | Udp:
        """Transport protocol of the flow's data."""
        return carrier(self.tcp, self.udp)


class CsmaPace(Table):
    """Slot and interframe spaces for backoffs that are given by their mean."""

    slot_s: float | None
    difs_s: float
    eifs_s: float


class Csma(Table):
    """A network described by its conflict graph."""

    links: tuple[CsmaLink, ...]
    nodes: tuple[CsmaNode, ...]
    flows: tuple[CsmaFlow, ...]
    access: Literal["adaptive", "legacy", "dcf"]
    access_intensity: float | None
    service_rate_pps: float
    overhead_s: float
    beta: float
    r_per_packet: float
    r_max: float | None
    r_interval_s: float
    aqm: bool
    queue_packets: int
    dummy: bool
    acks: Literal["priority", "contend"]
    attempts: int
    pace: CsmaPace | None
    connections: Literal["rtt", "utility", "marks", "one"]
    connections_interval_s: float
    rounding: Literal["down", "nearest"]
    smoothing: float
    k_per_s: float | None
    fairness: float | None

    @property
    def k(self) -> float:
        """Factor of the number of connections, if flows have several connections. [1/s]"""
        assert self.k_per_s is not None, "one connection a flow"
        return self.k_per_s

    def active_rate_pps(self, part: float) -> float:
        """Return the packet rate of a link that never pauses. [packets/s]

        The ratio of the length of a packet to the longest packet is `part`.
        """
        return 1 / (self.overhead_s + (1 / self.service_rate_pps - self.overhead_s) * part)

    @property
    def intensity(self) -> float:
        """Access intensity of legacy access. [-]"""
        assert self.access_intensity is not None, "not legacy access"
        return self.access_intensity

    @cached_property
    def conflicts(self) -> Mapping[str, tuple[str, ...]]:
        """Conflicts of each link by its name."""
        return {link.name: link.conflicts for link in self.links}

    @cached_property
    def carrying(self) -> frozenset[str]:
        """Wireless and wired links that carry at least one flow."""
        return frozenset(link for flow in self.flows for link in flow.route)

    @property
    def saturated(self) -> bool:
        """Whether every wireless link that carries a flow has a given aggressiveness."""
        own = [link.r for link in self.links if link.name in self.carrying]
        return bool(own) and None not in own

    @property
    def one_flow_per_link(self) -> bool:
        """Whether each flow passes one wireless link, and each of these links carries one flow."""
        wireless = {link.name for link in self.links}
        links = [flow.route[0] for flow in self.flows]
        return all(len(flow.route) == 1 for flow in self.flows) and (
            set(links) <= wireless and len(set(links)) == len(links)
        )
