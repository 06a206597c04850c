"""Check that this system is Linux. The module can be imported on every system."""

import sys

from lasthop.errors import UserError

__all__ = ["OTHER_KERNEL", "REAL_TIME", "REMEDY", "needs_linux", "not_linux"]

REAL_TIME = "emulation in real time"
"""Name of emulations in real time in the error on other systems."""

OTHER_KERNEL = "install a kernel, or a package of its modules, that has it"
"""Remedy for a kernel without a feature."""

REMEDY = "use a machine or a virtual machine with Linux"


def not_linux(what: str, system: str | None = None) -> UserError | None:
    """Return the error for a command that needs Linux; None on Linux.

    Parameters
    ----------
    what : str
        Part of lasthop that needs Linux, such as ``gateway``.
    system : str, optional
        Name of the system, as in `sys.platform`; by default that of this machine.
    """
    system = sys.platform if system is None else system
    if system.startswith("linux"):
        return None
    return UserError(f"the {what} needs Linux: this machine runs {system}", REMEDY)


def needs_linux(what: str) -> None:
    """Raise an error if this is not Linux."""
    if (error := not_linux(what)) is not None:
        raise error
