"""Run emulations in simulated time, inside a user-mode Linux."""

import os
import pickle
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from lasthop.answers.saving import in_place_of, naming
from lasthop.emulated.emulation import SIMULATED, Emulation
from lasthop.emulation.request import Progress, Request
from lasthop.errors import UserError
from lasthop.scenario.transports import Tcp
from lasthop.uml.boot import State, UmlError, run
from lasthop.uml.kernel import find_kernel
from lasthop.uml.repeatable import is_repeatable

REQUEST, RESULT, PROGRESS, CAPTURE = "request.pickle", "result.pickle", "progress", "capture.pcapng"
PATHS = "paths"
"""Name of the file with the module paths. The file is in the exchange folder, to which this process
and the user-mode Linux have access.
"""
INSIDE = Path("/exchange")
"""Path of the exchange folder inside the user-mode Linux."""
START = f"""
import os, sys
with open("{INSIDE / PATHS}", "rb") as file:
    sys.path[:0] = os.fsdecode(file.read()).split("\\0")
from lasthop.emulation.inside import main
main()
"""
"""Python program that runs inside the user-mode Linux. It first adds the module paths of this
process to its own, so that the same modules are imported."""
KERNEL_FOLDERS = ("/proc", "/sys")
"""Folders that the user-mode Linux provides itself, so that programs cannot run in them."""
ESTIMATE_AFTER_S = 20.0
"""CPU time after which the total CPU time of a run is first estimated. [s]"""
BPF_CONGESTION = "compound"
"""Congestion control that needs a BPF program."""
FOLLOW_OPTIONS = {"initial_rto": ("CGROUP_BPF",)}
"""Kernel configuration options that a setting in `follow` needs, by the name of the setting."""


def emulate_in_simulated_time(
    request: Request, progress: Progress | None, max_time_s: float
) -> Emulation:
    """Emulate a scenario inside a user-mode Linux.

    Raises
    ------
    UserError
        If no user-mode Linux is installed, an option of its configuration is missing, or the run
        would use more CPU time than `max_time_s`.
    """
    check(request)
    folder = current_folder() if request.programs else None
    kernel = find_kernel()
    kernel.check(option for each in request.follow for option in FOLLOW_OPTIONS.get(each, ()))
    repeatable = is_repeatable(kernel)
    inside = replace(
        request, quiet=False, pcapng=None if request.pcapng is None else INSIDE / CAPTURE
    )
    monitor = RunMonitor(request, progress, max_time_s)
    results: list[bytes] = []

    def collect(exchange: Path) -> None:
        if not (exchange / RESULT).exists():
            raise UmlError(
                f"{kernel.program}: the emulation inside has ended without a result",
                "programs may have used up its memory",
            )
        results.append((exchange / RESULT).read_bytes())
        if request.pcapng is not None and (exchange / CAPTURE).exists():
            with naming(request.pcapng), in_place_of(request.pcapng) as partial:
                shutil.copyfile(exchange / CAPTURE, partial)

    ended = run(
        kernel,
        [sys.executable, "-c", START],
        seed=request.scenario.typed.seed,
        folder=folder,
        files={REQUEST: pickle.dumps(inside), PATHS: paths()},
        max_processor_s=max_time_s,
        watch=monitor.update,
        collect=collect,
    )
    answer: Any = pickle.loads(results[0])
    if isinstance(answer, BaseException):
        raise answer
    emulation: Emulation = answer
    emulation.not_saved = tuple(ended.problems)
    emulation.contents = {**emulation.contents, "time": SIMULATED, "repeatable": repeatable}
    if emulation.captured is not None and request.pcapng is not None:
        emulation.captured = replace(emulation.captured, path=request.pcapng)
    return emulation


def check(request: Request) -> None:
    """Check that an emulation in simulated time supports a request.

    Raises
    ------
    UserError
        If an option or setting is not supported.
    """
    if request.uplink is not None:
        raise UserError(
            f"uplink={request.uplink!r}: not supported in simulated time: the Internet "
            "runs in real time",
            "run without --virtual",
        )
    flows = request.scenario.typed.flows
    carriers = (flow.transport for flow in flows)
    if any(isinstance(each, Tcp) and each.congestion == BPF_CONGESTION for each in carriers):
        raise UserError(
            f"{request.scenario.source}: congestion {BPF_CONGESTION}: not supported in simulated "
            "time: it is a BPF program, and user-mode Linux has no compiler (JIT) for it",
            "run without --virtual",
        )


def current_folder() -> Path:
    """Return the current folder, in which programs run.

    Raises
    ------
    UserError
        If the current folder is the root or a folder of the kernel, or if it has been removed.
    """
    try:
        folder = Path.cwd()
    except FileNotFoundError:
        raise UserError("the current folder has been removed", "cd to another folder") from None
    if folder == Path("/") or any(folder.is_relative_to(each) for each in KERNEL_FOLDERS):
        raise UserError(
            f"the current folder is {folder}: not supported in simulated time: programs write to "
            "the current folder",
            "cd to your own folder",
        )
    return folder


def paths() -> bytes:
    """Return the folders of this process's modules as absolute paths."""
    return os.fsencode("\0".join(os.path.abspath(path) for path in sys.path))


class RunMonitor:
    """Monitor of a run, which prints the run's output and estimates its total CPU time.

    Parameters
    ----------
    request : Request
    progress : callable, optional
        Function that is called with the simulated time that has passed and the duration. [s]
    max_time_s : float
        Limit of the total CPU time. [s]
    """

    def __init__(self, request: Request, progress: Progress | None, max_time_s: float) -> None:
        self.progress = progress
        self.max_time_s = max_time_s
        self.duration_s = None if request.foreground else request.scenario.typed.duration_s
        self.outputs = {
            "stdout": sys.stderr if request.quiet else sys.stdout,
            "stderr": sys.stderr,
        }
        self.shown_bytes = dict.fromkeys(self.outputs, 0)
        self.first: tuple[float, float] | None = None
        """Simulated time and CPU time at the first progress report. [s]"""

    def update(self, state: State) -> None:
        """Print new output, report the progress, and compare the estimated CPU time with the
        limit.

        Raises
        ------
        UmlError
            If the run would exceed the limit.
        """
        for name, output in self.outputs.items():
            self.shown_bytes[name] += show(state.exchange / name, self.shown_bytes[name], output)
        now_s = read_progress(state.exchange / PROGRESS)
        if self.progress is not None:
            self.progress(now_s or 0.0, self.duration_s or now_s or 0.0)
        if now_s is None:
            return
        if self.first is None:
            self.first = now_s, state.processor_s
        from_s, before_s = self.first
        if self.duration_s is None or now_s <= from_s or state.processor_s < ESTIMATE_AFTER_S:
            return
        rate = (state.processor_s - before_s) / (now_s - from_s)
        total_s = state.processor_s + rate * (self.duration_s - now_s)
        if total_s > self.max_time_s:
            raise UmlError(
                f"the run would take about {total_s:.0f} s of CPU time, {rate:.2g} s per "
                f"simulated second; the limit is {self.max_time_s:g} s",
                "shorten the run (--set duration=...), or raise the limit (--max-time)",
            )


def show(file: Path, shown_bytes: int, output: TextIO) -> int:
    """Print the new part of a growing file, and return the length of this part. [bytes]"""
    try:
        if file.stat().st_size <= shown_bytes:
            return 0
        with file.open("rb") as opened:
            opened.seek(shown_bytes)
            content = opened.read()
    except FileNotFoundError:
        return 0
    output.flush()
    raw = getattr(output, "buffer", None)
    if raw is None:
        output.write(content.decode(errors="replace"))
    else:
        raw.write(content)
    output.flush()
    return len(content)


def read_progress(file: Path) -> float | None:
    """Return the simulated time that has passed; None before the emulation starts. [s]"""
    try:
        return float(file.read_text())
    except (FileNotFoundError, ValueError):
        return None
