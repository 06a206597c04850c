"""Sends the kernel's TCP through a queue of `lasthop queue` at a router.

    short_queues_inside.py sink PORT
    short_queues_inside.py source TASK
    short_queues_inside.py alone TASK

`sink` receives and discards data. `source` sends the data to `sink`, over a link that only delays
packets. The senders of `source` are in a separate network namespace. The namespace of `source`
itself is the router whose interface is shaped, with address translation as in a home router.
`alone` requires no other process: its sink is in a namespace, and netem delays the packets that the
sink sends. The last line of the output contains the results.

`TASK` is a JSON object with these keys:

- `interface`: the configuration file of `lasthop queue`, as text;
- `sink`, `port`: host name or address of the sink, and its TCP port;
- `flows`, `congestion`, `sack`: number of flows, their congestion control, and whether they use
  SACK;
- `sysctls`: further sysctl settings of the senders, separated by spaces;
- `rtt_s`, `quickack`: round-trip time, and whether the sink delays no ACKs; only for `alone`;
- `pacing_bps`: pacing rate of each flow, or null;
- `bucket_s`: size of the shaper's token bucket as a time, or null;
- `starts_s`: start of each flow, in ascending order; without this key, all flows start
  simultaneously;
- `warmup_s`, `length_s`: duration of the warm-up and of the measurement;
- `bytes`: size of each flow; 0 for flows without end;
- `patience_s`: longest time of the measurement, if `bytes` is not 0.
"""

import json
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import Any

from lasthop.enforce.congestion import loaded
from lasthop.enforce.queue import config
from lasthop.enforce.queue.shaped import Shaped
from lasthop.linux import offload, tc, veth
from lasthop.linux.nat import Translation
from lasthop.linux.netlink import Socket
from lasthop.linux.netns import Namespace
from lasthop.linux.undo import UndoLog

CHUNK = bytes(1 << 16)
OURS, THEIRS = "inner", "outer"
GATE, HOST = "10.200.0.1", "10.200.0.2"
SAMPLED_S = 0.01
ACKED = struct.Struct("=Q")
ACKED_AT = 120
"""Offset of `tcpi_bytes_acked` in the structure that TCP_INFO returns (linux/tcp.h). [bytes]"""
NEAR, FAR = "near", "far"
ROUTER, SINK = "10.201.0.1", "10.201.0.2"
SETTLED_S = 2.0
"""Time until namespaces and the servers in them are ready. [s]"""
SO_MAX_PACING_RATE = 47


def sh(command: str) -> str:
    """Run a shell command, and return its standard output."""
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout


def sink(port: int) -> None:
    """Accept TCP connections at a port, discard their data, and close each connection when its
    sender has closed it."""
    with (
        selectors.DefaultSelector() as selector,
        socket.create_server(("", port), backlog=512) as door,
    ):
        door.setblocking(False)
        selector.register(door, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                end = socket_of(key)
                if end is door:
                    taken, _ = door.accept()
                    taken.setblocking(False)
                    selector.register(taken, selectors.EVENT_READ)
                    continue
                try:
                    is_open = bool(end.recv(1 << 20))
                except ConnectionResetError:
                    is_open = False
                if not is_open:
                    selector.unregister(end)
                    end.close()


def socket_of(key: selectors.SelectorKey) -> socket.socket:
    """Return the socket of a selector key."""
    assert isinstance(key.fileobj, socket.socket)
    return key.fileobj


def outgoing() -> str:
    """Return the network interface that leads to the other end of the link."""
    return next(name for _, name in socket.if_nameindex() if name not in ("lo", OURS))


def joined(stack: ExitStack, task: dict[str, Any]) -> Namespace:
    """Create a namespace of senders whose packets this namespace forwards."""
    senders = Namespace()
    stack.callback(senders.close)
    with Socket() as kernel:
        kernel.carry_out([veth.add_pair(OURS, THEIRS, senders.descriptor)])
    sh(f"ip address add {GATE}/24 dev {OURS}; ip link set {OURS} gso_max_segs 1 up")
    sh("sysctl -qw net.ipv4.ip_forward=1")
    senders.run(
        lambda: sh(
            f"ip link set lo up; ip address add {HOST}/24 dev {THEIRS}; "
            f"ip link set {THEIRS} gso_max_segs 1 up; ip route add default via {GATE}; "
            f"sysctl -qw net.ipv4.tcp_sack={int(task['sack'])} "
            f"net.ipv4.tcp_no_metrics_save=1 net.ipv4.tcp_timestamps=0 {task['sysctls']}"
        )
    )
    return senders


def joined_sink(stack: ExitStack, task: dict[str, Any]) -> None:
    """Create a namespace of the sink, with netem that delays the packets."""
    sink = Namespace()
    stack.callback(sink.close)
    with Socket() as kernel:
        kernel.carry_out([veth.add_pair(NEAR, FAR, sink.descriptor)])
    sh(f"ip address add {ROUTER}/24 dev {NEAR}; ip link set {NEAR} up")

    def serve() -> subprocess.Popen[bytes]:
        sh(
            f"ip link set lo up; ip address add {SINK}/24 dev {FAR}; ip link set {FAR} up; "
            f"ip route add default via {ROUTER} quickack {int(task['quickack'])}; "
            f"tc qdisc add dev {FAR} root netem delay {task['rtt_s']}s limit 100000"
        )
        offload.set_merging(FAR, False)
        return subprocess.Popen([sys.executable, __file__, "sink", str(task["port"])])

    stack.callback(sink.run(serve).kill)
    time.sleep(SETTLED_S)


def connected(senders: Namespace, task: dict[str, Any], name: str) -> list[socket.socket]:
    """Return the sockets of the senders, connected to the sink."""

    def connect() -> list[socket.socket]:
        ends = []
        for _ in range(task["flows"]):
            end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
            if task["pacing_bps"] is not None:
                end.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, task["pacing_bps"] // 8)
            end.connect((task["sink"], task["port"]))
            end.setblocking(False)
            ends.append(end)
        return ends

    return senders.run(connect)


def acked(ends: Sequence[socket.socket]) -> list[int]:
    """Return the number of acknowledged bytes of each flow. [bytes]"""
    infos = (end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256) for end in ends)
    return [ACKED.unpack_from(info, ACKED_AT)[0] for info in infos]


class Watch(threading.Thread):
    """Thread that samples the queue length while the flows send."""

    def __init__(self, shaped: Shaped) -> None:
        super().__init__()
        self.shaped = shaped
        self.lengths: list[int] = []
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(SAMPLED_S):
            _, queue = self.shaped.counters()
            self.lengths.append(queue.backlog_packets + (queue.backlog_packets > 0))


def pushed(ends: Sequence[socket.socket], end_s: float) -> None:
    """Send on all sockets continuously until a time."""
    with selectors.DefaultSelector() as selector:
        for end in ends:
            selector.register(end, selectors.EVENT_WRITE)
        while time.monotonic() < end_s:
            for key, _ in selector.select(0.1):
                try:
                    socket_of(key).send(CHUNK)
                except BlockingIOError:
                    continue


def started(ends: Sequence[socket.socket], task: dict[str, Any]) -> None:
    """Start the senders one after another, and send until the end of the warm-up."""
    began_s = time.monotonic()
    behind = [*task.get("starts_s", [0.0] * len(ends))[1:], task["warmup_s"]]
    for number, until_s in enumerate(behind, 1):
        pushed(ends[:number], began_s + until_s)


def completed(ends: Sequence[socket.socket], size: int, patience_s: float) -> list[float | None]:
    """Send `size` bytes per flow, with all flows starting simultaneously. Return the time until all
    bytes of each flow are acknowledged; None for flows that exceed `patience_s`. [s]
    """
    began_s = time.monotonic()
    completed_s: dict[socket.socket, float | None] = dict.fromkeys(ends)
    left = dict.fromkeys(ends, size)
    open_ends = set(ends)
    with selectors.DefaultSelector() as selector:
        for end in ends:
            selector.register(end, selectors.EVENT_WRITE)
        while open_ends and time.monotonic() - began_s < patience_s:
            for key, _ in selector.select(0.01):
                end = socket_of(key)
                try:
                    left[end] -= end.send(CHUNK[: left[end]])
                except BlockingIOError:
                    continue
                if not left[end]:
                    selector.unregister(end)
            for each, done in zip(list(open_ends), acked(list(open_ends)), strict=True):
                if done >= size:
                    completed_s[each] = time.monotonic() - began_s
                    open_ends.discard(each)
    return list(completed_s.values())


def measured(shaped: Shaped, ends: Sequence[socket.socket], task: dict[str, Any]) -> dict[str, Any]:
    """Measure the queue, and the goodput of flows that send continuously."""
    started(ends, task)
    watch = Watch(shaped)
    before, counted, began_s = acked(ends), shaped.counters(), time.monotonic()
    watch.start()
    pushed(ends, began_s + task["length_s"])
    watch.ended.set()
    watch.join()
    after, counts, over_s = acked(ends), shaped.counters(), time.monotonic() - began_s
    goodputs = [8 * (b - a) / over_s for a, b in zip(before, after, strict=True)]
    sent = counts[0].sent_packets - counted[0].sent_packets
    bits = 8 * (counts[0].sent_bytes - counted[0].sent_bytes)
    dropped = counts[0].dropped_packets - counted[0].dropped_packets
    return {
        "utilisation": bits / over_s / shaped.wanted.rate_bps,
        "queue_packets": fmean(watch.lengths),
        "waiting_packets": fmean(each - (each > 0) for each in watch.lengths),
        "goodput_bps": sum(goodputs),
        "drop_probability": dropped / max(sent + dropped, 1),
        "jain": shares(goodputs)[0],
        "least_share": shares(goodputs)[1],
    }


def shares(goodputs: Sequence[float]) -> tuple[float, float]:
    """Return Jain's index, and the smallest goodput divided by the mean goodput. Both are 1 if no
    data arrives."""
    if not any(goodputs):
        return 1.0, 1.0
    jain = sum(goodputs) ** 2 / len(goodputs) / sum(each**2 for each in goodputs)
    return jain, min(goodputs) / fmean(goodputs)


def set_up(stack: ExitStack, task: dict[str, Any], interface: str) -> tuple[Namespace, Shaped]:
    """Set up the senders in a namespace, and the queue at `interface`, through which this namespace
    forwards their packets."""
    senders = joined(stack, task)
    wanted = config.read(task["interface"].replace("OUTGOING", interface))
    log = UndoLog(Path(tempfile.mkdtemp()) / "undo.log")
    if task["bucket_s"] is not None:
        tc.BURST_S = task["bucket_s"]
    shaped = stack.enter_context(Shaped(wanted, log))
    offload.set_merging(OURS, False)
    shaped.up()
    return senders, shaped


def seen(stack: ExitStack, task: dict[str, Any], interface: str) -> dict[str, Any]:
    """Set up senders and queue, run once, and return the results."""
    senders, shaped = set_up(stack, task, interface)
    names = stack.enter_context(loaded([task["congestion"]]))
    ends = connected(senders, task, names.get(task["congestion"], task["congestion"]))
    for end in ends:
        stack.callback(end.close)
    if task["bytes"]:
        return {"completions_s": completed(ends, task["bytes"], task["patience_s"])}
    return measured(shaped, ends, task)


def main() -> None:
    """Run the part of the measurement that the command line names."""
    role, argument = sys.argv[1:]
    if role == "sink":
        sink(int(argument))
    task = json.loads(argument)
    with ExitStack() as stack:
        if role == "alone":
            joined_sink(stack, task)
            result = seen(stack, {**task, "sink": SINK}, NEAR)
        else:
            interface = outgoing()
            stack.enter_context(Translation("short_queues", interface))
            result = seen(stack, task, interface)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
