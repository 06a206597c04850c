"""What a point costs in a sweep beside the engine alone, and what memory many points take.

    python bench/sweep_cost.py

Cost is CPU time of all threads, the slope between a sweep of few and of many points, so that
importing and starting cancel: checking the points, cutting chunks, sealing parts, tables as Parquet
and CSV. The peer is the engine called for the same checked scenarios, in turn with ours. Memory is
the peak resident set of a fresh process.
"""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from measure import BenchError

POINT_S = 0.005
"""Processor time that a point is to take. [s]"""

MOST_RATIO = 1.2
"""Aim: a point in a sweep costs at most so much of one by itself."""

MOST_GROWTH_MB = 60.0
"""Aim: peak memory of 10,000 points less that of 1,000. [MB]"""

ROUNDS = 5
FEW, MANY = 200, 1200

SCENARIO = Path(__file__).parents[1] / "examples" / "hotspot.toml"
SETTINGS = [("replications", 1), ("warmup", "1 s")]

INSIDE = """
import json, resource, sys, tempfile, time
import lasthop as lh
from lasthop import _core
what, count, length_s = sys.argv[1], int(sys.argv[2]), sys.argv[3]
base = lh.Scenario(sys.argv[4], [*json.loads(sys.argv[5]), ("duration", f"{length_s} s")])
if what == "engine":
    made = [lh.Scenario(base, {"seed": seed}).checked for seed in range(1, count + 1)]
    began = time.process_time()
    for each in made:
        _core.simulate(each, 1, None)
    cpu_s = time.process_time() - began
else:
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        lh.sweep(base, {"seed": f"1..{count}"}, directory=folder, jobs=1).save(folder)
        cpu_s = time.process_time() - began
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([cpu_s, int(peak.split()[1]) / 1e3]))
"""


def run(what: str, count: int, length_s: float) -> tuple[float, float]:
    """Processor time [s] and peak memory [MB] of one fresh process."""
    arguments = [what, str(count), f"{length_s:.3f}", str(SCENARIO), json.dumps(SETTINGS)]
    done = subprocess.run(
        [sys.executable, "-c", INSIDE, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BenchError(f"{what} of {count} points: {done.stderr.strip()[-400:]}")
    cpu_s, peak_mb = json.loads(done.stdout)
    return cpu_s, peak_mb


def slope_s(what: str, length_s: float) -> float:
    """Processor time of a point. [s]"""
    few, _ = run(what, FEW, length_s)
    many, _ = run(what, MANY, length_s)
    return (many - few) / (MANY - FEW)


def length_of_a_point_s() -> float:
    """Simulated time of a point that takes `POINT_S`. [s]"""
    length_s = 20.0
    for _ in range(3):
        length_s *= POINT_S / (run("engine", 200, length_s)[0] / 200)
    return length_s


def main() -> int:
    """Measure, print, and write ``out/sweep_cost.json``."""
    length_s = length_of_a_point_s()
    rounds = [(slope_s("engine", length_s), slope_s("sweep", length_s)) for _ in range(ROUNDS)]
    ratios = [ours / alone for alone, ours in rounds]
    ratio = median(ratios)
    alone_ms, ours_ms = (1e3 * median(each) for each in zip(*rounds, strict=True))
    print(
        f"a point of {length_s:.0f} s: {alone_ms:.2f} ms by itself, {ours_ms:.2f} ms in a sweep; "
        f"ratio {ratio:.3f} ({min(ratios):.3f} to {max(ratios):.3f} in {ROUNDS} rounds)"
    )
    peaks = {count: run("sweep", count, 2.0)[1] for count in (1_000, 10_000)}
    growth_mb = peaks[10_000] - peaks[1_000]
    print(f"peak of 1,000 points {peaks[1_000]:.0f} MB, of 10,000 points {growth_mb:.0f} MB more")
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    found = {"ratio": ratio, "ratios": ratios, "point_ms": alone_ms, "peaks_mb": peaks}
    (out / "sweep_cost.json").write_text(json.dumps(found, indent=2) + "\n")
    missed = [
        *([f"a point costs {ratio:.3f} of one by itself"] if ratio > MOST_RATIO else []),
        *([f"10,000 points take {growth_mb:.0f} MB more"] if growth_mb > MOST_GROWTH_MB else []),
    ]
    for each in missed:
        print(f"aim missed: {each}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
