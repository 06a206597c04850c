"""Run emulations with the kernel's TCP in real time, and compare them with simulations.

    python bench/emulations.py [suite ...] [--jobs N]    makes the missing runs
    python bench/emulations.py --page                    docs/reference/emulation-measured.md

Every run is stored as a line of out/emulations.jsonl. A stored run is not repeated. A run is
excluded if it was late, that is, if the 99th percentile of its packets' lateness is above 2 ms. The
page shows only the number of late runs. The limit of 2 ms was set before the first run. A run is
also excluded if its sockets waited for a processor for half of the time. This second limit was
added later, because ten simultaneous runs of 48 Mbit/s on two processors had a lower goodput
although their packets were not late.
"""

import argparse
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

import emulations_aggregates as aggregates
from measure import require_release_build
from runs import OUT, Runs, Table, kept

from lasthop.emulated.lateness import LATE_S, MUCH_WAITING
from lasthop.studies.sweep import Sweep
from lasthop.studies.vbs import fig08, shared

RUNS = Runs(OUT / "emulations.jsonl")

SEEDS = 5
TIMES = {"warmup": "10 s", "duration": "60 s"}
SHORT = {"warmup": "5 s", "duration": "25 s"}
"""Warm-up and duration of runs that test whether the machine processes packets without lateness."""
LASTING = {"warmup": "5 s", "duration": "35 s"}
"""Warm-up and duration of runs of aggregating cells, which have ten times as many packets per
second as other cells.
"""
LISTS = ("cells", "classes", "stations", "aps", "queues", "links", "totals")
"""Lists of a result that are stored."""


@dataclass(frozen=True)
class Case:
    """A scenario of a suite (a group of scenarios)."""

    suite: str
    name: str
    tree: Table
    gro: bool = False
    """Whether hosts merge segments that arrive back to back (GRO)."""

    def key(self, seed: int) -> str:
        """Return the key under which the run with this seed is stored."""
        return f"{self.suite}, {self.name}, seed {seed}"


# -- suites -------------------------------------------------------------------------------------


def of_sweep(suite: str, sweep: Sweep) -> Iterator[Case]:
    """Yield the scenarios of a sweep."""
    for name, tree in sweep.points().items():
        yield Case(suite, name, tree)


def devices() -> Iterator[Case]:
    """Yield the scenarios of figure 8 of paper 000: downloads with a round-trip delay of 70 ms."""
    return of_sweep("devices", fig08.SWEEP)


def classes() -> Iterator[Case]:
    """Yield the scenarios of figures 11, 14 and 15 of paper 000: two classes of five downloads."""
    return of_sweep("classes", shared.SWEEP)


def wires() -> Iterator[Case]:
    """Yield wired scenarios: dumbbells and parking lots."""
    reno = {"congestion": "reno", "window": 1000, "sack": True}
    for acks in ("delayed", "each"):
        tcp = {**reno, "delayed_ack": acks == "delayed"}
        for flows, rate, rtt_ms, queue in (
            (2, 12, 40, 60),
            (6, 12, 40, 60),
            (6, 12, 40, {"limit": 120, "codel": {}}),
            (6, 12, 40, {"limit": 120, "red": {"min_th": 15, "max_th": 60}}),
            (20, 48, 80, 300),
        ):
            kind = queue if isinstance(queue, int) else next(k for k in queue if k != "limit")
            yield Case(
                "wires",
                f"dumbbell of {flows}, {rate} Mbit/s, {rtt_ms} ms, {kind}, {acks}",
                {
                    "name": f"{flows} through one queue",
                    "queue": queue,
                    "dumbbell": {
                        "flows": flows,
                        "bottleneck": f"{rate} Mbps",
                        "delay": f"{rtt_ms / 4:g} ms",
                        "rtt": f"{rtt_ms} ms",
                    },
                    "tcp": tcp,
                },
            )
        for hops in (2, 3):
            yield Case(
                "wires",
                f"parking lot of {hops}, 12 Mbit/s, {acks}",
                {
                    "name": f"{hops} bottlenecks in a row",
                    "queue": 60,
                    "parking_lot": {
                        "hops": hops,
                        "flows": 3,
                        "cross": 3,
                        "bottleneck": "12 Mbps",
                        "delay": "10 ms",
                        "rtt": "80 ms",
                    },
                    "tcp": tcp,
                },
            )


def loads() -> Iterator[Case]:
    """Yield three scenarios with increasing load, which test the capacity of a machine."""
    cubic = {"congestion": "cubic", "window": 4000, "sack": True}
    for rate in (50, 100, 200, 400, 800, 1200, 1600, 2400):
        yield Case(
            "loads",
            f"dumbbell of 10, {rate} Mbit/s",
            {
                "name": "ten through one queue",
                "queue": 5 * rate,
                "dumbbell": {
                    "flows": 10,
                    "bottleneck": f"{rate} Mbps",
                    "delay": "5 ms",
                    "rtt": "20 ms",
                },
                "tcp": cubic,
            },
        )
    for count in (5, 20, 50, 100, 200):
        yield Case(
            "loads",
            f"802.11g, {count} stations with a call and a download",
            {
                "name": "calls and downloads",
                "cell": {"phy": "802.11g", "ap_queue": 300},
                "tcp": {**cubic, "window": 100},
                "station": {
                    "one": {
                        "count": count,
                        "download": 1,
                        "udp_up": {"rate": "32 kbps", "packet": "160 B"},
                        "udp_down": {"rate": "32 kbps", "packet": "160 B"},
                    }
                },
            },
        )
    for rate in (50, 100, 200, 300, 400, 600):
        yield Case(
            "loads",
            f"parking lot of 4, {rate} Mbit/s",
            {
                "name": "four bottlenecks in a row",
                "queue": 3 * rate,
                "parking_lot": {
                    "hops": 4,
                    "flows": 5,
                    "cross": 5,
                    "bottleneck": f"{rate} Mbps",
                    "delay": "5 ms",
                    "rtt": "40 ms",
                },
                "tcp": cubic,
            },
        )


def aggregate_shares() -> Iterator[Case]:
    """Yield the scenarios of stations that share an aggregating cell."""
    for name, tree, gro in aggregates.shares():
        yield Case("aggregates", name, tree, gro)


def aggregate_loads() -> Iterator[Case]:
    """Yield aggregating cells with increasing data rates."""
    for name, tree, gro in aggregates.loads():
        yield Case("aggregate loads", name, tree, gro)


SUITES: Mapping[str, Callable[[], Iterator[Case]]] = {
    "devices": devices,
    "classes": classes,
    "wires": wires,
    "loads": loads,
    "aggregates": aggregate_shares,
    "aggregate loads": aggregate_loads,
}
MAX_AT_ONCE = {"loads": 1, "wires": 3, "aggregates": 1, "aggregate loads": 1}
"""Maximum number of simultaneous runs, for suites that need much CPU time."""
ONCE = ("loads", "aggregate loads")
"""Suites that run each scenario once."""


def times(suite: str) -> Mapping[str, str]:
    """Return the warm-up and the duration of a suite's runs."""
    if suite in ONCE:
        return SHORT
    return LASTING if suite == "aggregates" else TIMES


# -- runs ---------------------------------------------------------------------------------------


def emulated(case: Case, seed: int) -> dict[str, Any]:
    """Run an emulation, and return its measurements by list, name and quantity."""
    from lasthop.emulation import emulate

    tree = {**case.tree, **times(case.suite), "seed": seed}
    return kept(emulate(tree, gro=case.gro).summary, LISTS)


def lateness_s(seen: Table) -> float:
    """Return the 99th percentile of the lateness of packets in a run. [s]"""
    return float(seen["totals"]["run"]["lateness_p99_s"])


def wait(seen: Table) -> float:
    """Return the fraction of time for which the sockets of a run waited for a processor. [-]"""
    return float(seen["totals"]["run"].get("processor_wait", 0.0))


def run(suites: Sequence[str], jobs: int) -> None:
    """Make the runs of these suites that are not stored yet."""
    done = RUNS.known()
    for suite in suites:
        seeds = range(1, 2 if suite in ONCE else SEEDS + 1)
        plan = [
            (case, seed) for seed in seeds for case in SUITES[suite]() if case.key(seed) not in done
        ]
        at_once = min(jobs, MAX_AT_ONCE.get(suite, jobs))
        # Each run has its own process, because lateness is measured per process.
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(at_once, mp_context=spawn) as pool:
            running = {pool.submit(emulated, case, seed): (case, seed) for case, seed in plan}
            for number, ended in enumerate(as_completed(running), start=1):
                case, seed = running[ended]
                seen = ended.result()
                RUNS.add(case.key(seed), seen)
                late_ms = 1e3 * lateness_s(seen)
                print(f"{number}/{len(plan)} {case.key(seed)}: {late_ms:.2f} ms late", flush=True)


def seen_of(case: Case, done: Mapping[str, Table]) -> tuple[list[Table], int]:
    """Return the included runs of a scenario, and the number of excluded runs."""
    runs = [done[key] for seed in range(1, SEEDS + 1) if (key := case.key(seed)) in done]
    on_time = [seen for seen in runs if lateness_s(seen) <= LATE_S and wait(seen) < MUCH_WAITING]
    return on_time, len(runs) - len(on_time)


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="the emulator beside the simulator")
    parser.add_argument("suite", nargs="*", help=f"one of {', '.join(SUITES)}; all")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--page", action="store_true", help="write the page from what was run")
    options = parser.parse_args()
    if options.page:
        import emulations_page

        emulations_page.write()
    else:
        run(options.suite or tuple(SUITES), options.jobs)
