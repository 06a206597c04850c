"""Detect whether the time of the running kernel is simulated."""

from pathlib import Path

COMMAND_LINE = Path("/proc/cmdline")
PARAMETER = "lasthop.time=simulated"
"""Parameter on the command line of each kernel that `boot` starts. The kernel itself ignores the
parameter."""


def is_simulated() -> bool:
    """Return whether the kernel's time is simulated, so that time passes only while all processes
    sleep."""
    try:
        return PARAMETER in COMMAND_LINE.read_text().split()
    except OSError:
        return False
