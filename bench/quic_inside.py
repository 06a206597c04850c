"""One run of `quic.py` inside user-mode Linux, with TCP downloads and an upload over UDP.

    quic_inside.py SETTINGS

`SETTINGS` is JSON: `upload` ("udp", "tcp" or null), `gateway` (lines of the gateway's table; null
for none), `rtt_s`, `seed`, `warm_up_s`, `measured_s`.

In the network, the upload is similar to QUIC. The upload is a connection of the kernel's TCP
through a tunnel, in which each packet is sent in a UDP datagram. Therefore the kernel's congestion
control reacts to lost datagrams.
"""

import json
import os
import selectors
import socket
import sys
import time
from pathlib import Path
from typing import Any

from tc_contenders import Measured, gateway, gateway_status
from tc_inside import HELLO, SETTLE_S, carried_bytes
from tc_network import FAST_BPS, ROUTER, SERVER, SERVERS, STATIONS, build, entered, sh
from tc_traffic import CHUNK, Bulk, Process, Table, Window, bulk, echoes

from lasthop.linux.tun import open_tun

UPLOADER = "heavy"
DOWNLOADERS = ("light", "idle", "reader")
AIR_BPS = 24_000_000
"""Approximate goodput of one download over the air of this hot spot, from which the key `wce.max`
is computed. [bit/s]"""
PORT, INNER_PORT = 4433, 5001
MASK, OUTER_BYTES = "255.255.255.0", 28
ENDS = {SERVER: "10.9.0.1", UPLOADER: "10.9.0.2"}
"""Addresses of both ends of the tunnel."""
QUEUE_BYTES = 1 << 22


def main(settings: dict[str, Any]) -> Table:
    """Build the hot spot, run the traffic, and return the observations."""
    build(settings["rtt_s"], FAST_BPS)
    for address in STATIONS.values():
        sh(f"ip netns exec {ROUTER} {sys.executable} -ISc '{HELLO}' {address}")
    if settings["gateway"] is not None:
        gateway(Measured(AIR_BPS, AIR_BPS, AIR_BPS), settings["gateway"])
    begin_s = time.monotonic() + SETTLE_S
    from_s = begin_s + settings["warm_up_s"]
    window = Window(begin_s, from_s, from_s + settings["measured_s"], settings["seed"])
    groups = [Bulk(name, 1, download=True) for name in DOWNLOADERS]
    if settings["upload"] == "tcp":
        groups.append(Bulk(UPLOADER, 1, download=False))
    seen = {
        "bulk": Process(lambda: bulk(groups, window)),
        "echo": Process(lambda: echoes((UPLOADER, "phone"), window)),
    }
    if settings["upload"] == "udp":
        for name in ENDS:
            tunnel(name, window)
        seen["upload"] = Process(lambda: upload(window))
    time.sleep(max(0.0, window.from_s - time.monotonic()))
    before = carried_bytes()
    time.sleep(max(0.0, window.to_s - time.monotonic()))
    after = carried_bytes()
    status = None if settings["gateway"] is None else gateway_status()
    results: Table = {name: process.result() for name, process in seen.items()}
    goodput = results["bulk"] | results.pop("upload", {})
    return {
        "upload_bps": goodput.get(UPLOADER, 0.0),
        "downloads_bps": sum(goodput[name] for name in DOWNLOADERS),
        "air_bps": 8 * (after["all"] - before["all"]) / settings["measured_s"],
        "echo": results["echo"],
        "congestion": Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip(),
        "status": status,
    }


def tunnel(name: str, window: Window) -> Process:
    """Start a process that forwards packets between the end `name` of the tunnel and a UDP
    socket."""
    ready, signal = os.pipe()

    def relay() -> Table:
        with entered(name):
            tun = open_tun("tunnel", ENDS[name], MASK, 1500 - OUTER_BYTES)
            outer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        near, far = SERVERS[-4], STATIONS[UPLOADER]
        if name == UPLOADER:
            near, far = far, near
        for way in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            outer.setsockopt(socket.SOL_SOCKET, way, QUEUE_BYTES)
        outer.bind((near, PORT))
        outer.connect((far, PORT))
        os.write(signal, b"!")
        with selectors.DefaultSelector() as selector:
            selector.register(tun, selectors.EVENT_READ)
            selector.register(outer, selectors.EVENT_READ)
            while time.monotonic() < window.to_s + 1:
                for key, _ in selector.select(1):
                    if key.fileobj == tun:
                        outer.send(os.read(tun, 2048))
                    else:
                        os.write(tun, outer.recv(2048))
        return {}

    made = Process(relay)
    os.read(ready, 1)
    return made


def upload(window: Window) -> Table:
    """Return the goodput of the upload through the tunnel. [bit/s]"""
    with entered(SERVER):
        listener = socket.create_server((ENDS[SERVER], INNER_PORT))
    window.wait()
    with entered(UPLOADER):
        client = socket.create_connection((ENDS[SERVER], INNER_PORT), timeout=30)
    end, _ = listener.accept()
    received = 0
    buffer = bytearray(1 << 20)
    client.setblocking(False)
    end.setblocking(False)
    marks: list[tuple[float, int]] = []
    with selectors.DefaultSelector() as selector:
        selector.register(client, selectors.EVENT_WRITE)
        selector.register(end, selectors.EVENT_READ)
        for until_s in (window.from_s, window.to_s):
            while (now := time.monotonic()) < until_s:
                for key, _ in selector.select(until_s - now):
                    if key.fileobj is client:
                        client.send(CHUNK)
                    else:
                        received += end.recv_into(buffer)
            marks.append((now, received))
    (from_s, before), (to_s, after) = marks
    return {UPLOADER: 8 * (after - before) / (to_s - from_s)}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
