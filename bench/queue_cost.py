"""Cost of the BPF program of a shared queue, and the benefit of updates at every packet.

    python bench/queue_cost.py

The script measures the time per packet in the program (from the kernel's statistics) and the time
to read the queue length by netlink. The script also measures the queue if the algorithm runs at
every packet, and if it runs at intervals, as in a polling process. The script requires root on
Linux. The network of this machine is not changed.
"""

import itertools
import json
import selectors
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

from measure import BenchError, require_release_build
from short_queues_inside import sh

from lasthop.enforce.queue import config
from lasthop.enforce.queue.shaped import Shaped
from lasthop.linux import bpf, offload, veth
from lasthop.linux.netlink import Socket
from lasthop.linux.netns import Namespace
from lasthop.linux.undo import UndoLog

STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
INFO_BYTES = 208
RUNS = struct.Struct("=192xQQ")
"""Layout of the run time and the number of runs in the kernel's information about a BPF program
(linux/bpf.h). [ns, -]"""
HERE, THERE = "10.200.0.1", "10.200.0.2"
GATE, HOSTS = "10.201.0.1", ("10.201.0.101", "10.201.0.102")
"""Address of the gateway, and addresses of the senders, one per class. The senders are in a
separate network namespace, because a queue in their own namespace would slow them down."""
OURS, THEIRS, INNER, OUTER = "shaped", "other", "inner", "outer"
PACKETS = 200_000
POLLS = 2_000
CLASSES = (1, 2, 63)
FLOWS, RATE, WARMUP_S, LENGTH_S = 5, "20 Mbps", 5.0, 30.0
SAMPLED_S = 0.001
STEPS = ("packet", "10 ms", "100 ms", "1 s")
AGES_S = (0.01, 0.1, 1.0)
PORT = 5001


def text(rate: str, classes: int, update: str) -> str:
    """Return the configuration file of a shared queue with this many classes. The senders belong to
    the first two classes."""
    share = {f"c{k}": {"share": 1 / classes} for k in range(1, classes + 1)}
    vbs = {"occupancy": 0.6, "algorithm": "corrected", "update": update, "class": share}
    members = {f"c{k}": {"address": f"10.201.0.{100 + k}"} for k in range(1, classes + 1)}
    queue = {"limit": 100, "vbs": vbs}
    return json.dumps({"interface": {"name": OURS, "rate": rate, "queue": queue, "class": members}})


@contextmanager
def shaped(settings: str) -> Iterator[tuple[Namespace, Namespace, Shaped]]:
    """Set up the shared queue at an interface. Yield the namespace of the senders, the namespace of
    the receiver, and the shaped interface."""
    with ExitStack() as stack:
        hosts, here, receiver = Namespace(), Namespace(), Namespace()
        for each in (hosts, here, receiver):
            stack.callback(each.close)

        def set_up() -> Shaped:
            with Socket() as kernel:
                kernel.carry_out([veth.add_pair(OURS, THEIRS, receiver.descriptor)])
                kernel.carry_out([veth.add_pair(INNER, OUTER, hosts.descriptor)])
            sh(
                f"ip address add {HERE}/24 dev {OURS}; ip link set {OURS} up; "
                f"ip address add {GATE}/24 dev {INNER}; ip link set {INNER} up; "
                "sysctl -qw net.ipv4.ip_forward=1"
            )
            offload.set_merging(INNER, False)
            log = UndoLog(Path(tempfile.mkdtemp()) / "undo.log")
            return Shaped(config.read(settings), log)

        made = stack.enter_context(here.run(set_up))
        receiver.run(
            lambda: sh(
                f"ip address add {THERE}/24 dev {THEIRS}; ip link set {THEIRS} up; "
                f"ip route add default via {HERE}"
            )
        )
        addresses = "; ".join(f"ip address add {host}/24 dev {OUTER}" for host in HOSTS)
        hosts.run(
            lambda: sh(
                f"{addresses}; ip link set {OUTER} gso_max_segs 1 up; "
                f"ip route add default via {GATE}"
            )
        )
        here.run(made.up)
        yield hosts, receiver, made


def packet_ns(classes: int, update: str) -> float:
    """Return the time that the BPF program takes per packet. [ns]"""
    with shaped(text("100 Gbps", classes, update)) as (hosts, _, made):
        sender = hosts.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        with sender:
            sender.bind((HOSTS[0], 0))
            for _ in range(PACKETS):
                sender.sendto(b"........", (THERE, 9))
        assert made.program is not None
        spent_ns, count = RUNS.unpack(bpf.information(made.program.descriptor, INFO_BYTES))
        if count < PACKETS:
            raise BenchError(f"the program ran {count} times for {PACKETS} packets")
        return float(spent_ns / count)


def poll_ns() -> float:
    """Return the CPU time to read the queue length once by netlink. [ns]"""
    with shaped(text(RATE, 2, "packet")) as (_, _, made):
        began_s = time.process_time()
        for _ in range(POLLS):
            made.counters()
        return (time.process_time() - began_s) / POLLS * 1e9


def ends(
    hosts: Namespace, receiver: Namespace
) -> dict[str, list[tuple[socket.socket, socket.socket]]]:
    """Open the TCP connections of two classes. Return both sockets of each connection, by the
    sender's address."""
    connections: dict[str, list[tuple[socket.socket, socket.socket]]] = {}
    with receiver.run(lambda: socket.create_server(("", PORT))) as door:
        for name in HOSTS:
            for _ in range(FLOWS):
                end = hosts.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
                end.bind((name, 0))
                end.connect((THERE, PORT))
                taken, _ = door.accept()
                for each in (end, taken):
                    each.setblocking(False)
                connections.setdefault(name, []).append((end, taken))
    return connections


class Watch(threading.Thread):
    """Thread that samples the queue length that the BPF program has read last."""

    def __init__(self, made: Shaped) -> None:
        super().__init__()
        assert made.sharing is not None
        self.value, self.at = made.sharing.value, made.sharing.structure.place("seen")
        self.seen: list[int] = []
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(SAMPLED_S):
            self.seen.append(struct.unpack_from("=Q", self.value, self.at)[0])


def held(update: str) -> dict[str, Any]:
    """Measure a shared queue whose algorithm runs at these intervals: mean length, ratio of the
    goodputs, and samples of the length."""
    with shaped(text(RATE, 2, update)) as (hosts, receiver, made):
        every = ends(hosts, receiver)
        received = dict.fromkeys(every, 0)
        names = {taken: name for name, pairs in every.items() for _, taken in pairs}
        with selectors.DefaultSelector() as selector:
            for end, taken in itertools.chain.from_iterable(every.values()):
                selector.register(end, selectors.EVENT_WRITE)
                selector.register(taken, selectors.EVENT_READ)
            pump(selector, WARMUP_S, names, received)
            before, watch, lengths = dict(received), Watch(made), []
            watch.start()
            end_s = time.monotonic() + LENGTH_S
            while time.monotonic() < end_s:
                pump(selector, 0.02, names, received)
                lengths.append(made.counters()[1].backlog_packets + 1)
            watch.ended.set()
            watch.join()
        for end, taken in itertools.chain.from_iterable(every.values()):
            end.close()
            taken.close()
        first, second = (received[name] - before[name] for name in HOSTS)
        return {"queue": fmean(lengths), "ratio": first / second, "seen": watch.seen}


def pump(
    selector: selectors.BaseSelector,
    length_s: float,
    names: dict[socket.socket, str],
    received: dict[str, int],
) -> None:
    """Send and receive on all connections for `length_s` seconds."""
    end_s = time.monotonic() + length_s
    while (left_s := end_s - time.monotonic()) > 0:
        for key, events in selector.select(left_s):
            end = key.fileobj
            assert isinstance(end, socket.socket)
            try:
                if events & selectors.EVENT_WRITE:
                    end.send(bytes(1 << 14))
                else:
                    received[names[end]] += len(end.recv(1 << 18))
            except BlockingIOError:
                continue


def change(seen: Sequence[int], age_s: float) -> float:
    """Return the mean absolute change of the queue length within `age_s`: the error of a length
    that was read this long ago. [packets]"""
    behind = round(age_s / SAMPLED_S)
    pairs = zip(seen[behind:], seen[:-behind], strict=True)
    return fmean(abs(now - then) for now, then in pairs)


def main() -> None:
    """Print the measurements, as tables in Markdown."""
    was = STATISTICS.read_text()
    STATISTICS.write_text("1")
    try:
        print("| classes | a step at every packet [ns] | every 10 ms [ns] |\n|---|---|---|")
        for classes in CLASSES:
            each = (f"{packet_ns(classes, update):.0f}" for update in ("packet", "10 ms"))
            print(f"| {classes} | {' | '.join(each)} |", flush=True)
    finally:
        STATISTICS.write_text(was)
    print(f"\na reading by netlink: {poll_ns() / 1e3:.0f} us\n")
    print("| a step | mean queue | ratio of the classes |\n|---|---|---|")
    for update in STEPS:
        measured = held(update)
        print(f"| {update} | {measured['queue']:.1f} | {measured['ratio']:.3f} |", flush=True)
        if update == "packet":
            ages = {age_s: change(measured["seen"], age_s) for age_s in AGES_S}
    old = ", ".join(f"{1e3 * age_s:g} ms: {off:.1f}" for age_s, off in ages.items())
    print(f"\na length that is old is off by so many packets: {old}")


if __name__ == "__main__":
    require_release_build()
    main()
