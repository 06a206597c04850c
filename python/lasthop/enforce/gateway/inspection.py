"""Compare the kernel's state with the layout of a gateway. Each part of the state is inspected
separately."""

from collections.abc import Callable, Iterable, Mapping, Set
from contextlib import suppress
from enum import Enum, auto

from lasthop.daemon.differences import Body, Difference, filters, hierarchy, inside
from lasthop.daemon.sides import of_ifb, of_side
from lasthop.enforce.gateway.layout import Layout
from lasthop.errors import UserError
from lasthop.linux import links, offload, tc
from lasthop.linux.counters import Qdisc, qdiscs
from lasthop.linux.events import OF_ACTIONS, OF_FILTERS, OF_LINKS, OF_TRAFFIC, Event
from lasthop.linux.links import Link
from lasthop.linux.netlink import Request, Socket
from lasthop.linux.tc import TCMSG


class Part(Enum):
    """Part of the gateway's kernel state that is inspected as a whole."""

    INTERFACES = auto()
    """IFB, `wan` and `lan` interfaces: whether they exist and are up, have the gateway's hooks, and
    receive without offload."""
    CLASSES = auto()
    """Queueing disciplines and classes of the IFB."""
    FILTERS = auto()
    """Filters of the IFB."""
    TO_BLOCK = auto()
    FROM_BLOCK = auto()


ALL = frozenset(Part)
BLOCKS = frozenset({Part.TO_BLOCK, Part.FROM_BLOCK})


def parts_of(events: Iterable[Event] | None, layout: Layout) -> set[Part]:
    """Return the parts of the kernel state to inspect after these events, or all parts if events
    were lost."""
    if events is None:
        return set(ALL)
    results: set[Part] = set()
    for event in events:
        results |= parts_of_one(event, layout)
    return results


def parts_of_one(event: Event, layout: Layout) -> Set[Part]:
    """Return the parts of the kernel state to inspect after one event."""
    kind, interface, parent = event
    if kind in OF_ACTIONS:
        return BLOCKS
    if kind in OF_LINKS:
        return {Part.INTERFACES}
    if kind not in OF_TRAFFIC:
        return set()
    if interface == tc.BLOCK_INDEX:
        return {Part.TO_BLOCK if parent == layout.to_block.number else Part.FROM_BLOCK}
    if interface != layout.ifb.number:
        return {Part.INTERFACES}
    return {Part.FILTERS} if kind in OF_FILTERS else {Part.CLASSES}


def look(
    kernel: Socket, layout: Layout, rates: Mapping[str, int], parts: Set[Part] = ALL
) -> list[Difference]:
    """Return the differences between the kernel's state and the layout, in these parts of the
    state. `rates` are the expected bottleneck rates, by the access point's name. [bit/s]

    If the kernel removes other objects with a missing object, these objects are inspected, too. If
    the IFB is missing, no other difference is reported.
    """
    parts, result, gateway = set(parts), [], layout.gateway
    if parts & {Part.INTERFACES, *BLOCKS}:
        present = links.every_link(kernel)
        if (wrong := of_ifb(layout.ifb, present)) is not None:
            result.append(wrong)
        result += of_side(gateway.wan, None, *state_of(kernel, gateway.wan, present))
        is_reached = False
        for name in gateway.lans:
            wrongs = of_side(name, layout.hooks, *state_of(kernel, name, present))
            result += wrongs
            by_kind = {each.name[0]: each for each in wrongs}
            if "hooks" in by_kind:
                # when the last user of a block is removed, the kernel removes the block's filters
                parts |= BLOCKS
            if "absence" not in by_kind and ("hooks" not in by_kind or by_kind["hooks"].repair):
                is_reached = True
        if wrong is not None and not wrong.repair:
            return result
        if not is_reached:
            parts -= BLOCKS
    wanted: list[Request] = []
    has: list[Body] = []
    if Part.CLASSES in parts:
        wanted += layout.hierarchy(dict(rates))
        bodies = list(hierarchy(kernel, layout.ifb.number))
        has += bodies
        remaining = {TCMSG.unpack_from(body)[2] for kind, body in bodies if kind == tc.NEWQDISC}
        if not {tc.classid(major, 0) for major in layout.majors} <= remaining:
            parts.add(Part.FILTERS)  # the kernel has removed the filters of a missing hierarchy
    wants: dict[Part, Callable[[], Iterable[Request]]] = {
        Part.FILTERS: layout.ifb_filters,
        Part.TO_BLOCK: lambda: layout.block_filters(layout.to_block),
        Part.FROM_BLOCK: lambda: layout.block_filters(layout.from_block),
    }
    for part, requests in wants.items():
        if part in parts:
            wanted += requests()
            has += filters(kernel, questions(layout, part))
    spreads = {layout.ap_class[ap]: ap for ap in layout.hashing_aps()}
    return [*result, *inside(layout.ifb, wanted, has, spreads)]


def state_of(
    kernel: Socket, name: str, present: Mapping[str, Link]
) -> tuple[Link | None, list[Qdisc], bool]:
    """Return an interface, its queueing disciplines, and whether it merges received packets."""
    link, merges = present.get(name), False
    hang = [] if link is None else qdiscs(kernel, link.number)
    with suppress(UserError):  # the interface was removed; the next event reports the removal
        merges = link is not None and offload.merges(name)
    return link, hang, merges


def questions(layout: Layout, part: Part) -> list[bytes]:
    """Return the dump requests for the filters of the IFB, or of a filter block."""
    if part is Part.FILTERS:
        hierarchies = [tc.classid(major, 0) for major in layout.majors]
        parents = [*hierarchies, *layout.ap_class.values()]
        return [layout.ifb.header(parent=parent) for parent in parents]
    block = layout.to_block if part is Part.TO_BLOCK else layout.from_block
    return [TCMSG.pack(0, tc.BLOCK_INDEX, 0, block.number, 0)]
