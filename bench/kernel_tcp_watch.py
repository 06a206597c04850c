"""Record the state of the kernel's TCP during an emulation: windows, and the counters of
`nstat`.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from random import Random
from statistics import fmean
from typing import Any, Self, TextIO

from lasthop.emulation.connection import Connection
from lasthop.emulation.places import Places
from lasthop.emulation.traffic import Driven
from lasthop.linux.netns import Namespace
from lasthop.linux.scheduling import FIRST
from lasthop.linux.tcp import set_congestion, tcp_info

SAMPLED_S = 0.1
COUNTERS = ("/proc/thread-self/net/netstat", "/proc/thread-self/net/snmp")
KEPT = ("TcpExt", "Tcp")
"""Groups of counters that are stored."""
STATES = ("RtoAlgorithm", "RtoMin", "RtoMax", "MaxConn", "CurrEstab")
"""Names in the counter files whose values are states and not counters."""

Counts = Mapping[str, int]


class Watch:
    """Recorder of the kernel's TCP state during an emulation. The recorder also applies settings
    that scenario files do not support.

    Parameters
    ----------
    congestion : str, optional
        Kernel name of the congestion control that replaces the scenario's in every connection.
    warmup_s : float
        Time from which counters are part of the measured period. [s]
    seed : int
        Seed of the random start times of flows.
    is_first : bool
        Whether the socket thread is a real-time thread, with a lower priority than the packet
        thread.
    """

    def __init__(
        self, congestion: str | None, warmup_s: float, seed: int, *, is_first: bool = False
    ) -> None:
        self.congestion = congestion
        self.warmup_s = warmup_s
        self.random = Random(seed)
        self.is_first = is_first
        self.driver = 0
        """Thread ID of the thread of the sockets."""
        self.connections: list[Connection] = []
        self.ends: dict[str, list[TextIO]] = {}
        self.at_first: dict[str, Counts] = {}
        self.counted: dict[str, dict[str, Counts]] = {"warmup": {}, "run": {}}
        """Increase of the counters of senders and receivers, in the warm-up and in the measured
        period.
        """
        self.times_s: list[float] = []
        self.windows: list[list[int]] = []
        """Congestion windows of all connections at each sample. [packets]"""
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.follow)
        self.stack = ExitStack()

    def __call__(self, _places: Places, flows: Sequence[Driven]) -> Self:
        """Start recording. The sockets must exist."""
        self.connections = [each for each in flows if isinstance(each, Connection)]
        for each in self.connections:
            late_s = self.random.uniform(0.0, each.flow.start_spread_s)
            each.flow = replace(each.flow, start_s=each.flow.start_s + late_s)
            if self.congestion is not None:
                for socket in filter(None, (each.client, each.listener)):
                    set_congestion(socket, self.congestion)
        ends = [each.ends for each in self.connections]
        self.ends = {
            "sender": self.opened(each.sender.namespace for each in ends),
            "receiver": self.opened(each.receiver.namespace for each in ends),
        }
        return self

    def opened(self, namespaces: Iterable[Namespace]) -> list[TextIO]:
        """Open the files with counters in these network namespaces. An open file shows the counters
        of the namespace in which it was opened.
        """
        distinct = {each.descriptor: each for each in namespaces}.values()
        return [
            self.stack.enter_context(namespace.run(partial(open, path)))
            for namespace in distinct
            for path in COUNTERS
        ]

    def __enter__(self) -> Self:
        self.at_first = self.counts()
        self.driver = threading.get_native_id()
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()
        self.counted["run"] = grown(self.at_first, self.counts())
        self.stack.close()

    def follow(self) -> None:
        """Sample all congestion windows at equal intervals, and read the counters at the end of the
        warm-up.
        """
        began_s, due_s = time.monotonic(), self.warmup_s
        while not self.ended.wait(SAMPLED_S):
            if self.is_first:  # by now the emulator has set its own priority
                self.is_first = False
                os.sched_setscheduler(self.driver, os.SCHED_FIFO, os.sched_param(FIRST - 1))
            now_s = time.monotonic() - began_s
            if now_s >= due_s:
                counts, due_s = self.counts(), float("inf")
                self.counted["warmup"] = grown(self.at_first, counts)
                self.at_first = counts
            self.times_s.append(now_s)
            self.look()

    def look(self) -> None:
        """Add a sample of all congestion windows."""
        self.windows.append([window(each) for each in self.connections])

    def counts(self) -> dict[str, Counts]:
        """Return the current counters of senders and receivers."""
        return {end: of_files(files) for end, files in self.ends.items()}

    def track(self) -> dict[str, Any]:
        """Return two congestion windows over time: that of the first connection, and the mean over
        all connections that have started.
        """
        return track(self.times_s, self.windows)


def window(connection: Connection) -> int:
    """Return the congestion window of a connection; 0 before the start of the connection.
    [packets]
    """
    socket = connection.sender
    if socket is None or socket.fileno() < 0:
        return 0
    info = tcp_info(socket)
    return info.cwnd_packets if info.rtt_s > 0 else 0


def track(times_s: Sequence[float], windows: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return windows over time, with fewer samples for storage."""
    begun = [[each for each in sample if each > 0] for sample in windows]
    return {
        "time_s": [round(each, 2) for each in times_s],
        "first": [round(sample[0], 1) for sample in windows],
        "mean": [round(fmean(sample), 1) if sample else 0 for sample in begun],
    }


def of_files(files: Iterable[TextIO]) -> Counts:
    """Return the TCP counters, summed over files of this form::

    TcpExt: SyncookiesSent SyncookiesRecv TW TcpExt: 0 0 17
    """
    counts: Counter[str] = Counter()
    for file in files:
        file.seek(0)
        lines = file.read().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            group, *words = names.split()
            if group.rstrip(":") in KEPT:
                counts.update(dict(zip(words, map(int, values.split()[1:]), strict=True)))
    return counts


def grown(before: Mapping[str, Counts], after: Mapping[str, Counts]) -> dict[str, Counts]:
    """Return the increase of the counters between two readings. Counters without an increase are
    omitted.
    """
    return {
        end: {
            name: value - before[end].get(name, 0)
            for name, value in counts.items()
            if name not in STATES and value != before[end].get(name, 0)
        }
        for end, counts in after.items()
    }
