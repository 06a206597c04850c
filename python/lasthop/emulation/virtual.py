"""An emulation in simulated time: the same emulation, inside a user-mode Linux."""

import os
import pickle
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lasthop.emulation.request import Request
from lasthop.emulation.summary import SIMULATED
from lasthop.errors import UserError
from lasthop.models.reading import Tcp
from lasthop.saving import in_place_of
from lasthop.uml.boot import State, UmlError, run
from lasthop.uml.kernel import find_kernel
from lasthop.uml.repeatable import is_repeatable

if TYPE_CHECKING:
    from lasthop.emulation.emulate import Emulation, Progress

REQUEST, RESULT, PROGRESS, CAPTURE = "request.pickle", "result.pickle", "progress", "capture.pcapng"
PATHS = "paths"
"""Files of the exchange."""
INSIDE = Path("/exchange")
START = f"""
import os, sys
with open("{INSIDE / PATHS}", "rb") as file:
    sys.path[:0] = os.fsdecode(file.read()).split("\\0")
from lasthop.emulation.inside import main
main()
"""
"""Program that runs inside, with the modules of this process, wherever they are installed."""
OF_KERNEL = ("/proc", "/sys")
"""Folders that are those of the user-mode Linux inside."""
JUDGED_S = 20.0
"""Processor time of a run after which its total is estimated. [s]"""
BY_BPF = "compound"
"""Congestion control that the kernel gets by BPF."""
NEEDED = {"initial_rto": ("CGROUP_BPF",)}
"""Options of the kernel's configuration by the setting of `follow` that needs them."""


def emulate_in_simulated_time(
    request: Request, progress: "Progress | None", max_time_s: float
) -> "Emulation":
    """Emulate a scenario inside a user-mode Linux.

    Raises
    ------
    UserError
        If there is no such kernel, it lacks a part, or the run would need more processor time than
        `max_time_s`.
    """
    check(request)
    folder = current_folder() if request.programs else None
    kernel = find_kernel()
    kernel.check(option for each in request.follow for option in NEEDED.get(each, ()))
    repeatable = is_repeatable(kernel)
    inside = replace(
        request, quiet=False, pcapng=None if request.pcapng is None else INSIDE / CAPTURE
    )
    follower = Follower(request, progress, max_time_s)
    results: list[bytes] = []

    def keep(exchange: Path) -> None:
        if not (exchange / RESULT).exists():
            raise UmlError(
                f"{kernel.program}: the emulation inside has ended without a result",
                "programs may have used up its memory",
            )
        results.append((exchange / RESULT).read_bytes())
        if request.pcapng is not None and (exchange / CAPTURE).exists():
            with in_place_of(request.pcapng) as partial:
                shutil.copyfile(exchange / CAPTURE, partial)

    ended = run(
        kernel,
        [sys.executable, "-c", START],
        seed=request.scenario.typed.seed,
        folder=folder,
        files={REQUEST: pickle.dumps(inside), PATHS: paths()},
        max_processor_s=max_time_s,
        watch=follower.look,
        keep=keep,
    )
    answer: Any = pickle.loads(results[0])
    if isinstance(answer, BaseException):
        raise answer
    emulation: Emulation = answer
    emulation.not_saved = tuple(ended.problems)
    emulation.summary = {**emulation.summary, "time": SIMULATED, "repeatable": repeatable}
    if emulation.captured is not None and request.pcapng is not None:
        emulation.captured = replace(emulation.captured, path=request.pcapng)
    return emulation


def check(request: Request) -> None:
    """Refuse what simulated time does not support.

    Raises
    ------
    UserError
        With the option or setting.
    """
    if request.uplink is not None:
        raise UserError(
            f"uplink={request.uplink!r}: not supported in simulated time: the world outside keeps "
            "real time",
            "run without --virtual",
        )
    flows = request.scenario.typed.flows
    carriers = (flow.transport for flow in flows)
    if any(isinstance(each, Tcp) and each.congestion == BY_BPF for each in carriers):
        raise UserError(
            f"{request.scenario.source}: congestion {BY_BPF}: not supported in simulated time: it "
            "is a BPF program, which needs a compiler (JIT) that user-mode Linux lacks",
            "run without --virtual",
        )


def current_folder() -> Path:
    """Return the folder that programs see, and that gets what they write.

    Raises
    ------
    UserError
        If it is the root or a folder of the kernel, or does not exist any more.
    """
    try:
        folder = Path.cwd()
    except FileNotFoundError:
        raise UserError("the current folder does not exist any more", "cd to another") from None
    if folder == Path("/") or any(folder.is_relative_to(each) for each in OF_KERNEL):
        raise UserError(
            f"the current folder is {folder}: programs write to the current folder in simulated "
            "time",
            "cd to a folder of your own",
        )
    return folder


def paths() -> bytes:
    """Return the absolute folders of this process's modules."""
    return os.fsencode("\0".join(os.path.abspath(path) for path in sys.path))


class Follower:
    """Shows what a kernel and its programs print while it runs, and judges its cost.

    Parameters
    ----------
    request : Request
    progress : callable, optional
        Called with the simulated time that has passed and the duration. [s]
    max_time_s : float
        Processor time above which a run is refused. [s]
    """

    def __init__(self, request: Request, progress: "Progress | None", max_time_s: float) -> None:
        self.progress = progress
        self.max_time_s = max_time_s
        self.duration_s = None if request.foreground else request.scenario.typed.duration_s
        self.outputs = {
            "stdout": sys.stderr if request.quiet else sys.stdout,
            "stderr": sys.stderr,
        }
        self.shown_bytes = dict.fromkeys(self.outputs, 0)
        self.first: tuple[float, float] | None = None
        """Simulated time and processor time at the first look after the start."""

    def look(self, state: State) -> None:
        """Show what is new.

        Raises
        ------
        UmlError
            If the run would take too long.
        """
        for name, output in self.outputs.items():
            self.shown_bytes[name] += show(state.exchange / name, self.shown_bytes[name], output)
        now_s = read_progress(state.exchange / PROGRESS)
        if now_s is None:
            return
        if self.progress is not None:
            self.progress(now_s, self.duration_s or now_s)
        if self.first is None:
            self.first = now_s, state.processor_s
        from_s, before_s = self.first
        if self.duration_s is None or now_s <= from_s or state.processor_s < JUDGED_S:
            return
        rate = (state.processor_s - before_s) / (now_s - from_s)
        total_s = state.processor_s + rate * (self.duration_s - now_s)
        if total_s > self.max_time_s:
            raise UmlError(
                f"the run would take about {total_s:.0f} s of processor time, {rate:.2g} s per "
                f"simulated second; the limit is {self.max_time_s:g} s",
                "shorten it by --set duration=..., or raise the limit by --max-time",
            )


def show(file: Path, shown_bytes: int, output: TextIO) -> int:
    """Print the rest of a growing file; return how much that was. [bytes]"""
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
    """Return the simulated time that has passed; None before the start. [s]"""
    try:
        return float(file.read_text())
    except (FileNotFoundError, ValueError):
        return None
