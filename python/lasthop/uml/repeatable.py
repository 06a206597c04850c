"""Test whether a kernel reads the same times and random numbers in each run on this machine."""

import hashlib
import json
import os
import sys
import threading
from pathlib import Path

from lasthop import _core
from lasthop.uml.boot import run
from lasthop.uml.kernel import Kernel
from lasthop.uml.store import cache_folder

TESTING = threading.Lock()
"""Lock that a thread holds during a test, so that other threads wait for the result instead of
repeating the test."""
READINGS = """
import os, time
for number in range(20):
    time.sleep(0.001 * number)
    print(time.monotonic_ns(), time.time_ns(), os.urandom(4).hex())
    if number % 5 == 0 and os.fork() == 0:
        os._exit(0)
"""
"""Python program for the test, which reads the clock and random numbers, sleeps, and starts
processes."""


def is_repeatable(kernel: Kernel) -> bool:
    """Return whether two boots of a kernel read the same times and random numbers.

    The result is stored in a file. The stored result is valid only for the same combination of
    kernel, preloaded library, host kernel and processor.
    """
    with TESTING:
        return outcome_of(kernel, cache_folder() / "uml" / f"{fingerprint(kernel)}.json")


def outcome_of(kernel: Kernel, file: Path) -> bool:
    """Return the test result that a file contains. If the file contains no result, test the
    kernel."""
    try:
        return bool(json.loads(file.read_text())["repeatable"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    first, second = (run(kernel, [sys.executable, "-c", READINGS]) for _ in range(2))
    outcome = first.status == 0 and (first.status, first.stdout) == (second.status, second.stdout)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name(f"{file.name}.{os.getpid()}")
        partial.write_text(json.dumps({"repeatable": outcome}))
        partial.replace(file)
    except OSError:
        pass  # without a stored result, the test is repeated at the next use
    return outcome


def fingerprint(kernel: Kernel) -> str:
    """Return a hash of the kernel, the preloaded library, the host kernel and the processor."""
    with kernel.program.open("rb") as program:
        parts = [hashlib.file_digest(program, "sha256").hexdigest()]
    parts += [hashlib.sha256(_core.UML_PRELOAD).hexdigest(), os.uname().release]
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    parts += sorted({line for line in lines if line.startswith(("model name", "flags"))})
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
