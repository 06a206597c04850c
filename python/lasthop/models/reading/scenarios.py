"""A scenario as a whole; its class says whether it is a cell, a conflict graph, or wires alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from lasthop.models.reading.cells import Cell, Node, Station
from lasthop.models.reading.flows import Flow, TcpFlow, UdpFlow
from lasthop.models.reading.networks import Csma, Link, Wire
from lasthop.typed import read_as


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What of the first replication is kept."""

    series_interval_s: float | None
    frames: int | None


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A checked scenario; a network of wires if it is of no class below."""

    name: str
    duration_s: float
    warmup_s: float
    replications: int
    seed: int
    wire: Wire
    vsb: Mapping[str, Any] | None
    """Settings of a virtual shared bottleneck, which the engine reads."""
    stations: tuple[Station, ...]
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    record: Recording

    @staticmethod
    def kind_of(tree: Mapping[str, Any]) -> "type[Scenario]":
        """The class of a scenario."""
        if tree.get("csma"):
            return CsmaScenario
        return Scenario if tree["cell"] is None else CellScenario

    @property
    def is_network(self) -> bool:
        """Whether it has wires alone."""
        return type(self) is Scenario

    @cached_property
    def tcp_flows(self) -> tuple[TcpFlow, ...]:
        """Flows over TCP, without sensors' reports."""
        return tuple(flow for flow in self.flows if isinstance(flow, TcpFlow))

    @cached_property
    def udp_flows(self) -> tuple[UdpFlow, ...]:
        """Flows of datagrams, without sensors' reports."""
        return tuple(flow for flow in self.flows if isinstance(flow, UdpFlow))

    @property
    def wired_round_trip_s(self) -> float:
        """Round-trip time of the wire for the first TCP flow's segments, without queueing. [s]"""
        return self.wire.round_trip_s(self.tcp_flows[0].tcp if self.tcp_flows else None)

    @cached_property
    def station(self) -> Mapping[str, Station]:
        """Stations by name."""
        return {station.name: station for station in self.stations}

    def flow_key(self, flow: Flow) -> str:
        """Key path of the table of a station's flow."""
        return f"{self.station[flow.station].table}.{flow.setting}"

    def starting_late(self, flows: Sequence[Flow]) -> int:
        """Number of flows that start after the warm-up."""
        return sum(flow.start_s > self.warmup_s for flow in flows)

    def stopping_early(self, flows: Sequence[Flow]) -> int:
        """Number of flows that stop before the end."""
        stops = (flow.stop_s for flow in flows)
        return sum(stop is not None and stop < self.duration_s for stop in stops)


@dataclass(frozen=True, kw_only=True)
class CellScenario(Scenario):
    """A scenario with a WLAN cell, perhaps with wires behind it."""

    cell: Cell

    def nodes(self) -> Iterator[tuple[str, Node]]:
        """The access point and all stations, each with the key path of its table."""
        yield "cell.ap", self.cell.ap
        for station in self.stations:
            yield station.table, station


@dataclass(frozen=True, kw_only=True)
class CsmaScenario(Scenario):
    """A scenario by a conflict graph."""

    csma: Csma


Readable: TypeAlias = Scenario | Mapping[str, Any]
"""A scenario read, or the normalised tree that is to be read."""


def read(scenario: Readable) -> Scenario:
    """A normalised scenario as typed values; one that has been read already as it is."""
    return scenario if isinstance(scenario, Scenario) else read_as(Scenario, scenario)
