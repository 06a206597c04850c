"""Frames of an attacking device, and of the server from which it has requested data."""

import random
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import NamedTuple

from attack_air import DEVICE, DEVICE_V4, GATE_V4, VICTIM, VICTIM_V4
from frames import ipv4, ipv6, udp
from lab import (
    SERVER_V4,
    SERVER_V6,
)

PAYLOAD = 1400
"""Length of most frames after the IP header. [bytes]"""
DEVICE_V6 = "fd77:1::c"
Packet = tuple[int, bytes]
Maker = Callable[["Device", int, float], "Sent"]
"""Function that makes a frame from its number and the time since the start. [s]"""


@dataclass
class Device:
    """Sender of the attack: the device, or the server from which it has requested data."""

    down: bool
    """Whether the server sends to the device."""
    draw: random.Random = field(default_factory=lambda: random.Random(1))

    def ip(self, protocol: int, payload: bytes, own: str, *, fragment: int = 0) -> Packet:
        """Return an IP packet from the server to the address `own` of the device if `down`, else a
        packet from this address to the server.
        """
        is_v6 = ":" in own
        server = SERVER_V6 if is_v6 else SERVER_V4
        source, to = (server, own) if self.down else (own, server)
        if is_v6:
            return ipv6(protocol, payload, source, to=to)
        return summed(ipv4(protocol, payload, source, to=to, fragment=fragment))


class Sent(NamedTuple):
    """A frame of an attack, and the MAC addresses for its header."""

    packet: Packet
    mac: str = DEVICE
    """MAC address of the device that sends or receives the frame."""
    to: bytes | None = None
    """Destination MAC address of a frame from the device; None for the MAC address of the
    router.
    """


def raw(mac: str) -> bytes:
    """Return a MAC address as bytes."""
    return bytes.fromhex(mac.replace(":", ""))


def summed(packet: Packet) -> Packet:
    """Return an IPv4 packet with the checksum of its header (RFC 791)."""
    kind, data = packet
    return kind, data[:10] + checksum(data[:20]) + data[12:]


def checksum(data: bytes) -> bytes:
    """Return the Internet checksum (RFC 1071) of data whose checksum field is zero."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!H", ~total & 0xFFFF)


def invented(number: int) -> str:
    """Return a MAC address that no station has."""
    return f"02:00:5e:99:{number >> 8 & 255:02x}:{number & 255:02x}"


def v4(number: int) -> str:
    """Return an IPv4 address of the device."""
    return f"10.77.{20 + number // 250}.{1 + number % 250}"


def v6(number: int) -> str:
    """Return an IPv6 address of the device."""
    return f"fd77:1::d:{number:x}"


def number_of(own: str) -> int | None:
    """Return the index of an address among the addresses of the device. The first address has index
    0. Return None if the address belongs to another machine.
    """
    if own in (DEVICE_V4, DEVICE_V6):
        return 0
    parts = own.split(".")
    if len(parts) == 4 and parts[:2] == ["10", "77"] and int(parts[2]) >= 20:
        return (int(parts[2]) - 20) * 250 + int(parts[3]) - 1
    return int(own.rpartition(":")[2], 16) if own.startswith("fd77:1::d:") else None


def arp(mac: str, own: str, asked: str = GATE_V4, *, operation: int = 1) -> Packet:
    """Return an ARP request or reply, which announces the sender's address (RFC 826)."""
    head = struct.pack("!HHBBH", 1, 0x0800, 6, 4, operation)
    own_bytes, asked_bytes = socket.inet_aton(own), socket.inet_aton(asked)
    return 0x0806, head + raw(mac) + own_bytes + bytes(6) + asked_bytes + bytes(18)


def discovery(kind: int, mac: str, own: str, to: str, target: str) -> Packet:
    """Return a neighbour solicitation (135) or advertisement (136) (RFC 4861, sections 4.3 and
    4.4).
    """
    flags = 0 if kind == 135 else 0x60000000
    body = struct.pack("!BBHI", kind, 0, 0, flags) + ip_address(target).packed
    body += (b"\x01\x01" if kind == 135 else b"\x02\x01") + raw(mac)
    pseudo = ip_address(own).packed + ip_address(to).packed + struct.pack("!II", len(body), 58)
    body = body[:2] + checksum(pseudo + body) + body[4:]
    network, data = ipv6(58, body, own, to=to)
    return network, data[:7] + b"\xff" + data[8:]


def solicitation(mac: str, own: str, asked: str = "fd77:1::1") -> Packet:
    """Return a neighbour solicitation, which announces the sender's address."""
    return discovery(135, mac, own, asked, asked)


def plain(device: Device, k: int, now_s: float) -> Sent:
    """Return a UDP packet from the device's first address."""
    return Sent(device.ip(17, udp(4433, PAYLOAD), DEVICE_V4))


def every(period_s: float, name: Callable[[int], str]) -> Maker:
    """Return a maker whose frames have a new address after each `period_s`. [s]"""

    def make(device: Device, k: int, now_s: float) -> Sent:
        return Sent(device.ip(17, udp(4433, PAYLOAD), name(int(now_s / period_s))))

    return make


def protocol(number: int, payload: bytes = bytes(PAYLOAD), own: str = DEVICE_V4) -> Maker:
    """Return a maker of packets of a protocol."""
    return lambda device, k, now_s: Sent(device.ip(number, payload, own))


def to_port(port: int, source_port: int = 5000) -> Maker:
    """Return a maker of UDP packets to a port."""
    return protocol(17, udp(port, PAYLOAD, source_port))


def fragments(device: Device, k: int, now_s: float) -> Sent:
    """Return first and later fragments in turn."""
    offset = 0x2000 if k % 2 == 0 else 0x2000 | PAYLOAD // 8
    return Sent(device.ip(17, udp(53, PAYLOAD - 8), DEVICE_V4, fragment=offset))


def last_of(count: int) -> Maker:
    """Return a maker of packets from the last of `count` IPv6 addresses of the device. Every 40th
    packet has another of these addresses, so that none of them expires.
    """

    def make(device: Device, k: int, now_s: float) -> Sent:
        number = k // 40 % count if k % 40 == 0 or now_s < 0.5 else count - 1
        return Sent(device.ip(17, udp(4433, PAYLOAD), v6(number)))

    return make


def privacy(device: Device, k: int, now_s: float) -> Sent:
    """Return a UDP packet from the last of 20 temporary addresses; older addresses are deleted (RFC
    8981).
    """
    return Sent(device.ip(17, udp(4433, PAYLOAD), v6(min(int(now_s / 0.1), 19))))


def macs(count: int) -> Maker:
    """Return a maker whose frames use many MAC addresses in turn, each with an IP address."""

    def make(device: Device, k: int, now_s: float) -> Sent:
        number = k % count
        return Sent(device.ip(17, udp(4433, PAYLOAD), v4(number)), invented(number))

    return make


def mac_every(period_s: float) -> Maker:
    """Return a maker whose frames have a new MAC address after each `period_s`. [s]"""

    def make(device: Device, k: int, now_s: float) -> Sent:
        number = int(now_s / period_s)
        return Sent(device.ip(17, udp(4433, PAYLOAD), v4(number)), invented(number))

    return make


def cloned(device: Device, k: int, now_s: float) -> Sent:
    """Return a UDP packet with the MAC address of the victim."""
    return Sent(device.ip(17, udp(4433, PAYLOAD), DEVICE_V4), VICTIM)


def forged(*, tcp: bool = False, ports: bool = False) -> Maker:
    """Return a maker of packets with the victim's IP address, with fixed or random ports."""

    def make(device: Device, k: int, now_s: float) -> Sent:
        port = device.draw.randrange(1024, 65536) if ports else 4433
        if not tcp:
            return Sent(device.ip(17, udp(port, PAYLOAD, port), VICTIM_V4))
        segment = struct.pack("!HHIIBBHHH", port, 5001, k, 0, 0x50, 0x10, 1000, 0, 0)
        return Sent(device.ip(6, segment + bytes(PAYLOAD), VICTIM_V4))

    return make


def flood_of(packet: Packet, to: bytes | None = None) -> Maker:
    """Return a maker that always makes the same frame."""
    return lambda device, k, now_s: Sent(packet, to=to)


def in_turn(*makers: Maker) -> Maker:
    """Return a maker that calls other makers in turn."""
    return lambda device, k, now_s: makers[k % len(makers)](device, k, now_s)
