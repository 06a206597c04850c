"""Functions that send frames with any MAC address, and count the packets of each leaf."""

import json
import socket
import struct
import time
from ipaddress import ip_address
from typing import Any

from lab import GATEWAY, STATIONS, entered, sh
from lasthop.enforce.gateway.shaper import Shaper

MACS = ("02:00:5e:10:00:0a", "02:00:5e:10:00:0b")
INVENTED = "02:00:5e:99:00:01"
HERE_V4, HERE_V6 = ("10.77.1.100", "10.77.1.101"), ("fd77:1::100", "fd77:1::101")
THERE_V4, THERE_V6 = "10.77.0.2", "fd77::2"
COUNT = 20


def lan() -> dict[str, Any]:
    """Return the kernel's description of the gateway's interface `lan`."""
    (link,) = json.loads(sh(f"ip -n {GATEWAY} -j -s link show lan"))
    assert isinstance(link, dict)
    return link


def mac_of_lan() -> bytes:
    return bytes.fromhex(lan()["address"].replace(":", ""))


def ipv4(
    protocol: int, payload: bytes, source: str, *, fragment: int = 0, to: str = THERE_V4
) -> tuple[int, bytes]:
    """Return an IPv4 packet. Its header checksum is 0; classification does not check it."""
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, fragment, 64, protocol, 0)
    return 0x0800, header + ip_address(source).packed + ip_address(to).packed + payload


def ipv6(following: int, payload: bytes, source: str, *, to: str = THERE_V6) -> tuple[int, bytes]:
    """Return an IPv6 packet."""
    header = struct.pack("!IHBB", 6 << 28, len(payload), following, 64)
    return 0x86DD, header + ip_address(source).packed + ip_address(to).packed + payload


def udp(port: int, size: int = 500, source_port: int = 5000) -> bytes:
    return struct.pack("!HHHH", source_port, port, 8 + size, 0) + bytes(size)


def send(
    packet: tuple[int, bytes],
    mac: str,
    *,
    to: bytes | None = None,
    count: int = COUNT,
    device: str = "wl0",
) -> None:
    """Send frames with the given source MAC address from the namespace of the stations."""
    kind, data = packet
    raw = bytes.fromhex(mac.replace(":", ""))
    frame = (to or mac_of_lan()) + raw + struct.pack("!H", kind) + data
    with (
        entered(STATIONS),
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender,
    ):
        sender.bind((device, 0))
        for _ in range(count):
            sender.send(frame)


def passed(shaper: Shaper) -> dict[str, int]:
    """Return the number of packets that each leaf has sent."""
    layout, counters = shaper.running(), shaper.counters()
    leaves = {name: member.leaf for name, member in layout.members.items()}
    leaves["unclassified"], leaves["multicast"] = next(iter(layout.shared.values()))
    return {name: counters[leaf].sent_packets for name, leaf in leaves.items()}


def growth(shaper: Shaper, before: dict[str, int]) -> dict[str, int]:
    """Return the packets that leaves have sent since `before`, without a few multicast packets
    (MLD).
    """
    time.sleep(0.15)
    now = passed(shaper)
    grown = {name: now[name] - before[name] for name in now if now[name] != before[name]}
    if grown.get("multicast", 0) < 8:
        grown.pop("multicast", None)
    return grown
