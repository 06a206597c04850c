"""Shares and delay in a gateway's leaves (station queues), with and without merged segments.

    SERVER --- ISP (10 ms each way) --- wan GATEWAY lan --- STATIONS

Station 0 has four downloads and station 1 has one. Station 2 receives a UDP echo request a hundred
times per second. The gateway's rate is fixed, so that packets are queued only in its leaves. The
script prints the ratio of the bytes that passed the leaves of stations 0 and 1. It also prints the
delay of the UDP echoes in excess of the round-trip time of the Internet.
"""

import json
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

import carries_network as net
from tc_network import entered, sh

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.shaper import Shaper
from lasthop.linux import offload
from lasthop.linux.undo import UndoLog

RTT_S = 0.020
WARM_UP_S, MEASURED_S = 6.0, 10.0
PORT = 7
FRAME_BYTES = 1514


def main(discipline: str, rate_mbps: str, merged: str) -> dict[str, float]:
    """Run the measurement.

    `merged` is the largest number of received segments that the kernel merges into one. 1 means no
    merging. 0 means the kernel's own limit, with the gateway's usual quantum of one frame.
    """
    segments = int(merged)
    lines = ["[gateway]", 'wan = "wan"', 'lan = "lan"', f'rate = "{rate_mbps} Mbps"']
    lines += [f'discipline = "{discipline}"', 'metrics = "off"']
    lines += [f'station.s{k} = {{ address = "{net.station_v4(k)}" }}' for k in range(3)]
    gateway = config.read("\n".join(lines) + "\n")
    with net.Network(3):
        for device in ("up0", "down0"):
            delay = f"netem delay {500 * RTT_S:g}ms limit 100000"
            sh(f"ip netns exec {net.ISP} tc qdisc add dev {device} root {delay}")
        with entered(net.GATEWAY):
            shaper = Shaper(gateway, UndoLog(Path(tempfile.mkdtemp()) / "undo.log"))
            shaper.up(gateway.stations)
            merge(shaper, segments)
            return seen(shaper, float(rate_mbps) * 1e6)


def merge(shaper: Shaper, segments: int) -> None:
    """Make the kernel merge up to this many received segments, and set the quantum of each leaf to
    the size of a merged segment."""
    for device in ("wan", "lan"):
        offload.set_merging(device, segments != 1)
        if segments > 1:
            # the kernel merges segments only up to a size below this limit
            sh(f"ip link set {device} gro_max_size {segments * (FRAME_BYTES - 14) + 1}")
    for member in shaper.running().members.values() if segments > 1 else ():
        leaf = f"{member.leaf >> 16:x}:{member.leaf & 0xFFFF:x}"
        sh(
            f"tc class change dev lh-lan parent 6c68:1 classid {leaf} htb rate 96bit "
            f"ceil 10gbit burst 1600 quantum {segments * FRAME_BYTES}"
        )


def seen(shaper: Shaper, rate_bps: float) -> dict[str, float]:
    """Return the ratio of the bytes that passed the leaves of stations 0 and 1, the delay of the
    echoes in excess of the round-trip time, and counters of the leaves."""
    with entered(net.STATIONS):
        echoing = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        echoing.bind((net.station_v4(2), PORT))
    with entered(net.SERVER):
        asking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asking.bind((net.SERVER_V4, 0))
    asking.settimeout(1)
    with net.Downloads([0, 0, 0, 0, 1], None) as downloads:
        downloads.start(lambda: echo(echoing))
        time.sleep(WARM_UP_S)
        leaves = [shaper.running().members[f"s{k}"].leaf for k in range(3)]
        before, sent, began_s = shaper.counters(), packets_sent(), time.monotonic()
        late_s = []
        while time.monotonic() < began_s + MEASURED_S:
            asked_s = time.monotonic()
            asking.sendto(b"?", (net.station_v4(2), PORT))
            asking.recv(1)
            late_s.append(time.monotonic() - asked_s - RTT_S)
            time.sleep(0.01)
        sent = packets_sent() - sent
        after, elapsed_s = shaper.counters(), time.monotonic() - began_s
    passed = [after[leaf].sent_bytes - before[leaf].sent_bytes for leaf in leaves]
    dropped = [after[leaf].dropped_packets - before[leaf].dropped_packets for leaf in leaves]
    return {
        "ratio": passed[0] / passed[1],
        "of_rate": 8 * sum(passed) / elapsed_s / rate_bps,
        "median_s": statistics.median(late_s),
        "late_s": sorted(late_s)[int(0.95 * len(late_s))],
        "dropped": sum(dropped),
        "merged": sum(passed) / FRAME_BYTES / sent,
    }


def packets_sent() -> int:
    """Return the number of packets that the gateway has sent to stations so far. A merged segment
    counts as one packet."""
    return int(Path("/proc/thread-self/net/dev").read_text().partition("lan:")[2].split()[9])


def echo(connection: socket.socket) -> None:
    """Send every received datagram back to its sender."""
    while True:
        content, who = connection.recvfrom(100)
        connection.sendto(content, who)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
