"""``iw dev wlan0 station dump``: who is associated, at which rates, how much each has moved.

::

    Station 00:18:de:7a:fb:0e (on wlan0)
            inactive time:  1670 ms
            rx bytes:       1066147
            tx bytes:       4357609
            tx packets:     5165
            tx retries:     1655
            signal:         -81 dBm
            tx bitrate:     54.0 MBit/s
            rx bitrate:     26.0 MBit/s MCS 3

    Interface wlan0
            channel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz

The latter, of ``iw dev wlan0 info``, may stand in the same file, before or behind.
At an access point ``rx`` is what comes from the station. Lines with ``beacon`` are said by stations
of their access point alone, and then it is the other way round.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import NamedTuple

from lasthop.errors import UserError
from lasthop.importing import aggregating, phy
from lasthop.importing.bitrate import read_rate
from lasthop.importing.observed import Connections, Network, Note, Station
from lasthop.importing.ppdu import Sighting
from lasthop.importing.text import read_lines

__all__ = ["Block", "Dump", "network", "read"]

HEAD = re.compile(
    r"Station ((?:[0-9a-f]{2}:){5}[0-9a-f]{2}|[0-9a-fx:]{17}) \(on (\S+)\)", re.IGNORECASE
)
FIELD = re.compile(r"\s+([a-z][\w /-]*?)(?: \[boottime\])?:\s*(.*)", re.IGNORECASE)
INTERFACE = re.compile(r"\s*Interface (\S+)$")
CHANNEL = re.compile(
    r"\s*channel (\d{1,3}) \((\d{4,5})(?:\.\d+)? MHz\)(?:, width: (\d{1,3})(\+\d+)? MHz)?"
)
WIDTHS = {20: 20, 40: 40, 80: 80, 160: 160, 320: 160}
"""Widths that a cell has, by those of ``iw dev wlan0 info``. [MHz]"""

IDLE_S = 60.0
"""A station that has been silent for longer sends and receives nothing now. [s]"""

BOTH_WAYS = 0.25
"""Part of the larger direction's bytes from which the smaller one is more than TCP ACKs. [-]"""


@dataclass
class Block:
    """What the dump says of one station, by the names of its lines.

    Attributes
    ----------
    address : str
        MAC address.
    interface : str
        Where it is associated.
    line : int
        Where the block begins in the file.
    fields : dict
        Text of each line by its name.
    """

    address: str
    interface: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


class Tuned(NamedTuple):
    """What ``iw dev wlan0 info`` says of an interface: channel, and its width if told. [MHz]"""

    number: int
    mhz: int
    width_mhz: int | None


class Dump(NamedTuple):
    """Blocks of stations in their order, and channels by interface."""

    blocks: list[Block]
    channels: dict[str, Tuned]


def read(path: Path) -> Dump:
    """The blocks of a dump, in its order, and what is told of channels.

    Raises
    ------
    UserError
        If there is no block, or a line of one is not of its form.
    """
    blocks: list[Block] = []
    channels: dict[str, Tuned] = {}
    interface = ""
    for number, line in enumerate(read_lines(path, "a station dump of iw"), 1):
        if found := HEAD.search(line):
            blocks.append(Block(found[1].lower(), found[2], number))
        elif found := INTERFACE.match(line):
            interface = found[1]
        elif interface and (found := CHANNEL.match(line)):
            width = 160 if found[4] else WIDTHS.get(int(found[3] or 0))
            channels[interface] = Tuned(int(found[1]), int(found[2]), width)
        elif blocks and (found := FIELD.match(line)):
            blocks[-1].fields.setdefault(found[1], found[2].strip())
            blocks[-1].lines.setdefault(found[1], number)
    if not blocks:
        raise UserError(
            f"{path}: no station: a dump has lines such as "
            '"Station 02:00:00:00:00:01 (on wlan0)" before those of each station',
            "iw dev wlan0 station dump > stations.txt writes one",
        )
    return Dump(blocks, channels)


def network(path: Path, interface: str | None = None) -> Network:
    """The cell that a dump shows.

    Parameters
    ----------
    path : Path
        The dump.
    interface : str, optional
        Which of several interfaces; by default the one with most stations.
    """
    blocks, channels = read(path)
    counts = {each.interface: 0 for each in blocks}
    for each in blocks:
        counts[each.interface] += 1
    if interface is not None and interface not in counts:
        raise UserError(f"--interface {interface}: {path} has {', '.join(counts)}")
    chosen = interface or max(counts, key=lambda name: counts[name])
    notes = []
    if others := [name for name in counts if name != chosen]:
        notes.append(Note(f"stations on {', '.join(others)} are left out: another cell", True))
    dumped = [Dumped.of(path, each) for each in blocks if each.interface == chosen]
    seen = [rate for each in dumped for rate in each.pair if rate is not None]
    tuned = channels.get(chosen)
    band = None if tuned is None else phy.band_of(tuned.mhz)
    width_mhz = None if tuned is None else tuned.width_mhz
    channel = aggregating.channel(Counter(seen), band, width_mhz)
    if channel is None:
        known = [each.rate_bps for each in seen]
        preset = "802.11a" if band == "5 GHz" else phy.preset(known)
    else:
        preset = channel.phy
        notes += aggregating.notes(channel, [each.pair for each in dumped])
    if len({each.block.address for each in dumped}) < len(dumped):
        notes.append(Note("a station is listed twice; both are kept", True))
    notes.append(
        Note(
            "a dump tells how much each has moved, not in how many connections nor what is "
            "behind the access point: those are assumed"
        )
    )
    return Network(
        source=f"iw station dump {path.name}",
        phy=preset,
        phy_note="from the rates" if seen else "assumed: no rate is told",
        stations=[_station(each, preset, channel) for each in dumped],
        cell={} if channel is None else dict(_cell(channel, tuned, dumped)),
        notes=notes,
    )


@dataclass(frozen=True)
class Dumped:
    """A station's block, read.

    Attributes
    ----------
    block : Block
        Its lines.
    ours : bool
        Whether it is the machine that wrote the dump, as a station of its access point.
    pair : pair of Sighting
        Rates upwards and downwards.
    names : pair of str
        What the dump calls these ways.
    moved : pair of float
        What has moved upwards and downwards. [bytes]
    silent_s : float
        Since its last frame. [s]
    repeats, packets : float
        Frames to it, or from the machine itself, that went again, and packets. [-]
    """

    block: Block
    ours: bool
    pair: tuple[Sighting | None, Sighting | None]
    names: tuple[str, str]
    moved: tuple[float, float]
    silent_s: float
    repeats: float
    packets: float

    @staticmethod
    def of(path: Path, block: Block) -> "Dumped":
        """A block with its numbers."""
        told = [name for name in block.fields if name.startswith("beacon")]
        ours = any(name != "beacon interval" for name in told)
        names = ("tx", "rx") if ours else ("rx", "tx")
        up, down = (_rate(path, block, f"{name} bitrate") for name in names)
        moved_up, moved_down = (_count(path, block, f"{name} bytes") for name in names)
        return Dumped(
            block,
            ours,
            (up, down),
            names,
            (moved_up, moved_down),
            _count(path, block, "inactive time") / 1e3,
            _count(path, block, "tx retries"),
            _count(path, block, "tx packets"),
        )


def _cell(
    channel: aggregating.Channel, tuned: Tuned | None, dumped: Sequence[Dumped]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Keys of a cell that aggregates."""
    said = {
        "band": "assumed, from rates and widths; iw dev wlan0 info tells it",
        "width": "the widest of the stations'",
        "guard_interval": "that of most stations",
    }
    if tuned is not None:
        said["band"] = f"channel {tuned.number}, {tuned.mhz} MHz"
        if tuned.width_mhz is not None:
            said["width"] = "as iw dev info says"
    yield from aggregating.keys(channel, said)
    if not any(each.ours for each in dumped):
        yield "edca", ('"hostapd"', "assumed: defaults of hostapd, which serves where iw runs")


def _rate(path: Path, block: Block, name: str) -> Sighting | None:
    """A rate of the block; None if there is none."""
    text = block.fields.get(name, "")
    if not text or text.startswith("("):
        return None
    seen = read_rate(text)
    if seen is None:
        where = f"{path}:{block.lines[name]}"
        raise UserError(f'{where}: `{name}`: "{text[:40]}" is not a rate such as 54.0 MBit/s')
    return seen


def _count(path: Path, block: Block, name: str) -> float:
    """A number of bytes, packets or ms; 0 if there is no such line."""
    text = block.fields.get(name)
    if text is None:
        return 0.0
    found = re.match(r"(\d+)(?: ?ms)?$", text)
    if found is None or float(found[1]) == inf or len(found[1]) > 20:
        where = f"{path}:{block.lines[name]}"
        raise UserError(f'{where}: `{name}`: "{text[:40]}" is not a count from 0')
    return float(found[1])


def _station(dumped: Dumped, preset: str, channel: aggregating.Channel | None) -> Station:
    up_bytes, down_bytes = dumped.moved
    if channel is None:
        placed = _of_rates(dumped, preset)
    else:
        mostly = "up" if up_bytes > down_bytes else "down"
        placed = aggregating.place(channel, dumped.pair, mostly, dumped.names)
    notes = [*_remarks(dumped, placed.remarks)]
    idle = dumped.silent_s > IDLE_S
    if idle:
        notes.append(f"silent for {dumped.silent_s:.0f} s: no connections")
    most = max(dumped.moved)
    shares = f"{down_bytes / 1e6:.3g} MB down, {up_bytes / 1e6:.3g} MB up since it associated"

    def assumed(moved: float) -> Connections | None:
        few = moved < BOTH_WAYS * most or most == 0
        return None if idle or few else Connections(1, False, shares)

    upload, download = map(assumed, dumped.moved)
    if not idle and upload is None and download is None:
        download = Connections(1, False, "nothing moved yet")
    return Station(
        address=dumped.block.address,
        up_bps=placed.up_bps,
        down_bps=placed.down_bps,
        phy=placed.phy,
        mcs=placed.mcs,
        streams=placed.streams,
        upload=upload,
        download=download,
        notes=notes,
    )


def _of_rates(dumped: Dumped, preset: str) -> aggregating.Place:
    """A station of a cell without MCS."""
    rates = [each and phy.nearest(each.rate_bps, preset) for each in dumped.pair]
    remarks = [
        f"{name} rate {seen.said}: here {phy.spelled(rate)}"
        for name, seen, rate in zip(dumped.names, dumped.pair, rates, strict=True)
        if seen is not None and rate is not None and abs(rate - seen.rate_bps) > 1
    ]
    return aggregating.Place(up_bps=rates[0], down_bps=rates[1], remarks=remarks)


def _remarks(dumped: Dumped, of_rates: Sequence[str]) -> Iterator[str]:
    if dumped.ours:
        yield "this is the machine that wrote the dump, as a station of its access point"
    fields = dumped.block.fields
    signal = fields.get("signal avg") or fields.get("signal")
    if signal and (found := re.match(r"-?\d+", signal)):
        level = int(found[0])
        strange = "" if -110 <= level < 0 else ", which no radio measures"
        yield f"signal {level} dBm{strange}"
    for name, seen in zip(dumped.names, dumped.pair, strict=True):
        if seen is None:
            yield f"no {name} rate is told: the other way's, else the cell's, is assumed"
    yield from of_rates
    if dumped.repeats and dumped.packets:
        part = dumped.repeats / (dumped.repeats + dumped.packets)
        yield (
            f"{part:.0%} of the frames to it were repeats, collisions and noise together; "
            f"error_down = {part:.2f} would be all noise"
            if not dumped.ours
            else f"{part:.0%} of its frames were repeats, collisions and noise together"
        )
