"""Create the objects of a layout in the kernel of this machine, inspect them, and remove them."""

import errno
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from enum import Enum, auto
from typing import Any

from lasthop.daemon.differences import Body, Difference, filters, hierarchy, inside
from lasthop.daemon.kernel_state import KernelState
from lasthop.daemon.sides import of_side
from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.layout import CLASS, ROOT, Layout, discipline_of, has_program
from lasthop.enforce.queue.pi import Pi
from lasthop.enforce.queue.sharing import Sharing
from lasthop.errors import UserError
from lasthop.linux import disciplines, links, offload, tc
from lasthop.linux.cake import Tin, tins
from lasthop.linux.changes import (
    Repair,
    Root,
    Segments,
    check_root_is_free,
)
from lasthop.linux.counters import (
    Counters,
    qdiscs,
    queue_counters,
)
from lasthop.linux.events import OF_FILTERS, OF_LINKS, OF_TRAFFIC, Event, EventFilter
from lasthop.linux.netlink import KernelError, Request
from lasthop.linux.tc import TCMSG
from lasthop.linux.undo import UndoLog


class Part(Enum):
    """Part of the kernel's state that is inspected as a whole."""

    INTERFACES = auto()
    """The interface of the queue, and the interfaces at which packets arrive: whether all of them
    exist, are up, and have no receive offload."""
    QUEUE = auto()
    """The shaper and the queue."""
    PROGRAM = auto()
    """The BPF program in front of the queue."""


ALL = frozenset(Part)


class Shaped(KernelState):
    """State of a shaped queue in the kernel.

    Parameters
    ----------
    wanted : LinkQueue
        Configuration of the queue.
    log, after_message
        See `KernelState`.
    """

    parts = Part

    def __init__(
        self, wanted: LinkQueue, log: UndoLog, after_message: Callable[[], None] | None = None
    ) -> None:
        super().__init__(log, after_message)
        self.wanted = wanted
        self.layout: Layout | None = None
        """Layout of the objects in the kernel; None while nothing is set up."""
        self.program: Sharing | Pi | None = None
        self.faults: list[str] = []
        """Warnings about the present state."""

    def unload_programs(self) -> None:
        """Close the descriptors of the BPF program."""
        if self.program is not None:
            self.program.close()
            self.program = None

    # Creation and removal of the objects.

    def check(self, *, is_up: bool = False) -> None:
        """Raise `UserError` for every failure that can be foreseen, before anything is changed."""
        discipline_of(self.wanted)
        for key, names in (("name", [self.wanted.interface]), ("from", self.wanted.incoming)):
            for name in names:
                check_is_there(key, name)
        device = self.device()
        if not is_up:
            check_root_is_free(self.kernel, device)

    def up(self) -> None:
        """Create all objects. If anything fails, revert all changes."""
        self.check()
        with self.reverted_on_failure():
            self.set_up()

    def set_up(self) -> None:
        """Create all objects. The filter that runs the BPF program is created last, after the
        queue."""
        device = self.device()
        self.program = self.load(device)
        program = None if self.program is None else self.program.descriptor
        layout = Layout(self.wanted, device, program, links.longest_packet(device.name))
        for name in self.wanted.incoming:
            self.changes.stop_merging(tc.Device(name, links.index_of(name)))
        if not layout.is_only_root:
            self.changes.set_segments(device, links.ONE_SEGMENT)
        self.add_root(layout)
        if not layout.is_only_root:
            self.changes.carry_out([layout.tree(), layout.shaper()])
            self.add_queue(layout)
        self.changes.carry_out(list(layout.filters()))
        self.layout = layout

    def load(self, device: tc.Device) -> Sharing | Pi | None:
        """Load and return the BPF program for the queue, if its discipline has a program."""
        match self.wanted.discipline:
            case "vbs":
                hardware = links.every_link(self.kernel)[device.name].hardware
                return Sharing(self.wanted, hardware)
            case "pi":
                return Pi(self.wanted)
        return None

    def add_root(self, layout: Layout) -> None:
        """Create the discipline at the root. If the kernel does not support it, raise an error with
        the missing kernel option."""
        try:
            self.changes.add_root(layout.device, layout.root())
        except KernelError as error:
            kind, _ = layout.root_identity
            if error.number != errno.ENOENT:
                raise
            key = "interface.queue: " if layout.is_only_root else ""
            raise UserError(
                f"{key}{disciplines.absent(kind)}", disciplines.install_kernel(f"sch_{kind}")
            ) from None

    def add_queue(self, layout: Layout) -> None:
        """Create the queue of the class. If the kernel does not support it, raise an error with the
        missing kernel option."""
        try:
            self.changes.carry_out([layout.queue()])
        except KernelError as error:
            kind = discipline_of(self.wanted).kind
            if error.number != errno.ENOENT:
                raise
            raise UserError(
                f"interface.queue: {disciplines.absent(kind)}",
                disciplines.install_kernel(f"sch_{kind}"),
            ) from None

    def down(self) -> list[str]:
        """Revert all changes. Return a message for each change that could not be reverted."""
        self.layout = None
        remaining = self.changes.undo_all()
        self.unload_programs()
        return remaining

    def apply(self, wanted: LinkQueue) -> None:
        """Apply a changed configuration that differs only in values."""
        layout = self.running()
        new = replace(layout, wanted=wanted)
        self.changes.carry_out(list(new.changed()))
        if self.program is not None:
            self.program.apply(wanted)
        self.wanted, self.layout = wanted, new

    @property
    def sharing(self) -> Sharing | None:
        """BPF program of virtual buffer sharing; None if the queue has another discipline."""
        return self.program if isinstance(self.program, Sharing) else None

    # State of the objects.

    def device(self) -> tc.Device:
        """Interface of the queue, as a device for `tc` requests."""
        return tc.Device(self.wanted.interface, links.index_of(self.wanted.interface))

    def running(self) -> Layout:
        """Return the layout. Call this only while everything is set up."""
        if self.layout is None:
            raise UserError(f"queue of {self.wanted.interface}: the queue is not up")
        return self.layout

    def counters(self) -> tuple[Counters, Counters]:
        """Return the counters of the queueing discipline at the root, and the counters of the queue
        below it."""
        layout = self.running()
        result = queue_counters(self.kernel, layout.device.number)
        nothing = Counters(0, 0, 0, 0, 0)
        return result.get(tc.ROOT, nothing), result.get(layout.parent, nothing)

    def tins(self) -> list[Tin]:
        """Return the tins of CAKE; none if the queue has another discipline."""
        if not self.running().is_only_root:
            return []
        return tins(self.kernel, self.running().device.number)

    # Methods that `lasthop.daemon.healing` calls.

    def tell_doubts(self, to: Callable[[], None]) -> None:
        """Do nothing. `to` would be called after a refused request, but while the queue runs, no
        request is sent that the kernel could refuse."""

    @property
    def is_set_up(self) -> bool:
        """Whether the objects exist in the kernel."""
        return self.layout is not None

    @property
    def interfaces(self) -> Sequence[str]:
        """Names of the queue's interface and of the interfaces at which packets arrive."""
        return (self.wanted.interface, *self.wanted.incoming)

    @property
    def container(self) -> str:
        """Text that names the queue in messages."""
        return f"the queue of {self.wanted.interface}"

    def event_filter(self, numbers: Mapping[str, int]) -> EventFilter:
        """Return the filter for the netlink events that concern the queue. `numbers` contains the
        kernel's number of each present interface, by the interface's name."""
        return EventFilter(self.interfaces, list(numbers.values()), [])

    def parts_of(self, events: Iterable[Event] | None) -> Set[Part]:
        """Return the parts of the kernel state to inspect after these events."""
        if events is None:
            return ALL
        results: set[Part] = set()
        for kind, interface, _ in events:
            if kind in OF_LINKS:
                results.add(Part.INTERFACES)
            elif kind in OF_TRAFFIC and self.is_ours(interface):
                results |= {Part.PROGRAM} if kind in OF_FILTERS else {Part.QUEUE, Part.PROGRAM}
        return results

    def is_ours(self, interface: int) -> bool:
        """Return whether `interface` is the number of the queue's interface."""
        return self.layout is None or interface == self.layout.device.number

    def differences(self, parts: Set[Any]) -> list[Difference]:
        """Return the differences between the kernel's state and the layout, in these parts of the
        state."""
        results: list[Difference] = []
        present = links.every_link(self.kernel)
        link = present.get(self.wanted.interface)
        for name in self.interfaces if Part.INTERFACES in parts else ():
            merges = name in self.wanted.incoming and name in present and offload.merges(name)
            results += of_side(name, None, present.get(name), merges=merges)
        if link is None:
            return results
        device = tc.Device(self.wanted.interface, link.number)
        if not self.running().is_only_root and link.segments not in (0, links.ONE_SEGMENT):
            text = f"interface {device.name} takes several segments as one packet"
            segments = Segments(device, links.ONE_SEGMENT)
            results.append(Difference(("segments", device.name), text, [segments]))
        # Differences of the queue are returned first, so that they are repaired first: a splitter
        # without a queue drops every packet.
        return self.differences_inside(device, parts) + results

    def differences_inside(self, device: tc.Device, parts: Set[Any]) -> list[Difference]:
        """Return the differences of the shaper, the queue and the BPF program in these parts of the
        state."""
        results: list[Difference] = []
        layout = self.running()
        # If the interface was created again, it has none of the service's objects.
        if layout.device != device:
            self.layout = layout = replace(layout, device=device)
            parts = ALL
        roots = [each for each in qdiscs(self.kernel, device.number) if each.parent == tc.ROOT]
        if not any((each.kind, each.handle) == layout.root_identity for each in roots):
            text = f"the queue of {device.name} is gone"
            if any(each.handle for each in roots):
                alien = f"{text}: there is a {roots[0].kind} {tc.shown(roots[0].handle)}"
                return [Difference(("root", device.name), alien)]
            rest = (*layout.inside(), *layout.filters())
            repair: list[Repair] = [Root(device, layout.root()), *rest]
            return [Difference(("root", device.name), text, repair)]
        mtu_bytes = links.longest_packet(device.name)
        if mtu_bytes != layout.mtu_bytes and not layout.is_only_root:
            # The size of the splitter's bucket depends on the MTU. The kernel does not report this
            # size, so it is set again whenever the MTU has changed.
            self.layout = layout = replace(layout, mtu_bytes=mtu_bytes)
            text = f"the MTU of interface {device.name} has changed"
            results.append(Difference(("mtu", device.name), text, [tc.changing(layout.root())]))
        wanted: list[Request] = []
        has: list[Body] = []
        if Part.QUEUE in parts:
            wanted += layout.hierarchy()
            has += [
                each for each in hierarchy(self.kernel, device.number) if is_in_hierarchy(each[1])
            ]
        if Part.PROGRAM in parts:
            wanted += layout.filters()
            has += filters(self.kernel, [device.header(parent=ROOT)])
        differences = inside(device, wanted, has, {})
        if layout.is_only_root:  # The queue is present, so that only its options can differ.
            text = f"the queue of {device.name} is changed"
            differences = [each._replace(message=text) for each in differences]
        return results + differences


def is_in_hierarchy(body: bytes) -> bool:
    """Return whether a discipline or class is below the root of the service."""
    _, _, handle, parent, _ = TCMSG.unpack_from(body)
    return parent in (ROOT, CLASS) or handle >> 16 in (tc.OURS, tc.SPLITTER)


def check_is_there(key: str, name: str) -> None:
    """Raise `UserError` if an interface does not exist."""
    try:
        links.index_of(name)
    except UserError as error:
        raise UserError(f'interface.{key}: there is no interface "{name}"', error.hint) from None


def same_kind(old: LinkQueue, new: LinkQueue) -> bool:
    """Return whether a running queue can change from the old to the new settings without being
    created again."""
    return (
        (old.interface, old.incoming, old.discipline)
        == (new.interface, new.incoming, new.discipline)
        and [each.name for each in old.classes] == [each.name for each in new.classes]
        and old.discipline not in ("fq_codel", "red")
    )


def plan(wanted: LinkQueue) -> list[str]:
    """Return the shell commands that are equivalent to `up`."""
    device = tc.Device(wanted.interface, 0)
    layout = Layout(wanted, device, 0 if has_program(wanted) else None)
    lines = [offload.shell_command(name, False) for name in wanted.incoming]
    if not layout.is_only_root:
        lines.append(links.set_segments(device.name, links.ONE_SEGMENT).command)
    lines += [request.command for request in (*layout.hierarchy(), *layout.filters())]
    return lines
