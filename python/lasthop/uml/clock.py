"""Detection that the time of the kernel is simulated."""

from pathlib import Path

COMMAND_LINE = Path("/proc/cmdline")
PARAMETER = "lasthop.time=simulated"
"""Parameter on the command line of each kernel that `boot` starts. Kernels ignore it."""


def is_simulated() -> bool:
    """Return whether time passes only while all processes sleep."""
    try:
        return PARAMETER in COMMAND_LINE.read_text().split()
    except OSError:
        return False
