"""Runs the cases of `cake_points.py` through the kernel's `sch_cake`, in user-mode Linux.

    python bench/cake_kernel.py                    makes the missing runs
    python bench/cake_kernel.py --only TCP         only cases whose names match
    python bench/cake_kernel.py --minutes 40       starts no run after this time
    python bench/cake_kernel.py --status           prints the number of finished runs
    python bench/cake_kernel.py --check            checks the shaper in simulated time

All runs are in simulated time. Each finished run is stored as a line of out/cake-kernel.jsonl, and
is not repeated. One boot of user-mode Linux makes one run.
"""

import argparse
import re
import time
from pathlib import Path

import uml
from cake_points import CASES, SEEDS, Case
from measure import require_release_build
from runs import OUT, Runs

RUNS = Runs(OUT / "cake-kernel.jsonl")
SIDE = "kernel"
INSIDE = Path(__file__).with_name("cake_inside.py")
BATCHES = tuple((seed,) for seed in SEEDS)
"""Seeds of the runs that one boot makes. The first batch of all cases precedes the second. A boot
makes only one run: with seven runs in one boot, the fifth and later runs of "TCP, dual-srchost"
differ from the same runs in boots of their own. The cause is not known."""
GAP_NS = 1_200_000
"""Transmission time of 1,500 bytes at 10 Mbit/s. [ns]"""
GAP_ERROR_NS, MEAN_ERROR_NS = 2_000, 1.0
"""Largest accepted errors of one gap, and of the mean gap. The simulated clock advances by 0.1 us
when it is read. [ns]"""


def missing(chosen: list[Case]) -> list[tuple[Case, tuple[int, ...]]]:
    """Return the cases and batches that are not stored yet."""
    done = RUNS.known()
    return [
        (case, batch)
        for batch in BATCHES
        for case in chosen
        if any(case.key(SIDE, seed) not in done for seed in batch)
    ]


def check() -> None:
    """Check that CAKE's shaper has the exact rate and exact gaps in simulated time."""
    seen = uml.answer(INSIDE, "spacing")
    print(seen)
    is_exact = (
        abs(seen["min"] - GAP_NS) <= GAP_ERROR_NS
        and abs(seen["max"] - GAP_NS) <= GAP_ERROR_NS
        and abs(seen["mean"] - GAP_NS) <= MEAN_ERROR_NS
    )
    if not is_exact:
        raise SystemExit(f"expected gaps of {GAP_NS} ns")


def make(chosen: list[Case], budget_s: float) -> None:
    """Make the runs that are not stored yet, until the time limit is reached."""
    until_s = time.monotonic() + budget_s
    todo = missing(chosen)
    for number, (case, batch) in enumerate(todo, 1):
        if time.monotonic() > until_s:
            print(f"stopped: {len(todo) - number + 1} batches are left")
            return
        began_s = time.monotonic()
        results = uml.answer(INSIDE, case.name, *map(str, batch))
        for seed, result in zip(batch, results, strict=True):
            RUNS.add(case.key(SIDE, seed), result)
        lasted_s = time.monotonic() - began_s
        print(f"{number} of {len(todo)}: {case.name}, seeds {batch}: {lasted_s:.0f} s", flush=True)


def main() -> None:
    """Run the parts that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="PATTERN", help="only cases that match")
    parser.add_argument("--minutes", type=float, default=float("inf"), metavar="N")
    parser.add_argument("--status", action="store_true", help="print what has been run")
    parser.add_argument("--check", action="store_true", help="check the shaper")
    asked = parser.parse_args()
    chosen = [case for name, case in CASES.items() if re.search(asked.only, name)]
    if asked.status:
        left = sum(len(batch) for _, batch in missing(chosen))
        print(f"{len(chosen) * len(SEEDS) - left} of {len(chosen) * len(SEEDS)} runs")
        return
    if lacks := uml.missing():
        raise SystemExit(lacks)
    if asked.check:
        check()
        return
    make(chosen, 60 * asked.minutes)


if __name__ == "__main__":
    require_release_build()
    main()
