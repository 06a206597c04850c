"""Compare cells of 802.11n, ac and ax with ns-3: goodput, fairness and CPU time per TCP segment.

    python bench/aggregates.py                  makes the missing runs
    python bench/aggregates.py --only PATTERN   cases whose names match: "ax", "UDP", "survive"
    python bench/aggregates.py --cost           CPU time per TCP segment in both simulators
    python bench/aggregates.py --page           writes the tables of docs/validation.md

Each run of ns-3 is stored as a line of out/aggregates.jsonl. A stored run is not repeated.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import aggregates_page
import ours
from aggregates_cases import CASES, RULES, Case
from aggregates_compared import FILE, RUNS, compare, parsed, peer_run
from measure import BenchError, Cost, Run, process, require_release_build, slope
from peers import NS3_AGGREGATES, install_ns3

ROUNDS = 3


def run(cases: Sequence[Case]) -> None:
    """Run those simulations of ns-3 that are not stored yet, one process at a time."""
    done = RUNS.known()
    every = [(seed, case, key) for case in cases for seed, key in enumerate(case.keys, start=1)]
    plan = sorted((point for point in every if point[2] not in done), key=lambda point: point[0])
    for number, (seed, case, key) in enumerate(plan, start=1):
        seen = peer_run(case, seed)
        RUNS.add(key, seen)
        mbps = seen["goodput_bps"] / 1e6
        print(f"{number}/{len(plan)} {case.name}, {seed}: {mbps:.2f} Mb/s", flush=True)


def peer_cost(case: Case) -> Cost:
    """Return the CPU time per TCP segment in ns-3, without trace sources, which take CPU time."""

    def run_case(duration_s: float) -> Run:
        words = [str(duration_s), "1.5", "1", *case.argv, "--survive"]
        ended = process([str(NS3_AGGREGATES), *words])
        segments = parsed(ended.output).segments
        return Run(ended.cpu_s, segments, duration_s - 1.5, ended.peak_rss_mb)

    long_s = case.generation.peer_s
    return slope(run_case, 1.5 + (long_s - 1.5) / 4, long_s, repeats=1)


def costs() -> Iterator[tuple[Case, Sequence[Cost], Sequence[Cost]]]:
    """For each case with TCP, yield the case, its costs in lasthop, and its costs in ns-3. Runs of
    both simulators alternate.
    """
    for case in (case for case in CASES if case.flows.kind == "tcp"):
        pairs = [
            (ours.cost(FILE, 20.0, 120.0, 1, case.settings), peer_cost(case)) for _ in range(ROUNDS)
        ]
        yield case, [mine for mine, _ in pairs], [theirs for _, theirs in pairs]


def write_costs() -> None:
    """Measure the CPU time per TCP segment in both simulators, and add the results of every
    repetition to the file of runs. [us]"""
    for case, mine, theirs in costs():
        seen = {
            "ours_us": [cost.us_per_segment for cost in mine],
            "peer_us": [cost.us_per_segment for cost in theirs],
        }
        RUNS.add(f"cost, {case.name}", seen)
        print(f"{case.name}: {seen}", flush=True)


def stored_costs() -> Iterator[tuple[Case, Mapping[str, Any]]]:
    """Yield each case whose costs are stored, and these costs."""
    done = RUNS.known()
    for case in CASES:
        if seen := done.get(f"cost, {case.name}"):
            yield case, seen


def main(only: str, *, cost: bool, page: bool) -> int:
    """Run the cases and check their results, or measure costs, or write the page."""
    install_ns3()
    if cost:
        write_costs()
        return 0
    if page:
        aggregates_page.write(compare(CASES), compare(RULES), stored_costs())
        return 0
    cases = [case for case in (*CASES, *RULES) if re.search(only, case.name)]
    run(cases)
    missed: list[str] = []
    for compared in compare(cases):
        print("  ".join(aggregates_page.row(compared)))
        missed += compared.missed()
    print("\n".join(f"missed: {line}" for line in missed) or "all aims met")
    return 1 if missed else 0


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="PATTERN", default="", help="cases whose names match")
    parser.add_argument("--cost", action="store_true", help="CPU time per TCP segment")
    parser.add_argument("--page", action="store_true", help="write the tables of the page")
    options = parser.parse_args()
    try:
        sys.exit(main(options.only, cost=options.cost, page=options.page))
    except BenchError as error:
        sys.exit(f"error: {error}")
