"""Captures of TCP connections between a station and a server over a wire, computed from given
times.
"""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ETHERNET, RADIOTAP = 1, 127
STATION, SERVER = b"\xc0\xa8\x01\x05", b"\x08\x08\x08\x08"
MSS = 1448
SYN, ACK = 2, 16


def capture(
    path: Path, packets: Iterable[tuple[float, bytes]], *, snap: int = 65535, link: int = ETHERNET
) -> Path:
    """Write packets as a pcap file, each truncated to `snap` bytes."""
    content = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, link)]
    for at_s, packet in sorted(packets, key=lambda each: each[0]):
        seconds, rest = divmod(at_s, 1)
        captured = packet[:snap]
        head = struct.pack("<IIII", int(seconds), int(rest * 1e6), len(captured), len(packet))
        content += [head, captured]
    path.write_bytes(b"".join(content))
    return path


def ethernet(
    source: bytes,
    sink: bytes,
    ports: tuple[int, int],
    *,
    flags: int = ACK,
    seq: int = 0,
    ack: int = 0,
    length: int = 0,
    options: bytes = b"",
) -> bytes:
    """Return an Ethernet frame with a TCP segment, whose payload consists of zeros."""
    header = 20 + len(options)
    total = 20 + header + length
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, total % 65536, 0, 0, 64, 6, 0, source, sink)
    tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, header // 4 << 4, flags, 60_000, 0, 0)
    return bytes(12) + b"\x08\0" + ip + tcp + options + bytes(length)


@dataclass(frozen=True)
class Conversation:
    """A TCP connection that the station opens, captured next to the station.

    Attributes
    ----------
    path_s : float
        Round trip from the capture to the server and back. [s]
    near_s : float
        Round trip from the capture to the station and back. [s]
    port : int
        Port of the station.
    handshake : bool
        Whether the capture contains the handshake.
    scale : int
        Window scale of station and server, or -1 if they have none.
    up : bool
        Whether the station sends the data.
    """

    path_s: float = 0.02
    near_s: float = 0.001
    port: int = 40_000
    handshake: bool = True
    scale: int = -1
    up: bool = False

    def packets(
        self,
        sent: Iterable[tuple[float, int, int]],
        *,
        acks: bool = True,
        start_s: float = 0.0,
        waited_s: Callable[[int], float] | None = None,
    ) -> list[tuple[float, bytes]]:
        """Return the packets of the conversation.

        Parameters
        ----------
        sent : iterable of (float, int, int)
            Time [s], number of the first byte from 0, and payload [bytes] of each segment at the
            capture.
        acks : bool
            Whether the capture contains the ACKs.
        start_s : float
            Time of the SYN. [s]
        waited_s : callable, optional
            Function from the number of a segment to its time in the sender's queue, which TCP time
            stamps show. [s]
        """
        frames = list(self._opening(start_s)) if self.handshake else []
        answer_s = self.path_s if self.up else self.near_s
        for number, (at_s, first, length) in enumerate(sent):
            stamp = back = b""
            if waited_s is not None:
                tick = round(1000 * (5.0 + at_s - waited_s(number)))
                stamp = struct.pack(">BBBBII", 1, 1, 8, 10, tick, 1)
                back = struct.pack(">BBBBII", 1, 1, 8, 10, 1, tick)
            data = self._frame(self.up, seq=101 + first, ack=101, length=length, options=stamp)
            frames.append((at_s, data))
            if acks:
                acknowledged = 101 + first + length
                ack = self._frame(not self.up, seq=101, ack=acknowledged, options=back)
                frames.append((at_s + answer_s, ack))
        return frames

    def _opening(self, start_s: float) -> Iterable[tuple[float, bytes]]:
        options = struct.pack(">BBH", 2, 4, 1460)
        if self.scale >= 0:
            options += bytes([1, 3, 3, self.scale])
        yield start_s, self._frame(True, flags=SYN, seq=100, options=options)
        back_s = start_s + self.path_s
        yield back_s, self._frame(False, flags=SYN | ACK, seq=100, ack=101, options=options)
        yield back_s + self.near_s, self._frame(True, seq=101, ack=101)

    def _frame(
        self,
        up: bool,
        *,
        flags: int = ACK,
        seq: int = 0,
        ack: int = 0,
        length: int = 0,
        options: bytes = b"",
    ) -> bytes:
        ends = (STATION, SERVER) if up else (SERVER, STATION)
        ports = (self.port, 80) if up else (80, self.port)
        return ethernet(*ends, ports, flags=flags, seq=seq, ack=ack, length=length, options=options)


def paced(
    count: int, every_s: float, *, start_s: float = 0.1, length: int = MSS
) -> list[tuple[float, int, int]]:
    """Return segments that an application sends at equal intervals."""
    return [(start_s + number * every_s, number * length, length) for number in range(count)]


def bursts(
    rounds: int, window: int, every_s: float, *, start_s: float = 0.1, gap_s: float = 1e-4
) -> list[tuple[float, int, int]]:
    """Return segments of a sender that sends its window as one burst."""
    return [
        (start_s + turn * every_s + place * gap_s, (turn * window + place) * MSS, MSS)
        for turn in range(rounds)
        for place in range(window)
    ]


def on_air(packet: bytes, *, up: bool, station: int = 1) -> bytes:
    """Return an Ethernet frame as an unencrypted data frame at 54 Mb/s, with a radiotap header."""
    radiotap = struct.pack("<BBHIB", 0, 0, 9, 1 << 2, 108)
    access_point, client = (
        bytes([2, kind, 0, 0]) + struct.pack(">H", number)
        for kind, number in ((0, 1), (1, station))
    )
    ends = (access_point, client) if up else (client, access_point)
    head = bytes([8, 1 if up else 2, 0, 0]) + b"".join(ends) + bytes([2, 2, 0, 0, 0, 9]) + bytes(2)
    return radiotap + head + b"\xaa\xaa\x03\0\0\0" + packet[12:]
