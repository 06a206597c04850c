"""Costs of lasthop: CPU time in a running process, memory in a new process, and cold start.

When this file is run as a program, it simulates a scenario and prints a JSON list of runs:

    ours.py FILE SETTINGS DURATION_S ...    simulates FILE for each duration in turn

SETTINGS is a JSON object of values by key path.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from measure import Cost, Run, high_water_mark_kb, process, require_release_build, slope

if TYPE_CHECKING:
    import lasthop

#: Modules that a cold start must not load.
HEAVY = ("matplotlib", "numpy", "pandas", "pyarrow", "scipy")


@dataclass(frozen=True)
class ColdStart:
    """Smallest times of several starts of a command, and the slow modules that the command
    loads."""

    command: str
    wall_s: float
    cpu_s: float
    heavy: list[str]


def cost(
    file: Path,
    short_s: float,
    long_s: float,
    repeats: int,
    settings: Mapping[str, object] = MappingProxyType({}),
) -> Cost:
    """Return the cost of a scenario. CPU times are measured in a process that has already
    simulated, and memory is measured in a new process with one long run."""
    [fresh] = worker(file, settings, [long_s])
    warm = iter(worker(file, settings, [short_s, *[short_s, long_s] * repeats]))
    next(warm)
    measured = slope(lambda _: next(warm), short_s, long_s, repeats)
    return replace(measured, peak_rss_mb=fresh.peak_rss_mb)


def worker(file: Path, settings: Mapping[str, object], durations: list[float]) -> list[Run]:
    """Run this file as a program in a new process, and return its runs."""
    words = [str(file), json.dumps(dict(settings)), *map(str, durations)]
    ended = process([sys.executable, __file__, *words])
    return [Run(**run) for run in json.loads(ended.output)]


def cold_starts(repeats: int) -> list[ColdStart]:
    """Measure the start of `import lasthop`, of `lasthop --help` and of the interpreter without
    imports."""
    python = sys.executable
    return [
        cold_start("python -c pass", [python, "-c", "pass"], repeats),
        cold_start("import lasthop", [python, "-c", "import lasthop"], repeats),
        cold_start("lasthop --help", [str(Path(python).parent / "lasthop"), "--help"], repeats),
    ]


def cold_start(command: str, argv: list[str], repeats: int) -> ColdStart:
    """Start a command several times to measure the times, and once more to list the modules that
    the command imports."""
    starts = [process(argv) for _ in range(repeats)]
    loaded = imported(argv)
    return ColdStart(
        command,
        min(start.wall_s for start in starts),
        min(start.cpu_s for start in starts),
        [name for name in HEAVY if name in loaded],
    )


def imported(argv: list[str]) -> set[str]:
    """Return the top-level modules that a Python command loads."""
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=True)
    names = (line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if "|" in line)
    return {name.partition(".")[0] for name in names}


def main(file: str, settings: str, durations: list[float]) -> None:
    """Simulate `file` for each duration, and print the runs. Memory is the growth compared with the
    idle interpreter."""
    idle_kb = high_water_mark_kb("self")
    import lasthop

    scenario = lasthop.Scenario(Path(file), json.loads(settings))
    runs = []
    for duration_s in durations:
        timed = scenario.with_("duration", f"{duration_s:g} s")
        start = time.process_time()
        result = lasthop.simulate(timed, replications=1, jobs=1)
        cpu_s = time.process_time() - start
        measured_s = duration_s - timed.typed.warmup_s
        growth_kb = high_water_mark_kb("self") - idle_kb
        runs.append(Run(cpu_s, segments(result, measured_s), measured_s, growth_kb / 1024))
    print(json.dumps([asdict(run) for run in runs]))


def segments(result: "lasthop.Result", measured_s: float) -> int:
    """Return the number of data segments that all TCP flows without a size limit delivered after
    the warm-up.

    In a network with a conflict graph, datagrams are included.
    """
    known = result.scenario.typed
    mss = {flow.name: flow.tcp.mss_bytes for flow in known.tcp_flows}
    if csma := result.scenario.get("csma"):
        mss = {f["name"]: f["mss_bytes"] for f in csma["flows"]}
    rates = {f["name"]: f["goodput_bps"]["mean"] for f in result.summary["flows"]}
    total: float = sum(rates[name] / 8 / mss[name] for name in rates.keys() & mss.keys())
    return round(total * measured_s)


if __name__ == "__main__":
    require_release_build()
    main(sys.argv[1], sys.argv[2], [float(duration) for duration in sys.argv[3:]])
