"""Compute the differences of a service's interfaces, and their repairs, without I/O."""

from collections.abc import Sequence

from lasthop.daemon.differences import EVERYTHING, Difference
from lasthop.linux import links
from lasthop.linux.changes import Hooks, Merging
from lasthop.linux.counters import Qdisc
from lasthop.linux.links import Link
from lasthop.linux.tc import Device


def of_ifb(device: Device, present: dict[str, Link]) -> Difference | None:
    """Return the difference between the state of an IFB and its wanted state; None if the states
    are equal."""
    name = ("interface", device.name)
    link = present.get(device.name)
    if link is None or link.number != device.number:
        return Difference(EVERYTHING, f"interface {device.name} is gone")
    if not link.is_up:
        return Difference(name, f"interface {device.name} is down", (links.set_up(device.name),))
    return None


def of_side(
    name: str,
    blocks: tuple[int, int] | None,
    link: Link | None,
    qdiscs: Sequence[Qdisc] = (),
    merges: bool = False,
) -> list[Difference]:
    """Return the differences between the state of an interface and its wanted state. `blocks` are
    the two filter blocks that the interface should have; None for no blocks."""
    if link is None:
        return [Difference(("absence", name), f"interface {name} is gone")]
    device, result = Device(name, link.number), []
    if not link.is_up:
        result.append(Difference(("interface", name), f"interface {name} is down"))
    if blocks is not None and not any(qdisc.blocks == blocks for qdisc in qdiscs):
        text = f"the clsact of {name} is no longer ours"
        is_free = not any(qdisc.has_hooks for qdisc in qdiscs)
        repair = (Hooks(device, blocks),) if is_free else ()
        result.append(Difference(("hooks", name), text, repair))
    if merges:
        text = f"receive offload of {name} is on"
        result.append(Difference(("merging", name), text, (Merging(device),)))
    return result
