"""Cost of a run: CPU time (never wall-clock time) and peak memory of one process.

Cost is a slope: the CPU time of a long run less that of a short run, over the data
segments delivered in between. Starting up, reading the input and the warm-up cancel.
"""

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile
from typing import Literal

POLL_S = 0.02


class BenchError(Exception):
    """A peer or our own run did not do what it was asked."""


def require_release_build() -> None:
    """Exit with a message if the installed lasthop is a debug build: it is slower."""
    from lasthop import _core

    if _core.PROFILE != "release":
        message = f"lasthop is a {_core.PROFILE} build: benches need a release build"
        sys.exit(f"error: {message}\nhint: run `make build`")


@dataclass(frozen=True)
class Process:
    """A process that has ended."""

    output: str
    cpu_s: float
    wall_s: float
    peak_rss_mb: float


@dataclass(frozen=True)
class Run:
    """One simulation run."""

    cpu_s: float
    #: Data segments delivered after the warm-up.
    segments: int
    #: Simulated time after the warm-up.
    measured_s: float
    peak_rss_mb: float


@dataclass(frozen=True)
class Cost:
    """Slope between a short and a long run of the same scenario."""

    short_s: float
    long_s: float
    #: CPU time of the whole long run.
    long_cpu_s: float
    us_per_segment: float
    segments_per_s: float
    peak_rss_mb: float

    def transmissions_per_s(self, per_segment: int) -> float:
        """Return the packets per second that a core sends over links or the air."""
        return per_segment / self.us_per_segment * 1e6


@dataclass(frozen=True)
class Beside:
    """Rounds of ours and of a peer in turn, so that both have met the same load."""

    ours: Sequence[Cost]
    peer: Sequence[Cost]

    @property
    def ratios(self) -> list[float]:
        """How many times cheaper a segment is here, round by round."""
        pairs = zip(self.ours, self.peer, strict=True)
        return [peer.us_per_segment / ours.us_per_segment for ours, peer in pairs]

    @property
    def ratio(self) -> float:
        """Return the median over the rounds: a disturbed round decides nothing."""
        return median(self.ratios)

    def undecided(self, goal: float) -> bool:
        """Some rounds reach the goal and some do not."""
        return min(self.ratios) < goal <= max(self.ratios)


def in_turn(ours: Callable[[], Cost], peer: Callable[[], Cost], goal: float, rounds: int) -> Beside:
    """Rounds of both; twice as many where they do not agree about the goal, either way."""
    compared = Beside([ours()], [peer()])
    while len(compared.ours) < rounds or (
        len(compared.ours) < 2 * rounds and compared.undecided(goal)
    ):
        compared = Beside([*compared.ours, ours()], [*compared.peer, peer()])
    return compared


def typical(costs: Sequence[Cost]) -> Cost:
    """The one with the median cost; of an even number the dearer of the two."""
    return sorted(costs, key=lambda cost: cost.us_per_segment)[len(costs) // 2]


class Stopped(BenchError):
    """A process took more CPU time than it was given."""


def limited(argv: Sequence[str], most_cpu_s: float, most_gb: float) -> list[str]:
    """A command that the kernel ends when it takes more CPU time, and that gets no more memory."""
    limits = [f"--cpu={math.ceil(most_cpu_s)}", f"--as={round(most_gb * 2**30)}"]
    return ["prlimit", *limits, "--", *argv]


def process(argv: Sequence[str], cwd: Path | None = None) -> Process:
    """Runs a command to its end.

    The peak is read from the kernel's high-water mark while the process runs: what `wait`
    reports is at least the memory of the parent at the fork.
    """
    start = time.monotonic()
    peak_kb = 0
    # Into files, as a pipe holds a few lines only, and no process reads it meanwhile.
    with (
        TemporaryFile("w+") as printed,
        TemporaryFile("w+") as complaints,
        subprocess.Popen(argv, cwd=cwd, stdout=printed, stderr=complaints, text=True) as child,
    ):
        while True:
            peak_kb = max(peak_kb, high_water_mark_kb(child.pid))
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(POLL_S)
        wall_s = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        complaints.seek(0)
        output, errors = printed.read(), complaints.read()
    if child.returncode == -signal.SIGXCPU or (
        child.returncode == -signal.SIGKILL and argv[0] == "prlimit"
    ):
        raise Stopped(f"`{' '.join(argv)}` took too much CPU time")
    if child.returncode != 0:
        raise BenchError(f"`{' '.join(argv)}` exited with {child.returncode}\n{errors.strip()}")
    return Process(output, usage.ru_utime + usage.ru_stime, wall_s, peak_kb / 1024)


def callgrind(argv: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Return the number of instructions of a command, and its standard output."""
    counter = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*counter, *argv], env=env, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        raise BenchError(f"`{' '.join(argv)}` exited with {done.returncode}\n{done.stderr}")
    return int(collected[1]), done.stdout


def high_water_mark_kb(pid: int | Literal["self"]) -> int:
    """Largest resident set of a process so far, in kB; 0 when it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def slope(run: Callable[[float], Run], short_s: float, long_s: float, repeats: int) -> Cost:
    """Cost per segment between runs of two durations, the median over rounds of one of each.

    Every round simulates the same. A median, not the smallest time, since a shared machine has fast
    minutes too, and more repetitions would meet more of them.
    """
    pairs = [(run(short_s), run(long_s)) for _ in range(repeats)]
    short, long = pairs[-1]
    segments = long.segments - short.segments
    if segments <= 0:
        raise BenchError(f"{long_s:g} s deliver no more segments than {short_s:g} s")
    return Cost(
        short_s=short_s,
        long_s=long_s,
        long_cpu_s=median(of_long.cpu_s for _, of_long in pairs),
        us_per_segment=median(b.cpu_s - a.cpu_s for a, b in pairs) / segments * 1e6,
        segments_per_s=long.segments / long.measured_s,
        peak_rss_mb=long.peak_rss_mb,
    )
