"""Cost of a run: CPU time (never wall-clock time) and peak memory of one process.

Cost is a slope: the difference of the CPU times of a long and a short run, divided by the
difference of their delivered data segments. The costs of the start, the input and the warm-up
cancel.
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
    """Error of lasthop, or of a simulator compared with lasthop, that did not run as requested."""


def require_release_build() -> None:
    """Exit with a message if the installed lasthop is a debug build, which is slower."""
    from lasthop import _core

    if _core.PROFILE != "release":
        message = f"lasthop is a {_core.PROFILE} build: benches need a release build"
        sys.exit(f"error: {message}\nhint: run `make build`")


@dataclass(frozen=True)
class Process:
    """Output and resource usage of a process that has ended."""

    output: str
    cpu_s: float
    wall_s: float
    peak_rss_mb: float


@dataclass(frozen=True)
class Run:
    """Resource usage and delivered segments of one simulation run."""

    cpu_s: float
    #: Number of data segments delivered after the warm-up.
    segments: int
    #: Simulated time after the warm-up.
    measured_s: float
    peak_rss_mb: float


@dataclass(frozen=True)
class Cost:
    """Cost of a scenario: the slope between a short and a long run."""

    short_s: float
    long_s: float
    #: CPU time of the whole long run.
    long_cpu_s: float
    us_per_segment: float
    segments_per_s: float
    peak_rss_mb: float

    def transmissions_per_s(self, per_segment: int) -> float:
        """Return the number of packets that one core transmits per second of CPU time, over links
        or the air. `per_segment` is the number of transmissions per delivered segment."""
        return per_segment / self.us_per_segment * 1e6


@dataclass(frozen=True)
class Paired:
    """Costs of lasthop and of another simulator (the peer). Runs of the two simulators
    alternate, so that the load of the machine affects both costs."""

    ours: Sequence[Cost]
    peer: Sequence[Cost]

    @property
    def ratios(self) -> list[float]:
        """Return the ratio of the peer's cost per segment to lasthop's, for each round."""
        pairs = zip(self.ours, self.peer, strict=True)
        return [peer.us_per_segment / ours.us_per_segment for ours, peer in pairs]

    @property
    def ratio(self) -> float:
        """Return the median ratio over the rounds. The median does not depend on a single disturbed
        round."""
        return median(self.ratios)

    def undecided(self, aim: float) -> bool:
        """Return whether some rounds reach the aim and others do not."""
        return min(self.ratios) < aim <= max(self.ratios)


def in_turn(ours: Callable[[], Cost], peer: Callable[[], Cost], aim: float, rounds: int) -> Paired:
    """Measure lasthop and the peer alternately for this number of rounds. Measure up to twice as
    many rounds while some ratios reach the aim and others do not."""
    compared = Paired([ours()], [peer()])
    while len(compared.ours) < rounds or (
        len(compared.ours) < 2 * rounds and compared.undecided(aim)
    ):
        compared = Paired([*compared.ours, ours()], [*compared.peer, peer()])
    return compared


def typical(costs: Sequence[Cost]) -> Cost:
    """Return the median of the costs. For an even number of costs, return the higher of the two
    middle costs."""
    return sorted(costs, key=lambda cost: cost.us_per_segment)[len(costs) // 2]


class Stopped(BenchError):
    """Error of a process that the kernel ended at its limit of CPU time."""


def limited(argv: Sequence[str], most_cpu_s: float, most_gb: float) -> list[str]:
    """Return a command that runs `argv` with a limit of CPU time and of memory."""
    limits = [f"--cpu={math.ceil(most_cpu_s)}", f"--as={round(most_gb * 2**30)}"]
    return ["prlimit", *limits, "--", *argv]


def process(argv: Sequence[str], cwd: Path | None = None) -> Process:
    """Run a command, and return its output and resource usage.

    The peak memory is read from the kernel's high-water mark while the process runs. The value that
    `wait4` reports is not used, because it includes the memory of the parent process at the fork.
    """
    start = time.monotonic()
    peak_kb = 0
    # The output is written to files, because a pipe that nobody reads stores only a few lines.
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


ONE_LIBC = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-ERMS,-FSRM:"
    "glibc.cpu.x86_non_temporal_threshold=0x10000000"
}
"""Environment variables that make the C library choose the same functions, such as `memcpy`, on
every processor."""


def callgrind(argv: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Return the number of instructions that a command executes, and its standard output."""
    counter = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    env = {**(os.environ if env is None else env), **ONE_LIBC}
    done = subprocess.run([*counter, *argv], env=env, capture_output=True, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        raise BenchError(f"`{' '.join(argv)}` exited with {done.returncode}\n{done.stderr}")
    return int(collected[1]), done.stdout


def high_water_mark_kb(pid: int | Literal["self"]) -> int:
    """Return the largest resident set of a process so far [kB]. Return 0 when the process has
    ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def slope(run: Callable[[float], Run], short_s: float, long_s: float, repeats: int) -> Cost:
    """Return the cost per segment, computed as a slope between short and long runs: the median over
    rounds with one short and one long run each.

    All rounds simulate the same scenario. The minimum is not used. On a shared machine some minutes
    are fast, so the minimum would depend on the number of rounds.
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
