"""Networks by conflict graphs of a checked scenario, see `lasthop.scenario.typed`."""

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
    """Links whose frames it destroys, since they do not hear it."""
    from_node: str = named("from")
    """Where it begins; empty where nodes have no places."""
    to_node: str = named("to")
    """Where it ends."""
    r: float | None
    """Its aggressiveness, if it is given. [-]"""
    error: float


class CsmaNode(Table):
    """A node with its place."""

    name: str
    x_m: float
    y_m: float


class CsmaFlow(Table):
    """A flow over links of a conflict graph and over wires."""

    name: str
    class_name: str = named("class")
    route: tuple[str, ...]
    weight: float
    marginal_utility: tuple[tuple[float, float], ...] | None
    start_s: float
    start_spread_s: float
    stop_s: float | None
    tcp: Tcp | None = None
    """Settings of its connections; None: it sends datagrams."""
    udp: Udp | None = None

    @property
    def transport(self) -> Tcp | Udp:
        """Transport of its data."""
        return carrier(self.tcp, self.udp)


class CsmaPace(Table):
    """How time goes by for backoffs that have a mean."""

    slot_s: float | None
    difs_s: float
    eifs_s: float


class Csma(Table):
    """A network by its conflict graph."""

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
        """Factor of the number of connections, except where each flow has one. [1/s]"""
        assert self.k_per_s is not None, "one connection a flow"
        return self.k_per_s

    def active_rate_pps(self, part: float) -> float:
        """Packets that a link which never pauses sends in a second; each is this part of the
        longest. [packets/s]
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
        """Links, wireless and wired, that some flow passes."""
        return frozenset(link for flow in self.flows for link in flow.route)

    @property
    def saturated(self) -> bool:
        """Whether every wireless link that carries a flow has an aggressiveness of its own."""
        own = [link.r for link in self.links if link.name in self.carrying]
        return bool(own) and None not in own

    @property
    def one_flow_per_link(self) -> bool:
        """Whether each flow passes one wireless link, and each of these one flow."""
        wireless = {link.name for link in self.links}
        links = [flow.route[0] for flow in self.flows]
        return all(len(flow.route) == 1 for flow in self.flows) and (
            set(links) <= wireless and len(set(links)) == len(links)
        )
