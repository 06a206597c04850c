"""The programs that classify by MAC address as commands of `bpftool` and `tc`, for `plan`."""

import struct
from collections.abc import Iterator
from shlex import quote

from lasthop.gateway.classification import OBJECT, Table, settings
from lasthop.linux import tc
from lasthop.linux.netlink import Request
from lasthop.linux.tc import Block, Device

PINNED = {"from": "from_stations", "to": "to_stations", "leaf": "leaf"}
"""Names of the programs' functions, by which `bpftool` pins them."""


class Planned:
    """Programs that are not loaded: what is said of them is the command that does it.

    Parameters
    ----------
    name : str
        Name of the directory in the file system of BPF.
    """

    def __init__(self, name: str) -> None:
        self.directory = f"/sys/fs/bpf/{name}"

    def load(self) -> Iterator[str]:
        """Return the commands that load the programs with their maps."""
        pins = f"{self.directory} type classifier pinmaps {self.directory}/maps"
        yield f"bpftool prog loadall {quote(str(OBJECT))} {pins}"
        yield self.update("setup", shown(bytes(4)), settings())

    def fill(self, table: Table, interfaces: dict[int, str]) -> Iterator[str]:
        """Return the commands that fill the maps; interfaces have their numbers from the kernel."""
        for (name, key), value in table.items():
            if name == "interfaces":
                (number,) = struct.unpack("=I", key)
                index = f"i=$(ip -o link show dev {interfaces[number]} | cut -d: -f1)"
                low_first = "$((i % 256)) $((i / 256 % 256)) $((i / 65536 % 256)) 0"
                yield f"{index}; {self.update(name, low_first, value)}"
            else:
                yield self.update(name, shown(key), value)

    def update(self, name: str, key: str, value: bytes) -> str:
        """Return the command that gives an entry of a map its value."""
        return (
            f"bpftool map update pinned {self.directory}/maps/{name} key {key} value {shown(value)}"
        )

    def at_block(self, block: Block, name: str, ifb: Device) -> Request:
        """Have a program judge what meets a block, and redirect what it does not let pass."""
        said = f"{self.attached(block, name)} action mirred egress redirect dev {ifb.name}"
        return Request(tc.NEWFILTER, 0, b"", said)

    def at_ifb(self, ifb: Device, major: int) -> Request:
        """Have a program return the class of each packet at the IFB."""
        return Request(tc.NEWFILTER, 0, b"", self.attached(ifb, "leaf", f" parent {major:x}:"))

    def attached(self, at: Block | Device, name: str, parent: str = "") -> str:
        """Return the command that attaches a program."""
        where = f"{at.said()}{parent} protocol all pref 1 handle 1"
        return f"tc filter add {where} bpf object-pinned {self.directory}/{PINNED[name]}"


def shown(data: bytes) -> str:
    """Return bytes as `bpftool` reads them."""
    return f"hex {data.hex(' ')}"
