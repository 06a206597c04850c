"""Goodput ratio of two classes with losses on the air, with the TCP of several programs.

    python bench/two_classes.py                  runs the missing runs, the quick runs first
    python bench/two_classes.py --only PATTERN   points whose names match: Linux, ns-2, SACK
    python bench/two_classes.py --list           lists the points, with the number of stored runs
    python bench/two_classes.py --keep           writes docs/reference/two-classes.json for the page

One cell is run with Linux's TCP (emulated, as root), ns-2, the engine and a Monte Carlo simulation.
Only one rule of TCP is changed at a time. Every run is stored as a line of out/two_classes.jsonl,
and is not repeated. Emulations that were late are excluded, as in `emulations.py`. Rules "on trial"
were run with a patch of the engine that is not in the repository, so only the stored runs contain
their results.
"""

import argparse
import json
import multiprocessing
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any

from measure import require_release_build
from runs import OUT, Runs
from two_classes_sources import Engine, Linux, MonteCarlo, Ns2, OnTrial, Point, Seen

from lasthop.answers.estimates import Estimate
from lasthop.emulated.lateness import LATE_S, MUCH_WAITING

RUNS = Runs(OUT / "two_classes.jsonl")
KEPT = Path(__file__).parents[1] / "docs" / "reference" / "two-classes.json"
DIGITS = 6
"""Number of significant digits in the stored points."""

BASE = {"timer_at_retransmit": True}
AS_ENGINE = {**BASE, "timeout_in_recovery": "keep"}
LIMITED = {**BASE, "limited_transmit": True}
COUNTED = {**LIMITED, "limited_counts": True}
RANDOM = {"overflow": "random"}
HALVED = {**BASE, "decrease": "cwnd"}
EACH = {**BASE, "timer_at_partial": "every"}
NS2 = {**LIMITED, "decrease": "cwnd", "timeout_in_recovery": "ssthresh"}
NS2_TIMES = {**NS2, "samples": "round", "granularity_s": 0.001}
LINUX = {**LIMITED, **EACH, "floor": "variance", "decrease": "cwnd", "initial_window": 10}
LINUX_SACK = {**LINUX, "sack": True}

BEGINS = {"initial_window": 10, "handshake": True}
"""Settings of the table `tcp` with which connections begin as in Linux."""
SACK = {"sack": True, "prr": True}
NO_SACK = {"net.ipv4.tcp_sack": "0"}

POINTS: Sequence[Point] = (
    Engine("NewReno", 40),
    Engine("Compound", 40, settings={"congestion": "compound"}),
    Engine("NewReno, begins as Linux", 40, settings=BEGINS),
    Engine("NewReno, begins as Linux, SACK and PRR", 40, settings={**BEGINS, **SACK}),
    Engine("Compound, begins as Linux", 40, settings={**BEGINS, "congestion": "compound"}),
    Engine(
        "Compound, begins as Linux, SACK and PRR",
        40,
        settings={**BEGINS, **SACK, "congestion": "compound"},
    ),
    Engine("NewReno", 40, 1.0),
    Engine("NewReno", 40, 3.0),
    Engine("SACK", 40, settings={"sack": True}),
    Engine("SACK", 40, 1.0, {"sack": True}),
    Engine("a timeout in recovery halves again", 40, settings={"rto_halves_again": True}),
    MonteCarlo("NewReno", 12, settings=BASE),
    MonteCarlo("NewReno", 12, 1.0, BASE),
    MonteCarlo("NewReno", 12, 3.0, BASE),
    MonteCarlo("NewReno, rules of the engine", 16, settings={**AS_ENGINE, "samples": "half"}),
    MonteCarlo("Compound", 40, settings={**AS_ENGINE, "congestion": "compound"}),
    MonteCarlo("limited transmit", 12, settings=LIMITED),
    MonteCarlo("limited transmit", 12, 1.0, LIMITED),
    MonteCarlo("limited transmit", 12, 3.0, LIMITED),
    MonteCarlo("limited transmit, counted", 12, settings=COUNTED),
    MonteCarlo("limited transmit, counted", 12, 1.0, COUNTED),
    MonteCarlo("a full queue loses a random packet", 12, settings=BASE, cell=RANDOM),
    MonteCarlo("a full queue loses a random packet", 12, 1.0, BASE, RANDOM),
    MonteCarlo("random packet lost, limited transmit counted", 10, settings=COUNTED, cell=RANDOM),
    MonteCarlo("random packet lost, limited transmit counted", 9, 1.0, COUNTED, RANDOM),
    MonteCarlo("SACK", 12, settings={**BASE, "sack": True}),
    MonteCarlo("SACK", 12, 1.0, {**BASE, "sack": True}),
    MonteCarlo(
        "SACK, limited transmit counted",
        12,
        settings={**BASE, "sack": True, "limited_counts": True},
    ),
    MonteCarlo(
        "SACK, limited transmit counted", 12, 1.0, {**BASE, "sack": True, "limited_counts": True}
    ),
    MonteCarlo("a loss halves cwnd", 12, settings=HALVED),
    MonteCarlo("a loss halves cwnd", 12, 1.0, HALVED),
    MonteCarlo("a timeout in recovery keeps ssthresh", 40, settings=AS_ENGINE),
    MonteCarlo(
        "a timeout in recovery halves again",
        12,
        settings={**BASE, "timeout_in_recovery": "ssthresh"},
    ),
    MonteCarlo("fast retransmit leaves the timer", 12),
    MonteCarlo("fast retransmit leaves the timer", 12, 1.0),
    MonteCarlo("each partial ACK restarts the timer", 12, settings=EACH),
    MonteCarlo("each partial ACK restarts the timer", 12, 1.0, EACH),
    MonteCarlo("least RTO of the variance", 12, settings={**BASE, "floor": "variance"}),
    MonteCarlo("rules of ns-2", 12, settings=NS2_TIMES),
    MonteCarlo("rules of ns-2", 12, 1.0, NS2_TIMES),
    MonteCarlo("rules of Linux but whole segments", 12, settings=LINUX),
    MonteCarlo("rules of Linux", 12, settings={**LINUX, "whole_segments": True}),
    MonteCarlo("rules of Linux but whole segments, SACK", 12, settings=LINUX_SACK),
    MonteCarlo(
        "rules of Linux but whole segments, SACK and RACK", 7, settings={**LINUX_SACK, "rack": True}
    ),
    MonteCarlo(
        "rules of Linux, SACK and RACK",
        12,
        settings={**LINUX_SACK, "rack": True, "whole_segments": True},
    ),
    OnTrial("limited transmit", 20),
    OnTrial("limited transmit", 20, 1.0),
    OnTrial("limited transmit, counted", 20),
    OnTrial("a loss halves cwnd", 20),
    OnTrial("fast retransmit leaves the timer", 20),
    OnTrial("each partial ACK restarts the timer", 20),
    OnTrial("whole segments", 20),
    OnTrial("SACK and PRR, whole segments", 20),
    OnTrial("rules of ns-2", 20),
    OnTrial("rules of ns-2", 20, 1.0),
    OnTrial("rules of Linux", 20),
    OnTrial("rules of Linux but whole segments, SACK and RACK", 20),
    OnTrial("rules of Linux, SACK and RACK", 20),
    OnTrial("rules of Linux, SACK, Compound", 20),
    Ns2("NewReno, clock of 10 ms", 10, settings={"Agent/TCP tcpTick_": 0.01}),
    Ns2("NewReno", 10),
    Ns2("NewReno", 10, 1.0),
    Ns2("NewReno without limited transmit", 10, settings={"Agent/TCP singledup_": 0}),
    Ns2("NewReno without limited transmit", 10, 1.0, {"Agent/TCP singledup_": 0}),
    Ns2("SACK", 10, agent="TCP/Sack1"),
    Linux("Reno", 20, settings=NO_SACK),
    Linux("Reno, SACK", 20),
    Linux("Compound", 20, settings=NO_SACK, congestion="compound"),
    Linux("Compound, SACK", 20, congestion="compound"),
)


# -- runs ---------------------------------------------------------------------------------------


def run(points: Sequence[Point], jobs: int) -> None:
    """Run the points that are not stored yet. Points in real time run last, after all
    simulations."""
    done = RUNS.known()
    in_turn = sorted(points, key=lambda point: point.in_real_time)
    for now in (False, True):
        plan = [
            (point, seeds)
            for point in in_turn
            if point.in_real_time == now and can_run(point)
            for seeds in point.units()
            if any(point.key(seed) not in done for seed in seeds)
        ]
        # Each run has a separate process, because lateness is measured per process.
        # The TCP settings of a run are per thread, so they do not affect other runs.
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=spawn, max_tasks_per_child=1) as pool:
            running = {pool.submit(point.run, seeds): (point, seeds) for point, seeds in plan}
            for number, ended in enumerate(as_completed(running), start=1):
                point, seeds = running[ended]
                for seed, seen in zip(seeds, ended.result(), strict=True):
                    RUNS.add(point.key(seed), seen)
                last = f"{point.key(seeds[-1])}: {ended.result()[-1]['ratio']:.3f}"
                print(f"{number}/{len(plan)} {last}", flush=True)


def can_run(point: Point) -> bool:
    """Return whether this machine can run a point. Print the reason if it cannot."""
    why = None
    if isinstance(point, Ns2) and shutil.which("ns") is None:
        why = "needs ns (Debian package ns2)"
    elif isinstance(point, Linux) and os.geteuid() != 0:
        why = "needs root"
    elif isinstance(point, OnTrial):
        why = "is no rule of the engine"
    if why is not None:
        print(f"left out: {point.source}: {point.rule}: {why}", flush=True)
    return why is None


def is_late(seen: Mapping[str, Any]) -> bool:
    """Return whether an emulated run was late, and is therefore excluded."""
    return bool(seen.get("late_s", 0.0) > LATE_S or seen.get("wait", 0.0) >= MUCH_WAITING)


# -- stored points ------------------------------------------------------------------------------


def write_points() -> None:
    """Write docs/reference/two-classes.json with the points that the page shows."""
    done = RUNS.known()
    points = [content for point in POINTS if (content := summary_of(point, done)) is not None]
    text = json.dumps({"date": date.today().isoformat(), "points": points}, indent=1)
    KEPT.write_text(text + "\n", "utf-8")
    print(KEPT)


def summary_of(point: Point, done: Mapping[str, Seen]) -> dict[str, Any] | None:
    """Return the means over the stored runs of a point; None without stored runs."""
    keys = [point.key(seed) for seed in range(1, point.runs + 1)]
    every = [done[key] for key in keys if key in done]
    runs = [seen for seen in every if not is_late(seen)]
    if not runs:
        return None
    head = {"source": point.source, "rule": point.rule, "min_rto_s": point.min_rto_s}
    content: dict[str, Any] = {**head, "runs": len(runs), "ratio": estimate(runs, "ratio")}
    if "goodput_bps" in runs[0]:
        content["goodput_bps"] = [estimate(runs, "goodput_bps", own) for own in (0, 1)]
    for name in ("buffer", "given_up", "timeouts", "recoveries", "again", "window"):
        if name in runs[0]:
            content[name] = [rounded(fmean(seen[name][own] for seen in runs)) for own in (0, 1)]
    if point.in_real_time:
        content |= {
            "on": ", ".join(sorted({seen["on"] for seen in runs})),
            "left_out": len(every) - len(runs),
            "late_p99_s": rounded(max(seen["late_s"] for seen in runs)),
        }
    return content


def estimate(runs: Iterable[Seen], name: str, own: int | None = None) -> dict[str, float | None]:
    """Return the mean and half width of the confidence interval over runs. If each run has a pair
    of values, one per class, `own` is the index of the class; otherwise it is None."""
    interval = Estimate.of([seen[name] if own is None else seen[name][own] for seen in runs])
    return {
        key: None if value is None else rounded(value) for key, value in interval.to_dict().items()
    }


def rounded(value: float) -> float:
    """Return a number rounded to `DIGITS` significant digits."""
    return float(f"{value:.{DIGITS}g}")


def chosen(pattern: str | None) -> Iterator[Point]:
    """Yield the points whose names match the pattern."""
    for point in POINTS:
        if re.search(pattern or "", point.key(1)):
            yield point


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="PATTERN", help="points whose names match")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--list", action="store_true", help="name points")
    parser.add_argument("--keep", action="store_true", help="write what the page shows")
    options = parser.parse_args()
    points = list(chosen(options.only))
    if options.keep:
        write_points()
    elif options.list:
        known = RUNS.known()
        for point in points:
            count = sum(point.key(seed) in known for seed in range(1, point.runs + 1))
            print(f"{point.key(1).rpartition(',')[0]}: {count} of {point.runs} runs")
    else:
        run(points, options.jobs)
