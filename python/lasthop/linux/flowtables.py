"""Flowtables of nftables, whose connections bypass the hooks of traffic control.

Structures are those of linux/netfilter/nf_tables.h. A kernel without nftables has no flowtables.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from lasthop.linux.netlink import KernelError, Socket, attributes, text_in

NETFILTER = 12
"""Protocol of the netlink socket (NETLINK_NETFILTER)."""
NEWFLOWTABLE, GETFLOWTABLE = 10 << 8 | 22, 10 << 8 | 23
HEADER = struct.Struct("=BBH")
"""Layout of struct nfgenmsg: address family, version, resource."""
TABLE, NAME, HOOK, FLAGS = 1, 2, 3, 7
DEVICES, DEVICE, PREFIX = 3, 1, 2
HARDWARE = 1
FAMILIES = {1: "inet", 2: "ip", 5: "netdev", 7: "bridge", 10: "ip6"}


class Flowtable(NamedTuple):
    """Flowtable of nftables."""

    family: str
    table: str
    name: str
    devices: tuple[str, ...]
    """Names of the flowtable's interfaces. A final `*` matches any ending of a name."""
    is_hardware: bool
    """Whether the network card forwards the packets of the flowtable without the kernel."""

    @property
    def words(self) -> str:
        """Name of the flowtable, as `nft` prints it."""
        return f"{self.family} {self.table} {self.name}"

    def has(self, interface: str) -> bool:
        """Return whether the flowtable contains an interface."""
        return any(
            interface.startswith(device[:-1]) if device.endswith("*") else interface == device
            for device in self.devices
        )


def flowtables() -> list[Flowtable]:
    """Return all flowtables of this network namespace. The list is empty if the kernel does not
    report flowtables."""
    try:
        with Socket(protocol=NETFILTER) as kernel:
            bodies = list(kernel.dump(GETFLOWTABLE, HEADER.pack(0, 0, 0)))
    except (KernelError, OSError):
        return []
    return [flowtable(body) for body in bodies]


def flowtable(body: bytes) -> Flowtable:
    """Return the flowtable that a message of the kernel describes."""
    family, _, _ = HEADER.unpack_from(body)
    has = dict(attributes(body, HEADER.size))
    flags = int.from_bytes(has.get(FLAGS, b""), "big")
    hook = dict(attributes(has.get(HOOK, b"")))
    devices = tuple(names(hook.get(DEVICES, b"")))
    table, name = (text_in(has.get(kind, b"")) for kind in (TABLE, NAME))
    return Flowtable(
        FAMILIES.get(family, str(family)), table, name, devices, bool(flags & HARDWARE)
    )


def names(data: bytes) -> Iterator[str]:
    """Yield the names of interfaces in an attribute of a flowtable."""
    for kind, payload in attributes(data):
        if kind in (DEVICE, PREFIX):
            yield text_in(payload) + "*" * (kind == PREFIX)
