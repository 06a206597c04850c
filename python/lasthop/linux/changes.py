"""Changes of the kernel's state that are logged together with their inverses.

When an IFB or a filter block is removed, the kernel also removes all classes and filters in it. One
inverse, the removal of the IFB or block, therefore reverts all changes inside it. The thousands of
classes inside it need no log records.

An inverse checks the object that it removes. If another program has replaced an interface or a hook
of lasthop, the replacement is not removed. Interfaces are identified by their numbers, which stay
the same when an interface is renamed. An IFB is identified by its MAC address.
"""

import socket
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import groupby
from typing import NamedTuple, TypeAlias

from lasthop.errors import UserError
from lasthop.linux import links, offload, tc
from lasthop.linux.counters import qdiscs
from lasthop.linux.netlink import BATCH, KernelError, Request, Socket, is_missing
from lasthop.linux.undo import Record, UndoLog


def mac_of(name: str) -> bytes:
    """Return the MAC address that identifies an IFB of lasthop: 02, "lh", and three bytes from a
    hash of the IFB's name."""
    return b"\x02lh" + zlib.crc32(name.encode()).to_bytes(4, "big")[:3]


class Hooks(NamedTuple):
    """Change that attaches two filter blocks to an interface: one for incoming and one for outgoing
    packets."""

    device: tc.Device
    blocks: tuple[int, int]


class Merging(NamedTuple):
    """Change that turns off the merging of received packets (receive offload) at an interface."""

    device: tc.Device


class Root(NamedTuple):
    """Change that adds a queueing discipline at the root of an interface."""

    device: tc.Device
    request: Request


class Segments(NamedTuple):
    """Change that limits the number of segments that senders on this machine merge into one
    packet."""

    device: tc.Device
    most: int


OUR_ROOTS = (("tbf", tc.SPLITTER), ("cake", tc.OURS), ("htb", tc.OURS))
"""Kind and handle of the queueing disciplines that lasthop adds at the root of an interface: first
two of this version, then that of earlier versions."""
Repair: TypeAlias = Request | Hooks | Merging | Root | Segments
"""Change that repairs a difference."""


class Changes:
    """Changes of the kernel's state by this process, which can be reverted.

    Parameters
    ----------
    kernel : Socket
    log : UndoLog
        Log to which the inverse of each change is written before the change is made.
    """

    def __init__(self, kernel: Socket, log: UndoLog) -> None:
        self.kernel = kernel
        self.log = log

    def add_ifb(self, name: str, queue_packets: int) -> tc.Device:
        """Create an IFB and bring it up."""
        if name in links.every_link(self.kernel):
            raise UserError(
                f"interface {name}: exists already, and this gateway has not made it",
                f"if nothing needs it: ip link del {name}",
            )
        self.log.add({"kind": "link", "name": name})
        add = links.add_ifb(name, mac_of(name), queue_packets)
        self.kernel.carry_out([add, links.set_up(name)])
        return tc.Device(name, links.index_of(name))

    def add_hooks(self, device: tc.Device, blocks: tuple[int, int]) -> None:
        """Attach two filter blocks to an interface: one for incoming and one for outgoing
        packets."""
        check_hooks_are_free(self.kernel, device)
        record = {"kind": "hooks", "name": device.name, "number": device.number}
        self.note(record | {"blocks": list(blocks)})
        self.kernel.carry_out([tc.hooks(device, *blocks)])

    def stop_merging(self, device: tc.Device) -> None:
        """Turn off receive offload of an interface."""
        if offload.merges(device.name):
            self.note({"kind": "gro", "name": device.name, "number": device.number})
            offload.set_merging(device.name, False)
            if self.kernel.after_message is not None:
                self.kernel.after_message()

    def add_root(self, device: tc.Device, root: Request) -> None:
        """Add a queueing discipline at the root of an interface. The interface must still have the
        kernel's default queue."""
        check_root_is_free(self.kernel, device)
        self.note({"kind": "root", "name": device.name, "number": device.number})
        self.kernel.carry_out([root])

    def set_segments(self, device: tc.Device, segments: int) -> None:
        """Limit the number of segments that senders on this machine merge into one packet."""
        before = links.every_link(self.kernel)[device.name].segments
        if before not in (0, segments):
            record = {"kind": "segments", "name": device.name, "number": device.number}
            self.note(record | {"segments": before})
            self.kernel.carry_out([links.set_segments(device.name, segments)])

    def carry_out(self, requests: Sequence[Request]) -> None:
        """Send requests for objects inside an IFB, a filter block or an HTB hierarchy. This
        instance of `Changes` must have created the IFB, block or hierarchy."""
        self.kernel.carry_out(requests)

    def repair(self, repairs: Iterable[Repair]) -> None:
        """Make repairs in order. The inverse of each repair is written to the log first.

        Raises
        ------
        UserError
            For the first repair that the kernel refused, after all other repairs were attempted.
        """
        refused = None
        for is_message, group in groupby(repairs, lambda repair: isinstance(repair, Request)):
            every, size = list(group), BATCH if is_message else 1
            steps = [every[start : start + size] for start in range(0, len(every), size)]
            for step in steps:
                try:
                    self.mend_at_once(step)
                except UserError as error:
                    refused = refused or error
        if refused is not None:
            raise refused

    def mend_at_once(self, repairs: Sequence[Repair]) -> None:
        """Make repairs with one call. The list contains either a single repair that is not a
        `Request`, or only requests, which are sent as one batch."""
        match repairs:
            case [Hooks(device, blocks)]:
                self.add_hooks(device, blocks)
            case [Merging(device)]:
                self.stop_merging(device)
            case [Root(device, request)]:
                self.add_root(device, request)
            case [Segments(device, most)]:
                self.set_segments(device, most)
            case _:
                messages = [repair for repair in repairs if isinstance(repair, Request)]
                self.carry_out(messages)

    def note(self, record: Record) -> None:
        """Write an inverse to the log, unless an earlier repair has already written the same
        inverse."""
        if record not in self.log.records():
            self.log.add(record)

    def undo_all(self) -> list[str]:
        """Revert all changes, newest first. Return a message for each change that could not be
        reverted.

        The log is removed only if all changes were reverted, so that another attempt is possible.
        """
        remaining = []
        for record in reversed(self.log.records()):
            try:
                undo(self.kernel, record)
            except (UserError, OSError) as error:
                remaining.append(str(error))
        if not remaining:
            self.log.clear()
        return remaining


def check_hooks_are_free(kernel: Socket, device: tc.Device) -> None:
    """Raise `UserError` for an interface whose hooks another program uses."""
    for qdisc in qdiscs(kernel, device.number):
        if qdisc.has_hooks:
            raise UserError(
                f"interface {device.name}: it has a queueing discipline {qdisc.kind}, which this "
                "gateway has not made",
                f"if nothing needs it: tc qdisc del dev {device.name} {qdisc.kind}",
            )


def check_root_is_free(kernel: Socket, device: tc.Device) -> None:
    """Raise `UserError` for an interface to which another program has added a queueing
    discipline."""
    for qdisc in qdiscs(kernel, device.number):
        if qdisc.parent == tc.ROOT and qdisc.handle != 0:
            raise UserError(
                f"interface {device.name}: it has a queueing discipline {qdisc.kind} "
                f"{tc.shown(qdisc.handle)}, which lasthop has not made",
                f"if nothing needs it: tc qdisc del dev {device.name} root",
            )


def undo(kernel: Socket, record: Record) -> None:
    """Revert a change according to its log record, unless it has already been reverted."""
    match record:
        case {"kind": "link", "name": str(name)}:
            for now, link in links.every_link(kernel).items():
                if link.kind == "ifb" and link.mac == mac_of(name):
                    remove(kernel, links.remove_link(now))
        case {"kind": "hooks", "blocks": [int(incoming), int(outgoing)]}:
            unhook(kernel, device_of(record), (incoming, outgoing))
        case {"kind": "ingress", "block": int(block)}:  # A log record of an earlier version.
            unhook(kernel, device_of(record), (block, 0))
        case {"kind": "root"}:
            device = device_of(record)
            for qdisc in [] if device is None else qdiscs(kernel, device.number):
                ours = (qdisc.kind, qdisc.handle >> 16) in OUR_ROOTS
                if device is not None and qdisc.parent == tc.ROOT and ours:
                    remove(kernel, tc.del_qdisc(device))
        case {"kind": "segments", "segments": int(before)}:
            if (device := device_of(record)) is not None:
                kernel.carry_out([links.set_segments(device.name, before)])
        case {"kind": "gro"}:
            device = device_of(record)
            if device is not None and not offload.merges(device.name):
                offload.set_merging(device.name, True)
        case _:
            raise UserError(f"undo log: a record of kind {record.get('kind')!r} is unknown")


def unhook(kernel: Socket, device: tc.Device | None, blocks: tuple[int, int]) -> None:
    """Remove the hooks of an interface if they have any of these filter blocks."""
    for qdisc in [] if device is None else qdiscs(kernel, device.number):
        if device is not None and qdisc.has_hooks and qdisc.blocks == blocks:
            remove(kernel, tc.del_hooks(device, qdisc.kind))


def remove(kernel: Socket, request: Request) -> None:
    """Send a request that removes an object. Ignore the error if the object no longer exists."""
    try:
        kernel.carry_out([request])
    except KernelError as error:
        if not is_missing(error):
            raise


def device_of(record: Record) -> tc.Device | None:
    """Return the interface of a log record, even if it was renamed; None if it was removed.

    Records of earlier versions contain only the name of the interface, not its number.
    """
    match record:
        case {"number": int(number)}:
            with suppress(OSError):
                return tc.Device(socket.if_indextoname(number), number)
        case {"name": str(name)}:
            with suppress(UserError):
                return tc.Device(name, links.index_of(name))
    return None
