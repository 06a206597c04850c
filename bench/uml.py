"""Runs a Python script in a user-mode Linux, in simulated time, and returns its JSON output.

    found = uml.answer(Path("inside.py"), "--rtt", "0.02")

`lasthop.uml` finds and starts the kernel: Debian's package `user-mode-linux`, or a kernel that
`lasthop kernel build` has built. The script runs as root, can read the host's files, and can import
the modules that its caller can import. Its changes to files are stored in memory and are lost when
the kernel ends. Its clock advances only while every process sleeps, so results do not depend on the
host's load.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from measure import BenchError
from peers import apt_install

from lasthop.errors import UserError
from lasthop.uml.boot import MEMORY_MB, PRINTED_LINES, UmlError, run
from lasthop.uml.kernel import PACKAGE, find_kernel

__all__ = ["MAX_PROCESSOR_S", "UmlError", "answer", "missing"]

MAX_PROCESSOR_S = 900.0
"""CPU time at which a kernel is ended, unless the caller sets another limit. [s]"""


def missing() -> str | None:
    """Return the reason why user-mode Linux cannot run on this machine; None if it can.

    If the package is missing, it is installed if this process has the permission.
    """
    try:
        find_kernel()
    except UserError:
        try:
            apt_install(PACKAGE)
            find_kernel()
        except (BenchError, UserError) as error:
            return str(error)
    if shutil.which("ip") is None or shutil.which("tc") is None:
        return "needs ip and tc"
    return None


def answer(
    script: Path,
    *arguments: str,
    max_processor_s: float = MAX_PROCESSOR_S,
    memory_mb: int = MEMORY_MB,
) -> Any:
    """Run a Python script in user-mode Linux. Return the last line of its output, parsed as JSON.

    Raises
    ------
    UmlError
        If the kernel does not start, reaches the limit of CPU time, or the script fails or
        prints no JSON.
    """
    ended = run(
        find_kernel(),
        [sys.executable, str(script), *arguments],
        environment={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        memory_mb=memory_mb,
        max_processor_s=max_processor_s,
    )
    if ended.status != 0:
        raise UmlError(f"{script.name} exited with {ended.status}{last(ended.stderr)}")
    try:
        return json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        printed = last(ended.stdout, ended.stderr)
        raise UmlError(f"{script.name} printed no JSON{printed}") from None


def last(*texts: str) -> str:
    """Return the last lines of outputs, for an error message."""
    lines = [line for text in texts for line in text.splitlines()][-PRINTED_LINES:]
    return "".join(f"\n  {line}" for line in lines)
