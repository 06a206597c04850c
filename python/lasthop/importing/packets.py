"""Packets of a pcap or pcapng capture, one after another: at most one packet is in memory.

dpkt parses the headers and blocks. The loops of dpkt trust length fields, and use the link type of
the first interface for all packets. This module therefore has its own loops. References:
draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
"""

import gzip
import io
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO, NamedTuple

from lasthop.errors import UserError
from lasthop.extras import missing as missing_package
from lasthop.progress.cost_limits import check_time, need
from lasthop.scenario.files import opened

__all__ = ["Packet", "Progress", "packets"]

Progress = Callable[[float, float], None]
"""Callback with the number of bytes read so far and the total number of bytes."""

MAX_PACKET_BYTES = 1 << 18
"""Largest accepted length of a packet or block, as in libpcap. [bytes]"""

EVERY = 2000
"""Number of packets between two calls of the progress callback."""
FIRST = 10_000
"""Number of packets after which the remaining time is estimated."""
PACKET_S = 4e-5
"""Estimated processing time per packet. [s]"""

GZIP = b"\x1f\x8b"
SECTION, INTERFACE, PACKET, SIMPLE, ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6
TSRESOL, TSOFFSET = 9, 14


class Packet(NamedTuple):
    """A packet: link type, time of capture [s], captured bytes, number of missing bytes [bytes]."""

    link: int
    time_s: float
    content: bytes
    missing_bytes: int = 0


@dataclass(frozen=True)
class Interface:
    """Interface in a pcapng file: link type, time stamp ticks per second, and time offset. [s]"""

    link: int
    ticks: float
    offset_s: float


def needs_dpkt() -> tuple[ModuleType, ModuleType]:
    """Return dpkt's modules for pcap and pcapng; raise an error if dpkt is not installed."""
    try:
        from dpkt import pcap, pcapng
    except ImportError:
        raise missing_package("dpkt", what="import pcap") from None
    return pcap, pcapng


def packets(path: Path, progress: Progress | None = None) -> Iterator[Packet]:
    """Yield the packets of a capture, which may be compressed by gzip.

    If the file ends within a packet, this packet is left out.

    Raises
    ------
    UserError
        If the file is no capture, or has an impossible length.
    """
    needs_dpkt()
    try:
        with file_or_input(path) as raw:
            size = path.stat().st_size if path.is_file() else 0
            start = raw.peek(4)[:4]
            if not start:
                raise UserError(f"{path}: is empty")
            file: Any = gzip.GzipFile(fileobj=raw) if start.startswith(GZIP) else raw
            for count, packet in enumerate(_of(path, file), 1):
                if count % EVERY == 0:
                    check_time(f"reading {path}")
                    if progress is not None and size:
                        progress(raw.tell(), size)
                if count == FIRST and size:
                    whole_s = PACKET_S * count * size / max(raw.tell(), 1)
                    need(f"reading {path}, {size / 1e6:.3g} MB,", time_s=whole_s)
                yield packet
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: compressed, and damaged: {error}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None


@contextmanager
def file_or_input(path: Path) -> Iterator[io.BufferedReader]:
    """Yield the opened file, or standard input for the name ``-``."""
    if str(path) != "-":
        with opened(path, or_input=True) as file:
            yield file
        return
    stdin: Any = sys.stdin.buffer
    reader = io.BufferedReader(stdin)
    try:
        yield reader
    finally:
        reader.detach()


def _of(path: Path, file: BinaryIO) -> Iterator[Packet]:
    magic = file.read(4)
    pcap, _ = needs_dpkt()
    if magic == struct.pack(">I", SECTION):
        yield from _blocks(path, file)
        return
    if len(magic) == 4 and struct.unpack(">I", magic)[0] in pcap.MAGIC_TO_PKT_HDR:
        yield from _records(path, file, magic)
        return
    raise UserError(
        f"{path}: is not a capture: expected pcap and pcapng, as tcpdump -w and Wireshark write"
    )


def _records(path: Path, file: BinaryIO, magic: bytes) -> Iterator[Packet]:
    """Yield the packets of a pcap file."""
    pcap, _ = needs_dpkt()
    number = struct.unpack(">I", magic)[0]
    little = number in (pcap.PMUDPCT_MAGIC, pcap.PMUDPCT_MAGIC_NANO, pcap.PACPDOM_MAGIC)
    kind = pcap.LEFileHdr if little else pcap.FileHdr
    rest = file.read(pcap.FileHdr.__hdr_len__ - 4)
    if len(rest) < pcap.FileHdr.__hdr_len__ - 4:
        raise UserError(f"{path}: ends in the header of the file")
    # The upper bits are the length of the FCS.
    link = kind(magic + rest).linktype & 0xFFFF
    ticks = 1e9 if number in (pcap.TCPDUMP_MAGIC_NANO, pcap.PMUDPCT_MAGIC_NANO) else 1e6
    header = struct.Struct("<IIII" if little else ">IIII")
    skip = pcap.MAGIC_TO_PKT_HDR[number].__hdr_len__ - header.size
    index = 0
    while len(head := file.read(header.size)) == header.size:
        index += 1
        seconds, fraction, length, total = header.unpack(head)
        _check(path, f"packet {index}", length)
        file.read(skip)
        content = file.read(length)
        if len(content) < length:
            return  # The last packet is truncated.
        yield Packet(link, seconds + fraction / ticks, content, missing(total, length))


def missing(total: int, length: int) -> int:
    """Return the number of bytes of a packet that were not captured. Return 0 if the length field
    of the packet is impossible. [bytes]"""
    return total - length if length < total <= MAX_PACKET_BYTES else 0


def _check(path: Path, what: str, length: int) -> None:
    if length > MAX_PACKET_BYTES:
        raise UserError(
            f"{path}: {what} claims {length} bytes, more than the "
            f"{MAX_PACKET_BYTES} of any capture: the file is damaged"
        )


def _blocks(path: Path, file: BinaryIO) -> Iterator[Packet]:
    """Yield the packets of a pcapng file, after the type of its first block was read."""
    order, interfaces = "<", list[Interface]()
    kind, index = SECTION, 0
    while True:
        index += 1
        head = file.read(4)
        if len(head) < 4:
            return
        if kind == SECTION:
            length_bytes, magic = head, file.read(4)
            if magic not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                raise UserError(f"{path}: block {index} has no byte order: the file is damaged")
            order = "<" if magic == b"\x4d\x3c\x2b\x1a" else ">"
            head, interfaces = length_bytes, []
        (length,) = struct.unpack(f"{order}I", head)
        taken = 12 if kind == SECTION else 8
        if length % 4 or length < taken + 4:
            raise UserError(f"{path}: block {index} claims {length} bytes: it is damaged")
        _check(path, f"block {index}", length)
        body = file.read(length - taken)
        if len(body) < length - taken:
            return  # The last block is truncated.
        if kind == INTERFACE:
            interfaces.append(_interface(path, order, head, body))
        elif kind in (ENHANCED, PACKET, SIMPLE):
            packet = _packet(path, order, kind, body[:-4], interfaces)
            if packet is not None:
                yield packet
        following = file.read(4)
        if len(following) < 4:
            return
        (kind,) = struct.unpack(f"{order}I", following)


def _interface(path: Path, order: str, length: bytes, body: bytes) -> Interface:
    _, pcapng = needs_dpkt()
    kind = pcapng.InterfaceDescriptionBlockLE if order == "<" else pcapng.InterfaceDescriptionBlock
    try:
        block = kind(struct.pack(f"{order}I", INTERFACE) + length + body)
    except Exception as error:  # dpkt raises no common class of errors.
        raise UserError(f"{path}: an interface's description is damaged: {error}") from None
    ticks, offset_s = 1e6, 0.0
    for option in block.opts:
        if option.code == TSRESOL and option.data:
            power = option.data[0]
            ticks = float((2 if power & 0x80 else 10) ** (power & 0x7F))
        elif option.code == TSOFFSET and len(option.data) == 8:
            (offset_s,) = struct.unpack(f"{order}q", option.data)
    return Interface(block.linktype, ticks, float(offset_s))


def _packet(
    path: Path, order: str, kind: int, body: bytes, interfaces: list[Interface]
) -> Packet | None:
    if kind == SIMPLE:  # This kind of packet has no time stamp.
        return None
    if len(body) < 20:
        raise UserError(f"{path}: a packet without its header: the file is damaged")
    if kind == ENHANCED:
        number, high, low, length, total = struct.unpack(f"{order}IIIII", body[:20])
    else:
        number, _, high, low, length, total = struct.unpack(f"{order}HHIIII", body[:20])
    if number >= len(interfaces):
        raise UserError(f"{path}: a packet of interface {number}, which is not described")
    if length > len(body) - 20:
        raise UserError(f"{path}: a packet is longer than its block: the file is damaged")
    known = interfaces[number]
    time_s = known.offset_s + (high << 32 | low) / known.ticks
    return Packet(known.link, time_s, body[20 : 20 + length], missing(total, length))
