"""Check that repeated emulations of an example in simulated time print the same bytes, and measure
their CPU time.

    python bench/virtual.py                 all examples that can be emulated; an hour, as root
    python bench/virtual.py --only seven    examples whose names match
    python bench/virtual.py --cost          only the CPU time of one example

The runs of an example differ in the user, the folder and the load of the machine. All of them must
print the same bytes. The file bench/out/virtual-TIME.jsonl has one line per run.
"""

import argparse
import hashlib
import itertools
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from measure import require_release_build
from runs import OUT, Runs

from lasthop.uml.kernel import find_kernel

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SETTINGS = ("duration=10s", "replications=1")
WARMUP = "warmup=2s"
"""Warm-up for examples whose own warm-up is not shorter than the duration of these runs."""
TEN_RUN_EXAMPLES = ("seven-downloads.toml", "hotspot.toml", "calls.toml")
"""Examples that run under ten conditions. The others run under two conditions."""
USERS = (65534, 64321)
"""User IDs of two unprivileged users. The machine needs no accounts with these IDs."""
FOLDERS = ("a", "a much longer name/with a folder in it")
LOADS = (0, 8)
"""Numbers of busy loops that load the machine during a run."""
BUSY = "while :; do :; done"
COST = ("seven-downloads.toml", "duration=20s", "replications=1")
MAX_COST_S = 15.0
"""Limit of the CPU time of the example, with the boot of its kernel and without the test of
repeatability. [s]"""


@dataclass(frozen=True)
class Condition:
    """Condition of a run. The condition must not change the output of the run."""

    user: int
    folder: str
    busy_loops: int


ALL_CONDITIONS = tuple(Condition(*each) for each in itertools.product(USERS, FOLDERS, LOADS))
TEN_CONDITIONS = (*ALL_CONDITIONS, ALL_CONDITIONS[0], ALL_CONDITIONS[-1])
TWO_CONDITIONS = (ALL_CONDITIONS[0], ALL_CONDITIONS[-1])


@dataclass(frozen=True)
class RunResult:
    """Output and cost of a run."""

    exit_code: int
    sha256: str
    error: str
    processor_s: float


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Load the machine with this number of busy loops until the block ends."""
    processes = [subprocess.Popen(["sh", "-c", BUSY]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run(example: str, condition: Condition, *settings: str) -> RunResult:
    """Emulate an example under a condition: user, folder and load of the machine."""
    with tempfile.TemporaryDirectory(prefix="bench-virtual-") as home:
        folder = Path(home, condition.folder)
        folder.mkdir(parents=True)
        shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
        for path in (Path(home), *Path(home).rglob("*")):
            os.chown(path, condition.user, condition.user)
        command = [sys.executable, "-m", "lasthop", "emulate", example, "--virtual", "--json", "-q"]
        for setting in settings:
            command += ["--set", setting]
        before_s = children_s()
        with busy(condition.busy_loops):
            done = subprocess.run(
                [*as_user(condition.user), *command],
                cwd=folder,
                env={**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/cache"},
                capture_output=True,
                check=False,
            )
            processor_s = children_s() - before_s
        digest = hashlib.sha256(done.stdout).hexdigest()
        return RunResult(done.returncode, digest, done.stderr.decode(), round(processor_s, 2))


def as_user(user: int) -> list[str]:
    """Return the words of a command line that run the remaining command as an unprivileged user."""
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]


def children_s() -> float:
    """Return the CPU time of all child processes that have ended. [s]"""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def settings_of(example: str) -> tuple[str, ...]:
    """Return the settings with which an example is run."""
    text = (EXAMPLES / example).read_text()
    warmup = re.search(r'^warmup = "(\d+) s"', text, re.MULTILINE)
    return (*SETTINGS, WARMUP) if warmup and int(warmup[1]) >= 10 else SETTINGS


def compare_runs(example: str, conditions: tuple[Condition, ...], runs: Runs) -> bool:
    """Run an example under each condition. Return whether all runs print the same bytes, or the
    example is refused because of its content."""
    printed = []
    for number, condition in enumerate(conditions):
        result = run(example, condition, *settings_of(example))
        if result.exit_code == 2:
            refusal = result.error.partition("\n")[0]
            print(f"{example}: not emulated: {refusal}", flush=True)
            return refusal.startswith(f"error: {example}:")
        runs.add(f"{example} {number}", {**asdict(condition), **asdict(result)})
        printed.append((result.exit_code, result.sha256))
    is_same = len(set(printed)) == 1 and printed[0][0] == 0
    verdict = "the same bytes" if is_same else f"DIFFERENT: {len(set(printed))} outputs"
    print(f"{example}: {len(printed)} runs, {verdict} ({printed[0][1][:12]})", flush=True)
    return is_same


def check_cost() -> bool:
    """Print the CPU time of the example. Return whether it is at most `MAX_COST_S`."""
    example, *settings = COST
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        command = [sys.executable, "-m", "lasthop", "emulate", str(EXAMPLES / example), "--virtual"]
        for setting in settings:
            command += ["--set", setting]
        costs = []
        for _ in range(4):
            before_s = children_s()
            subprocess.run(command, env=environment, check=True, capture_output=True)
            costs.append(children_s() - before_s)
    first, *later = costs
    cost_s = sorted(later)[1]
    print(
        f"{example} ({', '.join(settings)}): {cost_s:.1f} s of CPU time "
        f"({min(later):.1f} to {max(later):.1f}), the first run with the self-test {first:.1f} s; "
        f"limit: {MAX_COST_S:g} s"
    )
    return cost_s <= MAX_COST_S


def main() -> int:
    """Run the checks; return 1 if one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="run only the examples whose names match"
    )
    parser.add_argument("--cost", action="store_true", help="measure only the CPU time")
    options = parser.parse_args()
    require_release_build()
    kernel = find_kernel()
    print(f"{kernel.program}: Linux {kernel.version}", flush=True)
    checks = [check_cost()]
    if not options.cost:
        runs = Runs(OUT / f"virtual-{int(time.time())}.jsonl")
        for path in sorted(EXAMPLES.glob("*.toml")):
            if re.search(options.only, path.name):
                conditions = TEN_CONDITIONS if path.name in TEN_RUN_EXAMPLES else TWO_CONDITIONS
                checks.append(compare_runs(path.name, conditions, runs))
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
