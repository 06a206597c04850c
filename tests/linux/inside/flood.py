"""Let one station invent thousands of machines while other stations download."""

import json
import os
import socket
import struct
import time
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from scene_inside import BIN_S, received
from tc_contenders import gateway_status, gateway_with
from tc_network import ROUTER, STATIONS, entered, ip, turns, wires
from tc_traffic import Bulk, Process, Window

RTT_S, RATE_BPS = 0.02, 20_000_000
FLOOD_S, FLOODED_S, END_S = 20.0, 10.0, 45.0
MACHINES, SOLICITING, LEASES = 1500, 250, 250
"""Numbers of machines invented by ARP requests, by neighbour solicitations, and in a file of
leases.
"""
ROUTER_V6 = "fd77::1"
LEASES_FILE = Path("/tmp/leases")
EVERYBODY, ARP, IPV6 = b"\xff" * 6, 0x0806, 0x86DD
ICMPV6, SOLICITATION = 58, 135


def main() -> dict[str, Any]:
    """Run the flood and return its results."""
    wires(RTT_S, STATIONS)
    turns(RATE_BPS, STATIONS, 0)
    ip(ROUTER, [f"address add {ROUTER_V6}/64 dev lan nodad"])
    for kind in ("ipv4", "ipv6"):  # raise the kernel's limit of 1024 neighbours
        Path(f"/proc/sys/net/{kind}/neigh/default/gc_thresh3").write_text("8192")
    LEASES_FILE.touch()
    gateway_with(
        f'wce.max = "24 Mbps"\ndiscover.leases = "{LEASES_FILE}"\ndiscover.interval = "2 s"\n'
    )
    before = memory_bytes()
    begin_s = time.monotonic() + 3
    window = Window(begin_s, begin_s, begin_s + END_S, seed=1)
    groups = [Bulk("heavy", 4, download=True), Bulk("light", 1, download=True)]
    downloads = Process(lambda: received(groups, window, begin_s))
    flooding = Process(lambda: flood(begin_s + FLOOD_S))
    time.sleep(max(0.0, window.to_s - time.monotonic()))
    status = gateway_status()
    flooding.result()
    marks = downloads.result()
    return {
        "before_bps": goodput_bps(marks, FLOOD_S - 10, FLOOD_S),
        "flooded_bps": goodput_bps(marks, FLOOD_S, FLOOD_S + FLOODED_S),
        "after_bps": goodput_bps(marks, END_S - 10, END_S),
        "stations": len(status["stations"]),
        "faults": status["faults"],
        "shaping": status["shaping"],
        "memory_bytes": [before, memory_bytes()],
    }


def goodput_bps(marks: dict[str, list[int]], from_s: float, to_s: float) -> float:
    """Return the total goodput of all downloads. [bit/s]"""
    first, last = (round(at_s / BIN_S) - 1 for at_s in (from_s, to_s))
    return sum(8 * (each[last] - each[first]) for each in marks.values()) / (to_s - from_s)


def memory_bytes() -> int:
    """Return the memory of the gateway's process. [bytes]"""
    pid = gateway_status()["pid"]
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def flood(from_s: float) -> dict[str, Any]:
    """Send requests for the router from thousands of invented machines, and write leases of more
    machines.
    """
    time.sleep(max(0.0, from_s - time.monotonic()))
    with entered("phone"):
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        raw.bind(("wlan", 0))
    frames = [arp_request(k) for k in range(MACHINES)]
    frames += [solicitation(k) for k in range(SOLICITING)]
    for number, frame in enumerate(frames):
        time.sleep(max(0.0, from_s + FLOODED_S * number / len(frames) - time.monotonic()))
        raw.send(frame)
    lines = [f"0 {mac(2, k).hex(':')} 10.5.{k // 250}.{k % 250} x *" for k in range(LEASES)]
    LEASES_FILE.write_text("\n".join(lines) + "\n")
    return {}


def mac(kind: int, number: int) -> bytes:
    """Return an invented MAC address."""
    return bytes([2, kind]) + number.to_bytes(4)


def arp_request(number: int) -> bytes:
    """Return an ARP request for the router's address (RFC 826)."""
    sender = mac(0, number)
    address = ip_address("10.4.0.1") + number
    asked = ip_address("10.3.0.1").packed
    head = EVERYBODY + sender + struct.pack("!HHHBBH", ARP, 1, 0x0800, 6, 4, 1)
    return head + sender + address.packed + bytes(6) + asked


def solicitation(number: int) -> bytes:
    """Return an ICMPv6 neighbour solicitation (RFC 4861, section 4.3)."""
    sender, router = mac(1, number), ip_address(ROUTER_V6).packed
    source = (ip_address("fd77::1000") + number).packed
    group = ip_address("ff02::1:ff00:1").packed
    body = struct.pack("!BBHI", SOLICITATION, 0, 0, 0) + router + b"\x01\x01" + sender
    pseudo = source + group + struct.pack("!II", len(body), ICMPV6)
    total = sum(struct.unpack(f"!{len(pseudo + body) // 2}H", pseudo + body))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    body = body[:2] + struct.pack("!H", ~total & 0xFFFF) + body[4:]
    head = struct.pack("!IHBB", 6 << 28, len(body), ICMPV6, 255) + source + group
    return b"\x33\x33\xff\x00\x00\x01" + sender + struct.pack("!H", IPV6) + head + body


if __name__ == "__main__":
    print(json.dumps(main()))
