"""ICMP echo requests that measure round-trip times to stations, excluding the gateway's queues.

The kernel adds a time stamp to each reply on arrival, so a busy machine does not distort the
measurement. A reply is accepted if it comes from the pinged address and contains a secret that only
this address received. A station can therefore neither reply for another station nor reply before it
was pinged.

The kernel's time stamps are times of the wall clock, which may be set at any moment. This module
converts them to times of the monotonic clock.
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
from lasthop.linux.packets import MAX_AT_ONCE
from lasthop.linux.tc import Address

REQUEST = {4: 8, 6: 128}
REPLY = {4: 0, 6: 129}
HEADER = struct.Struct("!BBHHH")
"""Layout of the ICMP header: type, code, checksum, identifier, sequence number."""
STAMP = struct.Struct("=qq")
"""Layout of a time stamp: seconds and nanoseconds (SCM_TIMESTAMPNS)."""
SO_TIMESTAMPNS = 35
NONCE = struct.Struct("!Q")
DIGEST_BYTES = 16
FILLER = bytes(range(24))
REMEMBERED = 60_000
"""Number of further pings after which a reply to a ping is ignored, since sequence numbers repeat
after 65,536 pings. [-]
"""
STEP_S = 1e-3
"""Change of the offset between the wall clock and the monotonic clock that is always tolerated. If
the offset changes by more than the sum of this value and the change that `SLEW` allows, the wall
clock was set. [s]
"""
SLEW = 0.1
"""Additional tolerated change of the offset, as a fraction of the time between two readings of the
clocks. During a correction the wall clock may run faster or slower by a twelfth (chrony). [-]"""


class Answer(NamedTuple):
    """Received echo reply."""

    sequence: int
    at_s: float
    """Time at which the kernel received the reply, on the clock of `time.monotonic`. [s]"""


def both_clocks() -> tuple[float, float]:
    """Return `time.time` and `time.monotonic` at nearly the same moment. Of three pairs of
    readings, the pair that was read fastest is returned. [s]"""
    readings = []
    for _ in range(3):
        before_s, clock_s, after_s = time.monotonic(), time.time(), time.monotonic()
        readings.append((after_s - before_s, clock_s, (before_s + after_s) / 2))
    _, clock_s, now_s = min(readings)
    return clock_s, now_s


class Clock:
    """Offset between the wall clock, which may be set, and the monotonic clock.

    Parameters
    ----------
    read : callable
        Returns the times of the wall clock and of the monotonic clock. [s]
    """

    def __init__(self, read: Callable[[], tuple[float, float]] = both_clocks) -> None:
        self.read = read
        self.ahead_s = self.compared_s = 0.0
        self.compare()

    def compare(self) -> bool:
        """Read both clocks. Return whether the wall clock was set since the last call."""
        clock_s, now_s = self.read()
        moved_s, passed_s = clock_s - now_s - self.ahead_s, now_s - self.compared_s
        self.ahead_s, self.compared_s = clock_s - now_s, now_s
        return abs(moved_s) > STEP_S + SLEW * passed_s

    def monotonic_s(self, stamp_s: float) -> float:
        """Convert a time stamp of the wall clock to a time of the monotonic clock. The time stamp
        must be more recent than the second-last call of `compare`. [s]"""
        return stamp_s - self.ahead_s


class Secret:
    """Secret in the payload of pings. A station that has not received the ping cannot forge a
    reply."""

    def __init__(self) -> None:
        self.key = secrets.token_bytes(32)
        self.sent = 0

    def payload(self, address: Address, sequence: int) -> bytes:
        """Return the payload of a ping to this address with this sequence number."""
        self.sent += 1
        nonce = NONCE.pack(self.sent)
        return nonce + self.digest(nonce, address, sequence) + FILLER

    def knows(self, payload: bytes, address: Address, sequence: int) -> bool:
        """Return whether a reply contains the payload of a recent ping to this address."""
        nonce = payload[: NONCE.size]
        digest = payload[NONCE.size : NONCE.size + DIGEST_BYTES]
        if not hmac.compare_digest(digest, self.digest(nonce, address, sequence)):
            return False
        return self.sent - int(NONCE.unpack(nonce)[0]) < REMEMBERED

    def digest(self, nonce: bytes, address: Address, sequence: int) -> bytes:
        """Return a digest of these values that only this process can compute."""
        text = nonce + sequence.to_bytes(2) + address.packed
        return hashlib.blake2s(text, key=self.key, digest_size=DIGEST_BYTES).digest()


class Pinger:
    """Raw sockets that send pings over IPv4 and IPv6. Replies to pings of other programs are
    rejected by identifier and secret.

    Parameters
    ----------
    sockets : mapping, optional
        Sockets that send pings, by IP version. Default: raw sockets.
    clock : Clock, optional

    Raises
    ------
    UserError
        If this process may not create raw sockets.
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
        """Send an echo request. Return whether the kernel accepted the request."""
        raw = self.sockets.get(address.version)
        if raw is None:
            return False
        kind = REQUEST[address.version]
        payload = self.secret.payload(address, sequence)
        packet = HEADER.pack(kind, 0, 0, self.identifier, sequence) + payload
        if address.version == 4:  # the kernel computes the ICMPv6 checksum
            packet = HEADER.pack(kind, 0, checksum(packet), self.identifier, sequence) + payload
        self.clock.compare()
        try:
            raw.sendto(packet, (str(address), 0))
        except OSError:
            return False
        return True

    def answers(self) -> list[Answer]:
        """Return the replies that have arrived. Their number per call is limited, so that a flood
        does not stop other work.

        If the wall clock was set since the last call, all replies are discarded, since some time
        stamps may be from before the change.
        """
        results = []
        for version, raw in self.sockets.items():
            for _ in range(MAX_AT_ONCE):
                try:
                    data, ancillary, _, (source, *_) = raw.recvmsg(2048, 64)
                except (BlockingIOError, InterruptedError):
                    break
                except OSError:
                    continue  # an ICMP error, which is not a reply
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
        if self.clock.compare():
            return []
        return [Answer(sequence, self.clock.monotonic_s(stamp_s)) for sequence, stamp_s in results]


def raw_sockets() -> dict[int, socket.socket]:
    """Return raw sockets for ICMP, by IP version."""
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
            continue  # this kernel does not support IPv6
        raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        sockets[version] = raw
    return sockets


def arrival_s(ancillary: list[tuple[int, int, bytes]]) -> float:
    """Return the time at which the kernel received a packet, on the clock of `time.time`. [s]"""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            seconds, nanoseconds = STAMP.unpack_from(data)
            return float(seconds + nanoseconds / 1e9)
    return time.time()


def checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071) of data of even length."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
