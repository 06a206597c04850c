"""The interface as the engine's grammar checked it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from lasthop import _core
from lasthop.daemon.configuration import reader, subnets_of
from lasthop.linux.tc import Subnet
from lasthop.scenario.from_json import named, read_as
from lasthop.scenario.queues import Queue


def members_of(trees: Sequence[Mapping[str, Any]]) -> "tuple[Members, ...]":
    """Read classes from JSON."""
    return tuple(read_as(Members, tree) for tree in trees)


@dataclass(frozen=True)
class Members:
    """A class and its members."""

    name: str
    target: float
    """Its share of the total of all classes. [-]"""
    subnets: Annotated[tuple[Subnet, ...], subnets_of]
    macs: Annotated[tuple[str, ...], tuple]
    mark: int | None


@dataclass(frozen=True)
class LinkQueue:
    """The queue of a network interface, in front of a shaper."""

    name: str
    interface: str
    link: str | None
    """The link of the scenario that it represents."""
    rate_bps: int
    queue_packets: int
    """Its limit, including the packet in service."""
    queue: Queue
    """Its discipline and settings."""
    classes: Annotated[tuple[Members, ...], members_of]
    incoming: Annotated[tuple[str, ...], tuple] = named("from")
    """Interfaces without receive offload."""

    @property
    def discipline(self) -> str:
        """Name of its discipline in scenarios."""
        return self.queue.discipline


read = reader(LinkQueue, _core.check_interface)
"""Function that reads the interface of a scenario file."""
