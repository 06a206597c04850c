"""Wires, and networks of links that hear only some of each other."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from lasthop.models.reading.flows import Tcp
from lasthop.models.reading.queues import Queue
from lasthop.typed import named


@dataclass(frozen=True, kw_only=True)
class Wire:
    """The wire between a cell and the servers."""

    rate_bps: float | None
    delay_s: float
    loss: float

    def round_trip_s(self, tcp: Tcp | None) -> float:
        """Round-trip time for a full segment and an ACK of a connection, without queueing. [s]"""
        time = 2.0 * self.delay_s
        if self.rate_bps is not None and tcp is not None:
            time += 8.0 * (tcp.mss_bytes + 2 * tcp.header_bytes) / self.rate_bps
        return time


@dataclass(frozen=True, kw_only=True)
class Link:
    """A wired link."""

    name: str
    rate_bps: float | None
    delay_s: float
    queue_packets: int
    queue: Queue
    loss: float
    of_host: bool
    """Whether it leads to or from the host of a single flow."""
    jitter_s: float = 0.0
    loss_every: int | None = None
    """Every so many packets one is lost, if losses are periodic."""


@dataclass(frozen=True, kw_only=True)
class CsmaLink:
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


@dataclass(frozen=True, kw_only=True)
class CsmaNode:
    """A node with its place."""

    name: str
    x_m: float
    y_m: float


@dataclass(frozen=True, kw_only=True)
class CsmaFlow:
    """A flow over links of a conflict graph and over wires."""

    name: str
    class_name: str = named("class")
    route: tuple[str, ...]
    weight: float
    marginal_utility: tuple[tuple[float, float], ...] | None
    transport: Literal["tcp", "udp"]
    greedy: bool
    mss_bytes: int
    header_bytes: int


@dataclass(frozen=True, kw_only=True)
class Csma:
    """A network by its conflict graph."""

    links: tuple[CsmaLink, ...]
    nodes: tuple[CsmaNode, ...]
    flows: tuple[CsmaFlow, ...]
    access: Literal["adaptive", "legacy", "dcf"]
    access_intensity: float | None
    service_rate_pps: float
    beta: float
    r_per_packet: float
    r_max: float | None
    r_interval_s: float
    aqm: bool
    queue_packets: int
    dummy: bool
    acks: Literal["priority", "contend"]
    connections: Literal["rtt", "utility", "one"]
    k_per_s: float | None
    fairness: float | None

    @property
    def k(self) -> float:
        """Factor of the number of connections, except where each flow has one. [1/s]"""
        assert self.k_per_s is not None, "one connection a flow"
        return self.k_per_s

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
