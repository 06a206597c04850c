"""Count the instructions per scenario of `lasthop.simulate_many`, and of `lasthop.simulate` in a
loop.

    python bench/many_cost.py

Each scenario is one second of a small cell. The count is the slope between few and many scenarios
under callgrind, with one thread, so that imports cancel. For comparison, the engine is called
directly for scenarios that were checked before. The result of `simulate` is read once without and
once with a data frame. `simulate_many` is measured with a seed for each scenario, and also with a
setting for each, which must be checked.
"""

import json
import os
import sys
from pathlib import Path

from measure import BenchError, callgrind, require_release_build

FEW, MANY = 50, 250

MAX_RATIO = 1.0
"""Aim: `simulate_many` with seeds needs at most this many times the instructions of the engine.

The aim was set after CPU times had been measured roughly; the first count was 0.86.
"""

INSIDE = """
import sys
import lasthop as lh
from lasthop import _core

kind, count = sys.argv[1], int(sys.argv[2])
base = lh.Scenario({
    "duration": "1 s",
    "warmup": "0.2 s",
    "cell": {"phy": "802.11b"},
    "station": {"sender": {"upload": 1}, "reader": {"count": 3, "download": 1}},
})
quantities = ["cells.jain", "stations.goodput_bps"]
seeds = range(1, count + 1)
windows = [1 + seed for seed in seeds]

def of_summary(result):
    return [station["goodput_bps"]["mean"] for station in result.summary["stations"]]

def many(**options):
    return lh.simulate_many(base, quantities=quantities, seeds=seeds, jobs=1, **options)

if kind == "engine":
    made = lh.Scenario(base, {"seed": 1}).checked
    for _ in seeds:
        _core.simulate(made, 1)
elif kind == "loop":
    for seed in seeds:
        of_summary(lh.simulate(base, seed=seed, jobs=1))
elif kind == "loop with data frames":
    for seed in seeds:
        lh.simulate(base, seed=seed, jobs=1).stations["goodput_bps"].to_numpy()
elif kind == "loop with settings":
    for seed, window in zip(seeds, windows):
        of_summary(lh.simulate(base, seed=seed, settings={"cell.cwmin": window}, jobs=1))
elif kind == "many":
    many()
elif kind == "many with settings":
    many(settings={"cell.cwmin": windows})
"""
"""Program that simulates a number of scenarios in one way."""

KINDS = (
    "engine",
    "loop",
    "loop with data frames",
    "many",
    "loop with settings",
    "many with settings",
)


def instructions(kind: str, count: int) -> int:
    """Return the instructions of a process that simulates `count` scenarios."""
    variables = {**os.environ, "PYTHONHASHSEED": "0"}
    return callgrind([sys.executable, "-c", INSIDE, kind, str(count)], env=variables)[0]


def per_scenario(kind: str) -> float:
    """Return the instructions per scenario."""
    return (instructions(kind, MANY) - instructions(kind, FEW)) / (MANY - FEW)


def main() -> int:
    """Measure, print, and write out/many_cost.json. Return 1 if the aim is missed."""
    costs: dict[str, float] = {}
    for kind in KINDS:
        costs[kind] = per_scenario(kind)
        ratio = costs[kind] / costs["engine"]
        print(f"{kind:24}{costs[kind] / 1e6:8.2f} million instructions{ratio:7.2f}", flush=True)
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    (out / "many_cost.json").write_text(json.dumps(costs, indent=2) + "\n")
    ratio = costs["many"] / costs["engine"]
    if ratio > MAX_RATIO:
        print(f"aim missed: a scenario of simulate_many costs {ratio:.2f} of the engine's run")
        return 1
    return 0


if __name__ == "__main__":
    require_release_build()
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"error: {error}")
