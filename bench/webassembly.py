"""CPU time of the engine as WebAssembly, compared with the native engine, in six scenarios.

    python bench/webassembly.py             slopes between a short and a long run, medians of rounds
    python bench/webassembly.py --rounds 5

Node runs the engine of the web page as a browser would. The two engines run alternately. The time
to load and compile the WebAssembly engine is printed separately, since a slope does not include
this time.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import hot_spots
from measure import BenchError, Cost, Run, process, slope

ROOT = Path(__file__).parent.parent
ENGINE = ROOT / "python/lasthop/workbench/page/engine.wasm"
SIMULATE = ROOT / "workbench/node/simulate.mjs"
#: Aim: largest ratio of the CPU time of WebAssembly to that of the native engine.
AIM = 2.5
#: Duration of the short run divided by that of the long run.
PART = 0.2

#: Scenarios of `examples`, and their simulated times. [s]
SCENARIOS = {
    "hotspot": 6000.0,
    "pifs": 6000.0,
    "dumbbell": 400.0,
    "csma-hops": 20000.0,
    "vbs": 3000.0,
    "aggregates": 60.0,
}


@dataclass(frozen=True)
class Pair:
    """Costs of a scenario in one round, as WebAssembly and native."""

    native: Cost
    browser: Cost

    @property
    def ratio(self) -> float:
        """Return the CPU time per segment of WebAssembly divided by that of the native engine."""
        return self.browser.us_per_segment / self.native.us_per_segment


def runner(command: list[str], *between: str) -> Callable[[float], Run]:
    """Return a function that runs one replication of a scenario for a given duration."""

    def run(duration_s: float) -> Run:
        warmup_s = 1.0
        settings = [f"duration={duration_s:g} s", f"warmup={warmup_s:g} s", "replications=1"]
        ended = process([*command, *between, *settings])
        [totals] = json.loads(ended.output)["totals"]
        segments = round(totals["packets_delivered"]["mean"])
        return Run(ended.cpu_s, segments, duration_s - warmup_s, ended.peak_rss_mb)

    return run


def rounds(name: str, count: int) -> list[Pair]:
    """Measure both engines alternately."""
    node = shutil.which("node")
    if node is None or not ENGINE.exists():
        raise BenchError("needs Node and the built page: make workbench")
    file = str(ROOT / "examples" / f"{name}.toml")
    native = runner([str(hot_spots.program("summary")), file], "1")
    browser = runner([node, str(SIMULATE), str(ENGINE), file])
    long_s = SCENARIOS[name]

    def cost(of: Callable[[float], Run]) -> Cost:
        return slope(of, PART * long_s, long_s, repeats=1)

    return [Pair(cost(native), cost(browser)) for _ in range(count)]


def compile_s() -> float:
    """Return the CPU time to load the WebAssembly engine and check a scenario. [s]"""
    node = shutil.which("node") or "node"
    argv = [node, str(SIMULATE), str(ENGINE), str(ROOT / "examples/hotspot.toml")]
    return process([*argv, "duration=0.1 s", "warmup=0 s", "replications=1"]).cpu_s


def main() -> int:
    """Print a table. Return 1 if a scenario misses the aim."""
    parser = argparse.ArgumentParser(description="WebAssembly beside native")
    parser.add_argument("--rounds", type=int, default=3)
    count = parser.parse_args().rounds
    print(f"CPU time per segment, median of {count} rounds [us]")
    print(f"{'':12} {'native':>8} {'browser':>8} {'ratio':>6}")
    missed = []
    for name in SCENARIOS:
        pairs = rounds(name, count)
        ratio = median(pair.ratio for pair in pairs)
        native = median(pair.native.us_per_segment for pair in pairs)
        browser = median(pair.browser.us_per_segment for pair in pairs)
        print(f"{name:12} {native:8.3f} {browser:8.3f} {ratio:6.2f}", flush=True)
        if ratio > AIM:
            missed.append(f"{name}: {ratio:.2f} times native, aim {AIM}")
    print(f"loading and compiling the engine: {compile_s():.2f} s")
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BenchError, subprocess.SubprocessError) as error:
        sys.exit(f"error: {error}")
