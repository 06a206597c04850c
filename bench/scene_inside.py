"""Runs a scene inside user-mode Linux: stations on a shared wire, and a gateway that estimates C.

    scene_inside.py SCENE

`SCENE` is a `Scene` as JSON. The script prints its observations as JSON: samples of the gateway's
rate C, bytes that stations have received, pings, and the gateway's status at the end.

The wire replaces the air (`tc_network.turns`). It transmits one frame at a time, in either
direction. The duration of a frame is its length divided by the rate of the wire, so the capacity is
known exactly.
"""

import heapq
import json
import math
import random
import selectors
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

from tc_contenders import GATEWAY, HEADROOM, gateway_with
from tc_inside import SETTLE_S
from tc_network import ADDRESSES, AP, BURST_BYTES, ROUTER, SERVERS, entered, tc, turns, wires
from tc_traffic import (
    CHUNK,
    ECHO_REPLY,
    ECHO_REQUEST,
    IP_HEADER,
    START_INTERVAL_S,
    Bulk,
    Process,
    Table,
    Window,
    connection,
    echoes,
    pinged,
    pings,
)

from lasthop.daemon import verbs
from lasthop.enforce.gateway import operate

BIN_S = 0.5
DISCARD = 9
BEACON_S, NAP_S, AWAKE_S = 0.1024, 1.0, 0.2
OTHERS = "1:2"
"""Class of `tc` for all stations except the slow station, in an access point with a queue per
station."""


@dataclass(frozen=True)
class Scene:
    """Traffic and settings of a run. Times are relative to the start of the traffic."""

    seed: int
    rtt_s: float
    """Round-trip time of the Internet. [s]"""
    rate_bps: int
    """Rate of the wire. [bit/s]"""
    downloads: Sequence[tuple[str, int, float]]
    """Stations, each with the number of its endless downloads and the time at which they start.
    [s]"""
    length_s: float
    look_s: float = 0.1
    """Time between two samples of the gateway's rate C. [s]"""
    fifo_packets: int = 256
    device_delay: str = "1ms"
    gateway: str = ""
    """Additional lines of the gateway's configuration file."""
    fixed_bps: int | None = None
    """Fixed rate C; None if the gateway estimates C. [bit/s]"""
    changes: Sequence[tuple[float, int]] = ()
    """Times at which the rate of the wire changes, and the new rates. [s], [bit/s]"""
    pinged: str | None = None
    """Station whose pings are recorded one by one; None without such a station. The server sends
    the pings."""
    watched: Sequence[str] = ()
    """Stations to which the server sends UDP echo requests and pings. Their round-trip times are
    measured from `watched_from_s` on."""
    watched_from_s: float = 0.0
    lateness: str | None = None
    """Delay of ping replies by the stations in `late`: a key of `LATENESS`, or None without such
    stations."""
    late: Sequence[str] = ()
    """Stations that reply late to pings, from `late_from_s` on."""
    late_from_s: float = 0.0
    slow: tuple[str, int, int] | None = None
    """Slow station, the rate of its queue at the access point, and the total rate of all other
    queues; None without a slow station. The total rate is below the rate of the wire, since the
    slow station uses a part of the air time. [bit/s]"""


def main(scene: Scene) -> Table:
    """Build the network, run the scene, and return the observations."""
    stations = tuple(dict.fromkeys(name for name, _, _ in scene.downloads))
    wires(scene.rtt_s, stations, scene.device_delay)
    if scene.slow is None:
        turns(scene.rate_bps, stations, 0, scene.fifo_packets)
    else:
        queue_each(scene, stations, *scene.slow)
    with entered(ROUTER), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as hello:
        for name in stations:  # the gateway learns the stations from traffic
            hello.sendto(b"hello", (ADDRESSES[name], DISCARD))
    listed = "".join(f'station.{name} = {{ address = "{ADDRESSES[name]}" }}\n' for name in stations)
    max_mbps = HEADROOM * scene.rate_bps / 1e6
    is_fixed = scene.fixed_bps is not None
    rate = f'rate = "{scene.fixed_bps} bps"' if is_fixed else f'wce.max = "{max_mbps} Mbps"'
    gateway_with(f"{rate}\n{scene.gateway}{listed}")
    begin_s = time.monotonic() + SETTLE_S
    window = Window(begin_s, begin_s, begin_s + scene.length_s, scene.seed)
    processes = {"watch": Process(lambda: watch(scene, window))}
    for start_s in sorted({each[2] for each in scene.downloads}):
        groups = [Bulk(name, n, True) for name, n, at_s in scene.downloads if at_s == start_s]
        later = replace(window, begin_s=begin_s + start_s)
        processes[f"bulk {start_s}"] = Process(lambda: received(groups, later, begin_s))  # noqa: B023
    if scene.lateness is not None:
        for name in scene.late:
            Process(lambda: answer_late(name, scene, window))  # noqa: B023
    if scene.pinged is not None:
        processes["pings"] = Process(lambda: ping_series(str(scene.pinged), window))
    if scene.watched:
        counts = replace(window, from_s=begin_s + scene.watched_from_s)
        processes["echo"] = Process(lambda: echoes(scene.watched, counts))
        processes["ping"] = Process(lambda: pings(scene.watched, counts))
    for at_s, rate_bps in scene.changes:
        time.sleep(max(0.0, begin_s + at_s - time.monotonic()))
        change_rate(rate_bps)
    results = {name: process.result() for name, process in processes.items()}
    bytes_: Table = {}
    for name, seen in results.items():
        if name.startswith("bulk"):
            bytes_ |= seen
    series = results.get("pings", {}).get("pings", [])
    rtts = {kind: results.get(kind) for kind in ("echo", "ping")}
    return {**results["watch"], "bytes": bytes_, "pings": series, "rtts": rtts}


# -- the wire -----------------------------------------------------------------------------------


def change_rate(rate_bps: int) -> None:
    """Change the rate of the wire. [bit/s]"""
    parameters = f"rate {rate_bps} burst {BURST_BYTES} ceil {rate_bps} cburst {BURST_BYTES}"
    tc(AP, [f"class change dev air parent 1: classid 1:1 htb {parameters}"])


def queue_each(scene: Scene, stations: Sequence[str], slow: str, own: int, others: int) -> None:
    """Set up an access point with a downlink FIFO per station, and a low rate for one station.

    The other stations share their rate in turns. Uplink frames of all stations share one wire.
    """
    turns(scene.rate_bps, stations, 0, scene.fifo_packets)
    rate = f"rate {others} burst {BURST_BYTES} ceil {others} cburst {BURST_BYTES}"
    lines = [f"class add dev air parent 1:1 classid {OTHERS} htb {rate}"]
    for number, name in enumerate(stations, start=40):
        ceil = own if name == slow else others
        parent = "1:1" if name == slow else OTHERS
        shape = f"rate 8 ceil {ceil} cburst {BURST_BYTES} quantum 1"
        lines += [
            f"class add dev air parent {parent} classid 1:{number} htb {shape}",
            f"qdisc add dev air parent 1:{number} pfifo limit {scene.fifo_packets}",
            f"filter add dev air parent 1: protocol ip u32 match ip dst {ADDRESSES[name]}/32"
            f" flowid 1:{number}",
        ]
    tc(AP, lines)


# -- observations --------------------------------------------------------------------------------


def watch(scene: Scene, window: Window) -> Table:
    """Sample the gateway's rate C. At the end, record the gateway's status and its warnings."""
    window.wait()
    samples: list[tuple[float, float]] = []
    messages: set[str] = set()
    status: Table = {}
    at_s = window.begin_s
    with entered(ROUTER):
        while at_s <= window.to_s:
            time.sleep(max(0.0, at_s - time.monotonic()))
            answer = verbs.status(operate.GATEWAY, str(GATEWAY), (), None)
            assert isinstance(answer, dict)
            status = answer
            samples.append((at_s - window.begin_s, status["aps"][0]["rate_bps"]))
            messages |= {*status["warnings"], *status["faults"]}
            at_s += scene.look_s
    return {"c": samples, "said": sorted(messages), "status": status}


def received(groups: Sequence[Bulk], window: Window, zero_s: float) -> Table:
    """Return the bytes that each station has received at multiples of `BIN_S` since `zero_s`.
    [bytes]"""
    servers = cycle(SERVERS)
    total = {group.station: 0 for group in groups}
    marks: dict[str, list[int]] = {group.station: [] for group in groups}
    buffer = bytearray(1 << 20)
    drawn = random.Random(f"{window.seed} {window.begin_s - zero_s}")
    every = [group for group in groups for _ in range(group.connections)]
    with selectors.DefaultSelector() as selector:

        def until(end_s: float) -> None:
            while (now := time.monotonic()) < end_s:
                for key, _ in selector.select(end_s - now):
                    end: socket.socket = key.fileobj  # type: ignore[assignment]
                    try:
                        if key.data is None:
                            end.send(CHUNK)
                        else:
                            total[key.data] += end.recv_into(buffer)
                    except BlockingIOError:
                        continue

        def mark_until(end_s: float) -> None:
            while (due_s := zero_s + BIN_S * (1 + len(marks[every[0].station]))) <= end_s:
                until(due_s)
                for name, bytes_ in total.items():
                    marks[name].append(bytes_)
            until(end_s)

        mark_until(window.begin_s)
        for group in drawn.sample(every, len(every)):
            mark_until(time.monotonic() + drawn.uniform(0, 2 * START_INTERVAL_S) / len(every))
            sender, receiver = connection(next(servers), group.station)
            receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 16_384)
            selector.register(sender, selectors.EVENT_WRITE, None)
            selector.register(receiver, selectors.EVENT_READ, group.station)
        mark_until(window.to_s)
    return dict(marks)


def ping_series(station: str, window: Window) -> Table:
    """Ping a station from the server. Return the sending times and the round-trip times. [s]"""
    _, [seen] = pinged([station], window)
    return {"pings": [(sent_s - window.begin_s, came_s - sent_s) for sent_s, came_s in seen]}


# -- stations that reply late -------------------------------------------------------------------


def flapping(half_s: float) -> Callable[[float], float]:
    """Return a function for a station that alternates between two states: it replies immediately
    for `half_s` seconds, and then replies 300 ms late for `half_s` seconds."""
    return lambda now_s: now_s + 0.3 * (int(now_s / half_s) % 2)


def napping(now_s: float) -> float:
    """Return the time of the reply of a station that repeatedly sleeps for a second."""
    into_s = now_s % (NAP_S + AWAKE_S)
    return now_s + max(0.0, NAP_S - into_s)


LATENESS: Mapping[str, Callable[[float], float]] = {
    "50 ms": lambda now_s: now_s + 0.05,
    "300 ms": lambda now_s: now_s + 0.3,
    "2 s": lambda now_s: now_s + 2.0,
    "silent": lambda now_s: math.inf,
    "flapping, 3 s": flapping(3.0),
    "flapping, 0.5 s": flapping(0.5),
    "asleep until its beacon": lambda now_s: math.ceil(now_s / BEACON_S) * BEACON_S,
    "naps of 1 s": napping,
}
"""Functions that are called with the arrival time of a ping, and return the time of the reply.
[s]"""


def answer_late(name: str, scene: Scene, window: Window) -> Table:
    """Reply to the pings that a station receives, in place of the station's kernel. The delay of
    the replies is that of the scene."""
    assert scene.lateness is not None
    when = LATENESS[scene.lateness]
    phase_s = random.Random(f"{scene.seed} {name}").uniform(0, 10)
    waiting: list[tuple[float, int, bytes, str]] = []
    time.sleep(max(0.0, window.begin_s + scene.late_from_s - time.monotonic()))
    with entered(name):
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        Path("/proc/sys/net/ipv4/icmp_echo_ignore_all").write_text("1")
    count = 0
    while (now := time.monotonic()) < window.to_s:
        while waiting and waiting[0][0] <= now:
            _, _, reply, to = heapq.heappop(waiting)
            raw.sendto(reply, (to, 0))
        until_s = min(waiting[0][0], window.to_s) if waiting else window.to_s
        raw.settimeout(max(until_s - now, 1e-4))
        try:
            data, (came_from, _) = raw.recvfrom(2048)
        except TimeoutError:
            continue
        message = data[IP_HEADER:]
        if message[0] == ECHO_REQUEST:
            due_s = when(time.monotonic() + phase_s) - phase_s
            count += 1
            heapq.heappush(waiting, (due_s, count, echo_reply(message), came_from))
    return {}


def echo_reply(request: bytes) -> bytes:
    """Return the ICMP echo reply (RFC 792) to an echo request."""
    [checksum] = struct.unpack_from("!H", request, 2)
    changed = checksum + (ECHO_REQUEST << 8)  # the type field is 0, not 8
    changed = (changed & 0xFFFF) + (changed >> 16)
    return struct.pack("!BBH", ECHO_REPLY, 0, changed) + request[4:]


if __name__ == "__main__":
    print(json.dumps(main(Scene(**json.loads(sys.argv[1])))))
