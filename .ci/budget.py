"""CPU budget of `make test`: measure a unit of CPU time, and limit each stage to a number of units.

    budget.py calibrate FILE       run the calibration and append its CPU times to FILE
    budget.py report STAGES FILE   print the stages; exit with 1 if any exceeds 1.5 times its limit

The unit is the CPU time of a fixed Python loop plus the CPU time of a fixed compilation. Therefore
the limits are independent of the processor's speed. The unit is the mean over the calibrations
before and after the stages. Limits are in `budget.toml`, next to this file. A stage above its limit
gets a warning.

`STAGES` has one line per stage, written by `.ci/stage`: name, wall time, CPU time [s], exit status,
separated by tabs.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from statistics import mean
from typing import NamedTuple

HERE = Path(__file__).parent
ROUNDS = 2
"""Number of rounds in a calibration. Each round runs the loop and the compilation. [-]"""

FAILS_ABOVE = 1.5
"""A stage fails above this multiple of its limit. [-]"""


class Stage(NamedTuple):
    """Measurements of one stage of `make test`: a line of the file STAGES."""

    name: str
    wall_s: float
    cpu_s: float
    status: int


def cpu_of_children_s() -> float:
    """Return the CPU time of all child processes that have ended. [s]"""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def loop_s() -> float:
    """Return the CPU time of the fixed Python loop, in a separate process. [s]"""
    before_s = cpu_of_children_s()
    code = (
        "table, total = {}, 0.0\n"
        "def loop(table, total):\n"
        "    for step in range(6_000_000):\n"
        "        total += 0.5 * step\n"
        "        if step % 8 == 0:\n"
        "            table[step & 1023] = table.get(step & 511, 0) + 1\n"
        "loop(table, total)\n"
    )
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
    return cpu_of_children_s() - before_s


def compile_s() -> float:
    """Return the CPU time of compiling the fixed Rust program. [s]"""
    before_s = cpu_of_children_s()
    with tempfile.TemporaryDirectory() as out:
        command = ["rustc", "--edition=2024", "--crate-type=lib", "--out-dir", out]
        command += ["-Copt-level=1", "-Ccodegen-units=1", str(HERE / "fixed_compile.rs")]
        subprocess.run(command, check=True, env={**os.environ, "RUSTFLAGS": ""})
    return cpu_of_children_s() - before_s


def calibrate(file: Path) -> None:
    """Run the calibration and append the CPU times of its rounds to `file`."""
    rounds = json.loads(file.read_text()) if file.exists() else []
    rounds += [{"loop_s": loop_s(), "compile_s": compile_s()} for _ in range(ROUNDS)]
    file.write_text(json.dumps(rounds))


def unit_s(file: Path) -> float:
    """Return the unit, which is the mean CPU time of a round. [s]"""
    rounds = json.loads(file.read_text())
    return mean(times["loop_s"] + times["compile_s"] for times in rounds)


def read_stages(file: Path) -> list[Stage]:
    """Return the stages in the order in which they ended."""
    stages = []
    lines = file.read_text().splitlines() if file.exists() else []
    if not lines:
        sys.exit(f"error: {file}: no stage was measured")
    for line in lines:
        name, wall_s, cpu_s, status = line.split("\t")
        stages.append(Stage(name, float(wall_s), float(cpu_s), int(status)))
    return stages


def verdict(units: float, limit: float | None) -> str:
    """Return the remark on a stage for the table: empty, a warning or a failure."""
    if limit is None:
        return "FAILED: no limit in .ci/budget.toml"
    if units > FAILS_ABOVE * limit:
        return f"FAILED: above {FAILS_ABOVE} times its limit"
    return "warning: above its limit" if units > limit else ""


def report(stages: list[Stage], unit: float) -> bool:
    """Print a table of the stages; return whether all passed within their limits."""
    limits: dict[str, float] = tomllib.loads((HERE / "budget.toml").read_text())["limits"]
    total = Stage("total", 0.0, sum(stage.cpu_s for stage in stages), 0)
    print(f"one unit = {unit:.2f} s of CPU time (calibration of .ci/budget.py)")
    print(f"{'stage':28} {'wall [s]':>9} {'CPU [s]':>8} {'units':>6} {'limit':>6}")
    passed = True
    for stage in [*stages, total]:
        limit = limits.get(stage.name)
        units = stage.cpu_s / unit
        remark = verdict(units, limit)
        if stage.status:
            remark = f"FAILED: exit status {stage.status}"
        passed = passed and not remark.startswith("FAILED")
        wall = f"{stage.wall_s:9.0f}" if stage.wall_s else " " * 9
        most = "-" if limit is None else f"{limit:.0f}"
        print(
            f"{stage.name:28} {wall} {stage.cpu_s:8.0f} {units:6.0f} {most:>6}  {remark}".rstrip()
        )
    return passed


def main(arguments: list[str]) -> int:
    """Run the command `calibrate` or `report`."""
    match arguments:
        case ["calibrate", file]:
            calibrate(Path(file))
            return 0
        case ["report", stages, file]:
            return 0 if report(read_stages(Path(stages)), unit_s(Path(file))) else 1
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
