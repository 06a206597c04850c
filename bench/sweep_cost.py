"""Cost of a point in a sweep compared with the cost of the engine only, and the memory of many
points.

    python bench/sweep_cost.py

Cost is the CPU time of all threads, computed as a slope between sweeps of few and of many points.
The fixed cost of a sweep therefore cancels. The cost per point includes checking, dividing the
sweep into chunks, completing its files, and writing tables as Parquet and CSV. For comparison, the
engine is called directly for the same checked scenarios. The sweep and the engine are measured
alternately in one process. The result is the median of many short rounds, since the speed of a
shared machine changes by more than the measured difference. Memory is the peak resident set of a
new process.
"""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from measure import BenchError, require_release_build

POINT_S = 0.005
"""CPU time of one point of the measured sweep. The simulated time of a point is chosen
accordingly. [s]"""

MAX_RATIO = 1.2
"""Aim: the cost of a point in a sweep, divided by the cost of the engine for this point, is at
most this value."""

MAX_GROWTH_MB = 60.0
"""Aim: the peak memory with 10,000 points minus that with 1,000 points is at most this value.
[MB]"""

ROUNDS = 40
FEW, MANY = 50, 300

SCENARIO = Path(__file__).parents[1] / "examples" / "hotspot.toml"
SETTINGS = [("replications", 1), ("warmup", "1 s")]

INSIDE = """
import json, sys, tempfile, time
import lasthop as lh
from lasthop import _core
rounds, counts, length_s = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
base = lh.Scenario(sys.argv[4], [*json.loads(sys.argv[5]), ("duration", f"{length_s} s")])

def engine(count):
    made = [lh.Scenario(base, {"seed": seed}).checked for seed in range(1, count + 1)]
    began = time.process_time()
    for each in made:
        _core.simulate(each, 1, None)
    return time.process_time() - began

def sweep(count):
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        lh.sweep(base, {"seed": f"1..{count}"}, directory=folder, jobs=1).save(folder)
        return time.process_time() - began

who = [engine, sweep] if rounds else [sweep]
if rounds:
    sweep(10)  # Imports what it needs.
spent = [[[f(count) for count in counts] for f in who] for _ in range(max(1, rounds))]
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([spent, int(peak.split()[1]) / 1e3]))
"""
"""Program that measures CPU times and prints them by round, kind (engine or sweep) and number
of points, with the peak memory. With 0 rounds it only runs the sweep."""


def run(rounds: int, counts: list[int], length_s: float) -> tuple[Any, float]:
    """Return the CPU times [s] and the peak memory [MB] of a new process."""
    arguments = [str(rounds), json.dumps(counts), f"{length_s:.3f}", str(SCENARIO)]
    done = subprocess.run(
        [sys.executable, "-c", INSIDE, *arguments, json.dumps(SETTINGS)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BenchError(f"{counts} points: {done.stderr.strip()[-400:]}")
    spent, peak_mb = json.loads(done.stdout)
    return spent, peak_mb


def length_of_a_point_s() -> float:
    """Return the simulated time of a point whose CPU time is `POINT_S`. [s]"""
    length_s = 20.0
    for _ in range(3):
        spent, _ = run(1, [200], length_s)
        length_s *= POINT_S / (spent[0][0][0] / 200)
    return length_s


def main() -> int:
    """Measure, print, and write out/sweep_cost.json. Return 1 if an aim is missed."""
    length_s = length_of_a_point_s()
    spent, _ = run(ROUNDS, [FEW, MANY], length_s)
    slopes = [[(many - few) / (MANY - FEW) for few, many in each] for each in spent]
    ratios = quantiles([ours / alone for alone, ours in slopes], n=4)
    ratio = ratios[1]
    alone_s, ours_s = (median(each) for each in zip(*slopes, strict=True))
    print(
        f"a point of {length_s:.0f} s: {1e3 * alone_s:.2f} ms by itself, {1e3 * ours_s:.2f} ms in "
        f"a sweep; ratio {ratio:.3f} (half of {ROUNDS} rounds {ratios[0]:.3f} to {ratios[2]:.3f})"
    )
    peaks = {count: run(0, [count], 2.0)[1] for count in (1_000, 10_000)}
    growth_mb = peaks[10_000] - peaks[1_000]
    print(f"peak of 1,000 points {peaks[1_000]:.0f} MB, of 10,000 points {growth_mb:.0f} MB more")
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    content = {"ratio": ratio, "ratios": ratios, "point_ms": 1e3 * alone_s, "peaks_mb": peaks}
    (out / "sweep_cost.json").write_text(json.dumps(content, indent=2) + "\n")
    missed = [
        *([f"a point costs {ratio:.3f} of one by itself"] if ratio > MAX_RATIO else []),
        *([f"10,000 points take {growth_mb:.0f} MB more"] if growth_mb > MAX_GROWTH_MB else []),
    ]
    for each in missed:
        print(f"aim missed: {each}")
    return 1 if missed else 0


if __name__ == "__main__":
    require_release_build()
    sys.exit(main())
