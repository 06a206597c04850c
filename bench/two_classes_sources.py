"""Programs that run the two classes, namely Linux's TCP, ns-2, the engine, and a Monte Carlo
simulation.

The cell is that of paper 000 with four transmission attempts per frame and five downloads per
class. Each attempt for class 2 fails with the probability p_w = 0.3. The result depends almost only
on the reaction of TCP to losses.
"""

import re
import socket
import struct
import sys
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

from emulations import lateness_s, wait
from kernel_tcp_watch import Watch
from measure import process
from runs import Lists, Table, by_replication, kept, machine

import lasthop as lh
from lasthop.emulation import emulate
from lasthop.studies.vbs import cell

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tests" / "validation"))

from two_classes_monte_carlo import Cell, simulate  # noqa: E402
from two_classes_tcp import Rules  # noqa: E402

ERROR = 0.3
"""Probability that an attempt at a data frame of class 2 fails. [-]"""
PER_CLASS = 5
CLASSES = ("high", "low")
LISTS = ("stations", "flows", "queues", "totals")
WARMUP_S, DURATION_S, EMULATED_S = 20.0, 200.0, 120.0
SEGMENT_BITS = 8 * 1460

Seen = dict[str, Any]
"""Stored values of a run: the ratio of the goodputs of class 1 and class 2, and pairs of values for
both classes."""


@dataclass(frozen=True)
class Point(ABC):
    """A point of the comparison: a program (the source of its runs) with a rule of TCP."""

    rule: str
    """Description of the rule. Points with the same rule have the same description."""
    runs: int
    min_rto_s: float = 0.2
    settings: Table = field(default_factory=dict)
    """Settings of the rule, in the format of the program."""

    source: ClassVar[str]
    in_real_time: ClassVar[bool] = False

    def key(self, seed: int) -> str:
        """Return the key under which the run with this seed is stored."""
        return f"{self.source}: {self.rule}, min RTO {self.min_rto_s:g} s, seed {seed}"

    def units(self) -> Sequence[Sequence[int]]:
        """Return groups of seeds. All seeds of a group are passed to one call of `run`."""
        return [[seed] for seed in range(1, self.runs + 1)]

    @abstractmethod
    def run(self, seeds: Sequence[int]) -> list[Seen]:
        """Run with each of these seeds, and return the values to store."""


def scenario(congestion: str, until_s: float, **tcp: Any) -> dict[str, Any]:
    """Return the scenario of the cell, as in the studies."""
    name = f"two classes of five, p_w {ERROR:g}"
    tree = cell.scenario(name, cell.classes(ERROR), seconds=(WARMUP_S, until_s))
    return {**tree, "tcp": {**tree["tcp"], "congestion": congestion, **tcp}}


def of_lists(lists: Lists, measured_s: float) -> Seen:
    """Return the values to store from the mean values of a result."""

    def by_class(kind: str, quantity: str) -> list[float]:
        return [
            fmean(own[quantity] for name, own in lists[kind].items() if name.startswith(prefix))
            for prefix in CLASSES
        ]

    goodputs = [PER_CLASS * each for each in by_class("flows", "goodput_bps")]
    given_up = by_class("stations", "downlink_discard_probability")
    lost = by_class("flows", "loss_probability")
    return {
        "ratio": goodputs[0] / goodputs[1],
        "goodput_bps": goodputs,
        "buffer": [both - part for both, part in zip(lost, given_up, strict=True)],
        "given_up": given_up,
        "again": [60 * each / measured_s for each in by_class("flows", "retransmissions")],
        "window": by_class("flows", "cwnd_packets"),
    }


# -- engine, Monte Carlo ------------------------------------------------------------------------


@dataclass(frozen=True)
class Engine(Point):
    """Runs of the engine, with settings of the table `tcp`."""

    source = "engine"

    def units(self) -> Sequence[Sequence[int]]:
        """Return one group with all seeds, because one simulation runs the replications of all
        seeds."""
        return [range(1, self.runs + 1)]

    def run(self, seeds: Sequence[int]) -> list[Seen]:
        """Simulate the cell."""
        tcp = {"min_rto": f"{self.min_rto_s:g} s", "congestion": "newreno", **self.settings}
        tree = {**scenario(until_s=DURATION_S, **tcp), "replications": len(seeds)}
        lists = by_replication(lh.simulate(tree), LISTS)
        return [of_lists(each, DURATION_S - WARMUP_S) for each in lists]


@dataclass(frozen=True)
class OnTrial(Point):
    """Stored runs of a patched engine with a rule that the engine does not have. These runs cannot
    be repeated."""

    source = "engine, rule on trial"

    def units(self) -> Sequence[Sequence[int]]:
        """Return no groups, since these runs cannot be repeated."""
        return []

    def run(self, seeds: Sequence[int]) -> list[Seen]:
        """Raise an error, since the engine does not have the rule."""
        raise NotImplementedError(f"{self.rule} is no rule of the engine")


@dataclass(frozen=True)
class MonteCarlo(Point):
    """Runs of the Monte Carlo simulation in `tests/validation`. The settings are fields of its
    class `Rules`."""

    cell: Table = field(default_factory=dict)
    """Values of fields of the simulation's class `Cell`."""

    source = "Monte Carlo"

    def run(self, seeds: Sequence[int]) -> list[Seen]:
        """Simulate the cell."""
        rules = Rules(min_rto_s=self.min_rto_s, **self.settings)
        runs = [simulate(Cell(**self.cell), rules, seed, WARMUP_S, DURATION_S) for seed in seeds]
        return [of_monte_carlo(each) for each in runs]


def of_monte_carlo(values: Mapping[str, float]) -> Seen:
    """Return the values to store from a run of the Monte Carlo simulation."""

    def pair(name: str, factor: float = 1.0) -> list[float]:
        return [factor * values[f"{name} {own}"] for own in "12"]

    return {
        "ratio": values["ratio"],
        "goodput_bps": pair("goodput", 1e6),
        "buffer": pair("buffer %", 0.01),
        "given_up": pair("given up %", 0.01),
        "timeouts": pair("timeouts"),
        "recoveries": pair("recoveries"),
        "again": pair("again"),
        "window": pair("window"),
    }


# -- ns-2 ---------------------------------------------------------------------------------------


DROP = re.compile(r"^D (\S+) _0_ (IFQ|MAC) +(\S+) \d+ tcp .*\[0:\d+ (\d+):", re.MULTILINE)
"""Pattern of a line of the trace for a segment that the access point (node 0) has dropped::

    D 1.683201 _0_ IFQ  --- 127 tcp 1540 [0 0 4 800] ------- [0:3 4:0 32 4] [31 0] 0 0
    D 9.018443 _0_ MAC  RET 541 tcp 1568 [0 ffffffff 8 800] ------- [0:7 8:0 32 8] [70 0] 0 0
"""


@dataclass(frozen=True)
class Ns2(Point):
    """Runs of ns-2.35 with `peers/two_classes.tcl`. The settings are default values of ns-2
    classes, by `"CLASS VARIABLE"`."""

    agent: str = "TCP/Newreno"

    source = "ns-2.35"

    def run(self, seeds: Sequence[int]) -> list[Seen]:
        """Simulate the cell."""
        changes = {"Agent/TCP minrto_": self.min_rto_s, **self.settings}
        triples = [word for name, value in changes.items() for word in (*name.split(), str(value))]
        return [self.of_seed(seed, triples) for seed in seeds]

    def of_seed(self, seed: int, triples: Sequence[str]) -> Seen:
        """Simulate the cell with one seed."""
        times = (f"{DURATION_S:g}", f"{WARMUP_S:g}", str(seed))
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder, "drops")
            script = str(HERE / "peers" / "two_classes.tcl")
            attempts = str(cell.ATTEMPTS)
            more = (str(ERROR), attempts, str(trace), self.agent, *triples)
            ended = process(["ns", script, *times, *more])
            return of_ns2(ended.output, trace.read_text(errors="replace"))


def of_ns2(output: str, trace: str) -> Seen:
    """Return the values to store from the output and the trace of the ns-2 script."""
    lines = (line.split() for line in output.splitlines() if line.startswith("flow "))
    flows = [list(map(float, values)) for _, _, *values in lines]
    dropped = Counter(
        (layer if layer == "IFQ" else reason, int(node) - 1)
        for time_s, layer, reason, node in DROP.findall(trace)
        if float(time_s) > WARMUP_S
    )

    def by_class(values: Sequence[float]) -> list[float]:
        return [sum(values[:PER_CLASS]), sum(values[PER_CLASS:])]

    measured_s = DURATION_S - WARMUP_S
    a_minute = 60 / measured_s / PER_CLASS
    columns = map(by_class, zip(*flows, strict=True))
    acked, timeouts, cuts, again, offered, window = columns

    def part(word: str) -> list[float]:
        lost = by_class([dropped[word, number] for number in range(len(flows))])
        return [each / among for each, among in zip(lost, offered, strict=True)]

    return {
        "ratio": acked[0] / acked[1],
        "goodput_bps": [each * SEGMENT_BITS / measured_s for each in acked],
        "buffer": part("IFQ"),
        "given_up": part("RET"),
        "timeouts": [each * a_minute for each in timeouts],
        "recoveries": [each * a_minute for each in cuts],
        "again": [each * a_minute for each in again],
        "window": [each / PER_CLASS for each in window],
    }


# -- Linux --------------------------------------------------------------------------------------


RECOVERY = 3
"""Value of tcpi_ca_state in fast recovery (TCP_CA_Recovery of linux/tcp.h)."""
TOTAL_RTO_OFFSET, INFO_LENGTH = 240, 248
"""Offset of tcpi_total_rto in struct tcp_info (linux/tcp.h, since Linux 6.7), and the length of the
structure."""


class Repairs(Watch):
    """Recorder of timeouts and recoveries of each connection. It samples ten times per second,
    which is sufficient because a recovery lasts one round-trip time (0.17 s here).
    """

    def __init__(self, seed: int) -> None:
        super().__init__(None, WARMUP_S, seed)
        self.noted: list[list[tuple[int, int]]] = []
        """For each sample and connection, the state of the congestion control and the number of
        timeouts so far."""

    def look(self) -> None:
        """Sample the states and the numbers of timeouts, in addition to the windows."""
        super().look()
        self.noted.append([state_and_timeouts(each.sender) for each in self.connections])

    def a_minute(self) -> dict[str, list[float]]:
        """Return for each class the number of timeouts and of recoveries per flow and minute after
        the warm-up."""
        pairs = zip(self.times_s, self.noted, strict=True)
        warm = [noted for time_s, noted in pairs if time_s >= WARMUP_S]
        minutes = (self.times_s[-1] - WARMUP_S) / 60
        rates: dict[str, list[float]] = {"timeouts": [], "recoveries": []}
        for prefix in CLASSES:
            own = [
                [sample[at] for sample in warm]
                for at, each in enumerate(self.connections)
                if each.flow.name.startswith(prefix)
            ]
            timeouts = fmean(seen[-1][1] - seen[0][1] for seen in own)
            begun = fmean(sum(begins(a[0], b[0]) for a, b in pairwise(seen)) for seen in own)
            rates["timeouts"].append(timeouts / minutes)
            rates["recoveries"].append(begun / minutes)
        return rates


def state_and_timeouts(connection: socket.socket | None) -> tuple[int, int]:
    """Return tcpi_ca_state and the number of retransmission timeouts of a connection."""
    if connection is None or connection.fileno() < 0:
        return 0, 0
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO_LENGTH)
    return info[1], int(struct.unpack_from("=H", info, TOTAL_RTO_OFFSET)[0])


def begins(before: int, after: int) -> bool:
    """Return whether a fast recovery begins between two samples of the state."""
    return before != RECOVERY and after == RECOVERY


@dataclass(frozen=True)
class Linux(Point):
    """Runs of the kernel's TCP in real time. The settings are sysctls."""

    congestion: str = "newreno"

    source = "Linux"
    in_real_time = True

    def run(self, seeds: Sequence[int]) -> list[Seen]:
        """Emulate the cell with each of these seeds."""
        return [self.of_seed(seed) for seed in seeds]

    def of_seed(self, seed: int) -> Seen:
        """Emulate the cell with one seed."""
        watch = Repairs(seed)
        tree = {**scenario(self.congestion, EMULATED_S), "seed": seed}
        answer = emulate(tree, sysctl=self.settings, watch=watch)
        lists = kept(answer.summary, LISTS)
        return {
            **of_lists(lists, EMULATED_S - WARMUP_S),
            **watch.a_minute(),
            "late_s": lateness_s(lists),
            "wait": wait(lists),
            "on": machine(),
            "counters": watch.counted["run"].get("sender", {}),
        }
