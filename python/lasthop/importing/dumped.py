"""Numeric values of a station's block in a dump of iw: rates and bytes, by direction."""

import re
from dataclasses import dataclass
from math import inf
from pathlib import Path

from lasthop.errors import UserError
from lasthop.importing.bitrate import read_rate
from lasthop.importing.dump import OF_STATIONS, Block, Interface
from lasthop.importing.ppdu import Sighting

__all__ = ["Dumped", "rate"]

EXPECTED = re.compile(r"(\d{1,9})(?:\.(\d{1,3}))? ?([kMG]?)bps$", re.IGNORECASE)
SCALE = {"": 1e-6, "k": 1e-3, "m": 1.0, "g": 1e3}
"""Units of expected throughput, by the prefix that iw prints. [Mb/s]"""


@dataclass(frozen=True)
class Dumped:
    """Numeric values of a station's block in a dump.

    Attributes
    ----------
    block : Block
        Block with the lines of the dump.
    ours : bool
        Whether iw ran on the station, not on the access point.
    pair : pair of Sighting
        Uplink and downlink rates.
    names : pair of str
        Names of uplink and downlink in the dump: ``rx`` and ``tx``, or the reverse.
    moved : pair of float
        Bytes sent by the station, and bytes sent to the station. [bytes]
    silent_s : float
        Time since the station's last frame. [s]
    repeats, packets : float
        Number of retries and of packets that the machine with iw sent. [-]
    expected_mbps : float
        Throughput that rate control expects for the frames of this machine; None if absent. [Mb/s]
    """

    block: Block
    ours: bool
    pair: tuple[Sighting | None, Sighting | None]
    names: tuple[str, str]
    moved: tuple[float, float]
    silent_s: float
    repeats: float
    packets: float
    expected_mbps: float | None = None

    @staticmethod
    def of(path: Path, block: Block, known: Interface) -> "Dumped":
        """Return the numeric values of a block; `known` is the interface of the block."""
        ours = known.type in OF_STATIONS or block.is_of_station
        names = ("tx", "rx") if ours else ("rx", "tx")
        up, down = (rate(path, block, f"{name} bitrate") for name in names)
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
            _expected(path, block),
        )

    @property
    def mostly(self) -> str:
        """Return the direction in which most bytes were sent, ``"up"`` or ``"down"``."""
        return "up" if self.moved[0] > self.moved[1] else "down"

    @property
    def carrying(self) -> Sighting | None:
        """Return the rate in the direction of most bytes; if it has no MCS, that of the other
        direction."""
        ways = self.pair if self.mostly == "up" else self.pair[::-1]
        return next((rate for rate in ways if rate is not None and rate.modulation), None)


def rate(source: Path | str, block: Block, name: str) -> Sighting | None:
    """Return the rate in the line `name` of a block; None if the line is missing.

    `source` is the origin of the dump, for the error message.
    """
    text = block.fields.get(name, "")
    if not text or text.startswith(("(", "<")) or text.lower() in ("unknown", "n/a"):
        return None
    seen = read_rate(text)
    if seen is None:
        where = f"{source}:{block.lines[name]}"
        raise UserError(f'{where}: `{name}`: "{text[:40]}" is not a rate such as 54.0 MBit/s')
    return seen


def _count(path: Path, block: Block, name: str) -> float:
    """Return a value in bytes, packets or ms; 0 if the line is missing."""
    text = block.fields.get(name)
    if text is None:
        return 0.0
    match = re.match(r"(\d+)(?: ?ms)?$", text)
    if match is None or float(match[1]) == inf or len(match[1]) > 20:
        where = f"{path}:{block.lines[name]}"
        raise UserError(f'{where}: `{name}`: "{text[:40]}" is not a count from 0')
    return float(match[1])


def _expected(path: Path, block: Block) -> float | None:
    """Return the throughput that rate control expects. iw prints the fraction in thousandths,
    without leading zeros."""
    text = block.fields.get("expected throughput")
    if not text:
        return None
    match = EXPECTED.match(text)
    if match is None:
        where = f"{path}:{block.lines['expected throughput']}: `expected throughput`"
        raise UserError(f'{where}: "{text[:40]}" is not a rate such as 43.8Mbps')
    return (int(match[1]) + int(match[2] or 0) / 1e3) * SCALE[match[3].lower()]
