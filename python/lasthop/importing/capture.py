"""A capture as a cell: its stations, their rates, and the data that they send and receive.

If a monitoring radio took the capture, stations have MAC addresses, and the frames show the access
point. In a capture of wired packets, stations have IP addresses, and nothing is known about the
radio.
"""

import ipaddress
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from lasthop.errors import UserError
from lasthop.importing import frames
from lasthop.importing.counters import MAX_CONNECTIONS, QUIC, Connection, StationCounters
from lasthop.importing.frames import Frame, Radio
from lasthop.importing.packets import Packet, Progress, packets
from lasthop.importing.round_trips import ETHERNET_MSS
from lasthop.importing.segments import (
    SYN,
    WIRED_LINKS,
    Segment,
    ip_packet,
    of_llc,
    segment,
)

__all__ = ["Capture", "Cell", "read"]

MAX_STATIONS = 1000
MAX_CELLS = 100
"""Maximum number of stations per cell, and of cells. Further stations and cells are only
counted.
"""

RADIO_LINKS = {frames.WLAN, frames.RADIOTAP, frames.PRISM, frames.PPI}
WELL_KNOWN = 1024
SLOWEST_BPS = 1e6
"""Rate assumed for a frame whose rate is unknown. A low rate overestimates the duration of the
frame. [bit/s]
"""
BACKOFF_S = 1e-3
"""Longest gap between frames of a busy channel: 31 slots of 802.11b, DIFS and a MAC ACK. [s]"""
LOOKUPS = {53, 67, 68, 123, 137, 138, 546, 547, 1900, 5353, 5355}
"""UDP ports of look-ups and announcements. Such datagrams are ignored."""


@dataclass
class Cell:
    """Counters of one access point and its stations.

    Attributes
    ----------
    stations : dict
        Counters of each station, by its address.
    control : Counter
        Number of MAC ACKs, by rate [bit/s].
    payload_bytes : int
        Total payload of data frames. [bytes]
    passed : dict
        Number of packets so far, by direction.
    """

    stations: dict[bytes, StationCounters] = field(default_factory=dict)
    control: Counter[float] = field(default_factory=Counter)
    payload_bytes: int = 0
    passed: dict[str, int] = field(default_factory=lambda: {"up": 0, "down": 0})
    rts: set[int] = field(default_factory=set)
    asked: bytes = b""
    left_out: int = 0

    def station(self, address: bytes, name: str) -> StationCounters | None:
        """Return the counters of a station; None if the cell already has too many stations."""
        known = self.stations.get(address)
        if known is None:
            if len(self.stations) >= MAX_STATIONS:
                self.left_out += 1
                return None
            known = self.stations[address] = StationCounters(name)
        return known


@dataclass
class Capture:
    """Counters of a whole capture.

    Attributes
    ----------
    cells : dict
        Counters of each cell, by the access point's address. A wired capture has one cell, whose
        address is empty.
    first_s, last_s : float
        Times of the first and of the last packet. [s]
    packets, radio : int
        Number of all packets, and of packets with an 802.11 header.
    links : set
        Link types that are not supported.
    beacons : Counter
        Number of beacons of each access point, by its address.
    mhz : Counter
        Number of frames on each channel, by the frequency of the channel. [MHz]
    connections : int
        Number of connections that are followed.
    untold : int
        Number of data frames between two stations or two access points, which are left out.
    """

    cells: dict[bytes, Cell] = field(default_factory=dict)
    first_s: float = 0.0
    last_s: float = 0.0
    packets: int = 0
    radio: int = 0
    links: set[int] = field(default_factory=set)
    beacons: Counter[bytes] = field(default_factory=Counter)
    mhz: Counter[int] = field(default_factory=Counter)
    connections: int = 0
    untold: int = 0

    @property
    def span_s(self) -> float:
        """Time that the capture covers. [s]"""
        return self.last_s - self.first_s


def read(path: Path, lan: str | None = None, progress: Progress | None = None) -> Capture:
    """Read a whole capture.

    Parameters
    ----------
    path : Path
        A pcap or pcapng file, possibly compressed by gzip.
    lan : str, optional
        Subnet of the stations of a wired capture; by default private addresses are stations.
    progress : callable, optional
        Called with the number of bytes read and the total number of bytes.

    Raises
    ------
    UserError
        If the file is no capture or has no packet.
    """
    reader = Reader(Capture(), subnet(lan))
    for packet in packets(path, progress):
        reader.take(packet)
    known = reader.capture
    if not known.packets:
        raise UserError(f"{path}: has no packets")
    if len(known.links) and not known.cells and not known.radio:
        kinds = ", ".join(map(str, sorted(known.links)))
        raise UserError(
            f"{path}: link type {kinds}: expected 802.11 with or without radiotap, Ethernet, IP"
        )
    return known


def subnet(text: str | None) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """Return the subnet from the value of --lan."""
    if text is None:
        return None
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise UserError(
            f'--lan "{text}": expected a subnet such as 192.168.1.0/24 or fd00::/64'
        ) from None


class Reader:
    """Reader of a capture, which updates counters with each packet."""

    def __init__(
        self, capture: Capture, lan: ipaddress.IPv4Network | ipaddress.IPv6Network | None
    ) -> None:
        self.capture = capture
        self.lan = lan
        self.sides: dict[bytes, bool] = {}
        self.quiet_s = 0.0
        self.heard: tuple[float, float] | None = None

    def take(self, packet: Packet) -> None:
        """Update the counters with a packet."""
        known = self.capture
        if not known.packets:
            known.first_s = known.last_s = packet.time_s
        known.packets += 1
        known.last_s = max(known.last_s, packet.time_s)
        known.first_s = min(known.first_s, packet.time_s)
        if packet.link in RADIO_LINKS:
            self._radio(packet)
        elif packet.link in WIRED_LINKS:
            seen = segment(ip_packet(packet.link, packet.content), packet.missing_bytes)
            if seen is not None:
                length = len(packet.content) + packet.missing_bytes
                self._wired(packet.time_s, seen, length)
        else:
            known.links.add(packet.link)

    def _radio(self, packet: Packet) -> None:
        content, radio = packet.content, frames.BARE
        if packet.link == frames.RADIOTAP:
            header = frames.radiotap(content)
            if header is None:
                return
            radio, content = header, content[header.length :]
        elif packet.link in (frames.PRISM, frames.PPI):
            content = frames.past_other_headers(packet.link, content)
        if radio.bad:
            return
        seen = frames.frame(content, radio.fcs)
        if seen is None:
            return
        self._listen(packet.time_s, len(content) + packet.missing_bytes, radio.sent.rate_bps)
        if packet.missing_bytes:
            seen = seen._replace(body_bytes=seen.body_bytes + packet.missing_bytes)
        self.capture.radio += 1
        if radio.mhz:
            self.capture.mhz[radio.mhz] += 1
        if seen.kind == frames.DATA:
            self._data(packet.time_s, seen, radio)
        elif seen.kind == frames.CONTROL:
            self._control(seen, radio)
        elif seen.subtype == frames.BEACON:
            self.capture.beacons[seen.transmitter] += 1

    def _listen(self, at_s: float, length: int, rate_bps: float) -> None:
        """Add the idle time before a frame: the part of the gap that is longer than a backoff."""
        air_s = 8 * length / (rate_bps or SLOWEST_BPS)
        if self.heard is not None:
            last_s, last_air_s = self.heard
            # Radios stamp either the beginning or the end of a frame, so the gap may contain the
            # previous frame or this frame. The longer frame is subtracted.
            explained_s = max(air_s, last_air_s) + BACKOFF_S
            self.quiet_s += max(at_s - last_s - explained_s, 0.0)
        self.heard = at_s, air_s

    def _control(self, seen: Frame, radio: Radio) -> None:
        """Process a control frame. If a MAC ACK is addressed to a node of a cell, it is counted by
        rate. An RTS announces the next frame.
        """
        if seen.subtype == frames.ACK and radio.sent.rate_bps:
            for address, cell in self.capture.cells.items():
                if seen.receiver == address or seen.receiver in cell.stations:
                    cell.control[radio.sent.rate_bps] += 1
        elif seen.subtype == frames.RTS:
            for cell in self.capture.cells.values():
                cell.asked = seen.transmitter

    def _data(self, at_s: float, seen: Frame, radio: Radio) -> None:
        if seen.to_ds == seen.from_ds:
            self.capture.untold += 1
            return  # The frame is between two stations, or two access points.
        up = seen.to_ds
        access_point, address = (
            (seen.receiver, seen.transmitter) if up else (seen.transmitter, seen.receiver)
        )
        if frames.is_group(address):
            return
        cell = self._cell(access_point)
        station = None if cell is None else cell.station(address, frames.spelled(address))
        if cell is None or station is None:
            return
        name = "up" if up else "down"
        way = station.way(name)
        if seen.subtype & 4:
            return  # The frame has no data: the station only sleeps or wakes.
        way.frames += 1
        way.repeats += seen.retry
        if radio.sent.rate_bps:
            way.sent[radio.sent] += seen.body_bytes + 34
        if up and radio.signal_dbm is not None:
            station.signals[radio.signal_dbm] += 1
        if cell.asked == seen.transmitter:
            cell.rts.add(seen.body_bytes)
        cell.asked = b""
        again = seen.retry and station.sequences.get(name) == seen.sequence
        station.sequences[name] = seen.sequence
        if again:
            return
        way.payload_bytes += seen.body_bytes
        cell.payload_bytes += seen.body_bytes
        station.protected += seen.protected
        station.qos += seen.qos
        carried = [segment(of_llc(each)) for each in frames.packets_of(seen)]
        cell.passed[name] += max(len(carried), 1)
        for part in carried:
            if part is not None:
                self._count(at_s, cell, station, name, part)

    def _cell(self, access_point: bytes) -> Cell | None:
        known = self.capture.cells.get(access_point)
        if known is None and len(self.capture.cells) < MAX_CELLS:
            known = self.capture.cells[access_point] = Cell()
        return known

    def _wired(self, at_s: float, seen: Segment, length: int) -> None:
        up = self._from_station(seen)
        address = seen.source if up else seen.sink
        cell = self._cell(b"")
        assert cell is not None, "a wired capture has one cell"
        station = cell.station(address, str(ipaddress.ip_address(address)))
        if station is None:
            return
        name = "up" if up else "down"
        station.way(name).frames += 1
        station.way(name).payload_bytes += length
        cell.payload_bytes += length
        cell.passed[name] += max(ceil(seen.payload_bytes / ETHERNET_MSS), 1)
        self._count(at_s, cell, station, name, seen)

    def _from_station(self, seen: Segment) -> bool:
        """Return whether a packet was sent by a station."""
        ours, theirs = self._is_lan(seen.source), self._is_lan(seen.sink)
        if ours != theirs:
            return ours
        if seen.flags & SYN and seen.sport >= WELL_KNOWN > seen.dport:
            return True
        return seen.sport > seen.dport  # Assume that the client has the larger port.

    def _is_lan(self, address: bytes) -> bool:
        known = self.sides.get(address)
        if known is None:
            if len(self.sides) > MAX_CONNECTIONS:
                self.sides.clear()
            parsed = ipaddress.ip_address(address)
            known = parsed in self.lan if self.lan is not None else parsed.is_private
            self.sides[address] = known
        return known

    def _count(
        self, at_s: float, cell: Cell, station: StationCounters, way: str, seen: Segment
    ) -> None:
        quic = not seen.tcp and QUIC in (seen.sport, seen.dport)
        if not seen.tcp and not quic:
            if LOOKUPS & {seen.sport, seen.dport}:
                return
            datagrams = station.udp_up if way == "up" else station.udp_down
            datagrams.add(at_s, seen.payload_bytes)
            return
        near = (seen.source, seen.sport), (seen.sink, seen.dport)
        key = (seen.tcp, *(near if way == "up" else near[::-1]))
        connection = station.connections.get(key)
        if connection is None:
            if self.capture.connections >= MAX_CONNECTIONS:
                cell.left_out += 1
                return
            self.capture.connections += 1
            connection = station.connections[key] = Connection(seen.tcp, at_s)
        quiet_s = self.quiet_s if self.capture.radio else None
        connection.pass_by(at_s, way, seen, cell.passed, quiet_s)


def choose(path: Path, known: Capture, access_point: str | None) -> tuple[bytes, Cell]:
    """Return the cell to import: that of --ap, else the cell with the most payload.

    Raises
    ------
    UserError
        If the capture has no cell, or no cell of this access point.
    """
    if not known.cells:
        what = (
            "802.11 frames without data: senders and receivers are unknown"
            if known.radio
            else "no TCP or UDP packet"
        )
        raise UserError(f"{path}: {what}", "record a capture while stations send and receive")
    if access_point is None:
        return max(known.cells.items(), key=lambda each: each[1].payload_bytes)
    try:
        wanted = bytes.fromhex(access_point.replace(":", "").replace("-", ""))
    except ValueError:
        wanted = b""
    if len(wanted) != 6:
        raise UserError(f'--ap "{access_point}": expected a MAC address such as 02:00:5e:10:00:01')
    if wanted not in known.cells:
        heard = ", ".join(frames.spelled(each) for each in by_size(known)[:4] if each)
        hint = f"heard are {heard}" if heard else None
        raise UserError(f"--ap {access_point}: {path} has no data of this access point", hint)
    return wanted, known.cells[wanted]


def by_size(known: Capture) -> list[bytes]:
    """Return the access points, those with the most payload first."""
    return sorted(known.cells, key=lambda each: -known.cells[each].payload_bytes)


def others(known: Capture, chosen: bytes) -> Iterator[bytes]:
    """Yield the access points with traffic that are not imported."""
    return (each for each in by_size(known) if each != chosen and known.cells[each].payload_bytes)
