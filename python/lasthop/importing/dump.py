"""Parser of the output of iw about stations and interfaces.

Three forms are supported, and a file may contain several of them:

``iw dev wlan0 station dump``::

    Station 00:18:de:7a:fb:0e (on wlan0)
            inactive time:  1670 ms
            rx bytes:       1066147
            tx bitrate:     54.0 MBit/s

``iw dev wlan0 info`` and ``iw dev``::

    Interface wlan0
            wiphy 0
            type AP
            channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz

``iw dev wlan0 link``::

    Connected to 00:18:de:7a:fb:0e (on wlan0)
            freq: 5180.0
            RX: 1066147 bytes (5921 packets)
            rx bitrate: 866.7 MBit/s VHT-MCS 9 80MHz short GI VHT-NSS 2

References: iw 6.9, ``station.c``, ``interface.c``, ``link.c``; ``ifmodes`` in ``util.c``.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError
from lasthop.importing.text import read_lines

__all__ = ["Block", "Dump", "Interface", "parse", "read"]

ADDRESS = r"((?:[0-9a-f]{2}:){5}[0-9a-f]{2}|[0-9a-fx:]{17}|MLD)"
STATION = re.compile(rf"Station {ADDRESS} \(on (\S+)\)", re.IGNORECASE)
LINK = re.compile(rf"Connected to {ADDRESS} \(on (\S+)\)", re.IGNORECASE)
JOINED = re.compile(r"Joined IBSS \S+ \(on (\S+)\)", re.IGNORECASE)
APART = re.compile(r"\s*Not connected\.?\s*$", re.IGNORECASE)
FIELD = re.compile(r"\s+([a-z][\w /-]*?)(?: \[boottime\])?:\s*(.*)", re.IGNORECASE)
INTERFACE = re.compile(r"\s*(?:Interface (\S+)|Unnamed/non-netdev interface)\s*$")
WIPHY = re.compile(r"\s*(?:phy#|wiphy )(\d+)\s*$")
TYPE = re.compile(r"\s*type (\S.*?)\s*$")
CHANNEL = re.compile(
    r"\s*channel (\d{1,3}) \((\d{4,5})(?:\.\d+)? MHz\)(?:, width: (\d{1,3})(\+\d+)? MHz)?"
)
FREQUENCY = re.compile(r"(\d{4,5})(?:\.\d+)?$")
MOVED = re.compile(r"(\d+) bytes(?: \((\d+) packets\))?$")

OF_STATIONS = {"managed", "p2p-client"}
"""Interface types whose peer is an access point."""
WITHOUT_AP = {"ibss": "an ad hoc network (IBSS)", "mesh point": "a mesh", "ocb": "OCB"}
"""Interface types without an access point, with a description."""


@dataclass
class Block:
    """Lines that iw printed about one station.

    Attributes
    ----------
    address : str
        MAC address.
    interface : str
        Interface of this machine to which the station is connected.
    line : int
        Line number of the first line of the block.
    fields : dict
        Value of each line, by the line's name.
    lines : dict
        Line number of each value, by the line's name.
    of_link : bool
        Whether ``iw link`` printed the block about the access point of this machine.
    """

    address: str
    interface: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    of_link: bool = False

    def put(self, name: str, value: str, line: int) -> None:
        """Store the value of a line. If a name is repeated, the first value counts: for a
        multi-link device, it is the sum of all links."""
        self.fields.setdefault(name, value)
        self.lines.setdefault(name, line)

    @property
    def is_of_station(self) -> bool:
        """Whether iw ran on a station: the block contains lines that only a station prints."""
        beacons = (name for name in self.fields if name.startswith("beacon"))
        return self.of_link or any(not name.startswith("beacon int") for name in beacons)

    @property
    def is_direct(self) -> bool:
        """Whether the peer is reached directly, without the access point (TDLS)."""
        return self.fields.get("TDLS peer", "").lower() == "yes"


@dataclass
class Interface:
    """An interface and its channel, as printed by ``iw dev wlan0 info``.

    Attributes
    ----------
    wiphy : str
        Number of the interface's radio.
    type : str
        Type in lower case, empty if it is not known: ``"ap"``, ``"managed"``, ``"ibss"``.
    number, mhz : int
        Channel and its frequency, None if they are not known. [-], [MHz]
    width_mhz : int
        Width of the channel, None if it is not known; 80+80 is 160. [MHz]
    """

    wiphy: str = ""
    type: str = ""
    number: int | None = None
    mhz: int | None = None
    width_mhz: int | None = None


class Dump(NamedTuple):
    """Contents of a dump: blocks of stations in order, interfaces by name, and number of repeated
    blocks.
    """

    blocks: list[Block]
    interfaces: dict[str, Interface]
    repeated: int


def read(path: Path) -> Dump:
    """Return the stations' blocks in a dump file, in order, and its interfaces.

    Raises
    ------
    UserError
        If the dump has no block.
    """
    lines = read_lines(path, "a station dump of iw")
    dump = parse(lines)
    if not dump.blocks:
        apart = any(map(APART.match, lines))
        raise UserError(
            f"{path}: {_why_empty(dump.interfaces, apart=apart)}",
            "run `iw dev wlan0 station dump > stations.txt`",
        )
    return dump


def parse(lines: Iterable[str]) -> Dump:
    """Return the stations' blocks in the lines of a dump, in order, and its interfaces."""
    blocks: list[Block] = []
    interfaces: dict[str, Interface] = {}
    block: Block | None = None
    shown: Interface | None = None
    wiphy = ""
    for number, line in enumerate(lines, 1):
        if match := STATION.search(line):
            block = Block(match[1].lower(), match[2], number)
            blocks.append(block)
        elif match := LINK.search(line):
            block = Block(match[1].lower(), match[2], number, of_link=True)
            blocks.append(block)
        elif match := JOINED.search(line):
            block, shown = None, interfaces.setdefault(match[1], Interface())
            shown.type = "ibss"
        elif APART.match(line):
            block = None
        elif match := INTERFACE.match(line):
            block = None
            shown = interfaces.setdefault(match[1] or "", Interface())
            shown.wiphy = wiphy
        elif match := WIPHY.match(line):
            block, wiphy = None, match[1]
            if shown is not None and not line.lstrip().startswith("phy#"):
                shown.wiphy = wiphy
        elif block is None and shown is not None:
            _put(shown, line)
        elif block is not None and (match := FIELD.match(line)):
            _take(block, interfaces, match[1], match[2].strip(), number)
    remaining = _latest(blocks)
    return Dump(remaining, interfaces, len(blocks) - len(remaining))


def _why_empty(interfaces: dict[str, Interface], *, apart: bool) -> str:
    """Return a text on why the dump contains no station."""
    if apart:
        return "not connected: the interface has no access point and no station"
    joined = [name for name, each in interfaces.items() if each.type == "ibss"]
    if joined:
        return f"no station: {joined[0]} is an ad hoc network (IBSS), and no peer of it is listed"
    return (
        'no station: a dump has lines such as "Station 02:00:00:00:00:01 (on wlan0)" before those '
        "of each station"
    )


def _put(shown: Interface, line: str) -> None:
    """Process a line that ``iw dev info`` printed about an interface."""
    if match := TYPE.match(line):
        shown.type = match[1].lower()
    elif match := CHANNEL.match(line):
        shown.number, shown.mhz = int(match[1]), int(match[2])
        width = int(match[3] or 0)
        shown.width_mhz = 160 if match[4] else width or None


def _take(
    block: Block, interfaces: dict[str, Interface], name: str, text: str, number: int
) -> None:
    """Process a line of a station's block. Lines of ``iw link`` are stored under the names of a
    station dump.
    """
    if not block.of_link:
        block.put(name, text, number)
    elif name in ("RX", "TX") and (moved := MOVED.match(text)):
        block.put(f"{name.lower()} bytes", moved[1], number)
        if moved[2]:
            block.put(f"{name.lower()} packets", moved[2], number)
    elif name == "freq" and (match := FREQUENCY.match(text)):
        known = interfaces.setdefault(block.interface, Interface())
        known.mhz = known.mhz or int(match[1])
    else:
        block.put(name, text, number)


def _latest(blocks: list[Block]) -> list[Block]:
    """Return the last block of each station, because a file may contain several dumps.

    All blocks with anonymised addresses are returned, since their stations cannot be distinguished.
    """
    last: dict[tuple[str, str], Block] = {}
    for number, each in enumerate(blocks):
        hidden = "x" in each.address or each.address == "mld"
        last[(f"{number}" if hidden else each.address), each.interface] = each
    chosen = {id(each) for each in last.values()}
    return [each for each in blocks if id(each) in chosen]
