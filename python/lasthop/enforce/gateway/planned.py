"""Commands of `bpftool` and `tc` that load and attach the classifier's BPF programs, for `plan`."""

import struct
from collections.abc import Iterator
from shlex import quote

from lasthop.enforce.gateway.classification import OBJECT, Table, settings, words_of
from lasthop.linux import tc
from lasthop.linux.netlink import Request
from lasthop.linux.tc import Block, Device

PINNED = {"from": "from_stations", "to": "to_stations", "leaf": "leaf", "inside": "inside"}
"""Name of each program's function in the C source. `bpftool` uses this name for the program's
pin."""


INDEX = "$((i % 256)) $((i / 256 % 256)) $((i / 65536 % 256)) 0"
"""Shell expression for the bytes of the interface number `i`, in little-endian order."""
IFB_AT = len(settings()) - 8
"""Offset of the IFB's interface number in the settings. [bytes]"""


def index_of(interface: str) -> str:
    """Return the shell command that reads an interface's number into the variable `i`."""
    return f"i=$(ip -o link show dev {interface} | cut -d: -f1)"


class Planned:
    """Stand-in for the classifier's BPF programs in the command `plan`, which only prints commands.
    No program is loaded, and the netlink requests contain only the equivalent `tc` commands.

    Parameters
    ----------
    ifb : str
        Name of the IFB. The directory in the BPF file system has the same name.
    """

    def __init__(self, ifb: str) -> None:
        self.ifb = ifb
        self.directory = f"/sys/fs/bpf/{ifb}"

    def load(self) -> Iterator[str]:
        """Return the commands that load the BPF programs with their maps."""
        pins = f"{self.directory} type classifier pinmaps {self.directory}/maps"
        yield f"bpftool prog loadall {quote(str(OBJECT))} {pins}"

    def fill(self, table: Table, interfaces: dict[int, str]) -> Iterator[str]:
        """Return the commands that fill the BPF maps. The shell reads the interface numbers."""
        for (name, key), value in table.items():
            if name == "interfaces":
                (number,) = struct.unpack("=I", key)
                yield f"{index_of(interfaces[number])}; {self.update(name, INDEX, shown(value))}"
            elif name == "setup":
                known = " ".join(f"0x{byte:02x}" for byte in value[:IFB_AT])
                setup = f"{known} {INDEX} 0 0 0 0"
                yield f"{index_of(self.ifb)}; {self.update(name, shown(key), setup)}"
            else:
                yield self.update(name, shown(key), shown(value))

    def update(self, name: str, key: str, value: str) -> str:
        """Return the command that sets an entry of a BPF map."""
        entry = f"key {key} value {value}"
        return f"bpftool map update pinned {self.directory}/maps/{name} {entry}"

    def at_block(self, block: Block, name: str, ifb: Device) -> Request:
        """Return the request for a filter that redirects every packet unless its program exempts
        the packet."""
        text = f"{self.attached(block, name)} action mirred egress redirect dev {ifb.name}"
        return Request(tc.NEWFILTER, 0, b"", text)

    def at_ifb(self, ifb: Device, major: int, name: str = "leaf") -> Request:
        """Return the request for a filter that classifies packets in an HTB hierarchy of the
        IFB."""
        return Request(tc.NEWFILTER, 0, b"", self.attached(ifb, name, f" parent {major:x}:"))

    def attached(self, at: Block | Device, name: str, parent: str = "") -> str:
        """Return the command that attaches a BPF program to a hook or to an HTB hierarchy."""
        program = f"object-pinned {self.directory}/{PINNED[name]}"
        return f"tc filter add {words_of(at, name, parent, program)}"


def shown(data: bytes) -> str:
    """Return bytes in the hexadecimal format that `bpftool` reads."""
    return f"hex {data.hex(' ')}"
