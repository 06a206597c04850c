"""Settings of a shaped interface, which the engine has checked."""

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
    """Class of virtual buffer sharing, and its members."""

    name: str
    target: float
    """Target of the class, as a fraction of the total of all classes. [-]"""
    subnets: Annotated[tuple[Subnet, ...], subnets_of]
    macs: Annotated[tuple[str, ...], tuple]
    mark: int | None


@dataclass(frozen=True)
class LinkQueue:
    """Queue of a network interface, with a shaper after it."""

    name: str
    interface: str
    link: str | None
    """Link of the scenario that the interface represents."""
    rate_bps: int
    queue_packets: int
    """Limit of the queue, including the packet in service."""
    queue: Queue
    """Queueing discipline and its settings."""
    classes: Annotated[tuple[Members, ...], members_of]
    incoming: Annotated[tuple[str, ...], tuple] = named("from")
    """Interfaces whose receive offload is switched off."""

    @property
    def discipline(self) -> str:
        """Name of the queueing discipline in scenarios."""
        return self.queue.discipline


read = reader(LinkQueue, _core.check_interface)
"""Function that reads the interface of a scenario file."""
