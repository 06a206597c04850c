"""Typed values of conflict graphs in a checked scenario, see `lasthop.scenario.typed`."""

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
    """Names of the hidden links. This link does not sense the frames of the hidden links, and
    destroys these frames."""
    from_node: str = named("from")
    """Name of the transmitting node; empty if nodes have no positions."""
    to_node: str = named("to")
    """Name of the receiving node; empty if nodes have no positions."""
    r: float | None
    """Fixed aggressiveness r of the link; None if the scenario does not set it. [-]"""
    error: float


class CsmaNode(Table):
    """A node of a conflict graph, with its position."""

    name: str
    x_m: float
    y_m: float


class CsmaFlow(Table):
    """A flow over CSMA links of a conflict graph and over wired links."""

    name: str
    class_name: str = named("class")
    route: tuple[str, ...]
    weight: float
    marginal_utility: tuple[tuple[float, float], ...] | None
    start_s: float
    start_spread_s: float
    stop_s: float | None
    tcp: Tcp | None = None
    """TCP settings of the flow's connections; None for a datagram flow."""
    udp: Udp | None = None

    @property
    def transport(self) -> Tcp | Udp:
        """Transport protocol of the flow's data."""
        return carrier(self.tcp, self.udp)


class CsmaPace(Table):
    """Slot time and inter-frame spaces of a link for which the scenario sets the mean backoff."""

    slot_s: float | None
    difs_s: float
    eifs_s: float


class Csma(Table):
    """Table ``csma``: a network that is described by its conflict graph."""

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
        """Factor k of the rule that sets a flow's number of TCP connections. The factor exists only
        if flows may have several connections. [1/s]
        """
        assert self.k_per_s is not None, "one connection a flow"
        return self.k_per_s

    def active_rate_pps(self, part: float) -> float:
        """Return the packet rate of a link that transmits without pause. [packets/s]

        The argument `part` is the length of a packet divided by the length of the longest packet.
        """
        return 1 / (self.overhead_s + (1 / self.service_rate_pps - self.overhead_s) * part)

    @property
    def intensity(self) -> float:
        """Access intensity, which exists only if `access` is legacy. [-]"""
        assert self.access_intensity is not None, "not legacy access"
        return self.access_intensity

    @cached_property
    def conflicts(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the conflicting links of each link, by link name."""
        return {link.name: link.conflicts for link in self.links}

    @cached_property
    def carrying(self) -> frozenset[str]:
        """Names of the wireless and wired links on the route of at least one flow."""
        return frozenset(link for flow in self.flows for link in flow.route)

    @property
    def saturated(self) -> bool:
        """Whether each wireless link with a flow has a fixed aggressiveness r. Such links always
        have packets to send.
        """
        own = [link.r for link in self.links if link.name in self.carrying]
        return bool(own) and None not in own

    @property
    def one_flow_per_link(self) -> bool:
        """Whether each flow has a route of one wireless link, and no two flows have the same
        link.
        """
        wireless = {link.name for link in self.links}
        links = [flow.route[0] for flow in self.flows]
        return all(len(flow.route) == 1 for flow in self.flows) and (
            set(links) <= wireless and len(set(links)) == len(links)
        )
