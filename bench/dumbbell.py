"""Sixty NewReno flows through one router, beside ns-2: what the router does, and what it costs.

Both run the same topology with the same settings; utilisation, queue and drops are compared over
independent replications, and then the CPU time per delivered segment.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Literal

import ours
from measure import BenchError, Cost, Process, Run, process, slope
from peers import install_ns2
from scipy.stats import t

import lasthop

HERE = Path(__file__).parent
FILE = HERE / "cases" / "dumbbell.toml"
SCRIPT = HERE / "peers" / "dumbbell.tcl"
WARMUP_S, DURATION_S = 25.0, 105.0
#: Runs of ns-2 between which the cost is the slope.
SHORT_S, LONG_S = 35.0, 75.0
#: The same of ours.
OUR_SHORT_S, OUR_LONG_S = 100.0, 500.0
#: How many times less CPU time per delivered segment than ns-2 as installed.
RATIO_GOAL = 10.0

Measure = Literal["utilisation", "queue", "drops"]
#: How far ns-2 may be from ours, as a part of ours.
SAME: Mapping[Measure, float] = {"utilisation": 0.03, "queue": 0.10, "drops": 0.10}


@dataclass(frozen=True)
class Case:
    """A round-trip time and a queue."""

    rtt_ms: int
    queue: Literal["droptail", "red"]

    @property
    def name(self) -> str:
        """As in results.json."""
        words = {"droptail": "drop-tail 15", "red": "RED 50/100"}
        return f"RTT {self.rtt_ms} ms, {words[self.queue]}"

    @property
    def settings(self) -> Mapping[str, object]:
        """In our words; ns-2's limit of 2084 holds 2083, and one more is in service."""
        red = "{ limit = 2084, red = { min_th = 50, max_th = 100 } }"
        return {
            "dumbbell.rtt": f"{self.rtt_ms} ms",
            "queue": red if self.queue == "red" else "15",
        }


CASES = tuple(Case(rtt, queue) for rtt in (10, 200) for queue in ("droptail", "red"))


@dataclass(frozen=True)
class Estimate:
    """Mean over independent replications and half width of its 95 % interval."""

    mean: float
    ci95: float


Router = Mapping[Measure, Estimate]
"""Utilisation [-], mean queue with the packet in service [packets], part of packets dropped [-]."""


@dataclass(frozen=True)
class Compared:
    """One case in both simulators."""

    case: Case
    ours: Router
    peer: Router
    our_cost: Cost
    peer_cost: Cost

    def apart(self, measure: Measure) -> float:
        """How far ns-2 is from ours, as a part of ours."""
        return self.peer[measure].mean / self.ours[measure].mean - 1

    @property
    def ratio(self) -> float:
        """How many times cheaper a delivered segment is here."""
        return self.peer_cost.us_per_segment / self.our_cost.us_per_segment

    def missed(self) -> Iterator[str]:
        """Goals that this case misses."""
        for measure, allowed in SAME.items():
            if abs(self.apart(measure)) > allowed:
                yield f"{self.case.name}: {measure} of ns-2 is {self.apart(measure):+.1%} off"
        if self.ratio < RATIO_GOAL:
            yield f"{self.case.name}: {self.ratio:.1f} times less than ns-2, aim {RATIO_GOAL:.0f}"

    def record(self) -> dict[str, object]:
        """What is written of the router."""
        return {
            "case": f"dumbbell, {self.case.name}",
            "peer": "ns-2",
            "ours": {measure: asdict(value) for measure, value in self.ours.items()},
            "peer_values": {measure: asdict(value) for measure, value in self.peer.items()},
        }


def compare(*, quick: bool) -> Iterator[Compared]:
    """All cases, one process at a time."""
    install_ns2()
    for case in CASES:
        yield one(case, replications=3 if quick else 5, repeats=1 if quick else 2)


def one(case: Case, replications: int, repeats: int) -> Compared:
    """One case in both."""
    return Compared(
        case=case,
        ours=router(case),
        peer=peer_router(case, replications),
        our_cost=ours.cost(FILE, OUR_SHORT_S, OUR_LONG_S, 2 * repeats, case.settings),
        peer_cost=slope(lambda s: bare(case, s), SHORT_S, LONG_S, repeats),
    )


def router(case: Case) -> Router:
    """Ours, over the replications of the file."""
    result = lasthop.simulate(lasthop.Scenario(FILE, case.settings), jobs=1)
    [link] = [link for link in result.summary["links"] if link["name"] == "bottleneck"]
    [queue] = [queue for queue in result.summary["queues"] if queue["name"] == "bottleneck"]
    return {
        "utilisation": Estimate(**link["utilisation"]),
        "queue": Estimate(**queue["occupancy_packets"]),
        "drops": Estimate(**queue["drop_probability"]),
    }


def peer_router(case: Case, replications: int) -> Router:
    """ns-2's, with a monitor on the queue."""
    rows = []
    for seed in range(1, replications + 1):
        words = line(ns2(case, DURATION_S, seed, "measure").output, "bottleneck")
        rows.append([float(word) for word in words])
    columns = zip(*rows, strict=True)
    return {measure: estimate(column) for measure, column in zip(SAME, columns, strict=True)}


def bare(case: Case, duration_s: float) -> Run:
    """ns-2 without a monitor: what the simulation costs."""
    ended = ns2(case, duration_s, 1, "bare")
    segments = int(line(ended.output, "delivered")[1])
    return Run(ended.cpu_s, segments, duration_s - WARMUP_S, ended.peak_rss_mb)


def ns2(case: Case, duration_s: float, seed: int, mode: str) -> Process:
    """One run of the script."""
    numbers = [str(duration_s), str(WARMUP_S), str(seed)]
    return process(["ns", str(SCRIPT), *numbers, str(case.rtt_ms), case.queue, mode])


def line(output: str, name: str) -> list[str]:
    """The words after `name` in a line of the output."""
    for text in output.splitlines():
        first, *words = text.split()
        if first == name:
            return words
    raise BenchError(f"ns-2 printed no line `{name} ...`")


def estimate(values: Sequence[float]) -> Estimate:
    """Mean of independent runs, with a Student interval."""
    quantile = float(t.ppf(0.975, len(values) - 1))
    return Estimate(mean(values), quantile * stdev(values) / len(values) ** 0.5)
