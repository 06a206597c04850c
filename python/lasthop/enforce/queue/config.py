"""Settings of a shaped interface, after the engine has checked them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from lasthop import _core
from lasthop.daemon.configuration import reader, subnets_of
from lasthop.linux.tc import Subnet
from lasthop.scenario.from_json import named, read_as
from lasthop.scenario.queues import Queue


def members_of(trees: Sequence[Mapping[str, Any]]) -> "tuple[Members, ...]":
    """Return the classes of virtual buffer sharing from JSON."""
    return tuple(read_as(Members, tree) for tree in trees)


@dataclass(frozen=True)
class Members:
    """Class of virtual buffer sharing, with its members' addresses."""

    name: str
    target: float
    """Target share of the class as a fraction of the sum of the target shares of all classes.
    [-]"""
    subnets: Annotated[tuple[Subnet, ...], subnets_of]
    macs: Annotated[tuple[str, ...], tuple]
    mark: int | None


@dataclass(frozen=True)
class LinkQueue:
    """Queue of a network interface, with a shaper after the queue."""

    name: str
    interface: str
    link: str | None
    """Name of the scenario's link from which settings of the queue were read; None if no link was
    used."""
    rate_bps: int
    queue_packets: int
    """Limit of the queue, including the packet in service. [packets]"""
    queue: Queue
    """Queueing discipline with its settings."""
    classes: Annotated[tuple[Members, ...], members_of]
    incoming: Annotated[tuple[str, ...], tuple] = named("from")
    """Interfaces at which the packets of the queue arrive at this machine. Their receive offload is
    turned off."""

    @property
    def discipline(self) -> str:
        """Name of the queueing discipline in scenario files."""
        return self.queue.discipline


read = reader(LinkQueue, _core.check_interface)
"""Function that reads the interface's settings from a scenario file."""
