"""ICMP echo requests: round-trip times to stations, without the queues of the gateway.

The kernel stamps the answers on arrival, so that a busy machine does not make them late. An answer
counts if it comes from the address that was asked and holds what only that address has been told: a
station can neither answer for others nor before it has been asked.

The kernel's stamps are on the clock that shows the time of day, which may be set at any moment;
answers carry times on the one that never jumps.
"""

import hashlib
import hmac
import os
import secrets
import socket
import struct
import time
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import NamedTuple

from lasthop.errors import UserError
from lasthop.linux.packets import MOST_AT_ONCE
from lasthop.linux.tc import Address

REQUEST = {4: 8, 6: 128}
REPLY = {4: 0, 6: 129}
HEADER = struct.Struct("!BBHHH")
"""Type, code, checksum, identifier, sequence number."""
STAMP = struct.Struct("=qq")
"""Seconds and nanoseconds (SCM_TIMESTAMPNS)."""
SO_TIMESTAMPNS = 35
NONCE = struct.Struct("!Q")
DIGEST_BYTES = 16
FILLER = bytes(range(24))
REMEMBERED = 60_000
"""Pings after which an answer is too old: sequence numbers return after 65,536."""
STEP_S = 1e-3
"""The clock has been set if it has moved by more than this against the one that never jumps, [s]"""
SLEW = 0.1
"""and by more than this share of the time between: it may run faster or slower by a twelfth while
it is corrected (chrony). [-]"""


class Answer(NamedTuple):
    """An echo reply."""

    sequence: int
    at_s: float
    """Time at which the kernel took it in, on the clock of `time.monotonic`. [s]"""


def both_clocks() -> tuple[float, float]:
    """`time.time` and `time.monotonic` at one moment: the tightest of three readings. [s]"""
    readings = []
    for _ in range(3):
        before_s, clock_s, after_s = time.monotonic(), time.time(), time.monotonic()
        readings.append((after_s - before_s, clock_s, (before_s + after_s) / 2))
    _, clock_s, now_s = min(readings)
    return clock_s, now_s


class Clock:
    """What the clock that may be set is ahead of the one that never jumps.

    Parameters
    ----------
    read : callable
        Reads both. [s]
    """

    def __init__(self, read: Callable[[], tuple[float, float]] = both_clocks) -> None:
        self.read = read
        self.ahead_s = self.looked_s = 0.0
        self.look()

    def look(self) -> bool:
        """Read both; whether the one has been set since the last look."""
        clock_s, now_s = self.read()
        moved_s, passed_s = clock_s - now_s - self.ahead_s, now_s - self.looked_s
        self.ahead_s, self.looked_s = clock_s - now_s, now_s
        return abs(moved_s) > STEP_S + SLEW * passed_s

    def monotonic_s(self, stamp_s: float) -> float:
        """A time since the last look but one, on the clock that never jumps. [s]"""
        return stamp_s - self.ahead_s


class Secret:
    """What pings hold, so that nobody can make up an answer."""

    def __init__(self) -> None:
        self.key = secrets.token_bytes(32)
        self.sent = 0

    def payload(self, address: Address, sequence: int) -> bytes:
        """What the next ping holds."""
        self.sent += 1
        nonce = NONCE.pack(self.sent)
        return nonce + self.digest(nonce, address, sequence) + FILLER

    def knows(self, payload: bytes, address: Address, sequence: int) -> bool:
        """Whether an answer from an address holds what a ping to it held, not long ago."""
        nonce = payload[: NONCE.size]
        digest = payload[NONCE.size : NONCE.size + DIGEST_BYTES]
        if not hmac.compare_digest(digest, self.digest(nonce, address, sequence)):
            return False
        return self.sent - int(NONCE.unpack(nonce)[0]) < REMEMBERED

    def digest(self, nonce: bytes, address: Address, sequence: int) -> bytes:
        """What only this process can compute."""
        text = nonce + sequence.to_bytes(2) + address.packed
        return hashlib.blake2s(text, key=self.key, digest_size=DIGEST_BYTES).digest()


class Pinger:
    """Raw sockets for both families; answers to others are told apart by identifier and secret.

    Parameters
    ----------
    sockets : mapping, optional
        By family; raw ones by default.
    clock : Clock, optional

    Raises
    ------
    UserError
        If this process may not have raw sockets.
    """

    def __init__(
        self, sockets: Mapping[int, socket.socket] | None = None, clock: Clock | None = None
    ) -> None:
        self.identifier = os.getpid() & 0xFFFF
        self.secret = Secret()
        self.clock = Clock() if clock is None else clock
        self.sockets = raw_sockets() if sockets is None else sockets

    def close(self) -> None:
        """Close the sockets."""
        for raw in self.sockets.values():
            raw.close()

    def send(self, address: Address, sequence: int) -> bool:
        """Send a request; return whether the kernel took it."""
        raw = self.sockets.get(address.version)
        if raw is None:
            return False
        kind = REQUEST[address.version]
        payload = self.secret.payload(address, sequence)
        packet = HEADER.pack(kind, 0, 0, self.identifier, sequence) + payload
        if address.version == 4:  # the kernel sees to IPv6's
            packet = HEADER.pack(kind, 0, checksum(packet), self.identifier, sequence) + payload
        self.clock.look()
        try:
            raw.sendto(packet, (str(address), 0))
        except OSError:
            return False
        return True

    def answers(self) -> list[Answer]:
        """Yield replies that have arrived; of a flood only a part, so that other work continues.

        None counts if the clock has been set since the last look: which stamps are before that?
        """
        results = []
        for version, raw in self.sockets.items():
            for _ in range(MOST_AT_ONCE):
                try:
                    data, ancillary, _, (source, *_) = raw.recvmsg(2048, 64)
                except (BlockingIOError, InterruptedError):
                    break
                except OSError:
                    continue  # an ICMP error, which is no answer
                if version == 4:
                    data = data[(data[0] & 0xF) * 4 :]
                if len(data) < HEADER.size:
                    continue
                kind, _, _, identifier, sequence = HEADER.unpack_from(data)
                if kind != REPLY[version] or identifier != self.identifier:
                    continue
                address = ip_address(source.partition("%")[0])
                if self.secret.knows(data[HEADER.size :], address, sequence):
                    results.append((sequence, arrival_s(ancillary)))
        if self.clock.look():
            return []
        return [Answer(sequence, self.clock.monotonic_s(stamp_s)) for sequence, stamp_s in results]


def raw_sockets() -> dict[int, socket.socket]:
    """Raw sockets for ICMP, by family."""
    sockets = {}
    for version, family, protocol in (
        (4, socket.AF_INET, socket.IPPROTO_ICMP),
        (6, socket.AF_INET6, socket.IPPROTO_ICMPV6),
    ):
        try:
            raw = socket.socket(family, socket.SOCK_RAW | socket.SOCK_NONBLOCK, protocol)
        except OSError as error:
            if version == 4:
                raise UserError(f"raw sockets, for pings: {error.strerror}") from None
            continue  # a kernel without IPv6
        raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        sockets[version] = raw
    return sockets


def arrival_s(ancillary: list[tuple[int, int, bytes]]) -> float:
    """Time at which the kernel took a packet in, on the clock of `time.time`. [s]"""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = STAMP.unpack_from(data)
            return float(seconds + nanoseconds / 1e9)
    return time.time()


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of data of even length."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
