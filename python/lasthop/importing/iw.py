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

At an access point ``rx`` is what comes from the station. Lines with ``beacon`` are said by stations
of their access point alone, and then it is the other way round.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from lasthop.errors import UserError
from lasthop.importing import phy
from lasthop.importing.observed import Connections, Network, Note, Station
from lasthop.importing.text import read_lines

__all__ = ["Block", "network", "read"]

HEAD = re.compile(
    r"Station ((?:[0-9a-f]{2}:){5}[0-9a-f]{2}|[0-9a-fx:]{17}) \(on (\S+)\)", re.IGNORECASE
)
FIELD = re.compile(r"\s+([a-z][\w /-]*?)(?: \[boottime\])?:\s*(.*)", re.IGNORECASE)
RATE = re.compile(r"(\d+(?:\.\d+)?) ?([MG]?)Bit/s(.*)", re.IGNORECASE)
LATER = (("EHT-MCS", "be"), ("HE-MCS", "ax"), ("VHT-MCS", "ac"), ("MCS", "n"))

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


def read(path: Path) -> list[Block]:
    """The blocks of a dump, in its order.

    Raises
    ------
    UserError
        If there is no block, or a line of one is not of its form.
    """
    blocks: list[Block] = []
    for number, line in enumerate(read_lines(path, "a station dump of iw"), 1):
        if found := HEAD.search(line):
            blocks.append(Block(found[1].lower(), found[2], number))
        elif blocks and (found := FIELD.match(line)):
            blocks[-1].fields.setdefault(found[1], found[2].strip())
            blocks[-1].lines.setdefault(found[1], number)
    if not blocks:
        raise UserError(
            f"{path}: no station: a dump has lines such as "
            '"Station 02:00:00:00:00:01 (on wlan0)" before those of each station',
            "iw dev wlan0 station dump > stations.txt writes one",
        )
    return blocks


def network(path: Path, interface: str | None = None) -> Network:
    """The cell that a dump shows.

    Parameters
    ----------
    path : Path
        The dump.
    interface : str, optional
        Which of several interfaces; by default the one with most stations.
    """
    blocks = read(path)
    counts = {each.interface: 0 for each in blocks}
    for each in blocks:
        counts[each.interface] += 1
    if interface is not None and interface not in counts:
        raise UserError(f"--interface {interface}: {path} has {', '.join(counts)}")
    chosen = interface or max(counts, key=lambda name: counts[name])
    notes = []
    if others := [name for name in counts if name != chosen]:
        notes.append(Note(f"stations on {', '.join(others)} are left out: another cell", True))
    own = [each for each in blocks if each.interface == chosen]
    rates = [_rate(path, each, name) for each in own for name in ("tx bitrate", "rx bitrate")]
    letters = {letter for _, letter in rates if letter}
    known = [rate for rate, letter in rates if rate and not letter]
    preset = phy.preset(known) if not letters else "802.11g"
    if letters:
        newest = max(letters, key=list(phy.LATER).index)
        notes.append(phy.aggregating(f"some rates are of {phy.LATER[newest]}"))
    stations = [_station(path, each, preset) for each in own]
    if len({each.address for each in stations}) < len(stations):
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
        phy_note="from the rates" if known or letters else "assumed: no rate is told",
        stations=stations,
        notes=notes,
    )


def _rate(path: Path, block: Block, name: str) -> tuple[float | None, str]:
    """Rate and the letter of the physical layer if it is a later one. [bit/s]"""
    text = block.fields.get(name, "")
    if not text or text.startswith("("):
        return None, ""
    found = RATE.match(text)
    scale = {"": 1.0, "M": 1e6, "G": 1e9}
    rate = float(found[1]) * scale[found[2].upper()] if found else 0.0
    if found is None or not 0 < rate < 1e12:
        where = f"{path}:{block.lines[name]}"
        raise UserError(f'{where}: `{name}`: "{text[:40]}" is not a rate such as 54.0 MBit/s')
    letter = next((letter for word, letter in LATER if word in found[3]), "")
    return rate, letter


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


def _station(path: Path, block: Block, preset: str) -> Station:
    ours = any(name.startswith("beacon") and name != "beacon interval" for name in block.fields)
    up, down = ("tx", "rx") if ours else ("rx", "tx")
    rates = {way: _rate(path, block, f"{way} bitrate") for way in ("tx", "rx")}
    notes = _remarks(path, block, ours, preset, rates)
    moved = {way: _count(path, block, f"{way} bytes") for way in ("tx", "rx")}
    silent_s = _count(path, block, "inactive time") / 1e3
    idle = silent_s > IDLE_S
    if idle:
        notes.append(f"silent for {silent_s:.0f} s: no connections")
    most = max(moved.values())
    shares = f"{moved[down] / 1e6:.3g} MB down, {moved[up] / 1e6:.3g} MB up since it associated"

    def assumed(way: str) -> Connections | None:
        few = moved[way] < BOTH_WAYS * most or most == 0
        return None if idle or few else Connections(1, False, shares)

    upload, download = assumed(up), assumed(down)
    if not idle and upload is None and download is None:
        download = Connections(1, False, "nothing moved yet")
    return Station(
        address=block.address,
        up_bps=_of_cell(rates[up][0], preset),
        down_bps=_of_cell(rates[down][0], preset),
        upload=upload,
        download=download,
        notes=notes,
    )


def _of_cell(rate_bps: float | None, preset: str) -> float | None:
    return None if rate_bps is None else phy.nearest(rate_bps, preset)


def _remarks(
    path: Path,
    block: Block,
    ours: bool,
    preset: str,
    rates: dict[str, tuple[float | None, str]],
) -> list[str]:
    remarks: list[str] = []
    if ours:
        remarks.append("this is the machine that wrote the dump, as a station of its access point")
    signal = block.fields.get("signal avg") or block.fields.get("signal")
    if signal and (found := re.match(r"-?\d+", signal)):
        level = int(found[0])
        strange = "" if -110 <= level < 0 else ", which no radio measures"
        remarks.append(f"signal {level} dBm{strange}")
    for way, (rate, _) in rates.items():
        if rate is None:
            remarks.append(f"no {way} rate is told: the other way's, else the cell's, is assumed")
        elif abs(phy.nearest(rate, preset) - rate) > 1:
            took = phy.spelled(phy.nearest(rate, preset))
            remarks.append(f"{way} rate {block.fields[f'{way} bitrate']}: here {took}")
    retries, packets = (_count(path, block, f"tx {name}") for name in ("retries", "packets"))
    if retries and packets:
        part = retries / (retries + packets)
        remarks.append(
            f"{part:.0%} of the frames to it were repeats, collisions and noise together; "
            f"error_down = {part:.2f} would be all noise"
            if not ours
            else f"{part:.0%} of its frames were repeats, collisions and noise together"
        )
    return remarks


def addresses(stations: Sequence[Station]) -> list[str]:
    """MAC addresses, in the order of the scenario's stations."""
    return [each.address for each in stations]
